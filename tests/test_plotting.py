"""Pictures: what is on them, where they go, and what is refused."""

import datetime
import pickle
import re
import sys
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from facts import raises
from repeats import each_value

import pnorm
from pnorm import metrics, plotting

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402


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
    np.testing.assert_array_equal(left.lines[-1].get_xydata(), [met])
    (text,) = left.get_legend().get_texts()
    assert {"p = 1", "p = 16"} <= set(re.findall(r"p = \d+", text.get_text()))
    assert left.get_xlim()[1] > met.false_positives
    assert len({line.get_color() for line in full.lines}) == 3
    axes = plt.subplots(1, 2)[1]
    axes[0].set_title("given")
    assert plotting.roc(lists, ax=axes)[0].get_title() == "given"


def test_roc_of_lists_that_never_cross():
    better, worse = (
        metrics.roc_counts(np.arange(40), np.arange(100) / 4),
        metrics.roc_counts(np.arange(40), np.arange(100)),
    )
    left, _ = plotting.roc({"a": better, "b": worse})
    assert left.get_xlim()[1] == 10.5
    assert len(left.lines) == 2
    assert left.get_legend() is None


def test_roc_of_lists_of_different_sizes_is_in_rates():
    rng = np.random.default_rng(0)
    lists = {"few": (rng.normal(1, 1, 50), rng.normal(size=80)), "many": (rng.normal(1, 3, 500), rng.normal(size=400))}
    left, full = plotting.roc(lists)
    assert (full.get_xlabel(), full.get_ylabel()) == ("false positive rate", "true positive rate")
    for line, (f_pos, f_neg) in zip(full.lines, lists.values(), strict=True):
        false, true = metrics.roc_counts(f_pos, f_neg)
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([false / len(f_neg), true / len(f_pos)]))
    (at,) = left.lines[-1].get_xydata()
    for line in full.lines:  # the crossing is on both curves
        x, y = line.get_xydata().T
        assert np.interp(at.sum(), x + y, x) == pytest.approx(at[0])
    assert at[0] < left.get_xlim()[1] < 1.0
    _, counts = plotting.roc(lists, units="counts")
    assert [line.get_xydata()[-1].tolist() for line in counts.lines] == [[80, 50], [400, 500]]
    assert counts.get_xlabel() == "false positives"


def test_roc_in_rates_is_the_same_picture_in_other_units(runs):
    lists = runs[-1]
    left, full = plotting.roc(lists)
    left_rates, rates = plotting.roc(lists, units="rates")
    for a, b in zip([*full.lines, left.lines[-1]], [*rates.lines, left_rates.lines[-1]], strict=True):
        np.testing.assert_allclose(a.get_xydata(), b.get_xydata() * [60, 40], atol=1e-12)


def test_lists_of_other_rows_and_alike_labels_are_all_drawn():
    for units in ("counts", "rates", None):
        left, full = plotting.roc({4: ([2, 1], [0, 1.5]), "p = 4": ([3.0], [1, 2, 4])}, units=units)
        assert len(full.lines) == 2
        assert len(left.lines) == (2 if units == "counts" else 3)  # a crossing in rates alone
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


def test_push_path_draws_means_and_quantiles_or_intervals_of_estimates(runs):
    rng = np.random.default_rng(0)
    values = {64: rng.normal(size=200), 1: rng.normal(size=200)}
    ax = plotting.push_path(values, label="train")
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[1, values[1].mean()], [64, values[64].mean()]])
    wide, half = (band.get_paths()[0].vertices for band in ax.collections)
    assert np.isclose(wide[:, 1], np.quantile(values[64], 0.95)).any()
    assert np.isclose(half[:, 1], np.quantile(values[1], 0.25)).any()
    plotting.push_path({1: 3.0, 4: 4.0}, label="test", ax=ax)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "4", "64"]
    assert ax.lines[0].get_color() != ax.lines[1].get_color()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["train", "test"]
    found = {p: metrics.auc(*scores, confidence=0.9, n_resamples=50) for p, scores in runs[-1].items()}
    ax = plotting.push_path(found, label="AUC")
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), [[p, float(value)] for p, value in found.items()])
    (band,) = ax.collections
    edges = band.get_paths()[0].vertices
    for p, value in found.items():
        assert {value.low, value.high} <= set(edges[edges[:, 0] == p, 1])
    assert len(plotting.push_path({1: [0.5, 0.6], 4: found[4]}).collections) == 2  # numbers, as soon as one is


