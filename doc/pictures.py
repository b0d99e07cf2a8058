"""Draw the pictures of the documentation into doc/_static, and write what the experiments say into doc/_outputs.

    PNORM_DATA=... python doc/pictures.py [--again] [NAME ...]

Needs Matplotlib and PNORM_DATA, a folder with the data sets of `pnorm.datasets`. Without a NAME, all are made;
the names are those of the functions at the end. Every picture is drawn twice, as NAME.svg for light pages and as
NAME-dark.svg for dark ones; doc/_dark.py puts both into a page that has the first.

What takes long to compute is kept in doc/_build/pictures. With --again it is computed anew.
"""

import pickle
import re
import sys
from contextlib import redirect_stdout
from doctest import DocTestParser
from functools import partial
from io import StringIO
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Curve
from matplotlib.ticker import MaxNLocator, NullLocator, PercentFormatter
from scipy.spatial import ConvexHull
from scipy.special import logsumexp

import pnorm
from pnorm import bounds, kernel
from pnorm._job.baselines import CURVES, LINEAR

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]

import adult_rivals as _adult_rivals  # noqa: E402
import calibration  # noqa: E402
import cluster as _cluster  # noqa: E402
import curves as _curves  # noqa: E402
import demonstration as _demonstration  # noqa: E402
import readable as _readable  # noqa: E402
import reproduce as _reproduce  # noqa: E402
import uneven as _uneven  # noqa: E402
from certified import kinds  # noqa: E402
from charts import half_width  # noqa: E402
from demonstration import BY_DEFAULT, DRAWS, LOGISTIC, OVER_DRAWS, WEIGHTED  # noqa: E402
from prices import FALSE_POSITIVE_RATES, data, experiment  # noqa: E402
from problems import wdbc  # noqa: E402
from tables import list_table  # noqa: E402

STATIC, KEPT = ROOT / "doc" / "_static", ROOT / "doc" / "_build" / "pictures"

STYLE, DARK = (ROOT / "doc" / f"{name}.mplstyle" for name in ("pnorm", "pnorm-dark"))
GRID = {"axes.grid": True, "axes.grid.axis": "y"}
THEMES = {"": [STYLE, GRID], "-dark": [STYLE, DARK, GRID]}

BLUE, ORANGE, GREEN, RED, PURPLE, GREY = (f"C{k}" for k in range(6))
BY_POWER = {1: BLUE, 4: ORANGE, 16: GREEN, 64: RED}
WIDTH = 5.8
"""Of all pictures, in inches: a page shows them at this size, and a telephone at five eighths of it."""
SQUARE = 5.0
"""The side of a claim in points."""


def save(draw, name):
    """Write one picture, light and dark, the same bytes each time; `draw` returns a figure.

    Points are rounded down to a hundredth of a point, which makes files half as large.
    """
    for suffix, styles in THEMES.items():
        with plt.style.context(styles):
            figure = draw()
            drawn = StringIO()
            figure.savefig(drawn, format="svg", metadata={"Date": None}, transparent=True)
            plt.close(figure)
            text = re.sub(r'(?<= d=")[^"]+', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), drawn.getvalue())
            (STATIC / f"{name}{suffix}.svg").write_text(text, encoding="utf-8")


def kept(name, compute):
    """Return what `compute` returns, or has returned before."""
    path = KEPT / f"{name}.pickle"
    if "--again" in sys.argv or not path.exists():
        found = compute()
        KEPT.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(found))
    return pickle.loads(path.read_bytes())


def write(name, text):
    """Write what a page includes."""
    (ROOT / "doc" / "_outputs" / f"{name}.inc").write_text(text, encoding="utf-8")


def ink():
    """The colour of words and axes."""
    return mpl.rcParams["text.color"]


def page():
    """The colour of the page."""
    return mpl.rcParams["axes.facecolor"]


def zero(ax):
    """A line at zero."""
    ax.axhline(0, color=ink(), lw=0.8)


def below(figure, ax, columns):
    """The legend of one axes for all of them, under the picture."""
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, columnspacing=1.4)


EXPLAINED = 600
"""The place of the row that the first picture explains. Above it a capital gain or loss is often the first reason."""

DIP = 67
"""The age at which the curve of age falls and rises again."""


RANDOM = "random order"
NAMES = {
    _adult_rivals.THIS: "pnorm",
    _adult_rivals.STEPS: "logistic regression\non the same steps",
    CURVES: "logistic regression\non splines",
}
"""Of lists in the first picture, on two lines if they need a second."""

LEFT = 6, 344, 612
"""Of its panels side by side, in points."""


