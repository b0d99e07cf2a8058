"""Store what benchmarks print in doc/_outputs, where the pages include it.

    python doc/outputs.py NAME ...     # run the benchmarks of these files and store their prints
    python doc/outputs.py              # list the command of every file

Set PNORM_DATA and OMP_NUM_THREADS as the docstring of the benchmark says. Times differ from machine to machine and from
run to run. benchmarks/additive.py writes its tables itself, from measurements that take hours and are kept in a file.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

PRINTS = {
    "adult_rivals.txt": "benchmarks/adult_rivals.py",
    "bank.txt": "-m pnorm bank-full.csv.gz --label y --ignore duration --budget 500",
    "check.txt": "benchmarks/check.py",
    "experiments.txt": "benchmarks/reproduce.py",
    "rivals.txt": "benchmarks/rivals.py",
    "splits.txt": "benchmarks/splits.py",
    "unseen.txt": "benchmarks/unseen.py",
}
TABLES = dict.fromkeys(
    ("additive.inc", "additive_summary.inc"), "benchmarks/additive.py --show additive.json --rst doc/_outputs"
)


def printed_by(command):
    """Run a script of the project, or the command on public data; return what it prints, and show it as it comes."""
    lines = []
    arguments, folder = [sys.executable, *command.split()], ROOT
    if command.startswith("-m"):
        folder = os.environ["PNORM_DATA"]
    with subprocess.Popen(arguments, cwd=folder, stdout=subprocess.PIPE, text=True, encoding="utf-8") as run:
        for line in run.stdout:
            print(line, end="", flush=True)
            lines.append(line.rstrip() + "\n")
    if run.returncode:
        raise SystemExit(f"{command} ended with {run.returncode}; nothing is stored")
    return "".join(lines)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        if name not in PRINTS:
            raise SystemExit(f"{name} is not one of {', '.join(PRINTS)}")
        text = printed_by(PRINTS[name]).strip("\n") + "\n"
        (ROOT / "doc" / "_outputs" / name).write_text(text, encoding="utf-8")
    if not sys.argv[1:]:
        for name, command in sorted((PRINTS | TABLES).items()):
            print(f"{name:24}python {command}")
