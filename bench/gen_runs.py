"""Seeded files for the measures. Standard library only.

- a TREC run of many queries, and graded qrels for it;
- for a benchmark folder a top-20 rank file and, for the peers, the same lists as a TREC run
  with qrels of the helpful skills and qrels of the siblings.
"""

import random

from folder import POOL, read_cases, read_pool


def trec(folder, queries=10_000, depth=100, docs=50_000, judged=40, seed=7):
    """Writes run.trec and qrels.trec. A quarter of the scores tie with the one above."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(seed)
    with open(folder / "run.trec", "w") as run, open(folder / "qrels.trec", "w") as qrels:
        for q in range(queries):
            found = rng.sample(range(docs), depth)
            score = 30.0
            for rank, doc in enumerate(found, 1):
                score -= 0.0 if rng.random() < 0.25 else rng.random() / 4
                run.write(f"q{q:05} Q0 doc{doc:06} {rank} {score:.6f} synthetic\n")
            known = rng.sample(found, judged // 4)
            others = (doc for doc in rng.sample(range(docs), judged) if doc not in found)
            for doc in known + list(others)[: judged - len(known)]:
                qrels.write(f"q{q:05} 0 doc{doc:06} {rng.choice((0, 0, 1, 1, 2, 3))}\n")


def top20(folder, out, depth=20, seed=7):
    """Writes top20.tsv, top20.trec, helpful.qrels and siblings.qrels to `out`."""
    out.mkdir(parents=True, exist_ok=True)
    rng = random.Random(seed)
    ids, _ = read_pool(folder)
    with (
        open(out / "top20.tsv", "w") as ranks,
        open(out / "top20.trec", "w") as run,
        open(out / "helpful.qrels", "w") as helpful,
        open(out / "siblings.qrels", "w") as siblings,
    ):
        ranks.write("method_id\tquery_case_id\tcandidate_pool_id\trank\tcandidate_id\tscore\n")
        for case in read_cases(folder):
            query, good, bad = case["query_case_id"], case["helpful_skill_id"], case["risky_sibling_id"]
            found = [i for i in rng.sample(ids, depth + 2) if i not in (good, bad)][:depth]
            for skill, chance in ((good, 0.8), (bad, 0.5)):
                free = [i for i, other in enumerate(found) if other not in (good, bad)]
                if rng.random() < chance:
                    found[min(rng.choice(free), rng.choice(free))] = skill
            for rank, skill in enumerate(found, 1):
                score = 30.0 - rank + rng.random() / 2
                ranks.write(f"synthetic\t{query}\t{POOL}\t{rank}\t{skill}\t{score!r}\n")
                run.write(f"{query} Q0 {skill} {rank} {score!r} synthetic\n")
            helpful.write(f"{query} 0 {good} 1\n")
            siblings.write(f"{query} 0 {bad} 1\n")
