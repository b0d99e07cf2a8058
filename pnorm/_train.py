"""The P-Norm Push algorithm (Figure 1 of both papers) on its factored form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from numpy.typing import ArrayLike

from pnorm import _checks
from pnorm._checks import GroupLabels, Label, Rows, Vector
from pnorm._recorders import progress_range
from pnorm._solvers.building import build, rankers_of
from pnorm._solvers.descent import descend
from pnorm._solvers.descent_state import DescentState
from pnorm._solvers.given import given
from pnorm._solvers.start import Start, start_of
from pnorm._threads import Pool
from pnorm._trace import Trace
from pnorm.objectives._losses import Loss, work
from pnorm.objectives._pairwise import objective_of
from pnorm.objectives._prices import Price
from pnorm.rankers import WeakRankers
from pnorm.rankers._coded import BothSides


def train(
    pos: Rows | BothSides,
    neg: Rows | None = None,
    H: WeakRankers = None,
    p: float = 1.0,
    t_max: int = 200,
    *,
    y: ArrayLike | None = None,
    pos_label: Label | None = None,
    weight: ArrayLike | None = None,
    group: ArrayLike | None = None,
    selection: Literal["absolute", "signed", "largest"] = "absolute",
    push: Literal["top", "bottom"] = "top",
    loss: Literal["exponential", "logistic", "hinge", "squared_hinge", "squared"] | Loss = "exponential",
    price: Price | None = None,
    smoothing: float = 0.0,
    pos_weight: ArrayLike | None = None,
    neg_weight: ArrayLike | None = None,
    pos_group: GroupLabels | None = None,
    neg_group: GroupLabels | None = None,
    pos_grade: ArrayLike | None = None,
    neg_grade: ArrayLike | None = None,
    group_weight: Literal["pairs", "equal"] = "pairs",
    signs: ArrayLike | None = None,
    init: Start | None = None,
    tol: float = 1e-10,
    callback: Callable[[Trace], bool | None] | None = None,
    progress: bool = False,
    n_threads: int | None = None,
) -> tuple[Vector, Trace]:
    """Learn a scoring function whose list is most accurate at the top: the P-Norm Push.

    The algorithm is coordinate descent on::

        F_p(λ) = Σ_k (Σ_i exp(-(f(x_i) - f(x̃_k))))^p,    f = Σ_j λ_j h_j

    with positives x_i, negatives x̃_k and weak rankers h_j. Each round chooses the weak ranker with the largest edge and
    changes its coefficient so that F_p is as small as possible. A larger p gives a higher price to negatives near the
    top of the list; p = 1 is RankBoost.

    Pass the rows of both sides, ``train(pos, neg)``, or all rows with their labels, ``train(X, y=y)``. Most runs need
    the arguments of the second column only:

    ===============  ===================  =====================================================================
    part             most runs            optional
    ===============  ===================  =====================================================================
    rows             `pos`, `neg`         `y`, `pos_label`
    weights, groups                       `weight`, `group`, `pos_weight`, `neg_weight`, `pos_group`, `neg_group`,
                                          `pos_grade`, `neg_grade`, `group_weight`
    model            `H`, `p`             `push`, `loss`, `price`, `smoothing`, `signs`
    run              `t_max`              `selection`, `init`, `tol`, `n_threads`
    progress                              `progress`, `callback`
    ===============  ===================  =====================================================================

    Parameters
    ----------
    pos : array_like, shape (I, d), or sequence of I things where the rankers are callables, or CodedRows
        The positive rows, or all rows if `y` is given. NumPy, pandas, polars, pyarrow and SciPy sparse are accepted.
        Contiguous float32 and float64 arrays are used without a copy; other rows are converted to float64. A column
        whose distance from zero exceeds a thousand times its range is copied and centred, which keeps its digits. Whole
        numbers beyond 2**53 are refused if two of them would become the same float. Duplicate sparse entries add up.
    neg : array_like, shape (K, d), or sequence of K things
        The negative rows; None with `y`, or with coded rows, which have both sides and the weak rankers.
    H : None, sequence of callables, or Rankers
        The weak rankers. None uses the columns of the rows. A callable maps rows to outputs of shape (N,). A collection
        is made by `pnorm.rankers`.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1. The largest p is 1e140.
    t_max : int
        Largest number of rounds.
    y : array_like of N labels, or str, optional
        The labels of the rows. ``train(X, y=y)`` takes all rows as the first argument and splits them
        as `split` does. A string is the name of the column of X that holds the labels.
    pos_label : label, optional
        The label of positive rows; all others are negative. Leave it out if the labels are plain opposites,
        such as 1 and 0, true and false, or yes and no. As in `split`.
    weight, group : array_like of N values, or str, optional
        With `y`, the case weight and the query group of each row. They replace `pos_weight`,
        `neg_weight`, `pos_group` and `neg_group`. A string is the name of a column of X.
    selection : {"absolute", "signed", "largest"}
        How a round chooses its weak ranker. ``"absolute"``: by the largest absolute edge (TR2005-874). This rule
        approaches the infimum over all coefficients. ``"largest"``: by the largest edge, whatever its sign (COLT 2006
        as printed). ``"signed"``: by the largest edge, and only while it is above zero, so that no coefficient is ever
        lowered. When one of the last two rules stops, no increase of a coefficient lowers the objective, but a decrease
        may.
    push : {"top", "bottom"}
        The end of the list that is to be most accurate. With ``"top"``, a negative pays for the positives below it.
        With ``"bottom"``, the reverse push, a positive pays for the negatives above it,
        ``F_p = Σ_i (Σ_k exp(-(f_i - f̃_k)))^p`` (see Notes).
    loss : str or Loss
        The cost of a pair whose scores differ by z. ``"exponential"`` is ``exp(-z)``, ``"logistic"``
        ``ln(1 + exp(-z))``, ``"hinge"`` ``max(0, 1 - z)``, ``"squared_hinge"`` its square, ``"squared"`` ``(1 - z)^2``;
        or a `pnorm.objectives.Loss`.
    price : Price, optional
        What a negative pays for the sum of its losses, from `pnorm.objectives`. The default is ``Power(p)``. With
        ``Exponential(scale)``, or a ``Price`` of your own, leave p at 1.
    smoothing : float
        With the hinge: half the width of a parabola in place of its corner. It makes the hinge differentiable (see
        Notes).
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. The objective is ``F_p = Σ_k c̃_k (Σ_i c_i exp(-(f_i - f̃_k)))^p``. A weight of 2
        counts like two copies of the row. A row of weight 0 is left out.
    pos_group, neg_group : sequence of labels, of length I and K, optional
        Query groups: pairs form within a group only. F_p is the sum over groups. A group needs rows of both sides; the
        rows of other groups are left out.
    pos_grade, neg_grade : array_like, shape (I,) and (K,), optional
        Grades: in each pair, the positive has the higher grade. Grades are real numbers, and only their order counts.
        Pass a list with several grades on both sides, ``train(X, X, H, p, pos_grade=y, neg_grade=y)``, and its queries
        as groups. Rows that are in no pair are left out (see Notes).
    group_weight : {"pairs", "equal"}
        How much each query group counts. With ``"pairs"``, groups with more pairs count more. With ``"equal"``, all
        groups count the same (see Notes).
    signs : array_like, shape (n,), optional
        1 for each coefficient that must not be below zero, -1 for each that must not be above, 0 for others. They are
        combined with the signs of `H` (`Rankers.signs`, from ``monotone``) and must not contradict them. A step that
        would take a coefficient across zero ends at zero.
    init : Trace, ScoringFunction, mapping or array_like, shape (n,), optional
        Coefficients to start from; zero by default. A run that starts from the trace of another continues it. The
        coefficients of a trace, of a model that `load` returned, or of a mapping from names are matched to the weak
        rankers in `H` by name. Other weak rankers start at zero. A name that is not in `H` is an error. For a model,
        the definitions behind the names are compared as well: cuts that differ in their first six digits, other ranges
        of `normalized` and other levels are refused. An array has no names. Its coefficients are taken in the order of
        `H`.
    tol : float
        Stop as stationary when no edge exceeds this times the range of its weak ranker, the largest minus the smallest
        output. An edge within that is taken as zero by each rule of `selection`.
    callback : callable, optional
        Called with the trace so far after every round; a true return value stops the run.
    progress : bool
        Show a progress bar; needs tqdm, the extra ``progress``.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. Up to 65,536 rows, one thread is
        used. The result is the same to the last bit for any number of threads.

    Returns
    -------
    lam : ndarray, shape (n,)
        The coefficients. `score` applies them.
    trace : Trace
        The record of the run, round by round. `status` is the reason why it ended.

    Raises
    ------
    ValueError, TypeError
        If an argument cannot be used. The message names the argument, and the row or column.
    OverflowError
        If the objective at `init` is too large for a double even in logarithms.
    ImportError
        If `progress` is asked for and tqdm is missing.
    BaseException
        An exception of the callback, or Ctrl-C, is raised unchanged. Its attribute `trace` is the trace so far, with
        the status ``"interrupted"``; ``train(..., init=error.trace)`` continues the run.

    See Also
    --------
    score : Apply the coefficients to rows.
    probability : Probabilities of rows, with the intercept of the trace.
    ScoringFunction : Coefficients, weak rankers, p and intercept in one object, which `save` writes to a file.
    Trace : The record of the run.

    Notes
    -----
    The exponential loss factors over the pairs, so no array over the I K pairs is formed. A round costs O((I + K) n)
    reads and O(I + K) exponentials. Memory beyond the data is O(I + K). Outputs with few values (thresholds,
    categories, and columns of at most 256 distinct values) are stored as codes of one or two bytes per row and feature.
    A round on codes reads each word of packed codes once and takes no exponential. See the pages on theory and on many
    rows.

    With query groups, a group with twice the positives and negatives of another counts 2**(p + 1) times as much while
    all scores are equal. At a large p, few long lists dominate. With ``group_weight="equal"`` the weights of either
    side are divided by their sum in the group::

        F_p = Σ_q (1/I_q Σ_{i in q} exp(-f_i))^p 1/K_q Σ_{k in q} exp(p f̃_k)

    for weights of one, so that every group begins with a value of one. With grades, a group is the whole query. The
    page "Queries of uneven sizes" shows when this helps.

    With grades y, a negative pays for the positives of its group q that have a higher grade::

        F_p(λ) = Σ_k c̃_k (Σ_{i in q(k), y_i > ỹ_k} c_i exp(-(f(x_i) - f(x̃_k))))^p

    The negatives of one group and grade form a group of their own, to which all positives of higher grades belong. A
    positive is therefore a row of several groups. Its outputs are stored once, and it costs a few numbers for each
    grade below its own. Grades that all differ would need as many numbers as there are pairs. More than 64 numbers for
    each row and more than 16 million in total are refused.

    If a chosen weak ranker puts all positives strictly above all negatives, the run ends as ``"separable"``: inf F_p is
    0 and no minimiser exists. The last step puts every positive at least 1 above every negative. If the infimum along a
    weak ranker lies at infinity without separation, the step stops where 1e-6 of the decrease is left. Outputs of a
    weak ranker that differ by less than 1e-298 p of the largest are treated as equal, because no representable step
    could use the difference. Weak rankers tie if their edges differ by less than 1e-10 of the best one's largest output
    (or of its range, if that is smaller). Of these, the one with the lowest index is chosen.

    The figures of both papers print "Output lambda_{t_max}", which has had t_max - 1 updates. The coefficients here
    have had all t_max updates; ``trace.lam_at(t_max - 1)`` returns those of the figures.

    With another loss or price the same loop minimises::

        R = Σ_k c̃_k g(Σ_i c_i ℓ(f(x_i) - f(x̃_k)))

    A round then costs some ten evaluations of R for the step. Each is a few passes over the rows and, for most losses,
    a sort (`pnorm.objectives.value`). If the price falls somewhere, R need not be convex, and ``"stationary"`` means a
    stationary point. The hinge has corners. At some of them no single weak ranker lowers R, although several together
    would. The status is then ``"stalled"``; an objective without corners, such as ``smoothing=0.1``, avoids this. If a
    loss or price is not monotone, as ``"squared"`` is not, no run ends by separation.

    ``push="bottom"`` is the same algorithm on the list read from below. The two sides are exchanged, and the scores
    change their sign. High prices then keep positives away from the bottom of the list. If `H` is None, it is
    ``train(-neg, -pos)`` with weights and groups exchanged. log F_p in the trace is that of the reverse push; edges,
    steps and coefficients keep their meaning. To measure the bottom, call ``positives_at_top(-f_neg, -f_pos)``, which
    counts the negatives below every positive.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", COLT 2006, Figure 1 and equation (1).
    .. [2] C. Rudin, "Ranking with a P-Norm Push", NYU technical report TR2005-874, 2005, Figure 1.
    .. [3] C. Rudin, "The P-Norm Push: A Simple Convex Ranking Algorithm that Concentrates at the Top of the List",
       Journal of Machine Learning Research 10, 2009. The archival version.

    Examples
    --------
    Seven rows of two columns, with labels:

    >>> import pnorm
    >>> X = [[0.9, 0.2], [0.8, 0.1], [0.7, 0.9], [0.2, 0.6], [0.3, 0.8], [0.1, 0.3], [0.6, 0.9]]
    >>> lam, trace = pnorm.train(X, y=[1, 0, 1, 0, 1, 0, 0], p=4, t_max=100)
    >>> print(trace)
    status     stationary
    reason     no weak ranker has an edge above tol = 1e-10 times its range
    rounds     26
    objective  log F_p from 5.78074 to 5.33024
    with       p = 4

    The same, with the rows of either side:

    >>> pos, neg = [X[0], X[2], X[4]], [X[1], X[3], X[5], X[6]]
    >>> same, _ = pnorm.train(pos, neg, p=4, t_max=100)
    >>> bool((same == lam).all())
    True

    Ten good and ten bad applicants, with the results of three tests. If interviews begin at the top of the list, push
    at the top. If the bottom of the list is rejected unseen, push at the bottom:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> good, bad = rng.normal(1.2, 1.0, (10, 3)), rng.normal(0.0, 1.0, (10, 3))
    >>> for push in ("top", "bottom"):
    ...     lam, trace = pnorm.train(good, bad, p=16, push=push)
    ...     f, g = good @ lam, bad @ lam
    ...     above, below = pnorm.metrics.positives_at_top(f, g), pnorm.metrics.positives_at_top(-g, -f)
    ...     print(f"{push}: {above} good ones above every bad one, {below} bad ones below every good one")
    top: 6 good ones above every bad one, 4 bad ones below every good one
    bottom: 2 good ones above every bad one, 8 bad ones below every good one
    """
    make = objective_of(_checks.power(p), price, loss, smoothing)
    t_max = _checks.count(t_max, "t_max", 0)
    _checks.selection(selection)
    _checks.push(push)
    tol = _checks.nonnegative(tol, "tol")
    callback = _checks.callback(callback)
    n_threads = _checks.threads(n_threads)
    rounds = progress_range(t_max, progress)
    rows = given(
        pos,
        neg,
        H,
        y=y,
        pos_label=pos_label,
        weight=weight,
        group=group,
        pos_weight=pos_weight,
        neg_weight=neg_weight,
        pos_group=pos_group,
        neg_group=neg_group,
        pos_grade=pos_grade,
        neg_grade=neg_grade,
    )
    with rows.named():
        pos, neg, rankers = rankers_of(rows.pos, rows.neg, rows.H)
    signs = _checks.signs(signs, rankers.names, rankers.signs)
    lam = start_of(init, rankers, signs)
    with Pool(n_threads, work(loss, _checks.n_rows(pos, "pos"), _checks.n_rows(neg, "neg"))) as pool:
        how: dict[str, Any] = {"push": push, "group_weight": group_weight, "pool": pool}
        with rows.named():
            problem = build(pos, neg, rankers, make, *rows.of_rows, **how).centred()
        return lam, descend(DescentState(problem, lam, signs), rounds, selection, tol, callback)
