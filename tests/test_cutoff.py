"""Cut-offs against brute force, and against lists whose truth is known."""

import itertools
import json
import math
import re
from collections import Counter
from functools import cache

import numpy as np
import pytest
from facts import raises, tells, warns
from repeats import TRIALS, each_value
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import beta, betabinom, binom, binomtest, hypergeom

import pnorm
from pnorm import _cutoff
from pnorm._cutoff import choose, cuts, record

LISTS, FEWER = 200 * TRIALS, 150 * TRIALS


def normal_list(rng, n=500, share=0.3, apart=2.0):
    y = rng.random(n) < share
    f = rng.normal(size=n) + apart * y
    return f[y], f[~y]


F_POS, F_NEG = map(np.sort, normal_list(np.random.default_rng(1)))


# The laws of counts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("x", "y"), [(0, 5), (5, 0), (1, 1), (40, 7), (300, 20)])
@pytest.mark.parametrize("level", [0.025, 0.001])
def test_bounds_on_a_share_are_those_of_scipy(x, y, level):
    exact = binomtest(x, x + y).proportion_ci(1.0 - 2.0 * level, method="exact")
    assert cuts._low(x, y, level) == pytest.approx(exact.low, rel=1e-9)
    assert cuts._high(x, y, level) == pytest.approx(exact.high, rel=1e-9)


def test_a_cut_is_accepted_just_where_its_lower_bound_reaches_the_precision():
    rows = cuts.DrawnRows(F_POS, F_NEG)
    for x, y in itertools.product((0, 1, 30, 50), (0, 1, 7)):
        cut = cuts.Cut(0.0, x, y)
        assert rows.p_value(x, y, 0.8) == pytest.approx(binom.sf(x - 1, x + y, 0.8), rel=1e-9)
        if x + y:
            assert (rows.p_value(x, y, 0.8) <= 0.05) == (rows.low(cut, 0.05) >= 0.8)


@pytest.mark.parametrize(
    ("n_pos", "n_neg", "x", "y"), [(10, 20, 3, 0), (50, 80, 20, 4), (300, 700, 100, 30), (8, 8, 8, 3)]
)
def test_two_betas_are_compared_as_counts_of_a_common_order(n_pos, n_neg, x, y):
    """At ratio 1, x positives stand before y + 1 negatives in random order: Fisher's law."""
    found = cuts._below((x, n_pos - x + 1), (y + 1, n_neg - y), 1.0)
    assert found == pytest.approx(hypergeom.sf(x - 1, n_pos + n_neg, n_pos, x + y), rel=1e-5)


@each_value()
@pytest.mark.parametrize("ratio", [0.3, 2.0, 40.0])
@pytest.mark.parametrize(("U", "V"), [((3, 8), (1, 20)), ((20, 31), (5, 76)), ((30, 1), (2, 400)), ((1, 1), (1, 1))])
def test_two_betas_against_quadrature(U, V, ratio):
    inside, _ = quad(lambda v: beta.cdf(min(1.0, ratio * v), *U) * beta.pdf(v, *V), 0.0, 1.0, limit=200,
                     points=sorted({min(1.0, 1.0 / ratio), beta.mean(*V)}))  # fmt: skip
    assert cuts._below(U, V, ratio) == pytest.approx(inside, rel=2e-3, abs=1e-9)


def test_two_betas_at_their_ends():
    assert cuts._below((0, 5), (1, 4), 1e-9) == 1.0  # no positives
    assert cuts._below((3, 4), (6, 0), 0.5) == pytest.approx(beta.cdf(0.5, 3, 4))  # all negatives
    assert cuts._below((4, 0), (2, 5), 2.0) == pytest.approx(beta.sf(0.5, 2, 5))
    assert cuts._below((4, 0), (2, 0), 2.0) == 1.0
    assert cuts._below((4, 0), (2, 0), 0.5) == 0.0


def test_bounds_with_a_prior_are_where_the_test_turns():
    rows = cuts.ReweightedRows(F_POS, F_NEG, 0.05)
    cut = rows.at(1.5)
    low = rows.low(cut, 0.05)
    assert rows.p_value(cut.pos, cut.neg, low) == pytest.approx(0.05)
    assert rows.p_value(cut.pos, cut.neg, low * 1.01) > 0.05
    assert rows.low(cut, 0.01) < low < rows.precision(cut) < rows.high(cut, 0.05) < rows.high(cut, 0.01)
    assert rows.high(cuts.Cut(9.0, 5, 0), 0.05) == 1.0
    assert rows.low(cuts.Cut(9.0, 0, 5), 0.05) == 0.0


@pytest.mark.parametrize(("hits", "others", "n"), [(0, 30, 40), (7, 13, 40), (20, 0, 40), (203, 797, 1000), (9, 91, 1)])
def test_hits_of_one_list_are_quantiles_of_a_beta_binomial(hits, others, n):
    lower, upper = cuts.shares_at_nodes(hits, others)
    laws = [betabinom(n, hits, others + 1) if hits else None, betabinom(n, hits + 1, others) if others else None]
    for shares, law, certain in zip((lower, upper), laws, (0, n), strict=True):
        for level in (0.0125, 0.5, 0.9875):
            found = cuts.quantile(n, shares, level)
            if law is None:
                assert found == certain
            else:
                assert law.cdf(found - 1) - 1e-9 < level <= law.cdf(found) + 1e-9


# Which cut --------------------------------------------------------------------------------------------


def test_the_depths_are_the_least_that_allow_so_many_wrong_rows():
    rows = cuts.DrawnRows(*normal_list(np.random.default_rng(0), 2000))
    sizes = cuts._sizes(lambda x, y: rows.p_value(x, y, 0.8), 0.05, rows)
    assert [y for _, y in sizes[:8]] == [1, 2, 3, 4, 5, 6, 7, 8]
    for x, y in sizes:
        assert binom.cdf(y, x + y, 0.2) <= 0.05 < binom.cdf(y, x - 1 + y, 0.2)
    assert all(b[1] <= max(a[1] + 1, 1.2 * a[1]) for a, b in itertools.pairwise(sizes))
    assert sum(sizes[-1]) < 2000


