"""Texts embedded a second: ours beside ONNX Runtime and sentence-transformers, the same weights.

    python3 bench/embed.py [--skills 1000] [--limits 256,512] [--threads 1,2] [--rounds 1]

Real skills of the collection, MiniLM in f32. Each peer runs at its best of several batch sizes,
found on a tenth of the texts. Rounds alternate between the sides. The peers run under the Python
of $CLEANHIT_NEURAL_VENV, which has torch, transformers, sentence-transformers, onnx, onnxruntime and zstandard
(default: `cleanhit-neural-venv` in the temporary folder). Prints the smallest cosine of our vectors
and each peer's, so that equal work is shown; the exit status is 1 if a goal is missed.
"""

import argparse
import array
import json
import math
import os
import statistics
import subprocess
import sys
from pathlib import Path

from common import HERE, ROOT, TEMP, WORK, finish, goal, table
from skills import records

VENV = Path(os.environ.get("CLEANHIT_NEURAL_VENV", TEMP / "cleanhit-neural-venv"))
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
MODEL = Path(os.environ.get("CLEANHIT_MODELS", CACHE / "cleanhit-models")) / "all-minilm-l6-v2"
ONNX = WORK / "all-minilm-l6-v2.onnx"
BATCHES = {"onnx": (1, 4, 8, 32), "st": (4, 8, 32)}
NAMES = {"ours": "cleanhit", "onnx": "ONNX Runtime", "st": "sentence-transformers"}


def run(command, threads):
    env = {key: value for key, value in os.environ.items() if not key.startswith("OPENBLAS_")}
    env |= {f"{name}_NUM_THREADS": str(threads) for name in ("OMP", "MKL", "RAYON")} | {"TOKENIZERS_PARALLELISM": "true"}
    done = subprocess.run([str(part) for part in command], env=env, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"failed: {' '.join(map(str, command))}")
    return json.loads(done.stdout.splitlines()[-1])


def ours_program():
    if "CLEANHIT_EMBED_BIN" in os.environ:
        return os.environ["CLEANHIT_EMBED_BIN"]
    command = "cargo build --release -p cleanhit-neural --bench embed --message-format json"
    done = subprocess.run(command.split(), cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit("cargo build failed")
    messages = map(json.loads, done.stdout.splitlines())
    return next(m["executable"] for m in messages if m.get("executable") and m["target"]["name"] == "embed")


def job(side, texts, limit, threads, batch, rounds, out):
    if side == "ours":
        return run([ours_program_path, MODEL, texts, limit, threads, rounds, out], threads)
    return run([VENV / "bin" / "python", HERE / "peer_embed.py", side, MODEL, texts, limit, threads, batch, rounds, out, ONNX], threads)


def cosine(ours, theirs, dim=384):
    """The smallest cosine of two files of vectors."""
    a, b = array.array("f"), array.array("f")
    a.frombytes(Path(ours).read_bytes())
    b.frombytes(Path(theirs).read_bytes())
    rows = range(0, len(a), dim)
    dot = lambda x, y: math.fsum(p * q for p, q in zip(x, y))
    pairs = ((a[i : i + dim], b[i : i + dim]) for i in rows)
    return min(dot(x, y) / math.sqrt(dot(x, x) * dot(y, y)) for x, y in pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skills", type=int, default=1000)
    parser.add_argument("--limits", default="256,512")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=1)
    args = parser.parse_args()
    for needed in (MODEL, VENV / "bin" / "python"):
        if not needed.exists():
            raise SystemExit(f"no {needed}")
    WORK.mkdir(parents=True, exist_ok=True)
    global ours_program_path
    ours_program_path = ours_program()
    if not ONNX.exists():
        print("exported:", run([VENV / "bin" / "python", HERE / "peer_embed.py", "export", MODEL, ONNX], 1))
    texts, few = WORK / f"skills-{args.skills}.jsonl", WORK / f"skills-{args.skills}-tenth.jsonl"
    lines = [json.dumps({"text": f"{r['name']} | {r['description']} | {r['body']}"}) for r, _ in zip(records(), range(args.skills))]
    texts.write_text("\n".join(lines) + "\n", encoding="utf-8")
    few.write_text("\n".join(lines[::10]) + "\n", encoding="utf-8")

    speed = {}
    for limit in map(int, args.limits.split(",")):
        for threads in map(int, args.threads.split(",")):
            best = {"ours": 0}
            for side, sizes in BATCHES.items():
                seconds = {size: job(side, few, limit, threads, size, 1, WORK / "few.f32")["seconds"][0] for size in sizes}
                best[side] = min(seconds, key=seconds.get)
            rows, rates = [], {side: [] for side in NAMES}
            results = {}
            for _ in range(args.rounds):
                for side in NAMES:
                    results[side] = job(side, texts, limit, threads, best[side], 1, WORK / f"{side}.f32")
                    rates[side].append(args.skills / results[side]["seconds"][0])
            for side, name in NAMES.items():
                rate = statistics.median(rates[side])
                speed[limit, threads, side] = rate
                batch = str(best[side]) if best[side] else "unpadded"
                same = "" if side == "ours" else f"{cosine(WORK / 'ours.f32', WORK / f'{side}.f32'):.7f}"
                cpu = args.skills / results[side]["cpu"][0]
                rows.append([name, batch, rate, cpu, speed[limit, threads, "ours"] / rate, same])
            title = f"{args.skills} skills, at most {limit} tokens ({results['ours']['tokens']:,} kept), {threads} thread(s); ours peaks at {results['ours']['peak_mb']:.0f} MB"
            table(title, ["side", "batch", "texts/s", "texts/CPU s", "ours is", "cosine"], rows)
            goal("texts/s, times ONNX Runtime", speed[limit, threads, "ours"] / speed[limit, threads, "onnx"], 1.1)
            goal("texts/s, times sentence-transformers", speed[limit, threads, "ours"] / speed[limit, threads, "st"], 1.5)
            goal("peak memory in MB", results["ours"]["peak_mb"], 600, at_least=False)
        if {(limit, 1, "ours"), (limit, 2, "ours")} <= speed.keys():
            goal(f"two threads, times one, {limit} tokens", speed[limit, 2, "ours"] / speed[limit, 1, "ours"], 1.7)
    finish()


if __name__ == "__main__":
    sys.exit(main())
