"""Command lines of the benchmarks, and the folder of the public data sets."""

import argparse
import os
import re
from pathlib import Path


def parser_of(file, text):
    """Return a parser for a script. Its help is the docstring, with the needs and the time that README.md has."""
    table = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    needs, takes = re.search(rf"^\| `{Path(file).name}` \|.*\| (.*?) ?\| (.*) \|$", table, re.MULTILINE).groups()
    needed = {"data": "PNORM_DATA", "rivals": "the group rivals"}
    named = " and ".join(needed.get(need, need) for need in needs.split(", ") if need) or "no more than the extra test"
    return argparse.ArgumentParser(
        prog=f"python benchmarks/{Path(file).name}",
        description=text,
        epilog=f"Takes {takes}. Needs {named} (benchmarks/README.md).",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def data_folder():
    """Return the folder that PNORM_DATA names, or end the script with a line that says what to set."""
    named = os.environ.get("PNORM_DATA")
    if not named or not Path(named).is_dir():
        found = f"there is no folder {named}" if named else "it is not set"
        raise SystemExit(
            f"PNORM_DATA must name the folder of the public data sets; {found}. "
            "benchmarks/README.md and help(pnorm.datasets) describe the files"
        )
    return Path(named)
