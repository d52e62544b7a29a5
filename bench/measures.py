#!/usr/bin/env python3
"""Measures: ours beside pytrec_eval-terrier and ir_measures, files read included; and the bootstrap."""

import argparse
import statistics

from common import WORK, finish, goal, ours, peer, spread, synthetic, table
import gen_runs

PEERS = (("pytrec_eval", 5.0), ("ir_measures", 10.0))
JOBS = {
    "cases": "Recall, HSR and CleanHit at 1, 3, 5, 20 of a 1,258-query top-20 file",
    "trec": "nDCG@10, AP, RR, P@5 and R@20 of a 10,000 x 100 TREC run",
}


def files():
    """The inputs, made unless they are there."""
    folder = synthetic()
    trec, cases = WORK / "trec-10000-100", WORK / "top20-1258"
    if not (trec / "qrels.trec").exists():
        gen_runs.trec(trec)
    if not (cases / "siblings.qrels").exists():
        gen_runs.top20(folder, cases)
    return folder, {"cases": cases, "trec": trec}


def ask(job, folder, inputs, passes):
    if job == "cases":
        return ours("cases", folder, "--ranks", inputs / "top20.tsv", "--passes", passes)
    return ours("trec", "--run", inputs / "run.trec", "--qrels", inputs / "qrels.trec", "--passes", passes)


def middle(result, clock):
    return statistics.median(p[clock] for p in result["passes"])


def report(job, folder, inputs, rounds, passes):
    found = []
    for _ in range(rounds):
        mine = {"cleanhit": ask(job, folder, inputs, passes)}
        found.append(mine | {name: peer("peer_measures.py", name, job, inputs, passes) for name, _ in PEERS})
    rows = []
    for name in found[0]:
        times = [[middle(r[name], clock) for r in found] for clock in ("wall", "cpu")]
        values = found[0][name]["values"]
        difference = max(abs(value - values[key]) for key, value in found[0]["cleanhit"]["values"].items())
        version = found[0][name].get("version", "")
        warm_up = statistics.median(r[name]["warm_up_s"] for r in found)
        rows.append([f"{name} {version}".strip(), *map(spread, times), warm_up, difference])
    header = ["", "wall s", "CPU s", "warm-up s", "largest difference"]
    table(f"{JOBS[job]}; one thread each; median [least, most] of {rounds} rounds", header, rows)
    for name, limit in PEERS:
        for clock in ("wall", "cpu"):
            ratio = statistics.median(middle(r[name], clock) / middle(r["cleanhit"], clock) for r in found)
            goal(f"{name} over cleanhit, {clock}", ratio, limit)


def bootstrap(folder, inputs, passes):
    result = ours("bootstrap", folder, "--ranks", inputs / "top20.tsv", "--replicates", 5000, "--passes", passes)
    seconds = [p["wall"] for p in result["passes"]]
    table(
        f"5,000 group-bootstrap replicates of Recall@3, HSR@3 and CleanHit@3 over {result['queries']:,} queries "
        f"in {result['groups']:,} groups, one thread",
        ["", "wall s"],
        [["cleanhit", spread(seconds)]],
    )
    goal("bootstrap, seconds", statistics.median(seconds), 0.5, at_least=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--passes", type=int, default=3)
    a = parser.parse_args()
    folder, inputs = files()
    for job in JOBS:
        report(job, folder, inputs[job], a.rounds, a.passes)
    bootstrap(folder, inputs["cases"], a.passes)
    finish()


if __name__ == "__main__":
    main()