def _contrast(a, b):
    """The contrast of WCAG, from 1 to 21."""
    light = []
    for colour in (a, b):
        rgb = np.array(matplotlib.colors.to_rgb(colour))
        light.append(np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722])
    return (max(light) + 0.05) / (min(light) + 0.05)


def test_drawings_can_be_seen_on_every_background(runs):
    with plt.style.context("dark_background"):
        before = dict(matplotlib.rcParams)
        drawn = list(_with_names("a", runs))
        for ax in drawn:
            paper = ax.get_facecolor()
            colours = [line.get_color() for line in ax.lines if line.get_linestyle() != "None"]
            colours += [line.get_markeredgecolor() for line in ax.lines if line.get_linestyle() == "None"]
            colours += [bar.get_facecolor() for bar in ax.patches]
            colours += [text.get_color() for text in ax.texts]
            assert min(_contrast(colour, paper) for colour in colours) > 1.6, ax.get_ylabel()
            legend = ax.get_legend()
            if legend is not None:
                words = legend.get_texts()[0].get_color()
                assert _contrast(legend.get_frame().get_facecolor(), words) > 3.5
        for figure in {ax.figure for ax in drawn}:
            figure.canvas.draw()
        assert dict(matplotlib.rcParams) == before


def test_dark_axes_in_a_light_style_get_light_colours(runs):
    _, (light, dark) = plt.subplots(1, 2)
    dark.set_facecolor("#101418")
    for ax in (light, dark):
        plotting.trace(runs[2][4][1], ax=ax)
        plotting.roc(runs[-1], ax=ax)
    for line, other in zip(light.lines, dark.lines, strict=True):
        assert _contrast(line.get_color(), "white") > 2.0
        assert _contrast(other.get_color(), "#101418") > 3.0
    assert _contrast(dark.get_legend().get_texts()[0].get_color(), "#101418") > 10.0
    assert dark.get_legend().get_frame().get_facecolor()[:3] == pytest.approx(dark.get_facecolor()[:3])


def test_no_line_runs_through_the_words_of_a_legend(runs):
    _, _, found, lists = runs
    axes = [*plotting.roc(lists), plotting.trace({p: trace for p, (_, trace) in found.items()})]
    for ax in [*axes, plotting.push_path({1: [1, 2], 4: [2, 3]}, label="a")]:
        frame = ax.get_legend().get_frame()
        assert ax.get_legend().get_frame_on()
        assert frame.get_alpha() >= 0.8
        assert frame.get_facecolor()[:3] == ax.get_facecolor()[:3]
        assert ax.get_legend().get_zorder() > max(line.get_zorder() for line in ax.lines)


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
    assert ax.get_ylabel() == "log $F_p$ above the floor (nats)"
    assert "log R" in plotting.trace(pnorm.train(pos, neg, loss="logistic", t_max=3)[1]).get_ylabel()


def test_weights_are_in_order_of_what_they_move(runs):
    pos, *_ = runs
    H = pnorm.rankers.columns(4, names=["a", "b", "c", "d"])
    lam = np.array([1.0, -3.0, 0.0, 2.0])
    ax = plotting.weights(lam, H, top=2)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["b", "d"]
    assert [bar.get_width() for bar in ax.patches] == [-3.0, 2.0]
    assert ax.patches[0].get_facecolor() != ax.patches[1].get_facecolor()
    assert "first 2 of 3" in ax.get_title()
    moved = lam * np.ptp(pos * [10, 1, 1, 1], axis=0)
    ax = plotting.weights(lam, H, pos * [10, 1, 1, 1])
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([moved[0], moved[1], moved[3]])
    assert [text.get_text() for text in plotting.weights(lam).get_yticklabels()] == ["h[1]", "h[3]", "h[0]"]
    assert plotting.weights(lam, None, pos).get_yticklabels()[0].get_text() == "x1"


def test_models_are_drawn_without_their_weak_rankers(runs):
    pytest.importorskip("sklearn")
    from pnorm.sklearn import PNormPush

    pos, neg, *_ = runs
    X, y = np.concatenate([pos, neg]), np.repeat([1, 0], [len(pos), len(neg)])
    model = PNormPush(4, t_max=20).fit(X, y)
    function = pnorm.ScoringFunction(model.lam_, model.rankers_, 4.0, {}, pnorm.__version__)
    for drawing in (plotting.weights, lambda *model: plotting.shapes(*model)[0]):
        expected = drawing(model.lam_, model.rankers_)
        for each in (model, function):
            drawn = drawing(each)
            texts = [[text.get_text() for text in ax.get_yticklabels()] for ax in (drawn, expected)]
            assert texts[0] == texts[1]
            assert drawn.get_xlabel() == expected.get_xlabel()
            assert [bar.get_width() for bar in drawn.patches] == [bar.get_width() for bar in expected.patches]
            inner = slice(1, -1) if each is model else slice(None)  # an estimator has training rows for the ends
            for a, b in zip(drawn.lines, expected.lines, strict=True):
                np.testing.assert_array_equal(a.get_xydata()[inner], b.get_xydata()[inner])


