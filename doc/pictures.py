"""The pictures of the pages, drawn while these are built: doc/_chart.py calls the functions in `DRAWN`.

Some show numbers that benchmarks left in doc/_outputs; a file in another form is an error. The others are computed
here, in seconds and without files of data.
"""

import re
import sys
from functools import cache, partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from _chart import BLUE, GREEN, GREY, INK, ORANGE, PAGE, RED
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path as Curve
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator
from scipy.spatial import ConvexHull
from scipy.special import logsumexp
from scipy.stats import t as student

import pnorm
from pnorm import bounds, kernel

ROOT = Path(__file__).parents[1]
OUTPUTS = ROOT / "doc" / "_outputs"
sys.path += [str(ROOT / "benchmarks"), str(ROOT / "tests")]

import demonstration  # noqa: E402
from imports import floors, rooms  # noqa: E402

BY_POWER = {1: BLUE, 4: ORANGE, 16: GREEN, 64: RED}
WIDTH = 5.8
"""Of all pictures, in inches: a page shows them at this size, and a telephone at five eighths of it."""
SQUARE = 5.0
"""The side of a claim in points."""


# Reading


def must(pattern, text, where):
    """Return what `pattern` finds in the whole of `text`, which has to be of this form."""
    found = re.fullmatch(pattern, text.replace("\u00a0", " ").strip())
    if found is None:
        raise ValueError(f"{where}: {text!r} is not of the form {pattern!r}")
    return found


def number(text):
    return float(text.replace("−", "-").replace(",", ""))


NUMBER = r"([+−-]?[\d,]+(?:\.\d+)?)"
VALUE_AND_ERROR = NUMBER + r"\s*±\s*" + NUMBER


def value_and_error(text, where):
    """Read a mean with what follows ±."""
    return tuple(number(part) for part in must(VALUE_AND_ERROR, text, where).groups())


def tables(name):
    """Read the tables of a file: the title above each, its heading and its rows of cells."""
    found, title = [], ""
    lines = (OUTPUTS / f"{name}.inc").read_text(encoding="utf-8").splitlines()
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith(".. list-table::"):
            found.append((title, []))
        elif line.startswith("   * - "):
            found[-1][1].append([line[7:]])
        elif line.startswith("     - "):
            found[-1][1][-1].append(line[7:])
        elif line.startswith("     -"):
            found[-1][1][-1].append("")
        elif re.fullmatch(r"[~\-^=]+", after) or line.startswith("**"):
            title = line.strip("*")
        elif line.strip("~-^= ") and not line.startswith("   :") and line.startswith(" "):
            raise ValueError(f"{name}.inc: a line that is no part of a table: {line!r}")
    if not found:
        raise ValueError(f"{name}.inc has no table")
    for title, (heading, *rows) in found:
        if any(len(row) != len(heading) for row in rows):
            raise ValueError(f"{name}.inc, {title}: rows of another length than the heading")
    return [(title, heading, rows) for title, (heading, *rows) in found]


def text_lines(name):
    return (OUTPUTS / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def half_width(error, n=10):
    """Return half of the 95 % interval of a mean over n splits, from its standard error, by Student's t."""
    return student.ppf(0.975, n - 1) * error


# Drawing


def figure_of(rows, columns, size, axis="x", **kwargs):
    """Return panels with a grid along one axis: "x" for lines of names, "y" for curves."""
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, **kwargs)
    figure.get_layout_engine().set(wspace=0.03, hspace=0.05)
    for ax in axes.flat:
        ax.grid(axis=axis, lw=0.6)
        ax.set_axisbelow(True)
        ax.tick_params(length=0)
        ax.spines["left"].set_visible(axis == "y")
    return figure, axes