def test_a_short_list_begins_without_a_wrong_row():
    rows = cuts.DrawnRows(*normal_list(np.random.default_rng(0), 60))
    assert cuts._sizes(lambda x, y: rows.p_value(x, y, 0.8), 0.05, rows)[0] == (14, 0)


def test_the_labels_do_not_move_the_depths():
    rng = np.random.default_rng(2)
    f, y = rng.normal(size=400), rng.random(400) < 0.5
    for labels in (y, ~y, rng.permutation(y)):
        rows = cuts.DrawnRows(np.sort(f[labels]), np.sort(f[~labels]))
        assert rows.cut(40, 3).score == np.nextafter(np.sort(f)[-44], np.inf)
        assert rows.cut(40, 3).size == 43


def test_the_last_cut_before_a_failure_is_taken():
    found = pnorm.cutoff(F_POS, F_NEG, precision=0.8)
    rows = cuts.DrawnRows(F_POS, F_NEG)
    sizes = cuts._sizes(lambda x, y: rows.p_value(x, y, 0.8), 0.05, rows)
    accepted = []
    for x, y in sizes:
        score = np.sort(np.concatenate([F_POS, F_NEG]))[-1 - x - y]
        above = (score < F_POS).sum(), (score < F_NEG).sum()
        accepted.append(above[0] and binom.sf(above[0] - 1, sum(above), 0.8) <= 0.05)
    last = accepted.index(False) - 1
    assert found.depth == sum(sizes[last])
    assert found.depth == (found.score <= F_POS).sum() + (found.score <= F_NEG).sum()


@cache
def least_size(wrong, target, level):
    """Return the number of rows of the smallest cut that is accepted with so many negatives."""
    sizes = np.arange(1, 10_000)
    return int(sizes[binom.cdf(wrong, sizes, 1.0 - target) <= level][0])


def slowly_cut(f, y, target, level, at_least):
    """Return the size of the last accepted cut before the first failure, or 0; the tests begin at a depth."""
    n = f.size
    wrong = 0 if least_size(1, target, level) > (n - 1) // 4 else 1
    while least_size(wrong, target, level) < at_least:
        wrong += 1
    taken, depth = 0, least_size(wrong, target, level)
    if depth >= n > at_least >= least_size(0, target, level):
        depth = at_least  # the last rows of the list, with no more negatives than a smaller cut may have
    while depth < n:
        above = f > np.sort(f)[n - depth - 1]
        if above.sum() >= max(at_least, least_size(0, target, level)):
            if binom.cdf((~y[above]).sum(), above.sum(), 1.0 - target) > level:
                break
            taken = above.sum()
        wrong = max(wrong + 1, math.floor(1.2 * wrong))
        depth = least_size(wrong, target, level)
    return taken


