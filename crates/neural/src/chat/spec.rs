//! What a method card says of a language model: everything that changes a reply or a score.

use serde::{Deserialize, Serialize};

use crate::spec::Dtype;

/// How a language model is read and addressed. No field has a default.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ChatSpec {
    /// Checked against `config.json` or the GGUF's metadata.
    pub architecture: ChatArchitecture,
    /// Where the weights are.
    pub weights: ChatWeights,
    /// The type that accelerators compute in. The CPU computes in f32.
    pub dtype: Dtype,
    /// Tokens of a prompt and its reply together, at most what the model has positions for.
    pub max_tokens: usize,
    /// How a talk becomes text.
    pub template: ChatTemplate,
    /// What becomes of instructions that stand above the talk.
    pub system: SystemPolicy,
    /// The template's `enable_thinking`. Templates without it pass it over.
    pub thinking: bool,
}

/// The architectures of language models there are.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatArchitecture {
    /// Llama and what has its form, such as SmolLM2.
    Llama,
    /// Qwen2 and Qwen2.5: Llama with biases on queries, keys and values.
    Qwen2,
    /// Qwen3: Llama with a norm of each head's queries and keys.
    Qwen3,
    /// Gemma 3, text alone: norms on both sides of each block, local and global attention.
    Gemma3,
}

/// Where a language model's weights are.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "form", rename_all = "snake_case", deny_unknown_fields)]
pub enum ChatWeights {
    /// In one GGUF file, with configuration, tokenizer and template.
    Gguf {
        /// The file's name in the folder.
        file: String,
        /// What quantised matrices become.
        matrices: Matrices,
    },
    /// In safetensors, with `config.json` and `tokenizer.json` beside them.
    Safetensors {},
}

/// What quantised matrices become when they are read.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Matrices {
    /// They stay as they are: little memory, and activations are rounded to 8 bits in products,
    /// as llama.cpp does. Where two tokens are nearly as likely the other one may follow.
    Kept,
    /// Numbers of the type computed in: more memory, long prompts several times faster on the CPU.
    Dequantised,
}

/// How a talk becomes text.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "from", rename_all = "snake_case", deny_unknown_fields)]
pub enum ChatTemplate {
    /// By the template that the model brings.
    Model {},
    /// By a template of the card.
    Card {
        /// In Jinja.
        text: String,
    },
}

/// What becomes of instructions that stand above the talk.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "form", rename_all = "snake_case", deny_unknown_fields)]
pub enum SystemPolicy {
    /// The template gets them as they are. Where there are none it may add its own.
    AsGiven {},
    /// A talk without them gets these.
    Default {
        /// The instructions.
        text: String,
    },
    /// They are put before the first turn of the user, with a blank line between: for templates
    /// that refuse them.
    Merged {},
}

/// How a query and a document become a question whose answer is yes or no. No field has a default.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct YesNoSpec {
    /// The model.
    pub model: ChatSpec,
    /// What is asked.
    pub instruction: String,
    /// How instruction, query and document become a prompt.
    pub layout: YesNoLayout,
    /// The word for yes. It must be one token.
    pub yes: String,
    /// The word for no. It must be one token.
    pub no: String,
    /// What is made of their logits.
    pub score: YesNoScore,
    /// Tokens kept of the query, which is cut at its end.
    pub max_query_tokens: usize,
    /// Tokens kept of the document, which is cut at its end.
    pub max_document_tokens: usize,
    /// Tokens of the whole prompt; the document is cut until it fits.
    pub max_tokens: usize,
}

/// How instruction, query and document become a prompt: the texts around them, as they are.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "form", rename_all = "snake_case", deny_unknown_fields)]
pub enum YesNoLayout {
    /// The four texts are the whole prompt, special tokens included. No template is used.
    Fixed {
        /// Before the instruction: the system turn, and the beginning of the user's.
        before_instruction: String,
        /// Between the instruction and the query.
        before_query: String,
        /// Between the query and the document.
        before_document: String,
        /// After the document: the end of the turn, and the beginning of the reply.
        after_document: String,
    },
    /// The four texts are the user's turn in the model's template; the reply begins after it.
    Turn {
        /// The system turn, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        system: Option<String>,
        /// Before the instruction.
        before_instruction: String,
        /// Between the instruction and the query.
        before_query: String,
        /// Between the query and the document.
        before_document: String,
        /// After the document.
        after_document: String,
    },
}

/// What is made of the logits of yes and no at the prompt's last position.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum YesNoScore {
    /// Yes less no. Large differences stay apart.
    LogitDifference,
    /// The probability of yes among the two: the same order, but large differences become ties.
    Probability,
}
