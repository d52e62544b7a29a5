#!/usr/bin/env python3
"""Runs the evidence of a benchmark's runnable units, in both directions.

    bench/verify_evidence.py [UNITS_DIR | UNIT.toml ...]     (default: queries/samecap-mini/units)

For each unit whose evidence is `runnable`, and each of its queries: the asserts in `[evidence] tests` run after
the first ```python block of a skill. With the helpful skill they must pass; with the sibling they must fail,
by an assertion or by another exception that the asserts provoke, but not because the block itself cannot be loaded.
Each run is a child process of its own, isolated (`python -I`), in an empty folder, with a time limit.

The units are trusted: they are part of this repository. This is no sandbox.

Exit status: 0 if every unit behaves so, 1 if one doesn't, 2 if a unit cannot be read. Standard library only.
"""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LIMIT_S = 20
ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```python[ \t]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)

# The child tells the parent by exit status which part failed.
RUNNER = """
import sys, traceback
code, tests = (open(name, encoding="utf-8").read() for name in ("skill.py", "evidence.py"))
scope = {"__name__": "skill"}
try:
    exec(compile(code, "skill.py", "exec"), scope)
except BaseException:
    traceback.print_exc()
    sys.exit(3)
try:
    compiled = compile(tests, "evidence.py", "exec")
except SyntaxError:
    traceback.print_exc()
    sys.exit(4)
try:
    exec(compiled, scope)
except BaseException:
    traceback.print_exc()
    sys.exit(5)
sys.exit(0)
"""
OUTCOMES = {0: "pass", 3: "block does not load", 4: "tests do not compile", 5: "fail"}


class Unreadable(Exception):
    """A unit that cannot be read; says where and what was expected."""


def skills(path, unit):
    """The two skills of a unit, each a dictionary with name, description and body.

    Every edit is found in `[a]` as written out, so the order of edits is irrelevant.
    """
    a = {field: unit["a"][field] for field in ("name", "description", "body")}
    b = {field: unit["b"].get(field, a[field]) for field in a}
    found = []
    for i, edit in enumerate(unit["b"].get("edits", [])):
        field = edit.get("in", "body")
        n = a[field].count(edit["from"])
        if n != 1:
            raise Unreadable(f"{path}: field `b.edits[{i}].from`: occurs {n} times in `a.{field}`; expected once")
        found.append((field, a[field].index(edit["from"]), edit))
    for field, at, edit in sorted(found, key=lambda place: place[1], reverse=True):
        b[field] = b[field][:at] + edit["to"] + b[field][at + len(edit["from"]) :]
    return {"a": a, "b": b}


def block(path, side, skill):
    """The first python block of a skill."""
    match = BLOCK.search(skill["body"])
    if match is None:
        raise Unreadable(f"{path}: field `{side}.body`: no python block; expected one, as the evidence is runnable")
    return match.group(1)


def run(code, tests):
    """(outcome, last line of the error output) of one child process."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("skill.py", code), ("evidence.py", tests), ("runner.py", RUNNER)):
            Path(folder, name).write_text(text, encoding="utf-8")
        # A fixed hash seed and zone: evidence is the same on every machine.
        env = {"PATH": os.environ.get("PATH", ""), "TZ": "UTC", "LC_ALL": "C.UTF-8"}
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-X", "utf8", "runner.py"],
                cwd=folder, env=env, capture_output=True, text=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return f"over {LIMIT_S} s", ""
    lines = done.stderr.strip().splitlines()
    return OUTCOMES.get(done.returncode, f"exit status {done.returncode}"), lines[-1] if lines else ""


def verify(path):
    """The problems of one unit, or None where its evidence is not runnable."""
    try:
        unit = tomllib.loads(path.read_text(encoding="utf-8"))
        if unit["evidence"]["kind"] != "runnable":
            return None
        both, tests = skills(path, unit), unit["evidence"]["tests"]
    except (tomllib.TOMLDecodeError, KeyError, OSError, UnicodeDecodeError) as error:
        raise Unreadable(f"{path}: {error!r}") from error
    problems = []
    for query in unit["query"]:
        helpful = query["helpful"]
        for side in ("a", "b"):
            role, expected = ("helpful", "pass") if side == helpful else ("sibling", "fail")
            outcome, error = run(block(path, side, both[side]), tests)
            if outcome != expected:
                note = f" ({error})" if error else ""
                problems.append(f"{path}: {role} skill `{side}`: {outcome}{note}; expected {expected}")
    return problems


def main(arguments):
    paths = []
    for place in [Path(a) for a in arguments] or [ROOT / "queries/samecap-mini/units"]:
        paths.extend(sorted(place.glob("*.toml")) if place.is_dir() else [place])
    if not paths:
        print("no units found", file=sys.stderr)
        return 2
    try:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(verify, paths))
    except Unreadable as error:
        print(error, file=sys.stderr)
        return 2
    runnable = [problems for problems in results if problems is not None]
    bad = [problems for problems in runnable if problems]
    for problem in (line for problems in bad for line in problems):
        print(problem)
    print(
        f"{len(paths)} units: {len(runnable)} runnable, {len(runnable) - len(bad)} behave as labelled, "
        f"{len(bad)} do not; {len(paths) - len(runnable)} by statement"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
