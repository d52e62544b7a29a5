#!/usr/bin/env python3
"""Makes a benchmark folder of the real 7,713 skills.

A candidate's text is its name, its description, a blank line and its body. Queries are
stretches of 67 white-space tokens of the task texts of SkillsBench and Terminal-Bench 2.
The helpful and the sibling skill of each query are drawn at random: these labels serve to
measure speed and say nothing about retrieval.
"""

import argparse
import random
from pathlib import Path

from folder import write_benchmark
from gen_pool import cases
from skills import SHARED, query_texts, records


def text(record):
    """The `name_desc_body` template."""
    return f"{record['name']}\n{record['description']}\n\n{record['body']}"


def stretches(texts, tokens, count):
    """`count` stretches of at most `tokens` tokens, each text cut at a shifting start."""
    texts = [t.split() for t in texts]
    found, shift = [], 0
    while len(found) < count:
        for words in texts:
            for start in range(shift, len(words), tokens):
                found.append(" ".join(words[start : start + tokens]))
        # The short last piece of a text is left out.
        found = [t for t in found if 3 * tokens // 4 <= len(t.split())]
        shift += 17
    return found[:count]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--shared", type=Path, default=SHARED, help="folder that holds skills_pool/")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--queries", type=int, default=1258)
    parser.add_argument("--query-tokens", type=int, default=67)
    a = parser.parse_args()
    pool = [(record["id"], text(record)) for record in records(a.shared)]
    rows = cases(random.Random(a.seed), [skill for skill, _ in pool], a.queries)
    texts = stretches(query_texts(a.shared), a.query_tokens, a.queries)
    asked = [(row["query_case_id"], t) for row, t in zip(rows, texts)]
    write_benchmark(a.folder, f"real-{len(pool)}", pool, asked, rows)


if __name__ == "__main__":
    main()
