"""The folder of sources, which Python may take for the package: in the root of a clone, it comes first."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from pathlib import Path


def installed_beside(folder: str) -> list[str]:
    """Return the path of the pnorm that is installed, to be used in the place of a folder that is not compiled."""
    here = Path(folder).resolve()
    others = [entry for entry in sys.path if Path(entry).resolve() != here.parent]
    found = PathFinder.find_spec("pnorm", others)
    if found is None or found.origin is None or found.submodule_search_locations is None:
        raise ImportError(f"pnorm is not compiled in {folder!r}, and not installed. Run `pip install .` there.")
    if Path(found.origin).read_bytes() != (here / "__init__.py").read_bytes():
        raise ImportError(
            f"pnorm is not compiled in {folder!r}, and what is installed in {str(Path(found.origin).parent)!r} is "
            "another version. Run `pip install .` again."
        )
    for name in [name for name in sys.modules if name.startswith("pnorm.")]:
        del sys.modules[name]
    return list(found.submodule_search_locations)
