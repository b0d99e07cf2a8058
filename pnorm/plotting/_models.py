"""Coefficients and weak rankers of a model."""

from __future__ import annotations

from typing import Any

from pnorm._trace import Trace


def of_model(lam: Any, H: Any) -> tuple[Any, Any]:
    """Return coefficients and weak rankers, of a model if one was passed in the place of both."""
    if H is None and not isinstance(lam, Trace):
        for names in (("lam", "H"), ("lam_", "rankers_")):
            if all(hasattr(lam, name) for name in names):
                return getattr(lam, names[0]), getattr(lam, names[1])
    return lam, H