def hero():
    """Adult as the command ranks it with ``--budget 1000``: the test, reasons and two shapes, across and down."""
    found = _adult_rivals.split(0, compare=False)
    learned, n = found.learned, _adult_rivals.BUDGET
    training, positive = found.training
    top = found.held_out[0].iloc[np.argsort(-found.scores, kind="stable")[:EXPLAINED]]
    row, explained = top.iloc[-1], pnorm.explain(top, learned.H, learned.lam, reference=training[~positive])
    effects = explained.top(EXPLAINED - 1, 3)
    capital = sum(explained.top(k, 1)[0].startswith("capital-") for k in range(EXPLAINED - 1))
    print(f"a capital gain or loss is the first reason of {capital} rows above row {EXPLAINED}")
    few = int(np.sum(training["age"] == DIP))
    print(f"{few} of {len(training):,} training rows have an age of {DIP}")
    shapes = pnorm.shapes(learned.lam, learned.H, training)
    meaning = {"education-num": "schooling", "age": "in years"}
    lists, chance = on_adult(), n * found.quality.headline.chance
    print(*[f"{name} {mean:.1f} ± {half:.1f}" for name, mean, half in lists], *effects, sep="\n")
    found_by = {name: mean for name, mean, _ in lists}
    half = next(half for name, _, half in lists if name == _adult_rivals.BOOSTED)
    own, trees = found_by[_adult_rivals.THIS], found_by[_adult_rivals.BOOSTED]
    less_trees = own - trees
    title = "A score that people can read:", f"{own:.0f} of the first {n:,} are right"
    under = (
        f"Adult data, {found.scores.size:,} people. Right: an income above $50,000.",
        f"Boosted trees have {trees:.0f} right, a random order {chance:.0f}.",
    )
    panels = (
        (f"Right in the first {n:,}", "held-out people, mean of 10 tests"),
        ("Reasons for each row", f"row {EXPLAINED} against the average"),
        ("A curve per column", "what two of them add"),
    )

    def sheet(width, height):
        """Return a figure in points, and functions that put words and axes on it, measured from its upper left."""
        figure = plt.figure(figsize=(width / 72, height / 72), layout="none")

        def put(x, y, text, **how):
            figure.text(x / width, 1 - y / height, text, **how)

        def axes(x, y, across, down):
            return figure.add_axes((x / width, 1 - (y + down) / height, across / width, down / height))

        return figure, put, axes

    def counts(put, axes, at, size, room):
        """Draw a row for each list: its name, a bar from zero, and its number; below them how far they are certain."""
        (x, y), (beside, across, step) = at, room
        rows = [*lists, (RANDOM, chance, 0.0)]
        ax = axes(x + beside, y, across, step * len(rows))
        for k, (name, mean, _) in enumerate(rows):
            is_own = name == _adult_rivals.THIS
            ax.barh([k], [mean], height=0.58, color=BLUE if is_own else GREY, alpha=1.0 if is_own else 0.55)
            how = {"color": BLUE if is_own else ink(), "weight": "bold" if is_own else "normal"}
            first, *second = NAMES.get(name, name).split("\n")
            middle = y + (k + 0.5) * step
            put(x, middle + (0.36 if not second else -0.05) * size, first, size=size, **how)
            if second:
                put(x, middle + 0.85 * size, second[0], size=0.78 * size, color=ink())
            right = x + beside + across * mean / n + 0.4 * size
            put(right, middle + 0.4 * size, f"{mean:.0f}", size=1.1 * size, **{**how, "weight": "bold"})
        ax.set(xlim=(0, n), ylim=(len(rows) - 0.5, -0.5))
        ax.set_axis_off()
        ax.grid(False)
        low, high = (less_trees + side * half for side in (-1, 1))
        words = f"{NAMES[_adult_rivals.THIS]} minus boosted trees, 95 % interval:", f"{low:+.0f} to {high:+.0f}"
        put(x, y + step * len(rows) + 1.2 * size, " ".join(words).replace("-", "−"), size=0.82 * size)

    def bars(put, axes, at, rows, size, room):
        """Draw a row for each number: what it is, and below it a bar beside the number."""
        (x, y), (across, step, thick) = at, room
        for k, (label, number, written, most) in enumerate(rows):
            put(x, y + k * step + size, label, size=0.88 * size)  # a level may have a long name
            ax = axes(x, y + k * step + 1.4 * size, across, thick)
            ax.barh([0], [number], height=1, color=BLUE)
            ax.set(xlim=(0, most), ylim=(-0.5, 0.5))
            ax.set_axis_off()
            right = x + across * max(number, 0) / most + 0.5 * size
            put(right, y + k * step + 1.4 * size + 0.88 * thick, written, size=thick, weight="bold", color=BLUE)

    def curves(axes, at, each, size, apart):
        """Draw the shapes of two columns, each with a dot at the value of the row."""
        drawn = [axes(at[0] + k * apart[0], at[1] + k * apart[1], *each) for k in range(len(meaning))]
        for ax, (name, what) in zip(drawn, meaning.items(), strict=True):
            pnorm.plotting.shapes(shapes, columns=name, ax=ax)
            (line,) = [line for line in ax.lines if len(line.get_xdata()) > 2]
            value = float(row[name])
            at_row = value, np.interp(value, *line.get_data())
            if ax is drawn[0]:
                how = {"xytext": (-0.6 * size, 0.2 * size), "textcoords": "offset points", "ha": "right"}
                ax.annotate(f"row {EXPLAINED}", at_row, color=RED, size=0.9 * size, **how)
            ax.plot(*at_row, "o", color=RED, ms=0.5 * size, clip_on=False)
            if name == "age":  # why the curve falls there
                x, y = line.get_data()
                at_dip = DIP, y[np.abs(x - DIP) < 1].min()
                how = {"xytext": (-0.5 * size, 0), "textcoords": "offset points", "ha": "right", "va": "center"}
                ax.annotate(f"only {few} rows", at_dip, size=0.8 * size, **how)
            ax.set(xlabel="", ylabel="")
            ax.set_title(f"{name}: {what}", size=size, loc="left", pad=0.5 * size)
            ax.tick_params(labelsize=0.9 * size, length=3)
            ax.grid(False)
        ends = [end for ax in drawn for end in ax.get_ylim()]
        for ax in drawn:
            ax.set(ylim=(min(ends), 1.15), yticks=[0, 1])

    of_effects = []
    for told in effects:
        label, written = re.fullmatch(r"(.*) \((.*)\)", told).groups()
        of_effects.append((label, float(written), written, float(re.search(r"\((.*)\)", effects[0])[1])))

    def draw_row():
        """Of 880 by 372 points."""
        figure, put, axes = sheet(880, 372)
        put(6, 26, " ".join(title), size=24, weight="bold")
        put(6, 54, " ".join(under), size=15.5)
        for x, (name, what) in zip(LEFT, panels, strict=True):
            put(x, 96, name, size=18, weight="bold")
            put(x, 119, what, size=15)
        counts(put, axes, (6, 132), 15, (146, 148, 35))
        bars(put, axes, (LEFT[1], 138), of_effects, 15, (130, 70, 27))
        put(LEFT[2] + 8, 256, "effect on the score", size=14.5, rotation=90, va="center", ha="center")
        curves(axes, (LEFT[2] + 54, 165), (200, 66), 15, (0, 117))
        return figure

    def draw_column():
        """Of 360 by 774 points."""
        figure, put, axes = sheet(360, 774)
        for k, part in enumerate(title):
            put(2, 17 + 22 * k, part, size=17, weight="bold")
        for k, part in enumerate(under):
            put(2, 61 + 17 * k, part, size=11.5)
        for (name, what), y in zip(panels, (112, 388, 570), strict=True):
            put(2, y, name, size=15, weight="bold")
            put(2, y + 20, what, size=13.5)
        counts(put, axes, (2, 140), 13.5, (134, 178, 32))
        bars(put, axes, (2, 416), of_effects, 13.5, (260, 43, 18))
        put(10, 686, "effect on the score", size=13, rotation=90, va="center", ha="center")
        curves(axes, (48, 618), (304, 45), 13, (0, 87))
        return figure

    save(draw_row, "hero")
    save(draw_column, "hero-narrow")


def on_adult():
    """Return lists by their name, mean over the splits, and the half of a 95 % interval of this list less the other."""
    path = ROOT / "doc" / "_outputs" / "adult_rivals.txt"
    tables = [text.splitlines() for text in path.read_text(encoding="utf-8").split("\n\n")]
    means, differences = [
        {name: numbers for name, *numbers in (re.split(r" {2,}", line) for line in table[1:])} for table in tables[:2]
    ]
    splits = len(re.findall(r"split \d+", tables[0][0]))
    of = _adult_rivals
    shown = of.BOOSTED, of.STEPS, of.THIS, CURVES, LINEAR
    half = {name: half_width(float(numbers[1]), splits) for name, numbers in differences.items()}
    lists = [(name, float(means[name][-1]), half.get(name, 0.0)) for name in shown]
    return sorted(lists, key=lambda row: -row[1])


