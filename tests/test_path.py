"""`minimize_path` against `minimize` from a cold start, point by point."""

import exact
import numpy as np
import pytest
import scipy.sparse
from facts import raises
from repeats import each_value, trials

import pnorm
from pnorm import rankers
from pnorm._minimize_path import largest_penalty
from pnorm._solvers.building import build
from pnorm._solvers.path import _beyond
from pnorm.objectives._pnorm import push

PENALTIES = [3.0, 0.03, 10.0, 0.3, 1e-3]
POWERS = [8, 1, 2.5, 64, 4]


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def problem(seed=0, n_pos=60, n_neg=80, n=5):
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(n, n))
    return rng.normal(0.3, 1, (n_pos, n)) @ mix, rng.normal(0, 1, (n_neg, n)) @ mix


def weighted(seed):
    rng = np.random.default_rng(seed)
    return {"pos_weight": rng.choice([0, 0.5, 1, 3], 60), "neg_weight": rng.choice([0.01, 1, 3], 80)}


def grouped(seed):
    rng = np.random.default_rng(seed)
    return {"pos_group": rng.integers(0, 4, 60), "neg_group": rng.integers(0, 4, 80)}


def assert_same_points(path, pos, neg, H, **options):
    for k, (p, l2) in enumerate(zip(path.p, path.l2, strict=True)):
        lam, trace = pnorm.minimize(pos, neg, H, p, l2=l2, **options)
        assert path.status[k] == trace.status == "converged"
        assert path.gap[k] <= max(1e-10, 1e-14 * abs(trace.log_objective[-1]))  # the tolerance, or what rounding leaves
        assert path.traces[k].objective[-1] == pytest.approx(trace.objective[-1], rel=1e-14, abs=1e-9)
        assert path.log_objective[k] == path.traces[k].log_objective[-1]
        # what is within a gap of the minimum is this near the minimiser
        near = np.sqrt(2 * (path.gap[k] + trace.gap) / l2) if l2 > 0 else 1e-3
        assert np.linalg.norm(path.lam[k] - lam) <= near


@each_value()
@pytest.mark.parametrize("rows", [lambda seed: {}, weighted, grouped], ids=["rows", "weights", "groups"])
@pytest.mark.parametrize("seed", trials(4))
def test_every_point_is_that_of_a_cold_start(rows, seed):
    pos, neg = problem(seed)
    path = pnorm.minimize_path(pos, neg, None, 4, l2=PENALTIES, **rows(seed))
    assert path.along == "l2"
    assert path.l2.tolist() == PENALTIES
    assert path.p.tolist() == [4.0] * 5
    assert path.lam.shape == (5, 5)
    assert_same_points(path, pos, neg, None, **rows(seed))
    path = pnorm.minimize_path(pos, neg, None, POWERS, l2=0.01, **rows(seed))
    assert path.along == "p"
    assert path.p.tolist() == POWERS
    assert path.l2.tolist() == [0.01] * 5
    assert_same_points(path, pos, neg, None, **rows(seed))


@pytest.mark.parametrize("seed", trials(4))
def test_a_path_along_p_needs_no_penalty_where_there_is_a_minimiser(seed):
    pos, neg = problem(seed)
    path = pnorm.minimize_path(pos, neg, p=POWERS)
    assert path.l2.tolist() == [0.0] * 5
    assert_same_points(path, pos, neg, None)


def test_points_against_fifty_digits():
    pos, neg = problem(5, 10, 9, 2)
    path = pnorm.minimize_path(pos, neg, None, 4, l2=[1.0, 1e-2, 1e-4])
    for lam, l2, gap in zip(path.lam, path.l2, path.gap, strict=True):
        objective = exact.Objective(pos, neg, 4, l2=l2)
        infimum, _ = objective.minimum(lam)
        assert 0 <= objective.value(lam) - infimum <= gap <= 1e-10