def test_a_strip_shows_the_order_with_ties_against_us():
    ax = plotting.ranked_list({"one": ([5, 3, 3], [3, 1]), "two": ([1, 2, 3], [9, 8])}, top=4)
    centres = {(round(bar.get_x() + bar.get_width() / 2), round(bar.get_y() + bar.get_height() / 2)): bar.get_height()
               for bar in ax.patches}  # fmt: skip
    assert [bool(centres[rank, 0] > 0.6) for rank in (1, 2, 3, 4)] == [True, False, True, True]
    assert [bool(centres[rank, 1] > 0.6) for rank in (1, 2, 3, 4)] == [False, False, True, True]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["one", "two"]
    assert ax.get_xlim() == (0.5, 4.5)
    assert [text.get_text() for text in ax.texts] == ["3 of 4", "2 of 4"]
    only = plotting.ranked_list(([5, 4], [1]), top=2)
    colours = [patch.get_facecolor() for patch in only.get_legend().get_patches()]
    assert colours[0] == only.patches[0].get_facecolor() != colours[1]


@pytest.mark.parametrize(
    ("points", "scale", "label"), [({"p": 4, "l2": [0.1, 0, 1]}, "symlog", "l2"), ({"p": [4, 1, 16]}, "log", "p")]
)
def test_coefficient_path_names_the_largest(runs, points, scale, label):
    pos, neg, *_ = runs
    path = pnorm.minimize_path(pos, neg, pnorm.rankers.columns(4, names=["a", "b", "c", "d"]), **points)
    ax = plotting.coefficient_path(path, top=2)
    assert (ax.get_xscale(), ax.get_xlabel()) == (scale, label)
    largest = np.argsort(-np.abs(path.lam).max(axis=0))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [path.names[j] for j in largest[:2]]
    values = getattr(path, label)
    order = np.argsort(values)
    for line, j in zip(ax.lines[:4], largest[::-1], strict=True):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([values, path.lam[:, j]])[order])
    if label == "p":
        assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "4", "16"]


F, Y = np.array([5.0, 4.0, 1.0, 3.0, 2.0, 0.0, 4.0]), np.array([1, 1, 1, 0, 0, 0, 0])
DRAWN = ("roc", "ranked_list")


def data_of(axes):
    """The numbers of a drawing."""
    found = []
    for ax in np.atleast_1d(axes):
        found += [np.asarray(line.get_xydata()).tolist() for line in ax.lines]
        found += [patch.get_bbox().bounds for patch in ax.patches if hasattr(patch, "get_bbox")]
        found += [path.vertices.tolist() for each in ax.collections for path in each.get_paths()]
    return found


@pytest.mark.parametrize("name", DRAWN)
def test_one_list_is_drawn_from_two_sides_from_a_pair_or_with_labels(name):
    draw, f = getattr(plotting, name), F
    pos, neg = f[Y == 1], f[Y == 0]
    expected = data_of(draw({"a": (pos, neg)}))
    words = np.where(Y == 1, "won", "lost")
    for drawn in (draw((pos, neg)), draw(pos, neg), draw(f.tolist(), y=Y.tolist()), draw(f, y=words, pos_label="won")):
        assert data_of(drawn) == expected
    two = {"a": (pos, neg), "b": (pos[::-1] / 2, neg)}
    both = {"a": f, "b": np.r_[pos[::-1] / 2, neg]}
    assert data_of(draw(both, y=Y)) == data_of(draw(two))
    for call, error, message in (
        (lambda: draw(f), TypeError, "With one vector of scores, pass the labels as well: y=labels"),
        (lambda: draw({"a": f}, neg), ValueError, "lists is a mapping of several; leave f_neg out"),
        (lambda: draw(pos, neg, y=Y), ValueError, "f_neg and y are both given"),
        (lambda: draw({"a": f, "b": f[1:]}, y=Y), ValueError, "list 'b': y must hold one label per row, 6; got 7"),
        (lambda: draw(metrics.ScoreTable.of(pos, neg), y=Y), TypeError, "holds both sides; leave y"),
    ):
        with raises(error, message):
            call()


