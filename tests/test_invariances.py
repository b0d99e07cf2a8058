"""Invariances, on rows that hypothesis draws: what must not change, and what must change how."""

from dataclasses import dataclass, replace

import numpy as np
import partitions
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from repeats import examples
from scipy.special import logsumexp

import pnorm
from pnorm.objectives import Power, value_and_weights

CLOSE = {"rtol": 1e-9, "atol": 1e-9}
PAIRS = [("power", "logistic"), ("power", "squared_hinge"), ("exponential", "exponential"), ("linear", "hinge")]
PRICES = {"power": Power(3), "exponential": pnorm.objectives.Exponential(0.1), "linear": pnorm.objectives.Linear()}


@dataclass
class Problem:
    """Outputs of weak rankers, and what `train` and `minimize` are told beside them."""

    pos: np.ndarray
    neg: np.ndarray
    p: float
    c_pos: np.ndarray
    c_neg: np.ndarray
    g_pos: np.ndarray
    g_neg: np.ndarray

    @property
    def about_rows(self):
        return {
            "pos_weight": self.c_pos, "neg_weight": self.c_neg, "pos_group": self.g_pos, "neg_group": self.g_neg
        }  # fmt: skip

    def train(self, t_max=12, **more):
        return pnorm.train(self.pos, self.neg, None, self.p, t_max, **self.about_rows, **more)

    def minimize(self, l2=0.0, **more):
        return pnorm.minimize(self.pos, self.neg, None, self.p, l2=l2, **self.about_rows, **more)

    def rows(self, pos, neg):
        """Some of the rows, by their numbers, which may come more than once."""
        sides = {"pos": pos, "c_pos": pos, "g_pos": pos, "neg": neg, "c_neg": neg, "g_neg": neg}
        return replace(self, **{name: getattr(self, name)[rows] for name, rows in sides.items()})

    def outputs(self, change):
        return replace(self, pos=change(self.pos), neg=change(self.neg))


@st.composite
def problems(draw, lattice=None, groups=None, least=1):
    """Outputs on a lattice, where much is equal, or any; weights from nothing to three; one or two query groups."""
    n_pos, n_neg, n = draw(st.integers(least, 9)), draw(st.integers(least, 9)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()) if lattice is None else lattice:
        pos, neg = (rng.integers(-4, 5, (size, n)) / 4.0 for size in (n_pos, n_neg))
    else:
        pos, neg = rng.normal(size=(n_pos, n)) + 0.2, rng.normal(size=(n_neg, n))
    c_pos, c_neg = (rng.integers(0, 4, size).astype(float) for size in (n_pos, n_neg))
    c_pos[0] = c_neg[0] = 1.0
    of = 2 if (draw(st.booleans()) if groups is None else groups) else 1
    g_pos, g_neg = rng.integers(0, of, n_pos), rng.integers(0, of, n_neg)
    g_pos[0] = g_neg[0] = 0
    return Problem(pos, neg, draw(st.sampled_from([1.0, 1.5, 4.0, 16.0])), c_pos, c_neg, g_pos, g_neg)


def same_run(found, expected, *, lam=1.0, edge=1.0, log_f=0.0, ranker=None):
    """Whether two runs of `train` are one, but for factors of the coefficients and edges and a shift of the objective."""
    (a, one), (b, other) = found, expected
    assert one.status == other.status
    rankers = other.ranker if ranker is None else ranker[other.ranker]
    np.testing.assert_array_equal(one.ranker, rankers)
    np.testing.assert_allclose(a, b * lam if ranker is None else (b * lam)[np.argsort(ranker)], **CLOSE)
    np.testing.assert_allclose(one.step, other.step * (lam if np.ndim(lam) == 0 else lam[rankers]), **CLOSE)
    np.testing.assert_allclose(one.edge, other.edge * (edge if np.ndim(edge) == 0 else edge[rankers]), **CLOSE)
    np.testing.assert_allclose(one.log_objective, other.log_objective + log_f, **CLOSE)
    np.testing.assert_allclose(one.z, other.z, **CLOSE)


