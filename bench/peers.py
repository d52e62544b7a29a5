#!/usr/bin/env python3
"""Makes the virtual environment of the peers, and prints what it holds.

Its place is $CLEANHIT_BENCH_VENV, by default under the system's folder for temporary files.
"""

import subprocess
import sys
import venv

from common import HERE, VENV

PEERS = "bm25s numba numpy scipy pytrec-eval-terrier ir-measures".split()


def main():
    python = VENV / "bin" / "python"
    if not python.exists():
        venv.create(VENV, with_pip=True)
    install = [python, "-m", "pip", "install", "--quiet", "--requirement", HERE / "requirements.txt"]
    subprocess.run(install, check=True)
    show = f"import importlib.metadata as m\nfor p in {PEERS}: print(p, m.version(p))"
    print(f"{VENV}\nPython {sys.version.split()[0]}", flush=True)
    subprocess.run([python, "-c", show], check=True)


if __name__ == "__main__":
    main()