def claims(paid=1000, across=40):
    """The first of the same held-out rows of the demonstration under four scores, and what is wrong."""
    data = pnorm.datasets.insurance_claims()
    half = data.y.size // 2
    X, y, held, good = data.X[:half], data.y[:half], data.X[half:], data.y[half:] == 1
    sides = X[y == 1], X[y == 0]
    model = pnorm.sklearn.PNormPush().fit(X, y)
    weighted = _demonstration.logistic(class_weight={0: 1000, 1: 1})
    scores = {
        "logistic regression": (_demonstration.logistic()(*sides, held), LOGISTIC, DRAWS),
        "the same, weight 1,000": (weighted(*sides, held), WEIGHTED, DRAWS),
        "p = 1 (no push)": (_demonstration.lines(1)(*sides, held), OVER_DRAWS[1], DRAWS),
        f"PNormPush(): p = {model.p_:g}": (model.decision_function(held), BY_DEFAULT, DRAWS),
    }
    wrong = {name: ~good[np.argsort(-f, kind="stable")[:paid]] for name, (f, _, _) in scores.items()}
    means = {name: f"mean of {draws} draws: {mean:.1f}" for name, (_, mean, draws) in scores.items()}

    def grid(ax, is_wrong):
        """Draw squares; those that are right are dashed lines, which make small files, and the wrong are over them."""
        dashes = {"lw": 0.8 * SQUARE, "ls": (0, (1, 0.25)), "dash_capstyle": "butt"}
        for row in range(paid // across):
            ax.plot([0.1, across - 0.1], [row + 0.5, row + 0.5], color=BLUE, alpha=0.3, **dashes)
        row, column = np.divmod(np.flatnonzero(is_wrong), across)
        corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]])
        at = np.stack([column, row], axis=1)[:, None] + corners
        codes = np.tile([Curve.MOVETO, Curve.LINETO, Curve.LINETO, Curve.LINETO, Curve.CLOSEPOLY], len(at))
        ax.add_patch(PathPatch(Curve(at.reshape(-1, 2), codes), color=RED, lw=0, zorder=3))
        ax.set(xlim=(0, across), ylim=(paid / across, 0))
        ax.set_axis_off()

    def draw():
        width, height = 72 * WIDTH, 420
        figure = plt.figure(figsize=(WIDTH, height / 72), layout="none")
        top = f"The top {paid:,} of {held.shape[0]:,} claims. Orange: wrong."
        figure.text(3 / width, 1 - 14 / height, top, size=13, weight="bold")
        for k, name in enumerate(scores):
            left, down = 3 + 212 * (k % 2), 38 + 200 * (k // 2)
            size = across * SQUARE / width, paid / across * SQUARE / height
            grid(figure.add_axes((left / width, 1 - (down + 31) / height - size[1], *size)), wrong[name])
            put = partial(figure.text, left / width)
            put(1 - down / height, name, size=12)
            put(1 - (down + 23) / height, f"{np.count_nonzero(wrong[name])} wrong", color=RED, size=18, weight="bold")
            put(1 - (down + 31 + 25 * SQUARE + 14) / height, means[name], size=11.5)
        return figure

    save(draw, "claims")


def drawings():
    """One drawing of each function of `pnorm.plotting`, of the claims of the demonstration, for its page."""
    draw_with = pnorm.plotting
    data = pnorm.datasets.insurance_claims()
    half = data.y.size // 2
    X, y, held, good = data.X[:half], data.y[:half] == 1, data.X[half:], data.y[half:] == 1
    pos, neg = X[y], X[~y]
    H = pnorm.rankers.quantile_thresholds(pos, neg, 15, names=data.names)
    lines = pnorm.rankers.normalized(pos, neg, names=data.names)
    lists, precision, P = {}, {}, {}
    for p in (1, 4, 16):
        lam, trace = pnorm.train(pos, neg, lines, p)
        f = pnorm.score(held, lines, lam)
        lists[p] = f[good], f[~good]
        precision[p] = pnorm.metrics.precision_at(*lists[p], 1000, confidence=0.95)
        probability = pnorm.probability(held, lines, lam, p, trace.intercept)
        P[p] = probability[good], probability[~good]
    of_cuts, _ = pnorm.train(pos, neg, H, p=4)
    explained = pnorm.explain(held[:100], H, of_cuts, reference=X)
    descent = {"train": pnorm.train(pos, neg, lines, 4)[1], "minimize": pnorm.minimize(pos, neg, lines, 4)[1]}
    found = pnorm.cross_validate(pos[:800], neg[:200], pnorm.rankers.normalized, [1, 4, 16], t_max=100, folds=5)
    path = pnorm.minimize_path(pos, neg, lines, 4, l2=10.0 ** np.arange(-3, 5))
    single, wide = (5.0, 3.6), (WIDTH, 3.3)
    pictures = {
        "ranked-list": ((WIDTH, 2.3), lambda ax: draw_with.ranked_list(lists, top=120, ax=ax)),
        "precision-by-depth": (single, lambda ax: draw_with.precision_by_depth({k: lists[k] for k in (1, 16)}, ax=ax)),
        "roc": (wide, lambda axes: draw_with.roc({k: lists[k] for k in (1, 16)}, ax=axes)),
        "push-path": (single, lambda ax: draw_with.push_path(precision, label="precision in the first 1,000", ax=ax)),
        "calibration": ((4.6, 4.6), lambda ax: draw_with.calibration({k: P[k] for k in (1, 16)}, ax=ax)),
        "weights": ((WIDTH, 3.2), lambda ax: draw_with.weights(of_cuts, H, top=8, ax=ax)),
        "shapes": ((WIDTH, 4.2), lambda axes: draw_with.shapes(of_cuts, H, top=4, ax=axes)),
        "reasons": ((5.2, 3.4), lambda ax: draw_with.reasons(explained, 0, ax=ax)),
        "trace": (single, lambda ax: draw_with.trace(descent, floor=descent["minimize"].objective[-1], ax=ax)),
        "cross-validation": (single, lambda ax: draw_with.cross_validation(found, ax=ax)),
        "coefficient-path": ((WIDTH, 3.6), lambda ax: draw_with.coefficient_path(path, ax=ax)),
    }
    panels = {"roc": {"ncols": 2}, "shapes": {"nrows": 2, "ncols": 2, "sharey": True}}
    for name, (size, onto) in pictures.items():

        def draw(name=name, size=size, onto=onto):
            figure, axes = plt.subplots(figsize=size, **panels.get(name, {}))
            onto(axes)
            return figure

        save(draw, f"drawing-{name}")


def three_kinds_of_data():
    """Two weak rankers, nine rows a side: overlapping, touching along an edge, apart."""
    rng = np.random.default_rng(3)
    cloud = rng.uniform(-1, 1, (2, 7, 2)) * [0.8, 0.8]
    pos, neg = cloud[0] + [0.5, 0.35], cloud[1] - [0.5, 0.35]
    overlapping = pos, neg
    # Push both sides apart along (2, 1), to a common line on which each keeps two rows, not side by side.
    along, across = np.array([2, 1]) / 5**0.5, np.array([-1, 2]) / 5**0.5
    a, b = pos @ along, neg @ along
    touching = [
        pos + np.outer(np.maximum(0.25 - a, 0) + 0.05, along),
        neg - np.outer(np.maximum(b + 0.25, 0) + 0.05, along),
    ]
    touching = [
        np.vstack([X, np.outer(at, across)]) for X, at in zip(touching, ([-0.5, 0.6], [-0.9, 0.1]), strict=True)
    ]
    apart = touching[0] + 0.3 * along, touching[1] - 0.3 * along
    return {"overlapping": overlapping, "quasi-separable": touching, "separable": apart}


def hulls_and_objectives(p=4):
    """On the left, the rows and their hulls; on the right, the objective over the coefficients."""

    def draw():
        figure, axes = plt.subplots(3, 2, figsize=(WIDTH, 8.8))
        for (kind, (pos, neg)), (left, right) in zip(three_kinds_of_data().items(), axes, strict=True):
            draw_hulls(left, kind, pos, neg)
            draw_objective(right, kind, pos, neg, p)
        for left, right in axes:
            left.set_ylabel("$h_2$")
            right.set_ylabel("$\\lambda_2$")
        axes[-1, 0].set_xlabel("$h_1$")
        axes[-1, 1].set_xlabel("$\\lambda_1$")
        ends = {"positives": (BLUE, "o"), "negatives": (RED, "s")}
        handles = [
            Line2D([], [], color=colour, marker=marker, ls="", label=name) for name, (colour, marker) in ends.items()
        ]
        handles += [
            Line2D([], [], color=ORANGE, label="coordinate descent"),
            Line2D([], [], color=GREEN, marker="*", ms=10, ls="", label="minimiser"),
            Line2D([], [], color=GREEN, lw=2.5, label="to infinity"),
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=3, columnspacing=1.2, handletextpad=0.4)
        return figure

    save(draw, "hulls")


def draw_hulls(ax, kind, pos, neg):
    """Rows that lose all weight are hollow."""
    along = np.array([2, 1]) / 5**0.5
    for X, colour, marker in ((pos, BLUE, "o"), (neg, RED, "s")):
        hull = X[ConvexHull(X).vertices]
        ax.fill(*hull.T, color=colour, alpha=0.18, lw=0)
        on = np.abs(X @ along) < 1e-9 if kind == "quasi-separable" else np.full(len(X), kind == "overlapping")
        ax.scatter(*X[on].T, c=colour, marker=marker, s=30, zorder=3)
        ax.scatter(*X[~on].T, edgecolors=colour, facecolors=page(), marker=marker, s=30, zorder=3)
    if kind != "overlapping":
        line = np.outer([-1.35, 1.35], [-along[1], along[0]])
        ax.plot(*line.T, color=GREY, lw=1, ls="--", zorder=1)
    titles = {"overlapping": "hulls overlap", "quasi-separable": "hulls touch", "separable": "hulls miss each other"}
    ax.set_title(f"{kind}:\n{titles[kind]}")
    ax.grid(False)
    ax.set(xlim=(-1.9, 1.9), ylim=(-1.7, 1.7), aspect="equal", xticks=(-1, 0, 1), yticks=(-1, 0, 1))


def draw_objective(ax, kind, pos, neg, p):
    """Contours of log F_p, the path of descent, and the minimiser or the way to infinity."""
    grid = np.linspace(-3, 12, 61)
    lam = np.stack(np.meshgrid(grid, grid - 3), axis=-1)
    value = p * logsumexp(-lam @ pos.T, axis=-1) + logsumexp(p * lam @ neg.T, axis=-1)
    low = value.min()
    levels = low + np.geomspace(0.05, value.max() - low, 14) if kind == "overlapping" else 16
    ax.contourf(lam[..., 0], lam[..., 1], value, levels=8, cmap="Greys", alpha=0.45)
    ax.contour(lam[..., 0], lam[..., 1], value, levels=levels, colors=GREY, linewidths=0.6)
    _, run = pnorm.train(pos, neg, p=p, t_max=60)
    path = np.array([run.lam_at(t) for t in range(run.n_iter + 1)])
    ax.plot(*path.T, color=ORANGE)
    best, _ = pnorm.minimize(pos, neg, p=p)
    if kind == "overlapping":
        ax.plot(*best, "*", color=GREEN, ms=13, mec=page())
    else:
        direction = np.array([2, 1]) / 5**0.5
        start = best if kind == "quasi-separable" else np.zeros(2)
        arrow = {"arrowstyle": "->", "color": GREEN, "lw": 2.5}
        ax.annotate("", start + 12 * direction, start + 7 * direction, arrowprops=arrow)
    ax.plot(0, 0, "o", color=ink(), ms=4)
    ax.grid(False)
    ax.set_title(f"objective, p = {p}")
    ax.set(xlim=(-3, 12), ylim=(-6, 9), aspect="equal")


def gaps():
    """WDBC: what descent leaves, what Newton's method certifies, and q' settling while the coefficients do not."""
    found = kept("gaps", measured_gaps)

    def draw():
        figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.5))
        for (p, colour), (gap, newton, apart) in zip(BY_POWER.items(), found, strict=True):
            left.loglog(*gap, color=colour)
            left.loglog(*newton, color=colour, marker="o", ms=4, lw=1, ls=":")
            right.loglog(*apart, color=colour, label=f"p = {p}")
        left.set(xlabel="rounds, or Newton steps", ylabel="log $F_p$ above its infimum (nats)", ylim=(1e-14, 1e3))
        left.annotate("Newton's method", (13, 1e-11), size=10)
        left.annotate("coordinate descent", (20, 1e2), size=10)
        right.set(xlabel="rounds of descent", ylabel="largest difference of log $q'$")
        right.legend(loc="lower left")
        return figure

    save(draw, "gaps")


