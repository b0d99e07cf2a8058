"""Coordinate descent: Figure 1 of both papers on its factored form.

There are two loops. The loop in `_rounds` follows Figure 1 line by line. It does every kind of round, for every
objective and storage, and it contains all messages. Before each of its rounds it calls compiled code
(`DescentState.run`) for the next rounds. The compiled code does ordinary rounds, many at a time and with the same bits,
and stops at the first round that is not ordinary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import islice
from operator import length_hint

import numpy as np

from pnorm._checks.text import shown
from pnorm._recorders import RoundRecorder, attach_trace
from pnorm._solvers.descent_state import OVERFLOW, DescentState
from pnorm._trace import Trace
from pnorm.objectives._base import Objective


def descend(
    state: DescentState,
    rounds: Iterable[int],
    selection: str,
    tol: float,
    callback: Callable[[Trace], bool | None] | None,
) -> Trace:
    """Run Figure 1 and return its record; the coefficients change in place."""
    problem = state.problem
    traits = problem.objective.traits
    record = RoundRecorder(
        state.lam.copy(), state.log_f, state.intercept, traits.symbol, problem.names, told=traits.told
    )
    with attach_trace(record.trace):
        return record.trace(*_rounds(state, rounds, selection, tol, callback, record))


def _rounds(
    state: DescentState,
    rounds: Iterable[int],
    selection: str,
    tol: float,
    callback: Callable[[Trace], bool | None] | None,
    record: RoundRecorder,
) -> tuple[str, str]:
    """Run Figure 1 step by step; return the status and the message of its end."""
    problem, lam = state.problem, state.lam
    objective, names = problem.objective, problem.names
    status, message = "t_max", ""
    total, rounds = length_hint(rounds), iter(rounds)
    least = problem.least_edges(tol)

    for _ in rounds:
        if done := state.run(1 if callback else total - record.n_iter, selection, least, record):
            for _ in islice(rounds, done - 1):
                pass
            if record.stopped_by(callback):
                status, message = _stopped(record)
                break
            continue

        # (a) the weak ranker with the largest edge; of those that tie, the first
        edges = state.edges()
        edges[np.abs(edges) <= least] = 0.0
        merit = np.abs(edges) if selection == "absolute" else edges.copy()
        if (stays := state.stays(edges)) is not None:
            merit[stays] = -math.inf
        lost = ""
        while (best := float(merit.max())) > 0.0 or (selection == "largest" and -math.inf < best < 0.0):
            tied = (merit >= best - problem.tie_tolerance(merit)) & (math.copysign(1.0, best) * merit > 0.0)
            j = int(np.argmax(tied))
            edge = float(edges[j])
            sign = math.copysign(1.0, edge)

            # (b) the step that solves equation (1); a ranker that separates has none
            gap = -math.inf if objective.traits.margin is None else state.gap(j, sign)
            margin = objective.traits.margin or 0.0
            step = sign * (margin + max(0.0, -state.margin())) / gap if gap > 0.0 else state.step(j, sign)
            if state.crosses_zero(j, step):
                step, gap = -lam[j], -math.inf
            if lam[j] + step != lam[j] and objective.traits.p * abs(step) * problem.max_abs_centered[j] < OVERFLOW:
                break
            lost = _lost(objective, step, edge, shown(names[j]))
            merit[j] = -math.inf
        else:
            status = "stalled" if lost else "stationary"
            free = edges if stays is None else np.where(stays, 0.0, edges)
            kept = " in the direction that its sign allows" if (edges != free).any() else ""
            why = " along which a step lowers the objective" if lost else kept
            message = f"no weak ranker has an edge above tol = {tol:g} times its range{why}{lost}"
            if selection != "absolute" and free.min() < 0.0:
                j = int(np.argmin(free))
                message += (
                    f"; {shown(names[j])} has an edge of {free[j]:.3g}, so this need not be a minimum. "
                    "Pass selection='absolute', which also lowers coefficients (lam)"
                )
            if not objective.traits.is_convex:
                message += "; R need not be convex with this price, so this is a stationary point, maybe not a minimum"
            break

        # (c) the coefficient
        lam[j] += step

        # (d), (e) d is represented by the weights of the rows; its normaliser is a ratio of sums of q over all pairs
        previous = state.log_mass
        state.move(j, step)
        record.add(j, step, edge, _exp(state.log_mass - previous), state.log_f, state.intercept)

        stop = record.stopped_by(callback)
        if gap > 0.0:
            status = "separable"
            message = f"{shown(names[j])} alone puts every positive above every negative: {_what_of_minimum(objective)}"
            break
        if stop:
            status, message = _stopped(record)
            break

    if status == "t_max":
        message = f"all {record.n_iter} rounds were run"
        if objective.traits.margin is not None and not objective.traits.attains_zero and state.separates():
            message += "; the scores put every positive above every negative, so no minimiser exists"
    return status, message


def _stopped(record: RoundRecorder) -> tuple[str, str]:
    """Return the status and the message of a run that its callback ends."""
    return "callback", f"the callback stopped the run after round {record.n_iter}"


_REMEDY = ". Pass smoothing=0.1 to round it off"


def _lost(objective: Objective, step: float, edge: float, name: str) -> str:
    """Return the reason why a step along the ranker with the largest edge does not lower the objective."""
    corner = objective.traits.nonsmooth
    if corner is not None and step == 0.0:
        return (
            f"; {name}, of edge {edge:.3g}, does not lower the objective, which has a corner here, from "
            f"{corner}{_REMEDY if corner.smoothable else ''}"
        )
    return f"; the step {step:.3g} along {name}, of edge {edge:.3g}, is lost in floating point"


def _what_of_minimum(objective: Objective) -> str:
    return "all losses are at their minimum" if objective.traits.attains_zero else "no minimiser exists"


def _exp(x: float) -> float:
    """Return e^x, infinite on overflow: z may be huge, since with a large p a step may raise q of most pairs."""
    return math.inf if x >= 709.0 else math.exp(x)
