//! What a language model is to the rest: messages in, one reply out.

use crate::scorer::BoxError;

/// Who says a message.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Speaker {
    /// Instructions that stand above the talk.
    System,
    /// Who asks.
    User,
    /// The model.
    Assistant,
}

/// One turn of a talk.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Message {
    /// Who says it.
    pub speaker: Speaker,
    /// What is said.
    pub text: String,
}

/// How a reply is made of the model's probabilities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decoding {
    /// Tokens after which a reply is broken off, at least 1.
    pub max_tokens: usize,
    /// What logits are divided by before one is drawn, from 0. At 0 the likeliest token is taken.
    pub temperature: f64,
    /// Seeds the draws; of no effect at temperature 0.
    pub seed: u64,
}

/// What a model said.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reply {
    /// The text, without the tokens that end a turn.
    pub text: String,
    /// Whether it came to its own end before `max_tokens`.
    pub finished: bool,
    /// Tokens of the prompt.
    pub prompt_tokens: usize,
    /// Tokens of the reply, the one that ended it included.
    pub reply_tokens: usize,
}

/// A model that talks.
pub trait ChatModel: Send + Sync {
    /// The reply to a talk that ends with a turn of the user.
    ///
    /// Must be a function of its arguments: what was asked before must not show.
    ///
    /// # Errors
    ///
    /// If the talk is longer than the model reads, or whatever the model reports.
    fn reply(&self, messages: &[Message], decoding: &Decoding) -> Result<Reply, BoxError>;
}

impl Message {
    /// A turn of `speaker`.
    pub fn new(speaker: Speaker, text: impl Into<String>) -> Message {
        Message { speaker, text: text.into() }
    }
}

impl<M: ChatModel + ?Sized> ChatModel for Box<M> {
    fn reply(&self, messages: &[Message], decoding: &Decoding) -> Result<Reply, BoxError> {
        (**self).reply(messages, decoding)
    }
}

impl<M: ChatModel + ?Sized> ChatModel for std::sync::Arc<M> {
    fn reply(&self, messages: &[Message], decoding: &Decoding) -> Result<Reply, BoxError> {
        (**self).reply(messages, decoding)
    }
}