def same_minimum(found, expected, *, lam=1.0, log_f=0.0, order=slice(None)):
    """Whether two runs of `minimize` end in one point, if it is one, and at one value."""
    (a, one), (b, other) = found, expected
    assert (one.status == "separable") == (other.status == "separable")
    assert (one.direction is None) == (other.direction is None)
    if other.status == "separable" and other.gap == np.inf:
        return  # the infimum is zero, and there are many ways to it
    assert one.objective[-1] == pytest.approx(other.objective[-1] + log_f, rel=1e-9, abs=1e-8)
    if other.status == one.status == "converged":
        # Where the objective is flat, a gap of 1e-10 is the square of a way.
        np.testing.assert_allclose(a, (b * lam)[order], rtol=1e-4, atol=1e-4 * max(1.0, np.abs(b * lam).max()))


SELECTIONS = st.sampled_from(["absolute", "signed", "largest"])
PENALTIES = st.sampled_from([0.0, 0.1])


# What does not change ---------------------------------------------------------------------------------


@given(problems(lattice=True), SELECTIONS, st.lists(st.integers(-(2**20), 2**20), min_size=4, max_size=4))
def test_a_constant_added_to_a_ranker_changes_nothing(problem, selection, constants):
    moved = problem.outputs(lambda X: X + np.array(constants[: X.shape[1]]))  # of multiples of 1/4, exact
    same_run(moved.train(selection=selection), problem.train(selection=selection))
    same_minimum(moved.minimize(0.1), problem.minimize(0.1))


@given(problems(), SELECTIONS, st.sampled_from([2.0**-30, 0.125, 3.0, 1e6, 2.0**40]), PENALTIES)
def test_a_factor_of_all_rankers_divides_the_coefficients(problem, selection, factor, l2):
    scaled = problem.outputs(lambda X: factor * X)
    runs = scaled.train(selection=selection), problem.train(selection=selection)
    if factor in (3.0, 1e6):  # these round outputs, and equal edges may part
        assert runs[0][1].log_objective[:2] == pytest.approx(runs[1][1].log_objective[:2])
    else:
        (a, one), (b, other) = runs
        same_run((a * factor, replace(one, step=one.step * factor, edge=one.edge / factor)), (b, other))
    a, one = scaled.minimize(l2 * factor**2)
    same_minimum((a * factor, one), problem.minimize(l2))


@given(problems(), SELECTIONS, st.randoms(use_true_random=False), PENALTIES)
def test_the_order_of_rows_and_the_names_of_groups_do_not_matter(problem, selection, random, l2):
    orders = [random.sample(range(len(side)), len(side)) for side in (problem.pos, problem.neg)]
    moved = problem.rows(*orders)
    moved = replace(moved, g_pos=np.array(["b", "a"])[moved.g_pos], g_neg=np.array(["b", "a"])[moved.g_neg])
    same_run(moved.train(selection=selection), problem.train(selection=selection))
    same_minimum(moved.minimize(l2), problem.minimize(l2))


@given(problems(lattice=False, least=2), SELECTIONS, st.randoms(use_true_random=False), PENALTIES)
def test_the_order_of_rankers_is_that_of_the_coefficients(problem, selection, random, l2):
    order = np.array(random.sample(range(problem.pos.shape[1]), problem.pos.shape[1]))
    moved = problem.outputs(lambda X: X[:, order])
    same_run(moved.train(selection=selection), problem.train(selection=selection), ranker=np.argsort(order))
    same_minimum(moved.minimize(l2), problem.minimize(l2), order=order)


def in_copies(problem):
    copies = problem.rows(*(np.repeat(np.arange(c.size), c.astype(int)) for c in (problem.c_pos, problem.c_neg)))
    return replace(copies, c_pos=None, c_neg=None)


@given(problems(), SELECTIONS, PENALTIES)
def test_a_weight_of_w_is_w_copies(problem, selection, l2):
    copies = in_copies(problem)
    same_run(problem.train(selection=selection), copies.train(selection=selection))
    same_minimum(problem.minimize(l2), copies.minimize(l2))


@examples(4)
@given(problems(lattice=False), SELECTIONS, st.sampled_from(PAIRS[:3]))  # at the corners of a hinge, edges are equal
def test_a_weight_of_w_is_w_copies_for_other_objectives(problem, selection, objective):
    chosen = {"price": PRICES[objective[0]], "loss": objective[1], "selection": selection}
    same_run(*(replace(rows, p=1.0).train(**chosen) for rows in (problem, in_copies(problem))))


