"""The sources of the package: their folder, which Python may take for the package, and the names that they define.

In the root of a clone, the folder comes first.
"""

from __future__ import annotations

import re
import sys
from ast import literal_eval
from collections.abc import Collection
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder
from importlib.util import find_spec
from pathlib import Path

_ALL = re.compile(r"^__all__ = (\[[^\]]*\])", re.MULTILINE)

_LIKE = 0.8
"""Least similarity of a name to another one, where 1 is equality."""


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


def hint(name: str, own: Collection[str], modules: Collection[str]) -> str:
    """Return what to add to the message about a name that is not in `pnorm`; empty if no name is like it.

    `own` are the names of `pnorm`, and `modules` its public modules. These are read and not imported, because some need
    packages that may be missing.
    """
    from difflib import get_close_matches

    places = {each: [f"pnorm.{each}"] for each in own}
    for module in sorted(modules):
        for each in _public(f"pnorm.{module}"):
            if each not in own:
                places.setdefault(each, []).append(f"pnorm.{module}.{each}")
    if name in places:
        return f"; it is {' or '.join(places[name])}"
    spelled = {each.casefold(): each for each in reversed(places)}  # own names take the place of others
    like = get_close_matches(name.casefold(), spelled, 1, _LIKE)
    return f"; the nearest name is {' or '.join(places[spelled[like[0]]])}" if like else ""


def _public(module: str) -> list[str]:
    """Return `__all__` of a module from its source; nothing if there is no source to read."""
    try:
        spec = find_spec(module)
        source = None if spec is None else spec.loader.get_source(module)  # type: ignore[union-attr]
    except (AttributeError, ImportError, OSError):
        return []
    found = _ALL.search(source or "")
    return [] if found is None else list(literal_eval(found[1]))