def measured_gaps():
    """For each p, with abscissas: the gaps of descent and of Newton's method, and how far q' is from its limit."""
    pos, neg, H = wdbc()
    found = []
    for p in BY_POWER:
        _, trace = pnorm.minimize(pos, neg, H, p, tol=0)
        _, run = pnorm.train(pos, neg, H, p, t_max=20_000)
        gap = pnorm.diagnostics.convergence(run, trace).gap
        rounds = np.unique(np.geomspace(1, len(gap) - 1, 300).astype(int))
        value = trace.log_objective - trace.log_objective[-1] + trace.gap
        lam = trace.path[-1]
        stops = np.unique(np.geomspace(1, run.n_iter, 60).astype(int))
        apart = [pnorm.diagnostics.same_limit(pos, neg, H, lam, run.lam_at(t)) for t in stops]
        steps = np.arange(1, trace.n_iter + 1)
        found.append([(rounds, np.maximum(gap[rounds], 1e-14)), (steps, value[1:]), (stops, apart)])
    return found


def workers(n_rows=10**9):
    """Seconds a round on a cluster by the number of workers, simulated from the costs printed on the page of it."""
    page_text = (ROOT / "doc" / "howto" / "cluster.rst").read_text(encoding="utf-8")
    row = {kind: 1e-9 * float(re.search(rf"    {kind}: ([\d.]+) ns per row", page_text)[1]) for kind in _cluster.KINDS}
    words = r"so ([\d.]+) ms an exchange, ([\d.]+) ms more for each worker thread, and ([\d.]+) ms"
    costs = _cluster.Costs(*(1e-3 * float(cost) for cost in re.search(words, page_text).groups()), row)
    numbers = np.unique(np.geomspace(1, 1000, 60).astype(int))

    def draw():
        figure, ax = plt.subplots(figsize=(WIDTH, 3.5))
        for (kind, questions), colour, x, y in zip(
            _cluster.KINDS.items(), (BLUE, ORANGE), (1.3, 4), (3, 80), strict=True
        ):
            seconds = [_cluster.simulated(costs, kind, n_rows, n)[0] for n in numbers]
            ax.loglog(numbers, seconds, color=colour, label=kind)
            ax.loglog(numbers, questions * row[kind] * n_rows / numbers, color=colour, ls=":", lw=1.2)
            ax.text(x, y, kind, color=colour, weight="bold")
        ax.set(xlabel="workers", ylabel="seconds a round, simulated")
        return figure

    save(draw, "workers")