def test_what_other_functions_returned_is_drawn_as_it_is():
    pos, neg = F[Y == 1], F[Y == 0]
    expected = data_of(plotting.roc(pos, neg))
    assert data_of(plotting.roc(metrics.roc_counts(pos, neg))) == expected
    assert data_of(plotting.roc(metrics.ScoreTable.of(pos, neg))) == expected
    with raises(TypeError, "A Roc has no scores: pass the scores"):
        plotting.ranked_list(metrics.roc_counts(pos, neg))
    X = np.column_stack([F, F[::-1]])
    H = pnorm.rankers.thresholds([[1.5, 3.5], [0.5]], names=["a", "b"])
    lam, run = pnorm.train(X, y=Y, H=H, t_max=9)
    alone = data_of(plotting.trace(run))
    assert data_of(plotting.trace((lam, run))) == alone
    found = pnorm.shapes(lam, H)
    assert data_of(plotting.shapes(found)) == data_of(plotting.shapes(lam, H))
    assert data_of(plotting.shapes(found["b"])) == data_of(plotting.shapes(lam, H, "b"))
    with raises(TypeError, "the shapes are computed already; leave H out"):
        plotting.shapes(found, H)
    model = pnorm.sklearn.PNormPush(t_max=9, rankers="normalized", p=2, cv=2, random_state=0).fit(X, Y)
    assert data_of(plotting.trace({"a": model})) == data_of(plotting.trace({"a": model.trace_}))


RUN = pnorm.train([[1.0], [0.0]], [[0.5]], t_max=1)[1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: plotting.roc({}), ValueError, "lists is empty; at least one is needed"),
        (lambda: plotting.roc({1: 3}), TypeError, "list 1 must be a pair of scores (f_pos, f_neg), or a Roc"),
        (lambda: plotting.roc({1: ([1.0], [])}), ValueError, "f_neg is empty"),
        (lambda: plotting.roc({1: ([1.0], [0.0])}, ax=[None] * 3), ValueError, "ax must be one Axes or a pair of them; got [None, None, None]"),
        (lambda: plotting.roc({1: ([1.0], [0.0])}, units="shares"), ValueError, "units must be one of 'counts', 'rates'; got 'shares'"),
        (lambda: plotting.roc({1: metrics.Roc(np.zeros(2), np.ones(2))}, units="rates"), ValueError, "list 1 must have positives and negatives, for rates"),
        (lambda: plotting.ranked_list(metrics.ScoreTable.of([1], [2])), TypeError, "a ScoreTable has no single rows"),
        (lambda: plotting.weights(RUN), TypeError, "got a Trace: pass the coefficients (lam)"),
        (lambda: plotting.weights([1.0, 2.0], [np.sum]), ValueError, "lam must have shape (1,)"),
        (lambda: plotting.push_path({0: [1]}), ValueError, "p must be above 0; got 0"),
        (lambda: plotting.push_path({1: []}), ValueError, "values must hold one number at least for every p"),
        (lambda: plotting.push_path({"a": [1], 1: [2]}), TypeError, "p must be a real number; got 'a'"),
        (lambda: plotting.trace(RUN, floor=1e9), ValueError, "floor must be below the objectives"),
        (lambda: plotting.trace({"a": 3}), TypeError, "runs must be a Trace, or a mapping from labels to them; got int"),
        (lambda: plotting.coefficient_path(RUN), TypeError, "path must be what pnorm.minimize_path returned; got Trace"),
    ],
)  # fmt: skip
def test_refusals(call, error, message):
    with raises(error, message):
        call()


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with raises(ImportError, r"pip install .pnorm-push\[plot\]"):
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


@pytest.mark.parametrize(("n", "lines", "across"), [(1, 1, 1), (3, 1, 3), (4, 2, 2), (5, 2, 3)])
def test_shapes_stand_in_a_grid(n, lines, across):
    H = pnorm.rankers.thresholds([[0, 1]] * n)
    axes = plotting.shapes(np.arange(1.0, 2 * n + 1), H)
    assert axes.shape == (n,)
    assert len(axes[0].figure.axes) == n
    assert axes[0].get_subplotspec().get_gridspec().get_geometry() == (lines, across)
    assert axes[0].figure.get_size_inches()[0] <= 7.5
    assert [ax.get_ylabel() != "" for ax in axes] == [k % across == 0 for k in range(n)]


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
    assert [bar.get_height() for bar in axes["town"].patches] == list(range(8, 31))
    (dot,) = [line for line in axes["town"].lines if line.get_marker() == "o"]
    assert (dot.get_xdata()[0], dot.get_ydata()[0], dot.get_color()) == (23, 31.0, "#d55e00")
    assert axes["town"].get_title() == "24 of 31 levels"
    assert axes["when (trend)"].xaxis.get_major_formatter().get_offset() == "2021-Jan"
    assert {"05:00", "10:00"} <= set(texts["at"])


