"""The record of a minimisation, and what a solver returns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pnorm._checks import Vector
from pnorm._recorders import History, Iterate
from pnorm._solvers.forming import Point
from pnorm._solvers.hulls import Separation
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.problem import Problem
from pnorm._trace import Trace
from pnorm.objectives._base import Objective


class Progress(History):
    """Record of one minimisation, with the objective, its penalty, the tolerance, and the limit of the steps."""

    def __init__(
        self,
        problem: Problem,
        penalty: Penalty,
        tol: float,
        limit: int,
        callback: Callable[[Trace], bool | None] | None,
        bar: Iterator[int],
    ) -> None:
        told = ", ".join([part for part in (problem.objective.traits.told, penalty.told) if part])
        super().__init__(problem.objective.traits.symbol, problem.names, told)
        self.objective, self.penalty, self.tol, self.limit = problem.objective, penalty, tol, limit
        self._callback, self._bar = callback, bar
        self._problem = problem

    def on(self, problem: Problem) -> Progress:
        """Return an empty record for another problem, with the same tolerance, limit, callback and progress bar."""
        return Progress(problem, self.penalty, self.tol, self.limit, self._callback, self._bar)

    @property
    def name(self) -> str:
        """Name of the minimised function."""
        form = self.objective.traits.convex_form
        return form if self.penalty.ridge == 0.0 else f"{form} with its penalty"

    @property
    def quantity(self) -> str:
        """Symbol of the objective without its logarithm."""
        return self.objective.traits.symbol.removeprefix("log ")

    @property
    def exhausted(self) -> bool:
        """Whether all steps have been taken."""
        return self.n_iter >= self.limit

    def value(self, point: Point) -> float:
        """Return the convex form of the objective at a point, with the penalty."""
        return self.value_with(self.penalty, point)

    def value_with(self, penalty: Penalty, point: Point) -> float:
        """Return the value at a point with another penalty."""
        return self.objective.convex(point.log_f)[0] + penalty.value(point.lam)

    def proved(self, gap: float, rounding: float) -> bool:
        """Return whether a gap is within the tolerance, or within twice the rounding that is part of it."""
        return gap <= max(self.tol, 2.0 * rounding)

    def within(self, gap: float) -> str:
        """Return a sentence that states the gap."""
        said = f"{self.name} is within {gap:.2g} of its infimum"
        return said if gap <= self.tol else f"{said}, and rounding hides whether it is within tol={self.tol:.2g}"

    def arrive(self, point: Point, gap: float = math.nan, slope: Vector | None = None) -> None:
        """Replace the last point of the record by this point, or add details to it."""
        self.replace(self._iterate(point, gap, slope))

    def jump(self, edges: Vector, after: Point, gap: float = math.nan) -> None:
        """Record a move that is not a step of a solver; the callback is not called."""
        self.add(edges, math.nan, self._iterate(after, gap))

    def return_to_best(self, problem: Problem) -> str:
        """Go back to the best point visited if it is better than the last by more than rounding; return a sentence.

        Steps on the way to a minimiser need not lower the objective.
        """
        trace, last = self.trace("", ""), self.last
        values = np.where(np.isnan(trace.objective), math.inf, trace.objective)
        k = int(values.argmin())
        lam = trace.lam_at(k)
        rounding = self.objective.rounding(last.log_f, problem.n_pos, problem.n_neg)
        rounding += problem.objective.convex(last.log_f)[1] * problem.rounding_of_scores(lam)
        if not values[k] < last.value - 2.0 * rounding - 8.0 * np.finfo(float).eps * self.penalty.value(lam):
            return ""
        gap = float(trace.gaps[k])
        self.jump(problem.edges_at(problem.point(last.lam)), problem.point(lam), math.inf if math.isnan(gap) else gap)
        proof = "has no certificate" if not gap < math.inf else f"is within {gap:.2g} of the infimum"
        return f"; the result is the best point visited, after step {k}, which {proof}"

    def step(self, edges: Vector, share: float, after: Point) -> bool:
        """Record a step from a point with these edges, and return whether the callback stops the run."""
        self.add(edges, share, self._iterate(after))
        next(self._bar, None)
        return self.stopped_by(self._callback)

    def _iterate(self, point: Point, gap: float = math.nan, slope: Vector | None = None) -> Iterate:
        with np.errstate(over="ignore"):
            norm = math.nan if slope is None else float(np.linalg.norm(slope))
        intercept = self._problem.users_intercept(point.intercept)
        return Iterate(point.lam, point.log_f, point.log_mass, self.value(point), intercept, gap, norm)


@dataclass(frozen=True, eq=False)
class Outcome:
    """The end of a run of a solver. The coefficients are the last of the record."""

    status: str
    """A status of `Trace`, or "quasi-separable"."""
    message: str = ""
    """The status as a sentence; empty if there is no minimiser."""
    separation: Separation | None = None
    """The result of the linear program, if the solver has called it."""
    examined: str | None = None
    """Its kind, if the solver has called it and does not return it."""

    @property
    def kind(self) -> str | None:
        """The kind of the data, as in `Separation`; None if it was not examined."""
        if self.status in ("separable", "quasi-separable"):
            return self.status
        return self.examined if self.separation is None else self.separation.kind


def without_minimiser(problem: Problem, progress: Progress, edges: Vector, separation: Separation) -> Outcome:
    """Return the outcome if the linear program has found a direction; if it separates all pairs, move along it."""
    if separation.kind == "separable" and separation.direction is not None:
        progress.jump(edges, problem.point(separation.direction))
    return Outcome(separation.kind, separation=separation)


class Run(Protocol):
    """A function that minimises from given coefficients; `may_ask` allows one call of the linear program."""

    def __call__(
        self, problem: Problem, start: Vector, penalty: Penalty, progress: Progress, may_ask: bool = True
    ) -> Outcome: ...


@dataclass(frozen=True)
class Solver:
    """A method and its requirements."""

    run: Run
    supports: Callable[[Objective], bool]
    """Whether the method works for an objective."""
    steps: int
    """Steps that cost about as much as one Newton step."""