def shares_of_kinds():
    """Pima, the papers' thresholds: kinds of random training sets by their size."""
    sizes = [20, 35, 50, 75, 100, 150, 200, 300, 400, 500, 600, 700]
    counts = kept("kinds", lambda: kinds(sizes, 100))
    order = {"separable": RED, "quasi-separable": ORANGE, "overlapping": BLUE}
    table = np.array([[counts[size][kind] / 100 for size in sizes] for kind in order])

    def draw():
        figure, ax = plt.subplots(figsize=(WIDTH, 3.4))
        ax.stackplot(sizes, table, colors=list(order.values()), lw=0)
        for x, y, text, turn in (
            (48, 0.3, "separable", 90),
            (290, 0.5, "quasi-separable", 0),
            (580, 0.72, "overlapping", 0),
        ):
            colour = page() if text == "overlapping" else "#14181e"
            ax.text(x, y, text, color=colour, weight="bold", rotation=turn, ha="center")
        ax.set(xlabel="training rows", ylabel="share of 100 random splits", xlim=(sizes[0], sizes[-1]), ylim=(0, 1))
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        return figure

    save(draw, "kinds")


def gained_by_prices():
    """True positive rates under five prices less those under the price r, over random splits."""
    names = {"r^4": "$r^4$", "r^16": "$r^{16}$", "exp(10 r/I)": "$e^{10r/I}$", "(r - I/20)^2": "$(r - I/20)^2$",
             "(r - I/3)^2": "$(r - I/3)^2$"}  # fmt: skip
    colours = dict(zip(names, (BLUE, GREEN, ORANGE, RED, GREY), strict=True))
    found = {name: kept(f"prices-{name}", partial(measured_gains, name, list(names))) for name in data()}

    def draw():
        figure, axes = plt.subplots(len(found), 2, figsize=(WIDTH, 8.4), sharex=True)
        for (name, of), panels in zip(found.items(), axes, strict=True):
            for part, (ax, title) in enumerate(zip(panels, (f"{name}, training", f"{name}, testing"), strict=True)):
                for label, colour in colours.items():
                    mean, error = of[label][part]
                    ax.fill_between(FALSE_POSITIVE_RATES, mean - error, mean + error, color=colour, alpha=0.18, lw=0)
                    ax.semilogx(FALSE_POSITIVE_RATES, mean, color=colour, lw=1.5, label=names[label])
                zero(ax)
                ax.set_title(title, size=10)
                ax.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
                ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
                ax.set_xticks([0.01, 0.1, 1.0], ["1%", "10%", "100%"])
        for ax in axes[-1]:
            ax.set_xlabel("false positive rate", size=10)
        figure.supylabel("gain in true positive rate", size=11)
        below(figure, axes[0, 0], 3)
        return figure

    save(draw, "prices")


def measured_gains(name, labels):
    """For each price the gains in training and testing: means and two standard errors."""
    found = experiment(name)
    gains = {}
    for label in labels:
        gain = (found[label][0] - found["r"][0])[:, :, 3:]
        gains[label] = np.stack([gain.mean(axis=0), 2 * gain.std(axis=0, ddof=1) / len(gain) ** 0.5], axis=1)
    return gains


def _means(results):
    table = list_table(_reproduce.means_table(results), ":widths: 17 7 12 12 12 13 13 13")
    return table.replace(" \u00b1 ", "\u00a0\u00b1\u00a0")


def _rule_of_colt(by_tr, by_colt):
    """Return the table of the rule of the largest edge, and the verdicts that it changes."""
    down = sum(_begins_downward(name, seed) for name, of in by_colt.items() for seed in of.seeds)
    higher = sum(int((of.objective > by_tr[name].objective + 1e-6).sum()) for name, of in by_colt.items())
    runs = sum(of.objective.size for of in by_colt.values())
    lines = [["setting", "claim", "by TR's rule", "by COLT's rule", "what the splits say by COLT's rule"]]
    for a, b in zip(_reproduce.claims(by_tr), _reproduce.claims(by_colt), strict=True):
        if a.verdict != b.verdict:
            lines.append([b.setting, b.claim, a.verdict, b.verdict, b.finding])
    ends = f"{higher} of {runs} runs by COLT's rule end more than 1e-6 nats above those by TR's. "
    ends += f"All edges are negative at the start in {down} of {runs // len(_reproduce.POWERS)} splits.\n\n"
    return ends + _means(by_colt) + "\n" + list_table(lines, ":widths: 14 26 12 12 36")


def _begins_downward(name, seed):
    """Whether all edges are negative at the start, where they do not depend on p."""
    setting = _reproduce.SETTINGS[name]
    X, y = setting.data(None)
    rows = np.random.default_rng(seed).permutation(len(y))[: setting.n_train]
    pos, neg = (X[rows][y[rows] == label] for label in (1, 0))
    _, trace = pnorm.train(pos, neg, setting.rankers(pos, neg), t_max=1, selection="largest")
    return trace.step[0] < 0


def experiments(splits=100):
    """The papers' experiments: a picture of each setting, and all tables as files that the page includes."""
    results, by_colt = (
        {
            name: kept(f"experiments-{rule}-{name}", partial(_reproduce.measure, name, range(splits), selection=rule))
            for name in _reproduce.SETTINGS
        }
        for rule in ("absolute", "largest")
    )
    judged = _reproduce.claims(results)
    write("experiments_colt", _rule_of_colt(results, by_colt))
    text = _means(results)
    for name, of in results.items():
        save(partial(_reproduce.draw, of), name)
        setting = _reproduce.SETTINGS[name]
        head, *lines = _reproduce.claims_table([claim for claim in judged if claim.setting == setting.title])
        text += (
            f"\n{setting.title}\n{'-' * len(setting.title)}\n\n{setting.source}.\n\n.. image:: /_static/{name}.svg\n"
        )
        text += f"   :alt: ROC curves of one split, and what p does over {splits} splits: {setting.title}\n\n"
        text += list_table([[row[k] for k in (1, 3, 4)] for row in (head, *lines)], ":widths: 36 16 48")
    write("experiments", text)


