#!/usr/bin/env python3
"""Golden texts for a card of kind `dense`, as sentence-transformers computes them: TOML on stdout.

    VENV/bin/python bench/golden_card.py DIR [--max-tokens N] [--query-prefix P] [--document-prefix P]

`cleanhit models check CARD` compares the first values of each vector with them.
"""

import argparse
import json

from sentence_transformers import SentenceTransformer

TEXTS = [
    ("query", "How do I extract tables from a scanned PDF?"),
    ("document", "pdf-tables\nExtracts tables from PDF files.\n\nUse `pdfplumber`; fall back to OCR."),
    ("document", "Größe, naïve café, 数据清洗, 🚀 emoji and\ttabs"),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dir")
    parser.add_argument("--max-tokens", type=int)
    parser.add_argument("--query-prefix", default="")
    parser.add_argument("--document-prefix", default="")
    args = parser.parse_args()
    model = SentenceTransformer(args.dir, device="cpu")
    if args.max_tokens:
        model.max_seq_length = args.max_tokens
    for role, text in TEXTS:
        prefix = args.query_prefix if role == "query" else args.document_prefix
        starts = model.encode(prefix + text, normalize_embeddings=True)[:6]
        values = ", ".join(f"{value:.6f}" for value in starts.tolist())
        print(f"\n[[retrieve.golden]]\nrole = \"{role}\"\ntext = {json.dumps(text, ensure_ascii=False)}\nstarts = [{values}]")


if __name__ == "__main__":
    main()
