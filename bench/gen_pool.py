#!/usr/bin/env python3
"""Writes a seeded synthetic benchmark folder: a pool of skills, queries and labels.

Words follow Zipf's law over a made-up vocabulary. The same arguments give the same bytes.
Every text is lower-case ASCII words between single spaces, so that any tokenizer that
splits at white space, or at what is not a letter, finds the same tokens.

Standard library only.
"""

import argparse
import itertools
import random
from pathlib import Path

from folder import write_benchmark

ONSETS = "b c d f g h j k l m n p r s t v w z br ch cl cr dr fl gr pl pr sh sl sp st tr".split()
VOWELS = "a e i o u ai ea ee io oa ou".split()
CODAS = ["", "", "", "l", "m", "n", "r", "s", "t", "nd", "nt", "st", "ck"]

SINGLE = [
    ("applicability", "precondition_mismatch"),
    ("output_behavior", "representation_schema"),
    ("output_behavior", "return_exception_side_effect"),
    ("procedure", "computation_rule"),
    ("procedure", "control_flow_selection"),
    ("resource_binding", "field_parameter_binding"),
    ("resource_binding", "resource_identity"),
]
PAIRED = [
    ("evidence_role", "current_vs_proposed"),
    ("evidence_role", "intended_vs_observed"),
    ("evidence_role", "measured_vs_assumed"),
    ("evidence_role", "normative_vs_empirical"),
    ("evidence_role", "planned_vs_occurred"),
]


def vocabulary(rng, size):
    """`size` distinct words, short ones first, as frequent words are."""
    words, seen = [], set()
    while len(words) < size:
        syllables = 1 + (len(words) >= 100) + (len(words) >= 3000)
        parts = (rng.choice(ONSETS) + rng.choice(VOWELS) + rng.choice(CODAS) for _ in range(syllables))
        word = "".join(parts)
        if word not in seen:
            seen.add(word)
            words.append(word)
    return words


class Zipf:
    """Draws words with probability proportional to 1 / (rank + 2.7)."""

    def __init__(self, rng, words):
        self.rng, self.words = rng, words
        self.cumulative = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(1, len(words) + 1)))

    def draw(self, count):
        return self.rng.choices(self.words, cum_weights=self.cumulative, k=count)


def skills(rng, zipf, count, tokens):
    """(id, words): lengths are uniform in [tokens / 2, 3 tokens / 2]."""
    for i in range(count):
        length = rng.randint(max(1, tokens // 2), max(1, tokens + tokens // 2))
        yield f"skill-{i:06}", zipf.draw(length)


def cases(rng, ids, count):
    """One label row a query. Every fifth unit is paired: two queries with the roles exchanged."""
    ids = list(ids)
    rng.shuffle(ids)
    units = zip(itertools.cycle(ids[0 : len(ids) - 1 : 2]), itertools.cycle(ids[1::2]))
    rows = []
    for u, (a, b) in enumerate(units):
        paired = u % 5 == 4
        mechanism, conflict = rng.choice(PAIRED if paired else SINGLE)
        sides = [(a, b), (b, a)] if paired else [(a, b)]
        if count < len(rows) + len(sides):
            paired, sides = False, sides[:1]
            mechanism, conflict = rng.choice(SINGLE)
        for helpful, sibling in sides:
            rows.append(
                {
                    "query_case_id": f"query-{len(rows):06}",
                    "unit_id": f"unit-{u:06}",
                    "helpful_skill_id": helpful,
                    "risky_sibling_id": sibling,
                    "main_evaluation": "yes",
                    "stratum": "hard_role_flip" if paired else "core_local_contract",
                    "split_role": "heldout",
                    "primary_category": mechanism,
                    "conflict_type": conflict,
                    "domain": f"domain-{u % 40:02}",
                    "lineage_group": f"group-{u // 2:06}",
                }
            )
        if len(rows) == count:
            return rows


def queries(rng, zipf, rows, words_of, tokens):
    """Half of a query's words are its helpful skill's, half are drawn afresh."""
    for row in rows:
        own = rng.choices(words_of[row["helpful_skill_id"]], k=tokens // 2)
        words = own + zipf.draw(tokens - len(own))
        rng.shuffle(words)
        yield row["query_case_id"], " ".join(words)


def generate(folder, seed, n_skills, tokens, n_queries, query_tokens, n_words):
    """Writes the benchmark folder."""
    rng = random.Random(seed)
    zipf = Zipf(rng, vocabulary(rng, n_words))
    words_of = dict(skills(rng, zipf, n_skills, tokens))
    rows = cases(rng, words_of, n_queries)
    asked = list(queries(rng, zipf, rows, words_of, query_tokens))
    pool = ((skill, " ".join(words)) for skill, words in words_of.items())
    write_benchmark(Path(folder), f"synthetic-{n_skills}x{tokens}-seed{seed}", pool, asked, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--skills", type=int, default=7713)
    parser.add_argument("--tokens", type=int, default=1000, help="mean tokens a skill")
    parser.add_argument("--queries", type=int, default=1258)
    parser.add_argument("--query-tokens", type=int, default=67)
    parser.add_argument("--vocabulary", type=int, default=60000)
    a = parser.parse_args()
    generate(a.folder, a.seed, a.skills, a.tokens, a.queries, a.query_tokens, a.vocabulary)


if __name__ == "__main__":
    main()
