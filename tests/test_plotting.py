"""Pictures: what is on them, where they go, and what is refused."""

import datetime
import sys

import numpy as np
import pytest

import pnorm
from pnorm import metrics, plotting

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def runs():
    """Scores and traces by p, on a small set."""
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(0.4, 1, (40, 4)), rng.normal(size=(60, 4))
    found = {p: pnorm.train(pos, neg, p=p, t_max=40) for p in (1, 4, 16)}
    return pos, neg, found, {p: (pos @ lam, neg @ lam) for p, (lam, _) in found.items()}


def test_roc_shows_the_counts_and_the_first_crossing(runs):
    lists = runs[-1]
    left, full = plotting.roc(lists)
    assert [line.get_label() for line in full.lines] == ["p = 1", "p = 4", "p = 16"]
    for line, scores in zip(full.lines, lists.values(), strict=True):
        np.testing.assert_array_equal(line.get_xydata().T, metrics.roc_counts(*scores))
    assert left.get_xlim()[1] < full.get_xlim()[1]
    met = metrics.crossing(metrics.roc_counts(*lists[1]), metrics.roc_counts(*lists[16]))
    assert met is not None
    np.testing.assert_array_equal(left.lines[-1].get_xydata(), [met])
    assert left.get_legend().get_texts()[0].get_text() == "first crossing of p = 1 and p = 16"
    assert left.get_xlim()[1] > met.false_positives
    assert len({line.get_color() for line in full.lines}) == 3


def test_roc_of_lists_that_never_cross():
    better, worse = (
        metrics.roc_counts(np.arange(40), np.arange(100) / 4),
        metrics.roc_counts(np.arange(40), np.arange(100)),
    )
    left, _ = plotting.roc({"a": better, "b": worse})
    assert left.get_xlim()[1] == 10.5
    assert len(left.lines) == 2
    assert left.get_legend() is None


def test_lists_of_other_rows_and_alike_labels_are_all_drawn():
    left, full = plotting.roc({4: ([2, 1], [0, 1.5]), "p = 4": ([3.0], [1, 2, 4])})
    assert len(full.lines) == len(left.lines) == 2
    assert len(plotting.ranked_list({4: ([1], [0]), "p = 4": ([1], [0])}).get_yticks()) == 2


def test_axes_are_those_that_were_passed(runs):
    lists, (lam, run) = runs[-1], runs[2][4]
    figure, axes = plt.subplots(2, 4)
    assert plotting.roc(lists, ax=axes[0, 0]) is axes[0, 0]
    pair = plotting.roc(lists, ax=axes[1, :2])
    assert list(pair) == list(axes[1, :2])
    assert plotting.push_path({1: [1, 2]}, ax=axes[0, 1]) is axes[0, 1]
    assert plotting.trace(run, ax=axes[0, 2]) is axes[0, 2]
    assert plotting.weights(lam, ax=axes[0, 3]) is axes[0, 3]
    assert plotting.ranked_list(lists, ax=axes[1, 2]) is axes[1, 2]
    assert plt.get_fignums() == [figure.number]


def test_push_path_draws_means_and_quantiles():
    rng = np.random.default_rng(0)
    values = {64: rng.normal(size=200), 1: rng.normal(size=200)}
    ax = plotting.push_path(values, label="train")
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[1, values[1].mean()], [64, values[64].mean()]])
    wide, half = (band.get_paths()[0].vertices for band in ax.collections)
    assert np.isclose(wide[:, 1], np.quantile(values[64], 0.95)).any()
    assert np.isclose(half[:, 1], np.quantile(values[1], 0.25)).any()
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "64"]
    plotting.push_path({1: 3.0, 4: 4.0}, label="test", ax=ax)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "4", "64"]
    assert ax.lines[0].get_color() != ax.lines[1].get_color()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["train", "test"]