def name_rows(ax, names):
    """Put names at the heights 0, 1, 2, ... from the top."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)


def few_ticks(ax, n=3):
    ax.xaxis.set_major_locator(MaxNLocator(n, steps=[1, 2, 5, 10]))


def dot(ax, at, y, colour, marker="o", error=0.0, hollow=None):
    """Draw a value with its error as a line; `hollow` is the colour inside of a mark that is not filled."""
    if error:
        ax.plot([at - error, at + error], [y, y], color=colour, lw=1.6, solid_capstyle="butt")
    ax.plot(at, y, marker=marker, color=colour, mfc=hollow or colour, mec=colour, mew=1.3, ms=6, ls="none")


def difference(ax, value, y, half):
    """Draw a difference with its 95 % interval, in colour if this does not contain zero."""
    look = dict(colour=GREY, marker="s", hollow=PAGE)
    if abs(value) > half + 1e-9:  # of numbers with three digits
        look = dict(colour=BLUE, marker="o") if value > 0 else dict(colour=RED, marker="D")
    dot(ax, value, y, error=half, **look)


def legend_of_differences(figure, above, below, ncols=2):
    """Draw a legend of the marks that occur in the figure."""
    handles = [
        Line2D([], [], color=BLUE, marker="o", lw=1.6, label=above),
        Line2D([], [], color=RED, marker="D", lw=1.6, label=below),
        Line2D([], [], color=GREY, marker="s", lw=1.6, mfc=PAGE, mew=1.3, label="95 % interval contains 0"),
    ]
    drawn = {line.get_marker() for ax in figure.axes for line in ax.lines}
    handles = [handle for handle in handles if handle.get_marker() in drawn]
    figure.legend(handles=handles, loc="outside upper center", ncols=min(ncols, len(handles)))


def thousandths(ax):
    """Label an axis of small differences without superfluous zeros."""
    ax.xaxis.set_major_formatter(lambda x, _: "0" if abs(x) < 1e-12 else f"{x:+.3f}".rstrip("0").replace("-", "−"))


def three_ticks(ax, end):
    """Label zero and a round value at either side of it, which is near the end so that the words do not meet."""
    tick = max(at for at in (0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.4) if at <= end)
    ax.set_xticks([-tick, 0, tick])
    thousandths(ax)


def shade(ax, x, y, values, n):
    """Fill contours, the more ink the higher."""
    inks = [(*to_rgb(INK), 0.5 * k / n) for k in range(n)]
    ax.contourf(x, y, values, levels=np.linspace(values.min(), values.max(), n + 1), colors=inks)


# Of benchmarks

MEASURES = {"pAUC 1 %": "partial AUC to 1 %", "AP": "average precision", "AUC": "AUC of the whole list",
            "precision 1 %": "precision in the first 1 %"}  # fmt: skip
SMALL = 1000
"""Rows below which a set is small."""


def additive_summary():
    """The default less the best of the other additive scores, for four measures, with the number beside each mark.

    Each measure has its own axes, one for small and one for large sets: the errors in the first per cent are thirty
    times those of the AUC, and those of small sets up to ninety times those of large ones.
    """
    ((_, heading, rows),) = tables("additive_summary")
    if heading != ["set", *MEASURES] and sorted(heading[1:]) != sorted(MEASURES):
        raise ValueError(f"additive_summary.inc has the columns {heading}")
    ((_, (_, *names), ((_, *rows_of), *_)),) = tables("additive")
    sizes = {name: int(number(size)) for name, size in zip(names, rows_of, strict=True)}
    cell = NUMBER + ", " + VALUE_AND_ERROR + r" \((.+)\)"
    figure, axes = figure_of(len(MEASURES), 2, (WIDTH, 7.2))
    figure.get_layout_engine().set(wspace=0.05)
    for down, measure in enumerate(MEASURES):
        for ax, small in zip(axes[down], (True, False), strict=True):
            of = [row for row in rows if (sizes[row[0]] < SMALL) == small]
            ends = []
            for y, row in enumerate(of):
                numbers = must(cell, row[heading.index(measure)], f"summary, {row[0]}").groups()[1:3]
                more, error = map(number, numbers)
                half = half_width(error)
                ends.append(abs(more) + half)
                difference(ax, more, y, half)
                told = " ± ".join(numbers)
                ax.text(1.0, y, told, transform=ax.get_yaxis_transform(), va="center", ha="right", fontsize=9)
            ax.axvline(0, color=INK, lw=0.8)
            end = 1.1 * max(ends)
            ax.set_xlim(-end, 3.1 * end)  # the numbers are at the right
            three_ticks(ax, end)
            name_rows(ax, [row[0] for row in of])
            counts = [sizes[row[0]] for row in of]
            above = f"$\\bf{{{'small' if small else 'large'}}}$: {min(counts):,} to {max(counts):,} rows\n"
            ax.set_title(("" if down else above) + MEASURES[measure], fontsize=10, linespacing=1.7)
    figure.supxlabel(
        "default minus the best of the other additive scores:\nlines, 95 % interval; ±, standard error", fontsize=11
    )
    legend_of_differences(figure, "default ahead", "the best other score ahead")
    return figure


def unseen():
    """The default less other lists on the sets that were not used in development, at the top and over the positives."""
    printed = "\n".join(text_lines("unseen")).split("\nSets of ")[0]
    blocks = [block.splitlines() for block in re.split(r"\n(?=\S)", printed)]
    names = [must(r"(\w+): .*", of[0], "unseen").group(1) for of in blocks]
    lists = ("logistic curves", "explainable boosting", "boosted trees")
    measures = re.split(r"\s{2,}", blocks[0][1].strip())
    figure, axes = figure_of(2, len(lists), (WIDTH, 6.0), sharey="row")
    for down, measure in enumerate(("pAUC 1 %", "AP")):
        for ax, other in zip(axes[down], lists, strict=True):
            ends = []
            for y, of in enumerate(blocks):
                cells = next(line for line in of if line.startswith(start := f"  less {other}")).removeprefix(start)
                cell = re.split(r"\s{2,}", cells.strip())[measures.index(measure)]
                less, error = value_and_error(cell, f"unseen, {of[0]}")
                half = half_width(error)
                difference(ax, less, y, half)
                ends.append(abs(less) + half)
            ax.axvline(0, color=INK, lw=0.8)
            ax.set_xlim(-1.1 * max(ends), 1.1 * max(ends))
            three_ticks(ax, max(ends))
            if down == 0:
                ax.set_title(other, fontsize=10)
        name_rows(axes[down, 0], names)
        axes[down, 1].set_xlabel(MEASURES[measure] + ": default minus the list above, 95 % interval", fontsize=10)
    legend_of_differences(figure, "default ahead", "the other list ahead", ncols=3)
    return figure


def experiments():
    """Positives above the first negative against p, in training and testing."""
    _, table, *_ = "\n".join(text_lines("experiments")).split("\n\n")
    (_, _, *powers), *rows = (re.split(r"\s{2,}", line) for line in table.splitlines())
    powers = [int(must(r"p = (\d+)", text, "experiments")[1]) for text in powers]
    found = {tuple(row[:2]): np.array([value_and_error(text, "experiments") for text in row[2:]]) for row in rows}
    figure, axes = figure_of(4, 2, (WIDTH, 9.6), "y")
    for ax, setting in zip(axes.flat, dict.fromkeys(setting for setting, _ in found), strict=False):
        for part, colour, marker in (("train", BLUE, "o"), ("test", RED, "s")):
            mean, spread = found[setting, part].T
            ax.fill_between(powers, np.maximum(mean - spread, 0), mean + spread, color=colour, alpha=0.16, lw=0)
            ax.plot(powers, mean, color=colour, marker=marker, ms=4.5, lw=1.6)
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_locator(FixedLocator([1, 4, 16, 64]))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter("{x:.0f}")
        ax.set_ylim(0)
        ax.set_title(setting)
    for ax in (axes[3, 0], axes[2, 1]):
        ax.set_xlabel("p")
    axes[3, 1].axis("off")
    handles = [
        Line2D([], [], color=BLUE, marker="o", ms=4.5, label="training"),
        Line2D([], [], color=RED, marker="s", ms=4.5, label="testing"),
        Line2D([], [], color=GREY, alpha=0.3, lw=8, label="± one std. deviation"),
    ]
    figure.legend(handles=handles, loc="center", bbox_to_anchor=(0.77, 0.14))
    figure.supylabel("positives above the first negative", fontsize=11)
    return figure


def speed():
    """The time of a round as a share of the rival's: many rows, and few rows."""
    line = r"(.+?)\s{2,}([\d.]+)\s+(.+?)\s{2,}([\d.]+)\s+([\d.]+)"
    _, many, few, *_ = [block.splitlines() for block in "\n".join(text_lines("rivals")).split("\n\n")]
    many, few = ([must(line, text, "rivals.txt").groups() for text in block] for block in (many, few[1:]))
    few = [row for row in few if row[2] == "LightGBM"] + [row for row in few if row[2] == "XGBoost"]
    figure, axes = figure_of(2, 1, (WIDTH, 8.2), height_ratios=(len(many), len(few)), sharex=True)
    for ax, rows, title in (
        (axes[0, 0], many, "a round, 1,000,000 rows, 50 columns"),
        (axes[1, 0], few, "few rows: cuts and 100 rounds"),
    ):
        for y, row in enumerate(rows):
            share = float(row[4])
            ax.plot([1, share], [y, y], color=BLUE if share < 1 else RED, lw=5, solid_capstyle="butt")
            beside = row[4]
            ax.text(share * (0.93 if share < 1 else 1.08), y, beside, ha="right" if share < 1 else "left", va="center",
                    fontsize=10)  # fmt: skip
        ax.axvline(1, color=INK, lw=1)
        ax.set_xscale("log")
        ax.set_title(title, loc="left")
    name_rows(axes[0, 0], [f"{what}:\n{rival}".replace("100000", "100,000") for what, _, rival, _, _ in many])
    name_rows(axes[1, 0], [f"{what}:\n{rival}".replace("2000 + 2000", "2,000 + 2,000") for what, _, rival, _, _ in few])
    axes[1, 0].set_xlim(0.0003, 8)
    axes[1, 0].xaxis.set_major_locator(FixedLocator([0.001, 0.01, 0.1, 1]))
    axes[1, 0].xaxis.set_minor_locator(NullLocator())
    axes[1, 0].xaxis.set_major_formatter("{x:g}")
    figure.supxlabel("pnorm's time divided by the other's;\nleft of 1, pnorm is faster", fontsize=11)
    return figure


