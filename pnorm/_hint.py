"""Hints on names that `pnorm` does not have."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Collection
from importlib.util import find_spec

_ALL = re.compile(r"^__all__ = (\[[^\]]*\])", re.MULTILINE)

_LIKE = 0.8
"""Least similarity of a name to another one, where 1 is equality."""


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
