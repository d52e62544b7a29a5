#!/usr/bin/env python3
"""Peak memory and time of the command line on the real 7,713 skills, one process a line."""

import argparse
import shutil

from common import WORK, child, cleanhit, finish, goal, real, table


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", nargs="+", default=["bm25", "bm25_exact"])
    parser.add_argument("--others", nargs="*", default=[], help="shown, not held against the goal")
    parser.add_argument("--threads", default="1")
    a = parser.parse_args()
    folder, out = real(), WORK / "memory"
    shutil.rmtree(out, ignore_errors=True)
    rows, peaks = [], {}
    for method in [*a.methods, *a.others]:
        rank = [cleanhit(), "rank", "-m", method, "-b", folder, "-o", out, "--threads", a.threads]
        wall, cpu, peak, status = child(rank, quiet=False)
        if status != 0:
            raise SystemExit(f"cleanhit rank -m {method} failed")
        rows.append([f"rank -m {method}", wall, cpu, peak])
        peaks[method] = peak
    for ranks in sorted(out.glob("*/top20.tsv")):
        wall, cpu, peak, status = child([cleanhit(), "score", ranks, "-b", folder])
        if status != 0:
            raise SystemExit(f"cleanhit score {ranks} failed")
        rows.append([f"score {ranks.parent.name}", wall, cpu, peak])
        peaks[f"score {ranks.parent.name}"] = peak
    table(f"7,713 real skills, 1,258 queries, top 20, {a.threads} thread(s)", ["", "wall s", "CPU s", "peak MB"], rows)
    for name, peak in peaks.items():
        if name not in a.others:
            goal(f"{name}, peak MB", peak, 400.0, at_least=False)
    finish()


if __name__ == "__main__":
    main()
