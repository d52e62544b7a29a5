#!/usr/bin/env python3
"""Exact top 20 over 7,713 x 384, all queries in one batch: ours beside faiss's flat index.

    python3 bench/dense.py [--documents 7713] [--dim 384] [--queries 500] [--threads 1,2] [--rounds 7]

Rounds of the two sides alternate in processes of their own; the median of the rounds' best counts. Ours ranks
under the total order with ties, not only selects. The peer runs under the Python of $CLEANHIT_FAISS_VENV, which has
numpy and faiss-cpu. The exit status is 1 if a goal is missed or the lists differ by more than rounding explains.
"""

import argparse
import json
import os
import statistics
import subprocess
from pathlib import Path

from common import HERE, ROOT, TEMP, WORK, finish, goal, table

VENV = Path(os.environ.get("CLEANHIT_FAISS_VENV", TEMP / "cleanhit-faiss-venv"))
K = 20

MAKE = """
import sys, numpy as np
n, dim, queries, folder = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
rng = np.random.default_rng(5)
for name, rows in (("documents", n), ("queries", queries)):
    x = rng.standard_normal((rows, dim), dtype=np.float32)
    (x / np.linalg.norm(x, axis=1, keepdims=True)).tofile(f"{folder}/{name}.f32")
print("made")
"""

OVERLAP = """
import sys, numpy as np
k = int(sys.argv[3])
ours, theirs = (np.fromfile(path, np.uint32).reshape(-1, k) for path in sys.argv[1:3])
print(np.mean([len(set(a) & set(b)) / k for a, b in zip(ours, theirs)]))
"""


def program():
    if "CLEANHIT_DENSE_BIN" in os.environ:
        return os.environ["CLEANHIT_DENSE_BIN"]
    command = "cargo build --release -p cleanhit-neural --bench dense --message-format json"
    done = subprocess.run(command.split(), cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    messages = map(json.loads, done.stdout.splitlines())
    return next(m["executable"] for m in messages if m.get("executable") and m["target"]["name"] == "dense")


def run(command, threads):
    env = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
    done = subprocess.run([str(part) for part in command], env=env, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()[-1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=7713)
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    python, ours = VENV / "bin" / "python", program()
    run([python, "-c", MAKE, args.documents, args.dim, args.queries, WORK], 1)
    rows = []
    for threads in map(int, args.threads.split(",")):
        best = {"ours": [], "faiss": []}
        for _ in range(args.rounds):
            shape = [WORK / "documents.f32", WORK / "queries.f32", args.dim, K, threads, 5]
            best["ours"].append(min(json.loads(run([ours, *shape, WORK / "ours.u32"], threads))["seconds"]))
            peer = [python, HERE / "peer_faiss.py", *shape, WORK / "faiss.u32"]
            best["faiss"].append(min(json.loads(run(peer, threads))["seconds"]))
        overlap = float(run([python, "-c", OVERLAP, WORK / "ours.u32", WORK / "faiss.u32", K], 1))
        ours_s, faiss_s = (statistics.median(best[side]) for side in ("ours", "faiss"))
        rows.append([str(threads), f"{ours_s * 1e3:.1f}", f"{faiss_s * 1e3:.1f}", f"{faiss_s / ours_s:.2f}", f"{overlap:.4f}"])
        goal(f"{threads} threads: at least 0.8x faiss flat", faiss_s / ours_s, 0.8)
        goal(f"{threads} threads: the same candidates", overlap, 0.999)
    table("Exact top 20", ["threads", "ours, ms", "faiss, ms", "ratio", "same places"], rows)
    finish()


if __name__ == "__main__":
    main()