@pytest.mark.parametrize("digits", [None, 1], ids=["different scores", "ties"])
@pytest.mark.parametrize("target", [0.5, 0.8, 0.95])
def test_cut_offs_are_those_of_a_plain_loop_over_exact_tests(target, digits):
    rng, kept, deep = np.random.default_rng(8), 0, 0
    for n in (30, 150, 400, 400, 1000, 1000):
        for at_least in (1, 5, 20, 29, n // 3, n // 2, n - 2, n - 1):
            f = rng.normal(size=n)
            f = f if digits is None else f.round(digits)
            top = f > np.quantile(f, rng.uniform(0.2, 0.6))
            y = rng.random(n) < np.where(top, rng.uniform(target, 1.0), 0.5)
            y[:2] = True, False
            found = pnorm.cutoff(f, y=y, precision=target, at_least=at_least)
            taken = slowly_cut(f, y, target, 0.05, at_least)
            assert (found.kept, found.depth if found.kept else 0) == (taken > 0, taken)
            kept += found.kept
            deep += found.kept and pnorm.cutoff(f, y=y, precision=target).depth != taken
            assert found.nearest is None or found.depth >= at_least
            if not found.kept and found.nearest is not None:
                assert found.promised < target
    assert kept > deep > 0


def test_a_cut_at_the_end_of_the_list_is_tested():
    """A fifth negative is allowed from 1049 rows on, and four are from 913 on."""
    f, at_least = np.arange(1000.0), 950
    for wrong, kept in ((4, True), (5, False)):
        y = np.arange(1000) >= 50
        y[60 : 60 + wrong] = False
        found = pnorm.cutoff(f, y=y, precision=0.99, at_least=at_least)
        assert (found.kept, found.depth, found.n_cuts) == (kept, 950, 1)


@pytest.mark.parametrize("n_tied", [60, 300])
def test_rows_that_tie_with_the_first_cut_are_taken_together(n_tied):
    """The first 150 rows differ and are positive, and the others up to the end of the tie have one score."""
    f = np.concatenate([np.arange(150.0) + 10.0, np.full(n_tied, 5.0), -np.arange(300.0)])
    y = np.concatenate([np.ones(150, bool), np.arange(n_tied) % 30 > 0, np.arange(300) < 100])
    for at_least in (151, 150 + n_tied):
        found = pnorm.cutoff(f, y=y, precision=0.9, at_least=at_least)
        assert found.kept
        assert found.depth >= 150 + n_tied
    y[150 : 150 + n_tied] = False
    found = pnorm.cutoff(f, y=y, precision=0.9, at_least=151)
    assert found.score is None
    assert found.depth >= 150 + n_tied
    found = pnorm.cutoff(f, y=y, precision=0.9, at_least=140)
    assert (found.kept, found.depth) == (True, 150)


def test_no_cut_takes_enough_rows_if_all_others_are_tied():
    """The 100 positive rows above would prove the precision, but they are fewer than was asked for."""
    f, y = np.append(np.arange(100.0) + 10.0, np.zeros(400)), np.arange(500) < 101
    assert pnorm.cutoff(f, y=y, precision=0.8).depth == 100
    found = pnorm.cutoff(f, y=y, precision=0.8, at_least=200)
    assert (found.kept, found.score, found.nearest, found.precision) == (False, None, None, None)
    assert "too few different scores" in str(found)
    assert pnorm.Cutoff.from_dict(found.to_dict()) == found


def test_a_share_of_the_rows_is_rounded_up():
    rng = np.random.default_rng(9)
    f, y = np.arange(300.0), rng.random(300) < 0.9
    for share, rows in ((0.07, 21), (0.5, 150), (0.501, 151), (np.float64(0.5), 150)):
        found = pnorm.cutoff(f, y=y, precision=0.5, at_least=share)
        assert found == pnorm.cutoff(f, y=y, precision=0.5, at_least=rows)
        # The rows are those held out, whatever the length of a list.
        assert found.score == pnorm.cutoff(f, y=y, precision=0.5, at_least=np.int32(rows), of=7).score


def test_a_bad_top_is_passed_over():
    """Nothing is assumed of the rows above the first cut."""
    y = np.concatenate([np.zeros(10, bool), np.ones(190, bool), np.arange(300) < 3])
    assert not pnorm.cutoff(-np.arange(500.0), y=y, precision=0.8).kept
    assert pnorm.cutoff(-np.arange(500.0), y=y, precision=0.8, at_least=100).depth > 190


def test_a_cut_off_asks_for_more_where_more_is_asked():
    scores = [pnorm.cutoff(F_POS, F_NEG, precision=q).score for q in (0.5, 0.7, 0.85)]
    assert scores == sorted(scores)
    assert scores[0] < scores[-1]
    surer = pnorm.cutoff(F_POS, F_NEG, precision=0.7, confidence=0.999)
    assert surer.score > scores[1]
    recalls = [pnorm.cutoff(F_POS, F_NEG, recall=r).score for r in (0.5, 0.7, 0.9)]
    assert recalls == sorted(recalls, reverse=True)
    budgets = [pnorm.cutoff(F_POS, F_NEG, budget=b).score for b in (20, 50, 200)]
    assert budgets == sorted(budgets, reverse=True)
    rarer = pnorm.cutoff(F_POS, F_NEG, precision=0.5, prior=0.05)
    assert rarer.score > pnorm.cutoff(F_POS, F_NEG, precision=0.5, prior=0.3).score


def test_a_recall_is_kept_by_the_fewest_positives_that_do():
    found = pnorm.cutoff(F_POS, F_NEG, recall=0.8)
    k = int((found.score <= F_POS).sum())
    assert found.score in F_POS
    assert binom.sf(k - 1, F_POS.size, 0.8) <= 0.05 < binom.sf(k - 2, F_POS.size, 0.8)
    assert found.recall == k / F_POS.size > 0.8


def test_too_few_positives_for_a_recall():
    found = pnorm.cutoff(F_POS[:28], F_NEG, recall=0.9)
    assert (found.kept, found.score) == (False, None)
    assert found.nearest == F_POS[:28].min()
    assert found.promised == pytest.approx(0.05 ** (1 / 28))
    assert pnorm.cutoff(F_POS[:29], F_NEG, recall=0.9).kept


@pytest.mark.parametrize("prior", [None, 0.05])
def test_a_budget_is_not_exceeded(prior):
    rows = cuts.DrawnRows(F_POS, F_NEG) if prior is None else cuts.ReweightedRows(F_POS, F_NEG, prior)
    for budget in (3, 20.5, 100):
        found = pnorm.cutoff(F_POS, F_NEG, budget=budget, of=500, prior=prior)
        assert found.rows <= budget * (1 + 1e-9)
        scores = np.sort(np.concatenate([F_POS, F_NEG]) if prior is None else F_POS)
        deeper = rows.at(scores[scores < found.score].max())
        assert rows.share(deeper) * 500 > budget
        assert found.promised == pytest.approx(found.rows * rows.low(rows.at(found.score), 0.05))
        assert found.hits.low < found.promised < found.hits
        assert found.one_list.low <= found.hits.low <= found.hits <= found.hits.high <= found.one_list.high + 1


def test_the_same_budget_of_a_longer_list():
    short, long = (pnorm.cutoff(F_POS, F_NEG, budget=b, of=of) for b, of in ((20, 500), (200, 5000)))
    assert short.score == long.score
    assert long.rows == 10 * short.rows
    assert long.hits == pytest.approx(10 * float(short.hits))


def test_a_perfect_list():
    found = pnorm.cutoff(np.arange(100.0) + 100, np.arange(100.0), precision=0.8)
    assert found.kept
    assert found.score < 100  # all positives, and as many negatives as the bound allows
    assert binom.sf(99, found.depth, 0.8) <= 0.05
    assert found.recall == 1
    only = pnorm.cutoff(np.arange(100.0) + 100, np.arange(100.0), precision=0.9, prior=0.001)
    assert not only.kept  # 100 negatives below cannot prove that one in 10,000 is not above


def test_no_positives_above():
    found = pnorm.cutoff(np.arange(50.0), np.arange(200.0) + 100, precision=0.5)
    assert (found.kept, found.score, found.promised) == (False, None, 0.0)
    assert found.precision.low == found.precision == 0.0


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("prior", [None, 0.1])
def test_tiny_lists_promise_little(size, prior):
    f_pos, f_neg = np.arange(size) + 10.0, np.arange(size) + 0.0
    found = pnorm.cutoff(f_pos, f_neg, precision=0.9, prior=prior)
    assert not found.kept
    assert found.promised < 0.9
    assert found.nearest is not None


def test_equal_scores_cannot_be_cut():
    for asked in ({"precision": 0.5}, {"budget": 10}):
        found = pnorm.cutoff(np.ones(30), np.ones(30), **asked)
        assert (found.kept, found.score, found.nearest, found.precision) == (False, None, None, None)
        assert "too few" in str(found)
        json.dumps(found.to_dict(), allow_nan=False)


def test_ties_at_the_top_are_taken_together():
    f_pos, f_neg = np.repeat([3.0, 2.0, 1.0], [60, 10, 30]), np.repeat([3.0, 2.0, 1.0], [2, 40, 200])
    found = pnorm.cutoff(f_pos, f_neg, precision=0.8)
    assert found.kept
    assert 2.0 < found.score <= 3.0
    assert found.depth == 62


def test_order_and_units_of_scores_do_not_matter():
    found = pnorm.cutoff(F_POS, F_NEG, precision=0.7)
    other = pnorm.cutoff(F_POS[::-1] * 4, F_NEG[::-1] * 4, precision=0.7)
    assert found.depth == other.depth
    assert found.precision == other.precision


# Lists whose truth is known ---------------------------------------------------------------------------


def lists_of_normals(rng, n):
    """Normal scores, 2 apart; three of ten rows are positives. All truths are at or above a score."""
    return normal_list(rng, n), lambda t: 0.3 * ndtr(2.0 - t) / (0.3 * ndtr(2.0 - t) + 0.7 * ndtr(-t))


def lists_of_few_scores(rng, n):
    """Eight scores, one as frequent as another."""
    precise = np.array([0.97, 0.95, 0.9, 0.82, 0.7, 0.4, 0.1, 0.02])
    level = rng.integers(8, size=n)
    y = rng.random(n) < precise[level]
    return (-level[y], -level[~y]), lambda t: precise[: 1 + math.floor(-t)].mean()


def lists_just_below(rng, n):
    """Nothing keeps a precision of 0.8."""
    f, y = rng.random(n), rng.random(n) < 0.7999
    return (f[y], f[~y]), lambda t: 0.7999


def lists_with_a_bad_top(rng, n):
    """The best 1 % are worthless, the next 19 % nearly all positives: precision rises to 0.8, and falls."""
    f = rng.random(n)
    y = rng.random(n) < np.select([f > 0.99, f > 0.8], [0.0, 0.97], 0.2)
    hits = lambda t: 0.97 * max(0.0, 0.99 - max(t, 0.8)) + 0.2 * max(0.0, 0.8 - t)  # noqa: E731
    return (f[y], f[~y]), lambda t: hits(t) / (1.0 - t)


def lists_with_a_flat_top(rng, n):
    """Precision is 0.85 in the first 30 %, and 0.5 below."""
    f = rng.random(n)
    y = rng.random(n) < np.where(f > 0.7, 0.85, 0.5)
    hits = lambda t: 0.85 * min(0.3, 1.0 - t) + 0.5 * max(0.0, 0.7 - t)  # noqa: E731
    return (f[y], f[~y]), lambda t: hits(t) / (1.0 - t)


def at_most(share, lists=LISTS):
    """The number of lists, three standard errors above their expectation, that may be broken."""
    return lists * share + 3.0 * math.sqrt(lists * share * (1.0 - share))


@pytest.mark.parametrize(
    "of",
    [lists_just_below, lists_with_a_bad_top],
)
def test_a_precision_is_kept(of):
    rng = np.random.default_rng(3)
    kept, broken = 0, {True: 0, False: 0}
    for i in range(LISTS):
        f, precise = of(rng, (300, 1000)[i % 2])
        found = pnorm.cutoff(*f, precision=0.8)
        kept += found.kept
        broken[found.kept] += precise(found.nearest) < found.promised
    assert max(broken.values()) <= 0.05 * LISTS
    assert sum(broken.values()) <= at_most(0.05)
    if of in (lists_of_normals, lists_of_few_scores):
        assert kept > 0.8 * LISTS
    if of is lists_just_below:
        assert 0 < kept == broken[True]


@pytest.mark.parametrize(
    ("of", "at_least", "least_kept"),
    [(lists_with_a_flat_top, 0.3, 0.3), (lists_just_below, 0.3, 0.0), (lists_with_a_bad_top, 0.1, 0.3),
     (lists_of_few_scores, 0.3, 0.5)],
)  # fmt: skip
def test_a_precision_is_kept_if_the_tests_begin_deeper(of, at_least, least_kept):
    rng = np.random.default_rng(10)
    kept = broken = 0
    for i in range(LISTS):
        n = (300, 1000)[i % 2]
        f, precise = of(rng, n)
        found = pnorm.cutoff(*f, precision=0.8, at_least=at_least)
        kept += found.kept
        if found.kept:
            assert found.depth >= at_least * n
            broken += precise(found.score) < 0.8
    assert kept > least_kept * LISTS
    assert broken <= (at_most(0.05) if of is lists_just_below else 0.05 * LISTS)
    if of is lists_just_below:
        assert broken == kept


def test_a_precision_is_kept_where_positives_are_rarer():
    apart = 2.0
    rng = np.random.default_rng(4)
    kept = broken = 0
    for _ in range(FEWER):
        found = pnorm.cutoff(rng.normal(apart, 1, 150), rng.normal(0, 1, 350), precision=0.3, prior=0.02)
        kept += found.kept
        pos, neg = 0.02 * ndtr(apart - found.nearest), 0.98 * ndtr(-found.nearest)
        broken += pos / (pos + neg) < found.promised
    assert kept > 0.5 * FEWER
    assert broken <= 0.05 * FEWER


def test_a_precision_is_kept_where_no_cut_has_it_and_positives_are_rarer():
    """Both sides have the same rates at every score, up to a factor of 2, the least that the precision needs."""
    rng = np.random.default_rng(5)
    kept = 0
    for _ in range(FEWER):
        f_pos, f_neg = rng.random(60), rng.random(150) * (rng.random(150) < 0.5)
        kept += pnorm.cutoff(f_pos, f_neg - 1e-9, precision=0.2001, prior=1.0 / 9.0).kept
    assert 0 < kept <= at_most(0.05, FEWER)


def test_a_recall_is_kept():
    rng, broken = np.random.default_rng(6), 0
    for _ in range(LISTS):
        found = pnorm.cutoff(rng.normal(0, 1, 80), [0.0], recall=0.9)
        assert found.kept
        broken += ndtr(-found.score) < 0.9
    k = int((binom.sf(np.arange(-1, 80), 80, 0.9) <= 0.05).argmax())
    expected = binom.sf(k - 1, 80, 0.9)  # what the choice of k leaves
    assert abs(broken / LISTS - expected) < 4.0 * math.sqrt(expected * (1.0 - expected) / LISTS)


@pytest.mark.parametrize("prior", [None, 0.02])
def test_hits_within_a_budget_are_kept(prior):
    rng = np.random.default_rng(7)
    wrong, exceeded = {"promised": 0, "hits": 0, "one_list": 0}, 0
    for _ in range(FEWER):
        f_pos, f_neg = normal_list(rng, 500)
        found = pnorm.cutoff(f_pos, f_neg, budget=100, of=1000, prior=prior)
        share = 0.3 if prior is None else prior
        pos, neg = share * ndtr(2.0 - found.score), (1 - share) * ndtr(-found.score)
        precise = pos / (pos + neg)
        once = rng.binomial(1000, pos)  # the positives of a new list with the score or more
        exceeded += 1000 * (pos + neg) > 100
        wrong["promised"] += precise * found.rows < found.promised
        wrong["hits"] += not found.hits.low <= precise * found.rows <= found.hits.high
        wrong["one_list"] += not found.one_list.low <= once <= found.one_list.high
    assert max(wrong.values()) <= at_most(0.05, FEWER)
    assert min(wrong["promised"], wrong["one_list"]) > 0
    assert 0.3 < exceeded / FEWER < 0.7  # the number of rows is not guaranteed, as the docstring says


# All outcomes of small samples ------------------------------------------------------------------------


QUARTERS = [np.array(shares) for shares in itertools.product(range(5), repeat=3) if sum(shares) == 4]
"""Shares of three parts of the scores, the highest first, in quarters."""


def populations():
    """Return shares and precisions of three parts of the scores, in quarters."""
    return itertools.product(QUARTERS, map(np.array, itertools.product(range(5), repeat=3)))


def samples(n, tied):
    """Yield all samples of n rows: the part of each row and its label, from the top, and the number of their orders.

    The rows of a part are tied or have different scores. If they are tied, their labels have one order.
    """
    for of_parts in itertools.product(range(n + 1), repeat=3):
        if sum(of_parts) != n:
            continue
        part, orders = np.repeat([0, 1, 2], of_parts), math.factorial(n) // math.prod(map(math.factorial, of_parts))
        if not tied:
            yield from ((part, labels, orders) for labels in itertools.product((True, False), repeat=n))
            continue
        for positives in itertools.product(*[range(k + 1) for k in of_parts]):
            labels = sum([(True,) * x + (False,) * (k - x) for x, k in zip(positives, of_parts, strict=True)], ())
            yield part, labels, orders * math.prod(map(math.comb, of_parts, positives))


def chosen_cuts(n, tied, target, level, at_least):
    """Return, for all samples, positives and negatives of each part, the part after the cut or -1, and their number."""

    @cache
    def size(f, labels):
        f, y = np.array(f), np.array(labels)
        kept, cut, _ = cuts.precise(cuts.DrawnRows(np.sort(f[y]), np.sort(f[~y])), target, level, at_least)
        return cut.size if kept else -1

    found = Counter()
    for part, labels, orders in samples(n, tied):
        of_cut = size(tuple(-1.0 * (part if tied else np.arange(n))), labels)
        both = np.bincount(2 * part + labels, minlength=6)
        found[(*both[1::2], *both[::2], part[of_cut] if of_cut >= 0 else -1)] += orders
    known = np.array(list(found))
    return known[:, :-1], known[:, -1], np.array(list(found.values()))


def first_too_deep(share, precise, tied, target):
    """Return the first part such that cuts strictly above any of its rows, or below, have at most the precision."""
    excess = np.cumsum(share * precise) - 4 * target * np.cumsum(share)
    above = np.flatnonzero(excess > 0)
    if above.size:
        return above[-1] + 2  # precision falls below the target inside of the part before, if scores differ
    return 1 if tied else 0


@each_value()
@pytest.mark.parametrize(("target", "level"), [(0.5, 0.25), (0.5, 0.125), (0.25, 0.0625), (0.75, 0.4375)])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("at_least", [1, 4])
def test_no_population_of_a_grid_breaks_the_theorem(at_least, tied, target, level):
    """Cuts go where the precision is not above the target with probability `level` at most, in whole numbers."""
    n = 8
    counts, after, orders = chosen_cuts(n, tied, target, level, at_least)
    largest = 0
    for share, precise in populations():
        masses = np.concatenate([share * precise, share * (4 - precise)])  # in sixteenths
        ways = orders * np.prod(masses**counts, axis=1)
        assert ways.sum() == 16**n
        too_deep = (after >= 0) & (after >= first_too_deep(share, precise, tied, target))
        largest = max(largest, ways[too_deep].sum())
    smallest = {(1, False): 0.9, (1, True): 0.3, (4, False): 0.7, (4, True): 0.2}[at_least, tied]
    assert smallest * level * 16**n < largest <= level * 16**n


# What it says, and what it refuses --------------------------------------------------------------------


def test_a_record_is_plain():
    for asked in ({"precision": 0.8}, {"budget": 20, "of": 900}, {"recall": 0.8, "prior": 0.1}, {"precision": 0.999},
                  {"precision": 0.8, "at_least": 50}):  # fmt: skip
        found = pnorm.cutoff(F_POS, F_NEG, **asked)
        plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert plain["score"] == found.score
        assert plain["hits"] == {"value": found.hits, "low": found.hits.low, "high": found.hits.high}
        assert set(plain) == {*found.__dataclass_fields__}
        assert found == pnorm.cutoff(F_POS, F_NEG, **asked)


def test_it_prints_in_plain_words():
    kept = str(pnorm.cutoff(F_POS, F_NEG, precision=0.8)).splitlines()
    assert kept[0].startswith("Rows with a score of ")
    assert kept[0].endswith(": at least 80 % of them are positives, with 95 % confidence (one-sided bound).")
    assert tells(str(pnorm.cutoff(F_POS, F_NEG, recall=0.8)), "at least 80 % of the positives are among them")
    day = str(pnorm.cutoff(F_POS, F_NEG, budget=200, of=10_000, prior=0.01))
    assert "of 10,000 (" in day
    assert "\nprior          1 %\n" in day
    assert repr(pnorm.cutoff([1.0], [1.0], budget=1)) == "<Cutoff for a budget of 1: none, 0 of 2 rows>"
    assert str(pnorm.cutoff([1.0], [1.0], budget=1)).startswith("No cut-off takes 1 rows of 2, or fewer.")


def test_a_budget_that_equal_scores_leave_unused_says_so():
    f, y = np.repeat([9.0, 5.0, 2.0, 1.0], [43, 50, 20, 887]), np.arange(1000) % 2 == 0
    told = (
        "It takes 93 held-out rows and not 100, because the next rows have equal scores and would make more than 100."
    )
    for of, budget, is_told in ((1000, 100, True), (2000, 200.5, True), (1000, 93, False), (1000, 93.9, False)):
        found = pnorm.cutoff(f, y=y, budget=budget, of=of)
        assert found.depth == 93
        assert (told in str(found).splitlines()) == is_told
    for asked in ({"precision": 0.3}, {"recall": 0.3}, {"budget": 100, "prior": 0.2}):
        assert "equal scores" not in str(pnorm.cutoff(f, y=y, **asked))


@pytest.mark.parametrize("asked", [{"precision": 0.8}, {"recall": 0.8}, {"budget": 20}], ids=str)
def test_each_number_with_a_confidence_says_of_which_kind_it_is(asked):
    """One bound and one interval: the lower end of an interval is below the bound with the same confidence."""
    found = pnorm.cutoff(F_POS, F_NEG, **asked)
    bound, *facts, one_list = str(found).splitlines()
    low, high = found.one_list
    assert (low, high) == (found.one_list.low, found.one_list.high)
    assert isinstance(pnorm.Cutoff.from_dict(found.to_dict()).one_list, type(found.one_list))
    assert bound.endswith(", with 95 % confidence (one-sided bound).")
    among = " among more or fewer rows" if "budget" in asked else ""
    told = f"between {low} and {high} positives{among}, with 95 % confidence (two-sided interval)"
    assert one_list == f"in one list    {told}"
    assert "confidence" not in " ".join(facts)
    assert [fact.split("  ")[0] for fact in facts] == ["held-out rows", "rows"]


@pytest.mark.parametrize("asked", ["precision", "recall"])
def test_a_target_that_is_not_kept_reads_like_no_cut_off(asked):
    found = pnorm.cutoff(F_POS, F_NEG, **{asked: 0.9999})
    positives = int((found.nearest <= F_POS).sum())
    assert "at_least" not in str(found)  # no rows would have passed
    assert str(found).splitlines() == [
        f"No cut-off keeps a {asked} of 99.99 % with 95 % confidence.",
        f"The nearest cut takes the first {found.depth} of 500 held-out rows, {positives} of them positive: it proves a "
        f"{asked} of at least {100 * found.promised:.4g} % (one-sided bound).",
    ]
    with warns(UserWarning, rf"no cut-off keeps .* of at least {100 * found.promised:.4g} % \(one-sided"):
        found.takes(F_POS)


@pytest.mark.parametrize(("best", "told"), [(0.0, "none of the first 8 of 500"), (30.0, "1 of the first 8 of 500")])
def test_a_bound_of_zero_is_said_to_prove_nothing(best, told):
    neg = np.r_[np.arange(20.0) + 1.0, np.zeros(380)]
    found = pnorm.cutoff(np.r_[best, np.zeros(99)] - 1e-3 * np.arange(100), neg, precision=0.5)
    assert found.promised == pytest.approx(1.0 - 0.95 ** (1 / 8) if best else 0.0)
    says = f"No precision at all can be proved, as {told} held-out rows is positive."
    assert (says in str(found)) == (found.promised < 0.005)
    assert ("of at least" in str(found)) == (found.promised >= 0.005)


@pytest.mark.parametrize("read", [False, True], ids=["chosen", "from a file"])
def test_the_printed_score_takes_the_rows_that_the_cut_off_takes(read):
    f, y = np.repeat([4.0, 3.0, 2.0, 1.0], 100), np.arange(400) < 190
    for scores in (f, f / 3.0, f + 1e6):
        cut = pnorm.cutoff(scores, y=y, precision=0.8)
        cut = pnorm.Cutoff.from_dict(cut.to_dict()) if read else cut
        for text in (
            re.match(r"Rows with a score of (\S+) or more", str(cut)),
            re.search(r"score of (\S+),", repr(cut)),
        ):
            taken = scores >= float(text[1])
            np.testing.assert_array_equal(taken, cut.takes(scores))
            assert taken.sum() == 200  # with six digits it may be 300, of which 63 % are positives


def test_counts_are_printed_with_one_decimal_and_bounds_rounded_down():
    rng = np.random.default_rng(0)
    cut = pnorm.cutoff(rng.normal(1, 1, 12), rng.normal(0, 1, 40), budget=5)
    lines = str(cut).splitlines()
    for line in [line for line in lines if line.startswith("rows")] + lines[:1]:
        assert not re.search(r"[ (]\d+\.\d\d", line.partition(": ")[2] or line.partition("(")[0]), line
    low = float(re.search(r": at least ([\d.]+) of 5 are positives on average", lines[0]).group(1))
    assert 0.0 <= cut.promised - low < 0.1 + 1e-9
    assert [record.count(x, math.floor) for x in (4.0 - 1e-12, 0.26, 1234.9)] == ["4", "0.2", "1,234"]


@pytest.mark.parametrize(("asked", "error", "message"), [
    ({}, ValueError, "give one of precision, budget, recall; got none of them"),
    ({"precision": 0.8, "recall": 0.5}, ValueError, "got precision and recall"),
    ({"precision": 1.0}, ValueError, "precision must be above 0 and below 1"),
    ({"recall": 0.0}, ValueError, "recall must be above 0 and below 1"),
    ({"recall": "0.9"}, TypeError, "recall must be a real number"),
    ({"budget": 0}, ValueError, "budget must be above 0"),
    ({"budget": 500}, ValueError, "budget must be less than the 500 rows of a list; got 500. Pass of= for longer lists"),
    ({"budget": 5, "of": 0}, ValueError, "of must be above 0"),
    ({"precision": 0.8, "prior": 1}, ValueError, "prior must be above 0 and below 1"),
    ({"precision": 0.8, "confidence": 95}, ValueError, "confidence must be above 0 and below 1"),
    ({"recall": 0.8, "at_least": 5}, ValueError, "at_least is for a precision; leave it out with recall"),
    ({"budget": 8, "at_least": 0.5}, ValueError, "at_least is for a precision; leave it out with budget"),
    ({"precision": 0.8, "prior": 0.1, "at_least": 5}, ValueError, "counts held-out rows, and a prior weights them"),
    ({"precision": 0.8, "at_least": 0}, ValueError, "at_least, a number of held-out rows .*, must be at least 1; got 0"),
    ({"precision": 0.8, "at_least": 500}, ValueError, "at_least must be less than the 500 held-out rows; got 500"),
    ({"precision": 0.8, "at_least": 0.999}, ValueError, "at_least must be less than the 500 held-out rows; got 0.999"),
    ({"precision": 0.8, "at_least": 200.0}, ValueError, "at_least, a share of the held-out rows .*, must be above 0 and"),
    ({"precision": 0.8, "at_least": math.nan}, ValueError, "at_least, a share of the held-out rows"),
    ({"precision": 0.8, "at_least": True}, TypeError, "at_least, a number of held-out rows .*, must be an integer; got"),
    ({"precision": 0.8, "at_least": "200"}, TypeError, "at_least, a number of held-out rows .*, must be an integer"),
])  # fmt: skip
def test_what_makes_no_sense_is_refused(asked, error, message):
    with raises(error, message):
        pnorm.cutoff(F_POS, F_NEG, **asked)


def test_sides_are_checked():
    with pytest.raises(ValueError, match="f_pos"):
        pnorm.cutoff([], [1.0], precision=0.5)
    with pytest.raises(ValueError, match="f_neg"):
        pnorm.cutoff([1.0], [math.nan], precision=0.5)
    with pytest.raises(TypeError, match="pos_weight"):
        pnorm.cutoff([1.0], [0.0], precision=0.5, pos_weight=[1.0])


def test_a_precision_that_is_not_kept_names_its_rows():
    """A lower precision would fail by the same rows, so that less is not what to ask for."""
    neg = np.arange(1000.0) + 5000.0
    found = pnorm.cutoff(np.arange(1000.0), neg, precision=0.3)
    assert found.score is None
    told = rf"as none of the first {found.depth} of 2,000 held-out rows is positive. The tests begin with these"
    with warns(UserWarning, told):
        assert not found.takes(neg).any()
    assert found.depth < 10
    with warns(
        UserWarning,
        r"use it with new labelled rows. Label new rows, and try again or ask for recall= or budget= on these",
    ):
        found.takes(neg)


def test_a_failed_first_test_names_at_least():
    """It is named where other labels of the first rows would have passed, and where the option exists."""
    y = np.arange(1000) % 3 > 0
    found = pnorm.cutoff(-np.arange(1000.0), y=y, precision=0.8)
    first, nearest, begins = str(found).splitlines()
    assert first == "No cut-off keeps a precision of 80 % with 95 % confidence."
    assert nearest.startswith(
        f"The nearest cut takes the first {found.depth} of 1,000 held-out rows, 14 of them positive"
    )
    assert begins == ("The tests begin with these rows. at_least= begins them deeper: use it with new labelled rows.")
    assert "at_least" in str(pnorm.Cutoff.from_dict(found.to_dict()))
    for asked in ({"recall": 0.9999}, {"precision": 0.8, "prior": 0.1}, {"precision": 0.9999}):
        failed = pnorm.cutoff(-np.arange(1000.0), y=y, **asked)
        assert failed.score is None
        assert "at_least" not in str(failed)


@pytest.mark.parametrize(
    ("trained_on", "n", "precision", "depth"),
    [((9, 991), 2400, 0.1, 22), ((100, 900), 10_000, 0.5, 200), ((300, 700), 1000, 0.8, 38), ((1, 999), 100, 0.9, 1),
     ((999, 1), 10, 0.01, 9), ((7, 93), 100, 0.07, 10)],
)  # fmt: skip
def test_a_tenth_of_the_positives_fill_the_first_depth(trained_on, n, precision, depth):
    assert choose.first_depth(trained_on, n, precision) == depth


def test_a_low_precision_of_a_rare_class_is_found():
    # 2400 rows with 22 positives: 30 % of the first 100 rows, and none below
    found = np.zeros(2, int)
    for seed in range(100):
        y = np.random.default_rng(seed).random(2400) < np.where(np.arange(2400) < 100, 0.3, 0.0)
        f = -np.arange(2400.0)
        of_model = _cutoff.cutoff_of_model(f[y], f[~y], (9, 991), precision=0.1)
        found += pnorm.cutoff(f, y=y, precision=0.1).kept, of_model.kept
        assert not of_model.kept or of_model.depth >= 22
    alone, from_training = found
    assert from_training > 2 * alone
    assert from_training > 0.6 * 100


# New labelled rows ------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [{"precision": 0.6}, {"recall": 0.7}, {"budget": 100.0, "of": 1000.0}], ids=str)
@pytest.mark.parametrize(("lower", "verdict"), [(0.0, ""), (0.4, None), (3.0, "beyond chance")])
def test_new_labelled_rows_test_a_guarantee(asked, lower, verdict):
    """The positives score lower by so much, so that fewer are taken and the precision falls."""
    found = pnorm.cutoff(F_POS, F_NEG, **asked)
    f_pos, f_neg = F_POS[::7] - lower, F_NEG[::7]
    hits, others = (f_pos >= found.score).sum(), (f_neg >= found.score).sum()
    told = _cutoff.kept_on(found, f_pos, f_neg)
    k, n, target = {
        "precision": (hits, hits + others, found.promised),
        "recall": (hits, f_pos.size, found.promised),
        "budget": (hits, f_pos.size + f_neg.size, found.promised / found.of),
    }[found.asked]
    exact = binomtest(int(hits), int(n)).proportion_ci(0.95, method="exact")
    if found.asked == "recall":
        assert told.startswith(f"Of the {f_pos.size} positives, {hits} are taken: {100 * k / n:.1f} % ")
    else:
        assert told.startswith(f"Of the {hits + others} rows taken that have labels, {hits} are positive")
    if found.asked == "budget":
        assert f"; at least {math.floor(10 * target * n) / 10:g} are guaranteed on average." in told
    else:
        ends = f"(95 % interval {100 * exact.low:.1f} to {100 * exact.high:.1f} %)"
        assert f"{ends}; at least {100 * found.promised:.4g} % are guaranteed." in told
    expected = "beyond chance" if exact.high < target else "may be chance" if k / n < target else ""
    assert ("below the guarantee" in told) == bool(expected)
    assert expected in told
    assert verdict in (None, expected)


def test_nothing_is_tested_without_a_cutoff_or_without_rows():
    assert _cutoff.kept_on(pnorm.cutoff(F_POS, F_NEG, precision=0.9999), F_POS, F_NEG) == ""
    found = pnorm.cutoff(F_POS, F_NEG, precision=0.6)
    assert _cutoff.kept_on(found, F_POS - 100.0, F_NEG - 100.0) == "No row with a label is taken."


@pytest.mark.parametrize("n", [0, 1, 40, 300])
def test_the_hits_of_one_list_are_those_of_a_beta_binomial(n):
    found = pnorm.cutoff(F_POS, F_NEG, precision=0.6)
    hits = int((found.score <= F_POS).sum())
    others = found.depth - hits
    low, high = betabinom(n, hits, others + 1), betabinom(n, hits + 1, others)
    assert abs(_cutoff.hits_of(found, n).low - low.ppf(0.025)) <= 1  # the sum over nodes is rough by a row
    assert abs(_cutoff.hits_of(found, n).high - high.ppf(0.975)) <= 1


def test_the_hits_of_one_list_hold():
    """In lists of the same distribution, as often as they say, or more."""
    rng, held = np.random.default_rng(5), []
    for _ in range(FEWER):
        f_pos, f_neg = normal_list(rng)
        found = pnorm.cutoff(f_pos, f_neg, budget=60.0, of=500.0)
        new_pos, new_neg = normal_list(rng)
        hits = int(found.takes(new_pos).sum())
        low, high = _cutoff.hits_of(found, hits + int(found.takes(new_neg).sum()))
        held.append(low <= hits <= high)
    assert np.mean(held) > 0.95 - 3 * math.sqrt(0.95 * 0.05 / FEWER)


def test_the_hits_of_one_list_with_a_prior_are_in_a_longer_interval():
    found = pnorm.cutoff(F_POS, F_NEG, precision=0.3, prior=0.1)
    low, high = _cutoff.hits_of(found, 50)
    assert binom(50, found.precision.low).cdf(low - 1) < 0.025 <= binom(50, found.precision.low).cdf(low)
    assert binom(50, found.precision.high).cdf(high - 1) < 0.975 <= binom(50, found.precision.high).cdf(high)


def test_intervals_hold_for_all_cuts_of_a_sequence():
    found = pnorm.cutoff(F_POS, F_NEG, precision=0.8)
    n_cuts, wrong = 0, 1
    while least_size(wrong, 0.8, 0.05) < F_POS.size + F_NEG.size:
        n_cuts, wrong = n_cuts + 1, max(wrong + 1, math.floor(1.2 * wrong))
    assert found.n_cuts == n_cuts > 5
    x, each = int((found.score <= F_POS).sum()), 0.025 / n_cuts
    for value, others in ((found.precision, found.depth - x), (found.recall, F_POS.size - x)):
        expected = x / (x + others), beta.ppf(each, x, others + 1), beta.isf(each, x + 1, others)
        assert tuple(value) == pytest.approx(expected)
    others = F_POS.size + F_NEG.size - x
    ends = [betabinom(found.of, x, others + 1).ppf(each), betabinom(found.of, x + 1, others).ppf(1 - each)]
    assert [found.one_list.low, found.one_list.high] == ends
