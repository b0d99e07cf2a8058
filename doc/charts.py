"""Draw the charts of the pages of results into doc/_static, from the numbers that the benchmarks left in doc/_outputs.

    python doc/charts.py [NAME ...]

Needs Matplotlib. Nothing is measured here. `doc/outputs.py` lists the command that makes each file of numbers. Each
chart is drawn twice, for light and for dark pages, as NAME.svg and NAME-dark.svg. A file of numbers in another form is
an error. Without a NAME, all are drawn; the names are those of the functions in `CHARTS`.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator
from scipy.stats import t as student

ROOT = Path(__file__).parents[1]
STATIC, OUTPUTS = ROOT / "doc" / "_static", ROOT / "doc" / "_outputs"


@dataclass(frozen=True)
class Theme:
    """Colours on a light or a dark page: Okabe & Ito's, told apart by the colour-blind, lighter on the dark page."""

    suffix: str
    page: str
    ink: str
    grid: str
    blue: str
    orange: str
    green: str
    red: str
    purple: str
    grey: str

    @property
    def powers(self):
        """Colours of a small, a moderate, a large and a very large p."""
        return {1: self.blue, 4: self.orange, 16: self.green, 64: self.red}

    def style(self):
        """Return the settings of Matplotlib: everything that is no data in the colour of the text."""
        names = "text.color", "axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color"
        return dict.fromkeys(names, self.ink) | {
            "grid.color": self.grid,
            "axes.grid": False,
            "legend.frameon": False,
            "savefig.transparent": True,
            "axes.titlesize": 11,
        }


LIGHT = Theme("", "#ffffff", "#222832", "#d8dce2", "#0072b2", "#e69f00", "#009e73", "#d55e00", "#b0578f", "#6d7684")
DARK = Theme("-dark", "#14181e", "#ced6dd", "#3f4752", "#56b4e9", "#f0b93a", "#37c79b", "#ff8a50", "#e3a0c8", "#9aa4b0")


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


def by_method(name, *columns):
    """Read tables with a line for each method: {set: {method: the cells of `columns`}}."""
    found = {}
    for title, heading, rows in tables(name):
        at = [heading.index(column) for column in columns]
        data = must(r"(\w+): \d+ rows, \d+ positive; \d+ splits", title, name)[1]
        found[data] = {row[0]: [row[i] for i in at] for row in rows}
    return found


def splits_of(name):
    """Read of how many splits the means of each set are, from the titles of tables: {set: splits}."""
    found = [re.fullmatch(r"(\w+): .*; (\d+) splits", title) for title, _, _ in tables(name)]
    return {title[1]: int(title[2]) for title in found if title}


SPLITS = {"unseen": 10, "weights": 10, "queries": 40, "uneven": {"MAGIC": 40, "Spambase": 20, "a9a": 20}}
"""Splits or draws of which files without such titles have the means: the defaults of their scripts."""


