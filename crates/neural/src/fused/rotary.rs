//! Rotary positions: pairs of a head's values turned by an angle that grows with the position.

use crate::encoder::{Heads, Plan};

/// Cosines and sines for the positions of a text: `[tokens, dim / 2]`.
pub(super) struct Rotary {
    cosines: Vec<f32>,
    sines: Vec<f32>,
}

impl Rotary {
    /// The table of each layer; layers of the same base share one.
    pub(super) fn of(plan: &Plan, tokens: usize) -> Vec<Option<std::rc::Rc<Rotary>>> {
        let mut made: Vec<(u64, std::rc::Rc<Rotary>)> = Vec::new();
        let tables = plan.layers.iter().map(|layer| {
            let base = layer.rotary?;
            let found = made.iter().find(|(bits, _)| *bits == base.to_bits());
            if let Some((_, rotary)) = found {
                return Some(rotary.clone());
            }
            let rotary = std::rc::Rc::new(Rotary::new(base, plan.heads.dim, tokens));
            made.push((base.to_bits(), rotary.clone()));
            Some(rotary)
        });
        tables.collect()
    }

    fn new(base: f64, dim: usize, tokens: usize) -> Rotary {
        let (cosines, sines) = table(base, dim, tokens);
        Rotary { cosines, sines }
    }

    /// Turns the queries and keys of a text in place. `qkv`: `[tokens, heads.width()]`.
    pub(super) fn turn(&self, heads: Heads, qkv: &mut [f32]) {
        let half = heads.dim / 2;
        let rows = qkv.chunks_exact_mut(heads.width());
        let angles = self.cosines.chunks_exact(half).zip(self.sines.chunks_exact(half));
        for (row, (cosines, sines)) in rows.zip(angles) {
            for part in row.chunks_exact_mut(heads.dim).take(heads.queries + heads.keys) {
                let (first, second) = part.split_at_mut(half);
                for (((a, b), cos), sin) in first.iter_mut().zip(second).zip(cosines).zip(sines) {
                    (*a, *b) = (*a * cos - *b * sin, *b * cos + *a * sin);
                }
            }
        }
    }
}

/// Cosines and sines: `[tokens, dim / 2]` each.
///
/// Angles are products in f32, as in the reference: at far positions their rounding counts.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "rounded to f32 on purpose; positions are far below 2^24"
)]
pub(crate) fn table(base: f64, dim: usize, tokens: usize) -> (Vec<f32>, Vec<f32>) {
    let speeds: Vec<f32> =
        (0..dim).step_by(2).map(|i| 1.0 / libm::pow(base, i as f64 / dim as f64) as f32).collect();
    let positions = (0..tokens)
        .flat_map(|position| speeds.iter().map(move |speed| f64::from(position as f32 * speed)));
    positions.map(|angle| (libm::cos(angle) as f32, libm::sin(angle) as f32)).unzip()
}
