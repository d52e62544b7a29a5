//! What an engine does: tokens to vectors, by whatever means.

use crate::{error::NeuralError, spec::Pooling, text::Tokens};

/// Computes texts' vectors.
pub(crate) trait Engine: Send + Sync {
    /// One vector for each of `batch`, before any normalisation: `[batch, hidden]`. A text
    /// without tokens gets the zero vector.
    ///
    /// # Errors
    ///
    /// If the device fails.
    fn pooled(&self, batch: &[&Tokens], pooling: Pooling) -> Result<Vec<f32>, NeuralError>;

    /// Values in a vector.
    fn hidden(&self) -> usize;

    /// Whether batches can be computed by several threads at once with profit.
    fn parallel(&self) -> bool;

    /// Tokens that a batch should have, together; a longer text is a batch of its own.
    fn budget(&self) -> usize;

    /// What computes, and its version: another gives other last bits. Not the device nor its
    /// instructions, which are not part of a model's identity.
    fn name(&self) -> &'static str;
}

/// Texts in batches: by falling length, within a budget of tokens. Gives positions in `texts`.
///
/// The longest come first, so that no thread ends on one.
pub(crate) fn batches(texts: &[Tokens], budget: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|&i| (std::cmp::Reverse(texts[i].ids.len()), i));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut room = 0;
    for i in order {
        let tokens = texts[i].ids.len();
        match batches.last_mut() {
            Some(batch) if tokens <= room => {
                batch.push(i);
                room -= tokens;
            }
            _ => {
                batches.push(vec![i]);
                room = budget.saturating_sub(tokens);
            }
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_hold_every_text_once_and_keep_to_the_budget() {
        let texts: Vec<Tokens> = [3, 9, 1, 4, 0, 12, 4, 2]
            .iter()
            .map(|&n| Tokens { ids: vec![7; n], segments: vec![0; n] })
            .collect();
        let batches = batches(&texts, 10);
        assert_eq!(batches, [vec![5], vec![1], vec![3, 6], vec![0, 7, 2, 4]]);
    }
}
