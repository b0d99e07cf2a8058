"""Every refusal names the argument and what is wrong with it."""

import numpy as np
import pytest
import scipy.sparse
from facts import raises

import pnorm
from pnorm import _checks

GOOD = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]])
NAN, INF = GOOD.copy(), GOOD.copy()
NAN[1, 0], INF[2, 1] = np.nan, -np.inf


def first(X):
    return X[:, 0]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        # the rows
        ({"pos": []}, ValueError, "pos is empty; at least one row is needed"),
        ({"neg": np.empty((0, 2))}, ValueError, "neg is empty"),
        ({"pos": np.empty((3, 0)), "neg": np.empty((3, 0))}, ValueError, "pos has no columns; got shape (3, 0)"),
        (
            {"pos": [1.0, 2.0]},
            ValueError,
            "pos must be two-dimensional (rows, columns); got shape (2,); a single column has",
        ),
        (
            {"neg": [1.0, 0.0]},
            ValueError,
            "got shape (2,). If neg holds labels, call pnorm.train(X, y=labels); pnorm.split(X, labels) returns pos",
        ),
        ({"neg": np.zeros((2, 2, 2))}, ValueError, "neg must be two-dimensional (rows, columns); got shape (2, 2, 2)"),
        ({"pos": NAN}, ValueError, "pos has nan at row 1, column 0; every value must be finite"),
        ({"neg": INF}, ValueError, "neg has -inf at row 2, column 1"),
        ({"neg": NAN.astype(np.float32)}, ValueError, "neg has nan at row 1, column 0"),
        ({"pos": np.asfortranarray(NAN)}, ValueError, "pos has nan at row 1, column 0"),
        ({"pos": [[1.0, None]]}, ValueError, "pos has None at row 0, column 1"),
        (
            {"pos": [[1.0, "a"], [2.0, "b"]]},
            TypeError,
            "pos has 'a' (str) at row 0, column 1; every value must be a real number: ",
        ),
        ({"pos": np.array([[1.0, "a"]], dtype=object)}, TypeError, "pos has 'a' (str) at row 0, column 1"),
        ({"pos": GOOD + 1j}, TypeError, "pos must hold real numbers; got dtype complex128"),
        ({"pos": np.array([["2020-01-01"] * 2], dtype="datetime64[D]")}, TypeError, "pos must hold real numbers"),
        (
            {"pos": [[1.0, 2.0], [3.0]]},
            ValueError,
            "pos cannot be read as an array: its rows differ in length, 2 in pos[0] and 1 in pos[1]",
        ),
        (
            {"pos": np.ma.masked_less(GOOD, 1)},
            ValueError,
            "pos is a masked array with a masked value at (2, 0)",
        ),
        ({"pos": np.ones((3, 3))}, ValueError, "pos has 3 columns and neg has 2; both sides need the same columns"),
        (
            {"pos": np.ones((3, 3)), "neg": np.ones((3, 1))},
            ValueError,
            "pos has 3 columns and neg has 1; both sides need the same columns. If neg holds labels, call pnorm.train(",
        ),
        (
            {"neg": "bought"},
            ValueError,
            "got 'bought'. If this names the column of labels, call pnorm.train(X, y='bought')",
        ),
        ({"pos": 3.0}, TypeError, "pos must be a sequence of rows or a two-dimensional array; got float"),
        (
            {"pos": [[1.0, 1e308]], "neg": [[1.0, -1e308]]},
            ValueError,
            "x1 spans -1e+308 to 1e+308, more than a float can",
        ),
        ({"pos": scipy.sparse.csr_array(NAN)}, ValueError, "pos has nan at row 1, column 0"),
        ({"pos": scipy.sparse.csr_array(GOOD)}, TypeError, "one of pos and neg is sparse and the other is not"),
        (
            {"pos": scipy.sparse.csr_array(GOOD + 1j)},
            TypeError,
            "pos must hold real numbers; got sparse dtype complex128",
        ),
        # the weak rankers
        ({"H": []}, ValueError, "H is empty; at least one weak ranker is needed"),
        (
            {"H": first},
            TypeError,
            "H must be a sequence of callables, a collection made by pnorm.rankers, or None; "
            "got function: put it into a list",
        ),
        ({"H": np.ones(2)}, TypeError, "got ndarray: coefficients come after H, as in pnorm.score(X, None, lam)"),
        ({"H": GOOD}, TypeError, "got ndarray: a matrix of outputs goes in as pos and neg, with H=None"),
        ({"H": 4.0}, TypeError, "got float: p comes after H, write p=4.0"),
        ({"H": [first, 3]}, TypeError, "H[1] is not callable; got int"),
        (
            {"H": [first, lambda X: X[:2, 0]]},
            ValueError,
            "the output of H[1] (h1) on pos must have shape (3,), one value for each row of pos; got shape (2,)",
        ),
        ({"H": [lambda X: X]}, ValueError, "the output of H[0] (h0) on pos must have shape (3,)"),
        (
            {"H": [lambda X: np.where(X[:, 0] < 3, 1, np.inf)]},
            ValueError,
            "the output of H[0] (h0) on pos has inf at position 1",
        ),
        ({"H": [lambda X: ["a"] * len(X)]}, TypeError, "the output of H[0] (h0) on pos must hold real numbers"),
        ({"H": [lambda X: [[1], [1, 2], 3]]}, ValueError, "the output of H[0] (h0) on pos cannot be read"),
        ({"H": pnorm.rankers.columns(5)}, ValueError, "pos has 2 columns; these weak rankers were made for 5"),
        # numbers
        ({"p": 0.5}, ValueError, "p must be at least 1 (p = 1 is RankBoost); got 0.5"),
        ({"p": float("nan")}, ValueError, "p must be finite; got nan"),
        ({"p": np.inf}, ValueError, "p must be finite; got inf"),
        ({"p": "2"}, TypeError, "p must be a real number; got '2' (str)"),
        ({"p": True}, TypeError, "p must be a real number; got True (bool)"),
        ({"p": None}, TypeError, "p must be a real number; got None"),
        ({"t_max": -1}, ValueError, "t_max must be at least 0; got -1"),
        ({"t_max": 2.5}, TypeError, "t_max must be an integer; got 2.5 (float)"),
        ({"tol": -1e-3}, ValueError, "tol must be zero or more; got -0.001"),
        ({"tol": np.nan}, ValueError, "tol must be finite; got nan"),
        ({"n_threads": 0}, ValueError, "n_threads must be at least 1; got 0"),
        ({"n_threads": 1.5}, TypeError, "n_threads must be an integer; got 1.5"),
        ({"selection": "top"}, ValueError, "selection must be one of 'absolute', 'signed', 'largest'; got 'top'"),
        ({"callback": 3}, TypeError, "callback must be a function of the trace so far, or None; got int"),
        # vectors
        ({"pos_weight": [1, 2]}, ValueError, "pos_weight must have shape (3,), one weight per row; got shape (2,)"),
        ({"neg_weight": [1, -2, 1]}, ValueError, "neg_weight has the negative weight -2.0 at row 1"),
        ({"neg_weight": [0, 0, 0]}, ValueError, "neg_weight is all zero; at least one row needs a positive weight"),
        ({"pos_weight": [1, np.nan, 1]}, ValueError, "pos_weight has nan at position 1; every value must be finite"),
        ({"pos_weight": ["a", "b", "c"]}, TypeError, "pos_weight must hold real numbers; got dtype <U1"),
        ({"pos_weight": 1.0}, ValueError, "pos_weight must have shape (3,), one weight per row; got shape ()"),
        (
            {"init": pnorm.train(GOOD, GOOD)},
            TypeError,
            "init must be an array; got the pair (lam, trace) that train returns",
        ),
        ({"init": [1.0]}, ValueError, "init must have shape (2,), one coefficient per weak ranker; got shape (1,)"),
        (
            {"pos_weight": np.ma.masked_equal([1, 0, 1], 0)},
            ValueError,
            "pos_weight is a masked array with a masked value at (1)",
        ),
        (
            {"init": [1e308, -1e308]},
            ValueError,
            "init gives scores that, times p, overflow; scale it down",
        ),
        ({"p": 10**400}, ValueError, "p must be finite; got 1000"),
        ({"init": [1.0, np.inf]}, ValueError, "init has inf at position 1; every value must be finite"),
    ],
)
def test_train_refuses(arguments, error, message):
    with raises(error, message):
        pnorm.train(**{"pos": GOOD, "neg": GOOD, **arguments})


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
@pytest.mark.parametrize(("name", "at", "value"), [("indices", 0, 10**9), ("indices", 1, -7), ("indptr", 1, 10**9)])
def test_indices_that_lead_out_of_a_sparse_matrix_are_refused(form, name, at, value):
    A = scipy.sparse.csr_array(GOOD).asformat(form)
    getattr(A, name)[at] = value
    for use in (lambda: pnorm.train(A, A), lambda: pnorm.score(A, None, [1.0, 0.0])):
        with raises(ValueError, r"is a sparse matrix (with an entry in|whose arrays do not fit together: )"):
            use()