@pytest.mark.parametrize("seed", trials(3))
def test_warm_starts_save_steps(seed):
    pos, neg = problem(seed, 200, 300, 8)
    for options in ({"p": 8, "l2": np.geomspace(1, 1e-6, 20)}, {"p": [1, 2, 4, 8, 16, 32, 64], "l2": 1e-4}):
        path = pnorm.minimize_path(pos, neg, None, **options)
        cold = [pnorm.minimize(pos, neg, None, p, l2=l2)[1].n_iter for p, l2 in zip(path.p, path.l2, strict=True)]
        assert path.n_iter.sum() < (0.5 if isinstance(options["p"], int) else 0.8) * sum(cold)
        assert path.n_iter.tolist() == [trace.n_iter for trace in path.traces]


@pytest.mark.parametrize("p", [1, 16])
def test_separable_rows_have_a_path_along_the_penalty(p):
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(1, 0.5, (40, 3)), rng.normal(-1, 0.5, (50, 3))
    pos[:, 0], neg[:, 0] = abs(pos[:, 0]) + 0.1, -abs(neg[:, 0])
    penalties = np.geomspace(10, 1e-6, 15)
    path = pnorm.minimize_path(pos, neg, None, p, l2=penalties)
    assert_same_points(path, pos, neg, None)
    cold = [pnorm.minimize(pos, neg, None, p, l2=l2)[1].n_iter for l2 in penalties]
    assert path.n_iter.sum() < 0.4 * sum(cold)
    assert (path.n_iter[-4:] == 0).all()  # nothing is left but a larger scale
    margins = (pos @ path.lam.T).min(axis=0) - (neg @ path.lam.T).max(axis=0)
    assert margins[-1] > 1e3 * margins[len(margins) // 2] > 0
    along_p = pnorm.minimize_path(pos, neg, None, [1, 4, 16, 64], l2=1e-3)
    assert_same_points(along_p, pos, neg, None)


def test_without_a_penalty_separable_rows_say_so_at_every_point():
    pos, neg = np.array([[2.0, 0.3], [3.0, 0.1]]), np.array([[0.5, 0.2], [1.0, 0.9]])
    path = pnorm.minimize_path(pos, neg, p=[4, 1])
    assert path.status == ("separable", "separable")
    assert (path.gap == np.inf).all()
    path = pnorm.minimize_path(pos, neg, l2=[0, 1])
    assert path.status == ("separable", "converged")
    assert (pos @ path.lam[0]).min() - (neg @ path.lam[0]).max() == pytest.approx(1.0)


def test_the_order_in_which_points_are_asked_for_changes_nothing():
    pos, neg = problem(6)
    for name, values, rest in (("l2", PENALTIES, {"p": 4}), ("p", POWERS, {"l2": 0.01})):
        order = np.random.default_rng(0).permutation(5)
        one = pnorm.minimize_path(pos, neg, **{name: values}, **rest)
        other = pnorm.minimize_path(pos, neg, **{name: np.array(values)[order]}, **rest)
        np.testing.assert_array_equal(getattr(other, name), np.array(values)[order])
        np.testing.assert_array_equal(other.lam, one.lam[order])
        np.testing.assert_array_equal(other.gap, one.gap[order])


def test_coefficients_grow_as_the_penalty_falls():
    pos, neg = problem(7)
    path = pnorm.minimize_path(pos, neg, None, 4)
    assert path.l2.size == 25
    np.testing.assert_allclose(path.l2[:-1] / path.l2[1:], 10**0.25)
    norms = np.linalg.norm(path.lam, axis=1)
    assert (np.diff(norms) > -1e-6).all()
    assert (np.diff(path.log_objective) < 1e-9).all()
    # at the beginning there is next to nothing to be learned, and at the end next to nothing is left
    nothing = path.traces[0].log_objective[0]
    assert nothing == pytest.approx(4 * np.log(60) + np.log(80))
    assert 0 < nothing - path.traces[0].objective[-1] <= 0.5
    _, trace = pnorm.minimize(pos, neg, None, 4)
    assert path.log_objective[-1] - trace.log_objective[-1] < 1e-3


@pytest.mark.parametrize("options", [weighted(0), grouped(0)], ids=["weights", "groups"])
def test_the_largest_penalty_is_the_square_of_the_gradient_at_zero(options):
    p, (pos, neg) = 16, problem(8)
    args = [options.get(name) for name in ("pos_weight", "neg_weight", "pos_group", "neg_group")]
    found = largest_penalty(build(pos, neg, rankers.columns(5), push(p), *args))
    objective = exact.Objective(pos, neg, p, *args[:2], *args[2:])
    gradient = [float(objective.value(1e-6 * e) - objective.value(-1e-6 * e)) / 2e-6 for e in np.eye(5)]
    assert found == pytest.approx(np.square(gradient).sum(), rel=1e-6)


@pytest.mark.parametrize("options", [{"loss": "logistic"}, {"loss": "squared_hinge"}, {"method": "lbfgs"},
                                     {"price": pnorm.objectives.Exponential(0.05)}], ids=str)  # fmt: skip
def test_other_objectives_have_paths_too(options):
    pos, neg = problem(9, 40, 30, 3)
    path = pnorm.minimize_path(pos, neg, l2=[1e-2, 1.0], **options)
    default = pnorm.minimize_path(pos, neg, **options)
    assert {*path.status, *default.status} <= {"converged"}
    start, end = default.traces[0].log_objective[0], default.log_objective[0]
    assert 0 < start - end < 1.0
    for k, l2 in enumerate(path.l2):
        lam, trace = pnorm.minimize(pos, neg, l2=l2, **options)
        assert path.traces[k].objective[-1] == pytest.approx(trace.objective[-1], rel=1e-9)
    if "price" not in options:
        along_p = pnorm.minimize_path(pos, neg, p=[2, 1], l2=0.1, **options)
        lam, trace = pnorm.minimize(pos, neg, p=2, l2=0.1, **options)
        assert along_p.traces[0].objective[-1] == pytest.approx(trace.objective[-1], rel=1e-9)


def test_outputs_are_read_once():
    pos, neg = problem()
    calls = []

    def h(X):
        calls.append(len(X))
        return X[:, 0]

    pnorm.minimize_path(pos, neg, [h], [1, 4, 16], l2=0.1)
    assert calls == [60, 80]


@pytest.mark.parametrize("make", [np.asfortranarray, scipy.sparse.csc_array, lambda X: X.astype(np.float32)])
def test_storages_agree(make):
    pos, neg = problem(10)
    pos, neg = pos.astype(np.float32).astype(float), neg.astype(np.float32).astype(float)
    one, other = (pnorm.minimize_path(of(pos), of(neg), l2=[1, 0.1], p=4) for of in (np.asarray, make))
    np.testing.assert_allclose(one.log_objective, other.log_objective, rtol=1e-9)
    H = rankers.quantile_thresholds(pos, neg, 5)
    path = pnorm.minimize_path(make(pos), make(neg), H, 4, l2=[1, 0.1])
    assert path.names == H.names
    assert_same_points(path, pos, neg, H)


def test_columns_far_from_zero():
    pos, neg = problem(11)
    one = pnorm.minimize_path(pos, neg, None, 4, l2=[1, 1e-2])
    far = pnorm.minimize_path(pos + 1e6, neg + 1e6, None, 4, l2=[1, 1e-2])
    np.testing.assert_allclose(one.lam, far.lam, rtol=1e-6)


def test_it_prints_a_line_for_each_point():
    pos, neg = problem()
    path = pnorm.minimize_path(pos, neg, None, 4, l2=[1, 0.1])
    assert len(path) == 2
    assert repr(path).startswith("<MinimizerPath: 2 points, l2 from 1 to 0.1, p = 4, ")
    assert repr(path).endswith(f"{path.n_iter.sum()} steps, converged>")
    lines = str(path).splitlines()
    assert lines[0].split() == ["l2", "log", "F_p", "|lam|", "steps", "status"]
    assert [line.split()[0] for line in lines[1:]] == ["1", "0.1"]
    assert float(lines[1].split()[2]) == pytest.approx(np.linalg.norm(path.lam[0]), rel=1e-3)
    assert "p from 1 to 4, l2 = 0" in repr(pnorm.minimize_path(pos, neg, p=[1, 4]))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"p": [1, 2], "l2": [1, 2]}, ValueError, "one of p, l1 and l2 must be a sequence, the path, and the others numbers; p and l2 are sequences"),
        ({"p": 1, "l2": 1.0}, ValueError, "none is a sequence"),
        ({"l2": []}, ValueError, "l2 is empty"),
        ({"l2": [1, -1]}, ValueError, "l2 must be zero or more; got -1"),
        ({"l2": [1, 1]}, ValueError, "l2 has 1 2 times"),
        ({"l2": "many"}, TypeError, "l2 must be a number of 0 or more, or a sequence of such numbers"),
        ({"p": [0.5, 1]}, ValueError, "p must be at least 1"),
        ({"p": [1, 4], "price": pnorm.objectives.Linear()}, ValueError, "p = 4 and price=Power(1) both set the price"),
        ({"loss": "hinge"}, ValueError, "loss 'hinge' has corners"),
        ({"loss": "logistic", "method": "newton"}, ValueError, "method 'newton' is only for the exponential loss"),
        ({"method": "bfgs"}, ValueError, "method must be one of 'newton', 'lbfgs'"),
        ({"tol": -1}, ValueError, "tol must be zero or more"),
        ({"max_iter": -1}, ValueError, "max_iter must be at least 0"),
        ({"H": []}, ValueError, "H is empty"),
    ],
)  # fmt: skip
def test_refusals(options, error, message):
    with pytest.raises(error) as caught:
        pnorm.minimize_path(*problem(), **options)
    assert message in str(caught.value)


