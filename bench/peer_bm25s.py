"""bm25s, alone, on one benchmark folder. Runs under the peers' Python.

    peer_bm25s.py FOLDER BACKEND PASSES [TOP20.json [TOKENS.json]]

BACKEND is `numba` or `numpy`. Index times hold tokenizing; query times are given with and
without. One thread, no progress bars, no stop words, no stemmer.

With TOP20.json nothing is timed: an index in f64 answers the queries, and the lists are
written for the comparison with ours. TOKENS.json has the tokens to use for that.
"""

import json
import logging
import sys
import time

import bm25s
import numpy

from folder import read_pool, read_queries

K1, B, K = 1.2, 0.75, 20
# As ours: letters and digits, any script; the underscore parts tokens.
PATTERN = r"(?u)[^\W_]+"


def tokenize(texts):
    return bm25s.tokenize(texts, token_pattern=PATTERN, stopwords=None, show_progress=False)


def new(backend, csc, dtype="float32"):
    return bm25s.BM25(k1=K1, b=B, method="lucene", dtype=dtype, backend=backend, csc_backend=csc)


def ask(model, backend, tokens):
    # 0 threads is one thread without a thread pool.
    threads, selection = (1, "numba") if backend == "numba" else (0, "numpy")
    return model.retrieve(tokens, k=K, n_threads=threads, backend_selection=selection, show_progress=False)


class Clock:
    """Wall and CPU seconds of its block."""

    def __enter__(self):
        self.start = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_):
        self.wall = time.perf_counter() - self.start[0]
        self.cpu = time.process_time() - self.start[1]

    def seconds(self):
        return {"wall": self.wall, "cpu": self.cpu}


def build(backend, csc, texts):
    """The model and its time, tokenizing included, compiling excluded."""
    model = new(backend, csc)
    if backend == "numba":
        model.compile(activate_numba=True, warmup=True)
    with Clock() as clock:
        tokens = tokenize(texts)
        tokenizing = time.perf_counter() - clock.start[0]
        model.index(tokens, show_progress=False)
    return model, clock.seconds() | {"tokenizing": tokenizing, "csc": csc}


def timed(folder, backend, passes):
    _, texts = read_pool(folder)
    _, queries = read_queries(folder)
    with Clock() as warm_up:
        model, _ = build(backend, "numpy", texts[:50])
        ask(model, backend, tokenize(queries[:10]))
    # scipy's matrix or their own: whichever is faster counts.
    indexes = []
    for csc in ("scipy", "numpy"):
        model, seconds = build(backend, csc, texts)
        indexes.append(seconds)
    tokens = tokenize(queries)
    with Clock() as first:
        ask(model, backend, tokens)
    retrieving, both = [], []
    for _ in range(passes):
        with Clock() as clock:
            ask(model, backend, tokens)
        retrieving.append(clock.seconds())
        with Clock() as clock:
            ask(model, backend, tokenize(queries))
        both.append(clock.seconds())
    return {
        "warm_up_s": warm_up.wall,
        "first_call_s": first.wall,
        "index": indexes,
        "queries": len(queries),
        "skills": len(texts),
        "retrieve": retrieving,
        "tokenize_and_retrieve": both,
        "versions": {"bm25s": bm25s.__version__, "numpy": numpy.__version__},
    }


def lists(folder, backend, out, tokens_file):
    """Top 20 in f64: {query id: [[candidate id, score], ...]}."""
    ids, texts = read_pool(folder)
    query_ids, queries = read_queries(folder)
    if tokens_file:
        with open(tokens_file, encoding="utf-8") as file:
            given = json.load(file)
        pool, asked = [given["pool"][i] for i in ids], [given["queries"][i] for i in query_ids]
    else:
        split = lambda some: bm25s.tokenize(some, token_pattern=PATTERN, stopwords=None, show_progress=False, return_ids=False)
        pool, asked = split(texts), split(queries)
    model = new(backend, "numpy", "float64")
    model.index(pool, show_progress=False)
    docs, scores = ask(model, backend, asked)
    found = {
        query: [[ids[doc], float(score)] for doc, score in zip(row, values)]
        for query, row, values in zip(query_ids, docs, scores)
    }
    with open(out, "w", encoding="utf-8") as file:
        json.dump(found, file)
    return {"lists": len(found)}


def main():
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    folder, backend, passes, *rest = sys.argv[1:]
    if rest:
        result = lists(folder, backend, rest[0], rest[1] if 1 < len(rest) else None)
    else:
        result = timed(folder, backend, int(passes))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
