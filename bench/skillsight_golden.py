#!/usr/bin/env python3
"""SkillSight in numpy, independent of the Rust code: writes crates/neural/tests/golden/skillsight.json.

The texts and vectors are made here from a seed, so that the file holds all its inputs. The steps are
those of `crates/neural/src/skillsight`; the singular vectors come from numpy's SVD.
"""

import json
import math
import random
import re
from collections import Counter
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "crates/neural/src/skillsight"
OUT = ROOT / "crates/neural/tests/golden/skillsight.json"

DIM, DOCUMENTS, QUERIES, BETA, TOP = 24, 90, 12, 1.0, 30
STOP = set((SOURCE / "stop_words.txt").read_text(encoding="utf-8").split())


def words(text):
    runs = re.findall(r"[A-Za-z0-9_]+", text)
    return {w.lower() for w in runs if 2 <= len(w) <= 40} - STOP


def otsu(values):
    """The value that splits `values` best: those up to it are the low side. None for one value."""
    values = np.sort(np.asarray(values, dtype=np.float64))
    best, threshold = -1.0, None
    for cut in np.unique(values)[:-1]:
        low, high = values[values <= cut], values[values > cut]
        between = len(low) * len(high) * (low.mean() - high.mean()) ** 2
        if between > best * (1 + 1e-12):
            best, threshold = between, cut
    return threshold


def unit(rows):
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)


def make_inputs(seed):
    rng = random.Random(seed)
    common = ["skill", "Use", "steps", "Output", "data"]
    topics = [f"topic_{i}" for i in range(8)]
    rare = [f"word{i}" for i in range(60)]
    texts = []
    for i in range(DOCUMENTS):
        parts = [w for w in common if rng.random() < 0.6]
        parts += rng.sample(topics, 2) + rng.sample(rare, 5) + ["the", "x", "the"]
        rng.shuffle(parts)
        texts.append(" ".join(parts) + (", ünïcode" if i % 9 == 0 else "."))
    texts[17] = ""
    queries = [" ".join(rng.sample(rare, 3) + rng.sample(topics, 1) + ["use", "the"]) for _ in range(QUERIES)]
    queries[3], queries[4], queries[5] = "", "the skill of data", "nothing known here zzz"
    gauss = np.random.default_rng(seed)
    direction = {w: gauss.normal(size=DIM) * (2 if w in common else 1) for w in common + topics + rare}
    shared = gauss.normal(size=DIM) * 0.1

    def vector(text):
        return np.round(shared + sum((direction.get(w, 0) for w in re.findall(r"\w+", text)), np.zeros(DIM)), 3)

    return texts, np.array([vector(t) for t in texts]), queries, np.array([vector(q) for q in queries])


def main():
    texts, documents, queries, asked = make_inputs(7)
    n = len(texts)
    held = [words(t) for t in texts]
    df = Counter(w for ws in held for w in ws)
    idf = {w: math.log((n + 1) / (d + 1)) + 1 for w, d in df.items()}
    tau = otsu([idf[w] for w, d in df.items() if d >= 2 for _ in range(d)])
    generic = sorted(w for w in df if tau is not None and idf[w] <= tau)
    d = unit(documents)
    means = [d[[w in ws for ws in held]].mean(axis=0) for w in generic] + [d.mean(axis=0)]
    sigma, right = np.linalg.svd(unit(np.array(means)), full_matrices=True)[1:]
    share = sigma**2 / (sigma**2).sum()
    share = share[share > 0]
    rank = min(max(math.ceil(math.exp(-(share * np.log(share)).sum()) - 1e-9), 1), DIM)
    rest = np.eye(DIM) - right[:rank].T @ right[:rank]
    projected = (unit(asked) @ rest.T) @ (d @ rest.T).T

    scores = projected.copy()
    for i, query in enumerate(queries):
        specific = [w for w in words(query) if w in df and w not in generic]
        weight = {w: idf[w] * (1 - df[w] / n) ** BETA for w in specific}
        total = sum(weight.values())
        overlap = np.array([sum(weight[w] for w in specific if w in ws) / total if total else 0 for ws in held])
        if overlap.std() > 0:
            z = (overlap - overlap.mean()) / overlap.std() * projected[i].std()
            best = np.argsort(-projected[i], kind="stable")[:TOP]
            scores[i, best] += np.maximum(z[best], 0)
    golden = {
        "beta": BETA,
        "top": TOP,
        "texts": texts,
        "documents": documents.tolist(),
        "queries": queries,
        "asked": asked.tolist(),
        "generic": generic,
        "rank": rank,
        "projected": np.round(projected, 9).tolist(),
        "scores": np.round(scores, 9).tolist(),
    }
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(golden, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{len(generic)} generic words, rank {rank} of {DIM}, {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