@given(problems(), SELECTIONS, PENALTIES, st.randoms(use_true_random=False))
def test_a_row_may_be_split_into_two_of_half_its_weight(problem, selection, l2, random):
    i, k = random.randrange(len(problem.pos)), random.randrange(len(problem.neg))
    halves = problem.rows(np.append(np.arange(len(problem.pos)), i), np.append(np.arange(len(problem.neg)), k))
    halves.c_pos[[i, -1]] /= 2.0
    halves.c_neg[[k, -1]] /= 2.0
    same_run(halves.train(selection=selection), problem.train(selection=selection))
    same_minimum(halves.minimize(l2), problem.minimize(l2))


@given(problems(), SELECTIONS, PENALTIES, st.integers(2, 5), st.integers(2, 5))
def test_all_rows_repeated_shift_log_f(problem, selection, l2, r, s):
    # F_p of r copies of every positive and s of every negative is s r^p times as large.
    many = problem.rows(*(np.tile(np.arange(len(side)), m) for side, m in ((problem.pos, r), (problem.neg, s))))
    shift = np.log(s) + problem.p * np.log(r)
    same_run(many.train(selection=selection), problem.train(selection=selection), log_f=shift)
    same_minimum(many.minimize(l2), problem.minimize(l2), log_f=shift)


@given(problems(), st.lists(st.booleans(), min_size=4, max_size=4), PENALTIES)
def test_one_less_h_turns_the_sign_of_a_coefficient(problem, turned, l2):
    turned = np.array(turned[: problem.pos.shape[1]])
    sign = np.where(turned, -1.0, 1.0)
    other = problem.outputs(lambda X: np.where(turned, 1.0 - X, X))
    runs = other.train(), problem.train()
    if (problem.pos * 4 == np.round(problem.pos * 4)).all():  # else 1 - h is rounded, and equal edges may part
        same_run(*runs, lam=sign, edge=sign)
    same_minimum(other.minimize(l2), problem.minimize(l2), lam=sign)


# What does not depend on how outputs are stored -------------------------------------------------------


@examples(4)
@given(problems(lattice=True, groups=False), SELECTIONS, st.integers(1, 9), PENALTIES)
def test_all_storages_find_the_same(problem, selection, rows, l2):
    about, arguments = {"pos_weight": problem.c_pos, "neg_weight": problem.c_neg}, (problem.p, 12)
    X, Z = problem.pos, problem.neg
    grid = [[-0.75, 0.0, 0.5]] * X.shape[1]
    cuts = pnorm.rankers.thresholds(grid)
    as_columns = [np.column_stack([side[:, [j]] > np.array(grid[j]) for j in range(X.shape[1])]) for side in (X, Z)]
    binned = X, Z, cuts
    ways = {
        "functions": (X, Z, [lambda A, j=j, c=c: A[:, j] > c for j in range(X.shape[1]) for c in grid[j]]),
        "dense": (*(side.astype(float) for side in as_columns), None),
        "sparse": (*(scipy.sparse.csr_array(side.astype(float)) for side in as_columns), None),
        "sparse columns": (*(scipy.sparse.csc_array(side.astype(np.float32)) for side in as_columns), None),
        "single precision": (X.astype(np.float32), Z.astype(np.float32), cuts),
    }
    run = pnorm.train(*binned, *arguments, selection=selection, **about)
    best = pnorm.minimize(*binned, problem.p, l2=l2, **about)
    for way in ways.values():
        same_run(pnorm.train(*way, *arguments, selection=selection, **about), run)
        same_minimum(pnorm.minimize(*way, problem.p, l2=l2, **about), best)
    for way in (binned, ways["dense"], ways["functions"]):
        same_run(partitions.train(*way, *arguments, rows=rows, selection=selection, **about), run)
        same_minimum(partitions.minimize(*way, problem.p, rows=rows, l2=l2, **about), best)


