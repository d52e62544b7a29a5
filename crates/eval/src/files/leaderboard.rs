//! `leaderboard.tsv`: methods side by side, never across information settings.

use std::{cmp::Ordering, collections::HashMap, fmt, str::FromStr};

use cleanhit_io::InputError;

use crate::{
    exposure::{Measure, Scope},
    files::{InformationSetting, IntervalsFile, MethodCard, MetricsFile, round9},
    stats::Interval,
    tsv::{self, Need},
};

const COLUMNS: [&str; 14] = [
    "setting",
    "rank_within_setting",
    "result_status",
    "display_name",
    "method_id",
    "recall_at_3",
    "recall_ci95_low",
    "recall_ci95_high",
    "hsr_at_3",
    "hsr_ci95_low",
    "hsr_ci95_high",
    "cleanhit_at_3",
    "cleanhit_ci95_low",
    "cleanhit_ci95_high",
];

/// How far a row has been verified. Ordered from the least to the most.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum ResultStatus {
    /// As submitted.
    SelfReported,
    /// The files are well formed.
    SchemaChecked,
    /// The metrics follow from the ranks.
    MetricRecomputed,
    /// The information setting was reviewed.
    SettingVerified,
    /// Accepted by the maintainers.
    Accepted,
    /// Frozen with the paper.
    PaperFrozen,
}

/// A name that no status has.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is not a result status; expected {expected}", expected = ResultStatus::expected())]
pub struct StatusError(String);

/// A rate at 3 of the main comparison, and its 95% interval where there is one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// The rate.
    pub point: f64,
    /// Its interval.
    pub interval: Option<Interval>,
}

/// One method.
#[derive(Clone, Debug, PartialEq)]
pub struct LeaderboardRow {
    /// Its setting.
    pub setting: InformationSetting,
    /// Its place within its setting, from 1; `None` for a diagnostic. [`Leaderboard::new`] sets it.
    pub rank: Option<u64>,
    /// How far it has been verified.
    pub status: ResultStatus,
    /// Its name, for people.
    pub display_name: String,
    /// Its id.
    pub method_id: String,
    /// Recall@3.
    pub recall: Value,
    /// HSR@3.
    pub hsr: Value,
    /// CleanHit@3.
    pub cleanhit: Value,
}

/// Rows by setting, then CleanHit@3 descending, Recall@3 descending, method id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Leaderboard(Vec<LeaderboardRow>);

impl Leaderboard {
    /// Sorts the rows and ranks them within their settings.
    pub fn new(mut rows: Vec<LeaderboardRow>) -> Leaderboard {
        rows.sort_by(order);
        let ranks = ranks(&rows);
        for (row, rank) in rows.iter_mut().zip(ranks) {
            row.rank = rank;
        }
        Leaderboard(rows)
    }

    /// The rows, in order.
    pub fn rows(&self) -> &[LeaderboardRow] {
        &self.0
    }

    /// The file's bytes.
    pub fn write(&self) -> Vec<u8> {
        tsv::write(COLUMNS, self.0.iter().map(LeaderboardRow::fields))
    }

    /// Reads a leaderboard and checks what its writer guarantees.
    ///
    /// # Errors
    ///
    /// Every violation, by line: another header, a value outside its range or its interval's
    /// ends out of order, a CleanHit above Recall, a method twice in a setting, rows out of
    /// order, a rank that does not follow from the order, a ranked diagnostic.
    pub fn read(file: &str, bytes: &[u8]) -> Result<Leaderboard, Vec<InputError>> {
        let mut errors = Vec::new();
        let columns = COLUMNS.map(|name| (name, Need::Required));
        let table = tsv::read(file, bytes, columns, &mut errors);
        if !table.header.is_empty() && table.header != COLUMNS {
            let error = InputError::new(file, "the header has other columns, or another order");
            errors.push(error.line(1).expected(COLUMNS.join(" ")));
        }
        let mut rows: Vec<(u64, LeaderboardRow)> = Vec::new();
        let mut readable = true;
        for row in &table.rows {
            match LeaderboardRow::parse(file, row.line, &row.fields, &mut errors) {
                Some(parsed) => rows.push((row.line, parsed)),
                None => readable = false,
            }
        }
        if readable {
            check(file, &rows, &mut errors);
        }
        let rows = rows.into_iter().map(|(_, row)| row).collect();
        if errors.is_empty() { Ok(Leaderboard(rows)) } else { Err(errors) }
    }
}

