"""A number that is a bound, with what it depends on."""

from __future__ import annotations


class Bound(float):
    """A bound: a float with the attribute `vacuous`. A vacuous one prints as ``1.2 (vacuous)``.

    Examples
    --------
    >>> from pnorm import bounds
    >>> found = bounds.push_epsilon(0.05, 0.1, 4, 10_000, 10_000, log_covering=0.0)
    >>> found, found.vacuous, found < 1
    (1.3655 (vacuous), True, False)
    """

    vacuous: bool
    """True if the bound holds trivially, such as a probability of at least 0."""

    def __new__(cls, value: float, vacuous: bool) -> Bound:
        """Make a float with the attribute `vacuous`."""
        made = super().__new__(cls, value)
        made.vacuous = bool(vacuous)
        return made

    def __reduce__(self) -> tuple[type[Bound], tuple[float, bool]]:
        return Bound, (float(self), self.vacuous)

    def __repr__(self) -> str:
        return f"{float(self):.6g}" + (" (vacuous)" if self.vacuous else "")
