"""Where a run starts: coefficients of another run go to the weak rankers of the same names."""

import dataclasses
import re

import numpy as np
import pytest

import pnorm

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
        with pytest.raises(ValueError, match=re.escape("are not in H: 'd'; H has others: 'e'. Cuts and levels")):
            start(slice(None), pnorm.rankers.columns(4, names=["a", "b", "c", "e"]), init)
    unused, trace = pnorm.train(POS, NEG, H, 4, 0, init=np.r_[LAM[:3], 0.0])
    np.testing.assert_array_equal(start(slice(3), pnorm.rankers.columns(3, names=NAMES[:3]), trace), unused[:3])


def test_cuts_that_are_made_anew_are_others(start):
    old, new = (pnorm.rankers.quantile_thresholds(POS[rows], NEG[rows], 3) for rows in (slice(20), slice(20, None)))
    assert len(old) == len(new)
    _, trace = pnorm.train(POS, NEG, old, 4, 20)
    with pytest.raises(ValueError, match=f"not in H: '{old.names[0]}', .*; H has others: '{new.names[0]}', "):
        start(slice(None), new, trace)


def test_a_name_that_two_weak_rankers_share_tells_nothing(start):
    twice = pnorm.rankers.columns(4, names=["a", "b", "c", "c"])
    with pytest.raises(ValueError, match="cannot tell apart the weak rankers called 'c': give them names of their own"):
        start(
            slice(None),
            twice,
            pnorm.train(
                POS, NEG, pnorm.rankers.columns(4, names=["b", "a", "c", "d"]), init=np.r_[LAM[:3], 0.0], t_max=0
            )[1],
        )
    lam, trace = pnorm.train(POS, NEG, twice, 4, 20)
    np.testing.assert_array_equal(start(slice(None), twice, trace), lam)  # the same names in the same order do
    with pytest.raises(ValueError, match="cannot tell apart"):
        start(slice(None), pnorm.rankers.columns(4, names=["c", "a", "b", "x"]), trace)


def test_a_trace_without_names_is_not_guessed_at(start):
    with pytest.raises(
        ValueError, match="init does not know the names of its weak rankers; pass the coefficients as an array"
    ):
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
