//! How text becomes tokens.

use std::{fmt, str::FromStr};

use memchr::memmem;

/// How text becomes tokens. Every method names its analyser, and every card writes it down.
///
/// All but [`Whitespace`](Analyser::Whitespace) put tokens in lower case. None stems, folds
/// accents or removes stop words.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Analyser {
    /// Runs of Unicode alphanumerics, lower case by character. A run of 40 bytes and more is
    /// dropped, and counted. Gives exactly the tokens of tantivy's tokenizer `default`.
    #[default]
    Default,
    /// Runs of two and more Unicode alphanumerics or underscores in the lower-cased text.
    ///
    /// As scikit-learn's `(?u)\b\w\w+\b`, except that Python's `\w` leaves out the combining
    /// vowel signs and circled letters that Unicode calls alphabetic.
    Word,
    /// As [`Word`](Analyser::Word), single characters included: `\w+`.
    WordAll,
    /// Runs of `[a-z0-9]` in the lower-cased text: any other letter separates.
    Ascii,
    /// What stands between Unicode white space, in the case it is written in.
    Whitespace,
    /// What stands between Unicode white space in the lower-cased text.
    WhitespaceLower,
}

/// An analyser's name cannot be read.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{0}` is not an analyser; expected `default`, `word`, `word_all`, `ascii`, `whitespace` \
     or `whitespace_lower`"
)]
pub struct AnalyserError(String);

/// [`Analyser::Default`] drops a token of this many bytes and more, before it is lower-cased.
const TOO_LONG: usize = 40;

/// Of a byte: part of a token as it stands.
const PLAIN: u8 = 1;
/// Of a byte: part of a token once lower-cased.
const UPPER: u8 = 2;
/// Of a byte: part of a character beyond ASCII.
const WIDE: u8 = 4;

static ALPHANUMERIC: [u8; 256] = classes(false);
static WORD: [u8; 256] = classes(true);

impl Analyser {
    /// Every analyser.
    pub const ALL: [Analyser; 6] = [
        Analyser::Default,
        Analyser::Word,
        Analyser::WordAll,
        Analyser::Ascii,
        Analyser::Whitespace,
        Analyser::WhitespaceLower,
    ];

    /// As cards write it.
    pub fn name(self) -> &'static str {
        match self {
            Analyser::Default => "default",
            Analyser::Word => "word",
            Analyser::WordAll => "word_all",
            Analyser::Ascii => "ascii",
            Analyser::Whitespace => "whitespace",
            Analyser::WhitespaceLower => "whitespace_lower",
        }
    }

    /// Hands each token to `emit`, in text order. Returns how many were dropped as too long.
    pub fn analyse(self, text: &str, emit: impl FnMut(&str)) -> u64 {
        match self {
            Analyser::Default => default(text, emit),
            Analyser::Word => words(text, 2, emit),
            Analyser::WordAll => words(text, 1, emit),
            Analyser::Ascii => ascii(text, emit),
            Analyser::Whitespace => {
                text.split_whitespace().for_each(emit);
                0
            }
            Analyser::WhitespaceLower => {
                text.to_lowercase().split_whitespace().for_each(emit);
                0
            }
        }
    }

    /// The tokens of `text`.
    pub fn tokens(self, text: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        self.analyse(text, |token| tokens.push(token.to_owned()));
        tokens
    }
}

impl fmt::Display for Analyser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Analyser {
    type Err = AnalyserError;

    fn from_str(s: &str) -> Result<Analyser, AnalyserError> {
        let named = Analyser::ALL.into_iter().find(|analyser| analyser.name() == s);
        named.ok_or_else(|| AnalyserError(s.to_owned()))
    }
}

fn default(text: &str, mut emit: impl FnMut(&str)) -> u64 {
    let mut dropped = 0;
    let mut lower = String::new();
    scan(text, &ALPHANUMERIC, char::is_alphanumeric, |token, class| {
        if TOO_LONG <= token.len() {
            dropped += 1;
            return;
        }
        if class == PLAIN {
            return emit(token);
        }
        lower.clear();
        if class & WIDE == 0 {
            lower.push_str(token);
            lower.make_ascii_lowercase();
        } else {
            // By character, as tantivy does: a final sigma stays a sigma.
            lower.extend(token.chars().flat_map(char::to_lowercase));
        }
        emit(&lower);
    });
    dropped
}

fn words(text: &str, least: usize, mut emit: impl FnMut(&str)) -> u64 {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if text.is_ascii() {
        lowered(text, &WORD, least, emit);
        return 0;
    }
    // The whole text before it is split, as Python does: lower-casing can add characters
    // that separate, and a final sigma depends on what follows.
    scan(&text.to_lowercase(), &WORD, is_word, |token, _| {
        if token.chars().take(least).count() == least {
            emit(token);
        }
    });
    0
}

fn ascii(text: &str, emit: impl FnMut(&str)) -> u64 {
    // The Kelvin sign and the dotted capital I are the characters whose lower case holds ASCII.
    let has = |needle: &str| memmem::find(text.as_bytes(), needle.as_bytes()).is_some();
    if !text.is_ascii() && (has("\u{212a}") || has("\u{130}")) {
        lowered(&text.replace('\u{212a}', "k").replace('\u{130}', "i "), &ALPHANUMERIC, 1, emit);
    } else {
        lowered(text, &ALPHANUMERIC, 1, emit);
    }
    0
}