def uneven():
    """The top of the list where one class is small, and all tables as one file that the page includes."""
    found = kept("uneven", measured_uneven)

    def draw():
        figure, axes = plt.subplots(3, 3, figsize=(WIDTH, 7.2))
        rows = {"Normal classes": "true positive rate", "MAGIC": "partial AUC", "Spambase": "partial AUC"}
        for (name, what), row in zip(rows.items(), axes, strict=True):
            for ax, (scarce, (sizes, measured)) in zip(row, found[name].items(), strict=True):
                draw_sizes(ax, sizes, measured, name == "Normal classes")
                ax.set_title(f"{name}:\n{scarce}", size=10)
                if ax is not axes[0, 0]:
                    ax.sharey(row[-1])
            row[0].set_ylabel(f"{what}, %")
        axes[-1, 1].set_xlabel("rows of the smaller class", size=10)
        below(figure, axes[0, 0], 4)
        return figure

    save(draw, "uneven")


def measured_uneven():
    """By set and by what is scarce: the sizes, and means with standard errors for each p and size; write the tables."""
    found = _uneven.measured()
    write("uneven", _uneven.tables(found))
    shown = {}
    for name, of in found.items():
        shown[name] = {}
        for scarce, sizes in _uneven.sizes(np.max(list(of), axis=0)).items():
            of_power = [
                [_uneven.means(of[size][:, i] if of[size].ndim == 2 else of[size][:, i, 0]) for size in sizes]
                for i in range(len(_uneven.POWERS))
            ]
            shown[name][scarce] = sizes, np.array(of_power)
    return shown


def draw_sizes(ax, sizes, measured, normal):
    """Means with two standard errors by p; of normal classes, with what the formula says as dotted lines."""
    at = [min(size) for size in sizes]
    for (p, colour), of_power in zip(BY_POWER.items(), measured, strict=True):
        mean, error = of_power.T
        ax.errorbar(at, mean, 2 * error, color=colour, marker="o", ms=4, lw=1.5, label=f"p = {p}")
        if normal:
            ax.plot(at, [100 * _uneven.predicted(*size, p) for size in sizes], color=colour, lw=1.2, ls=":")
    ax.set_xscale("log")
    ax.set_xticks([n for n in _uneven.SIZES if n <= at[-1]][::2])
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.minorticks_off()


def curves():
    """Rows for which p changes the whole ROC curve, and the tables as one file that the page includes."""
    held = kept("curves", measured_curves)
    every = np.unique(np.geomspace(1, held.shape[2], 150).astype(int)) - 1
    at, shown = (every + 0.5) / held.shape[2], held[:, :, every]

    def draw():
        figure, ((scores, made), (whole, gain)) = plt.subplots(2, 2, figsize=(WIDTH, 6.6))
        draw_constructed(scores, made)
        for i, (p, colour) in enumerate(BY_POWER.items()):
            whole.plot(at, shown[:, i].mean(axis=0), color=colour, label=f"p = {p}")
            more = shown[:, i] - shown[:, 0]
            mean = more.mean(axis=0)
            half = half_width(more.std(axis=0, ddof=1) / len(more) ** 0.5, len(more))
            gain.semilogx(at, mean, color=colour)
            gain.fill_between(at, mean - half, mean + half, color=colour, alpha=0.18, lw=0)
        whole.set(xlabel="false positive rate", ylabel="true positive rate", title="MAGIC, hadrons on top, new rows")
        whole.legend(loc="lower right")
        gain.set(xlabel="false positive rate", ylabel="gain in true positive rate", title="MAGIC, gain over p = 1")
        return figure

    save(draw, "curves")


def measured_curves():
    """The true positive rates on MAGIC by split, p and false positive rate; write the tables."""
    write("curves", _curves.tables(_curves.measured()))
    X, on_top, _ = _curves.load("magic", "hadron")
    return _curves.over_splits(_curves.with_products(X), on_top, tuple(BY_POWER))[1]


def draw_constructed(scores, made):
    """The constructed rows: scores by p; ROC curves, and those of clouds around the rows."""
    powers = np.geomspace(1, 64, 100)
    lams = np.array([_curves.coefficients(p) for p in powers])
    kinds = {"both: 1 negative": _curves.BOTH, "few: 2 positives": _curves.FEW, "most: 8 positives": _curves.MOST,
             "none: 99 negatives": _curves.NONE}  # fmt: skip
    for (name, point), colour in zip(kinds.items(), (RED, BLUE, GREEN, ORANGE), strict=True):
        scores.plot(powers, lams @ point, color=colour, label=name)
    scores.set_xscale("log", base=2)
    scores.set_xticks([1, 2, 4, 8, 16, 32, 64], ["1", "2", "4", "8", "16", "32", "64"])
    low, high = scores.get_ylim()
    scores.set(
        xlabel="p", ylabel="score", title="10 positives and 100 negatives", ylim=(low, high + 0.5 * (high - low))
    )
    scores.legend(loc="upper left")
    sides, (pos, neg), new = _curves.points(), _curves.clouds(0, 1000), _curves.clouds(1, 10_000)
    for p, colour in ((1, BLUE), (64, RED)):
        for style, (good, bad), judged in (("-", sides, sides), (":", (pos, neg), new)):
            lam, _ = pnorm.minimize(good, bad, p=p)
            false, true = pnorm.metrics.roc_counts(*(side @ lam for side in judged))
            label = f"p = {p}" if style == "-" else None
            made.plot(false / false[-1], true / true[-1], color=colour, ls=style, label=label)
    made.set(xlabel="false positive rate", ylabel="true positive rate", title="ROC curves; dotted, clouds")
    made.legend(loc="upper center", bbox_to_anchor=(0.45, 0.9))


def readable():
    """Scores that a person can read: shapes of the first split, and the numbers beside them as files for the page."""
    for name in _readable.SPLITS:
        fits = kept(f"readable-{name}", partial(measured_readable, name))
        data, X = _readable.rows_of(name)
        smooth, monotone, steps, three = (pnorm.shapes(fit.lam, fit.rankers, X) for fit in fits)
        ranges = dict(zip(data.names, np.nanquantile(X, (0.01, 0.99), axis=0).T.tolist(), strict=True))
        mpl.rcParams["path.simplify_threshold"] = 0.3  # of a point: curves of 255 jumps would make large files
        draw_shapes(f"{name}-smooth", smooth, order_of(smooth)[:8], X, ranges)
        draw_shapes(f"{name}-monotone", monotone, list(_readable.MONOTONE[name]), X, ranges, smooth)
        draw_shapes(f"{name}-steps", steps, order_of(steps)[:8], X, ranges, smooth)
        draw_shapes(f"{name}-three", three, order_of(three), X, ranges, smooth)
    points = list_table(_readable.points(fits[2]), ":class: dense")  # of Pima, the last
    write("readable_points", points)


def measured_readable(name):
    """The scores of the first split; write the tables of all."""
    found = _readable.measured(name)
    write(f"readable_{name}", _readable.rst(found))
    return [fits[0] for fits in found.values()]


