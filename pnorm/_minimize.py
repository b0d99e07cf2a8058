"""The exact minimiser of the P-Norm Push objective, and the proof that it is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._solvers.few_columns import few_of
from pnorm._solvers.given import given
from pnorm._solvers.minimize import check_supported, solve, units_of
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.problem import build, rankers_of
from pnorm._solvers.start import start_of
from pnorm._threads import Pool
from pnorm._trace import Trace
from pnorm.objectives._losses import Loss, work
from pnorm.objectives._pairwise import objective_of
from pnorm.objectives._prices import Price


def minimize(
    pos: Any,
    neg: Any = None,
    H: Any = None,
    p: float = 1.0,
    *,
    y: Any = None,
    pos_label: Any = None,
    weight: Any = None,
    group: Any = None,
    l1: float = 0.0,
    l2: float = 0.0,
    signs: Any = None,
    penalty: str = "coefficients",
    max_columns: int | None = None,
    tol: float = 1e-10,
    max_iter: int = 100,
    push: str = "top",
    loss: str | Loss = "exponential",
    price: Price | None = None,
    smoothing: float = 0.0,
    pos_weight: Any = None,
    neg_weight: Any = None,
    pos_group: Any = None,
    neg_group: Any = None,
    pos_grade: Any = None,
    neg_grade: Any = None,
    group_weight: str = "pairs",
    init: Any = None,
    method: str | None = None,
    callback: Callable[[Trace], bool | None] | None = None,
    progress: bool = False,
    n_threads: int | None = None,
) -> tuple[Vector, Trace]:
    r"""Find the exact minimiser of the P-Norm Push objective, with a proof, or say why there is none.

    Newton's method on

    .. math:: \log F_p(\lambda) + l1\, |\lambda|_1 + \tfrac{l2}{2} |\lambda|^2, \qquad
              F_p(\lambda) = \sum_{k=1}^K \Bigl(\sum_{i=1}^I e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p, \qquad
              f = \sum_{j=1}^n \lambda_j h_j,

    which `train` approaches by coordinate descent. Stopped early, `train` regularises; this is where
    it would end.

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
        Weight of the penalty ``l1 |lam|_1``, zero or more. It leaves coefficients at zero (see Notes).
    l2 : float
        Weight of the penalty ``l2/2 |lam|**2``, zero or at least 1e-140. Above zero, a unique minimiser exists whatever
        the data. What it is added to has other units for each price and loss (see Notes), so that the same weight is
        not the same penalty.
    signs : array_like, shape (n,), optional
        1 for each coefficient that must not be below zero, -1 for each that must not be above, 0 for others.
    penalty : {"coefficients", "shapes"}
        With ``"shapes"`` one `l1` and one `l2` serve columns of any number of cuts (see Notes).
    max_columns : int, optional
        Largest number of columns whose weak rankers have coefficients (see Notes). The gap is then that of the columns
        that were chosen.
    tol : float
        Stop when the objective is proved to be this close to its infimum. In its own units (nats for log F_p), or as
        close as rounding lets that be proved: some 1e-14 of the objective, or of p times the largest sum of terms in a
        score. `trace.gap` is what was proved; where it is more than `tol`, `trace.message` says so.
    max_iter : int
        Largest number of Newton steps, each of which counts as ten iterations of L-BFGS.
    push : {"top", "bottom"}
        Which end of the list is to be right. As in `train`.
    loss, price, smoothing : as in `train`
        Another objective than F_p, minimised by L-BFGS (see Notes).
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. As in `train`.
    pos_group, neg_group : sequence of labels, of length I and K, optional
        Query groups: pairs form within a group only. As in `train`.
    pos_grade, neg_grade : array_like, shape (I,) and (K,), optional
        Grades: a pair has a positive of the higher grade. As in `train`.
    group_weight : {"pairs", "equal"}
        How much each query group counts. As in `train`.
    init : Trace, ScoringFunction, mapping or array_like, shape (n,), optional
        Coefficients to start from; zero by default. As in `train`. They are halved as long as that lowers the
        objective.
    method : {None, "newton", "lbfgs"}
        None takes Newton's method where the objective is F_p, and SciPy's L-BFGS elsewhere. With no penalty and more
        than 2000 weak rankers, L-BFGS goes first, as such data are mostly separable; with more than 6000 it is all,
        and there is no certificate.
    callback : callable, optional
        Called with the trace so far after every step; a true return value stops the run.
    progress : bool
        Show a progress bar; needs tqdm, the extra ``progress``. Most runs end long before it is full.
    n_threads : int, optional
        Threads that share the passes over the rows; by default, as many as this process may use cores. As in `train`.
        Those of BLAS are others: up to 128 weak rankers the run asks for one, if threadpoolctl is installed
        (scikit-learn brings it). Without that, on a machine with much else to do, set the variable
        ``OPENBLAS_NUM_THREADS=1`` before Python starts.

    Returns
    -------
    lam : ndarray, shape (n,)
        The minimiser; of least norm, by Newton's method, if there are several. On quasi-separable
        data, the minimiser on the rows of the support (see Notes), and `lam` plus a large multiple of
        `trace.direction` is what comes near the infimum over all rows; on separable data, the coefficients of
        the widest margin (see Notes), which put every positive at least 1 above every negative.
    trace : Trace
        `gap` is the certificate at the end, `gaps` those on the way, `status` why it ended:
        ``"converged"`` (within `tol`, or as close as rounding lets be proved), ``"separable"``,
        ``"max_iter"``, ``"stalled"`` (rounding hides further progress), ``"callback"``, or
        with L-BFGS and no penalty ``"stationary"`` (no edge is above `tol`, or `tol` times its range where that is
        below one). `message` says the same in a sentence. `gradient_norm` is that of the objective's gradient.

    Raises
    ------
    ValueError, TypeError
        If an argument cannot be used, or a column is so large that its square is no number; the message names the
        argument, and the row or column at fault.
    OverflowError
        If the objective at `init` is more than a double holds even in logarithms.
    BaseException
        What the callback raises, or Ctrl-C, at once and as it is, with the trace so far as its attribute `trace`, as
        in `train`.
    ImportError
        If `progress` is asked for and tqdm is missing.

    See Also
    --------
    train : Coordinate descent, the algorithm of the papers.
    probability : Probabilities of rows, with the intercept of the trace.
    pnorm.diagnostics.certificate : The proof for any coefficients.
    pnorm.diagnostics.report : All that can be said of given coefficients, in words.

    Notes
    -----
    The certificate is that of `pnorm.diagnostics.certificate`. A step costs a few passes over the
    rows and one product for the Hessian, O((I + K) n**2), in blocks; memory beyond the data is
    O(I + K + n**2).

    With a penalty and more than 500 weak rankers, a step is found in the way that an estimate says costs least. Where
    rows are few, it is found in an orthonormal basis of these, O((I + K)**2 n) once and O((I + K)**3) a step, in
    memory of O((I + K) n). Otherwise conjugate gradients solve for it as exactly as is of use, with two passes over the
    rows each. When they have cost as much as the Hessian would, it is formed, for up to 6000 weak rankers, and
    serves as their preconditioner from then on.

    With l1 or signs a step minimises the quadratic model plus the penalty, within the signs (proximal Newton). The
    model is of a working set: the coefficients that are not zero, and those that promise most. It is copied as a
    matrix, of 512 MB at most, and has up to 2000 weak rankers; beyond that, conjugate gradients take its place. The
    gap at l2 > 0 is

    .. math:: p \operatorname{KL}(u' \,\|\, u) + \operatorname{KL}(w' \,\|\, w) + \Omega(\lambda) + \Omega^*(g')
              - \langle \lambda, g' \rangle, \qquad g' = p\, (H^\top u' - \tilde H^\top w'),

    for the penalty with its signs Omega, and weights u', w' after the step. With l1 alone, weights are found whose
    slopes are within l1; where there are none, as on the way there, the gap is inf. With l1 alone and less than p times
    the widest margin of coefficients with :math:`\sum |\lambda_j| = 1` within the signs, the objective has no minimum:
    `status` is ``"separable"``, the gap inf, and `lam`, which is `trace.direction` too, has a margin of one and lowers
    the objective for ever. The page "Optimality certificates" says more.

    With ``penalty="shapes"`` coefficients are counted in units of one over the range of their weak ranker, and l2 is
    multiplied by the number of two-valued weak rankers that read the same column, such as cuts or levels (by one for
    any other). With cuts at quantiles, `l1` is then the weight of the total variation of what a column adds to the
    score, and `l2` half of that of the mean squared slope of this shape over the quantiles, about, so that a straight
    line and cuts of one column pay alike.

    With `max_columns`, columns join one by one. The one that joins is that whose own coefficients would make the
    quadratic model with its penalty fall most, of the eight that come first by the diagonal of the Hessian; the
    coefficients of all chosen columns are then minimised. A column whose coefficients all become zero makes room for
    another. This need not find the best set of columns. `Rankers.column` says which column a weak ranker reads.

    Without a penalty, no minimiser exists where the convex hulls of the outputs on the two sides do not overlap. If
    they miss each other (`status` ``"separable"``, `gap` inf), the infimum of F_p is 0. If they touch
    (``"separable"`` too, the data are quasi-separable), some rows lose all weight along
    `trace.direction`, and the rest, the support, has a minimiser: `lam`, `trace.log_objective` and
    `trace.gap` are those of the support, and :math:`\log F_p(\lambda + s \cdot direction)` of all rows
    falls toward the same value as s grows. A linear program decides, once the Newton steps
    look as though they went on for ever.

    Of all coefficients that put every positive at least 1 above every negative, `lam` is the shortest on separable
    data, each counted in units of one over the range of its column,

    .. math:: \min_\lambda \sum_j (\lambda_j \cdot range_j)^2 \quad \text{subject to} \quad
              f(x_i) - f(\tilde x_k) \ge 1,

    a support vector machine without slack [3]_. There is one such answer, whatever the weights, copies and order of
    the rows, the units of the columns, p, and the method; it is found to nine digits or more. With :math:`l2 > 0` the
    minimiser goes along the one of this kind that counts coefficients as they are, as `l2` falls toward zero [4]_.

    With another loss or price, SciPy's L-BFGS minimises what is convex of

    .. math:: R = \sum_k \tilde c_k\, g\Bigl(\sum_i c_i\, \ell\bigl(f(x_i) - f(\tilde x_k)\bigr)\Bigr),

    that is :math:`R^{1/p}` for the price ``Power(p)`` (log R is not convex unless the loss is exponential),
    log R for the exponential price, and R for a price of your own, plus :math:`\tfrac{l2}{2} |\lambda|^2`.
    With a penalty, :math:`|\nabla|^2 / (2\, l2)` is a certificate and the status ``"converged"``; without one,
    there is none, and ``"stationary"`` says that no edge is above `tol`, which makes it the minimum where the
    price never falls. With a price that falls somewhere it is a stationary point, and the message calls it
    one. The hinge has corners, where L-BFGS is lost: give it a `smoothing`. Losses that come down to zero
    have a minimiser on separable data too, where R is zero.

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
