"""The coefficients that a run starts from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._checks.text import first
from pnorm._trace import Trace
from pnorm.rankers import Rankers, Signs


class Loaded(Protocol):
    """Weak rankers with their coefficients, such as a model that `pnorm.load` returns."""

    @property
    def H(self) -> Rankers: ...

    @property
    def lam(self) -> Vector: ...


Start: TypeAlias = Trace | Loaded | Mapping[str, float] | ArrayLike
"""Coefficients to start from: those of a trace or a model, or by the names of weak rankers, or an array."""


def start_of(init: Any, rankers: Rankers, signs: Signs | None = None) -> Vector:
    """Return coefficients to start from; those of a trace, a model or a mapping are matched by the names of rankers.

    Coefficients with the wrong sign are refused.
    """
    lam = _start_of(init, rankers)
    if init is None or signs is None:
        return lam
    wrong = np.flatnonzero(lam * signs < 0.0)
    if wrong.size:
        j = int(wrong[0])
        raise ValueError(
            f"init has the coefficient {lam[j]:g} of {_checks.shown(rankers.names[j])}, whose sign must be "
            f"{'1, zero or more' if lam[j] < 0.0 else '-1, zero or less'}"
        )
    return lam


def _start_of(init: Any, rankers: Rankers) -> Vector:
    if init is None:
        return np.zeros(len(rankers))
    if isinstance(init, Trace):
        return _by_name(init.lam_at(init.n_iter), init.names, rankers.names)
    if isinstance(init, Mapping):
        of_names = _checks.coefficients(init, "init")
        return _by_name(np.array(list(of_names.values())), tuple(of_names), rankers.names)
    if isinstance(getattr(init, "H", None), Rankers):  # a model of `load`
        _refuse_others(np.array(init.lam), init.H, rankers)
        return _by_name(np.array(init.lam), init.H.names, rankers.names)
    return _checks.vector(init, "init", len(rankers), "one coefficient per weak ranker")


def _refuse_others(lam: Vector, own: Rankers, rankers: Rankers) -> None:
    """Refuse coefficients of a weak ranker if H has a different weak ranker of that name."""
    if own == rankers:
        return
    used = set(np.flatnonzero(lam).tolist())
    here: dict[str, set[str]] = {}
    for name, meaning in zip(rankers.names, rankers._meanings(), strict=True):
        here.setdefault(name, set()).add(meaning)
    others = [
        (name, meaning)
        for j, (name, meaning) in enumerate(zip(own.names, own._meanings(), strict=True))
        if j in used and meaning not in here.get(name, {meaning})
    ]
    if others:
        name, meaning = others[0]
        raise ValueError(
            f"init has coefficients of {len(others)} weak rankers that differ in H: {_checks.shown(name)} is "
            f"{meaning} in init and {min(here[name])} in H. Pass the H of init, whose coefficients fit it, "
            f"or {_AS_AN_ARRAY}"
        )


def _by_name(lam: Vector, own: tuple[str, ...], names: tuple[str, ...]) -> Vector:
    """Move coefficients from weak rankers of some names to those of the same names among others."""
    if own == names:
        return lam
    if len(own) != lam.size:
        raise ValueError(f"init has no names of its weak rankers; {_AS_AN_ARRAY}")
    count, of_own = Counter(names), Counter(own)
    used = np.flatnonzero(lam)
    missing = [own[j] for j in used if not count[own[j]]]
    if missing:
        new = [name for name in names if not of_own[name]]
        raise ValueError(
            f"init has coefficients of {len(missing)} weak ranker{'s' * (len(missing) > 1)} not in H: "
            f"{first(missing, 4, _checks.shown)}"
            + (f"; H has others: {first(new, 4, _checks.shown)}" if new else "")
            + f". Cuts and levels that are computed again have new names. Pass the H of the earlier run, or "
            f"{_AS_AN_ARRAY}"
        )
    twice = [own[j] for j in used if count[own[j]] > 1 or of_own[own[j]] > 1]
    if twice:
        raise ValueError(
            f"several weak rankers are called {_checks.shown(twice[0])}, so init cannot be matched by name. Give each "
            f"its own name, or {_AS_AN_ARRAY}"
        )
    place = {name: j for j, name in enumerate(names)}
    out = np.zeros(len(names))
    out[[place[own[j]] for j in used]] = lam[used]
    return out


_AS_AN_ARRAY = "pass the coefficients as an array, if they are in the order of H"
