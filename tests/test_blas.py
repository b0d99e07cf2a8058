"""Threads of BLAS: one where products are small, and as many as before afterwards."""

import numpy as np
import pytest

import pnorm
from pnorm import _blas

threadpoolctl = pytest.importorskip("threadpoolctl")


def numbers():
    """How many threads every BLAS of the process takes."""
    return {found["num_threads"] for found in threadpoolctl.threadpool_info() if found["user_api"] == "blas"}


def problem(n):
    rng = np.random.default_rng(0)
    return rng.normal(0.2, 1, (40, n)), rng.normal(0, 1, (50, n))


@pytest.mark.parametrize("n", [2, _blas._NARROW, _blas._NARROW + 1])
def test_few_weak_rankers_ask_for_one_thread_and_many_for_none(n):
    seen = []
    pos, neg = problem(n)
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = numbers()
        pnorm.minimize(pos, neg, l2=1.0, callback=lambda _: seen.append(numbers()))
        assert numbers() == before
    assert seen[0] == ({1} if n <= _blas._NARROW else before)


def test_the_last_of_several_runs_gives_the_threads_back():
    seen = []
    pos, neg = problem(3)

    def another(_):
        pnorm.minimize(pos, neg, l2=0.5)
        seen.append(numbers())

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = numbers()
        pnorm.minimize(pos, neg, l2=1.0, callback=another)
        assert numbers() == before
    assert seen[0] == {1}


def test_an_error_gives_the_threads_back():
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = numbers()
        with pytest.raises(ZeroDivisionError):
            pnorm.minimize(*problem(3), l2=1.0, callback=lambda _: 1 / 0)
        assert numbers() == before


def test_without_threadpoolctl_all_goes_as_before(monkeypatch):
    expected = pnorm.minimize(*problem(3), l2=1.0)[0]
    monkeypatch.setattr(_blas, "_libraries", lambda: None)
    np.testing.assert_array_equal(pnorm.minimize(*problem(3), l2=1.0)[0], expected)
