"""A page of text about a model: its certificate, its data and its separation."""

from __future__ import annotations

import math
import textwrap
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pnorm._checks import GroupLabels, Rows, Vector
from pnorm._solvers.hessian import null_space
from pnorm._solvers.minimize import solve
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.problem import Problem
from pnorm.diagnostics._certificate import _FINE, Certificate, _certificate, _penalised
from pnorm.diagnostics._convergence import _apart
from pnorm.diagnostics._limit import Limit, _limit
from pnorm.rankers import WeakRankers


def report(
    pos: Rows,
    neg: Rows,
    H: WeakRankers,
    p: float,
    lam: ArrayLike,
    *,
    l1: float = 0.0,
    l2: float = 0.0,
    signs: ArrayLike | None = None,
    penalty: Literal["coefficients", "shapes"] = "coefficients",
    pos_weight: ArrayLike | None = None,
    neg_weight: ArrayLike | None = None,
    pos_group: GroupLabels | None = None,
    neg_group: GroupLabels | None = None,
    group_weight: Literal["pairs", "equal"] = "pairs",
    progress: bool = False,
) -> str:
    """Return a text that states whether coefficients are the minimiser, and what to do if not.

    Parameters
    ----------
    pos : array_like, shape (I, d), or sequence of I things
        The positive rows, as in `pnorm.train`.
    neg : array_like, shape (K, d), or sequence of K things
        The negative rows.
    H : None, sequence of callables, or Rankers
        The weak rankers. As in `pnorm.train`.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
    lam : array_like, shape (n,)
        Coefficients, one per weak ranker.
    l1 : float
        Weight of the penalty ``l1 |lam|_1``, zero or more. Pass the penalties and signs that `lam` was trained with.
    l2 : float
        Weight of the penalty ``l2/2 |lam|**2``, zero or at least 1e-140.
    signs : array_like, shape (n,), optional
        1 for each coefficient that must not be below zero, -1 for each that must not be above, 0 for others. They join
        those of `H` (`Rankers.signs`, from ``monotone``), and must not contradict them.
    penalty : {"coefficients", "shapes"}
        With ``"shapes"`` one `l1` and one `l2` serve columns of any number of cuts, as in `pnorm.minimize`.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. As in `pnorm.train`.
    pos_group, neg_group : sequence of labels, of length I and K, optional
        Query groups: pairs form within a group only.
    group_weight : {"pairs", "equal"}
        How much each query group counts. As in `pnorm.train`.
    progress : bool
        Show a progress bar; needs tqdm, the extra ``progress``. It counts the steps to the minimiser.

    Returns
    -------
    str
        About ten lines: the gap of `lam`, the kind of the data and its support, the infimum, whether the minimiser is
        unique and why, and advice.

    Raises
    ------
    ImportError
        If `progress` is true and tqdm is missing.

    See Also
    --------
    certificate : The bound alone.
    separability : The kind alone.
    q_limit : The limit that `lam` is compared with.

    Examples
    --------
    >>> import pnorm
    >>> pos, neg = [[0.9, 0.1], [0.7, 0.8], [0.2, 0.6]], [[0.8, 0.2], [0.1, 0.3], [0.4, 0.9]]
    >>> lam, trace = pnorm.train(pos, neg, p=4, t_max=5)
    >>> print(pnorm.diagnostics.report(pos, neg, None, 4, lam))
    problem       p = 4, 3 positives, 3 negatives, 2 weak rankers
    coefficients  log F_p = 5.303148728, at most 0.00047 above its infimum; largest edge 0.0091
    kind          overlapping: the convex hulls of the two sides overlap, so a minimiser exists
    support       3 of 3 positives and 3 of 3 negatives keep weight in the limit of training
    infimum       5.302679073, to 1e-12
    distance      log F_p is 0.00047 above its infimum; score differences are within 0.024 of those
                  of the minimiser
    uniqueness    the minimiser is unique: its scores determine every coefficient (lam)
    advice        call pnorm.minimize for the minimiser, or keep these coefficients if you stopped
                  early to regularise
    """
    of_rows = pos_weight, neg_weight, pos_group, neg_group
    problem, lam, added = _penalised(lam, pos, neg, H, p, l1, l2, signs, penalty, *of_rows, group_weight=group_weight)
    here = _certificate(problem, lam, added)
    counts = [(problem.n_pos, "positive"), (problem.n_neg, "negative"), (problem.n_rankers, "weak ranker")]
    if problem.objective.groups:
        counts.append((problem.objective.groups.n, "group"))
    about = [f"p = {p:g}", *(_count(*each) for each in counts)]
    if n_signs := int(np.count_nonzero(added.signs)):
        about.append(f"{_count(n_signs, 'coefficient')} with a sign")
    lines = {"problem": ", ".join(about)}
    bound = f"no certificate: {here.message}"
    if here.gap < math.inf:
        bound = f"at most {max(here.gap, _FINE):.2g} above its infimum"
    terms = ["log F_p"]
    if l1 > 0.0:
        terms.append(f"{l1:g} |lam|_1")
    if l2 > 0.0:
        terms.append(f"{l2 / 2:g} |lam|^2")
    units = " (penalty of shapes)" if penalty == "shapes" and len(terms) > 1 else ""
    lines["coefficients"] = f"{' + '.join(terms)}{units} = {here.objective:.10g}, {bound}"
    if added.ridge == 0.0:
        lines["coefficients"] += f"; largest edge {here.gradient_norm:.2g}"
    tell = _about_penalised if len(terms) > 1 else _about_data
    return _page(lines | tell(problem, lam, here, added, progress))