@pytest.mark.parametrize(
    ("form", "name", "at", "value"),
    [
        ("coo", "row", 0, 3),
        ("coo", "col", 0, 2),
        ("coo", "col", 0, -1),
        ("coo", "row", -1, None),
        ("coo", "col", -1, None),
        ("coo", "data", -1, None),
        ("csr", "indices", 0, 2),
        ("csr", "indices", 0, -1),
        ("csr", "indices", -1, None),
        ("csr", "indptr", 0, 1),
        ("csr", "indptr", 1, 5),
        ("csr", "indptr", -1, 6),
        ("csr", "indptr", -1, None),
        ("csr", "data", -1, None),
        ("csc", "indices", 0, 3),
        ("csc", "indptr", -1, 6),
        ("bsr", "indices", 0, 1),
        ("bsr", "indptr", -1, 4),
        ("bsr", "data", -1, None),
    ],
)
def test_a_sparse_matrix_one_of_whose_numbers_is_off_by_one_is_refused(form, name, at, value):
    A = scipy.sparse.coo_array(GOOD)  # five numbers are stored; in blocks of a row each, three
    A = A.asformat(form) if form != "bsr" else A.tobsr(blocksize=(1, 2))
    array = getattr(A, name).copy()
    if value is None:
        array = array[:at]
    else:
        array[at] = value
    setattr(A, name, array)
    with raises(ValueError, "it has been changed since it was made"):
        _checks.sparse(A, "pos")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_that_lie_between_the_addresses_of_numbers_are_moved(dtype):
    rows = np.random.default_rng(3).normal(size=(2, 40, 3)).astype(dtype)
    between = np.zeros(rows.nbytes + 1, np.uint8)[1:].view(dtype).reshape(rows.shape)
    between[:] = rows
    assert not between.flags.aligned
    assert _checks.matrix(between[0], "pos").flags.aligned
    np.testing.assert_array_equal(pnorm.train(*between, t_max=9)[0], pnorm.train(*rows, t_max=9)[0])