# Computed here


def claims(paid=1000, across=40):
    """The first of the same held-out rows of the demonstration under four scores, and what is wrong."""
    data = pnorm.datasets.insurance_claims()
    half = data.y.size // 2
    X, y, held, good = data.X[:half], data.y[:half], data.X[half:], data.y[half:] == 1
    sides = X[y == 1], X[y == 0]
    model = pnorm.sklearn.PNormPush().fit(X, y)
    of = demonstration
    scores = {
        "logistic regression": (of.logistic()(*sides, held), of.LOGISTIC),
        "the same, weight 1,000": (of.logistic(class_weight={0: 1000, 1: 1})(*sides, held), of.WEIGHTED),
        "p = 1 (no push)": (of.lines(1)(*sides, held), of.OVER_DRAWS[1]),
        f"PNormPush(): p = {model.p_:g}": (model.decision_function(held), of.BY_DEFAULT),
    }
    wrong = {name: ~good[np.argsort(-f, kind="stable")[:paid]] for name, (f, _) in scores.items()}
    means = {name: f"mean of {of.DRAWS} draws: {mean:.1f}" for name, (_, mean) in scores.items()}

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


@cache
def claims_in_training():
    """Half of the claims to train on, half to judge by, and what the push makes of them."""
    data = pnorm.datasets.insurance_claims()
    half = data.y.size // 2
    X, y, held, good = data.X[:half], data.y[:half] == 1, data.X[half:], data.y[half:] == 1
    pos, neg = X[y], X[~y]
    lines = pnorm.rankers.normalized(pos, neg, names=data.names)
    lists, precision = {}, {}
    for p in (1, 4, 16):
        f = pnorm.score(held, lines, pnorm.train(pos, neg, lines, p)[0])
        lists[p] = f[good], f[~good]
        precision[p] = pnorm.metrics.precision_at(*lists[p], 1000, confidence=0.95)
    return pos, neg, lines, lists, precision


