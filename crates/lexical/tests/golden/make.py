"""Makes peers.json: scores of scikit-learn 1.9.1 and bm25s 0.3.16 on small texts.

    python -m venv venv && venv/bin/pip install scikit-learn==1.9.1 bm25s==0.3.16
    venv/bin/python make.py > peers.json

bm25s is given double precision and our tokens; scikit-learn splits for itself.
"""

import json
import math
import re
from collections import Counter

import bm25s
import sklearn
from sklearn.feature_extraction.text import TfidfVectorizer

TEXTS = [
    "Extract tables from PDF files. Extract text, merge pdf files and split PDF files.",
    "Merge CSV files: join two CSV tables on a key, keep the header.",
    "csv to pdf: render a csv table as a PDF report with page numbers",
    "",
    "Straße, Größe und Maß: deutsche Texte prüfen. Das STRASSE-Beispiel.",
    "ΟΔΟΣ και οδός: ελληνικά κείμενα",
    "日本語のテキストを要約する。 summarize Japanese text",
    "spam " * 300 + "eggs",
    "x y z",
    "snake_case and CamelCase names, v1.2.3, x86_64; don't split http://example.org/a?b=c",
    "Merge CSV files: join two CSV tables on a key, keep the header!",
    "The PDF of the PDF of the PDF; a table of tables, text of texts.",
    "-- ... !!",
]
QUERIES = [
    "merge pdf files",
    "how do I join two CSV tables and keep the header of the CSV?",
    "Größe prüfen STRASSE",
    "οδος",
    "summarize 日本語 text",
    "spam spam spam eggs",
    "absent words only",
    "",
    "x86_64 http://example.org",
]


def cosine(vectorizer):
    texts = vectorizer.fit_transform(TEXTS)
    return (vectorizer.transform(QUERIES) @ texts.T).toarray().tolist()


def sr_tokens(text):
    return re.sub(r"[^\w\s]", " ", text.lower()).split()


def sr_tfidf():
    """From the description in methods.md, in double precision."""
    docs = [Counter(sr_tokens(text)) for text in TEXTS]
    df = Counter(token for doc in docs for token in doc)
    idf = {token: math.log(len(TEXTS) / (1 + n)) for token, n in df.items()}

    def vector(counts):
        counts = {token: n for token, n in counts.items() if token in idf}
        total = sum(counts.values())
        weights = {token: n / total * idf[token] for token, n in counts.items()}
        norm = math.sqrt(sum(w * w for w in weights.values())) or 1.0
        return {token: w / norm for token, w in weights.items()}

    docs = [vector(doc) for doc in docs]
    rows = [vector(Counter(sr_tokens(query))) for query in QUERIES]
    return [[sum(w * doc.get(t, 0.0) for t, w in row.items()) for doc in docs] for row in rows]


def sr_bm25(k1=1.5, b=0.75):
    """From the description in methods.md, in double precision."""
    docs = [Counter(sr_tokens(text)) for text in TEXTS]
    lengths = [sum(doc.values()) for doc in docs]
    average = sum(lengths) / len(lengths)
    df = Counter(token for doc in docs for token in doc)
    idf = {t: max(0.0, math.log((len(docs) - n + 0.5) / (n + 0.5))) for t, n in df.items()}

    def score(query, doc, length):
        total = 0.0
        for token in set(sr_tokens(query)) & doc.keys():
            tf = doc[token]
            total += idf[token] * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average))
        return total

    return [[score(q, doc, n) for doc, n in zip(docs, lengths)] for q in QUERIES]


def bm25(method, k1, b):
    tokens = [re.findall(r"[a-z0-9]+", text.lower()) for text in TEXTS]
    index = bm25s.BM25(method=method, k1=k1, b=b, dtype="float64")
    index.index(tokens, show_progress=False)
    rows = []
    for query in QUERIES:
        known = [t for t in re.findall(r"[a-z0-9]+", query.lower()) if t in index.vocab_dict]
        rows.append(index.get_scores(known).tolist() if known else [0.0] * len(TEXTS))
    return rows


print(
    json.dumps(
        {
            "made_by": f"make.py with scikit-learn {sklearn.__version__}, bm25s {bm25s.__version__}",
            "texts": TEXTS,
            "queries": QUERIES,
            "tfidf_words": cosine(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)),
            "tfidf_single_words": cosine(TfidfVectorizer(sublinear_tf=True)),
            "tfidf_characters": cosine(
                TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
            ),
            "tfidf_sr_agents": sr_tfidf(),
            "bm25_sr_agents": sr_bm25(),
            "bm25s_lucene": bm25("lucene", 1.2, 0.75),
            "bm25s_lucene_flat": bm25("lucene", 0.9, 0.4),
            "bm25s_robertson": bm25("robertson", 1.5, 0.75),
            "bm25s_atire": bm25("atire", 1.2, 0.75),
        },
        ensure_ascii=False,
        indent=1,
    )
)