def test_nothing_is_computed_before_the_checks():
    def never(X):
        raise AssertionError("evaluated")

    for bad in (
        {"t_max": -1},
        {"tol": -1},
        {"selection": "?"},
        {"p": 0},
        {"callback": 3},
        {"n_threads": 0},
        {"pos_weight": [-1, 1, 1]},
        {"neg_weight": [0, 0, 0]},
        {"init": [1, 2]},
    ):
        with raises((ValueError, TypeError), next(iter(bad))):
            pnorm.train(GOOD, GOOD, [never], **bad)


SHARED = [
    ({"pos": NAN}, ValueError, "pos has nan at row 1, column 0; every value must be finite"),
    ({"neg": GOOD[:, :1]}, ValueError, "pos has 2 columns and neg has 1"),
    ({"H": 3}, TypeError, "H must be a sequence of callables, a collection made by pnorm.rankers, or None; got int"),
    ({"neg_weight": [1.0, -2.0, 1.0]}, ValueError, "neg_weight has the negative weight -2.0 at row 1"),
    ({"pos_group": [0, 0, 1]}, ValueError, "pos_group is given and neg_group is not; pairs form within a group"),
    ({"neg_group": [0, 0, 1]}, ValueError, "neg_group is given and pos_group is not"),
    (
        {"pos_group": [0, 0], "neg_group": [0, 0, 1]},
        ValueError,
        "pos_group must hold one label per row, 3; got 2",
    ),
    ({"pos_group": [0, 0, None], "neg_group": [0, 0, 1]}, ValueError, "pos_group has None at row 2"),
    ({"pos_group": [0, 0, 1], "neg_group": [0, np.nan, 1]}, ValueError, "neg_group has nan at row 1"),
    ({"pos_group": [[0], [1], [0]], "neg_group": [0, 0, 1]}, TypeError, "the labels of pos_group must be hashable"),
    ({"pos_group": "aab", "neg_group": "ccd"}, ValueError, "pos_group and neg_group share no label"),
    (
        {"pos_group": "aab", "neg_group": "bbb", "pos_weight": [1, 1, 0]},
        ValueError,
        "share no label among rows of positive weight: no pair is left",
    ),
]
GRADES = [
    (
        {"pos_grade": [1, 0, 1]},
        ValueError,
        "pos_grade is given and neg_grade is not; a pair has a positive of the higher",
    ),
    ({"neg_grade": [1, 0, 1]}, ValueError, "neg_grade is given and pos_grade is not"),
    (
        {"pos_grade": [1, 0], "neg_grade": [0, 0, 1]},
        ValueError,
        "pos_grade must have shape (3,), one grade per row; got shape (2,)",
    ),
    ({"pos_grade": [1, 0, 1], "neg_grade": [0, np.nan, 1]}, ValueError, "neg_grade has nan at position 1"),
    ({"pos_grade": [1, np.inf, 1], "neg_grade": [0, 0, 1]}, ValueError, "pos_grade has inf at position 1"),
    (
        {"pos_grade": list("aab"), "neg_grade": [0, 0, 1]},
        TypeError,
        "pos_grade must hold real numbers; got dtype <U1; grades are numbers: map words",
    ),
    ({"pos_grade": [0, 0, 1], "neg_grade": [1, 2, 3]}, ValueError, "pos_grade is nowhere above neg_grade"),
    (
        {"pos_grade": [1, 1, 2], "neg_grade": [1, 1, 1], "pos_weight": [1, 1, 0]},
        ValueError,
        "pos_grade is nowhere above neg_grade among rows of positive weight: no pair is left",
    ),
    (
        {"pos_grade": [1, 1, 2], "neg_grade": [1, 1, 1], "pos_group": "aab", "neg_group": "aaa"},
        ValueError,
        "pos_grade is in no group of pos_group and neg_group above neg_grade",
    ),
]
POWER = [
    ({"p": 0.5}, ValueError, "p must be at least 1"),
    ({"p": "4"}, TypeError, "p must be a real number; got '4'"),
]
COEFFICIENTS = [
    ({"lam": [1.0]}, ValueError, "lam must have shape (2,), one coefficient per weak ranker; got shape (1,)"),
    ({"lam": [1.0, np.nan]}, ValueError, "lam has nan at position 1; every value must be finite"),
    ({"lam": [1e308, -1e308]}, ValueError, "lam gives scores that, times p, overflow; scale it down"),
    ({"lam": pnorm.minimize(GOOD, GOOD)}, TypeError, "lam must be an array; got the pair (lam, trace)"),
    ({"lam": pnorm.minimize(GOOD, GOOD)[1]}, TypeError, "lam must be an array; got a Trace: pass the coefficients"),
]
PENALTY = [
    ({"l2": -1}, ValueError, "l2 must be zero or more; got -1"),
    ({"l2": "much"}, TypeError, "l2 must be a real number; got 'much'"),
]
MINIMIZE = [
    ({"tol": -1e-3}, ValueError, "tol must be zero or more"),
    ({"max_iter": -1}, ValueError, "max_iter must be at least 0; got -1"),
    ({"max_iter": 1.5}, TypeError, "max_iter must be an integer; got 1.5 (float)"),
    ({"method": "sgd"}, ValueError, "method must be one of 'newton', 'lbfgs'; got 'sgd'"),
    ({"callback": 1}, TypeError, "callback must be a function of the trace so far, or None; got int"),
    ({"init": [1.0]}, ValueError, "init must have shape (2,), one coefficient per weak ranker"),
    ({"init": [1e308, -1e308]}, ValueError, "init gives scores that, times p, overflow"),
]
SIGNS = [
    ({"signs": [1, 2]}, ValueError, "signs has 2 at position 1; a sign is 1 (at least zero), -1 (at most zero) or 0"),
    ({"signs": [1]}, ValueError, "signs must have shape (2,), one sign per weak ranker; got shape (1,)"),
]
BOTH_PENALTIES = [
    *PENALTY,
    ({"l1": -1}, ValueError, "l1 must be zero or more; got -1"),
    ({"penalty": "cuts"}, ValueError, "penalty must be one of 'coefficients', 'shapes'; got 'cuts'"),
]
LAM = {"lam": [1.0, 0.0]}
WITHIN = [({"signs": [-1, 0]}, ValueError, "lam has the coefficient 1 for x0, whose sign must be -1, zero or less")]