def ends_of(ax):
    return ax.lines[0].get_xdata()[[0, -1]].tolist()


def test_shapes_extend_over_cuts_and_rows():
    H = pnorm.rankers.thresholds([np.arange(0.5, 7.0), [0.1, 3.3, 950.2]])  # cuts without a coefficient at the ends
    axes = plotting.shapes(np.r_[0, 2.0, 1.0, np.zeros(5), 1.0, 0], H)
    assert [ends_of(ax) for ax in axes] == [[0.0, 7.0], [0.0, 950.2]]
    axes = plotting.shapes(np.ones(4), pnorm.rankers.thresholds([[400.5, 5000.5], [100.0, 5000.0]]))
    for ax, low, high in zip(axes, (400.5, 100.0), (5000.5, 5000.0), strict=True):
        start, stop = ends_of(ax)
        assert 0.0 <= start < low - 50.0
        assert high + 400.0 < stop < high + 600.0
    H, X = pnorm.rankers.thresholds([[1.5, 2.5]]), np.arange(-100.0, 101.0).reshape(-1, 1)
    (ax,) = plotting.shapes(pnorm.shapes([1.0, 2.0], H, X))
    np.testing.assert_allclose(ends_of(ax), [-98.0, 98.0], atol=1.0)
    (ax,) = plotting.shapes(pnorm.shapes([1.0, 2.0], H, [[2.0], [2.0]]))
    start, stop = ends_of(ax)
    assert start < 1.5 < 2.5 < stop


def test_shapes_of_an_estimator_extend_over_its_training_rows():
    pytest.importorskip("sklearn")
    from pnorm.sklearn import PNormPush

    X = np.arange(201.0).reshape(-1, 1)
    model = PNormPush(4, rankers=partial(pnorm.rankers.quantile_thresholds, n_cuts=3), l2=0.1).fit(
        X, X[:, 0] % 150 > 70
    )
    restored = pickle.loads(pickle.dumps(model))
    for each in (model, restored):
        (ax,) = plotting.shapes(each)
        np.testing.assert_allclose(ends_of(ax), [2.0, 198.0], atol=1.0)
        np.testing.assert_array_equal(ax.get_xticks(), np.floor(ax.get_xticks()))


def test_shapes_of_whole_numbers_have_whole_ticks():
    for cuts, is_whole in (([1.5, 2.5], True), ([2.0, 2.5], True), ([0.2, 0.4], False)):
        (ax,) = plotting.shapes(np.ones(2), pnorm.rankers.thresholds([cuts]))
        assert (ax.get_xticks() == np.floor(ax.get_xticks())).all() == is_whole


@each_value()
@pytest.mark.parametrize("score", [-3.0, 0.0, 3.0])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_missing_values_are_apart_from_the_axis(n, score):
    X = np.c_[np.r_[0.0, 1.0, 2.0, np.nan], np.r_[0.0, 1.0, 2.0, np.nan], np.r_[0.0, 1.0, 2.0, np.nan]][:, :n]
    H = pnorm.rankers.quantile_thresholds(X, X, 3, missing="own")
    missing = np.array([name.endswith("missing") for name in H.names])
    axes = plotting.shapes(np.where(missing, score, 0.5), H)
    axes[0].figure.canvas.draw()
    for ax in axes:
        (word,) = ax.get_xticklabels(minor=True)
        assert word.get_text() == "missing"
        start = ax.lines[0].get_xdata()[0]
        (dot,) = [line for line in ax.lines if line.get_marker() == "o"]
        (parting,) = [line for line in ax.lines if list(line.get_ydata()) == [0, 1]]
        assert dot.get_xdata()[0] < parting.get_xdata()[0] < start
        assert dot.get_ydata()[0] == score
        assert ax.get_xticks().min() >= start
        others = [label.get_window_extent() for label in ax.get_xticklabels()]
        assert word.get_window_extent().x1 < min(box.x0 for box in others)
        assert ax.get_ylim()[0] < score < ax.get_ylim()[1]