def test_nothing_to_choose_where_no_ranker_has_an_edge():
    with raises(ValueError, "no weak ranker has an edge at zero"):
        pnorm.minimize_path([[1.0], [0.0]], [[0.0], [1.0]])
    path = pnorm.minimize_path([[1.0], [0.0]], [[0.0], [1.0]], l2=[1, 2])
    assert (path.lam == 0).all()


@pytest.mark.parametrize(("l1", "l2"), [([1.0, 1e-160], 0.5), ([1.0, 1e-300], 2.0)])
def test_no_start_is_too_large_for_its_penalty(l1, l2):
    pos, neg = np.array([[2.0, 1.0], [3.0, 2.0]]), np.array([[0.0, 1.5], [1.0, 0.0]])  # separable
    path = pnorm.minimize_path(pos, neg, None, 2, l1=l1, l2=l2)
    lam, _ = pnorm.minimize(pos, neg, None, 2, l1=l1[1], l2=l2)
    assert path.status == ("converged", "converged")
    np.testing.assert_allclose(path.lam[1], lam, rtol=1e-4)


@pytest.mark.parametrize("scale", [np.positive, np.log, np.reciprocal])
@pytest.mark.parametrize("place", [0, 1])
def test_starts_continue_two_minimisers(rng, scale, place):
    penalties = np.full((3, 2), 0.5)
    penalties[:, place] = [4.0, 2.0, 1.0]
    away, along = rng.normal(size=(2, 6))
    earlier, lam, wanted = [away + scale(x) * along for x in (4.0, 2.0, 1.0)]
    starts = _beyond(earlier, lam, *map(tuple, penalties.tolist()))
    kept = np.where(wanted * lam > 0.0, wanted, 0.0)  # none takes another sign
    assert min(np.abs(start - kept).max() for start in starts) < 1e-12


def test_no_start_goes_far_beyond_what_is_known():
    lam = np.ones(3)
    assert _beyond(lam, 2.0 * lam, (1.0, 0.0), (0.999, 0.0), (1e-9, 0.0)) == []
    assert _beyond(lam, 2.0 * lam, (1.0, 1.0), (0.5, 0.5), (0.25, 0.25)) == []
    assert _beyond(lam, 2.0 * lam, (1.0, 0.0), (0.5, 0.0), (0.0, 0.0)) == []


def test_a_path_takes_fewer_steps_than_cold_starts(rng):
    X = rng.normal(size=(80, 4))
    pos, neg = X[X[:, 0] > 0.0] + 0.5, X[X[:, 0] <= 0.0]
    H = rankers.quantile_thresholds(pos, neg, 40)
    penalties = 4.0 * 0.5 ** np.arange(12)
    path = pnorm.minimize_path(pos, neg, H, 2, l1=penalties, l2=1e-4)
    cold = [pnorm.minimize(pos, neg, H, 2, l1=l1, l2=1e-4)[1].n_iter for l1 in penalties]
    assert sum(trace.n_iter for trace in path.traces[6:]) < 0.5 * sum(cold[6:])
