//! One table, as text, Markdown, LaTeX or CSV.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, ContentArrangement, Table as Grid, presets};

/// How a table is printed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For a terminal
    #[default]
    Text,
    /// A Markdown table
    Markdown,
    /// A LaTeX tabular, booktabs rules
    Latex,
    /// Comma-separated values, RFC 4180: one table, an interval's ends in columns of their own
    Csv,
}

/// What stands under a heading.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    heading: String,
    /// The headings of its columns in CSV.
    parts: Vec<String>,
    /// Names are set to the left, numbers to the right.
    number: bool,
}

/// What a person reads, and the values that CSV has for it, as many as the column has parts.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    shown: String,
    parts: Vec<String>,
}

/// Rows of cells under columns.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    /// Rows before which a rule is drawn.
    rules: Vec<usize>,
    caption: Option<String>,
}

impl Column {
    /// Texts, set to the left.
    pub(crate) fn name(heading: impl Into<String>) -> Column {
        let heading = heading.into();
        Column { parts: vec![snake(&heading)], heading, number: false }
    }

    /// Numbers, set to the right.
    pub(crate) fn number(heading: impl Into<String>) -> Column {
        Column { number: true, ..Column::name(heading) }
    }

    /// Names of groups of which some are marked † for having few queries: [`Cell::marked`].
    pub(crate) fn groups(heading: impl Into<String>) -> Column {
        let column = Column::name(heading);
        let parts = vec![snake(&column.heading), "few".to_owned()];
        Column { parts, ..column }
    }

    /// Rates with their intervals: [`rate_in`].
    pub(crate) fn rates(heading: impl Into<String>) -> Column {
        let column = Column::number(heading);
        let name = snake(&column.heading);
        let ends = ["low", "high"].map(|end| format!("{name}_{end}"));
        let parts = std::iter::once(name).chain(ends).collect();
        Column { parts, ..column }
    }

    /// Numbers of which each cell holds several, under these headings in CSV, as they are.
    pub(crate) fn several<const N: usize>(heading: &str, parts: [&str; N]) -> Column {
        Column { parts: parts.map(str::to_owned).to_vec(), ..Column::number(heading) }
    }
}

impl Cell {
    /// A cell that CSV holds in several columns.
    pub(crate) fn several<const N: usize>(shown: impl Into<String>, parts: [String; N]) -> Cell {
        Cell { shown: shown.into(), parts: parts.to_vec() }
    }

    /// A group's name, with a dagger where it has few queries: `few` is `yes` or empty in CSV.
    pub(crate) fn marked(name: &str, few: bool) -> Cell {
        match few {
            true => Cell::several(format!("{name} †"), [name.to_owned(), "yes".to_owned()]),
            false => Cell::several(name, [name.to_owned(), String::new()]),
        }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Cell {
        let shown = text.into();
        // A dash is how people see that there is no value.
        let part = if shown == NONE { String::new() } else { shown.clone() };
        Cell { shown, parts: vec![part] }
    }
}

impl Table {
    /// A table whose first `names` columns hold names and whose others hold numbers.
    pub(crate) fn new<H: Into<String>>(
        names: usize,
        headings: impl IntoIterator<Item = H>,
    ) -> Table {
        let column = |(i, heading): (usize, H)| match i < names {
            true => Column::name(heading),
            false => Column::number(heading),
        };
        Table::of(headings.into_iter().enumerate().map(column))
    }

    /// A table of these columns.
    pub(crate) fn of(columns: impl IntoIterator<Item = Column>) -> Table {
        let columns = columns.into_iter().collect();
        Table { columns, rows: Vec::new(), rules: Vec::new(), caption: None }
    }

    /// Says what the table shows: a line above it, and nothing in CSV.
    pub(crate) fn caption(mut self, caption: impl Into<String>) -> Table {
        self.caption = Some(caption.into());
        self
    }

    pub(crate) fn row<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Parts the rows that follow from those before.
    pub(crate) fn rule(&mut self) {
        if !self.rows.is_empty() && self.rules.last() != Some(&self.rows.len()) {
            self.rules.push(self.rows.len());
        }
    }

    /// Rows as columns: the first column's names are the headings of numbers, and what were
    /// headings stand under `first`.
    pub(crate) fn transposed(&self, first: &str) -> Table {
        let names = self.rows.iter().filter_map(|row| row.first());
        let numbers = names.map(|cell| Column::number(cell.shown.as_str()));
        let mut turned = Table::of(std::iter::once(Column::name(first)).chain(numbers));
        for (i, column) in self.columns.iter().enumerate().skip(1) {
            let cells = self.rows.iter().filter_map(|row| row.get(i)).cloned();
            turned.row(std::iter::once(Cell::from(column.heading.as_str())).chain(cells));
        }
        turned
    }

