"""Look for errors of memory and of threads, and for undefined behaviour, in the compiled core.

    python tools/check_memory.py CHECK [arguments of pytest]

CHECK is bounds, asan, valgrind, tsan or free-threaded; tools/README.md lists what each finds and what not, and how long
it takes. pnorm is built anew, with what the check needs, into a temporary environment that has the other packages of
this one. There kernels are called wrongly on purpose: a check that does not see that fails. Then the tests of the check
run, or those that are named. A report counts if the compiled core occurs in it: other packages have their own.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
CORE = "pnorm/_core/"

# What kernels rely on, broken on purpose.
BEGIN = """
import sys
import numpy as np
from pnorm._core import _tilt
assert _tilt.__file__.startswith(sys.prefix), _tilt.__file__
"""
PAST_THE_END = BEGIN + "_tilt.multiply_by_group(np.ones(1001), np.zeros(1001, np.intp), np.ones(1), np.empty(1000))"
MISALIGNED = BEGIN + "_tilt.rescale_rows(np.ones(8001, np.uint8)[1:].view(float), 2.0, 0, 1000)"
NEVER_WRITTEN = BEGIN + "_tilt.log_sum(np.empty(1000), None, 1.0, 0, 1000)"
SHARED = (
    BEGIN
    + """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
together, x = Barrier(2), np.ones(10**5)
def work(_):
    for _ in range(50):
        together.wait()
        _tilt.rescale_rows(x, 1.0, 0, x.size)
with ThreadPoolExecutor(2) as pool:
    list(pool.map(work, range(2)))
