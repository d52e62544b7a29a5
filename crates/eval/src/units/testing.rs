//! A small set that passes the gate, to be broken by tests.

use std::{fs, path::Path};

use super::{Authoring, Unit, bind};

/// Settings for a set of two single units, one paired one and two background skills.
pub(crate) const CONFIG: &str = r#"format = 1
name = "small-set"
version = "0.1.0"
licence = "MIT"
pools = "pools"
background = "background"
folds = 5

[pool]
single = "single"
paired = "paired"

[seeds]
folds = 1

[minimum]
single_heldout = 0
single_development = 0
paired = 0
background = 2

[limits]
query_words = [15, 90]
query_sentences = [1, 4]
skill_words = [15, 400]
shared_words = 5
length_difference = 0.1
changed_words = 0.2
balance_level = 0.05
near_duplicate = 0.5
"#;

/// A single unit's text; the helpful skill is the longer one.
pub(crate) const SINGLE: &str = r##"format = 1
unit_id = "unit-x"
stratum = "single"
mechanism = "procedure"
conflict_type = "computation_rule"
domain = "statistics"
lineage_group = "group-x"
split = "heldout"
correction = "Divide by one less than the count."

[a]
name = "spread-report"
description = "Reports how far values lie from their mean. Use it on short series."
body = '''
# Spread report

Takes a series and gives back one number for a table of spreads, as a float.

```python
def spread(values):
    m = sum(values) / len(values)
    return sum((v - m) ** 2 for v in values) / (len(values) - 1)
```

The divisor is the count less one. Units are those of the values, squared; no rounding is applied at any step.
'''

# A comment that stays.
[b]
edits = [
  { from = "(len(values) - 1)", to = "len(values)" },
  { from = "the count less one", to = "the count" },
]

[[query]]
text = "These nine readings are a sample of a long day, and I want their variance without the bias towards small numbers."
requirement = "without the bias towards small numbers"
helpful = "a"
helpful_span = "the count less one"
sibling_span = "The divisor is the count."

[evidence]
kind = "runnable"
statement = "Dividing by the count less one is unbiased for a sample."
tests = '''
assert spread([1, 2, 3]) == 1
'''
"##;

/// A paired unit's text.
pub(crate) const PAIRED: &str = r##"format = 1
unit_id = "pair-x"
stratum = "paired"
mechanism = "evidence_role"
conflict_type = "planned_vs_occurred"
domain = "logistics"
lineage_group = "pair-x"
split = "heldout"

[a]
name = "tour-from-timetable"
description = "Lists the stops of a lorry from the timetable of the day. Use it to tell customers what comes."
body = '''
# Tour from the timetable

Open the sheet of planned stops, keep the rows of one vehicle, and sort them by hour. Name the sheet in the answer.
'''

[b]
name = "tour-from-tracker"
description = "Lists the stops of a lorry from the tracker of the day. Use it to tell customers what came."
body = '''
# Tour from the tracker

Open the log of recorded halts, keep the rows of one vehicle, and sort them by hour. Name the log in the answer.
'''

[[query]]
text = "A customer asks when tomorrow's lorry is meant to reach the yard, so where is it supposed to be and when?"
requirement = "where is it supposed to be and when"
helpful = "a"
helpful_span = "the sheet of planned stops"
sibling_span = "the log of recorded halts"

[[query]]
text = "Somebody claims that the lorry never came yesterday; give me the places where it really stood, and the hours."
requirement = "the places where it really stood"
helpful = "b"
helpful_span = "the log of recorded halts"
sibling_span = "the sheet of planned stops"

[evidence]
kind = "statement"
statement = "A timetable cannot show what was driven; a tracker cannot show what is planned."
"##;

/// Another single unit, in which the helpful skill is the shorter one.
pub(crate) fn second() -> String {
    let text = SINGLE.replace("unit-x", "unit-y").replace("group-x", "group-y");
    let text = text.replace("spread-report", "bill-total").replace("Spread report", "Bill total");
    let text = text.replace(
        "Reports how far values lie from their mean. Use it on short series.",
        "Adds up the lines of a bill with tax on top. Use it at a till.",
    );
    let text = text.replace(
        "Takes a series and gives back one number for a table of spreads, as a float.",
        "Goes through the positions of a bill one after the other and returns a sum in cents for printing below them.",
    );
    let text = text.replace(
        "Units are those of the values, squared; no rounding is applied at any step.",
        "Cents come in whole and leave in whole, halves go up, and an empty bill costs nothing whatever the tax may be.",
    );
    let text = text
        .replace("These nine readings are a sample of a long day", "All forty pupils were weighed");
    let text = text.replace("helpful = \"a\"", "helpful = \"b\"");
    let text = text.replace(
        "helpful_span = \"the count less one\"",
        "helpful_span = \"The divisor is the count.\"",
    );
    text.replace(
        "sibling_span = \"The divisor is the count.\"",
        "sibling_span = \"the count less one\"",
    )
    .replace(
        "    m = sum(values) / len(values)\n",
        "    m = math.fsum(values) / max(1, len(values))\n",
    )
    .replace("sum((v - m) ** 2 for v in values)", "math.fsum(abs(v - m) for v in values)")
    .replace("def spread", "import math\n\ndef total")
}

/// The single unit of that id, unbound.
pub(crate) fn single(id: &str) -> Unit {
    let text = SINGLE.replace("unit-x", id);
    Unit::parse(&format!("{id}.toml"), text.as_bytes()).unwrap()
}

/// Writes the small set, its evidence bound, into a folder.
pub(crate) fn write(dir: &Path) {
    for folder in ["units", "background/csv-merge", "background/pdf-stamp"] {
        fs::create_dir_all(dir.join(folder)).unwrap();
    }
    fs::write(dir.join("authoring.toml"), CONFIG).unwrap();
    let units =
        [("unit-x", SINGLE.to_owned()), ("unit-y", second()), ("pair-x", PAIRED.to_owned())];
    for (id, text) in units {
        let path = dir.join(format!("units/{id}.toml"));
        fs::write(&path, text).unwrap();
        bind(&path).unwrap();
    }
    let csv = "---\nname: csv-merge\ndescription: Merges tables by key.\n---\n\n# Merge\n\nRead both, join, write.\n";
    let pdf = "---\nname: pdf-stamp\ndescription: Puts a mark on pages.\n---\n# Stamp\n\nOpen, draw, save.\n";
    fs::write(dir.join("background/csv-merge/SKILL.md"), csv).unwrap();
    fs::write(dir.join("background/pdf-stamp/SKILL.md"), pdf).unwrap();
}

/// The small set, read back.
pub(crate) fn small() -> (tempfile::TempDir, Authoring) {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path());
    let authoring = Authoring::load(dir.path()).unwrap();
    (dir, authoring)
}

/// The small set with one file changed by a replacement that must find its text.
pub(crate) fn broken(file: &str, from: &str, to: &str) -> (tempfile::TempDir, Authoring) {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path());
    let path = dir.path().join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{file} does not hold {from:?}");
    fs::write(&path, text.replacen(from, to, 1)).unwrap();
    let authoring = Authoring::load(dir.path()).unwrap();
    (dir, authoring)
}
