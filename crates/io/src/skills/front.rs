//! Where the front matter of a `SKILL.md` is.

/// What comes before the body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Front<'a> {
    /// Between two lines `---`, the first of which is `first_line`.
    Found { yaml: &'a str, body: &'a str, first_line: u64 },
    /// A line `---` that no other closes.
    Unclosed { first_line: u64 },
    /// Front matter after other text, starting at `first_line`.
    NotAtTop { first_line: u64 },
    /// None.
    Absent,
}

/// How far down front matter is looked for after other text.
const SEARCHED: usize = 20;

/// Blank lines, then a line `---`, then the next line `---`. Blanks after `---` are accepted.
pub(super) fn split(text: &str) -> Front<'_> {
    let mut lines = numbered(text).skip_while(|(_, _, line)| line.trim().is_empty());
    match lines.next() {
        Some((first_line, start, line)) if is_fence(line) => match closed(text, start) {
            Some((yaml, body)) => Front::Found { yaml, body, first_line },
            None => Front::Unclosed { first_line },
        },
        Some(_) => {
            let fence = lines.take(SEARCHED).find(|(_, start, line)| {
                is_fence(line) && closed(text, *start).is_some_and(|(yaml, _)| has_name(yaml))
            });
            fence.map_or(Front::Absent, |(first_line, _, _)| Front::NotAtTop { first_line })
        }
        None => Front::Absent,
    }
}

/// What is between the line at `start` and the next line `---`, and what follows that.
fn closed(text: &str, start: usize) -> Option<(&str, &str)> {
    let (_, yaml) = text[start..].split_once('\n')?;
    let (_, at, line) = numbered(yaml).find(|(_, _, line)| is_fence(line))?;
    Some((&yaml[..at], &yaml[(at + line.len() + 1).min(yaml.len())..]))
}

fn has_name(yaml: &str) -> bool {
    yaml.lines().any(|line| line.starts_with("name:") || line.starts_with("description:"))
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}

/// Lines with their numbers and where they start.
fn numbered(text: &str) -> impl Iterator<Item = (u64, usize, &str)> {
    let mut start = 0;
    text.split('\n').zip(1u64..).map(move |(line, number)| {
        let at = start;
        start += line.len() + 1;
        (number, at, line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_found_at_the_top() {
        let found = |yaml, body, first_line| Front::Found { yaml, body, first_line };
        assert_eq!(split("---\nname: a\n---\nB\n"), found("name: a\n", "B\n", 1));
        assert_eq!(split("\n \n--- \nname: a\n---\t\n\nB"), found("name: a\n", "\nB", 3));
        assert_eq!(split("---\n---"), found("", "", 1));
        assert_eq!(split("---\na: 1\n---\nx\n---\ny"), found("a: 1\n", "x\n---\ny", 1));
    }

    #[test]
    fn what_is_no_front_matter_is_told_apart() {
        assert_eq!(split("---\nname: a\n"), Front::Unclosed { first_line: 1 });
        assert_eq!(split("---"), Front::Unclosed { first_line: 1 });
        assert_eq!(split("--- a\n---\n"), Front::Absent);
        assert_eq!(split("[SKILL]\n---\nname: a\n---\nB"), Front::NotAtTop { first_line: 2 });
        assert_eq!(split("# Title\n---\nrule\n---\n"), Front::Absent);
        assert_eq!(split(" ---\n---\n"), Front::Absent);
        assert_eq!(split(""), Front::Absent);
    }
}