def order_of(shapes):
    """The columns of a score, those that move it the most first."""
    return [shape.name for shape in shapes]


def draw_shapes(file, shapes, columns, X, ranges, behind=None):
    """Shapes of some columns, over what nearly all rows have; in grey those of another score, below the deciles."""

    def draw():
        across = 2
        down = -(-len(columns) // across)
        figure, axes = plt.subplots(down, across, figsize=(WIDTH, 0.5 + 1.9 * down), sharey=True, squeeze=False)
        for ax, column in zip(axes.flat, columns, strict=False):
            for score, own in ((behind, False), (shapes, True)):
                if score is not None and column in order_of(score):
                    draw_shape(ax, score, column, ranges[column], own)
            deciles = np.nanquantile(X[:, list(ranges).index(column)], np.arange(0.1, 0.95, 0.1))
            ax.plot(deciles, np.full(9, 0.02), "|", color=ink(), ms=5, mew=0.8, transform=ax.get_xaxis_transform())
            ax.set(xlabel=column, ylabel="")
            ax.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        figure.supylabel("part of the score", size=11)
        ends = [ax.dataLim.intervaly for ax in axes.flat[: len(columns)]]
        room = 0.05 * np.ptp(ends)
        axes[0, 0].set_ylim(np.min(ends) - 2 * room, np.max(ends) + room)  # deciles stand below the curves
        for ax in axes.flat[len(columns) :]:
            ax.set_axis_off()
        handles = [Line2D([], [], color=BLUE, label="score"), Line2D([], [], color=GREY, lw=1.1, label="smooth score")]
        handles = handles if behind is not None else []
        if any(line.get_marker() == "o" for ax in axes.flat for line in ax.lines):
            handles.append(Line2D([], [], color=ORANGE, marker="o", ls="", label="missing value"))
        handles.append(Line2D([], [], color=ink(), marker="|", ls="", label="deciles of the rows"))
        figure.legend(handles=handles, loc="outside lower center", ncols=2, handletextpad=0.4, columnspacing=1.4)
        return figure

    save(draw, file)


def draw_shape(ax, shapes, column, limits, own):
    """The shape of one column between two values, with the level of missing values on the left."""
    known = len(ax.lines)
    pnorm.plotting.shapes(shapes, columns=column, ax=ax)
    curve, *others, line = ax.lines[known:]
    dots = [each for each in others if each.get_marker() == "o"]
    for each in others:
        each.set_visible(each in dots)  # the line that parts dots from curves
    ax.xaxis.set_minor_locator(NullLocator())  # the legend names the dots
    low, high = limits
    curve.set(color=BLUE if own else GREY, lw=1.8 if own else 1.1)
    line.set_visible(False)
    room = 0.03 * (high - low)
    for dot in dots:
        low -= 4 * room
        dot.set(xdata=[low], color=ORANGE if own else GREY)
    ax.set_xlim(low - room, high + room)


def refits():
    """The curves of the page on reasons with the range of refits, by the code of that page."""
    page_of = (ROOT / "doc" / "howto" / "reasons.rst").read_text(encoding="utf-8")
    names = {}
    with redirect_stdout(StringIO()):
        for example in DocTestParser().get_examples(page_of.split("\nWhich columns matter\n")[0]):
            exec(example.source, names)
    plt.close("all")

    def draw():
        figure, axes = plt.subplots(1, 3, figsize=(WIDTH, 2.6), sharey=True)
        pnorm.plotting.shapes(names["model"].shapes(names["X"]), others=names["refits"], ax=axes)
        return figure

    save(draw, "refits")


def lists():
    """Pima in training, one split: the top of the list by p, and which weak rankers carry it."""
    data = pnorm.datasets.pima()
    rows = np.random.default_rng(0).permutation(len(data.y))[:300]
    X, y = data.X[rows], data.y[rows] == 1
    H = pnorm.rankers.normalized(X[y], X[~y], -1, 1, names=data.names)
    found = {}
    for p in (1, 4, 64):
        lam, _ = pnorm.train(X[y], X[~y], H, p)
        f = pnorm.score(X, H, lam)
        found[p] = f[y], f[~y]

    def draw():
        figure, (above, under) = plt.subplots(2, 1, figsize=(WIDTH, 4.2), height_ratios=(1, 1))
        pnorm.plotting.ranked_list(found, top=60, ax=above)
        pnorm.plotting.weights(lam, H, X, top=5, ax=under)
        under.set_title("p = 64")
        under.grid(True, axis="x")
        under.xaxis.set_major_locator(MaxNLocator(5))
        return figure

    save(draw, "lists")


def guarantees():
    """Figure 1 of Agarwal et al., redrawn, and the negatives that Theorem 2 of the P-Norm Push asks for."""
    rows = np.unique(np.geomspace(200, 10**6, 400).astype(int))
    powers = np.array([1, 2, 4, 8, 16, 64])

    def draw():
        figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 4.0))
        for share, label, colour in ((0.5, "1/2", BLUE), (0.1, "1/10", RED), (0.01, "1/100", GREEN)):
            ours, freund = bounds.auc_bounds(rows[rows * share >= 2], share)
            left.loglog(rows[rows * share >= 2], ours, color=colour, label=f"$m/M$ = {label}")
            left.loglog(rows[rows * share >= 2], freund, color=colour, lw=1.3, ls="--")
        left.axhspan(1.0, 20.0, color=GREY, alpha=0.2, lw=0)
        left.text(9e5, 3.5, "no information", size=10, ha="right")
        left.set(xlabel="rows $M$", ylabel="width of the bound on the AUC", ylim=(0.01, 8), xlim=(200, 10**6))
        left.set_title("Agarwal et al. (lines),\nFreund et al. (dashed)")
        left.legend(loc="lower left")
        for epsilon, colour in ((0.5, BLUE), (0.2, RED), (0.1, GREEN)):
            sizes = [
                bounds.push_sample_size(0.05, epsilon, 0.1, p, lambda r: bounds.log_covering_linear(8, 1.0, r))
                for p in powers
            ]
            right.loglog(powers, sizes, color=colour, marker="o", label=f"excess {epsilon:g}")
        right.set_xscale("log", base=2)
        right.set_xticks(powers, [str(p) for p in powers])
        right.set_yticks([1.0, 1e50, 1e100, 1e150, 1e200])
        right.minorticks_off()
        right.set(xlabel="p", ylabel="negatives that the bound needs")
        right.set_title("P-Norm Push,\n8 weak rankers, margin 0.1")
        right.legend(loc="upper left")
        return figure

    save(draw, "guarantees")


