//! The parameters of the one form that all transformers here have.

/// What an encoder is, but for its weights.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    /// Rows of the word table.
    pub(crate) vocabulary: usize,
    /// Values in a token's vector.
    pub(crate) hidden: usize,
    /// Values inside the feed-forward block.
    pub(crate) inner: usize,
    /// Rows of the segment table; 0 for none.
    pub(crate) segments: usize,
    pub(crate) heads: Heads,
    pub(crate) layers: Vec<LayerPlan>,
    pub(crate) positions: Positions,
    pub(crate) relative: Option<Relative>,
    pub(crate) order: Order,
    pub(crate) norm: NormKind,
    /// What a norm adds to the variance.
    pub(crate) eps: f32,
    pub(crate) activation: Activation,
    /// Whether the feed-forward block multiplies an activated half with the other half.
    pub(crate) gated: bool,
    /// Tokens of the longest text there are positions for.
    pub(crate) max_tokens: usize,
}

/// Attention heads. Queries share keys in groups of `queries / keys`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Heads {
    pub(crate) queries: usize,
    pub(crate) keys: usize,
    /// Values in a head's vector.
    pub(crate) dim: usize,
}

/// What differs from layer to layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LayerPlan {
    pub(crate) attend: Attend,
    /// The base of rotary positions, where there are any.
    pub(crate) rotary: Option<f64>,
}

/// Which tokens a token sees.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Attend {
    /// All of its text.
    All,
    /// Those before it, and itself.
    Before,
    /// Those at most so far away.
    Near(usize),
}

/// A table of positions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Positions {
    /// None.
    None,
    /// The first token has row 0.
    FromZero,
    /// The first token has the row after the padding id's; a token that is itself the padding
    /// id has that id's row and is not counted.
    After(u32),
}

/// Biases by distance, shared by the layers: logarithmic buckets, half of them for each direction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Relative {
    pub(crate) buckets: usize,
    /// Distances from here on share the last bucket.
    pub(crate) furthest: usize,
}

/// Where the norms are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Order {
    /// Before each block, and once at the end.
    Pre,
    /// After each block.
    Post,
}

/// Which norm.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum NormKind {
    /// With the mean taken off.
    Layer,
    /// Root mean square.
    Rms,
}

/// An activation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Activation {
    /// With the error function.
    Gelu,
    /// GELU's approximation with tanh.
    GeluTanh,
    /// `x * sigmoid(x)`.
    Silu,
    /// `max(x, 0)`.
    Relu,
}

impl Heads {
    /// Values in a row of queries, keys and values.
    pub(crate) fn width(self) -> usize {
        (self.queries + 2 * self.keys) * self.dim
    }

    /// What scores are multiplied with: one over the square root of `dim`.
    #[expect(clippy::cast_precision_loss, reason = "a head's dimension is far below 2^24")]
    pub(crate) fn scale(self) -> f32 {
        1.0 / (self.dim as f32).sqrt()
    }
}

impl Attend {
    /// The keys that the query at `row` of `tokens` sees; its own is always among them.
    pub(crate) fn keys(self, row: usize, tokens: usize) -> std::ops::Range<usize> {
        match self {
            Attend::All => 0..tokens,
            Attend::Before => 0..row + 1,
            Attend::Near(reach) => row.saturating_sub(reach)..tokens.min(row + reach + 1),
        }
    }
}

impl Positions {
    /// The row of the position table for each of `ids`.
    pub(crate) fn rows(self, ids: &[u32]) -> Vec<usize> {
        match self {
            Positions::None => Vec::new(),
            Positions::FromZero => (0..ids.len()).collect(),
            Positions::After(padding) => {
                let first = padding as usize;
                let mut seen = 0;
                let rows = ids.iter().map(|&id| match id == padding {
                    true => first,
                    false => {
                        seen += 1;
                        first + seen
                    }
                });
                rows.collect()
            }
        }
    }
}

impl Relative {
    /// The bucket of a key `ahead` tokens after the query; negative before it.
    ///
    /// Source: the reference's `relative_position_bucket` for MPNet, in f32 as there, so that
    /// distances on an edge fall to the same side.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small whole numbers; the float is positive and is meant to lose its fraction"
    )]
    pub(crate) fn bucket(self, ahead: isize) -> usize {
        let half = self.buckets / 2;
        let exact = half / 2;
        let distance = ahead.unsigned_abs();
        let bucket = if distance < exact {
            distance
        } else {
            let ratio = (self.furthest as f64 / exact as f64).ln() as f32;
            let far = libm::logf(distance as f32 / exact as f32) / ratio * (half - exact) as f32;
            (exact + far as usize).min(half - 1)
        };
        if 0 < ahead { half + bucket } else { bucket }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_follow_the_padding_id() {
        let after = Positions::After(1);
        assert_eq!(after.rows(&[0, 5, 1, 6, 2]), [2, 3, 1, 4, 5]);
        assert_eq!(Positions::FromZero.rows(&[7, 7, 7]), [0, 1, 2]);
    }

    #[test]
    fn buckets_are_exact_near_and_logarithmic_far() {
        let relative = Relative { buckets: 32, furthest: 128 };
        let buckets: Vec<usize> =
            [0, -1, -7, -8, -15, -16, -31, -32, -64, -127, -128, -500, 1, 7, 8, 128]
                .map(|d| relative.bucket(d))
                .to_vec();
        assert_eq!(buckets, [0, 1, 7, 8, 9, 10, 11, 12, 14, 15, 15, 15, 17, 23, 24, 31]);
    }
}
