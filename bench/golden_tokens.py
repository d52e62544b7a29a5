"""Writes the golden token ids of real skills, as transformers' tokenizer of all-MiniLM-L6-v2 makes them.

    VENV/bin/python bench/golden_tokens.py [DIR_OF_MODEL] [DIR_OF_SHARED_DATA]

Under a Python with transformers, and zstandard or the `zstd` program. The skills are every seventh of
the 7,713, the first thousand. The output has a line for each: the number of its tokens uncut, and the
first 16 hexadecimal digits of the sha256 of its ids (u32, little-endian) cut at 256 tokens and uncut.
The first line is the sha256 of all texts, each with a zero byte after it.
"""

import hashlib
import sys
from pathlib import Path

import numpy as np
from real_pool import text
from skills import SHARED, records
from transformers import AutoTokenizer

MODEL = Path(sys.argv[1] if 1 < len(sys.argv) else Path.home() / ".cache" / "cleanhit-models" / "all-minilm-l6-v2")
OUT = Path(__file__).resolve().parent.parent / "crates" / "neural" / "tests" / "golden" / "minilm-skill-tokens.txt"


def digest(ids):
    return hashlib.sha256(np.array(ids, "<u4").tobytes()).hexdigest()[:16]


def main():
    shared = sys.argv[2] if 2 < len(sys.argv) else SHARED
    texts = [text(record) for record in list(records(shared))[::7][:1000]]
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    every = hashlib.sha256(b"".join(text.encode() + b"\0" for text in texts)).hexdigest()
    lines = [every]
    for one in texts:
        cut = tokenizer(one, truncation=True, max_length=256, padding=False)["input_ids"]
        uncut = tokenizer(one, truncation=False, padding=False)["input_ids"]
        lines.append(f"{len(uncut)} {digest(cut)} {digest(uncut)}")
    OUT.write_text("\n".join(lines) + "\n")
    print(f"{len(texts)} skills, {sum(int(line.split()[0]) for line in lines[1:]):,} tokens: {OUT}")


if __name__ == "__main__":
    main()
