"""Records of runs, and the recorders that collect them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import DataFrame, Vector
from pnorm._checks.text import counted

_WIDTH = 80
"""Width of the printed summary."""


class SeparationWarning(UserWarning):
    """Probabilities of a fit to separable or quasi-separable training rows, which have no finite minimiser.

    `pnorm.probability` warns if its intercept is that of the trace of such a fit. A penalty `l2` gives a minimiser.
    ``predict_proba`` of an estimator also warns on separable rows with a given penalty, which then determines how far
    probabilities are from 0 and 1. If the penalty was chosen, held-out rows determine it.

    Examples
    --------
    >>> import warnings
    >>> import pnorm
    >>> lam, trace = pnorm.minimize([[1.0], [2.0]], [[0.0], [0.5]], p=4)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     P = pnorm.probability([[1.5]], None, lam, 4, trace.intercept)
    >>> caught[0].category.__name__, trace.separation
    ('SeparationWarning', 'separable')
    """


RANK_BY = "; rank rows by "
"""The beginning of the advice in the message of a run without a minimiser."""


class NoSignalWarning(UserWarning):
    """The cross-validation of a fit does not show that its scores rank better than a random order.

    ``PNormPush().fit`` gives it if it chooses parameters by cross-validation. ``model.out_of_fold_`` contains the
    numbers. Do not use such a list or its probabilities.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from pnorm.sklearn import PNormPush
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = PNormPush().fit(X, y)
    >>> caught[0].category.__name__, model.out_of_fold_.beats_chance
    ('NoSignalWarning', False)
    """


class Intercept(float):
    """An intercept with the kind of the data that it was computed on, None if that is not known."""

    separation: str | None

    def __new__(cls, value: float, separation: str | None = None) -> Intercept:
        self = super().__new__(cls, value)
        self.separation = separation
        return self


@dataclass(frozen=True, eq=False)
class Points:
    """Points that may share most of their coordinates with the first one."""

    first: Vector
    moved: Sequence[tuple[NDArray[np.intp], Vector]]
    """For each point, places and values of some coordinates; the others are those of the first point."""

    def at(self, t: int) -> Vector:
        """Return point t as a new array."""
        point = self.first.copy()
        where, values = self.moved[t]
        point[where] = values
        return point


@dataclass(frozen=True, repr=False, eq=False)
class Trace:
    """The record of a run: one entry per round, and the reason why the run ended.

    ``print(trace)`` prints a summary, and `to_frame` returns the rounds as a data frame.

    Attributes
    ----------
    ranker : ndarray of int, shape (T,)
        j_t, the index of the weak ranker that round t chose.
    step : ndarray, shape (T,)
        alpha_t, the step that was added to its coefficient.
    edge : ndarray, shape (T,)
        Its normalised edge before the step, <u, h_j> on the positives minus <w, h_j> on the negatives. This is the rate
        at which log F_p / p falls along the weak ranker, in units of h. For another price or loss, u and w are A and B
        of `pnorm.objectives.value_and_weights`, divided by the sum of the absolute A.
    z : ndarray, shape (T,)
        z_t = sum over pairs of d_t exp(-alpha_t M), the normaliser of Figure 1 (d); nan for objectives other than F_p.
    log_objective : ndarray, shape (T + 1,)
        log F_p in nats, or log R for another price or loss, before the first round and after each one. With
        ``push="bottom"`` it is that of the reverse push, in which positives pay.
    status : str
        - ``"t_max"``: all rounds were run.
        - ``"stationary"``: no edge is above `tol` times the range of its weak ranker. With ``selection="absolute"`` the
          gradient is then zero to that tolerance. With other rules, the decrease of a coefficient may still lower the
          objective, and `message` names one.
        - ``"separable"``: no minimiser exists, and `separation` names the kind of the data (see Notes). `train` ends so
          only if a single weak ranker puts all positives above all negatives.
        - ``"converged"``: `minimize` has proved that the objective is within `tol` of its infimum, or as close as
          rounding allows; `gap` is the proved bound.
        - ``"max_iter"``: all Newton steps were used before that.
        - ``"callback"``: the callback stopped the run.
        - ``"stalled"``: rounding hides further progress, or `train` is at a corner of the hinge.
        - ``"running"``: the run is not over, as in a callback.
        - ``"interrupted"``: an error or Ctrl-C ended the run; the trace is the attribute `trace` of the exception.
    message : str
        The reason for the status, as a sentence.
    init : ndarray, shape (n,)
        Coefficients before the first round.
    names : tuple of str, length n
        Names of the weak rankers. A run that starts from this trace (`init`) matches coefficients by name.
    direction : ndarray, shape (n,), or None
        From `minimize` on data that are not overlapping: a vector of coefficients. F_p approaches its infimum as
        growing multiples of it are added to `lam`. `separation` is the kind of the data, and `lam_along` adds it.
    direction_step : float or None
        From `minimize` on quasi-separable data: the least s, zero or more, from which ``lam + s * direction`` puts
        every positive at least 1 above every negative of its group, except the pairs that the direction ties. None
        otherwise, and if rounding hides it.
    gradient_norm : float
        From `minimize`: Euclidean norm of the gradient of `objective` at the end; nan from `train`.
    path : ndarray, shape (T + 1, n), or None
        From `minimize`: the coefficients at each point. A Newton step changes all of them, so `ranker` is the weak
        ranker with the largest absolute edge, `edge` is that edge, and `step` the share of the Newton step that was
        taken (nan for other kinds of steps). The array is computed on first access. `lam_at` returns one of its rows.

    Notes
    -----
    The status ``"separable"`` of `minimize` covers two kinds of data. Without a penalty:

    ===============  =====================  ======================================  ============================
    `status`         `separation`           what it means                           what to do
    ===============  =====================  ======================================  ============================
    ``"converged"``  None or                A minimiser exists. `lam` is within     Use `lam`.
                     ``"overlapping"``      `gap` of the minimum.
    ``"converged"``  ``"undecided"``        `lam` is within `gap` of the infimum.   Score with `lam`. To
                                            The data overlap or touch so closely    interpret coefficients,
                                            that rounding hides whether a           pass ``l2 > 0``.
                                            minimiser exists.
    ``"separable"``  ``"quasi-separable"``  No minimiser. Some coefficients rank    Score with `lam_along`, or
                                            no positive below a negative, and some  pass ``l2 > 0``.
                                            positives above. `lam` minimises over
                                            the other rows, the support.
    ``"separable"``  ``"separable"``        No minimiser. Some coefficients rank    Check whether a column
                                            every positive above every negative.    contains the label. Use
                                            `lam` has the widest margin.            `lam`, or pass ``l2 > 0``.
    any other        ``"undecided"``        Rounding hides the kind of the data.    Pass ``l2 > 0``.
    ===============  =====================  ======================================  ============================

    With ``l2 > 0`` a minimiser exists for all data, and `separation` is None.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> lam, trace = pnorm.train(data.pos, data.neg, p=4, t_max=50)
    >>> trace
    <Trace: t_max after 50 rounds, log F_p 31.5625 -> 31.2633, p = 4>
    >>> trace.status, trace.n_iter, trace.ranker[:3], trace.step[:3].round(3)
    ('t_max', 50, array([4, 0, 8]), array([0.132, 0.075, 0.087]))
    >>> trace.log_objective[[0, 10, -1]].round(4)
    array([31.5625, 31.2755, 31.2633])
    >>> bool((trace.lam_at(trace.n_iter) == lam).all())
    True
    >>> round(trace.intercept, 3), trace.intercepts.shape
    (-0.521, (51,))
    >>> trace.to_frame().columns.tolist()
    ['ranker', 'name', 'step', 'edge', 'z', 'log_objective', 'objective', 'gap']

    The trace of `minimize` has certificates:

    >>> lam, trace = pnorm.minimize(data.pos, data.neg, p=4, l2=0.1)
    >>> trace.status, trace.gap < 1e-10, trace.gaps.shape
    ('converged', True, (4,))
    >>> bool(trace.objective[-1] > trace.log_objective[-1]), trace.path.shape
    (True, (4, 9))
    >>> pnorm.minimize([[1.0], [2.0]], [[0.0]], p=4)[1].separation
    'separable'
    """

    ranker: NDArray[np.intp]
    step: Vector
    edge: Vector
    z: Vector
    log_objective: Vector
    status: str
    message: str
    init: Vector
    direction: Vector | None = None
    direction_step: float | None = None
    _points: Points | None = None
    gradient_norm: float = math.nan
    names: tuple[str, ...] = ()
    _objective: Vector | None = None
    _gaps: Vector | None = None
    _symbol: str = "log F_p"
    _intercepts: Vector | None = None
    _separation: str | None = None
    _told: str = ""
    _level: float = 0.0
    """Change of the scores of the support for each unit of the direction, without groups."""

    @cached_property
    def path(self) -> NDArray[np.float64] | None:
        if self._points is None:
            return None
        path = np.array([self._points.at(t) for t in range(self.n_iter + 1)])
        path.flags.writeable = False
        return path

    @property
    def objective(self) -> Vector:
        r"""The minimised objective, log F_p with its penalties, shape (T + 1,).

        It is::

            log F_p(λ) + l1 |λ|_1 + l2 |λ|^2 / 2

        or with ``penalty="shapes"``, for weak rankers of range r_j in columns of m_j cuts (one for weak rankers that
        are no cuts)::

            log F_p(λ) + Σ_j [l1 r_j |λ_j| + l2 m_j (r_j λ_j)^2 / 2]

        For another price or loss, it is R ** (1 / p) for the price ``Power(p)``, log R for the exponential price, and R
        for others, with the penalty.
        """
        return self.log_objective if self._objective is None else self._objective

    @property
    def intercepts(self) -> Vector | None:
        """Intercepts b of `pnorm.probability` before the first round and after each one, shape (T + 1,).

        They are those of `pnorm.intercept` on the training rows. On quasi-separable data, `minimize` computes them on
        the rows of the support. They are None with query groups and grades, because only differences of scores within a
        group are learned, and None for another loss or price.
        """
        found = self._intercepts
        return None if found is None or math.isnan(found[0]) else found

    @property
    def intercept(self) -> float | None:
        """The last of the `intercepts`.

        On separable and quasi-separable data, `pnorm.probability` warns of it.
        """
        return None if self.intercepts is None else Intercept(self.intercepts[-1], self.separation)

    @property
    def separation(self) -> str | None:
        """The kind of the data, as `pnorm.diagnostics.separability` names it.

        ``"overlapping"``, ``"quasi-separable"``, ``"separable"`` or ``"undecided"``; None if it was not examined.
        `minimize` examines the data if its steps show no sign of convergence, and never with l2 > 0. `train` finds only
        that a single weak ranker separates them. A run may converge where the kind is undecided: the table in the class
        lists these cases. With signs, the kind refers to coefficients that have these signs.
        """
        if self._separation is None and self.status == "separable":
            return "separable"
        return self._separation

    @property
    def gaps(self) -> Vector:
        """Certified bounds on the objective minus its infimum, in nats, shape (T + 1,).

        They are inf without a certificate, and nan after `train`, which computes none. `pnorm.diagnostics.certificate`
        computes the bound for any coefficients. If there is a `direction` and the gap is finite (quasi-separable data),
        the gap refers to the limit of ``lam + s * direction`` for growing s, and not to `lam`.
        """
        return np.full(self.n_iter + 1, np.nan) if self._gaps is None else self._gaps

    @property
    def gap(self) -> float:
        """The last of the `gaps`: a bound in nats, inf without a certificate, nan after `train`."""
        return float(self.gaps[-1])

    @property
    def n_iter(self) -> int:
        """Number of rounds T."""
        return self.ranker.size

    def lam_at(self, t: int) -> Vector:
        """Return the coefficients after t rounds.

        Parameters
        ----------
        t : int
            From 0 (the start) to `n_iter` (the returned coefficients).

        Returns
        -------
        ndarray, shape (n,)
            A fresh array.

        Raises
        ------
        ValueError
            If t is not in that range.

        Examples
        --------
        >>> import pnorm
        >>> lam, trace = pnorm.train([[2.0, 1.0], [0.0, 2.0]], [[1.0, 0.0], [0.5, 1.5]], t_max=5)
        >>> bool((trace.lam_at(5) == lam).all())
        True
        """
        t = _checks.count(t, "t", 0)
        if t > self.n_iter:
            raise ValueError(f"t must be at most the number of rounds, {self.n_iter}; got {t}")
        if self._points is not None:
            return self._points.at(t)
        lam = self.init.copy()
        np.add.at(lam, self.ranker[:t], self.step[:t])
        return lam

    def intercept_along(self, s: float | None = None) -> float | None:
        """Return the intercept that belongs to `lam_along`.

        The probabilities of the support are those of `lam` with `intercept`. Those of the other training rows approach
        0 and 1 as s grows.

        Parameters
        ----------
        s : float, optional
            Zero or more; by default `direction_step`.

        Returns
        -------
        float or None
            None if there is no `intercept`.

        Raises
        ------
        ValueError
            As in `lam_along`.

        Examples
        --------
        >>> import pnorm
        >>> pos, neg = [[0.9, 0], [0.3, 0], [0.2, 1]], [[0.8, 0], [0.1, 0]]
        >>> lam, trace = pnorm.minimize(pos, neg, p=4)
        >>> trace.intercept_along() == trace.intercept  # the direction adds nothing to the scores of the support
        True
        """
        self.lam_along(s)
        step = self.direction_step if s is None else s
        if step is None or self.separation != "quasi-separable":
            step = 0.0
        return None if self.intercept is None else Intercept(self.intercept - step * self._level, self.separation)

    def lam_along(self, s: float | None = None) -> Vector:
        """Return ``lam + s * direction``: coefficients that rank the training rows as in the limit of large s.

        Use them to score rows after a fit to quasi-separable data, where `lam` ranks the support only. In the limit,
        every pair of a positive and a negative that the direction separates is in the right order, and `lam` orders the
        pairs that it ties. From `direction_step` on, this holds for all training pairs.

        Parameters
        ----------
        s : float, optional
            Zero or more; by default `direction_step`.

        Returns
        -------
        ndarray, shape (n,)
            A fresh array. Without a `direction`, and on separable data, it is `lam`.

        Raises
        ------
        ValueError
            If s is given and there is no `direction`; if s is negative, not finite or so large that a coefficient
            overflows; or if s is not given and `direction_step` is None.

        Notes
        -----
        Pairs of the support whose scores at `lam` agree to within rounding may change their order. If there are several
        directions, the ranking of new rows depends on the one that was found. The page "Optimality certificates"
        compares these coefficients with those of a penalty `l2` on held-out rows.

        Examples
        --------
        >>> import pnorm
        >>> pos, neg = [[0.9, 0], [0.3, 0], [0.2, 1]], [[0.8, 0], [0.1, 0]]
        >>> lam, trace = pnorm.minimize(pos, neg, p=4)
        >>> trace.status, trace.separation, trace.direction
        ('separable', 'quasi-separable', array([0., 1.]))
        >>> pnorm.metrics.auc(pnorm.score(pos, None, lam), pnorm.score(neg, None, lam))
        0.6666666666666666
        >>> far, s = trace.lam_along(), trace.direction_step
        >>> pnorm.metrics.auc(pnorm.score(pos, None, far), pnorm.score(neg, None, far))
        0.8333333333333334
        """
        lam = self.lam_at(self.n_iter)
        if s is not None:
            s = _checks.nonnegative(s, "s")
            if self.direction is None:
                raise ValueError(f"s is {s:g}, and the trace has no direction; leave s out")
        elif self.direction is None or self.separation == "separable":
            return lam
        elif self.direction_step is None:
            raise ValueError("rounding hides how far the direction must be followed; pass s, such as 1e6")
        else:
            s = self.direction_step
        with np.errstate(over="ignore", invalid="ignore"):
            far = lam + s * self.direction
        if not np.isfinite(far).all():
            raise ValueError(f"s is {s:g}, so large that a coefficient overflows; pass a smaller one")
        return far

    def to_frame(self) -> DataFrame:
        """Return the rounds as a data frame of pandas.

        Returns
        -------
        DataFrame
            A row for each round or step, numbered from 1. The columns are `ranker`, its ``name`` if names are known,
            `step`, `edge`, `z`, and `log_objective`, `objective` and `gap` after the round.

        Raises
        ------
        ImportError
            If pandas is missing.
        """
        from pnorm._checks import sheet

        n = self.n_iter
        table: dict[str, NDArray[Any]] = {"ranker": self.ranker}
        if self.names:
            table["name"] = np.array([*self.names, ""], dtype=object)[np.where(self.ranker < 0, -1, self.ranker)]
        table |= {"step": self.step, "edge": self.edge, "z": self.z}
        after = {"log_objective": self.log_objective, "objective": self.objective, "gap": self.gaps}
        table |= {name: values[1:] for name, values in after.items()}
        return sheet.frame(table, index=range(1, n + 1))

    @property
    def _unit(self) -> str:
        """The word for what is counted: rounds of `train`, or steps of `minimize`."""
        return "round" if self._points is None else "step"

    @property
    def _summary(self) -> str:
        """The end of the run, in half a line."""
        first, last = self.log_objective[[0, -1]]
        return f"{self.status} after {counted(self.n_iter, self._unit)}, {self._symbol} {first:.6g} -> {last:.6g}"

    def _rows(self) -> list[tuple[str, str]]:
        """Return names and values of what describes the run to a reader."""
        first, last = self.log_objective[[0, -1]]
        reason, *more = self.message.split("; ")
        rows = [
            ("status", self.status),
            ("reason", reason),
            *[("", line) for line in more],
            (f"{self._unit}s", f"{self.n_iter:,}"),
            ("objective", f"{self._symbol} from {first:.6g} to {last:.6g}"),
            *([("with", self._told)] if self._told else []),
        ]
        start, end = self.objective[[0, -1]]
        if (start, end) != (first, last):  # a penalty, or R in place of log R
            rows.append(("minimized", f"from {start:.6g} to {end:.6g} (trace.objective)"))
        if not math.isnan(self.gap):
            nats = " nats" if self._symbol == "log F_p" else ""
            told = f"at most {self.gap:.3g}{nats} above the infimum"
            if self.direction is not None:
                told += ", in the limit along trace.direction"
            if self.gap == math.inf:
                told = "no certificate (trace.gap is inf)"
                if self.status == "separable":
                    told += ": there is no minimiser"
                elif self._symbol == "log F_p":
                    told += "; l2 > 0 always gives one"
            rows.append(("gap", told))
        if self._separation is not None:
            rows.insert(-1, ("data", self._separation))
        return rows

    def _repr_html_(self) -> str:
        from pnorm._checks import sheet

        return sheet.as_html(["trace", ""], self._rows(), 2)

    def __repr__(self) -> str:
        kind = self.separation if self.separation != self.status else None
        proof = "no certificate" if self.gap == math.inf and self.status != "separable" else None
        return f"<Trace: {', '.join([part for part in (self._summary, self._told, kind, proof) if part])}>"

    def __str__(self) -> str:
        lines = []
        for name, value in self._rows():
            first, *more = textwrap.wrap(value, _WIDTH - 11, subsequent_indent="  ")
            lines += [f"{name:11}{first}", *[f"{'':11}{line}" for line in more]]
        return "\n".join(lines)


def followed(lam: Vector, trace: Trace) -> tuple[Vector, Trace]:
    """Return the coefficients to rank rows by, and the trace with their intercept as the last one.

    On quasi-separable data they go along the direction; otherwise they are the given ones.
    """
    if trace.direction_step is None:
        return lam, trace
    intercepts, b = trace._intercepts, trace.intercept_along()
    if intercepts is not None and b is not None:
        intercepts = np.append(intercepts[:-1], b)
        intercepts.flags.writeable = False
    return trace.lam_along(), replace(trace, _intercepts=intercepts, _level=0.0)