def drawn(onto, size=(5.0, 3.6), **panels):
    """Return the figure of a function that draws onto axes."""
    figure, axes = plt.subplots(figsize=size, **panels)
    onto(axes)
    return figure


def drawing_roc():
    *_, lists, _ = claims_in_training()
    two = {k: lists[k] for k in (1, 16)}
    return drawn(lambda axes: pnorm.plotting.roc(two, ax=axes), (WIDTH, 3.3), ncols=2)


def drawing_push_path():
    *_, precision = claims_in_training()
    return drawn(lambda ax: pnorm.plotting.push_path(precision, label="precision in the first 1,000", ax=ax))


def drawing_shapes():
    pos, neg, lines, *_ = claims_in_training()
    H = pnorm.rankers.quantile_thresholds(pos, neg, 15, names=lines.names)
    lam, _ = pnorm.train(pos, neg, H, p=4)
    four = {"nrows": 2, "ncols": 2, "sharey": True}
    return drawn(lambda axes: pnorm.plotting.shapes(lam, H, top=4, ax=axes), (WIDTH, 4.2), **four)


def readable():
    """Two columns of simulated rows by four kinds of curves, each over fine steps."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, (1500, 2))
    y = rng.random(len(X)) < 1 / (1 + np.exp(1.0 - 2.0 * np.sin(X[:, 0] / 2) - 0.3 * (X[:, 1] - 5)))
    pos, neg = X[y], X[~y]
    columns = ("a", "b")
    fine = {"names": columns, "linear": True}
    cases = {
        "fine steps": (fine, {"l2": 0.05}),
        "monotone in b": (fine | {"monotone": {"b": 1}}, {"l2": 0.05}),
        "steps": ({"names": columns}, {"l1": 0.3, "l2": 4e-5}),
        "one column": (fine, {"l2": 0.05, "max_columns": 1}),
    }
    figure, axes = plt.subplots(len(cases), 2, figsize=(WIDTH, 7.2), sharex="col", sharey=True)
    behind = None
    for panels, (title, (how, penalty)) in zip(axes, cases.items(), strict=True):
        H = pnorm.rankers.quantile_thresholds(pos, neg, **how)
        lam, _ = pnorm.minimize(pos, neg, H, 4, penalty="shapes", **penalty)
        shapes = pnorm.shapes(lam, H, X)
        behind = shapes if behind is None else behind
        for ax, column in zip(panels, columns, strict=True):
            for of, colour in ((behind, GREY), (shapes, BLUE)):
                known = len(ax.lines)
                if column in [shape.name for shape in of]:
                    pnorm.plotting.shapes(of, columns=column, ax=ax)
                    ax.lines[known].set(color=colour, lw=1.1 if colour == GREY else 1.8)
            ax.set(xlabel=column if title == "one column" else "", ylabel="", title=title)
    figure.supylabel("part of the score", size=11)
    return figure


def drawing_ranked_list():
    *_, lists, _ = claims_in_training()
    return drawn(lambda ax: pnorm.plotting.ranked_list(lists, top=120, ax=ax), (WIDTH, 2.3))


def drawing_weights():
    pos, neg, lines, *_ = claims_in_training()
    H = pnorm.rankers.quantile_thresholds(pos, neg, 15, names=lines.names)
    lam, _ = pnorm.train(pos, neg, H, p=4)
    return drawn(lambda ax: pnorm.plotting.weights(lam, H, top=8, ax=ax), (WIDTH, 3.2))


def drawing_coefficient_path():
    pos, neg, lines, *_ = claims_in_training()
    path = pnorm.minimize_path(pos, neg, lines, 4, l2=10.0 ** np.arange(-3, 5))
    return drawn(lambda ax: pnorm.plotting.coefficient_path(path, ax=ax), (WIDTH, 3.6))


def drawing_trace():
    pos, neg, lines, *_ = claims_in_training()
    found = {"train": pnorm.train(pos, neg, lines, 4)[1], "minimize": pnorm.minimize(pos, neg, lines, 4)[1]}
    return drawn(lambda ax: pnorm.plotting.trace(found, floor=found["minimize"].objective[-1], ax=ax))


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


def hulls(p=4):
    """On the left, the rows and their hulls; on the right, the objective over the coefficients."""
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


def draw_hulls(ax, kind, pos, neg):
    """Rows that lose all weight are hollow."""
    along = np.array([2, 1]) / 5**0.5
    for X, colour, marker in ((pos, BLUE, "o"), (neg, RED, "s")):
        hull = X[ConvexHull(X).vertices]
        ax.fill(*hull.T, color=colour, alpha=0.18, lw=0)
        on = np.abs(X @ along) < 1e-9 if kind == "quasi-separable" else np.full(len(X), kind == "overlapping")
        ax.scatter(*X[on].T, c=colour, marker=marker, s=30, zorder=3)
        ax.scatter(*X[~on].T, edgecolors=colour, facecolors=PAGE, marker=marker, s=30, zorder=3)
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
    shade(ax, lam[..., 0], lam[..., 1], value, 8)
    ax.contour(lam[..., 0], lam[..., 1], value, levels=levels, colors=GREY, linewidths=0.6)
    _, run = pnorm.train(pos, neg, p=p, t_max=60)
    path = np.array([run.lam_at(t) for t in range(run.n_iter + 1)])
    ax.plot(*path.T, color=ORANGE)
    best, _ = pnorm.minimize(pos, neg, p=p)
    if kind == "overlapping":
        ax.plot(*best, "*", color=GREEN, ms=13)
    else:
        direction = np.array([2, 1]) / 5**0.5
        start = best if kind == "quasi-separable" else np.zeros(2)
        arrow = {"arrowstyle": "->", "color": GREEN, "lw": 2.5}
        ax.annotate("", start + 12 * direction, start + 7 * direction, arrowprops=arrow)
    ax.plot(0, 0, "o", color=INK, ms=4)
    ax.grid(False)
    ax.set_title(f"objective, p = {p}")
    ax.set(xlim=(-3, 12), ylim=(-6, 9), aspect="equal")


def gaps():
    """WDBC: what descent leaves, what Newton's method certifies, and q' settling while the coefficients do not."""
    found = measured_gaps()

    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.5))
    for (p, colour), (gap, newton, apart) in zip(BY_POWER.items(), found, strict=True):
        left.loglog(*gap, color=colour)
        left.loglog(*newton, color=colour, marker="o", ms=4, lw=1, ls=":")
        right.loglog(*apart, color=colour, label=f"p = {p}")
    left.set(xlabel="rounds, or Newton steps", ylabel="log $F_p$ above its infimum (nats)", ylim=(1e-14, 1e3))
    left.annotate("Newton's method", (13, 1e-11), size=10)
    left.annotate("coordinate descent", (20, 1e2), size=10)
    right.set(xlabel="rounds of descent", ylabel="largest difference of log q′")
    right.legend(loc="lower left")
    return figure


def measured_gaps():
    """For each p, with abscissas: the gaps of descent and of Newton's method, and how far q' is from its limit."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    X, y = data.data[:, :6], data.target == 0
    pos, neg = X[y], X[~y]
    H = pnorm.rankers.normalized(pos, neg)
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