    pub(crate) fn render(&self, format: Format) -> String {
        match format {
            Format::Text => self.text(),
            Format::Markdown => self.markdown(),
            Format::Latex => self.latex(),
            Format::Csv => self.csv(),
        }
    }

    fn headings(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.heading.clone()).collect()
    }

    fn shown(row: &[Cell]) -> Vec<String> {
        row.iter().map(|cell| cell.shown.clone()).collect()
    }

    fn text(&self) -> String {
        let mut grid = Grid::new();
        grid.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        grid.add_row(self.headings());
        grid.add_row(self.headings().iter().map(|heading| "-".repeat(heading.chars().count())));
        for (i, row) in self.rows.iter().enumerate() {
            if self.rules.contains(&i) {
                grid.add_row(self.columns.iter().map(|_| ""));
            }
            grid.add_row(Table::shown(row));
        }
        for (column, set) in grid.column_iter_mut().zip(&self.columns) {
            column.set_padding((0, 2));
            column.set_cell_alignment(match set.number {
                true => CellAlignment::Right,
                false => CellAlignment::Left,
            });
        }
        let caption = self.caption.iter().map(|caption| format!("{caption}\n"));
        let lines = grid.lines().map(|line| line.trim_end().to_owned() + "\n");
        caption.chain(lines).collect()
    }

    fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells = cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " "));
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let align = |column: &Column| if column.number { "---:" } else { "---" };
        let rule: Vec<String> = self.columns.iter().map(|c| align(c).to_owned()).collect();
        let caption = self.caption.iter().map(|caption| format!("{caption}\n\n"));
        let head = [line(&self.headings()), line(&rule)];
        let rows = self.rows.iter().map(|row| line(&Table::shown(row)));
        caption.chain(head).chain(rows).collect()
    }

    /// A tabular, in a table of its own where there is a caption; what a dagger says is below it.
    fn latex(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| escape_latex(cell)).collect();
            format!("{} \\\\\n", cells.join(" & "))
        };
        let set: String = self.columns.iter().map(|c| if c.number { 'r' } else { 'l' }).collect();
        let mut text = String::new();
        if let Some(caption) = &self.caption {
            let caption = escape_latex(caption);
            let _ = write!(text, "\\begin{{table}}\n\\centering\n\\caption{{{caption}}}\n");
        }
        let _ = write!(text, "\\begin{{tabular}}{{{set}}}\n\\toprule\n");
        text.push_str(&line(&self.headings()));
        text.push_str("\\midrule\n");
        for (i, row) in self.rows.iter().enumerate() {
            if self.rules.contains(&i) {
                text.push_str("\\midrule\n");
            }
            text.push_str(&line(&Table::shown(row)));
        }
        text.push_str("\\bottomrule\n\\end{tabular}\n");
        if self.rows.iter().flatten().any(|cell| cell.shown.contains('†')) {
            let _ = writeln!(text, "\n{{\\footnotesize {}}}", escape_latex(FEW));
        }
        if self.caption.is_some() {
            text.push_str("\\end{table}\n");
        }
        text
    }

    fn csv(&self) -> String {
        let field = |field: &String| match field.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", field.replace('"', "\"\"")),
            false => field.clone(),
        };
        let mut text = String::new();
        let headings = self.columns.iter().flat_map(|column| &column.parts);
        let _ = writeln!(text, "{}", headings.map(field).collect::<Vec<_>>().join(","));
        for row in &self.rows {
            let mut fields = Vec::new();
            for (cell, column) in row.iter().zip(&self.columns) {
                fields.extend(cell.parts.iter().map(field));
                // A cell without a value has none in any of its columns.
                let missing = column.parts.len().saturating_sub(cell.parts.len());
                fields.extend(std::iter::repeat_n(String::new(), missing));
            }
            let _ = writeln!(text, "{}", fields.join(","));
        }
        text
    }
}

/// A heading as a name for programs: `both hit` is `both_hit`, and `Recall@3` `recall_at_3`.
fn snake(heading: &str) -> String {
    let heading = heading.replace('@', " at ").to_lowercase();
    let words = heading.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

/// What people see where there is no value.
const NONE: &str = "–";

/// What the dagger says.
pub(crate) const FEW: &str = "† fewer than 30 queries";

/// A rate with three decimals, or a dash where it is undefined.
pub(crate) fn rate(value: Option<f64>) -> String {
    value.map_or(NONE.to_owned(), |value| format!("{value:.3}"))
}

/// A rate as [`rate`] shows it; six decimals in CSV.
pub(crate) fn exact(value: Option<f64>) -> Cell {
    Cell::several(rate(value), [value.map_or(String::new(), |value| format!("{value:.6}"))])
}

/// A rate with its interval; six decimals in CSV.
pub(crate) fn rate_in(value: Option<f64>, interval: Option<(f64, f64)>) -> Cell {
    let exact = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.6}"));
    let shown = match (value, interval) {
        (Some(value), Some((low, high))) => format!("{value:.3} [{low:.3}, {high:.3}]"),
        (value, _) => rate(value),
    };
    let (low, high) = (interval.map(|(low, _)| low), interval.map(|(_, high)| high));
    Cell::several(shown, [value, low, high].map(exact))
}