def test_traces_come_down(runs):
    pos, neg, found, _ = runs
    traces = {p: trace for p, (_, trace) in found.items()}
    ax = plotting.trace(traces)
    for line, run in zip(ax.lines, traces.values(), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), run.log_objective - run.log_objective[0])
    _, best = pnorm.minimize(pos, neg, p=4)
    ax = plotting.trace({"descent": traces[4], "Newton": best}, floor=best.objective[-1])
    assert ax.get_yscale() == "log"
    assert all((line.get_ydata() > 0).all() for line in ax.lines)
    assert ax.get_ylabel() == "log F_p above the floor (nats)"
    assert "log R" in plotting.trace(pnorm.train(pos, neg, loss="logistic", t_max=3)[1]).get_ylabel()


def test_weights_are_in_order_of_what_they_move(runs):
    pos, *_ = runs
    H = pnorm.rankers.columns(4, names=["a", "b", "c", "d"])
    lam = np.array([1.0, -3.0, 0.0, 2.0])
    ax = plotting.weights(lam, H, top=2)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["b", "d"]
    assert [bar.get_width() for bar in ax.patches] == [-3.0, 2.0]
    assert ax.patches[0].get_facecolor() != ax.patches[1].get_facecolor()
    assert ax.get_title() == "the first 2 of 3 weak rankers in use"
    moved = lam * np.ptp(pos * [10, 1, 1, 1], axis=0)
    ax = plotting.weights(lam, H, pos * [10, 1, 1, 1])
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([moved[0], moved[1], moved[3]])
    assert plotting.weights(lam, H, pos[:1], top=2).get_title() == "the first 2 of 3 weak rankers in use"
    assert [text.get_text() for text in plotting.weights(lam).get_yticklabels()] == ["h[1]", "h[3]", "h[0]"]
    assert plotting.weights(lam, None, pos).get_yticklabels()[0].get_text() == "x1"


def test_a_strip_shows_the_order_with_ties_against_us():
    ax = plotting.ranked_list({"one": ([5, 3, 3], [3, 1]), "two": ([1, 2, 3], [9, 8])}, top=4)
    centres = {(round(bar.get_x() + bar.get_width() / 2), round(bar.get_y() + bar.get_height() / 2)): bar.get_height()
               for bar in ax.patches}  # fmt: skip
    assert [bool(centres[rank, 0] > 0.6) for rank in (1, 2, 3, 4)] == [True, False, True, True]
    assert [bool(centres[rank, 1] > 0.6) for rank in (1, 2, 3, 4)] == [False, False, True, True]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["one", "two"]
    assert ax.get_xlim() == (0.5, 4.5)
    only = plotting.ranked_list(([5, 4], [1]), top=2)
    colours = [patch.get_facecolor() for patch in only.get_legend().get_patches()]
    assert colours[0] == only.patches[0].get_facecolor() != colours[1]


def test_cross_validation_draws_means_with_bands_and_the_choice(runs):
    pos, neg, *_ = runs
    found = pnorm.cross_validate(pos, neg, None, [16, 1, 4], 20, folds=3)
    ax = plotting.cross_validation(found)
    for line, band, p in zip(ax.lines, ax.collections, [1, 4, 16], strict=False):
        i = found.p.tolist().index(p)
        assert line.get_label() == f"p = {p}"
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([found.rounds, found.mean[i]]))
        edges = band.get_paths()[0].vertices[:, 1]
        for sign in (-1, 1):
            assert np.isin(np.round(found.mean[i] + sign * found.standard_error[i], 12), np.round(edges, 12)).all()
    best, simplest = ax.lines[3:]
    assert best.get_xydata().tolist() == [[found.best_t, found.mean.max()]]
    p, t = found.simplest
    assert simplest.get_xydata().tolist() == [[t, found.mean[found.p == p, found.rounds == t][0]]]
    low, high = ax.get_ylim()
    assert low < found.mean.max(axis=1).min()
    assert high > found.mean.max()
    held = [np.arange(n) % 4 - 1 for n in (40, 60)]
    once = plotting.cross_validation(
        pnorm.cross_validate(pos, neg, None, [1], 5, folds=[np.minimum(x, 0) for x in held])
    )
    assert not once.collections