@pytest.mark.parametrize("linear", [False, True])
def test_an_outlier_does_not_set_the_axis_of_a_shape(linear):
    pytest.importorskip("sklearn")
    from pnorm.sklearn import PNormPush

    rng = np.random.default_rng(0)
    budget = np.r_[np.exp(rng.normal(9, 0.6, 399)), 4e6]
    X = np.c_[np.where(np.arange(400) % 9 == 0, np.nan, budget)]
    y = budget > np.median(budget)
    model = PNormPush(4, l2=0.1, rankers=None if linear else "thresholds").fit(X, y)
    least, most = np.nanquantile(X, [0.0, 0.99])
    for each in (model, model.shapes(), model.shapes(X)):
        (ax,) = plotting.shapes(each)
        x = ax.lines[0].get_xdata()
        assert least <= x.min() < x.max() < 1.1 * most
        assert (np.diff(x) >= 0.0).all()
        assert ax.get_xticks().min() >= least
    (ax,) = plotting.shapes(model.lam_, model.rankers_)
    assert ax.lines[0].get_xdata().max() < 2.0 * most


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
        (([1.0], pnorm.rankers.columns(1)), ValueError, "no column has a shape with these coefficients"),
        (([1.0, 0.0], pnorm.rankers.thresholds([[0], [1]]), "x1"), ValueError, "'x1' has no shape .* those with one are 'x0'"),
        (([1.0], [len]), TypeError, "H must be a collection made by pnorm.rankers; got list"),
        (([1.0], pnorm.rankers.thresholds([[0, 1]])), ValueError, r"lam must have shape \(2,\)"),
    ],
)  # fmt: skip
def test_shapes_that_cannot_be_drawn(arguments, error, message):
    with raises(error, message):
        plotting.shapes(*arguments)
    with raises(ValueError, "ax must be 2 Axes, one for each column; got 1"):
        plotting.shapes([1.0, 1.0], pnorm.rankers.thresholds([[0], [1]]), ax=plt.gca())


def ends_of_band(ax):
    """The band of a curve by value: the lower and the upper ends there, of which a jump has two."""
    (band,) = [each for each in ax.collections if len(each.get_paths()[0]) > 2]
    ends = {}
    for x, y in band.get_paths()[0].vertices.tolist():
        ends.setdefault(x, []).append(y)
    return ends


@each_value()
@pytest.mark.parametrize(("low", "high"), [(-30_000, 1_200_000), (10_000, 20_000), (0.0112, 0.0187)])
@pytest.mark.parametrize("gone", [0.0, 0.2])
@pytest.mark.parametrize("width", [5.0, 7.2])
def test_the_numbers_of_an_axis_are_apart(low, high, gone, width):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((600, 3)) < gone, np.nan, rng.uniform(low, high, (600, 3)))
    X = X if high < 1 else np.round(X)
    H = pnorm.rankers.quantile_thresholds(
        X[:300], X[300:], 9, missing="own" if gone else "error", names=["a", "b", "c"]
    )
    figure, axes = plt.subplots(2, 3, figsize=(width, 4), layout="constrained", sharey=True)
    plotting.shapes(np.ones(len(H)), H, ax=axes[0])
    figure.canvas.draw()
    for ax in axes[0]:
        labels = [*ax.get_xticklabels(), *ax.get_xticklabels(minor=True)]
        boxes = [label.get_window_extent() for label in labels if label.get_text()]
        boxes = sorted(box for box in (tuple(box.intervalx) for box in boxes) if ax.bbox.x0 - 40 < box[0] < ax.bbox.x1)
        assert all(left[1] <= right[0] for left, right in pairwise(boxes))
        assert len(boxes) >= 1 + bool(gone)


@pytest.mark.parametrize("missing", [False, True])
def test_the_band_of_refits_against_a_slow_rule(missing):
    rng = np.random.default_rng(0)
    X = np.where(missing & (rng.random((300, 2)) < 0.1), np.nan, rng.normal(size=(300, 2)))
    H = pnorm.rankers.quantile_thresholds(X[:150], X[150:], 9, missing="own" if missing else "error", names=["a", "b"])
    if not missing:
        H += pnorm.rankers.normalized(X[:150], X[150:], names=["a", "b"])
    lam, others = rng.normal(size=len(H)), rng.normal(size=(5, len(H)))
    others[1:3] *= H.column != 1  # two refits do not use b
    whole = pnorm.shapes(lam, H, X)
    for ax in plotting.shapes(whole, others=[pnorm.shapes(of, H) for of in others]):
        c = "ab".index(ax.get_xlabel())

        def scores(values, of, c=c):
            rows = np.zeros((len(values), 2))
            rows[:, c] = values
            return pnorm.score(rows, H, np.where(H.column == c, of, 0.0))

        of_rows = whole["ab"[c]]._quantiles
        moved = [(scores(of_rows, lam) - scores(of_rows, of)).mean() for of in others]
        ends = ends_of_band(ax)
        x = np.array(list(ends))
        assert x.size > (10 if missing else 70)
        at = np.r_[x, x + 1e-12]  # at a cut, and just above it
        slow = np.array([scores(at, of) + by for of, by in zip(others, moved, strict=True)]).reshape(-1, 2, x.size)
        np.testing.assert_allclose([min(ends[value]) for value in x], slow.min(axis=(0, 1)), atol=1e-9)
        np.testing.assert_allclose([max(ends[value]) for value in x], slow.max(axis=(0, 1)), atol=1e-9)
        if missing:
            of_missing = [scores([np.nan], of)[0] + by for of, by in zip(others, moved, strict=True)]
            ((_, low), (_, high)) = ax.collections[-1].get_segments()[0]
            np.testing.assert_allclose([low, high], [min(of_missing), max(of_missing)], atol=1e-9)