def text_lines(name):
    return (OUTPUTS / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def half_width(error, n):
    """Return half of the 95 % interval of a mean over n splits or draws, from its standard error, by Student's t."""
    return student.ppf(0.975, n - 1) * error


# Drawing

WIDTH = 5.8
"""Of all charts, in inches: a page shows them at this size, and a telephone at five eighths of it."""


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


def difference(ax, theme, value, y, half):
    """Draw a difference with its 95 % interval, in colour if this does not contain zero."""
    look = dict(colour=theme.grey, marker="s", hollow=theme.page)
    if abs(value) > half + 1e-9:  # of numbers with three digits
        look = dict(colour=theme.blue, marker="o") if value > 0 else dict(colour=theme.red, marker="D")
    dot(ax, value, y, error=half, **look)


def legend_of_differences(figure, theme, above, below, ncols=2):
    """Draw a legend of the marks that occur in the figure."""
    handles = [
        Line2D([], [], color=theme.blue, marker="o", lw=1.6, label=above),
        Line2D([], [], color=theme.red, marker="D", lw=1.6, label=below),
        Line2D([], [], color=theme.grey, marker="s", lw=1.6, mfc=theme.page, mew=1.3, label="95 % interval contains 0"),
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


# The charts

MEASURES = {"pAUC 1 %": "partial AUC to 1 % false positives", "AP": "average precision", "AUC": "AUC",
            "precision 1 %": "precision in the first 1 %"}  # fmt: skip
TITLES = MEASURES | {"pAUC 1 %": "partial AUC to 1 %", "AUC": "AUC of the whole list"}
"""Of a panel, in one line."""
ADDITIVE = ("logistic regression", "logistic, splines", "logistic, weights", "AdaBoost", "LightGBM, depth 1", "EBM")
DIFFERENCE = NUMBER + " " + VALUE_AND_ERROR + r" \(\d+:\d+\)"


def additive(theme, column):
    """The default minus each other method, by data set."""
    found, splits = by_method("additive", column), splits_of("additive")
    names = ("p = 1", *ADDITIVE, "HistGradientBoosting")
    figure, axes = figure_of(4, 2, (WIDTH, 10.4), sharey=True)
    for ax, (data, of) in zip(axes.flat, found.items(), strict=True):
        for y, name in enumerate(names):
            _, more, error = map(number, must(DIFFERENCE, of[name][0], f"additive, {data}, {name}").groups())
            difference(ax, theme, -more, y, half_width(error, splits[data]))
        ax.axvline(0, color=theme.ink, lw=0.8)
        ax.axhline(0.5, color=theme.grid, lw=0.8)
        ax.axhline(len(names) - 1.5, color=theme.grid, lw=0.8)
        ax.set_title(f"{data} ({must(NUMBER, of['default'][0], data)[1]})")
        few_ticks(ax)
        thousandths(ax)
    for ax in axes[:, 0]:
        name_rows(ax, ["default with p = 1", *names[1:]])
    figure.supxlabel(f"{MEASURES[column]}:\ndefault minus the method, 95 % interval", fontsize=11)
    legend_of_differences(figure, theme, "default ahead", "method ahead")
    return figure


def additive_top(theme):
    return additive(theme, "pAUC 1 %")


def additive_ap(theme):
    return additive(theme, "AP")


SMALL = 1000
"""Rows below which a set is small."""


def additive_summary(theme):
    """The default less the best of the other additive scores, for four measures, with the number beside each mark.

    Each measure has its own axes, one for small and one for large sets: the errors in the first per cent are thirty
    times those of the AUC, and those of small sets up to ninety times those of large ones.
    """
    ((_, heading, rows),) = tables("additive_summary")
    if heading != ["set", *MEASURES] and sorted(heading[1:]) != sorted(MEASURES):
        raise ValueError(f"additive_summary.inc has the columns {heading}")
    titles = [must(r"(\w+): (\d+) rows, .*", title, "additive").groups() for title, _, _ in tables("additive")]
    sizes, splits = {data: int(size) for data, size in titles}, splits_of("additive")
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
                half = half_width(error, splits[row[0]])
                ends.append(abs(more) + half)
                difference(ax, theme, more, y, half)
                told = " ± ".join(numbers)
                ax.text(1.0, y, told, transform=ax.get_yaxis_transform(), va="center", ha="right", fontsize=9)
            ax.axvline(0, color=theme.ink, lw=0.8)
            end = 1.1 * max(ends)
            ax.set_xlim(-end, 3.1 * end)  # the numbers are at the right
            three_ticks(ax, end)
            name_rows(ax, [row[0] for row in of])
            counts = [sizes[row[0]] for row in of]
            above = f"$\\bf{{{'small' if small else 'large'}}}$: {min(counts):,} to {max(counts):,} rows\n"
            ax.set_title(("" if down else above) + TITLES[measure], fontsize=10, linespacing=1.7)
    figure.supxlabel(
        "default minus the best of the other additive scores:\nlines, 95 % interval; ±, standard error", fontsize=11
    )
    legend_of_differences(figure, theme, "default ahead", "the best other score ahead")
    return figure


def additive_rules(theme):
    """Rules of choice by the number of comparisons in which they are behind."""
    ((_, heading, rows),) = tables("additive_rules")
    if heading != ["rule", "behind", "where"]:
        raise ValueError(f"additive_rules.inc has the columns {heading}")
    behind = [[int(part) for part in must(r"(\d+) of (\d+)", row[1], row[0]).groups()] for row in rows]
    figure, axes = figure_of(1, 1, (WIDTH, 5.6))
    ax = axes[0, 0]
    colours = [theme.blue if y == 0 else theme.grey for y in range(len(rows))]
    ax.barh(range(len(rows)), [count for count, _ in behind], color=colours, height=0.65)
    for y, (count, _) in enumerate(behind):
        ax.text(count + 0.2, y, str(count), va="center", fontsize=10)
    name_rows(ax, [row[0] + (" (the default)" if y == 0 else "") for y, row in enumerate(rows)])
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel(f"comparisons, of {behind[0][1]},\nwon by the best other method")
    return figure


def unseen(theme):
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
                half = half_width(error, SPLITS["unseen"])
                difference(ax, theme, less, y, half)
                ends.append(abs(less) + half)
            ax.axvline(0, color=theme.ink, lw=0.8)
            ax.set_xlim(-1.1 * max(ends), 1.1 * max(ends))
            three_ticks(ax, max(ends))
            if down == 0:
                ax.set_title(other, fontsize=10)
        name_rows(axes[down, 0], names)
        axes[down, 1].set_xlabel(TITLES[measure] + ": default minus the list above, 95 % interval", fontsize=10)
    legend_of_differences(figure, theme, "default ahead", "the other list ahead", ncols=3)
    return figure


def case_weights(theme):
    """The partial AUC over the AUC for weights on the negatives and for powers, down to their common limit."""
    printed = text_lines("weights")
    heading, *lines = (re.split(r"\s{2,}", line.strip()) for line in printed[: printed.index("")])
    at = [heading.index("AUC"), heading.index("pAUC 1 %")]
    found = {cells[0]: tuple(number(cells[i]) for i in at) for cells in lines}
    less = heading.index("pAUC 1 % less limit")
    errors = {cells[0]: value_and_error(cells[less], "weights")[1] for cells in lines if cells[0] != "limit"}
    paths = {
        "weight on the negatives of a logistic regression": ("weight ", theme.green, "s"),
        "p of the push": ("p = ", theme.blue, "o"),
    }
    right, below = ((8, 1), "left"), ((0, -14), "center")
    places = dict.fromkeys(["weight 1", "p = 1", "p = 2", "p = 4"], right)  # away from the other path
    places |= {"weight 1000": ((3, 9), "left"), "weight 10000": ((-6, 9), "center"), "weight 100": ((6, 7), "left")}
    places |= {"weight 10": ((-8, -11), "right"), "p = 8": ((-5, -14), "right"), "p = 16": ((-5, -14), "right")}
    figure, axes = figure_of(1, 1, (WIDTH, 4.4), axis="both")
    ax = axes[0, 0]
    ax.spines["left"].set_visible(True)
    for label, (start, colour, marker) in paths.items():
        points = {name: point for name, point in found.items() if name.startswith(start)}
        line = zip(*points.values(), found["limit"], strict=True)
        ax.plot(*line, color=colour, marker=marker, ms=6, lw=1.4, label=label)
        spread = [half_width(errors[name], SPLITS["weights"]) for name in points]
        ax.errorbar(*zip(*points.values(), strict=True), spread, fmt="none", ecolor=colour, elinewidth=0.9, alpha=0.6)
        for name, point in points.items():
            offset, side = places.get(name, ((5, 8), "center") if start == "weight " else below)
            text = f"{int(name.removeprefix(start)):,}"
            ax.annotate(text, point, offset, textcoords="offset points", ha=side, color=colour, fontsize=10)
    ax.plot(*found["limit"], color=theme.ink, marker="D", ms=7, ls="none", label="common limit")
    few_ticks(ax, 5)
    ax.set_xlabel("AUC (the whole list)")
    ax.set_ylabel("partial AUC to 1 % false positives")
    ax.margins(0.08)
    figure.legend(loc="outside upper center")
    return figure


FAMILIES = {  # of the methods of benchmarks/quality.py
    "push": ("pnorm columns", "pnorm columns, p = 1", "pnorm thresholds", "pnorm thresholds, p = 1"),
    "classifier": ("logistic regression", "AdaBoost", "HistGradientBoosting", "LightGBM binary"),
    "ranker": ("LightGBM lambdarank", "XGBoost pairwise, topk", "XGBoost pairwise, mean"),
}
MARKED = NUMBER + r"(?: ± " + NUMBER + r")?\s*([+−-]?)"


def draw_marked(ax, cells, colours, markers, page, where):
    """Draw values, filled where they are marked as different from the reference."""
    for y, (name, cell) in enumerate(cells):
        if cell is None:
            continue
        mean, spread, mark = must(MARKED, cell, f"{where}, {name}").groups()
        dot(ax, number(mean), y, colours[y], markers[y], number(spread or "0"), None if mark else page)


def legend_of_families(figure, families, reference, **kwargs):
    handles = [
        Line2D([], [], color=colour, marker=marker, ls="none", ms=6, label=label)
        for label, (colour, marker) in families.items()
    ]
    if reference:
        handles.append(
            Line2D([], [], color="none", marker="o", mfc="none", mec=plt.rcParams["text.color"], ms=6, label=reference)
        )
    figure.legend(handles=handles, **kwargs)


def quality(theme):
    """The partial AUC of the push, of classifiers and of rankers, by data set."""
    found = by_method("quality", "pAUC 1 %")
    names = [name for of in FAMILIES.values() for name in of]
    looks = {"push": (theme.blue, "o"), "classifier": (theme.green, "s"), "ranker": (theme.orange, "^")}
    colours, markers = zip(*(looks[family] for family, of in FAMILIES.items() for _ in of), strict=True)
    figure, axes = figure_of(3, 2, (WIDTH, 9.2), sharey=True)
    for ax, (data, of) in zip(axes.flat, found.items(), strict=False):
        if set(of) - set(names):
            raise ValueError(f"quality.inc, {data}: methods {set(of) - set(names)}")
        draw_marked(
            ax, [(name, of[name][0] if name in of else None) for name in names], colours, markers, theme.page, data
        )
        for y in (3.5, 7.5):
            ax.axhline(y, color=theme.grid, lw=0.8)
        ax.set_title(data)
        few_ticks(ax, 4)
    for ax in axes[:, 0]:
        name_rows(ax, names)
    axes[2, 1].axis("off")
    families = {"push": looks["push"], "classifiers": looks["classifier"], "rankers": looks["ranker"]}
    hollow = "hollow: no significant\ndifference from the\npush on thresholds\n(a9a: on columns)"
    legend_of_families(figure, families, hollow, loc="center", bbox_to_anchor=(0.8, 0.2))
    figure.supxlabel("partial AUC to 1 % false positives (0.5 is chance),\nmean and standard deviation", fontsize=11)
    return figure


def stacking(theme):
    """Models and stacks minus LightGBM alone."""
    found, splits = by_method("stacking", "pAUC 1 %", "AP"), splits_of("stacking")
    names = ("HistGradientBoosting", "ExtraTrees", "mean", "logistic weights", "push, p = 1", "push, p = 4")
    figure, axes = figure_of(3, 2, (WIDTH, 7.4), sharey=True)
    for panels, (data, of) in zip(axes, found.items(), strict=True):
        for i, ax in enumerate(panels):
            for y, name in enumerate(names):
                text = of[name][i]
                _, more, error = map(number, must(DIFFERENCE, text, f"stacking, {data}, {name}").groups())
                difference(ax, theme, more, y, half_width(error, splits[data]))
            ax.axvline(0, color=theme.ink, lw=0.8)
            ax.axhline(1.5, color=theme.grid, lw=0.8)
            ax.set_title(f"{data}:\n{('partial AUC', 'average precision')[i]}")
            ax.xaxis.set_major_locator(MaxNLocator(2, steps=[1, 2, 4, 5, 10]))
            thousandths(ax)
    for ax in axes[:, 0]:
        name_rows(ax, [f"stack: {name}" if y > 1 else name for y, name in enumerate(names)])
    figure.supxlabel("difference from LightGBM alone, with 95 % interval", fontsize=11)
    legend_of_differences(figure, theme, "ahead of LightGBM", "behind LightGBM")
    return figure


def boosting(theme):
    """Objectives for LightGBM, XGBoost and stumps, by data set."""
    found = [table for table in tables("boosting") if "splits" in table[0]]
    figure, axes = figure_of(2, 2, (WIDTH, 9.0), sharey=True)
    for ax, (title, heading, rows) in zip(axes.flat, found, strict=False):
        data = must(r"(\w+): \d+ rows, \d+ positive; \d+ splits", title, "boosting")[1]
        at = heading.index("pAUC 1 %")
        looks = [
            (theme.blue, "o") if "push" in row[0] else (theme.orange, "^") if "rank" in row[0] else (theme.green, "s")
            for row in rows
        ]
        draw_marked(ax, [(row[0], row[at]) for row in rows], *zip(*looks, strict=True), theme.page, data)
        for y in (4.5, 9.5):
            ax.axhline(y, color=theme.grid, lw=0.8)
        ax.set_title(data)
        few_ticks(ax, 4)
    for ax in axes[:, 0]:
        name_rows(ax, [row[0] for row in found[0][2]])
    axes[1, 1].axis("off")
    figure.supxlabel("partial AUC to 1 % false positives (0.5 is chance),\nmean of six splits", fontsize=11)
    families = {
        "push": (theme.blue, "o"),
        "classifier": (theme.green, "s"),
        "the library's ranker": (theme.orange, "^"),
    }
    hollow = "hollow: not significantly\ndifferent from\nthe classifier"
    legend_of_families(figure, families, hollow, loc="center", bbox_to_anchor=(0.8, 0.28))
    return figure


def calibration(theme):
    """The Brier score of the push as it is, with Platt's method and with isotonic regression, beside other models."""
    found = by_method("calibration", "Brier")
    names = [f"{kind}, p = {p}" for kind in ("minimize", "train") for p in (1, 4, 16)]
    others = ["logistic regression", "boosted trees"]
    ways = {"": (theme.blue, "o"), ", Platt": (theme.orange, "D"), ", isotonic": (theme.green, "s")}
    figure, axes = figure_of(2, 2, (WIDTH, 7.6), sharey=True)
    for ax, (data, of) in zip(axes.flat, found.items(), strict=True):
        for y, name in enumerate(names + others):
            for i, (way, (colour, marker)) in enumerate(ways.items() if name in names else [("", (theme.grey, "^"))]):
                value, _, mark = must(MARKED, of[name + way][0], f"calibration, {data}, {name}{way}").groups()
                at = y + 0.27 * (i - 1) * (name in names)
                dot(ax, number(value), at, colour, marker, hollow=None if mark else theme.page)
        for y in (2.5, 5.5):
            ax.axhline(y, color=theme.grid, lw=0.8)
        ax.set_title(data)
        few_ticks(ax)
        ax.margins(x=0.12)
    for ax in axes[:, 0]:
        name_rows(ax, names + others)
    figure.supxlabel("Brier score (smaller is better)", fontsize=11)
    families = {"as it is": ways[""], "Platt": ways[", Platt"], "isotonic": ways[", isotonic"]}
    hollow = "hollow: no significant difference\nfrom logistic regression"
    legend_of_families(figure, families, hollow, loc="outside upper center", ncols=2)
    return figure


RULE = (
    r"(?P<rule>.+?)\s+(?P<p>\d+\s+\d+\s+\d+\s+\d+)\s+(?P<rounds>\d+)\s+(?P<top>[\d.]+) ±\s*[\d.]+(?P<m>[+-]?)"
    r"\s+(?P<pAUC>[\d.]+)(?P<m1>[+-]?)\s+(?P<AP>[\d.]+)(?P<m2>[+-]?)\s+(?P<AUC>[\d.]+)(?P<m3>[+-]?)"
)


def choices():
    """Read the text of benchmarks/choosing.py: {set: {rule: its numbers}}."""
    found = {}
    for line in text_lines("choosing"):
        if title := re.match(r"(\w+): .* to train on", line):
            found[title[1]] = {}
        elif line and not line.startswith("  ") and "in cross-validation" not in line:
            of = must(RULE, line, "choosing.txt")
            found[list(found)[-1]][of["rule"]] = of.groupdict()
    if list(map(len, found.values())) != [13] * 4:
        raise ValueError("choosing.txt should have 13 rules for each of four sets")
    return found


def choosing(theme):
    """The partial AUC and the AUC of rules of choice on new rows."""
    found = choices()
    names = list(found["pima"])
    figure, axes = figure_of(4, 2, (WIDTH, 13.0), sharey=True)
    for panels, (data, of) in zip(axes, found.items(), strict=True):
        for ax, measure, mark in zip(panels, ("pAUC", "AUC"), ("m1", "m3"), strict=True):
            for y, name in enumerate(names):
                filled = bool(of[name][mark]) or name == "best pAUC"
                colour = theme.blue if name == "best pAUC" else theme.red if filled else theme.grey
                dot(ax, number(of[name][measure]), y, colour, "o" if filled else "s",
                    hollow=None if filled else theme.page)  # fmt: skip
            for y in (4.5, 6.5, 10.5):
                ax.axhline(y, color=theme.grid, lw=0.8)
            ax.set_title(f"{data}: {measure}")
            few_ticks(ax)
            ax.margins(x=0.12)
    for ax in axes[:, 0]:
        name_rows(ax, names)
    handles = [
        Line2D([], [], color=theme.blue, marker="o", ls="none", label="best pAUC, the default"),
        Line2D([], [], color=theme.red, marker="o", ls="none", label="significantly different from it"),
        Line2D([], [], color=theme.grey, marker="s", mfc=theme.page, ls="none", label="not significantly different"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=1)
    figure.supxlabel("on rows that were not used for the choice", fontsize=11)
    return figure


def choosing_p(theme):
    """Which p cross-validation chooses, by the measure it is given."""
    found = choices()
    names = list(found["pima"])[:7]
    figure, axes = figure_of(2, 2, (WIDTH, 5.4), sharey=True)
    for ax, (data, of) in zip(axes.flat, found.items(), strict=True):
        shares = np.array([[int(n) for n in of[name]["p"].split()] for name in names], dtype=float)
        shares /= shares.sum(axis=1, keepdims=True)
        left = np.zeros(len(names))
        for share, colour in zip(shares.T, theme.powers.values(), strict=True):
            ax.barh(range(len(names)), share, left=left, color=colour, height=0.7)
            left += share
        ax.set_title(data)
        ax.set_xlim(0, 1)
        ax.set_xticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    for ax in axes[:, 0]:
        name_rows(ax, names)
    handles = [Patch(color=colour, label=f"p = {p}") for p, colour in theme.powers.items()]
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    figure.supxlabel("share of the splits that choose this p", fontsize=11)
    return figure


def experiments(theme):
    """Positives above the first negative against p, in training and testing, by either rule of selection."""
    figure, axes = figure_of(4, 2, (WIDTH, 9.6), "y")
    by = []
    for name in ("experiments", "experiments_colt"):
        _, heading, rows = tables(name)[0]
        if heading[:2] != ["setting", "part"]:
            raise ValueError(f"{name}.inc begins with the columns {heading}")
        powers = [int(must(r"p = (\d+)", text, name)[1]) for text in heading[2:]]
        by.append({tuple(row[:2]): np.array([value_and_error(text, name) for text in row[2:]]) for row in rows})
    settings = list(dict.fromkeys(setting for setting, _ in by[0]))
    for ax, setting in zip(axes.flat, settings, strict=False):
        for part, colour, marker in (("train", theme.blue, "o"), ("test", theme.red, "s")):
            (mean, spread), (colt, _) = by[0][setting, part].T, by[1][setting, part].T
            ax.fill_between(powers, np.maximum(mean - spread, 0), mean + spread, color=colour, alpha=0.16, lw=0)
            ax.plot(powers, mean, color=colour, marker=marker, ms=4.5, lw=1.6)
            ax.plot(powers, colt, color=colour, lw=1.3, ls=(0, (4, 2)))
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
        Line2D([], [], color=theme.blue, marker="o", ms=4.5, label="training"),
        Line2D([], [], color=theme.red, marker="s", ms=4.5, label="testing"),
        Patch(color=theme.grey, alpha=0.3, label="± one std. deviation"),
        Line2D([], [], color=theme.grey, ls=(0, (4, 2)), label="largest edge (COLT)"),
    ]
    figure.legend(handles=handles, loc="center", bbox_to_anchor=(0.77, 0.14))
    figure.supylabel("positives above the first negative", fontsize=11)
    return figure


def curves_sets(theme):
    """Differences of AUC and of the top of the list between p = 64 and p = 1, by data set."""
    found = tables("curves")
    expected = ["set", "on top", "splits", "area, training", "held out", "AUC, p = 1", "p = 64", "training top, p = 1",
                "p = 64", "top, p = 1", "p = 64", "weak rankers"]  # fmt: skip
    (title, heading, rows) = found[0]
    if title != "All columns" or heading != expected:
        raise ValueError(f"curves.inc begins with {title}, {heading}")
    figure, axes = figure_of(2, 2, (WIDTH, 8.0), sharey=True)
    for y, row in enumerate(rows):
        auc = [value_and_error(text, "curves")[0] for text in row[5:7]]
        pairs = auc, [number(text) for text in row[9:11]], [number(text) for text in row[7:9]]
        for ax, (one, large) in zip(axes.flat, pairs, strict=False):
            ax.plot([one, large], [y, y], color=theme.grey, lw=1.6)
            dot(ax, one, y, theme.blue)
            dot(ax, large, y, theme.red, "D")
    for ax, label in zip(axes.flat, ("AUC, new rows", "top, new rows", "top, training rows"), strict=False):
        ax.set_title(label)
        few_ticks(ax, 4)
    for ax in (axes[0, 1], axes[1, 0]):
        ax.xaxis.set_major_formatter(lambda x, _: f"{100 * x:.0f} %")
    for ax in axes[:, 0]:
        name_rows(ax, [f"{row[0]}: {row[1]}" for row in rows])
    axes[1, 1].axis("off")
    handles = [
        Line2D([], [], color=theme.blue, marker="o", ls="none", label="p = 1"),
        Line2D([], [], color=theme.red, marker="D", ls="none", label="p = 64"),
    ]
    figure.legend(handles=handles, loc="center", bbox_to_anchor=(0.8, 0.28))
    return figure


SCARCE = {"few positives": lambda i, k, most: k == most[1], "few negatives": lambda i, k, most: i == most[0],
          "few of both": lambda i, k, most: i == k or (i, k) == most}  # fmt: skip


def uneven_gain(theme):
    """The gain of p = 4, 16 and 64 over p = 1, by the number of rows of the smaller class."""
    found = {title: (heading, rows) for title, heading, rows in tables("uneven")}
    figure, axes = figure_of(3, 3, (WIDTH, 7.4), "y", sharex=True, sharey="row")
    for row_of_axes, data in zip(axes, ("MAGIC", "Spambase", "a9a"), strict=True):
        heading, rows = found[data]
        if heading[:6] != ["I", "K", "pAUC, p = 1", "p = 4", "p = 16", "p = 64"]:
            raise ValueError(f"uneven.inc, {data}: columns {heading}")
        sizes = [(int(row[0]), int(row[1])) for row in rows]
        most = tuple(np.max(sizes, axis=0).tolist())
        for ax, (scarce, belongs) in zip(row_of_axes, SCARCE.items(), strict=True):
            chosen = sorted((min(size), row) for size, row in zip(sizes, rows, strict=True) if belongs(*size, most))
            at = np.array([size for size, _ in chosen], dtype=float)
            for i, p in enumerate((4, 16, 64)):
                gain, error = np.array([value_and_error(row[3 + i], "uneven") for _, row in chosen]).T
                x = at * 1.06 ** (i - 1)
                colour, marker = theme.powers[p], "osD"[i]
                half = half_width(error, SPLITS["uneven"][data])
                ax.errorbar(x, gain, half, color=colour, marker=marker, ms=5, lw=1.4, label=f"p = {p}")
            ax.axhline(0, color=theme.ink, lw=0.8)
            ax.set_xscale("log")
            ax.xaxis.set_major_locator(FixedLocator([50, 500, 4000]))
            ax.xaxis.set_minor_locator(NullLocator())
            ax.xaxis.set_major_formatter("{x:,.0f}")
            ax.set_title(f"{data}:\n{scarce}", fontsize=10)
    figure.supxlabel("rows of the smaller class", fontsize=11)
    figure.supylabel("gain in partial AUC over p = 1, hundredths", fontsize=11)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


QUERIES = {
    "all queries have one direction": "one direction for all",
    "directions deviate by 1/2": "directions deviate by 1/2",
    "directions deviate by 1": "directions deviate by 1",
    "directions deviate by 1/2; one column tempts, another is clean at the top": (
        "by 1/2, and one column\nis clean at the top"
    ),
}


def queries(theme):
    """NDCG by p and by the weights of queries, in four simulated settings."""
    levels, gains, setting = {}, {}, None
    for line in text_lines("queries"):
        if line in QUERIES:
            setting = line
        elif found := re.fullmatch(r"   p = (\d), (\w+)\s+([\d.]+)\s+([\d.]+)", line):
            levels[setting, found[2], int(found[1])] = float(found[3])
        elif found := re.fullmatch(r"   (\w+): p = (\d) less p = 1\s+" + VALUE_AND_ERROR + ".*", line):
            gains[setting, found[1], int(found[2])] = number(found[3]), number(found[4])
    if len(levels) != 24 or len(gains) != 16:
        raise ValueError("queries.txt should have 24 means and 16 differences from p = 1")
    figure, axes = figure_of(4, 2, (WIDTH, 9.4), "y", sharex=True)
    for panels, (setting, title) in zip(axes, QUERIES.items(), strict=True):
        above, below = panels
        for weight, colour, marker in (("equal", theme.blue, "o"), ("pairs", theme.red, "D")):
            at = np.arange(3) + (0.05 if weight == "equal" else -0.05)
            above.plot(at, [levels[setting, weight, p] for p in (1, 2, 4)], color=colour, marker=marker, ms=5, lw=1.5)
            gain, error = np.array([(0, 0), gains[setting, weight, 2], gains[setting, weight, 4]]).T
            below.errorbar(at, gain, half_width(error, SPLITS["queries"]), color=colour, marker=marker, ms=5, lw=1.5)
        above.set_title(title)
        below.set_title("gain over p = 1\n" if "\n" in title else "gain over p = 1")
        above.yaxis.set_major_locator(MaxNLocator(4, min_n_ticks=2))
        below.set_xticks(range(3), ["1", "2", "4"])
        below.set_xlim(-0.3, 2.3)
        below.axhline(0, color=theme.ink, lw=0.8)
        below.set_ylim(-4.5, 1.2)
    span = 1.15 * max(ax.get_ylim()[1] - ax.get_ylim()[0] for ax in axes[:, 0])
    for ax in axes[:, 0]:  # one unit has the same length in all panels
        middle = sum(ax.get_ylim()) / 2
        ax.set_ylim(middle - span / 2, middle + span / 2)
    for ax in axes[-1]:
        ax.set_xlabel("p")
    figure.supylabel("NDCG at 10, hundredths", fontsize=11)
    handles = [
        Line2D([], [], color=theme.blue, marker="o", ms=5, label='group_weight="equal"'),
        Line2D([], [], color=theme.red, marker="D", ms=5, label='group_weight="pairs"'),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure


def speed(theme):
    """The time of a round as a share of the rival's: many rows, and few rows."""
    line = r"(.+?)\s{2,}([\d.]+)\s+(.+?)\s{2,}([\d.]+)\s+([\d.]+)"
    many = [must(line, text, "rivals.txt").groups() for text in text_lines("rivals")[2:9]]
    few = [must(line, text, "rivals_few.txt").groups() for text in text_lines("rivals_few")[1:]]
    few = [row for row in few if row[2] == "LightGBM"] + [row for row in few if row[2] == "XGBoost"]
    figure, axes = figure_of(2, 1, (WIDTH, 8.2), height_ratios=(len(many), len(few)), sharex=True)
    for ax, rows, title in (
        (axes[0, 0], many, "a round, 1,000,000 rows, 50 columns"),
        (axes[1, 0], few, "few rows: cuts and 100 rounds"),
    ):
        for y, row in enumerate(rows):
            share = float(row[4])
            ax.plot([1, share], [y, y], color=theme.blue if share < 1 else theme.red, lw=5, solid_capstyle="butt")
            beside = row[4]
            ax.text(share * (0.93 if share < 1 else 1.08), y, beside, ha="right" if share < 1 else "left", va="center",
                    fontsize=10)  # fmt: skip
        ax.axvline(1, color=theme.ink, lw=1)
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


def speed_small(theme):
    """Times of a round and of a whole call of small problems, beside plain NumPy."""
    rows = []
    for text in text_lines("small")[1:]:
        rows.append(must(r"(.+?)\s{2,}" + r"\s+".join([NUMBER] * 5), text, "small.txt").groups())
    if text_lines("small")[0].split("  ")[0] != "rows, columns":
        raise ValueError("small.txt has another heading")
    figure, axes = figure_of(1, 1, (WIDTH, 3.0))
    ax = axes[0, 0]
    for y, row in enumerate(rows):
        for column, colour, marker in ((3, theme.blue, "o"), (5, theme.orange, "s")):
            dot(ax, number(row[column]), y, colour, marker)
    ax.axvline(1, color=theme.ink, lw=1)
    ax.set_xlim(0.9, 26)
    ax.xaxis.set_major_locator(FixedLocator([1, 5, 10, 15, 20, 25]))
    ax.set_xlabel("times faster than plain NumPy")
    name_rows(ax, [f"{row[0].rsplit(', ', 1)[0]} rows, {row[0].rsplit(', ', 1)[1]} columns" for row in rows])
    handles = [
        Line2D([], [], color=theme.blue, marker="o", ls="none", label="a round"),
        Line2D([], [], color=theme.orange, marker="s", ls="none", label="a whole call"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure


OBJECTIVE = (
    r"(\S.*?)\s{2,}([\d.]+)([+-]?)\s+([\d.]+)[+-]?\s+([\d.]+)([+-]?)\s+"
    r"([\d.]+)([+-]?)\s+([\d.]+)[+-]?\s+([\d.]+)([+-]?)\s+\w+ \d+.*"
)


FORMULAS = {"r": "$r$", "r^4": "$r^4$", "r^16": "$r^{16}$", "exp(10 r/I)": "$e^{10r/I}$",
            "max(0, r - I/20)^2": r"$\max(0, r - I/20)^2$", "(r - I/20)^2": "$(r - I/20)^2$",
            "(r - I/3)^2": "$(r - I/3)^2$"}  # fmt: skip
"""Of the prices."""


def objectives(theme, name, reference):
    """Positives at the top and AUC, in training and testing, of prices or of losses."""
    found = {}
    for line in text_lines(name):
        if title := re.fullmatch(r"(\w+)\s+train\s+test", line):
            found[title[1]] = []
        elif line and not line.startswith("  "):
            found[list(found)[-1]].append(must(OBJECTIVE, line, name).groups())
    if len(found) != 4 or any(rows[0][0] != reference for rows in found.values()):
        raise ValueError(f"{name}.txt should have four sets that begin with {reference}")
    names = [row[0] for row in found["Pima"]]
    figure, axes = figure_of(4, 2, (WIDTH, 1.0 * len(names) + 4.0), sharey=True)
    figure.get_layout_engine().set(wspace=0.08)
    for panels, (data, rows) in zip(axes, found.items(), strict=True):
        for ax, (train, test) in zip(panels, ((1, 6), (4, 9)), strict=True):
            for y, row in enumerate(rows):
                for at, colour, marker in ((train, theme.blue, "o"), (test, theme.red, "D")):
                    dot(ax, number(row[at]), y, colour, marker, hollow=None if row[at + 1] or not y else theme.page)
            few_ticks(ax)
            ax.margins(x=0.12)
        panels[0].set_title(f"{data}: at top")
        panels[1].set_title(f"{data}: AUC")
        panels[1].xaxis.set_major_locator(MaxNLocator(2, steps=[1, 2, 5, 10]))
        panels[0].set_xlim(0)
    for ax in axes[:, 0]:
        name_rows(ax, [FORMULAS.get(name, name) for name in names])
    handles = [
        Line2D([], [], color=theme.blue, marker="o", ls="none", label="training"),
        Line2D([], [], color=theme.red, marker="D", ls="none", label="testing"),
        Line2D([], [], color=theme.ink, marker="o", mfc=theme.page, ls="none",
               label=f"hollow: within two standard\nerrors of {FORMULAS.get(reference, reference)}"),
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure


def prices_sets(theme):
    return objectives(theme, "prices", "r")


def losses_sets(theme):
    return objectives(theme, "prices_losses", "exponential")


def grades(theme):
    """The push on lists with grades, beside training for pairs: the order as a whole, and the top."""
    found, setting = {}, None
    lines = text_lines("lists")
    start = next(i for i, line in enumerate(lines) if line.startswith("5. The push on grades"))
    for line in lines[start + 1 :]:
        if heading := re.fullmatch(r"    (.+?)\s+tau loss\s+NDCG\s+NDCG at 10\s+NDCG at 3", line):
            setting = found[heading[1]] = {}
        else:
            name, *cells = must(r"(.+?)" + r"\s{2,}([\d.]+)([+-]?)" * 4, line, "lists.txt").groups()
            setting[name] = [(float(cells[i]), cells[i + 1]) for i in (0, 6)]
    if list(map(len, found.values())) != [7] * 3:
        raise ValueError("lists.txt should have seven methods for each of three settings")
    figure, axes = figure_of(3, 2, (WIDTH, 8.0), sharey=True)
    for panels, (setting, of) in zip(axes, found.items(), strict=True):
        for i, ax in enumerate(panels):
            for y, (name, cells) in enumerate(of.items()):
                value, mark = cells[i]
                colour = theme.grey if not y else theme.blue if "alike" in name else theme.orange
                dot(ax, value, y, colour, "sDo"[1 + ("alike" in name)] if y else "s",
                    hollow=None if mark or not y else theme.page)  # fmt: skip
            ax.set_title(f"{setting}:\n{('tau loss', 'NDCG at 3')[i]}")
            few_ticks(ax)
            ax.margins(x=0.15)
    for ax in axes[:, 0]:
        name_rows(ax, list(next(iter(found.values()))))
    handles = [
        Line2D([], [], color=theme.ink, marker="o", mfc=theme.page, ls="none",
               label="hollow: not significantly different\nfrom listwise kendall"),
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside upper center")
    return figure


CHARTS = [
    additive_top,
    additive_ap,
    additive_summary,
    additive_rules,
    unseen,
    case_weights,
    quality,
    stacking,
    boosting,
    calibration,
    choosing,
    choosing_p,
    experiments,
    curves_sets,
    uneven_gain,
    queries,
    speed,
    speed_small,
    prices_sets,
    losses_sets,
    grades,
]

if __name__ == "__main__":
    for draw in CHARTS:
        if len(sys.argv) == 1 or draw.__name__ in sys.argv[1:]:
            for theme in (LIGHT, DARK):
                with plt.style.context([ROOT / "doc" / "pnorm.mplstyle", theme.style()]):
                    figure = draw(theme)
                    name = draw.__name__.replace("_", "-") + theme.suffix
                    figure.savefig(STATIC / f"{name}.svg", metadata={"Date": None})
                    plt.close(figure)
