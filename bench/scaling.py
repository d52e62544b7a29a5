#!/usr/bin/env python3
"""How cost grows at 1x, 4x and 16x: with queries, with the pool, with the lines of a run.

The exponent is the slope between 1x and 16x on a log-log scale: 1 is linear. Of each job's
passes the least CPU time counts, the one that other work on the machine disturbed least.
"""

import argparse
import math
import tempfile
from pathlib import Path

from common import finish, goal, ours, synthetic, table
import gen_runs

STEPS = (1, 4, 16)


def least(passes):
    return min(p["cpu"] for p in passes)


def series(title, unit, results):
    """One table; `results` has {what: [CPU seconds at 1x, 4x, 16x]}."""
    rows = [[what, *seconds, seconds[1] / seconds[0], seconds[2] / seconds[0], exponent(seconds)] for what, seconds in results.items()]
    header = ["CPU s", *(f"{step}x" for step in STEPS), "4x / 1x", "16x / 1x", "exponent"]
    table(f"{title} (1x = {unit})", header, rows)
    for what, seconds in results.items():
        goal(f"{title}, {what}: exponent", exponent(seconds), 1.15, at_least=False)


def exponent(seconds):
    return math.log(seconds[-1] / seconds[0]) / math.log(STEPS[-1])


def with_queries(passes):
    results = {}
    for method in ("bm25_exact", "bm25"):
        found = [
            ours("retrieve", synthetic(2000, 500, 300 * step), "--method", method, "--passes", passes) for step in STEPS
        ]
        results[f"{method} answer"] = [least(r["passes"]) for r in found]
    series("Queries", "300 queries on 2,000 skills of 500 tokens", results)


def with_pool(passes):
    results = {}
    for method in ("bm25_exact", "bm25"):
        found = [
            ours("retrieve", synthetic(2000 * step, 250, 300), "--method", method, "--passes", passes) for step in STEPS
        ]
        results[f"{method} answer"] = [least(r["passes"]) for r in found]
        results[f"{method} index"] = [least(r["index"]) for r in found]
        results[f"{method} read"] = [r["read"]["cpu"] for r in found]
    series("Pool", "2,000 skills of 250 tokens, 300 queries", results)


def with_lines(passes):
    results = {"trec": [], "cases": []}
    for step in STEPS:
        with tempfile.TemporaryDirectory() as temp:
            temp = Path(temp)
            gen_runs.trec(temp, queries=1000 * step)
            args = ("--run", temp / "run.trec", "--qrels", temp / "qrels.trec", "--passes", passes)
            results["trec"].append(least(ours("trec", *args)["passes"]))
            folder = synthetic(2000, 20, 1258 * step)
            gen_runs.top20(folder, temp)
            args = ("--ranks", temp / "top20.tsv", "--passes", passes)
            results["cases"].append(least(ours("cases", folder, *args)["passes"]))
    series("Lines read and measured", "1,000 queries x 100 (trec), 1,258 x 20 (cases)", results)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passes", type=int, default=5)
    a = parser.parse_args()
    with_queries(a.passes)
    with_pool(a.passes)
    with_lines(a.passes)
    finish()


if __name__ == "__main__":
    main()