impl LeaderboardRow {
    /// The row of a card, its metrics and its intervals.
    ///
    /// `None` if the card names no setting, or the metrics have no rates at 3.
    pub fn new(
        card: &MethodCard,
        metrics: &MetricsFile,
        intervals: Option<&IntervalsFile>,
        status: ResultStatus,
    ) -> Option<LeaderboardRow> {
        let around = intervals.and_then(|file| file.scopes.get(Scope::MainComparison.as_str()));
        let value = |measure| {
            let point = metrics.scopes.main_comparison.query_micro.get(measure, 3)?;
            let interval = around.and_then(|around| around.query_micro.get(measure, 3));
            Some(Value { point, interval: interval.map(|(_, interval)| interval) })
        };
        Some(LeaderboardRow {
            setting: card.setting()?,
            rank: None,
            status,
            display_name: card.method_name.clone(),
            method_id: card.method_id.clone(),
            recall: value(Measure::Recall)?,
            hsr: value(Measure::Hsr)?,
            cleanhit: value(Measure::CleanHit)?,
        })
    }

    fn fields(&self) -> [String; 14] {
        let [r, r_low, r_high] = self.recall.fields();
        let [h, h_low, h_high] = self.hsr.fields();
        let [c, c_low, c_high] = self.cleanhit.fields();
        let rank = self.rank.map(|rank| rank.to_string()).unwrap_or_default();
        let status = self.status.as_str().to_owned();
        let (name, id) = (self.display_name.clone(), self.method_id.clone());
        let setting = self.setting.leaderboard().to_owned();
        [setting, rank, status, name, id, r, r_low, r_high, h, h_low, h_high, c, c_low, c_high]
    }

    fn parse(
        file: &str,
        line: u64,
        fields: &[String; 14],
        errors: &mut Vec<InputError>,
    ) -> Option<LeaderboardRow> {
        let known = errors.len();
        let mut fail = |column: usize, expected: &str| {
            let problem = format!("is `{}`", fields[column]);
            let error = InputError::new(file, problem).line(line).field(COLUMNS[column]);
            errors.push(error.expected(expected));
        };
        let setting = fields[0].parse::<InformationSetting>();
        if setting.is_err() {
            fail(0, &InformationSetting::expected());
        }
        let rank = match fields[1].as_str() {
            "" => None,
            text => match text.parse::<u64>() {
                Ok(rank) if rank != 0 => Some(rank),
                _ => {
                    fail(1, "a whole number from 1, or nothing");
                    None
                }
            },
        };
        let status = fields[2].parse::<ResultStatus>();
        if status.is_err() {
            fail(2, &ResultStatus::expected());
        }
        for column in [3, 4].into_iter().filter(|&column| fields[column].trim().is_empty()) {
            fail(column, "text");
        }
        let mut value = |first: usize| {
            let mut number = |column: usize| match fields[column].parse::<f64>() {
                Ok(number) if (0.0..=1.0).contains(&number) => Some(number),
                _ => {
                    fail(column, "a number in [0, 1]");
                    None
                }
            };
            let point = number(first)?;
            let interval = match (fields[first + 1].as_str(), fields[first + 2].as_str()) {
                ("", "") => None,
                _ => {
                    let (low, high) = (number(first + 1), number(first + 2));
                    let interval = Interval { low: low?, high: high? };
                    if interval.high < interval.low {
                        fail(first + 2, "no less than the lower end");
                        return None;
                    }
                    Some(interval)
                }
            };
            Some(Value { point, interval })
        };
        let (recall, hsr, cleanhit) = (value(5), value(8), value(11));
        if let (Some(recall), Some(cleanhit)) = (recall, cleanhit)
            && recall.point < cleanhit.point
        {
            fail(11, "no more than Recall");
        }
        if known < errors.len() {
            return None;
        }
        Some(LeaderboardRow {
            setting: setting.ok()?,
            rank,
            status: status.ok()?,
            display_name: fields[3].clone(),
            method_id: fields[4].clone(),
            recall: recall?,
            hsr: hsr?,
            cleanhit: cleanhit?,
        })
    }
}