def test_cross_validation_of_penalties_falls_from_left_to_right(runs):
    pos, neg, *_ = runs
    found = pnorm.cross_validate(pos, neg, {"a": None, "b": None}, [4, 1], l2=[0.1, 10, 1], folds=3)
    ax = plotting.cross_validation(found)
    assert [line.get_label() for line in ax.lines[:4]] == ["a, p = 1", "b, p = 1", "a, p = 4", "b, p = 4"]
    np.testing.assert_array_equal(ax.lines[2].get_xydata(), np.column_stack([[10, 1, 0.1], found.mean[0, [1, 2, 0]]]))
    assert (ax.get_xlabel(), ax.get_xscale(), ax.get_xlim()) == ("l2", "log", (10.0, 0.1))
    assert ax.lines[4].get_xydata().tolist() == [[found.best.l2, found.mean.max()]]
    assert ax.lines[5].get_xydata()[0, 0] == found.simplest.l2
    of_p = pnorm.cross_validate(pos, neg, None, [4, 1], l2=lambda p: p * np.array([1, 0.1]), folds=3)
    lines = plotting.cross_validation(of_p).lines
    assert [line.get_xdata().tolist() for line in lines[:2]] == [[1, 0.1], [4, 0.4]]
    both = pnorm.cross_validate(pos, neg, {"a": None, "b": None}, 4, l1={"a": [0.1, 1, 0.3], "b": 0}, l2={"a": 0.1, "b": [1, 2, 3]}, second_metric="auc", folds=3)  # fmt: skip
    ax = plotting.cross_validation(both)
    for line, i, order in zip(ax.lines, (0, 1), ([1, 2, 0], [2, 1, 0]), strict=False):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([[1, 2, 3], both.mean[i, order]]))
    assert (ax.get_xlabel(), ax.get_xscale(), ax.get_xlim()) == ("penalties, from the largest", "linear", (1.0, 3.0))
    i, s = both._best_place
    assert ax.lines[2].get_xydata().tolist() == [[[[3, 1, 2], [3, 2, 1]][i][s], both.mean[i, s]]]
    zero = plotting.cross_validation(pnorm.cross_validate(pos, neg, None, [1], l2=[0, 1], folds=2))
    assert (zero.get_xscale(), zero.get_xlim()) == ("symlog", (1.0, 0.0))


@pytest.mark.parametrize(("points", "scale", "label"), [({"p": 4, "l2": [0.1, 10, 1]}, "log", "l2"),
                                                       ({"p": 4, "l2": [0.1, 0, 1]}, "symlog", "l2"),
                                                       ({"p": [4, 1, 16]}, "log", "p")])  # fmt: skip
def test_coefficient_path_names_the_largest(runs, points, scale, label):
    pos, neg, *_ = runs
    path = pnorm.minimize_path(pos, neg, pnorm.rankers.columns(4, names=["a", "b", "c", "d"]), **points)
    ax = plotting.coefficient_path(path, top=2)
    assert ax.get_xscale() == scale
    assert ax.get_xlabel() == label
    largest = np.argsort(-np.abs(path.lam).max(axis=0))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [path.names[j] for j in largest[:2]]
    values = getattr(path, label)
    order = np.argsort(values)
    for line, j in zip(ax.lines[:4], largest[::-1], strict=True):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([values, path.lam[:, j]])[order])
    if label == "p":
        assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "4", "16"]


