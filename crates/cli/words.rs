//! The words of tables and messages: one name a thing, whatever the file formats call it.

use cleanhit_eval::{By, Cases, Group, Scope, Summary, files::InformationSetting};

use crate::tables::Cell;

/// A breakdown, as a heading.
pub(crate) fn by(by: By) -> &'static str {
    match by {
        By::Stratum => "stratum",
        By::Mechanism => "mechanism",
        By::ConflictType => "type",
        By::Source => "source",
        By::Role => "role",
    }
}

/// A group of queries. The whole of those that count is `all`.
pub(crate) fn group<'a>(group: &'a Group, cases: &'a Cases) -> &'a str {
    match group {
        Group::Scope(Scope::MainComparison) => "all",
        Group::Scope(Scope::MainCore) => "single",
        Group::Scope(Scope::MainHard) => "paired",
        Group::Scope(Scope::AllQueryCensus) => "all and development",
        Group::Scope(Scope::DevelopmentOnly) => "development",
        group => group.name(cases),
    }
}

/// A summary's group, marked if its queries are few.
pub(crate) fn group_cell(summary: &Summary, cases: &Cases) -> Cell {
    Cell::marked(group(&summary.group, cases), summary.is_thin())
}

/// An information setting by the leaderboard's name for it, whichever of the two is given.
pub(crate) fn setting(name: &str) -> &str {
    name.parse().map_or(name, |setting: InformationSetting| setting.leaderboard())
}

/// Queries whose ranks K and K + 1 tie or nearly tie, in words. A near-tie is no tie: the two
/// scores differ, by at most 1e-6.
pub(crate) fn ties(tied: u64, near: u64) -> String {
    let queries = |n| cleanhit_io::counted(n, "query");
    format!("{} with a tie, {} with a near-tie (within 1e-6)", queries(tied), queries(near))
}

/// What a parser of numbers says, in people's words.
pub(crate) fn of_numbers(message: &str) -> String {
    const WORDS: [(&str, &str); 4] = [
        ("number would be zero for non-zero type", "expected a whole number from 1"),
        ("invalid digit found in string", "expected a whole number"),
        ("cannot parse integer from empty string", "expected a whole number"),
        ("number too large to fit in target type", "expected a smaller number"),
    ];
    let say = |text: String, (said, words): &(&str, &str)| text.replace(said, words);
    WORDS.iter().fold(message.to_owned(), say)
}