def guarantees():
    """Figure 1 of Agarwal et al., redrawn, and the negatives that Theorem 2 of the P-Norm Push asks for."""
    rows = np.unique(np.geomspace(200, 10**6, 400).astype(int))
    powers = np.array([1, 2, 4, 8, 16, 64])

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

    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.3), width_ratios=(1, 1.15))
    shade(left, *np.meshgrid(at, at), f, 12)
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


def refits():
    """The curves of the leads of the page on reasons, with the range of 19 refits to rows drawn again."""
    import pandas as pd

    rng, n = np.random.default_rng(0), 3000
    leads = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n),
            "visits": rng.poisson(3, n),
            "city": rng.choice(["Oslo", "Rome", "Bari"], n),
        }
    )
    strength = (leads["age"] - 80) / 8 + leads["visits"] / 3 + (leads["city"] == "Rome")
    bought = rng.random(n) < 1 / (1 + np.exp(-strength.to_numpy()))
    training = np.arange(n) % 5 > 0
    X, y = leads[training], bought[training]
    model = pnorm.sklearn.PNormPush(p=4, l2=0.1).fit(X, y)
    settings = {"p": model.p_, "l1": model.l1_, "l2": model.l2_}
    others = []
    for _ in range(19):
        rows = rng.choice(len(y), len(y))
        others.append(pnorm.sklearn.PNormPush(**settings).fit(X.iloc[rows], y[rows]).shapes())
    three = {"ncols": 3, "sharey": True}
    return drawn(lambda axes: pnorm.plotting.shapes(model.shapes(X), others=others, ax=axes), (WIDTH, 2.6), **three)


