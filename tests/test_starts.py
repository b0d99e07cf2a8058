"""Where a run starts: coefficients of another run go to the weak rankers of the same names."""

import dataclasses

import numpy as np
import pytest
from facts import raises

import pnorm
from pnorm._solvers.start import start_of

NAMES = ["a", "b", "c", "d"]
RNG = np.random.default_rng(0)
POS, NEG = RNG.normal(0.3, 1, (40, 4)), RNG.normal(0, 1, (50, 4))
H = pnorm.rankers.columns(4, names=NAMES)
LAM, TRACE = pnorm.train(POS, NEG, H, 4, 20)


def in_memory(name):
    return lambda pos, neg, *rest, **more: getattr(pnorm, name)(pos, neg, *rest, **more)


def on_dask(name):
    def call(pos, neg, *rest, **more):
        da = pytest.importorskip("dask.array")
        pytest.importorskip("pnorm.dask")
        sides = (da.from_array(side, chunks=(20, -1)) for side in (pos, neg))
        return getattr(pnorm.dask, name)(*sides, *rest, **more)

    return call


# Each stops before its first step.
ENTRIES = {
    "train": (in_memory("train"), {"t_max": 0}),
    "newton": (in_memory("minimize"), {"max_iter": 0, "method": "newton"}),
    "lbfgs": (in_memory("minimize"), {"max_iter": 0, "method": "lbfgs"}),
    "dask, train": (on_dask("train"), {"t_max": 0}),
    "dask, minimize": (on_dask("minimize"), {"max_iter": 0}),
}


@pytest.fixture(params=ENTRIES)
def start(request):
    """Return the coefficients that a run on these columns starts from."""
    run, none = ENTRIES[request.param]
    return lambda rows, H, init: run(POS[:, rows], NEG[:, rows], H, 4, init=init, **none)[1].lam_at(0)


def model(path):
    pnorm.save(path, LAM, H)
    return pnorm.load(path)


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_trace_knows_its_names(entry):
    run, none = ENTRIES[entry]
    assert run(POS, NEG, H, 4, **none)[1].names == H.names


def test_coefficients_go_to_the_same_names_in_another_order(start, tmp_path):
    order = [3, 1, 0, 2]
    other = pnorm.rankers.columns(4, names=[NAMES[j] for j in order])
    for init in (TRACE, model(tmp_path / "model.json")):
        np.testing.assert_array_equal(start(order, other, init), LAM[order])
        np.testing.assert_array_equal(start(slice(None), H, init), LAM)
    np.testing.assert_array_equal(start(order, other, LAM), LAM)  # an array is taken as it comes


def test_names_that_are_new_start_at_zero(start):
    more = pnorm.rankers.thresholds([[0.5], [], [], []], names=NAMES) + H
    np.testing.assert_array_equal(start(slice(None), more, TRACE), np.r_[0.0, LAM])


def test_coefficients_without_a_place_are_refused_by_name(start, tmp_path):
    for init in (TRACE, model(tmp_path / "model.json")):
        with raises(ValueError, "of 1 weak ranker not in H: 'd'; H has others: 'e'. Cuts and levels"):
            start(slice(None), pnorm.rankers.columns(4, names=["a", "b", "c", "e"]), init)
    unused, trace = pnorm.train(POS, NEG, H, 4, 0, init=np.r_[LAM[:3], 0.0])
    np.testing.assert_array_equal(start(slice(3), pnorm.rankers.columns(3, names=NAMES[:3]), trace), unused[:3])


def test_cuts_that_are_made_anew_are_others(start):
    old, new = (pnorm.rankers.quantile_thresholds(POS[rows], NEG[rows], 3) for rows in (slice(20), slice(20, None)))
    assert len(old) == len(new)
    _, trace = pnorm.train(POS, NEG, old, 4, 20)
    with raises(ValueError, f"weak rankers? not in H: '{old.names[0]}', .*; H has others: '{new.names[0]}', "):
        start(slice(None), new, trace)


def test_a_name_that_two_weak_rankers_share_tells_nothing(start):
    twice = pnorm.rankers.columns(4, names=["a", "b", "c", "c"])
    with raises(ValueError, "several weak rankers are called 'c', so init cannot be matched by name"):
        start(
            slice(None),
            twice,
            pnorm.train(
                POS, NEG, pnorm.rankers.columns(4, names=["b", "a", "c", "d"]), init=np.r_[LAM[:3], 0.0], t_max=0
            )[1],
        )
    lam, trace = pnorm.train(POS, NEG, twice, 4, 20)
    np.testing.assert_array_equal(start(slice(None), twice, trace), lam)  # the same names in the same order do
    with raises(ValueError, "cannot be matched by name"):
        start(slice(None), pnorm.rankers.columns(4, names=["c", "a", "b", "x"]), trace)


def test_a_trace_without_names_is_not_guessed_at(start):
    with raises(ValueError, "init has no names of its weak rankers; pass the coefficients as an array"):
        start(slice(None), H, dataclasses.replace(TRACE, names=()))


@pytest.mark.parametrize("name", ["train", "minimize"])
def test_an_interrupted_run_goes_on_from_its_trace(name):
    solve = getattr(pnorm, name)
    whole, _ = solve(POS, NEG, H, 4)

    def stop(trace):
        if trace.n_iter == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as error:
        solve(POS, NEG, H, 4, callback=stop)
    np.testing.assert_allclose(solve(POS, NEG, H, 4, init=error.value.trace)[0], whole, atol=1e-6)