/// Runs of at least `least` ASCII token bytes, in lower case; all else separates.
fn lowered(text: &str, table: &[u8; 256], least: usize, mut emit: impl FnMut(&str)) {
    let mut lower = String::new();
    scan(
        text,
        table,
        |_| false,
        |token, class| {
            if token.len() < least {
                return;
            }
            if class == PLAIN {
                return emit(token);
            }
            lower.clear();
            lower.push_str(token);
            lower.make_ascii_lowercase();
            emit(&lower);
        },
    );
}

/// Hands each run of token characters to `emit`, with the union of its characters' classes.
/// `table` decides on ASCII, `wide` on the rest.
fn scan(
    text: &str,
    table: &[u8; 256],
    wide: impl Fn(char) -> bool,
    mut emit: impl FnMut(&str, u8),
) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let mut seen = 0;
        // Characters until one that separates, which is skipped.
        let mut skip = 0;
        while let Some(&byte) = bytes.get(at) {
            let class = table[usize::from(byte)];
            if class & (PLAIN | UPPER) != 0 {
                seen |= class;
                at += 1;
            } else if class == WIDE {
                let c = text[at..].chars().next().unwrap_or_default();
                if !wide(c) {
                    skip = c.len_utf8();
                    break;
                }
                seen |= WIDE;
                at += c.len_utf8();
            } else {
                skip = 1;
                break;
            }
        }
        if start < at {
            emit(&text[start..at], seen);
        }
        at += skip;
    }
}

const fn classes(underscore: bool) -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = u8::MAX;
    loop {
        table[byte as usize] = match byte {
            b'0'..=b'9' | b'a'..=b'z' => PLAIN,
            b'A'..=b'Z' => UPPER,
            b'_' if underscore => PLAIN,
            128.. => WIDE,
            _ => 0,
        };
        if byte == 0 {
            return table;
        }
        byte -= 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tantivy::tokenizer::TokenizerManager;

    use super::*;

    /// Tokens and number dropped, as tantivy's own tokenizer `default` gives them.
    fn tantivy_default(text: &str) -> Vec<String> {
        let mut analyser = TokenizerManager::default().get("default").unwrap();
        let mut stream = analyser.token_stream(text);
        let mut tokens = Vec::new();
        while stream.advance() {
            tokens.push(stream.token().text.clone());
        }
        tokens
    }

    const NASTY: &[&str] = &[
        "",
        " ",
        "_",
        "a:b -x \" foo AND [1 TO",
        "İstanbul ΟΔΟΣ Straße ŉ ǅ",
        "日本語 テスト 한국어 ไทย العربية हिन्दी",
        "\u{212a}elvin ½ Ⅳ ① ² ٣ 𝔘𝔫𝔦 🦀crab🦀 e\u{301}",
        "zero\u{200b}width nb\u{a0}sp \u{feff}bom \u{85}nel line\u{2028}sep",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "ÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄ ÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄ aÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄ",
        "İİİİİİİİİİİİİİİİİİİ ȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺ",
        "snake_case CamelCase x86_64 v1.2.3 foo--bar",
        "\0nul\u{1}\x7f",
    ];

    #[test]
    fn default_is_tantivys_default() {
        for text in NASTY {
            assert_eq!(Analyser::Default.tokens(text), tantivy_default(text), "{text:?}");
        }
    }

    proptest! {
        /// The same, on any text.
        #[test]
        fn default_is_tantivys_default_on_any_text(text in "\\PC{0,80}|[a-zA-ZÀ-ž0-9 _.\u{130}]{0,120}") {
            prop_assert_eq!(Analyser::Default.tokens(&text), tantivy_default(&text));
        }

        /// An analyser's shortcuts for ASCII and for lower case change nothing.
        #[test]
        fn ascii_is_a_filter_of_lower_case(text in "[a-zA-Z0-9 _.\u{130}\u{212a}é]{0,60}") {
            let lower = text.to_lowercase();
            let plain = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|t| !t.is_empty());
            prop_assert_eq!(Analyser::Ascii.tokens(&text), plain.collect::<Vec<_>>());
        }
    }

    #[test]
    fn default_counts_what_it_drops() {
        let long = "x".repeat(40);
        let text = format!("{long} {} {long}", "y".repeat(39));
        let mut kept = 0;
        assert_eq!(Analyser::Default.analyse(&text, |_| kept += 1), 2);
        assert_eq!(kept, 1);
    }

    #[test]
    fn words_are_two_characters_and_more() {
        let words = |text| Analyser::Word.tokens(text);
        assert_eq!(words("A bc _d é éa Ünder x1"), ["bc", "_d", "éa", "ünder", "x1"]);
        assert_eq!(words("ΟΔΟΣ"), ["οδος"]);
        assert_eq!(Analyser::WordAll.tokens("A b_ é"), ["a", "b_", "é"]);
    }

    #[test]
    fn whitespace_leaves_tokens_alone() {
        assert_eq!(
            Analyser::Whitespace.tokens(" unique-word\tB\u{a0}c "),
            ["unique-word", "B", "c"]
        );
    }

    #[test]
    fn names_are_read_back() {
        for analyser in Analyser::ALL {
            assert_eq!(analyser.name().parse::<Analyser>().unwrap(), analyser);
        }
        assert!("Default".parse::<Analyser>().is_err());
    }
}
