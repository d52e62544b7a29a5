"""Reads the collection of real skills. Standard library, and `zstd` or the zstandard package."""

import json
import shutil
import subprocess
from pathlib import Path

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def records(shared=SHARED, only_subset=True):
    """Records in file order; the 7,713 of the subset, or all."""
    pool = Path(shared) / "skills_pool"
    kept = set((pool / "subset_7713.txt").read_text(encoding="utf-8").split()) if only_subset else None
    for line in _lines(pool / "skills.jsonl.zst"):
        record = json.loads(line)
        if kept is None or record["id"] in kept:
            yield record


def query_texts(shared=SHARED):
    """Task texts of SkillsBench and Terminal-Bench 2, in file order."""
    for name in ("skillsbench", "terminal_bench_2"):
        with open(Path(shared) / "skill_retrieval" / name / "queries.jsonl", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)["text"]


def _lines(path):
    if shutil.which("zstd"):
        with subprocess.Popen(["zstd", "-dcq", str(path)], stdout=subprocess.PIPE) as child:
            yield from child.stdout
        if child.returncode != 0:
            raise SystemExit(f"zstd failed on {path}")
        return
    import io

    import zstandard

    with open(path, "rb") as packed, zstandard.ZstdDecompressor().stream_reader(packed) as data:
        yield from io.BufferedReader(data)
