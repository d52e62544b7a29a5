#!/usr/bin/env python3
"""Compares two rank files of one method that were computed on two devices.

    bench/same_ranks.py RANKS.tsv OTHER.tsv [TOLERANCE]     (default: 0.001)

The files must answer the same queries with the same candidates. Two candidates may stand in another order if
their scores in the first file differ by at most TOLERANCE: rounding moved them, and nothing else did.

Exit status: 0 if that holds, 1 if it doesn't, 2 if a file cannot be read. Standard library only.
"""

import csv
import sys
from itertools import combinations

COLUMNS = ["method_id", "query_case_id", "candidate_pool_id", "rank", "candidate_id", "score"]


def read(path):
    """For each query and pool, the candidates' scores in rank order."""
    answers = {}
    with open(path, encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        if next(rows, None) != COLUMNS:
            raise ValueError(f"{path}: line 1: expected the columns {', '.join(COLUMNS)}")
        for line, row in enumerate(rows, start=2):
            if len(row) != len(COLUMNS):
                raise ValueError(f"{path}: line {line}: {len(row)} fields; expected {len(COLUMNS)}")
            _, query, pool, rank, candidate, score = row
            scores = answers.setdefault((query, pool), {})
            if int(rank) != len(scores) + 1 or candidate in scores:
                raise ValueError(f"{path}: line {line}: expected rank {len(scores) + 1} and a new candidate")
            scores[candidate] = float(score)
    if not answers:
        raise ValueError(f"{path}: no ranks; expected one at least")
    return answers


def compare(first, second, tolerance):
    """What disagrees, as lines; then swapped pairs, the widest of them, and the largest difference of a score."""
    wrong, swaps, widest, difference = [], 0, 0.0, 0.0
    for key in sorted(first.keys() | second.keys()):
        name = "/".join(key)
        one, other = first.get(key, {}), second.get(key, {})
        if one.keys() != other.keys():
            wrong.append(f"{name}: {len(one.keys() ^ other.keys())} candidates are in one file alone")
            continue
        difference = max([difference, *(abs(one[candidate] - other[candidate]) for candidate in one)])
        place = {candidate: rank for rank, candidate in enumerate(other)}
        for before, after in combinations(one, 2):
            if place[before] < place[after]:
                continue
            gap = one[before] - one[after]
            swaps, widest = swaps + 1, max(widest, gap)
            if tolerance < gap:
                wrong.append(f"{name}: `{before}` and `{after}` are swapped, {gap:.6f} apart")
    return wrong, swaps, widest, difference


def main(paths, tolerance=0.001):
    first, second = map(read, paths)
    wrong, swaps, widest, difference = compare(first, second, tolerance)
    for line in wrong[:20]:
        print(line)
    print(f"{len(first)} queries, largest difference of a score {difference:.6f}")
    print(f"{swaps} pairs swapped, the widest {widest:.6f} apart; {len(wrong)} beyond {tolerance}")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        sys.exit(main(sys.argv[1:3], *map(float, sys.argv[3:])))
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