def test_the_band_of_cuts_jumps_where_refits_jump():
    H, G = pnorm.rankers.thresholds([[1.0, 2.0]]), pnorm.rankers.thresholds([[1.0, 3.0]])
    whole = pnorm.shapes([1.0, 1.0], H, [[0.0], [1.5], [2.5], [4.0]])
    (ax,) = plotting.shapes(whole, others=[pnorm.shapes([1.0, 3.0], H), pnorm.shapes([2.0, 2.0], G)])
    over = whole[0]._quantiles

    def moved(x, second, of):
        """The scores of a refit with cuts at 1 and at `second`, with the mean of the curve over the rows."""
        of_rows = of[0] * (over > 1.0) + of[1] * (over > second)
        return of[0] * (x > 1.0) + of[1] * (x > second) + ((1.0 * (over > 1.0) + (over > 2.0)) - of_rows).mean()

    ends = ends_of_band(ax)
    assert sorted(ends)[1:-1] == [1.0, 2.0, 3.0]
    for x in (1.0, 2.0, 3.0):
        every = [moved(at, *of) for of in ((2.0, (1.0, 3.0)), (3.0, (2.0, 2.0))) for at in (x, x + 1e-9)]
        assert (min(ends[x]), max(ends[x])) == (pytest.approx(min(every)), pytest.approx(max(every)))


def test_the_ranges_of_levels_against_a_slow_rule():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    towns = pandas.DataFrame({"town": rng.choice(["Bonn", "Köln", "Ulm", "Wien"], 200, p=[0.1, 0.2, 0.3, 0.4])})
    few = towns[towns["town"] != "Ulm"]
    H, G = (pnorm.rankers.categories(of[:50], of[50:]) for of in (towns, few))
    lam, others = rng.normal(size=4), [rng.normal(size=4), rng.normal(size=4), rng.normal(size=3)]
    whole = pnorm.shapes(lam, H, towns)
    (ax,) = plotting.shapes(whole, others=[pnorm.shapes(of, K) for of, K in zip(others, (H, H, G), strict=True)])
    curve = dict(zip(whole[0].levels, lam, strict=True))
    share = {name: float((towns["town"] == name).mean()) for name in curve}
    moved = []
    for of in others:
        names = [name for name in curve if len(of) == 4 or name != "Ulm"]
        own = dict(zip(names, of, strict=True))
        by = sum(share[name] * (curve[name] - own[name]) for name in names) / sum(share[name] for name in names)
        moved.append({name: own[name] + by for name in names})
    segments = ax.collections[-1].get_segments()
    assert len(segments) == 4
    for name, ((_, low), (_, high)) in zip(curve, segments, strict=True):
        every = [refit[name] for refit in moved if name in refit]
        assert (low, high) == (pytest.approx(min(every)), pytest.approx(max(every)))


def test_refits_may_be_coefficients_models_or_shapes():
    H = pnorm.rankers.thresholds([[0.0, 1.0], [2.0]], names=["a", "b"])
    lam, others = [1.0, 2.0, 3.0], [[1.0, 1.0, 2.0], [2.0, 0.0, 4.0]]
    models = [pnorm.ScoringFunction(np.array(of), H) for of in others]
    drawn = [
        plotting.shapes(lam, H, others=others),
        plotting.shapes(pnorm.ScoringFunction(np.array(lam), H), others=models),
        plotting.shapes(pnorm.shapes(lam, H), others=[models[0], pnorm.shapes(others[1], H)]),
    ]
    first = [ends_of_band(ax) for ax in drawn[0]]
    assert all([ends_of_band(ax) for ax in axes] == first for axes in drawn[1:])
    assert not plotting.shapes(lam, H)[0].collections


