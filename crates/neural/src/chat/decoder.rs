//! What a decoder does: tokens to logits, by whatever means.

use crate::error::NeuralError;

/// Computes a language model.
pub(crate) trait Decoder: Send + Sync {
    /// A prompt of which nothing is read.
    fn begin(&self) -> Box<dyn Reading>;

    /// Tokens there are.
    fn vocabulary(&self) -> usize;

    /// Whether logits are the same bits however a prompt is cut into calls and whatever is
    /// computed at the same time. Then what was read of one prompt serves another, and several
    /// threads read at once.
    fn exact(&self) -> bool;

    /// What computes, and its version: another gives other last bits. Not the device nor its
    /// instructions, which are not part of a model's identity.
    fn name(&self) -> &'static str;
}

/// A prompt up to some token.
pub(crate) trait Reading: Send + Sync {
    /// Tokens that were read.
    fn tokens(&self) -> usize;

    /// Reads `ids`, which are not empty and below the vocabulary's size, and gives the logits of
    /// what follows: `[vocabulary]`.
    ///
    /// # Errors
    ///
    /// If the device or a product of quantised matrices fails.
    fn read(&mut self, ids: &[u32]) -> Result<Vec<f32>, NeuralError>;

    /// The first `tokens` of it. What is read after them doesn't show in this one.
    ///
    /// # Errors
    ///
    /// If the device fails.
    fn first(&self, tokens: usize) -> Result<Box<dyn Reading>, NeuralError>;

    /// Bytes that it takes.
    fn size(&self) -> usize;
}
