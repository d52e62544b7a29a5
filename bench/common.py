"""What the scripts share: the peers' environment, our programs, child processes, tables."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TEMP = Path(tempfile.gettempdir())
VENV = Path(os.environ.get("CLEANHIT_BENCH_VENV", TEMP / "cleanhit-bench-venv"))
WORK = Path(os.environ.get("CLEANHIT_BENCH_WORK", TEMP / "cleanhit-bench"))
THREADS = ("OMP", "NUMBA", "RAYON", "MKL", "OPENBLAS", "VECLIB_MAXIMUM", "NUMEXPR")

LIMITS = []


def environment():
    """One thread for everybody. BLAS settings of the machine are left out."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("OPENBLAS_")}
    return env | {f"{name}_NUM_THREADS": "1" for name in THREADS}


def peer(script, *args):
    """Runs a script under the peers' Python; what it prints last is one JSON document."""
    python = VENV / "bin" / "python"
    if not python.exists():
        raise SystemExit(f"no {python}; make it with `python3 {HERE / 'peers.py'}`")
    return _json_of([python, HERE / script, *args])


def ours(*args):
    """Runs the `throughput` harness; what it prints last is one JSON document."""
    return _json_of([_build()["throughput"], *args])


def cleanhit():
    """The command-line program."""
    return _build()["cleanhit"]


def _json_of(command):
    command = [str(part) for part in command]
    done = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"failed: {' '.join(command)}")
    return json.loads(done.stdout.splitlines()[-1])


_built = {}


def _build():
    """Paths of our two programs, built once. The environment can name them instead."""
    if not _built:
        named = {"throughput": os.environ.get("CLEANHIT_BENCH_BIN"), "cleanhit": os.environ.get("CLEANHIT_BIN")}
        if not all(named.values()):
            command = "cargo build --release --bin cleanhit --bench throughput --message-format json"
            done = subprocess.run(command.split(), cwd=ROOT, stdout=subprocess.PIPE, text=True)
            if done.returncode != 0:
                raise SystemExit("cargo build failed")
            for message in map(json.loads, done.stdout.splitlines()):
                if message.get("executable") and message["target"]["name"] in named:
                    name = message["target"]["name"]
                    named[name] = named[name] or message["executable"]
        _built.update(named)
    return _built


def child(command, cwd=None, env=None, quiet=True):
    """(wall seconds, CPU seconds, peak MB, exit status) of a command."""
    out = subprocess.DEVNULL if quiet else None
    start = time.perf_counter()
    process = subprocess.Popen([str(part) for part in command], cwd=cwd, env=env or environment(), stdout=out, stderr=out)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, process.returncode


def table(title, header, rows):
    """Prints a table: text to the left, numbers to the right."""
    cells = [header] + [[cell if isinstance(cell, str) else number(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    print(f"\n{title}")
    for line in (cells[0], ["-" * width for width in widths], *cells[1:]):
        parts = [cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths))]
        print("  ".join(parts).rstrip())


def number(value):
    """Three significant figures, or whole."""
    if isinstance(value, int) or 1000 <= abs(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def spread(values):
    """Median and range."""
    middle = number(statistics.median(values))
    return f"{middle} [{number(min(values))}, {number(max(values))}]" if 1 < len(values) else middle


def goal(name, value, limit, at_least=True):
    """Prints whether a goal is met, and remembers it for `finish`."""
    met = limit <= value if at_least else value <= limit
    sign = ">=" if at_least else "<="
    print(f"  {'met   ' if met else 'MISSED'}  {name}: {number(value)}, goal {sign} {number(limit)}")
    LIMITS.append(met)


def finish():
    """Exit status 1 if a goal was missed."""
    sys.exit(0 if all(LIMITS) else 1)


def synthetic(skills=7713, tokens=1000, queries=1258, query_tokens=67, seed=7):
    """A synthetic benchmark folder, made unless it is there."""
    folder = WORK / f"synthetic-{skills}-{tokens}-{queries}-{query_tokens}-{seed}"
    sizes = {"skills": skills, "tokens": tokens, "queries": queries, "query-tokens": query_tokens, "seed": seed}
    args = [text for name, value in sizes.items() for text in (f"--{name}", str(value))]
    return _made(folder, "gen_pool.py", args)


def real():
    """The benchmark folder of the real skills, made unless it is there."""
    return _made(WORK / "real-7713", "real_pool.py", [])


def _made(folder, script, args):
    if not (folder / "bench.toml").exists():
        subprocess.run([sys.executable, HERE / script, folder, *args], check=True)
    return folder