def _about_penalised(
    problem: Problem, lam: Vector, here: Certificate, added: Penalty, progress: bool
) -> dict[str, str]:
    best, trace, _ = solve(problem, added, progress=progress)
    if trace.status == "separable":
        return {
            "kind": "separable: some combination of the weak rankers puts every positive above every negative",
            "infimum": "none: l1 is too small; along this combination log F_p falls faster than the penalty rises",
            "distance": _right_or_not(problem, lam),
            "advice": "pass l2 > 0, or a larger l1",
        }
    if added.is_bounded:
        unique = "with a penalty l2 > 0 the minimiser always exists and is unique"
    else:
        unique = "score differences are unique, unless some combination of the weak rankers equals the label; "
        unique += "so are the coefficients (lam), unless weak rankers are linearly dependent"
    done = here.gap <= max(_CLOSE, 2.0 * trace.gap)
    return {
        "infimum": f"{trace.objective[-1]:.10g}, to {max(trace.gap, _FINE):.2g}",
        "distance": f"score differences are within {_apart(problem, lam - best):.2g} of those of the minimiser",
        "uniqueness": unique,
        "advice": "none needed: this is the minimiser"
        if done
        else "call pnorm.minimize with the same penalty for the minimiser",
    }


def _about_data(problem: Problem, lam: Vector, here: Certificate, within: Penalty, progress: bool) -> dict[str, str]:
    limit, any_signs = _limit(problem, within, progress), not within.is_smooth
    of_hulls, meaning, advice = _KINDS[limit.kind]
    lines = {"kind": f"{limit.kind} within the signs: {meaning}" if any_signs else f"{limit.kind}: {of_hulls}{meaning}"}
    if limit.kind in ("overlapping", "quasi-separable"):
        n_pos, n_neg = int(limit.support_pos.sum()), int(limit.support_neg.sum())
        lines["support"] = (
            f"{n_pos} of {_count(problem.n_pos, 'positive')} and {n_neg} of {_count(problem.n_neg, 'negative')} "
            "keep weight in the limit of training"
        )
        lines["infimum"] = f"{limit.log_objective:.10g}, to {max(limit.gap, _FINE):.2g}"
        lines["distance"] = f"log F_p is {_above(here.log_objective, limit)} its infimum"
    if limit.kind == "quasi-separable":
        f = problem.scores(lam)
        apart = limit.distance(problem.spread(f.pos, 0, 0.0), problem.spread(f.neg, 1, 0.0))
        apart = max(apart, math.sqrt(_FINE))
        lines["distance"] += f"; q' = exp(-score difference) is within {apart:.2g} of its limit (relative, all pairs)"
    if limit.kind == "overlapping" and limit.lam is not None:
        apart = _apart(problem, lam - limit.lam)
        lines["distance"] += f"; score differences are within {apart:.2g} of those of the minimiser"
        if here.gap > max(_CLOSE, 2.0 * limit.gap):
            advice = "call pnorm.minimize for the minimiser, or keep these coefficients if you stopped early to "
            advice += "regularise"
    if limit.kind == "separable":
        lines["distance"] = _right_or_not(problem, lam)
        if _separates(problem, lam):
            advice = "to choose among such coefficients pass l2 > 0, stop early, or use held-out rows; pnorm.minimize "
            advice += "returns those of the widest margin"
    if limit.lam_unique:
        lines["uniqueness"] = "the minimiser is unique: its scores determine every coefficient (lam)"
    elif limit.kind != "separable":
        why = ["some of them go to infinity"] if limit.kind == "quasi-separable" else []
        if missing := null_space(problem).size:
            why.append(f"no score difference depends on {_count(missing, 'combination')} of the weak rankers")
        unique = "score differences are unique" if limit.kind == "overlapping" else "the limit of q' is unique"
        are_not = "may not be" if any_signs and limit.kind != "quasi-separable" else "are not"
        because = ", and ".join(why or ["the kind of the data is undecided"])
        lines["uniqueness"] = f"{unique}, the coefficients (lam) {are_not}: {because}"
    return lines | {"advice": advice}


