//! What does an empty unit look like?

use super::taxonomy::{ConflictType, Stratum};

/// The text of a new unit file, for `<id>.toml`: it parses, and fails the gate until written.
///
/// What is to be replaced is marked `TODO`, which the gate refuses wherever it stays.
pub fn new_unit(stratum: Stratum, conflict_type: ConflictType, id: &str) -> String {
    let mechanism = conflict_type.mechanism();
    let head = format!(
        r#"format = 1
unit_id = "{id}"
stratum = "{stratum}"
mechanism = "{mechanism}"
conflict_type = "{conflict_type}"
domain = "todo"                              # the source column of the reports, such as "geospatial"
lineage_group = "{id}"                       # units written from one idea share one
"#
    );
    match stratum {
        Stratum::Single => head + SINGLE,
        Stratum::Paired => head + PAIRED,
    }
}

const SINGLE: &str = r##"split = "heldout"                            # or "development"
# The smallest single correction that repairs the sibling. If it takes two, make two units.
correction = "TODO"

# A skill as a maintainer would publish it, 150 to 400 words. Either side may be the helpful one: over the set
# about half are, and about half of the helpful ones are the longer text.
[a]
name = "todo"
description = "TODO: what it does. When to use it."
body = '''
# TODO

TODO: one paragraph.

## Steps

1. TODO

```python
def todo():
    return None
```

## Good to know

- TODO
'''

# Each edit replaces text that occurs exactly once in `[a]`; `in` is "name", "description" or "body" (the default).
[b]
edits = [
  { from = "    return None", to = "    return (None,)" },
]

# What a person would ask for in one to four sentences, in words of their own.
[[query]]
text = "TODO: the task, and in one clause the requirement."
requirement = "in one clause the requirement"   # a span of the text
helpful = "a"
helpful_span = "return None"                 # in the helpful skill, not in the sibling
sibling_span = "return (None,)"              # in the sibling, not in the helpful skill

# `binds` is written by `cleanhit bench bind` once the unit has been read.
[evidence]
kind = "runnable"
statement = "TODO: why the helpful skill meets the requirement and the sibling does not."
# Asserts over the first python block: they pass with the helpful skill's code and fail with the sibling's.
# Standard library only. `bench/verify_evidence.py` runs them both ways.
tests = '''
assert todo() is None
'''
"##;

const PAIRED: &str = r##"split = "heldout"                            # paired units are always held out

# Two skills of one capability, both fit to publish, 150 to 400 words and about the same length. They differ in what
# their material can establish.
[a]
name = "todo-one"
description = "TODO: what it does. When to use it."
body = '''
# TODO

TODO: what this one works from.

## Steps

1. TODO

## Good to know

- TODO
'''

[b]
name = "todo-other"
description = "TODO: what it does. When to use it."
body = '''
# TODO

TODO: what that one works from.

## Steps

1. TODO

## Good to know

- TODO
'''

# Two queries that exchange the roles.
[[query]]
text = "TODO: the task, and in one clause why it must be this one."
requirement = "in one clause why it must be this one"   # a span of the text
helpful = "a"
helpful_span = "what this one works from"    # in the helpful skill, not in the other
sibling_span = "what that one works from"    # in the other, not in the helpful skill

[[query]]
text = "TODO: another task, and in one clause why it must be that one."
requirement = "in one clause why it must be that one"
helpful = "b"
helpful_span = "what that one works from"
sibling_span = "what this one works from"

# `binds` is written by `cleanhit bench bind` once the unit has been read.
[evidence]
kind = "statement"
statement = "TODO: what each skill's material can establish, and what it can't."
"##;
