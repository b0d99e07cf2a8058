"""Earlier names of modules, which pickles of earlier versions contain."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_MOVED = {
    "pnorm._choice": "pnorm._cross_validation",
    "pnorm._gram": "pnorm.kernel._kernels",
    "pnorm._levels": "pnorm.metrics._ranked_list",
    "pnorm._losses": "pnorm.objectives._losses",
    "pnorm._path": "pnorm._minimize_path",
    "pnorm._prices": "pnorm.objectives._prices",
}


class _Moved(ModuleType):
    """A module under its earlier name; the current module is imported on first access."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(_MOVED[self.__name__]), name)


def let_load() -> None:
    """Register the earlier names of modules, so that old pickles can be loaded."""
    for earlier in _MOVED:
        sys.modules[earlier] = _Moved(earlier)
