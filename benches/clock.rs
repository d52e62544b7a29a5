//! Wall and CPU time of a call.

use std::{fs, ops::Div, time::Instant};

use anyhow::Result;
use serde::Serialize;

/// What a call took.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Seconds {
    /// By the clock.
    pub(crate) wall: f64,
    /// On a processor, all threads together. The wall time where the system does not say.
    pub(crate) cpu: f64,
}

/// Runs `job` and says what it took.
pub(crate) fn timed<T>(job: impl FnOnce() -> Result<T>) -> Result<(Seconds, T)> {
    let (start, before) = (Instant::now(), on_cpu());
    let value = job()?;
    let (after, wall) = (on_cpu(), start.elapsed().as_secs_f64());
    let cpu = before.zip(after).map_or(wall, |(before, after)| after - before);
    Ok((Seconds { wall, cpu }, value))
}

impl Div<f64> for Seconds {
    type Output = Seconds;

    fn div(self, n: f64) -> Seconds {
        Seconds { wall: self.wall / n, cpu: self.cpu / n }
    }
}

/// Seconds that the threads of this process have spent on a processor: the first field of
/// each thread's `schedstat`, in nanoseconds.
fn on_cpu() -> Option<f64> {
    let mut nanoseconds = 0u64;
    for task in fs::read_dir("/proc/self/task").ok()? {
        let text = fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        nanoseconds += text.split_whitespace().next()?.parse::<u64>().ok()?;
    }
    Some(nanoseconds as f64 / 1e9)
}
