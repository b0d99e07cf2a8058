"""Run the tests under several kinds of BLAS kernels: products of matrices round differently on each.

    python tools/check_blas.py [KERNEL ...] [-- arguments of pytest]

OpenBLAS, which NumPy and SciPy bring, chooses its kernels by the processor; the variable OPENBLAS_CORETYPE chooses
them in its place. KERNEL is one of its names, or default; without any, all that this processor can run are tried:
Prescott (SSE3), Nehalem (SSE4.2), Haswell and Zen (AVX2), SkylakeX (AVX-512). Fails if any test fails under any, or if
OpenBLAS did not take the kernels that were asked for.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]

# What /proc/cpuinfo must name, and what OpenBLAS then says that it has taken.
NEEDS = {
    "Prescott": ("pni", "Prescott|Katmai"),  # the name of what is older still
    "Nehalem": ("sse4_2", "Nehalem"),
    "Haswell": ("avx2", "Haswell"),
    "Zen": ("avx2", "Zen|Haswell"),  # the same kernels
    "SkylakeX": ("avx512vl", "SkylakeX"),
}

SHOW = """
import numpy, scipy.linalg, threadpoolctl
print(*{found["architecture"] for found in threadpoolctl.threadpool_info() if found["internal_api"] == "openblas"})
"""


def chosen(kernel: str, variables: dict[str, str]) -> str:
    """The kernels that OpenBLAS takes; an error if they are others than were asked for."""
    done = subprocess.run([sys.executable, "-P", "-c", SHOW], env=variables, capture_output=True, text=True, check=True)
    found = done.stdout.strip()
    if kernel != "default" and not re.fullmatch(NEEDS[kernel][1], found):
        raise SystemExit(f"asked for {kernel}, OpenBLAS took {found or 'nothing: this is another BLAS'}")
    return found


def tried(kernel: str, arguments: list[str]) -> bool:
    """Run the tests under one kind of kernels; whether all passed."""
    variables = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    if kernel != "default":
        variables["OPENBLAS_CORETYPE"] = kernel
    print(f"== {kernel}: {chosen(kernel, variables)} kernels", flush=True)
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-q", *arguments], cwd=ROOT, env=variables, check=False
    )
    passed = done.returncode == 0
    print(f"== {kernel}: {'passed' if passed else 'FAILED'} in {time.monotonic() - start:.0f} s", flush=True)
    return passed


def main(arguments: list[str]) -> int:
    """Try what is named, or all."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    kernels, rest = arguments[:end], arguments[end + 1 :]
    if unknown := set(kernels) - {*NEEDS, "default"}:
        raise SystemExit(f"KERNEL is one of {', '.join(NEEDS)}, default; got {', '.join(sorted(unknown))}")
    if not kernels:
        flags = set(Path("/proc/cpuinfo").read_text().split())
        kernels = ["default", *(kernel for kernel, (flag, _) in NEEDS.items() if flag in flags)]
    failed = [kernel for kernel in kernels if not tried(kernel, rest)]
    print("failed under:", *failed) if failed else print("passed under:", *kernels)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
