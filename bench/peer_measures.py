"""pytrec_eval-terrier and ir_measures, alone. Runs under the peers' Python.

    peer_measures.py PEER cases FOLDER PASSES    top20.trec, helpful.qrels, siblings.qrels
    peer_measures.py PEER trec FOLDER PASSES     run.trec, qrels.trec

PEER is `pytrec_eval` or `ir_measures`. A pass reads the files and computes every measure.
"""

import importlib.metadata
import json
import sys
import time
from pathlib import Path

CUTOFFS = (1, 3, 5, 20)


def mean(values):
    values = list(values)
    return sum(values) / len(values)


class Pytrec:
    """pytrec_eval, with the quicker of two readers: its own, and a plain one that checks nothing."""

    def __init__(self):
        import pytrec_eval

        self.pytrec_eval = pytrec_eval
        self.plain = True

    def qrels(self, path):
        with open(path) as file:
            if not self.plain:
                return self.pytrec_eval.parse_qrel(file)
            found = {}
            for line in file:
                query, _, doc, grade = line.split()
                found.setdefault(query, {})[doc] = int(grade)
            return found

    def run(self, path):
        with open(path) as file:
            if not self.plain:
                return self.pytrec_eval.parse_run(file)
            found = {}
            for line in file:
                query, _, doc, _, score, _ = line.split()
                found.setdefault(query, {})[doc] = float(score)
            return found

    def each(self, qrels, run, measures):
        return self.pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)

    def cases(self, folder):
        run = self.run(folder / "top20.trec")
        names = {f"recall.{','.join(map(str, CUTOFFS))}"}
        helpful = self.each(self.qrels(folder / "helpful.qrels"), run, names)
        siblings = self.each(self.qrels(folder / "siblings.qrels"), run, names)
        found = {}
        for k in CUTOFFS:
            name = f"recall_{k}"
            found[f"recall@{k}"] = mean(q[name] for q in helpful.values())
            found[f"hsr@{k}"] = mean(q[name] for q in siblings.values())
            found[f"cleanhit@{k}"] = mean(h[name] * (1 - siblings[q][name]) for q, h in helpful.items())
        return found

    def trec(self, folder):
        names = {"ndcg_cut.10", "map", "recip_rank", "P.5", "recall.20"}
        by_query = self.each(self.qrels(folder / "qrels.trec"), self.run(folder / "run.trec"), names)
        ours = {"nDCG@10": "ndcg_cut_10", "AP": "map", "RR": "recip_rank", "P@5": "P_5", "R@20": "recall_20"}
        return {name: mean(q[key] for q in by_query.values()) for name, key in ours.items()}


class IrMeasures:
    """ir_measures with its own readers."""

    def __init__(self):
        import ir_measures

        self.ir = ir_measures

    def cases(self, folder):
        ir = self.ir
        measures = [ir.R @ k for k in CUTOFFS]
        run = list(ir.read_trec_run(str(folder / "top20.trec")))
        values = {}
        for side in ("helpful", "siblings"):
            qrels = list(ir.read_trec_qrels(str(folder / f"{side}.qrels")))
            for metric in ir.iter_calc(measures, qrels, run):
                values[side, metric.query_id, metric.measure["cutoff"]] = metric.value
        queries = {query for _, query, _ in values}
        found = {}
        for k in CUTOFFS:
            helpful = {q: values["helpful", q, k] for q in queries}
            siblings = {q: values["siblings", q, k] for q in queries}
            found[f"recall@{k}"] = mean(helpful.values())
            found[f"hsr@{k}"] = mean(siblings.values())
            found[f"cleanhit@{k}"] = mean(helpful[q] * (1 - siblings[q]) for q in queries)
        return found

    def trec(self, folder):
        ir = self.ir
        measures = [ir.nDCG @ 10, ir.AP, ir.RR, ir.P @ 5, ir.R @ 20]
        qrels = ir.read_trec_qrels(str(folder / "qrels.trec"))
        run = ir.read_trec_run(str(folder / "run.trec"))
        return {str(m): v for m, v in ir.calc_aggregate(measures, qrels, run).items()}


def timed(job, folder, passes):
    """The values and the seconds of each pass."""
    seconds = []
    for _ in range(passes):
        start = time.perf_counter(), time.process_time()
        values = job(folder)
        seconds.append({"wall": time.perf_counter() - start[0], "cpu": time.process_time() - start[1]})
    return values, seconds


def main():
    name, job, folder, passes = sys.argv[1:]
    start = time.perf_counter()
    peer = {"pytrec_eval": Pytrec, "ir_measures": IrMeasures}[name]()
    importing = time.perf_counter() - start
    folder, passes = Path(folder), int(passes)
    _, warm_up = timed(getattr(peer, job), folder, 1)
    values, seconds = timed(getattr(peer, job), folder, passes)
    result = {"values": values, "passes": seconds, "warm_up_s": importing + warm_up[0]["wall"]}
    if name == "pytrec_eval":
        peer.plain = False
        _, result["own_reader"] = timed(getattr(peer, job), folder, 1)
    package = {"pytrec_eval": "pytrec_eval-terrier"}.get(name, name)
    print(json.dumps(result | {"version": importlib.metadata.version(package)}))


if __name__ == "__main__":
    main()
