"""Test a wheel as its users get it: in a new environment, away from the sources, and with no compiler to be found.

    python tools/check_wheel.py dist/pnorm_push-*.whl

installs the wheel with its extra `test`, copies what pyproject.toml names in `test-sources` of cibuildwheel to an empty
folder, and runs the tests there. Further arguments go to pytest.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LARGEST = 1_550_000  # bytes of a wheel
COMPILERS = ("cc", "gcc", "clang", "cl")


def check_contents(wheel: Path) -> None:
    """Every module that is compiled, the licence, and nothing that is no use to users."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
    suffix = ".pyd" if os.name == "nt" else ".so"
    compiled = sorted(Path(name).name.split(".")[0] for name in names if name.endswith(suffix))
    expected = sorted(["_cyutility", *[path.stem for path in (ROOT / "pnorm" / "_core").glob("*.pyx")]])
    if compiled != expected:
        sys.exit(f"{wheel.name} has the compiled modules {compiled}, not {expected}")
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in names):
        sys.exit(f"{wheel.name} has no licence")
    used = ("pnorm/", suffix), ("pnorm/", ".py"), ("pnorm/", ".pyi"), ("pnorm/", "py.typed")
    stray = [name for name in names if ".dist-info/" not in name
             and not any(name.startswith(start) and name.endswith(end) for start, end in used)]  # fmt: skip
    if stray:
        sys.exit(f"{wheel.name} has files for no user: {stray}")
    if wheel.stat().st_size >= LARGEST:
        sys.exit(f"{wheel.name} takes {wheel.stat().st_size} bytes, {LARGEST} or more")
    print(f"{wheel.name}: {wheel.stat().st_size / 1e3:.0f} kB, {len(names)} files", flush=True)


def copy_sources(folder: Path) -> None:
    """Copy what the tests read."""
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for name in configuration["tool"]["cibuildwheel"]["test-sources"]:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "_build", "*.so"))
        else:
            shutil.copy(ROOT / name, folder)


def main(wheel: Path, *arguments: str) -> int:
    """Check the contents, and run the tests; returns the status of pytest."""
    check_contents(wheel)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        environment, sources = Path(made, "environment"), Path(made, "sources")
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        scripts = sysconfig.get_path("scripts", "venv", {"base": str(environment)})
        python = Path(scripts, "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"{wheel.resolve()}[test]"], check=True)
        sources.mkdir()
        copy_sources(sources)
        found = [name for name in COMPILERS if shutil.which(name, path=scripts)]
        if found:
            sys.exit(f"there are compilers in {scripts}: {found}")
        command = [python, "-P", "-m", "pytest", *arguments]
        return subprocess.run(command, cwd=sources, env={**os.environ, "PATH": scripts}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
