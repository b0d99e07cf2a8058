"""Names of modules in pickles of earlier versions, which had all modules in one folder."""

from __future__ import annotations

import sys
from importlib import import_module

_MOVED = {
    "pnorm._choice": "pnorm._cross_validation",
    "pnorm._gram": "pnorm.kernel._kernels",
    "pnorm._levels": "pnorm.metrics._ranked_list",
    "pnorm._losses": "pnorm.objectives._losses",
    "pnorm._path": "pnorm._minimize_path",
    "pnorm._prices": "pnorm.objectives._prices",
}


def let_load() -> None:
    """Let pickles load that name a class by a module that has moved."""
    for earlier, module in _MOVED.items():
        sys.modules[earlier] = import_module(module)
