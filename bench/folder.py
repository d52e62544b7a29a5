"""Benchmark folders: `bench.toml`, a pool, its queries and its labels. Standard library only."""

import hashlib
import json
from pathlib import Path

CASES = (
    "query_case_id unit_id helpful_skill_id risky_sibling_id main_evaluation stratum split_role "
    "primary_category conflict_type domain lineage_group"
).split()
FAMILIES = "family_id candidate_id family_source candidate_pool_id".split()
POOL = "single"


def write_benchmark(folder, name, pool, queries, cases):
    """Writes a folder that `cleanhit -b FOLDER` reads.

    `pool` gives (id, text), `queries` (id, text), `cases` rows as dictionaries.
    """
    folder.mkdir(parents=True, exist_ok=True)
    listed = {
        "candidates": _write(folder / "pool.jsonl", (_json(candidate_id=i, text=t) for i, t in pool)),
        "queries": _write(folder / "queries.jsonl", (_json(query_case_id=i, text=t) for i, t in queries)),
        "cases": _write(folder / "cases.tsv", _tsv(CASES, cases)),
        "relation": _write(folder / "families.tsv", _tsv(FAMILIES, _families(cases))),
    }
    # A header line is no row.
    for table in ("cases", "relation"):
        path, digest, rows = listed[table]
        listed[table] = (path, digest, rows - 1)
    ref = {
        key: f'{key} = {{ path = "{path}", sha256 = "{digest}", rows = {rows} }}'
        for key, (path, digest, rows) in listed.items()
    }
    (folder / "bench.toml").write_text(
        f'format = 1\nname = "{name}"\nversion = "0.1.0"\nlicence = "generated for measurement"\n\n'
        f'[[pool]]\nid = "{POOL}"\n{ref["candidates"]}\n{ref["queries"]}\n\n'
        f'[labels]\n{ref["cases"]}\n\n[families]\n{ref["relation"]}\n',
        encoding="utf-8",
    )


def read_jsonl(path, key):
    """(id, text) of each row, in file order."""
    with open(path, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row[key] for row in rows], [row["text"] for row in rows]


def read_pool(folder):
    """Ids and texts of the candidates."""
    return read_jsonl(Path(folder) / "pool.jsonl", "candidate_id")


def read_queries(folder):
    """Ids and texts of the queries."""
    return read_jsonl(Path(folder) / "queries.jsonl", "query_case_id")


def read_cases(folder):
    """Label rows as dictionaries."""
    lines = (Path(folder) / "cases.tsv").read_text(encoding="utf-8").splitlines()
    header = lines[0].split("\t")
    return [dict(zip(header, line.split("\t"))) for line in lines[1:]]


def _json(**row):
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def _tsv(columns, rows):
    yield "\t".join(columns)
    for row in rows:
        yield "\t".join(row[column] for column in columns)


def _families(cases):
    """A family for each helpful-sibling pair; its candidates are in no other."""
    pairs = sorted({tuple(sorted((c["helpful_skill_id"], c["risky_sibling_id"]))) for c in cases})
    for i, pair in enumerate(pairs):
        for candidate in pair:
            yield {
                "family_id": f"family-{i:06}",
                "candidate_id": candidate,
                "family_source": "synthetic",
                "candidate_pool_id": POOL,
            }


def _write(path, lines):
    """(file name, sha256, rows) of what it writes."""
    digest, rows = hashlib.sha256(), 0
    with open(path, "wb") as out:
        for line in lines:
            data = line.encode() + b"\n"
            out.write(data)
            digest.update(data)
            rows += 1
    return path.name, digest.hexdigest(), rows
