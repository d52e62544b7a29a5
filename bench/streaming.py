#!/usr/bin/env python3
"""Peak memory of `cleanhit embed` over 10,000 and 100,000 synthetic skills: it must not grow with them.

    python3 bench/streaming.py [--skills 10000,100000] [--tokens 300] [--threads 2]

The model is the packaged table of token vectors, which `bench/weights.sh` fetches. Each size runs with a
cache folder of its own, cold and then warm. The exit status is 1 if the largest pool takes half as much
memory again as the smallest, in either.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
from pathlib import Path

from common import WORK, child, cleanhit, environment, finish, goal, table
from gen_pool import Zipf, skills, vocabulary

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
MODELS = Path(os.environ.get("CLEANHIT_MODELS", CACHE / "cleanhit-models"))
FOLDER = "tokenlearn-static"
GROWTH = 1.5

CARD = """format = 1
name = "static"
title = "Static"
about = "Means of token vectors."

[retrieve]
kind = "dense"
similarity = "cosine"

[retrieve.model]
folder = "{folder}"
repository = "bench/static"
revision = "0000000000000000000000000000000000000000"

[retrieve.model.sha256]
"model.safetensors" = "{sha256}"

[retrieve.encoder]
architecture = "static"
pooling = "mean"
padding_side = "right"
max_tokens = 4096
query_prefix = ""
document_prefix = ""
prompts = "same"
normalise = true
dtype = "f32"

[retrieve.text]
document = "text"

[declare]
checkpoint = "tokenlearn-static-model 0.1.1"
training_data = "unknown"
development_use = "none"
preprocessing = "none"
compute = "CPU"
code_url = "built into cleanhit"
code_commit = "see the receipt"
"""


def write_texts(path, count, tokens):
    rng = random.Random(7)
    zipf = Zipf(rng, vocabulary(rng, 20_000))
    with open(path, "w", encoding="utf-8") as out:
        for _, words in skills(rng, zipf, count, tokens):
            out.write(json.dumps({"text": " ".join(words)}) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skills", default="10000,100000")
    parser.add_argument("--tokens", type=int, default=300)
    parser.add_argument("--threads", default="2")
    a = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    weights = MODELS / FOLDER / "model.safetensors"
    if not weights.exists():
        raise SystemExit(f"no {weights}; `bench/weights.sh` fetches it")
    card = WORK / "static.toml"
    card.write_text(CARD.format(folder=FOLDER, sha256=hashlib.sha256(weights.read_bytes()).hexdigest()))
    rows, peaks = [], {"cold": [], "warm": []}
    for count in map(int, a.skills.split(",")):
        texts, home = WORK / f"texts-{count}.jsonl", WORK / "streaming-cache"
        write_texts(texts, count, a.tokens)
        shutil.rmtree(home, ignore_errors=True)
        env = environment() | {"XDG_CACHE_HOME": str(home), "CLEANHIT_MODELS": str(MODELS)}
        command = [cleanhit(), "embed", "-q", "-m", card, "--texts", texts, "-o", WORK / "vectors.npy", "--threads", a.threads]
        for state in peaks:
            wall, cpu, peak, status = child(command, env=env, quiet=False)
            if status != 0:
                raise SystemExit("cleanhit embed failed")
            rows.append([f"{count:,} skills, {state} cache", wall, cpu, peak, texts.stat().st_size / 2**20])
            peaks[state].append(peak)
        texts.unlink()
        shutil.rmtree(home)
    table(f"embed, static model, about {a.tokens} words a skill", ["", "wall s", "CPU s", "peak MB", "texts MB"], rows)
    for state, found in peaks.items():
        goal(f"{state}: the largest pool's peak, times the smallest's", found[-1] / found[0], GROWTH, at_least=False)
    finish()


if __name__ == "__main__":
    main()
