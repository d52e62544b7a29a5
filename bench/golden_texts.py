"""Texts of our own that the golden outputs are made of: empty to 2,000 tokens, many scripts."""

import random

SHORT = [
    "",
    " ",
    "a",
    "?!",
    "\n\t\r",
    "Parse a CSV file and sum a column.",
    "parse a csv file and sum a column",
    "  leading and trailing space  ",
    "Deploy the service behind a load balancer, then roll back if the health check fails.",
    "Größe ändern, Übermut, straße, naïve café, São Tomé, Łódź, Ærø",
    "Résumé vs. re\u0301sume\u0301: the same letters, composed and not",
    "数据库迁移工具和索引重建",
    "データベースの移行を自動化する",
    "데이터베이스 마이그레이션 자동화",
    "Автоматизация миграции базы данных",
    "أتمتة ترحيل قاعدة البيانات",
    "אוטומציה של העברת נתונים",
    "डेटाबेस माइग्रेशन को स्वचालित करें",
    "ฐานข้อมูลและการย้ายข้อมูล",
    "Αυτοματοποίηση της βάσης δεδομένων",
    "🚀 ship it 🎉🎉 👩‍👩‍👧‍👦 🇫🇷 ✅",
    "zero\u200bwidth\u200djoiner\ufeffmark",
    "full width ＡＢＣ１２３ and ﬁ ligature ½ ² ℃",
    "control \u0000\u0007\u001b characters",
    "math ∑∫√≤≥≠ αβγ ℝ ∀x∈X",
    "snake_case camelCase kebab-case SCREAMING_CASE path/to/file.rs C:\\temp\\x",
    "https://example.org/a?b=c&d=%20e#frag user@example.org 127.0.0.1:8080",
    "fn main() { println!(\"{}\", 1 << 10); } // comment /* block */",
    "SELECT name, COUNT(*) FROM users WHERE age >= 18 GROUP BY name;",
    "```python\ndef f(x):\n    return x**2\n```",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "[CLS] [SEP] [PAD] [MASK] [UNK] <s> </s> <pad> <|endoftext|>",
    "0 1 2 10 100 1,000 1000000 3.14159 -2.5e-10 0xff",
    "supercalifragilisticexpialidocious antidisestablishmentarianism",
    "x" * 150,
    "word " * 40,
    "....!!!!????----____",
    "“Curly quotes” ‘and’ – dashes — … ellipsis",
    "TODO: fix; NOTE: skip; WARN: retry 3 times, then page the on-call engineer",
    "A skill that formats dates.\r\nWindows line ends.\r\n",
]

VERBS = "parse validate deploy convert merge index query encrypt render compress profile trace cache retry schedule".split()
NOUNS = (
    "invoice spreadsheet cluster certificate database schema image audio transcript ledger molecule "
    "contract calendar firmware container pipeline dataset notebook terminal"
).split()
EXTRAS = (
    "before the deadline|with exponential backoff|without touching production|in UTC, not local time|"
    "and write a summary to report.md|unless the checksum differs|one row at a time|"
    "for each tenant, in the order given|when the input is empty|using at most 512 MB of memory"
).split("|")


def sentence(draw):
    first, second = draw.sample(VERBS, 2)
    return f"{first.capitalize()} the {draw.choice(NOUNS)}, {second} its {draw.choice(NOUNS)} {draw.choice(EXTRAS)}."


def document(draw, words):
    lines, count = [f"# {draw.choice(NOUNS).capitalize()} {draw.choice(VERBS)}", ""], 2
    while count < words:
        kind = draw.random()
        if kind < 0.15:
            lines += ["", f"## {draw.choice(VERBS).capitalize()} {draw.choice(NOUNS)}"]
            count += 3
        elif kind < 0.25:
            lines.append(f"- `{draw.choice(VERBS)}_{draw.choice(NOUNS)}({draw.randint(0, 9999)})` {draw.choice(SHORT[8:30])}")
            count += 12
        else:
            lines.append(sentence(draw))
            count += 12
    return "\n".join(lines)


def texts(n=200):
    """The handwritten texts, then documents of growing length."""
    draw = random.Random(20)
    all = list(SHORT)
    while len(all) < n:
        i = len(all) - len(SHORT)
        words = 4 + int(1300 * (i / (n - len(SHORT) - 1)) ** 4)
        all.append(document(draw, words) if 12 < words else sentence(draw))
    return all[:n]


QUERIES = ["How do I parse an invoice?", "deploy cluster, roll back on failure", "数据库 migration with 🚀"]