ACROSS = 5
"""Rooms side by side in the picture of the layout: a telephone is narrow."""


def layout():
    """The folders and modules of the package as floors: each imports from lower floors only."""
    floor = floors(rooms())
    figure, ax = plt.subplots(figsize=(WIDTH, 1), layout="none")
    y = 0
    for k in range(1, max(floor.values()) + 1):
        names = sorted(name for name in floor if floor[name] == k)
        rows = [names[i : i + ACROSS] for i in range(0, len(names), ACROSS)]
        ax.axhspan(y - 0.5, y + len(rows) - 0.5, color=GREY, alpha=0.1 if k % 2 else 0.0, lw=0)
        ax.text(-0.7, y + 0.5 * (len(rows) - 1), str(k), color=GREY, va="center")
        for row in rows:
            for x, name in enumerate(row):
                private, last = name.startswith("pnorm._"), name.removeprefix("pnorm.")
                colour = ORANGE if name == "pnorm._core" else GREY if private else BLUE
                is_folder = (ROOT / "pnorm" / last).is_dir()
                where = (x - 0.46, y - 0.36)
                ax.add_patch(Rectangle(where, 0.92, 0.72, fc=colour, alpha=0.0 if private else 0.15, lw=0))
                ax.add_patch(Rectangle(where, 0.92, 0.72, fc="none", ec=colour, lw=2.0 if is_folder else 1.0))
                ax.text(x, y, last + "/" * is_folder, ha="center", va="center", size=8)
            y += 1
    ax.set(xlim=(-0.8, ACROSS - 0.4), ylim=(-0.6, y - 0.4))
    ax.axis("off")
    figure.set_size_inches(WIDTH, 0.36 * (y + 0.2))
    ax.set_position((0, 0, 1, 1))
    return figure


PICTURES = (
    additive_summary, unseen, experiments, speed, claims, readable,
    drawing_ranked_list, drawing_roc, drawing_push_path, drawing_weights, drawing_shapes, drawing_trace,
    drawing_coefficient_path,
    hulls, gaps, guarantees, ring, refits, layout,
)  # fmt: skip
DRAWN = {draw.__name__.replace("_", "-"): draw for draw in PICTURES}

if __name__ == "__main__":  # python doc/pictures.py NAME ...: each as a file in doc/_build/pictures, to look at
    from _chart import as_file, as_svg

    folder = ROOT / "doc" / "_build" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or DRAWN:
        (folder / f"{name}.svg").write_text(as_file(as_svg(DRAWN[name], name)), encoding="utf-8")
