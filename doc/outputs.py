"""Store what benchmarks print in doc/_outputs, where the pages include it.

    python doc/outputs.py NAME ...     # run the benchmarks of these files and store their prints
    python doc/outputs.py              # list the command of every file

NAME is the name of a file in `PRINTS`, such as small.txt. Set PNORM_DATA and OMP_NUM_THREADS as the docstring of the
benchmark says. Times differ from machine to machine and from run to run. The files in `TABLES` are written by other
commands, from measurements that take long and are kept in a file.
"""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Print:
    """A command, and the part of its print that is stored."""

    command: str
    part: str = r"[\s\S]*"
    """A regular expression for the part; whatever its groups match is left out."""

    def of(self, printed):
        """Return the part of a print that is stored."""
        found = re.search(self.part, printed)
        if found is None:
            raise ValueError(f"{self.command} printed nothing that matches {self.part!r}")
        left_out = [found.span(k) for k in range(1, found.re.groups + 1)]
        kept = "".join(c for k, c in enumerate(found[0], found.start()) if not any(a <= k < b for a, b in left_out))
        return kept.strip("\n") + "\n"


RIVALS, FEW = "benchmarks/rivals.py", r"few rows:[\s\S]*?(?=\n\n|\Z)"

PRINTS = {
    "adult_rivals.txt": Print("benchmarks/adult_rivals.py"),
    "check.txt": Print("benchmarks/check.py"),
    "choosing.txt": Print("benchmarks/choosing.py"),
    "choosing_penalties.txt": Print("benchmarks/choosing.py penalties"),
    "claims.txt": Print("benchmarks/claims.py", r"[\s\S]*?(?=value and weights at)"),  # the rest is in prices.rst
    "duplicates.txt": Print("benchmarks/duplicates.py"),
    "folder.inc": Print("benchmarks/folder.py"),
    "lists.txt": Print("benchmarks/lists.py"),
    "prices.txt": Print("benchmarks/prices.py prices"),
    "prices_losses.txt": Print("benchmarks/prices.py losses"),
    "queries.txt": Print("benchmarks/queries.py"),
    "rivals.txt": Print(RIVALS, rf"[\s\S]*?({FEW}\n\n)[\s\S]*"),
    "rivals_few.txt": Print(RIVALS, FEW),
    "scarce.txt": Print("benchmarks/scarce.py"),
    "small.txt": Print("benchmarks/small.py"),
    "splits.txt": Print("benchmarks/splits.py"),
    "straight.txt": Print("benchmarks/straight.py"),
    "unseen.txt": Print("benchmarks/unseen.py"),
    "waits.txt": Print("benchmarks/waits.py"),
    "weights.txt": Print("benchmarks/weights.py"),
}

_ADDITIVE = "benchmarks/additive.py --show additive.json --rst doc/_outputs"

TABLES = {
    "additive.inc": _ADDITIVE,
    "additive_rules.inc": _ADDITIVE,
    "additive_summary.inc": _ADDITIVE,
    "boosting.inc": "benchmarks/boosters.py --show boosters.json --rst doc/_outputs/boosting.inc",
    "calibration.inc": "benchmarks/calibration.py --show calibration.json --rst doc/_outputs/calibration.inc",
    "curves.inc": "doc/pictures.py curves",
    "experiments.inc": "doc/pictures.py experiments",
    "experiments_colt.inc": "doc/pictures.py experiments",
    "mixed_bank.inc": "benchmarks/mixed.py --commands doc/_outputs",
    "quality.inc": "benchmarks/quality.py --show quality.json --rst doc/_outputs/quality.inc",
    "readable_magic.inc": "doc/pictures.py readable",
    "readable_pima.inc": "doc/pictures.py readable",
    "readable_points.inc": "doc/pictures.py readable",
    "stacking.inc": "benchmarks/stacking.py --show stacking.json --rst doc/_outputs/stacking.inc",
    "uneven.inc": "doc/pictures.py uneven",
    "where_it_pays.inc": "doc/where_it_pays.py",
}


def printed_by(command):
    """Run a script of the project and return what it prints, and show it as it comes."""
    lines = []
    arguments = [sys.executable, *command.split()]
    with subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, text=True, encoding="utf-8") as run:
        for line in run.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    if run.returncode:
        raise SystemExit(f"{command} ended with {run.returncode}; nothing is stored")
    return "".join(line.rstrip() + "\n" for line in lines)


def main(names):
    """Store the named prints; without a name, list the commands."""
    if not names:
        commands = TABLES | {name: found.command for name, found in PRINTS.items()}
        print("\n".join(f"{name:24}python {command}" for name, command in sorted(commands.items())))
    for name in names:
        if name in TABLES:
            raise SystemExit(f"{name} is written by: python {TABLES[name]}")
        if name not in PRINTS:
            raise SystemExit(f"{name} is not one of {', '.join(PRINTS)}")
    printed = {command: printed_by(command) for command in dict.fromkeys(PRINTS[name].command for name in names)}
    for name in names:
        text = PRINTS[name].of(printed[PRINTS[name].command])
        (ROOT / "doc" / "_outputs" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