RUN = pnorm.train([[1.0], [0.0]], [[0.5]], t_max=1)[1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: plotting.roc({}), ValueError, "lists is empty; at least one is needed"),
        (lambda: plotting.roc([1, 2]), TypeError, "lists must be a mapping from labels or numbers p; got list"),
        (lambda: plotting.roc({1: 3}), TypeError, "list 1 must be a pair of scores (f_pos, f_neg), or a Roc"),
        (lambda: plotting.roc({1: ([1.0], [])}), ValueError, "f_neg is empty"),
        (lambda: plotting.roc({1: ([1.0], [0.0])}, ax=[None] * 3), ValueError, "ax must be one Axes or a pair of them; got [None, None, None]"),
        (lambda: plotting.roc({1: ([1.0], [0.0])}, ax=3), ValueError, "ax must be one Axes or a pair of them; got 3"),
        (lambda: plotting.push_path({0: [1]}), ValueError, "p must be above 0; got 0"),
        (lambda: plotting.push_path({1: []}), ValueError, "values must hold one number at least for every p"),
        (lambda: plotting.push_path({"a": [1], 1: [2]}), TypeError, "p must be a real number; got 'a'"),
        (lambda: plotting.trace(RUN, floor=1e9), ValueError, "floor must be below the objectives, and not out of all proportion; got 1000000000.0"),
        (lambda: plotting.ranked_list({"a": ([1], [])}), ValueError, "f_neg of list 'a' is empty"),
        (lambda: plotting.push_path({1: [np.nan]}), ValueError, "values at p = 1 has nan at position 0"),
        (lambda: plotting.trace({"a": 3}), TypeError, "runs must be a Trace, or a mapping from labels to them; got int"),
        (lambda: plotting.weights([1.0, 2.0], [np.sum]), ValueError, "lam must have shape (1,)"),
        (lambda: plotting.weights([1.0], top=0), ValueError, "top must be at least 1"),
        (lambda: plotting.ranked_list(4), TypeError, "a list must be a pair of scores (f_pos, f_neg); several go into a mapping"),
        (lambda: plotting.ranked_list(([1], [2]), top=0), ValueError, "top must be at least 1"),
        (lambda: plotting.cross_validation(RUN), TypeError, "found must be what pnorm.cross_validate returned; got Trace"),
        (lambda: plotting.coefficient_path(RUN), TypeError, "path must be what pnorm.minimize_path returned; got Trace"),
        (lambda: plotting.coefficient_path(pnorm.minimize_path([[1.0], [0.0]], [[0.5]], l2=[1]), top=0), ValueError, "top must be at least 1"),
    ],
)  # fmt: skip
def test_refusals(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        ImportError, match=r"pnorm\.plotting needs Matplotlib\. Install it with: pip install .pnorm-push\[plot\]"
    ):
        plotting.ranked_list(([1], [0]))


def test_shapes_are_what_columns_add_to_the_score():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 3)) < 0.1, np.nan, rng.normal(size=(300, 3)))
    towns = [[name] for name in rng.choice(["Bonn", "Ulm"], 300)]
    H = pnorm.rankers.quantile_thresholds(X[:150], X[150:], 9, missing="own", linear=True, names=["a", "b", "c"])
    lam = rng.normal(size=len(H)) * (H.column != 2)
    axes = plotting.shapes(lam, H)
    assert sorted(ax.get_xlabel() for ax in axes) == ["a", "b"]
    for ax in axes:
        c = "ab".index(ax.get_xlabel())
        x, y = ax.lines[0].get_data()
        own = np.zeros((x.size, 3))
        own[:, c] = x
        moved = np.where(np.diff(x, append=x[-1] + 1) == 0, y, np.nan)  # the lower end of a jump, which x itself has
        f = pnorm.score(own, H, np.where(H.column == c, lam, 0.0))
        np.testing.assert_allclose(y[~np.isnan(moved)], f[~np.isnan(moved)], atol=1e-12)
        np.testing.assert_allclose(y[[0, -1]], f[[0, -1]], atol=1e-12)
        np.testing.assert_allclose(y[2:-2:2], f[3:-1:2], atol=1e-12)  # constant between cuts
        own[:, c] = np.nan
        f = pnorm.score(own[:1], H, np.where(H.column == c, lam, 0.0))
        np.testing.assert_allclose(ax.lines[1].get_ydata(), f, atol=1e-12)
    assert len({ax.get_ylim() for ax in axes}) == 1
    frame = pandas.DataFrame(towns, columns=["town"])
    both = H + pnorm.rankers.categories(frame[:150], frame[150:])
    lam = np.r_[lam, 50.0, -50.0]
    axes = plotting.shapes(lam, both, top=1)
    assert [ax.get_xlabel() for ax in axes] == ["town"]
    assert [bar.get_height() for bar in axes[0].patches] == [50.0, -50.0]
    assert [text.get_text() for text in axes[0].get_xticklabels()] == ["Bonn", "Ulm"]
    _, given = plt.subplots(1, 2)
    assert plotting.shapes(lam, both, ["a", "town"], ax=given)[0] is given[0]