def _above(log_objective: float, limit: Limit) -> str:
    excess, resolved = log_objective - limit.log_objective, max(limit.gap, _FINE)
    if resolved == math.inf:
        return "an unknown amount above"
    return f"{excess:.2g} above" if excess > resolved else f"less than {2.0 * resolved:.2g} above"


def _right_or_not(problem: Problem, lam: Vector) -> str:
    right = "put every" if _separates(problem, lam) else "do not put every"
    return f"these coefficients {right} positive above every negative"


def _separates(problem: Problem, lam: Vector) -> bool:
    return problem.margin(problem.scores(lam)) > 0.0


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"


_CLOSE = 1e-6
"""A gap in nats below which `report` calls coefficients the minimiser."""

_KINDS = {
    "overlapping": (
        "the convex hulls of the two sides overlap, so ",
        "a minimiser exists",
        "none needed: this is the minimiser",
    ),
    "quasi-separable": (
        "the convex hulls of the two sides touch, so ",
        "some coefficients (lam) go to infinity",
        "pass l2 > 0 for a finite minimiser, or stop early, or score with trace.lam_along() of pnorm.minimize",
    ),
    "separable": (
        "",
        "some combination of the weak rankers puts every positive above every negative, and the infimum of F_p is 0",
        "call pnorm.minimize for such coefficients; to choose among them pass l2 > 0, stop early, or use held-out rows",
    ),
    "undecided": (
        "",
        "the linear program and an exact comparison of scores disagree",
        "pass l2 > 0, or look for columns that are nearly linearly dependent",
    ),
}
"""For each kind: the position of the hulls (left out if coefficients have signs), the consequence, and advice."""


def _page(lines: dict[str, str]) -> str:
    """Return a text with one entry per line, wrapped under its heading."""
    wide = max(map(len, lines)) + 2
    wrap = textwrap.TextWrapper(width=96, subsequent_indent=" " * wide, break_on_hyphens=False)
    return "\n".join(wrap.fill(f"{heading:{wide}}{text}") for heading, text in lines.items())
