#!/usr/bin/env python3
"""Unpacks the collection of real skills into a tree of SKILL.md files.

A skill's folder is its record's place in its repository: OUT/<owner>/<repo>/<path>/SKILL.md.
The text is data: nothing of it is run or installed.
"""

import argparse
from pathlib import Path, PurePosixPath

from skills import SHARED, records


def raw(record):
    """The file as it was: front matter between its marks, then the body."""
    if record["frontmatter"] is None:
        return record["body"]
    return f"---\n{record['frontmatter']}\n---\n{record['body']}"


def place(record):
    """A relative path, from the id's text: never absolute, never upwards."""
    repo, _, folder = record["id"].partition(":")
    parts = [part for part in PurePosixPath(repo, folder).parts if part not in ("/", "..", ".")]
    return Path(*parts) / "SKILL.md"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--shared", type=Path, default=SHARED, help="folder that holds skills_pool/")
    parser.add_argument("--all", action="store_true", help="all 9,816 skills, not the 7,713")
    a = parser.parse_args()
    written = set()
    for record in records(a.shared, not a.all):
        path = a.out / place(record)
        if path in written:
            raise SystemExit(f"two records at {path}")
        written.add(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw(record).encode())
    print(f"{len(written)} skills under {a.out}")


if __name__ == "__main__":
    main()
