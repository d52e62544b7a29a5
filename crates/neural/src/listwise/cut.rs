//! Where does a text reach a number of tokens?

use cleanhit_core::BoxError;

use crate::{chat::LanguageModel, text::Truncation};

/// Cuts a text at a number of a model's tokens.
pub trait Cut: Send + Sync {
    /// The start of `text` that is at most `max_tokens` long, and how much of it that is.
    ///
    /// # Errors
    ///
    /// If the tokenizer fails.
    fn cut(&self, text: &str, max_tokens: usize) -> Result<(String, Truncation), BoxError>;
}

impl<C: Cut + ?Sized> Cut for std::sync::Arc<C> {
    fn cut(&self, text: &str, max_tokens: usize) -> Result<(String, Truncation), BoxError> {
        (**self).cut(text, max_tokens)
    }
}

impl Cut for LanguageModel {
    fn cut(&self, text: &str, max_tokens: usize) -> Result<(String, Truncation), BoxError> {
        bisected(text, max_tokens, |text| Ok(self.text_ids(text)?.len()))
    }
}

/// Cuts at a character, found by halving: the start has at most `max_tokens` tokens, and the one
/// that is a character longer has more.
fn bisected(
    text: &str,
    max_tokens: usize,
    tokens: impl Fn(&str) -> Result<usize, BoxError>,
) -> Result<(String, Truncation), BoxError> {
    let all = tokens(text)?;
    if all <= max_tokens {
        return Ok((text.to_owned(), Truncation { tokens: all, kept: all }));
    }
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    // The start that ends at `fits` is short enough, the one that ends at `too_long` is not.
    let (mut fits, mut too_long, mut kept) = (0, ends.len(), 0);
    while 1 < too_long - fits {
        let middle = fits + (too_long - fits) / 2;
        let n = tokens(&text[..ends[middle]])?;
        match n <= max_tokens {
            true => (fits, kept) = (middle, n),
            false => too_long = middle,
        }
    }
    let start = ends.get(fits).map_or("", |&end| &text[..end]);
    Ok((start.to_owned(), Truncation { tokens: all, kept }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Words are tokens, and so is each blank at the end.
    fn words(text: &str) -> Result<usize, BoxError> {
        Ok(text.split_whitespace().count())
    }

    #[test]
    fn a_text_is_cut_where_its_next_token_begins() {
        let cut = |text, max| bisected(text, max, words).unwrap();
        assert_eq!(cut("a bé c", 3), ("a bé c".into(), Truncation { tokens: 3, kept: 3 }));
        assert_eq!(cut("a bé c", 2), ("a bé ".into(), Truncation { tokens: 3, kept: 2 }));
        assert_eq!(cut("é", 0), (String::new(), Truncation { tokens: 1, kept: 0 }));
        assert_eq!(cut("", 0), (String::new(), Truncation { tokens: 0, kept: 0 }));
    }

    #[test]
    fn a_tokenizers_error_is_passed_on() {
        let err = bisected("a", 1, |_| Err("no".into())).unwrap_err();
        assert_eq!(err.to_string(), "no");
    }

    proptest! {
        /// The start is one, fits, and is counted as it is.
        #[test]
        fn what_is_kept_fits(text in "[ aé]{0,60}", max in 0usize..20) {
            let (start, seen) = bisected(&text, max, words).unwrap();
            prop_assert!(text.starts_with(&start) && seen.kept <= max);
            prop_assert_eq!(seen.kept, words(&start).unwrap());
            prop_assert_eq!(seen.tokens, words(&text).unwrap());
            prop_assert_eq!(seen.kept, max.min(seen.tokens));
        }
    }
}