"""
)
NO_LOCK = BEGIN + "sys.exit('no lock' if not sys._is_gil_enabled() else 'a lock')"


@dataclass(frozen=True)
class Check:
    """How to build, how to run, what has to be seen, and the tests."""

    tests: str
    setup: tuple[str, ...] = ()
    wrong: tuple[tuple[str, str], ...] = ()
    """Programs, and what the check has to say of each."""
    command: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    """Of the compiler, loaded before all others."""
    variables: dict[str, str] = field(default_factory=dict)


# Less optimised, fewer accesses are gone before anyone looks at them, and the build takes half as long.
SANITIZED = "-Db_lundef=false", "-Doptimization=1", "-Ddebug=true", "-Dc_args=-g1 -fno-omit-frame-pointer"
OWN_BLOCKS = {"PYTHONMALLOC": "malloc"}  # one for each object, where Python puts many small ones into one

CHECKS = {
    "bounds": Check(
        "tests/test_kernels.py tests/test_compiled.py tests/test_reference.py tests/test_numerics.py "
        "tests/test_objectives.py",
        ("-Dchecked=true",),
        ((PAST_THE_END, "IndexError"),),
    ),
    "asan": Check(
        "tests/test_kernels.py tests/test_compiled.py tests/test_storage.py tests/test_listwise.py "
        "tests/test_objectives.py -k 'not a9a and not negated and not repeated'",
        ("-Db_sanitize=address,undefined", *SANITIZED),
        ((PAST_THE_END, "heap-buffer-overflow"), (MISALIGNED, "misaligned address")),
        libraries=("libasan.so", "libubsan.so"),
        variables={
            **OWN_BLOCKS,
            "ASAN_OPTIONS": "detect_leaks=0:log_path={reports}",  # the interpreter's: it does not free all at its end
            "UBSAN_OPTIONS": "print_stacktrace=1:log_path={reports}",
        },
    ),
    "valgrind": Check(
        "-n 0 tests/test_kernels.py tests/test_collections.py tests/test_listwise.py tests/test_objectives.py "
        "-k 'kernels and not twin and not plateaus and not equation or twin and (-3] or -17] or -256]) "
        "or collections or kendall or sort or digits'",
        ("-Ddebug=true",),
        ((PAST_THE_END, "Invalid write"), (NEVER_WRITTEN, "uninitialised")),
        ("valgrind", "--quiet", "--leak-check=no", "--fullpath-after=", "--log-file={reports}.%p"),
        variables=OWN_BLOCKS,
    ),
    "tsan": Check(
        "-n 0 -k thread tests/test_threads.py tests/test_reproducible.py tests/test_storage.py",
        ("-Db_sanitize=thread", *SANITIZED),
        ((SHARED, "data race"),),
        ("setarch", "--addr-no-randomize"),  # older libtsan knows fewer places where memory may lie
        ("libtsan.so",),
        {"TSAN_OPTIONS": "log_path={reports}:exitcode=0"},
    ),
    "free-threaded": Check(
        "-n 0 --keep-duplicates" + 5 * " tests/test_threads.py",
        wrong=((NO_LOCK, "no lock"),),
        variables={"PYTHON_GIL": "0"},  # whatever else is imported; the tests see that pnorm asks for no lock
    ),
}


def build(setup: Iterable[str], folder: Path) -> Path:
    """Build pnorm; returns a Python that imports it from there, and other packages from where this one does."""
    environment, made = folder / "environment", folder / "build"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python = environment / "bin" / "python"
    ask = "import sysconfig; print(sysconfig.get_path('platlib'))"
    own = subprocess.run([python, "-c", ask], check=True, capture_output=True, text=True).stdout.strip()
    # By a list of folders, an editable install in one of them is not brought along.
    Path(own, "others.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")))
    variables = {**os.environ, "CC": "gcc", "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for command in (
        ["setup", made, ROOT, f"-Dpython.platlibdir={own}", f"-Dpython.purelibdir={own}", *setup],
        ["compile", "-C", made],
        ["install", "-C", made, "--no-rebuild", "--tags=runtime,python-runtime"],
    ):
        meson = [sys.executable, "-P", "-m", "mesonbuild.mesonmain", *command]
        done = subprocess.run(meson, env=variables, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{done.stdout}{done.stderr}\nmeson {command[0]} failed")
    return python


def run(check: Check, python: Path, arguments: Iterable[str], **options: bool) -> tuple[int, str, list[str]]:
    """Run Python in the way of a check; returns the status, what is on standard error if asked for, and the reports."""
    with tempfile.TemporaryDirectory(prefix="pnorm-reports-") as made:
        reports = f"{made}/report"
        variables = {name: value.format(reports=reports) for name, value in check.variables.items()}
        found = [["gcc", f"-print-file-name={name}"] for name in check.libraries]
        paths = [subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip() for ask in found]
        preload = {"LD_PRELOAD": " ".join(paths)} if paths else {}
        command = [word.format(reports=reports) for word in check.command]
        done = subprocess.run(
            [*command, python, "-P", *arguments],
            cwd=ROOT, env={**os.environ, **variables, **preload}, text=True, check=False, **options,
        )  # fmt: skip
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(Path(made).iterdir())]
    blocks = [block for text in texts for block in re.split(r"^(?:={18,}|==\d+== ?)$", text, flags=re.MULTILINE)]
    return done.returncode, done.stderr or "", [block for block in blocks if CORE in block]


def main(name: str, *arguments: str) -> int:
    """Build, prove that errors are seen, and test; returns the status."""
    check = CHECKS[name]
    with tempfile.TemporaryDirectory(prefix=f"pnorm-{name}-") as made:
        python = build(check.setup, Path(made))
        for program, words in check.wrong:
            _, said, reports = run(check, python, ["-c", program], capture_output=True)
            if not any(words in text for text in [said, *reports]):
                sys.exit(f"{name} does not see what it has to, {words!r}:\n{program}\n{said}")
            print(f"{name} sees {words!r}", flush=True)
        tests = [
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            *(arguments or ["-q", *shlex.split(check.tests)]),
        ]
        status, _, reports = run(check, python, tests)
    print(*reports[:10], sep="\n")
    print(f"{name}: {len(reports)} reports")
    return status or len(reports) > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