def test_shapes_of_a_table_have_dates_and_bars():
    rng = np.random.default_rng(0)
    towns = [None if k == 30 else f"town {k:02d}" for k in rng.integers(0, 31, 900)]
    days = (np.datetime64("2021-01-01") + rng.integers(0, 13, 900)).tolist()
    table = {"town": towns, "when": days, "at": [datetime.time(h) for h in rng.integers(0, 24, 900).tolist()]}
    H = pnorm.rankers.from_table(table, table, n_cuts=5)
    lam = np.where(np.array(["town" in name for name in H.names]), np.arange(1.0, len(H) + 1), 0.5)
    axes = {ax.get_xlabel(): ax for ax in plotting.shapes(lam, H)}
    plt.gcf().canvas.draw()
    texts = {name: [tick.get_text() for tick in ax.get_xticklabels()] for name, ax in axes.items()}
    assert texts["town"] == [*[f"town {k:02d}" for k in range(7, 30)], "missing"]
    assert [bar.get_height() for bar in axes["town"].patches] == list(range(8, 32))
    assert axes["town"].get_title() == "24 of 31 levels"
    assert axes["town"].patches[-1].get_facecolor() != axes["town"].patches[0].get_facecolor()
    assert axes["when (trend)"].xaxis.get_major_formatter().get_offset() == "2021-Jan"
    assert {"05:00", "10:00"} <= set(texts["at"])


def test_shapes_of_one_column_in_several_collections_add_up():
    X = np.arange(12.0).reshape(-1, 1)
    cuts, scaled = pnorm.rankers.thresholds([[2.5, 7.5]]), pnorm.rankers.normalized(X, X)
    H = pnorm.rankers.closed(cuts) + scaled
    lam = np.array([2.0, 0.0, 0.0, 1.0, 3.0])  # 1 - (x > 7.5) is a constant less that cut
    (ax,) = plotting.shapes(lam, H)
    x, y = ax.lines[0].get_data()
    f = pnorm.score(x[1:-1:2, None], H, lam) - 1.0  # below every cut and at its lower end
    np.testing.assert_allclose(y[1:-1:2], f, atol=1e-12)
    np.testing.assert_allclose(y[[0, -1]], pnorm.score(x[[0, -1], None], H, lam) - 1.0, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0.0, 0.0], pnorm.rankers.thresholds([[0, 1]])), ValueError, "no column has a shape with these coefficients"),
        (([1.0], pnorm.rankers.columns(1)), ValueError, "no column has a shape with these coefficients"),
        (
            ([1.0, 0.0], pnorm.rankers.thresholds([[0], [1]]), "x1"),
            ValueError,
            "the column 'x1' has no shape with these coefficients; those with one are 'x0'",
        ),
        (([1.0], [len]), TypeError, "H must be a collection made by pnorm.rankers; got list"),
        (([1.0], pnorm.rankers.thresholds([[0, 1]])), ValueError, r"lam must have shape \(2,\)"),
    ],
)
def test_shapes_that_cannot_be_drawn(arguments, error, message):
    with pytest.raises(error, match=message):
        plotting.shapes(*arguments)
    with pytest.raises(ValueError, match="ax must be 2 Axes, one for each column; got 1"):
        plotting.shapes([1.0, 1.0], pnorm.rankers.thresholds([[0], [1]]), ax=plt.gca())
