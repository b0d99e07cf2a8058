"""Module names in pickles, which do not depend on the layout of the package.

A pickle names a class by its module. Public classes name the public module, wherever they are defined;
module names in pickles of earlier versions lead to the modules that have their classes now. The cost, as for
classes of NumPy, is that `inspect.getsource` and `typing.get_type_hints` do not find what such a class refers to.
"""

from __future__ import annotations

import sys

_FACES = ("pnorm", "pnorm.kernel", "pnorm.metrics", "pnorm.objectives", "pnorm.rankers")
"""Public modules that have classes of private modules."""

_EARLIER = {
    "pnorm._choice": "pnorm",
    "pnorm._gram": "pnorm.kernel._kernels",
    "pnorm._levels": "pnorm.metrics",
    "pnorm._losses": "pnorm.objectives",
    "pnorm._path": "pnorm",
    "pnorm._prices": "pnorm.objectives",
}
"""Modules that are named in pickles of earlier versions, and the modules that have their classes now."""


def settle() -> None:
    """Name public classes by their public module, and let pickles of earlier versions load."""
    for module in _FACES:
        face = sys.modules[module]
        for name in face.__all__:
            value = getattr(face, name)
            if isinstance(value, type):
                value.__module__ = module
    for old, new in _EARLIER.items():
        sys.modules[old] = sys.modules[new]
