#!/usr/bin/env python3
"""Start-up time, and the time of the main job on the bundled benchmark without paired runs."""

import argparse
import shutil
import statistics

from common import VENV, WORK, child, cleanhit, environment, finish, goal, spread, table

IMPORTS = ("pytrec_eval", "ir_measures", "bm25s")


def times(command, count):
    """Wall seconds of `count` runs, the first not counted."""
    found = [child(command) for _ in range(count + 1)]
    if any(run[3] != 0 for run in found):
        raise SystemExit(f"failed: {command}")
    return [run[0] for run in found[1:]]


def whole_run(command):
    """What a run into an empty folder took."""
    shutil.rmtree(command[command.index("-o") + 1], ignore_errors=True)
    measured = child(command, env=environment() | {"RAYON_NUM_THREADS": ""})
    if measured[3] != 0:
        raise SystemExit(f"failed: {command}")
    return measured


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=30)
    a = parser.parse_args()
    program, python = cleanhit(), VENV / "bin" / "python"
    starts = {
        "cleanhit --version": [program, "--version"],
        "cleanhit --help": [program, "--help"],
        "cleanhit models list": [program, "models", "list"],
    }
    measured = {name: times(command, a.count) for name, command in starts.items()}
    if python.exists():
        for name in IMPORTS:
            measured[f"python -c 'import {name}'"] = times([python, "-c", f"import {name}"], 3)
    rows = [[name, spread([1000 * t for t in seconds])] for name, seconds in measured.items()]
    table("Start-up, ms", ["", "wall ms"], rows)
    for name in starts:
        goal(f"{name}, ms", 1000 * statistics.median(measured[name]), 50.0, at_least=False)

    run = [program, "run", "--no-rae", "-o", WORK / "run"]
    jobs = {"one thread": [*run, "--threads", "1"], "as many threads as cores": run}
    found = {name: [whole_run(command) for _ in range(3)] for name, command in jobs.items()}
    rows = [[name, *(spread([one[i] for one in runs]) for i in range(3))] for name, runs in found.items()]
    title = "cleanhit run --no-rae on the bundled benchmark"
    table(title, ["", "wall s", "CPU s", "peak MB"], rows)
    for name, runs in found.items():
        goal(f"{title}, {name}, seconds", statistics.median(one[0] for one in runs), 3.0, at_least=False)
    finish()


if __name__ == "__main__":
    main()