impl Value {
    fn fields(&self) -> [String; 3] {
        let number = |value: f64| round9(value).to_string();
        let (low, high) = match self.interval {
            Some(interval) => (number(interval.low), number(interval.high)),
            None => (String::new(), String::new()),
        };
        [number(self.point), low, high]
    }
}

impl ResultStatus {
    /// All of them, from the least to the most verified.
    pub const ALL: [ResultStatus; 6] = [
        ResultStatus::SelfReported,
        ResultStatus::SchemaChecked,
        ResultStatus::MetricRecomputed,
        ResultStatus::SettingVerified,
        ResultStatus::Accepted,
        ResultStatus::PaperFrozen,
    ];

    /// As the leaderboard writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            ResultStatus::SelfReported => "self_reported",
            ResultStatus::SchemaChecked => "schema_checked",
            ResultStatus::MetricRecomputed => "metric_recomputed",
            ResultStatus::SettingVerified => "setting_verified",
            ResultStatus::Accepted => "accepted",
            ResultStatus::PaperFrozen => "paper_frozen",
        }
    }

    fn expected() -> String {
        ResultStatus::ALL.map(|status| format!("`{status}`")).join(", ")
    }
}

impl fmt::Display for ResultStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ResultStatus {
    type Err = StatusError;

    fn from_str(s: &str) -> Result<ResultStatus, StatusError> {
        let found = ResultStatus::ALL.into_iter().find(|status| status.as_str() == s);
        found.ok_or_else(|| StatusError(s.to_owned()))
    }
}

fn order(a: &LeaderboardRow, b: &LeaderboardRow) -> Ordering {
    let descending = |a: Value, b: Value| round9(b.point).total_cmp(&round9(a.point));
    a.setting
        .cmp(&b.setting)
        .then_with(|| descending(a.cleanhit, b.cleanhit))
        .then_with(|| descending(a.recall, b.recall))
        .then_with(|| a.method_id.cmp(&b.method_id))
}

/// The rank of each of rows in order: from 1 within a setting, none for diagnostics.
fn ranks(rows: &[LeaderboardRow]) -> Vec<Option<u64>> {
    let mut next: HashMap<InformationSetting, u64> = HashMap::new();
    let rank = |row: &LeaderboardRow| {
        let rank = next.entry(row.setting).or_insert(0);
        *rank += 1;
        row.setting.is_ranked().then_some(*rank)
    };
    rows.iter().map(rank).collect()
}

