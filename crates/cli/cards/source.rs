//! Where a card was read from, for errors in what its tables hold.

use std::path::Path;

/// A card's file and text; empty for a card that a receipt holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    file: String,
    text: String,
}

impl Source {
    pub(crate) fn new(file: &str, text: &str) -> Source {
        Source { file: file.to_owned(), text: text.to_owned() }
    }

    /// The card's file, as it was named; not always one on disk.
    pub(crate) fn path(&self) -> &Path {
        Path::new(&self.file)
    }

    /// The error with the card's file and the line of what it names, else of its table.
    pub(crate) fn at(&self, table: &str, error: anyhow::Error) -> anyhow::Error {
        if self.file.is_empty() {
            return error;
        }
        let line = self.line(table, &format!("{error:#}"));
        error.context(format!("{}:{line}", self.file))
    }

    /// The line of the first key of `table` that `message` names in backticks.
    fn line(&self, table: &str, message: &str) -> usize {
        let mut header = 1;
        let mut inside = false;
        let mut keys: Vec<(&str, usize)> = Vec::new();
        for (line, number) in self.text.lines().map(str::trim).zip(1..) {
            if line.starts_with('[') {
                let name = line.trim_start_matches('[').split(']').next().unwrap_or_default();
                inside = name.split('.').next().is_some_and(|top| top.trim() == table);
                if inside && header == 1 {
                    header = number;
                }
            } else if let Some((key, _)) = line.split_once('=').filter(|_| inside) {
                keys.push((key.trim(), number));
            }
        }
        let named = message.split('`').skip(1).step_by(2);
        let named = named.filter_map(|name| name.rsplit('.').next());
        let met = |name: &str| keys.iter().find(|(key, _)| *key == name).map(|&(_, line)| line);
        named.into_iter().find_map(met).unwrap_or(header)
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn an_error_has_the_line_of_the_key_or_the_table() {
        let text =
            "format = 1\nk1 = 0\n[retrieve]\nkind = \"x\"\nk1 = 1\nk2 = 2\n[select]\nk3 = 3\n";
        let source = Source::new("c.toml", text);
        let at = |table: &str, error: &str| format!("{:#}", source.at(table, anyhow!("{error}")));
        let unknown = "the `x` table: unknown field `k2`, expected `k1`";
        assert_eq!(at("retrieve", unknown), format!("c.toml:6: {unknown}"));
        assert_eq!(at("retrieve", "field `retrieve.k1`: 9"), "c.toml:5: field `retrieve.k1`: 9");
        assert_eq!(at("select", "missing field `k1`"), "c.toml:7: missing field `k1`");
        assert_eq!(format!("{:#}", Source::default().at("select", anyhow!("x"))), "x");
    }
}
