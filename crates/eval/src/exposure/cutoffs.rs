//! The cutoffs that a report asks for.

use std::{fmt, num::NonZeroU32, str::FromStr};

use cleanhit_core::{Cutoff, Depth};
use cleanhit_io::Benchmark;

/// Distinct cutoffs, ascending; at least one.
///
/// The default is 1, 3, 5 and 20, the cutoffs of the public metrics file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cutoffs(Vec<Cutoff>);

/// Why a list of cutoffs cannot be read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CutoffsError {
    /// There is none.
    #[error("no cutoff is given; expected for example `1,3,5,20`")]
    Empty,
    /// One is not a number from 1.
    #[error("`{0}` is not a cutoff; expected whole numbers from 1, for example `1,3,5,20`")]
    NotANumber(String),
}

impl Cutoffs {
    /// Sorts the cutoffs and drops repeated ones.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn new(cutoffs: impl IntoIterator<Item = Cutoff>) -> Result<Cutoffs, CutoffsError> {
        let mut cutoffs: Vec<Cutoff> = cutoffs.into_iter().collect();
        cutoffs.sort_unstable();
        cutoffs.dedup();
        if cutoffs.is_empty() { Err(CutoffsError::Empty) } else { Ok(Cutoffs(cutoffs)) }
    }

    /// The cutoffs, ascending.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Cutoff> + '_ {
        self.0.iter().copied()
    }

    /// The cutoffs that a run of this depth can be measured at in every pool, and those that it
    /// cannot. 1 always can.
    pub fn that_fit(&self, depth: Depth, bench: &Benchmark) -> (Cutoffs, Vec<Cutoff>) {
        let pools = bench.pools.iter().map(|pool| pool.pool.len());
        let most = pools.fold(depth.get(), usize::min);
        let (mut fit, too_deep): (Vec<Cutoff>, Vec<Cutoff>) =
            self.iter().partition(|cutoff| cutoff.get() <= most);
        if fit.is_empty() {
            fit.push(Cutoff(NonZeroU32::MIN));
        }
        (Cutoffs(fit), too_deep)
    }
}

impl Default for Cutoffs {
    fn default() -> Cutoffs {
        let cutoffs = [1, 3, 5, 20].into_iter().filter_map(NonZeroU32::new).map(Cutoff);
        Cutoffs(cutoffs.collect())
    }
}

impl FromStr for Cutoffs {
    type Err = CutoffsError;

    fn from_str(s: &str) -> Result<Cutoffs, CutoffsError> {
        let cutoffs = s.split(',').map(str::trim).filter(|part| !part.is_empty()).map(|part| {
            let error = || CutoffsError::NotANumber(part.to_owned());
            part.parse::<NonZeroU32>().map(Cutoff).map_err(|_| error())
        });
        Cutoffs::new(cutoffs.collect::<Result<Vec<Cutoff>, CutoffsError>>()?)
    }
}

impl fmt::Display for Cutoffs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cutoffs: Vec<String> = self.iter().map(|cutoff| cutoff.0.to_string()).collect();
        f.write_str(&cutoffs.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutoffs_are_sorted_and_print_as_they_parse() {
        let cutoffs: Cutoffs = "20, 3,1,3".parse().unwrap();
        assert_eq!(cutoffs.to_string(), "1,3,20");
        assert_eq!(cutoffs.to_string().parse(), Ok(cutoffs));
        assert_eq!(Cutoffs::default().to_string(), "1,3,5,20");
        assert_eq!("".parse::<Cutoffs>(), Err(CutoffsError::Empty));
        let error = "3,x".parse::<Cutoffs>().unwrap_err().to_string();
        let expected = "expected whole numbers from 1, for example `1,3,5,20`";
        assert_eq!(error, format!("`x` is not a cutoff; {expected}"));
        assert!("0".parse::<Cutoffs>().is_err());
    }
}
