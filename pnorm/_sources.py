"""The folder of sources, which Python may take for the package: in the root of a clone, it comes first."""

from __future__ import annotations

import sys
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder
from pathlib import Path


def installed_beside(folder: str) -> list[str]:
    """Return the path of the pnorm that is installed, to be used in the place of a folder that is not compiled."""
    here = Path(folder).resolve()
    for entry in sys.path:
        # As Python does, skip entries that are not text.
        found = PathFinder.find_spec("pnorm", [entry]) if isinstance(entry, str) else None
        if found is None or found.origin is None or found.submodule_search_locations is None:
            continue
        there = Path(found.origin).parent
        if there.resolve() != here and _is_compiled(there):
            break
    else:
        raise ImportError(f"pnorm is not compiled in {folder!r}, and not installed. Run `pip install .` there.")
    if _lines(there) != _lines(here):
        raise ImportError(
            f"pnorm is not compiled in {folder!r}, and what is installed in {str(there)!r} is "
            "another version. Run `pip install .` again."
        )
    for name in list(sys.modules):
        if name.startswith(("pnorm._core", "pnorm._sources", "pnorm._version")):
            sys.modules.pop(name, None)  # other threads may import as well
    return list(found.submodule_search_locations)


def _is_compiled(folder: Path) -> bool:
    """Whether a folder has the compiled core for this Python, unlike that of another clone."""
    return any((folder / "_core" / f"_tilt{suffix}").is_file() for suffix in EXTENSION_SUFFIXES)


def _lines(folder: Path) -> list[bytes]:
    """Return the first file of the package, whatever ends its lines."""
    return (folder / "__init__.py").read_bytes().splitlines()