@pytest.mark.parametrize(
    ("function", "given", "wrong"),
    [
        (pnorm.train, {}, SHARED + GRADES + POWER),
        (pnorm.minimize, {}, SHARED + GRADES + POWER + BOTH_PENALTIES + SIGNS + MINIMIZE),
        (pnorm.minimize_path, {}, SHARED + GRADES),
        (
            pnorm.diagnostics.certificate,
            {"H": None, "p": 2, **LAM},
            SHARED + GRADES + POWER + BOTH_PENALTIES + SIGNS + COEFFICIENTS + WITHIN,
        ),
        (
            pnorm.diagnostics.report,
            {"H": None, "p": 2, **LAM},
            SHARED + POWER + BOTH_PENALTIES + SIGNS + COEFFICIENTS + WITHIN,
        ),
        (pnorm.diagnostics.separability, {}, SHARED + SIGNS),
        (pnorm.diagnostics.q_limit, {"H": None, "p": 2}, SHARED + POWER),
        (pnorm.diagnostics.q_prime, {"H": None, **LAM}, SHARED + COEFFICIENTS),
        (pnorm.diagnostics.same_limit, {"H": None, "lam1": [1.0, 0.0], "lam2": [1.0, 0.0]}, SHARED),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_minimize_and_diagnostics_refuse(function, given, wrong):
    for arguments, error, message in wrong:
        with raises(error, message):
            function(**{"pos": GOOD, "neg": GOOD, **given, **arguments})


def test_minimize_computes_nothing_before_the_checks():
    def never(X):
        raise AssertionError("evaluated")

    for arguments, error, _ in POWER + BOTH_PENALTIES + MINIMIZE[:-2] + SHARED[3:]:
        with pytest.raises(error):
            pnorm.minimize(GOOD, GOOD, [never], **arguments)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda d: d.same_limit(GOOD, GOOD, None, [1, 2], [1]), ValueError, "lam2 must have shape (2,)"),
        (lambda d: d.same_limit(GOOD, GOOD, None, [1], [1, 2]), ValueError, "lam1 must have shape (2,)"),
        (
            lambda d: d.convergence([1, 2], 0.0),
            TypeError,
            "trace must be the trace that train or minimize returns, the second value",
        ),
        (lambda d: d.convergence(TRACE, "low"), TypeError, "limit must be a real number; got 'low'"),
        (lambda d: d.convergence(TRACE, 0.0, 0.1), TypeError, "accuracies must be a sequence of numbers"),
        (
            lambda d: d.convergence(TRACE, d.q_limit([[1.0]], [[0.0]], None, 1)),
            ValueError,
            "limit comes from separable data",
        ),
        (
            lambda d: d.convergence(TRACE, pnorm.minimize([[1.0]], [[0.0]])[1]),
            ValueError,
            "limit has no certificate",
        ),
        (lambda d: d.convergence(TRACE, TRACE), ValueError, "limit has no certificate"),
        (lambda d: d.convergence(TRACE, 25.0), ValueError, "below limit, so limit is not its infimum"),
        (lambda d: LIMIT.distance([1.0], [0.0, 1.0]), ValueError, "f_pos must have shape (3,), one score per positive"),
        (lambda d: LIMIT.distance([1.0, 2.0, 0.0], [0.0, np.nan, 1.0]), ValueError, "f_neg has nan at position 1"),
        (lambda d: d.phi([[1, -1.0]], 2), ValueError, "q has -1.0 at pair (0, 1); every number must be zero or more"),
        (lambda d: d.phi([1.0], 2), ValueError, "q must be two-dimensional"),
        (lambda d: d.phi([[1.0]], 0), ValueError, "p must be at least 1"),
        (lambda d: d.bregman_distance([[1.0]], [[1.0, 2]], 2), ValueError, "the same shape; got (1, 1) and (1, 2)"),
        (lambda d: d.bregman_distance([[1.0]], [[np.inf]], 2), ValueError, "b has inf at row 0, column 0"),
        (
            lambda d: d.legendre_bregman_projection([[1.0]], [[1.0, 2]], 2),
            ValueError,
            "q and v must have the same shape",
        ),
        (
            lambda d: d.primal_objective(np.ones((100, 1)), 400),
            ValueError,
            "100 ** 399 overflows; pass a smaller p or fewer rows",
        ),
    ],
)
def test_diagnostics_refuse(call, error, message):
    with raises(error, message):
        call(pnorm.diagnostics)


