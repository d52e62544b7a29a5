"""faiss's flat index: `peer_faiss.py DOCUMENTS.f32 QUERIES.f32 DIM K THREADS ROUNDS OUT.u32`; prints JSON."""

import json
import sys
import time

import faiss
import numpy as np

documents, queries, dim, k, threads, rounds, out = sys.argv[1:]
dim, k, rounds = int(dim), int(k), int(rounds)
faiss.omp_set_num_threads(int(threads))
documents = np.fromfile(documents, np.float32).reshape(-1, dim)
queries = np.fromfile(queries, np.float32).reshape(-1, dim)
index = faiss.IndexFlatIP(dim)
index.add(documents)
seconds = []
for _ in range(rounds + 1):
    start = time.perf_counter()
    places = index.search(queries, k)[1]
    seconds.append(time.perf_counter() - start)
places.astype(np.uint32).tofile(out)
print(json.dumps({"seconds": seconds[1:]}))