def test_frames_are_matched_by_their_columns():
    pandas = pytest.importorskip("pandas")
    pos, neg = (pandas.DataFrame(side, columns=NAMES) for side in (POS, NEG))
    lam, trace = pnorm.train(pos, neg, p=4, t_max=20)
    again, _ = pnorm.train(pos[NAMES[::-1]], neg[NAMES[::-1]], p=4, t_max=0, init=trace)
    np.testing.assert_array_equal(again, lam[::-1])


# Names with another meaning -----------------------------------------------------------------------------


def kept(path, lam, H):
    pnorm.save(path, lam, H)
    return pnorm.load(path)


def mixed(rows, low=0):
    return {"age": POS[rows, 0] + low, "size": np.array(["S", "M", "L"])[np.arange(len(POS[rows])) % 3].tolist()}


SCALED = [pnorm.rankers.normalized(k * POS, NEG) for k in (1.0, 4.0)]
SIZES = ["S", "M", "L"], ["XS", "S", "M", "L"]
PAIRS = {
    "other ranges": (*SCALED, "'x0' is -.* to .* scaled to 0 to 1 in init and -.* to .* scaled to 0 to 1 in H"),
    "a column and its scale": (pnorm.rankers.columns(4), SCALED[0], "'x0' is x in init and .* scaled"),
    "a function": (
        pnorm.rankers.columns(1, names=["first"]),
        pnorm.rankers.callables([lambda X: X[:, 0]], names=["first"]),
        "'first' is x in init and a function in H",
    ),
    "lines": (
        *(pnorm.rankers.quantile_thresholds(k * POS, NEG, 3, linear=True) for k in (1.0, 4.0)),
        "'x0 \\(line\\)' is a line from .* to .* through 0, .*, 1 in init and a line from",
    ),
    "text and numbers": (
        pnorm.rankers.categories([["1"], ["2"]], [["1"]]),
        pnorm.rankers.categories([[1], [2]], [[1]]),
        "2 weak rankers that differ in H: 'x0 = 1' is x = '1' in init and x = 1 in H",
    ),
    "orders": (
        *(pnorm.rankers.from_table(mixed(slice(20)), mixed(slice(20, 40)), kinds={"size": of}) for of in SIZES),
        "'size > S' is x > 0.5 of 3 levels, S, M, L in init and x > 1.5 of 4 levels, XS, S, M, L in H",
    ),
    "rare levels": (
        *(
            pnorm.rankers.from_table({"c": list("aaabbbcde" + more)}, {"c": list("aaabbb")}, min_rows=3)
            for more in ("", "ccc")
        ),
        r"'c = \(rare\)' is none of 2 levels, a, b in init and none of 3 levels, a, b, c in H",
    ),
    "complements": (*map(pnorm.rankers.closed, SCALED), r"of 8 weak rankers that differ in H"),
    "sums": (*(H + pnorm.rankers.columns(4, names=NAMES) for H in SCALED), "of 4 weak rankers that differ in H"),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_model_of_other_weak_rankers_of_the_same_names_is_refused(name, tmp_path):
    old, new, message = PAIRS[name]
    lam = np.arange(1.0, len(old) + 1)
    model = kept(tmp_path / "model.json", lam, old)
    with raises(ValueError, message):
        start_of(model, new)
    np.testing.assert_array_equal(start_of(model, old), lam)
    again = pnorm.rankers.from_dict(old.to_dict()) + pnorm.rankers.thresholds([[0.25]], names=["more"])
    np.testing.assert_array_equal(start_of(model, again), np.r_[lam, 0.0])
    unused = kept(tmp_path / "unused.json", np.zeros(len(old)), old)
    np.testing.assert_array_equal(start_of(unused, new), np.zeros(len(new)))  # of no coefficient nothing is asked


def test_cuts_are_told_apart_by_the_six_digits_of_their_names(tmp_path):
    old, same = (pnorm.rankers.thresholds([[cut]]) for cut in (0.123456, 0.1234561))
    assert old.names == same.names
    assert start_of(kept(tmp_path / "model.json", [2.0], old), same).tolist() == [2.0]


def test_a_mapping_gives_coefficients_by_name(start):
    np.testing.assert_array_equal(start_of({"c": 2, "a": -0.5}, H), [-0.5, 0.0, 2.0, 0.0])
    np.testing.assert_array_equal(start(slice(None), H, dict(zip(NAMES[::-1], LAM[::-1], strict=True))), LAM)
    np.testing.assert_array_equal(start(slice(None), H, {}), np.zeros(4))
    with raises(ValueError, "of 2 weak rankers not in H: 'e', 'f'; H has others: 'b', 'c', 'd'"):
        start(slice(None), H, {"a": 1.0, "e": 1.0, "f": 2.0, "g": 0.0})
    with raises(TypeError, r"init must have names of weak rankers for keys, as H\.names has them; got 0"):
        start(slice(None), H, {0: 1.0})
    for value in (np.inf, "1", None):
        with pytest.raises((TypeError, ValueError), match=r"init\['?a'?\]"):
            start(slice(None), H, {"a": value})