/// What must hold between rows.
fn check(file: &str, rows: &[(u64, LeaderboardRow)], errors: &mut Vec<InputError>) {
    let mut seen: HashMap<(InformationSetting, &str), u64> = HashMap::new();
    for (line, row) in rows {
        if let Some(first) = seen.insert((row.setting, &row.method_id), *line) {
            let problem = format!("method `{}` is on line {first} as well", row.method_id);
            let error = InputError::new(file, problem).line(*line).field("method_id");
            errors.push(error.expected("one row a method and setting"));
        }
    }
    for pair in rows.windows(2).filter(|pair| order(&pair[0].1, &pair[1].1) == Ordering::Greater) {
        let problem = format!("the row belongs before line {}", pair[0].0);
        let expected = "by setting, then CleanHit and Recall descending, then method_id";
        errors.push(InputError::new(file, problem).line(pair[1].0).expected(expected));
    }
    let ordered: Vec<LeaderboardRow> = rows.iter().map(|(_, row)| row.clone()).collect();
    for ((line, row), rank) in
        rows.iter().zip(ranks(&ordered)).filter(|((_, row), r)| row.rank != *r)
    {
        let shown =
            |rank: Option<u64>| rank.map_or("no rank".to_owned(), |rank| format!("`{rank}`"));
        let error = InputError::new(file, format!("is {}", shown(row.rank)));
        errors.push(error.line(*line).field("rank_within_setting").expected(shown(rank)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(setting: InformationSetting, id: &str, recall: f64, cleanhit: f64) -> LeaderboardRow {
        let value =
            |point| Value { point, interval: Some(Interval { low: point / 2.0, high: 1.0 }) };
        LeaderboardRow {
            setting,
            rank: None,
            status: ResultStatus::MetricRecomputed,
            display_name: format!("The \"{id}\"\tmethod"),
            method_id: id.to_owned(),
            recall: value(recall),
            hsr: Value { point: 0.25, interval: None },
            cleanhit: value(cleanhit),
        }
    }

    fn board() -> Leaderboard {
        use InformationSetting::{Diagnostic, PublicTextOnly, ReleasedFamily};
        Leaderboard::new(vec![
            row(Diagnostic, "oracle", 1.0, 1.0),
            row(PublicTextOnly, "c", 0.75, 0.5),
            row(ReleasedFamily, "sel", 0.875, 0.875),
            row(PublicTextOnly, "b", 0.75, 0.5),
            row(PublicTextOnly, "a", 0.625, 0.5),
            row(PublicTextOnly, "d", 0.625, 0.625),
        ])
    }

    #[test]
    fn rows_are_ranked_within_their_setting() {
        let board = board();
        let rows: Vec<(&str, Option<u64>)> =
            board.rows().iter().map(|row| (row.method_id.as_str(), row.rank)).collect();
        let expected = [
            ("d", Some(1)),
            ("b", Some(2)),
            ("c", Some(3)),
            ("a", Some(4)),
            ("sel", Some(1)),
            ("oracle", None),
        ];
        assert_eq!(rows, expected);
        let text = String::from_utf8(board.write()).unwrap();
        assert!(text.starts_with("setting\trank_within_setting\tresult_status\tdisplay_name\t"));
        assert!(text.contains("\nreleased_family_control\t1\tmetric_recomputed\t"));
        assert!(text.contains("\t0.875\t0.4375\t1\t0.25\t\t\t0.875\t0.4375\t1\n"));
        assert_eq!(Leaderboard::read("l.tsv", text.as_bytes()), Ok(board));
    }

    #[test]
    fn every_violation_is_listed_by_line() {
        let errors = |edit: &dyn Fn(&mut Vec<String>)| {
            let text = String::from_utf8(board().write()).unwrap();
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            edit(&mut lines);
            let errors = Leaderboard::read("l.tsv", lines.join("\n").as_bytes()).unwrap_err();
            errors.iter().map(InputError::to_string).collect::<Vec<String>>()
        };
        let swapped = errors(&|lines| lines.swap(1, 2));
        assert_eq!(
            swapped,
            [
                "l.tsv:3: the row belongs before line 2; expected by setting, then CleanHit and Recall descending, then method_id",
                "l.tsv:2: field `rank_within_setting`: is `2`; expected `1`",
                "l.tsv:3: field `rank_within_setting`: is `1`; expected `2`",
            ]
        );
        let ranked = errors(&|lines| lines[6] = lines[6].replace("ranked\t\t", "ranked\t1\t"));
        assert_eq!(ranked, ["l.tsv:7: field `rank_within_setting`: is `1`; expected no rank"]);
        let twice = errors(&|lines| lines[3] = lines[3].replace("\tc\t", "\tb\t"));
        assert_eq!(
            twice,
            [
                "l.tsv:4: field `method_id`: method `b` is on line 3 as well; expected one row a method and setting"
            ]
        );
        let bad = errors(&|lines| {
            lines[1] =
                lines[1].replace("metric_recomputed", "checked").replace("\t0.25\t", "\t1.5\t");
            lines[2] = lines[2].replace("\t0.75\t", "\t0.4\t");
        });
        assert_eq!(bad.len(), 3, "{bad:?}");
        assert!(
            bad[0].starts_with("l.tsv:2: field `result_status`: is `checked`; expected `self_rep")
        );
        assert_eq!(bad[1], "l.tsv:2: field `hsr_at_3`: is `1.5`; expected a number in [0, 1]");
        assert_eq!(
            bad[2],
            "l.tsv:3: field `cleanhit_at_3`: is `0.5`; expected no more than Recall"
        );
        let header = errors(&|lines| lines[0].push_str("\tnote"));
        assert!(header[0].starts_with("l.tsv:2: has 14 fields"), "{header:?}");
    }
}