@pytest.mark.parametrize(
    ("others", "error", "message"),
    [
        (lambda own: own, TypeError, "others must be a sequence of refits, such as a list of Shapes; got Shapes"),
        (lambda own: [own], ValueError, "others must be at least 2 refits; got 1"),
        (lambda own: [own, [1.0]], TypeError, r"others\[1\]: H must be a collection made by pnorm.rankers"),
        (
            lambda own: [own, pnorm.shapes([1.0], pnorm.rankers.thresholds([[0]], names=["b"]))],
            ValueError,
            r"others\[1\] has none of the columns of the score",
        ),
        (
            lambda own: [pnorm.shapes([1.0, 2.0], pnorm.rankers.from_table({"a": ["x"] * 9}, {"a": ["y"] * 9})), own],
            ValueError,
            r"others\[0\] has levels in the column 'a', and the score has numbers",
        ),
    ],
)
def test_refits_that_cannot_be_drawn(others, error, message):
    shapes = pnorm.shapes([1.0, 2.0], pnorm.rankers.thresholds([[0, 1]], names=["a"]))
    with raises(error, message):
        plotting.shapes(shapes, others=others(shapes))


def test_more_lists_than_colours_differ_in_dashes(runs):
    lists = {f"list {k}": runs[-1][1] for k in range(8)}
    ax = plotting.roc(lists)[1]
    looks = [(line.get_color(), line.get_linestyle()) for line in ax.lines[:8]]
    assert len(set(looks)) == 8
    assert {style for _, style in looks[:6]} == {"-"}


def test_the_first_of_three_named_lists_is_thick_and_above_the_others(runs):
    of = runs[-1]
    named = {f"list {k}": scores for k, scores in zip("abc", (of[1], of[4], of[16]), strict=True)}
    for lists, leads in (
        (named, True),
        (dict(list(named.items())[:2]), False),
        ({p: of[p] for p in (1, 4, 16)}, False),
    ):
        for ax in plotting.roc(lists):
            first, *others = ax.lines[: len(lists)]
            ahead = [(first.get_linewidth(), first.get_zorder()) > (a.get_linewidth(), a.get_zorder()) for a in others]
            assert ahead == [leads] * len(others)


def test_the_words_of_a_crossing_stay_within_the_axes(runs):
    lists = {f"a name as long as this, {k}": of for k, of in runs[-1].items()}
    for size, of in (((9, 4), runs[-1]), ((5, 3), runs[-1]), ((9, 4), lists)):
        figure, axes = plt.subplots(1, 2, figsize=size)
        left, _ = plotting.roc(of, ax=axes)
        figure.canvas.draw()
        assert left.get_legend().get_window_extent().width <= left.bbox.width


def _with_names(name, runs):
    """Every function with texts of a user, which are all `name`, and another name."""
    pos, neg, found, lists = runs
    lists = {name: lists[1], "b": lists[16]}
    names = [name, "b", "c", "d"]
    H, lam = pnorm.rankers.normalized(pos, neg, names=names), np.array([3.0, -2.0, 0.5, 0.0])
    dates = [{name: datetime.date(2024, 1, 1) + datetime.timedelta(day)} for day in range(40)]
    of_dates = pnorm.rankers.from_table(dates[::2], dates[1::2])
    levels = pnorm.rankers.categories([[name], ["b"]], [["c"], [name]])

    yield from plotting.roc(lists)
    yield plotting.push_path({1: [1, 2], 4: [2, 3]}, label=name)
    yield plotting.ranked_list(lists, top=30)
    yield plotting.trace({name: found[1], "b": found[4]})
    yield plotting.coefficient_path(pnorm.minimize_path(pos, neg, H, l2=[0.1, 1]))
    yield plotting.weights(lam, H)
    yield from plotting.shapes(lam, H)
    yield from plotting.shapes(lam, H, others=[lam, 2 * lam])
    yield from plotting.shapes(np.arange(1.0, 1.0 + len(of_dates)), of_dates)
    yield plotting.shapes([1.0, 2.0, 3.0], levels)[0]


def test_names_are_drawn_as_they_are(runs):
    name = "_$\\bad$"  # a legend leaves out what begins with an underscore, and between two dollars is a formula
    for ax in _with_names(name, runs):
        texts = [each for each in ax.figure.findobj(matplotlib.text.Text) if name in each.get_text()]
        assert texts
        assert [each._preprocess_math(each.get_text()) for each in texts] == [
            (each.get_text(), False) for each in texts
        ]
        plt.close(ax.figure)
