"""The exact minimiser of the P-Norm Push objective, with a certificate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pnorm import _checks
from pnorm._checks import Grades, GroupLabels, Label, Labels, Numbers, Rows, Vector, Weights
from pnorm._solvers.building import build, rankers_of
from pnorm._solvers.few_columns import few_of
from pnorm._solvers.given import given
from pnorm._solvers.minimize import check_supported, solve, units_of
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.start import Start, start_of
from pnorm._threads import Pool
from pnorm._trace import Trace
from pnorm.objectives._losses import Loss, work
from pnorm.objectives._pairwise import objective_of
from pnorm.objectives._prices import Price
from pnorm.rankers import WeakRankers
from pnorm.rankers._coded import BothSides


def minimize(
    pos: Rows | BothSides,
    neg: Rows | None = None,
    H: WeakRankers = None,
    p: float = 1.0,
    *,
    y: Labels | None = None,
    pos_label: Label | None = None,
    weight: Weights | None = None,
    group: GroupLabels | None = None,
    l1: float = 0.0,
    l2: float = 0.0,
    signs: Numbers | None = None,
    penalty: str = "coefficients",
    max_columns: int | None = None,
    tol: float = 1e-10,
    max_iter: int = 100,
    push: str = "top",
    loss: str | Loss = "exponential",
    price: Price | None = None,
    smoothing: float = 0.0,
    pos_weight: Weights | None = None,
    neg_weight: Weights | None = None,
    pos_group: GroupLabels | None = None,
    neg_group: GroupLabels | None = None,
    pos_grade: Grades | None = None,
    neg_grade: Grades | None = None,
    group_weight: str = "pairs",
    init: Start | None = None,
    method: str | None = None,
    callback: Callable[[Trace], bool | None] | None = None,
    progress: bool = False,
    n_threads: int | None = None,
) -> tuple[Vector, Trace]:
    """Compute the exact minimiser of the P-Norm Push objective, with a certificate of optimality.

    The algorithm is Newton's method on::

        log F_p(λ) + l1 |λ|_1 + l2/2 |λ|^2

        F_p(λ) = Σ_k (Σ_i exp(-(f(x_i) - f(x̃_k))))^p,    f = Σ_j λ_j h_j

    which `train` minimises by coordinate descent. If no minimiser exists, `status` and `message` of the trace give the
    reason and the coefficients to rank rows by.

    Pass the rows of both sides, ``minimize(pos, neg)``, or all rows with their labels, ``minimize(X, y=y)``. Most runs
    need the arguments of the second column only:

    ===============  ===================  =====================================================================
    part             most runs            optional
    ===============  ===================  =====================================================================
    rows             `pos`, `neg`         `y`, `pos_label`
    weights, groups                       `weight`, `group`, `pos_weight`, `neg_weight`, `pos_group`, `neg_group`,
                                          `pos_grade`, `neg_grade`, `group_weight`
    model            `H`, `p`             `push`, `loss`, `price`, `smoothing`, `signs`
    penalty          `l2`                 `l1`, `penalty`, `max_columns`
    run                                   `tol`, `max_iter`, `method`, `init`, `n_threads`
    progress                              `progress`, `callback`
    ===============  ===================  =====================================================================

    Parameters
    ----------
    pos : array_like, shape (I, d), or sequence of I things where the rankers are callables, or CodedRows
        The positive rows, or all rows if `y` is given. As in `train`.
    neg : array_like, shape (K, d), or sequence of K things
        The negative rows; None with `y`, or with coded rows, which have both sides and the weak rankers.
    H : None, sequence of callables, or Rankers
        The weak rankers. As in `train`.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
    y : array_like of N labels, or str, optional
        The labels of the rows. All rows are then in the first argument. As in `train`.
    pos_label : label, optional
        The label of positive rows; all others are negative. As in `train`.
    weight, group : array_like of N values, or str, optional
        With `y`, the case weight and the query group of each row. As in `train`.
    l1 : float
        Weight of the penalty ``l1 |lam|_1``, zero or more. It keeps coefficients at zero (see Notes).
    l2 : float
        Weight of the penalty ``l2/2 |lam|**2``, zero or at least 1e-140. With a weight above zero, a unique minimiser
        exists for all data. The objective has other units for each price and loss (see Notes), so the same weight is
        not comparable between them.
    signs : array_like, shape (n,), optional
        1 for each coefficient that must not be below zero, -1 for each that must not be above, 0 for others.
    penalty : {"coefficients", "shapes"}
        With ``"shapes"`` one `l1` and one `l2` serve columns of any number of cuts (see Notes).
    max_columns : int, optional
        Largest number of columns whose weak rankers have coefficients (see Notes). The gap then refers to the columns
        that were chosen.
    tol : float
        Stop when the objective is proved to be this close to its infimum. The unit is that of the objective (nats for
        log F_p). Rounding limits what can be proved, to some 1e-14 of the objective, or of p times the largest sum of
        terms in a score. A small l2 on columns far from zero adds the square of what rounding changes a slope by,
        divided by 2 l2. `trace.gap` is the proved bound; if it exceeds `tol`, `trace.message` gives the reason.
    max_iter : int
        Largest number of Newton steps. For L-BFGS, ten iterations count as one step.
    push : {"top", "bottom"}
        The end of the list that is to be most accurate. As in `train`.
    loss, price, smoothing : as in `train`
        Another objective than F_p, minimised by L-BFGS (see Notes).
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. As in `train`.
    pos_group, neg_group : sequence of labels, of length I and K, optional
        Query groups: pairs form within a group only. As in `train`.
    pos_grade, neg_grade : array_like, shape (I,) and (K,), optional
        Grades: in each pair, the positive has the higher grade. As in `train`.
    group_weight : {"pairs", "equal"}
        How much each query group counts. As in `train`.
    init : Trace, ScoringFunction, mapping or array_like, shape (n,), optional
        Coefficients to start from; zero by default. As in `train`. They are first halved for as long as this lowers
        the objective.
    method : {None, "newton", "lbfgs"}
        None uses Newton's method if the objective is F_p, and SciPy's L-BFGS for others. Without a penalty and with
        more than 2000 weak rankers, L-BFGS runs first, as such data are mostly separable. With more than 6000 only
        L-BFGS runs, and there is no certificate.
    callback : callable, optional
        Called with the trace so far after every step; a true return value stops the run.
    progress : bool
        Show a progress bar; needs tqdm, the extra ``progress``. Most runs end long before the bar is full.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. As in `train`. BLAS has threads of
        its own. Up to 128 weak rankers, BLAS is limited to one thread if threadpoolctl is installed (scikit-learn
        requires it). Without threadpoolctl, set the environment variable ``OPENBLAS_NUM_THREADS=1`` on a busy machine
        before Python starts.

    Returns
    -------
    lam : ndarray, shape (n,)
        The minimiser. If there are several, Newton's method returns the one of least norm. On quasi-separable data,
        `lam` is the minimiser on the rows of the support (see Notes), and `lam` plus a multiple s of
        `trace.direction` approaches the infimum over all rows as s grows: `trace.lam_along(s)`. Without s it returns
        the least multiple that ranks the training rows as in the limit. On separable data, `lam` has the
        widest margin (see Notes) and puts every positive at least 1 above every negative.
    trace : Trace
        `gap` is the certificate at the end, and `gaps` has those of all steps. `status` is the reason why the run
        ended: ``"converged"`` (within `tol`, or as close as rounding allows to prove), ``"separable"``,
        ``"max_iter"``, ``"stalled"`` (rounding hides further progress), ``"callback"``, or, with L-BFGS and no
        penalty, ``"stationary"`` (no edge is above `tol` times the range of its weak ranker). `message` describes the
        end in a sentence. `gradient_norm` is the norm of the objective's gradient.

    Raises
    ------
    ValueError, TypeError
        If an argument cannot be used, or the square of a column overflows. The message names the argument, and the row
        or column.
    OverflowError
        If the objective at `init` is too large for a double even in logarithms.
    BaseException
        An exception of the callback, or Ctrl-C, is raised unchanged. Its attribute `trace` is the trace so far, as in
        `train`.
    ImportError
        If `progress` is asked for and tqdm is missing.

    See Also
    --------
    train : Coordinate descent, the algorithm of the papers.
    probability : Probabilities of rows, with the intercept of the trace.
    ScoringFunction : Coefficients, weak rankers, p and intercept in one object, which `save` writes to a file.
    pnorm.diagnostics.certificate : The certificate of any coefficients.
    pnorm.diagnostics.report : A description of given coefficients in words.

    Notes
    -----
    The certificate is that of `pnorm.diagnostics.certificate`. A step costs a few passes over the rows and one product
    for the Hessian, O((I + K) n**2), in blocks. Memory beyond the data is O(I + K + n**2).

    With a penalty and more than 500 weak rankers, the cheapest of several methods is chosen for each step by an
    estimate. If rows are few, the step is computed in an orthonormal basis of the rows, at O((I + K)**2 n) once and
    O((I + K)**3) per step, in memory of O((I + K) n). Otherwise conjugate gradients compute the step to the accuracy
    that is useful, with two passes over the rows per iteration. Once they have cost as much as the Hessian would, the
    Hessian is formed, for up to 6000 weak rankers, and is their preconditioner from then on.

    With l1 or signs, a step minimises the quadratic model plus the penalty, within the signs (proximal Newton). The
    model covers a working set: the coefficients that are not zero, and those with the largest expected decrease. It is
    copied as a matrix of 512 MB at most and has up to 2000 weak rankers; beyond that, conjugate gradients are used. The
    gap at l2 > 0 is::

        p KL(u' | u) + KL(w' | w) + Ω(λ) + Ω*(ζ') - <λ, ζ'>,    ζ' = p (Hᵀu' - H̃ᵀw')

    for the penalty with its signs Omega, and weights u', w' after the step. With l1 alone, the certificate needs
    weights whose slopes are within l1. If none are found, as in the first steps, the gap is inf. If l1 stands alone and
    is less than p times the widest margin of coefficients with ``Σ_j |λ_j| = 1`` within the signs, the objective has no
    minimum. Then `status` is ``"separable"``, the gap is inf, and `lam`, which equals `trace.direction`, has a margin
    of one; its multiples lower the objective without end. See the page "Optimality certificates".

    With ``penalty="shapes"``, coefficients are counted in units of one over the range of their weak ranker, and l2 is
    multiplied by the number of two-valued weak rankers that read the same column, such as cuts or levels (by one for
    any other). With cuts at quantiles, `l1` then weighs the total variation of the shape, which is what a column adds
    to the score. Half of `l2` weighs approximately the mean squared slope of the shape over the quantiles. A straight
    line and cuts of one column therefore pay alike.

    With `max_columns`, columns are added one by one. The candidates are the eight columns that come first by the
    diagonal of the Hessian. The one is added whose own coefficients would decrease the quadratic model with its penalty
    most; the coefficients of all chosen columns are then minimised. A column whose coefficients all become zero is
    removed again. This need not find the best set of columns. `Rankers.column` has the column that each weak ranker
    reads.

    Without a penalty, no minimiser exists if the convex hulls of the outputs on the two sides do not overlap. If they
    are disjoint (`status` ``"separable"``, `gap` inf), the infimum of F_p is 0. If they touch (also ``"separable"``;
    the data are quasi-separable), some rows lose all weight along `trace.direction`. The other rows, the support, have
    a minimiser: `lam`, `trace.log_objective` and `trace.gap` refer to the support, and ``log F_p(λ + s direction)`` of
    all rows falls toward the same value as s grows. `lam` alone takes no account of the direction: score with
    ``trace.lam_along()``, or use an `l2`. `trace.separation` names the kind of the data. A linear program decides
    between the cases once the Newton steps show no sign of convergence.

    On separable data, `lam` is the shortest of all coefficients that put every positive at least 1 above every
    negative, with each coefficient counted in units of one over the range of its column::

        minimise Σ_j (λ_j range_j)^2 subject to f(x_i) - f(x̃_k) ≥ 1 for all i, k

    a support vector machine without slack [3]_. This solution is unique. It does not depend on the weights, copies and
    order of the rows, the units of the columns, p, or the method, and is computed to nine digits or more. As `l2` falls
    toward zero, the direction of the minimiser approaches that of the solution with coefficients in their own units
    [4]_.

    With another loss or price, SciPy's L-BFGS minimises a convex form of::

        R = Σ_k c̃_k g(Σ_i c_i ℓ(f(x_i) - f(x̃_k)))

    that is ``R^(1/p)`` for the price ``Power(p)`` (log R is not convex unless the loss is exponential), log R for the
    exponential price, and R for a price of your own, plus ``l2/2 |λ|^2``. With l2, ``|gradient|^2 / (2 l2)`` is
    a certificate and the status is ``"converged"``. Without l2 there is no certificate. The status
    ``"stationary"`` then means that no edge is above `tol` times the range of its weak ranker, which is the minimum if
    the price never falls. With a price that falls somewhere, it is a stationary point, and the message states this. The
    hinge has corners, at which L-BFGS fails: pass `smoothing`. Losses that reach zero have a minimiser on separable
    data too, with R = 0.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", COLT 2006, Theorem 3.
    .. [2] S. Boyd and L. Vandenberghe, "Convex Optimization", 2004, sections 5.5 and 9.5.
    .. [3] C. L. Lawson and R. J. Hanson, "Solving Least Squares Problems", 1974, chapter 23, for how it is found.
    .. [4] S. Rosset, J. Zhu, T. Hastie, "Boosting as a Regularized Path to a Maximum Margin Classifier", Journal of
       Machine Learning Research 5, 2004.

    Examples
    --------
    >>> import pnorm
    >>> pos = [[0.9, 0.2], [0.7, 0.9], [0.3, 0.8]]
    >>> neg = [[0.8, 0.1], [0.2, 0.6], [0.1, 0.3], [0.6, 0.9]]
    >>> lam, trace = pnorm.minimize(pos, neg, p=4)
    >>> trace.status, trace.gap < 1e-10
    ('converged', True)
    """
    make = objective_of(_checks.power(p), price, loss, smoothing)
    l1, l2 = _checks.nonnegative(l1, "l1"), _checks.nonnegative(l2, "l2")
    tol = _checks.nonnegative(tol, "tol")
    max_iter = _checks.count(max_iter, "max_iter", 0)
    if method is not None:
        _checks.choice(method, "method", ("newton", "lbfgs"))
    _checks.push(push)
    callback = _checks.callback(callback)
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
    _checks.choice(penalty, "penalty", ("coefficients", "shapes"))
    few = few_of(max_columns, rankers)
    start = None if init is None else start_of(init, rankers)
    n_threads = _checks.threads(n_threads)
    with Pool(n_threads, work(loss, _checks.n_rows(pos, "pos"), _checks.n_rows(neg, "neg"))) as pool:
        how: dict[str, Any] = {"push": push, "group_weight": group_weight, "pool": pool}
        with rows.named():
            problem = build(pos, neg, rankers, make, *rows.of_rows, **how).centred()
        check_supported(problem, method)
        if start is not None:
            problem.check_exponents(start)
        added = Penalty.of(len(rankers), l1, l2, signs, units_of(problem, rankers, penalty))
        lam, trace, _ = solve(problem, added, tol, max_iter, start, method, callback, progress, few)
    return lam, trace