fn escape_latex(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', c]),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '\\' => escaped.push_str("\\textbackslash{}"),
            '<' | '>' | '|' => escaped.extend(['$', c, '$']),
            '–' => escaped.push_str("--"),
            '†' => escaped.push_str("$\\dagger$"),
            '×' => escaped.push_str("$\\times$"),
            '\n' | '\r' => escaped.push(' '),
            _ => escaped.push(c),
        }
    }
    // Only at the start of a cell would `[` be read as an argument of the row before it.
    if escaped.starts_with('[') { format!("{{}}{escaped}") } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::of([
            Column::name("method"),
            Column::groups("stratum"),
            Column::number("co-exposed"),
            Column::rates("Recall"),
        ]);
        let cells = |name: &str, few, rate: Cell| {
            [Cell::from(name), Cell::marked("single", few), Cell::from("–"), rate]
        };
        table.row(cells("a,\"b\"", true, rate_in(Some(0.5), Some((0.25, 0.75)))));
        table.rule();
        table.rule();
        table.row(cells("50%_of {x} <y>", false, rate_in(None, None)));
        table.caption("by stratum & K")
    }

    #[test]
    fn csv_has_a_value_a_field_and_no_mark() {
        assert_eq!(
            table().render(Format::Csv),
            "method,stratum,few,co_exposed,recall,recall_low,recall_high\n\
             \"a,\"\"b\"\"\",single,yes,,0.500000,0.250000,0.750000\n\
             50%_of {x} <y>,single,,,,,\n"
        );
    }

    #[test]
    fn latex_is_escaped_balanced_and_explains_the_dagger() {
        let text = table().render(Format::Latex);
        for environment in ["table", "tabular"] {
            let ends = |end: &str| text.matches(&format!("\\{end}{{{environment}}}")).count();
            assert_eq!((ends("begin"), ends("end")), (1, 1), "{text}");
        }
        assert!(text.contains("\\caption{by stratum \\& K}"), "{text}");
        assert!(text.contains("50\\%\\_of \\{x\\} $<$y$>$ & single & -- & --"), "{text}");
        assert!(text.contains("single $\\dagger$ & "), "{text}");
        assert!(text.contains("\n{\\footnotesize $\\dagger$ fewer than 30 queries}\n"), "{text}");
        assert_eq!(text.matches("\\midrule").count(), 2, "{text}");
        let rows = text.lines().filter(|line| line.ends_with("\\\\"));
        assert!(rows.clone().all(|row| row.replace("\\&", "").matches('&').count() == 3));
        assert_eq!(rows.count(), 3);
    }

    #[test]
    fn headings_of_csv_are_names() {
        let names = ["both hit", "co-exposed", "Recall@3", "p Holm", "K", "w/t/l"].map(snake);
        assert_eq!(names, ["both_hit", "co_exposed", "recall_at_3", "p_holm", "k", "w_t_l"]);
        assert_eq!(exact(Some(1.0 / 3.0)).parts, ["0.333333"]);
        assert_eq!((exact(None).parts, exact(None).shown), (vec![String::new()], "–".to_owned()));
    }

    #[test]
    fn rows_become_columns() {
        let mut table = Table::new(1, ["method", "x", "y"]);
        table.row(["a", "1", "2"]);
        table.row(["b", "3", "4"]);
        assert_eq!(table.transposed("what").render(Format::Csv), "what,a,b\nx,1,3\ny,2,4\n");
    }

    #[test]
    fn text_and_markdown_have_the_caption_and_the_mark() {
        let text = table().render(Format::Text);
        assert!(text.starts_with("by stratum & K\nmethod "), "{text}");
        assert!(text.contains("single †") && text.contains("0.500 [0.250, 0.750]"), "{text}");
        let markdown = table().render(Format::Markdown);
        assert!(markdown.starts_with("by stratum & K\n\n| method | stratum |"), "{markdown}");
        assert_eq!(markdown.lines().nth(3), Some("| --- | --- | ---: | ---: |"));
    }
}