def probabilities():
    """Reliability diagrams of MAGIC and Spambase: held-out rows of five splits, in ten bins."""
    found = kept("probabilities", measured_probabilities)

    def draw():
        figure, axes = plt.subplots(3, 2, figsize=(WIDTH, 8.6), sharex=True, sharey=True)
        colours = dict(zip([*(f"p = {p}" for p in calibration.POWERS), calibration.LOGISTIC],
                           (BLUE, ORANGE, GREEN, GREY), strict=True))  # fmt: skip
        for column, (name, of) in zip(axes.T, found.items(), strict=True):
            for ax, (kind, shown) in zip(column, of.items(), strict=True):
                ax.plot([0, 1], [0, 1], color=ink(), lw=0.8, ls="--")
                for label, points in shown.items():
                    ax.plot(*points.T, "o-", ms=4, lw=1.5, color=colours[label], label=label)
                ax.set_title(f"{name}: {kind}", size=10)
                ax.set_aspect("equal")
                ax.set(xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
        figure.supylabel("share of positives", size=11)
        for ax in axes[-1]:
            ax.set_xlabel("mean probability", size=10)
        below(figure, axes[0, 0], 2)
        return figure

    save(draw, "probabilities")


def measured_probabilities():
    """By set, push and method: mean probabilities and shares of positives."""
    rivals = calibration.methods()
    found = {}
    for name in ("magic", "spambase"):
        data = getattr(pnorm.datasets, name)()
        parts = list(calibration.splits(data, calibration.SPLITS[name]))
        y = np.concatenate([data.y[test] for _, test in parts])
        of = found[name] = {}
        for kind in ("minimize", "train", "train, isotonic"):
            push, _, how = kind.partition(", ")
            shown = {f"p = {p}": f"{push}, p = {p}{how and ', ' + how}" for p in calibration.POWERS}
            shown |= {calibration.LOGISTIC: calibration.LOGISTIC} if kind == "minimize" else {}
            of[kind] = {}
            for label, method in shown.items():
                P = [calibration.probabilities(rivals[method], data, *part) for part in parts]
                of[kind][label] = calibration.reliability(np.concatenate(P), y)
    return found


def disc_in_ring(size, seed):
    """Positives in a disc, negatives in a ring around it, with a fringe where they mix."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, 2 * size)
    radius = np.sqrt(np.r_[rng.uniform(0, 1, size), rng.uniform(1.2, 4, size)])
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) + 0.15 * rng.normal(size=(2 * size, 2))
    return X[:size], X[size:]


def ring():
    """A function of a kernel space on a disc in a ring, and what it makes of new rows, beside a linear one."""
    pos, neg = disc_in_ring(200, 0)
    new = disc_in_ring(2000, 1)
    model, _ = kernel.train(pos, neg)
    lam, _ = pnorm.minimize(pos, neg)
    at = np.linspace(-2.4, 2.4, 121)
    grid = np.column_stack([x.ravel() for x in np.meshgrid(at, at)])
    f = model.score(grid).reshape(121, 121)
    lists = {"kernel": [model.score(side) for side in new], "linear": [side @ lam for side in new]}

    def draw():
        figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.3), width_ratios=(1, 1.15))
        left.contourf(at, at, f, levels=12, cmap="Greys", alpha=0.5)
        left.scatter(*neg.T, s=14, color=RED, label="bad")
        left.scatter(*pos.T, s=14, color=BLUE, marker="^", label="good")
        left.set(aspect="equal", xticks=[], yticks=[])
        left.grid(False)
        left.set_title("400 rows, and the function\n(darker: higher)")
        left.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=2, handletextpad=0.1)
        for (name, scores), colour in zip(lists.items(), (BLUE, GREY), strict=True):
            auc = pnorm.metrics.auc(*scores)
            right.plot(*pnorm.metrics.roc_counts(*scores), color=colour, label=f"{name}, AUC {auc:.3f}")
        right.set(xlabel="bad rows above", ylabel="good rows above")
        right.set_title("4000 new rows")
        right.legend(loc="lower right")
        return figure

    save(draw, "ring")


def descent():
    """Distances of descent from what it approaches, beside Proposition 3.8, with the rows as all there is."""
    found = kept("descent", measured_descent)

    def draw():
        figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 3.8))
        for axis, (loss, lam, limits, times, of) in zip(axes, found, strict=True):
            for (theta, curves), colour in zip(of.items(), (GREEN, BLUE, RED), strict=True):
                squares, bound, still = curves
                axis.loglog(times, squares, color=colour, label=f"θ = {theta:g}")
                axis.loglog(times, bound, color=colour, lw=1.2, ls="--")
                axis.loglog(times, still, color=colour, lw=1.2, ls=":")
            axis.set(xlabel="t", ylim=limits, xlim=(2, 30_000), title=f"{loss} loss, λ = {lam:g}")
            axis.legend(loc="lower left" if loss == "hinge" else "center right")
        axes[0].set_ylabel("squared distance from the minimiser")
        return figure

    save(draw, "descent")


def measured_descent():
    """By loss and theta: squared distances, what bounds them, and its first term."""
    pos, neg = disc_in_ring(60, 2)
    gamma = 0.5
    rows = np.concatenate([pos, neg])
    G = np.exp(-gamma * ((rows[:, None] - rows) ** 2).sum(axis=2))
    cases = ("logistic", 0.5, (0.0, 0.25, 0.5), (1e-13, 1e4)), ("hinge", 0.05, (0.25, 0.5, 0.75), (1e-6, 1e4))
    times = np.unique(np.geomspace(2, 30_000, 150).astype(int))
    found = []
    for loss, lam, thetas, limits in cases:
        smoothing = 1e-8 if loss == "hinge" else 0.0  # away from the hinge's own minimiser by 3e-4 at most
        best, trace = kernel.minimize(pos, neg, loss=loss, smoothing=smoothing, lam=lam, gamma=gamma)
        assert trace.distances[-1] ** 2 < 1e-7
        norm, eta = trace.norm[-1], bounds.step_condition(loss, lam, 1.0)
        of = {}
        for theta in thetas:
            squares = []

            def look(so_far, squares=squares, best=best):
                if so_far.n_iter + 1 == times[len(squares)]:  # f_t is what t - 1 steps lead to
                    away = so_far.model.coef - best.coef
                    squares.append(max(float(away @ G @ away), 1e-30))
                return len(squares) == times.size

            arguments = dict(loss=loss, lam=lam, gamma=gamma, eta=eta, theta=theta)
            kernel.train(pos, neg, **arguments, t_max=30_000, tol=0.0, callback=look)
            bound = [
                bounds.sample_error_bound(loss, 10**40, 10**40, int(t), lam, 1.0, eta, theta, 0.5, norm) for t in times
            ]
            assert (np.array(squares) <= bound).all()
            still = norm**2 * np.exp(-eta * lam / (1 - theta) * (times ** (1 - theta) - 1))
            of[theta] = squares, bound, still
        found.append((loss, lam, limits, times, of))
    return found


if __name__ == "__main__":
    drawn = [
        hero,
        claims,
        drawings,
        hulls_and_objectives,
        gaps,
        workers,
        shares_of_kinds,
        gained_by_prices,
        lists,
        readable,
        refits,
        experiments,
        uneven,
        curves,
        guarantees,
        probabilities,
        ring,
        descent,
    ]
    names = [name for name in sys.argv[1:] if name != "--again"]
    for draw in drawn:
        if not names or draw.__name__ in names:
            draw()