@examples(4)
@given(problems(lattice=True, groups=False), SELECTIONS, st.integers(1, 9))
def test_dask_finds_the_same(problem, selection, rows):
    pytest.importorskip("dask")
    from dask import array, config

    with config.set(scheduler="synchronous"):
        sides = [array.from_array(side, chunks=(rows, -1)) for side in (problem.pos, problem.neg)]
        about = {"pos_weight": problem.c_pos, "neg_weight": problem.c_neg}
        for H in (None, pnorm.rankers.thresholds([[-0.5, 0.25]] * problem.pos.shape[1])):
            run = pnorm.dask.train(*sides, H, problem.p, 8, selection=selection, **about)
            same_run(run, pnorm.train(problem.pos, problem.neg, H, problem.p, 8, selection=selection, **about))


# What goes which way ----------------------------------------------------------------------------------


@given(problems(), SELECTIONS, st.sampled_from([None, *PAIRS]))
def test_every_round_lowers_the_objective_and_it_is_that_of_the_definition(problem, selection, objective):
    chosen = {} if objective is None else {"price": PRICES[objective[0]], "loss": objective[1]}
    if objective is not None:
        problem = replace(problem, p=1.0)
    lam, trace = problem.train(30, selection=selection, **chosen)
    values = trace.log_objective
    assert (trace.lam_at(trace.n_iter) == lam).all()
    assert (np.diff(values) <= 1e-12 * np.maximum(1.0, np.abs(values[1:]))).all()
    if objective is None:
        M = problem.pos[:, None, :] - problem.neg
        pairs = problem.g_pos[:, None] == problem.g_neg
        for t in {0, trace.n_iter // 2, trace.n_iter}:
            with np.errstate(divide="ignore"):  # a negative without a positive of its group pays nothing
                heights = logsumexp(-(M @ trace.lam_at(t)), axis=0, b=problem.c_pos[:, None] * pairs)
            exact = logsumexp(problem.p * heights, b=problem.c_neg * np.isfinite(heights))
            assert values[t] == pytest.approx(exact, rel=1e-9, abs=1e-9)
    for method in (None, "lbfgs") if objective is None else ():
        trace = problem.minimize(method=method)[1]
        objectives = trace.objective[: -1 if trace.status == "separable" else None]  # that ends with a margin of one
        assert (np.diff(objectives) <= 1e-12 * np.maximum(1.0, np.abs(objectives[1:]))).all()


@given(problems(), st.integers(0, 2**32 - 1), st.sampled_from([0.01, 1.0, 30.0]), PENALTIES)
def test_weak_duality_for_any_coefficients(problem, seed, scale, l2):
    # log F_p less its gap is below log F_p of whatever coefficients: those of other points, of train, of minimize.
    rng, n = np.random.default_rng(seed), problem.pos.shape[1]
    lams = [np.zeros(n), *rng.normal(scale=scale, size=(4, n)), problem.train()[0], problem.minimize(l2)[0]]
    upper, lower = [], []
    for lam in lams:
        certificate = pnorm.diagnostics.certificate(
            problem.pos, problem.neg, None, problem.p, lam, l2=l2, **problem.about_rows
        )
        upper.append(certificate.objective)
        lower.append(certificate.lower_bound)
        assert certificate.gap >= 0.0
    assert max(lower) <= min(upper) + 1e-9 * max(1.0, abs(min(upper)))


@given(problems(), st.sampled_from([None, *PAIRS]), st.floats(-100.0, 100.0), st.floats(-30.0, 30.0))
def test_scores_count_by_their_differences_and_weights_are_a_flow(problem, objective, shift, size):
    price, loss = (Power(problem.p), "exponential") if objective is None else (PRICES[objective[0]], objective[1])
    f_pos, f_neg = problem.pos @ np.full(problem.pos.shape[1], size / 30.0), problem.neg[:, 0]
    at, A, B = value_and_weights(f_pos, f_neg, price, loss, **problem.about_rows)
    there, A_there, B_there = value_and_weights(f_pos + shift, f_neg + shift, price, loss, **problem.about_rows)
    assert there == pytest.approx(at, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(A_there, A, rtol=1e-9, atol=1e-9 * np.abs(A).max())
    np.testing.assert_allclose(B_there, B, rtol=1e-9, atol=1e-9 * np.abs(B).max())
    # What positives gain by rising, negatives gain by falling: pairs are all there is.
    assert A.sum() == pytest.approx(B.sum(), rel=1e-9, abs=1e-12 * np.abs(A).sum())
    assert (A >= 0.0).all()
    assert (B >= 0.0).all()
