//! Does a text read as it should: a query as a person's request, a skill as a published one?

use cleanhit_io::counted;

use super::Check;
use crate::units::{authoring::Authoring, taxonomy::Side};

/// Queries have their length, state the requirement as one clause of several, and quote
/// neither a skill's name nor a run of its words.
pub fn queries(authoring: &Authoring) -> Check {
    let limits = &authoring.config.limits;
    let mut out = Vec::new();
    let (mut lengths, mut longest_run) = (Vec::new(), 0);
    for unit in &authoring.units {
        for (i, query) in unit.queries.iter().enumerate() {
            let field = format!("query[{i}].text");
            let n = query.text.split_whitespace().count();
            lengths.push(n);
            let [least, most] = limits.query_words;
            if !(least..=most).contains(&n) {
                let error = unit.error(&field, format!("has {}", counted(n, "word")));
                out.push(error.expected(format!("{least} to {most}")));
            }
            let n = sentences(&query.text);
            let [least, most] = limits.query_sentences;
            if !(least..=most).contains(&n) {
                let error = unit.error(&field, format!("has {n} sentences"));
                out.push(error.expected(format!("{least} to {most}")));
            }
            if query.text.trim().len() <= query.requirement.trim().len() {
                let field = format!("query[{i}].requirement");
                let error = unit.error(&field, "is the whole query");
                out.push(error.expected("one clause of it"));
            }
            let words = words(&query.text);
            let spans = [("helpful", &query.helpful_span), ("sibling", &query.sibling_span)];
            for (role, span) in spans {
                if query.text.contains(span.as_str()) {
                    let error = unit.error(&field, format!("quotes the {role} span"));
                    out.push(error.expected("ordinary words"));
                }
            }
            for &side in Side::ALL {
                let skill = unit.skill(side);
                let name: Vec<String> = skill.name.split('-').map(str::to_owned).collect();
                if words.windows(name.len()).any(|window| window == name) {
                    let error = unit.error(&field, format!("quotes the name `{}`", skill.name));
                    out.push(error.expected("ordinary words"));
                }
                let skill_words = self::words(&skill.rendered());
                let (run, at) = longest_shared(&words, &skill_words);
                longest_run = longest_run.max(run);
                if limits.shared_words < run {
                    let quote = words[at..at + run].join(" ");
                    let error = unit.error(&field, format!("shares `{quote}` with skill `{side}`"));
                    out.push(
                        error.expected(format!("at most {} words in a row", limits.shared_words)),
                    );
                }
            }
        }
    }
    let (least, most) = (lengths.iter().min(), lengths.iter().max());
    let (least, most) = (least.copied().unwrap_or(0), most.copied().unwrap_or(0));
    let detail =
        format!("{least} to {most} words, at most {longest_run} in a row shared with a skill");
    Check::new("queries", detail, out)
}

/// Skills have their length.
pub fn skills(authoring: &Authoring) -> Check {
    let [least, most] = authoring.config.limits.skill_words;
    let mut out = Vec::new();
    let mut lengths = Vec::new();
    for unit in &authoring.units {
        for &side in Side::ALL {
            let n = unit.skill(side).body.split_whitespace().count();
            lengths.push(n);
            if !(least..=most).contains(&n) {
                let error =
                    unit.error(&format!("{side}.body"), format!("has {}", counted(n, "word")));
                out.push(error.expected(format!("{least} to {most}")));
            }
            // Background bodies are cut to these edges; other edges would tell them apart.
            let body = unit.skill(side).body.as_str();
            if body != format!("{}\n", body.trim_matches(['\n', ' '])) {
                let error = unit.error(&format!("{side}.body"), "has blank lines at an edge");
                out.push(error.expected("text at the start, and one line end at the end"));
            }
        }
    }
    let (shortest, longest) = (lengths.iter().min(), lengths.iter().max());
    let (shortest, longest) = (shortest.copied().unwrap_or(0), longest.copied().unwrap_or(0));
    Check::new("skills", format!("bodies of {shortest} to {longest} words"), out)
}

/// How many sentences: ends of sentences before white space or the end of the text.
fn sentences(text: &str) -> usize {
    let mut n = 0;
    let mut chars = text.trim_end().chars().peekable();
    let mut open = false;
    while let Some(c) = chars.next() {
        open = true;
        let next = chars.peek().is_none_or(|next| next.is_whitespace());
        if matches!(c, '.' | '?' | '!' | '…') && next {
            n += 1;
            open = false;
        }
    }
    n + usize::from(open)
}

/// The words of a text in lower case.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// The length of the longest run of `a` that is also in `b`, and where it starts in `a`.
fn longest_shared(a: &[String], b: &[String]) -> (usize, usize) {
    let mut best = (0, 0);
    // runs[j]: the length of the common run that ends at the current word of a and at b[j - 1].
    let mut runs = vec![0_usize; b.len() + 1];
    for (i, word) in a.iter().enumerate() {
        for j in (0..b.len()).rev() {
            runs[j + 1] = if *word == b[j] { runs[j] + 1 } else { 0 };
            if best.0 < runs[j + 1] {
                best = (runs[j + 1], i + 1 - runs[j + 1]);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_before_white_space() {
        assert_eq!(sentences("From v1.2 on. Does it? Yes"), 3);
        assert_eq!(sentences("Is it 10.20.8.0/24?"), 1);
        assert_eq!(sentences(""), 0);
    }

    #[test]
    fn the_longest_shared_run_is_found() {
        let split = |text: &str| words(text);
        let (a, b) = (split("take the last of all the rows"), split("all rows, the last of all"));
        assert_eq!(longest_shared(&a, &b), (4, 1));
        assert_eq!(longest_shared(&a, &[]), (0, 0));
    }
}
