//! Families from titles: candidates that are called the same but for numbers and versions.

use std::collections::HashMap;

use cleanhit_core::{BoxError, Corpus, Partition, Ranking, Resolver, TextOnly};

/// Families as equal [title signatures](title_signature). A candidate whose title has no
/// signature is a singleton.
#[derive(Clone, Debug)]
pub struct Titles(Partition);

/// Titles were read from another corpus.
#[derive(Debug, thiserror::Error)]
#[error("titles were read of {expected} candidates, but the corpus has {got}")]
pub struct TitlesError {
    /// Candidates read.
    expected: usize,
    /// Candidates asked about.
    got: usize,
}

impl Titles {
    /// Reads all titles of `corpus`.
    pub fn new(corpus: &Corpus) -> Titles {
        let mut firsts: HashMap<String, u32> = HashMap::new();
        let groups = corpus.docs().zip(0u32..).map(|(doc, position)| {
            let signature = title_signature(corpus.title(doc));
            match signature.is_empty() {
                true => position,
                false => *firsts.entry(signature).or_insert(position),
            }
        });
        let groups = groups.collect();
        Titles(Partition::new(corpus, groups))
    }

    /// The families; each is numbered by the position of its first candidate.
    pub fn partition(&self) -> &Partition {
        &self.0
    }
}

impl Resolver<TextOnly> for Titles {
    fn families(&self, corpus: &Corpus, _: &Ranking, _: &()) -> Result<Partition, BoxError> {
        let (expected, got) = (self.0.groups().len(), corpus.len());
        if expected != got {
            return Err(TitlesError { expected, got }.into());
        }
        Ok(self.0.clone())
    }
}

/// The words of a title, in lower case, without numbers and versions, one blank between them.
///
/// Words are runs of alphanumerics. A version is `v` and a digit, whatever follows, and the
/// words `v`, `ver` and `version` before a number. So `PDF-Tools v2.1`, `pdf tools 3` and
/// `Pdf_tools (version 4)` are all `pdf tools`, while `k8s` and `s3` are words.
pub fn title_signature(title: &str) -> String {
    let lower = title.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_number = |word: &str| word.chars().all(char::is_numeric);
    let is_version = |word: &str| {
        word.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let mut kept: Vec<&str> = Vec::with_capacity(words.len());
    for (i, &word) in words.iter().enumerate() {
        let before_number = words.get(i + 1).is_some_and(|next| is_number(next));
        let names_number = before_number && matches!(word, "v" | "ver" | "version");
        if !(is_number(word) || is_version(word) || names_number) {
            kept.push(word);
        }
    }
    kept.join(" ")
}

#[cfg(test)]
mod tests {
    use cleanhit_core::{Candidate, Pool};

    use super::*;

    #[test]
    fn numbers_and_versions_are_dropped() {
        for title in [
            "PDF-Tools v2.1",
            "pdf tools 3",
            "Pdf_tools (version 4)",
            "# PDF tools",
            "2024 pdf, tools: V1beta2",
        ] {
            assert_eq!(title_signature(title), "pdf tools", "{title}");
        }
        assert_eq!(title_signature("k8s on S3"), "k8s on s3");
        assert_eq!(title_signature("Version control"), "version control");
        assert_eq!(title_signature("Über-Straße 2"), "über straße");
        for title in ["", "---", "1.2.3", "v2", "2024-11"] {
            assert_eq!(title_signature(title), "", "{title}");
        }
    }

    #[test]
    fn equal_titles_are_families_and_titles_without_words_are_singletons() {
        let texts = [("a", "PDF 1\nx"), ("b", "pdf v2"), ("c", "12"), ("d", "12"), ("e", "")];
        let candidate = |&(id, text): &(&str, &str)| Candidate {
            id: id.into(),
            text: text.to_owned(),
            name: None,
        };
        let pool = Pool::new("test", texts.iter().map(candidate).collect()).unwrap();
        let titles = Titles::new(pool.corpus());
        let group = |id| titles.partition().group(pool.position(id).unwrap());
        assert_eq!(group("a"), group("b"));
        let mut groups: Vec<u32> = ["a", "c", "d", "e"].map(group).to_vec();
        groups.sort_unstable();
        groups.dedup();
        assert_eq!(groups.len(), 4);
    }
}