TRACE = pnorm.train(GOOD, GOOD)[1]
LIMIT = pnorm.diagnostics.q_limit(GOOD, GOOD, None, 2)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            (GOOD, [first], [1.0, 2.0]),
            ValueError,
            "lam must have shape (1,), one coefficient per weak ranker; got shape (2,)",
        ),
        ((GOOD, None, [1.0]), ValueError, "weak ranker, which are the columns of X if H is None; got shape (1,)"),
        (([[1.0], [2.0, 3.0]], None, [1.0]), ValueError, "1 in X[0] and 2 in X[1]"),
        ((NAN, None, [1.0, 2.0]), ValueError, "X has nan at row 1, column 0"),
        (([], None, [1.0]), ValueError, "X"),
        ((GOOD, [first], [np.nan]), ValueError, "lam has nan at position 0"),
        (
            (GOOD, pnorm.rankers.columns(3), [1.0, 1, 1]),
            ValueError,
            "X has 2 columns; these weak rankers were made for 3",
        ),
        ((GOOD, [lambda X: [1.0]], [1.0]), ValueError, "the output of H[0] (h0) on X must have shape (3,)"),
    ],
)
def test_score_refuses(arguments, error, message):
    with raises(error, message):
        pnorm.score(*arguments)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda r: r.columns(0), ValueError, "the number of columns must be at least 1; got 0"),
        (lambda r: r.columns(2, names=["a"]), ValueError, "names must be a sequence of 2 names, one per ranker"),
        (lambda r: r.columns(2, names="ab"), ValueError, "names must be a sequence of 2 names"),
        (lambda r: r.columns(GOOD, np.ones((2, 3))), ValueError, "pos has 2 columns and neg has 3"),
        (
            lambda r: r.normalized(GOOD, GOOD, 1, 1),
            ValueError,
            "low must be below high, by no more than a float can hold; got low=1.0 and high=1.0",
        ),
        (lambda r: r.normalized(GOOD, GOOD, "0"), TypeError, "low must be a real number; got '0'"),
        (lambda r: r.normalized([[1e308]], [[-1e308]]), ValueError, "more than a float can hold"),
        (lambda r: r.normalized(*[scipy.sparse.csr_array(GOOD)] * 2), TypeError, "would make sparse data dense"),
        (lambda r: r.thresholds([[], []]), ValueError, "cuts is empty; give at least one cut"),
        (lambda r: r.thresholds({}), ValueError, "cuts is empty"),
        (
            lambda r: r.thresholds(None),
            TypeError,
            "cuts must be a sequence or mapping of sequences of numbers; got NoneType",
        ),
        (lambda r: r.thresholds([[np.nan]]), ValueError, "cuts of column 0 must be finite; got nan"),
        (lambda r: r.thresholds({-1: [2]}), ValueError, "a column of cuts must be at least 0; got -1"),
        (
            lambda r: r.thresholds({3: [2]}, names=["a"]),
            ValueError,
            "cuts of column 3, counted from 0, and only 1 names",
        ),
        (
            lambda r: r.thresholds({3: [2]}).evaluate(GOOD),
            ValueError,
            "X has 2 columns; these weak rankers cut column 3",
        ),
        (lambda r: r.thresholds([[1], 2]), TypeError, "cuts of column 1 must be a sequence of numbers; got 2"),
        (lambda r: r.quantile_thresholds(GOOD, GOOD, 0), ValueError, "n_cuts must be at least 1; got 0"),
        (lambda r: r.quantile_thresholds([[1]], [[1]]), ValueError, "every column is constant"),
        (lambda r: r.callables([len], names=["a", "b"]), ValueError, "names must be a sequence of 1 names"),
        (lambda r: r.callables("len"), TypeError, "got str"),
    ],
)
def test_rankers_refuse(make, error, message):
    with raises(error, message):
        make(pnorm.rankers)


def test_frames_with_other_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(GOOD, columns=["age", "dose"])
    swapped = frame[["dose", "age"]]
    message = "neg has the column 'dose' in the place of 'age'; bring its columns into the order of those before: neg[['age', 'dose']]"
    for make in (pnorm.rankers.columns, pnorm.rankers.normalized, pnorm.rankers.quantile_thresholds, pnorm.train):
        with raises(ValueError, message):
            make(frame, swapped)
    for make in (pnorm.rankers.columns, pnorm.rankers.normalized, pnorm.rankers.quantile_thresholds):
        H = make(frame, frame)
        lam = np.ones(len(H))
        np.testing.assert_array_equal(pnorm.score(frame, H, lam), pnorm.score(GOOD, H, lam))
        np.testing.assert_array_equal(pnorm.score(swapped, H, lam), pnorm.score(GOOD, H, lam))
        with raises(ValueError, "X lacks the column 'dose' which the weak rankers need"):
            pnorm.score(frame.rename(columns={"dose": "doze"}), H, lam)
        with raises(ValueError, "X has two columns of one name"):
            pnorm.score(frame.rename(columns={"dose": "age"}), H, lam)
    frame.loc[1, "dose"] = np.nan
    with raises(ValueError, "pos has nan at row 1, column 1 ('dose')"):
        pnorm.train(frame, GOOD)
    frame["dose"] = pandas.array([1, None, 3], dtype="Int64")
    with raises(ValueError, "pos has <NA> at row 1, column 1 ('dose'); every value must be finite"):
        pnorm.train(frame, GOOD)


@pytest.mark.parametrize("measure", [pnorm.metrics.auc, pnorm.metrics.positives_at_top])
def test_metrics_refuse(measure):
    for arguments, message in [
        (([], [1.0]), "f_pos is empty"),
        (([1.0], [[1.0]]), "f_neg must have shape (N,), one score per row; got shape (1, 1)"),
        (([np.nan], [1.0]), "f_pos has nan at position 0"),
    ]:
        with raises(ValueError, message):
            measure(*arguments)


@pytest.mark.parametrize("H", [None, pnorm.rankers.columns(2)])
def test_whole_numbers_in_lists_that_differ_between_the_sides_alone(H):
    pos, neg = [[1, 0], [2**60, 1]], [[0, 1], [2**60 + 3, 0]]
    for rows in ((pos, neg), (np.array(pos), np.array(neg))):
        with raises(ValueError, "pos or neg has 1152921504606846976 and 1152921504606846979"):
            pnorm.train(*rows, H)
