"""Draw the picture of README and of the first page into doc/_static, for wide and for narrow screens.

    PNORM_DATA=... python doc/hero.py

It needs the Adult data and scikit-learn, so it is not drawn by the build of the pages, and is kept. The means over ten
splits are those of doc/_outputs/adult_rivals.txt.
"""

import re
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")

import matplotlib.pyplot as plt
import numpy as np
from _chart import BLUE, GREY, INK, RED, as_file, as_svg

import pnorm
from pnorm._job.baselines import CURVES, LINEAR

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "benchmarks"))

import adult_rivals  # noqa: E402
from pictures import half_width  # noqa: E402

EXPLAINED = 600
"""The place of the row that the first picture explains. Above it a capital gain or loss is often the first reason."""

DIP = 67
"""The age at which the curve of age falls and rises again."""


RANDOM = "random order"
NAMES = {
    adult_rivals.THIS: "pnorm",
    adult_rivals.STEPS: "logistic regression\non the same steps",
    CURVES: "logistic regression\non splines",
}
"""Of lists in the first picture, on two lines if they need a second."""

LEFT = 6, 344, 612
"""Of its panels side by side, in points."""


def hero():
    """Adult as the command ranks it with ``--budget 1000``: the test, reasons and two shapes, across and down."""
    found = adult_rivals.split(0, compare=False)
    learned, n = found.learned, adult_rivals.BUDGET
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
    half = next(half for name, _, half in lists if name == adult_rivals.BOOSTED)
    own, trees = found_by[adult_rivals.THIS], found_by[adult_rivals.BOOSTED]
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
            is_own = name == adult_rivals.THIS
            ax.barh([k], [mean], height=0.58, color=BLUE if is_own else GREY, alpha=1.0 if is_own else 0.55)
            how = {"color": BLUE if is_own else INK, "weight": "bold" if is_own else "normal"}
            first, *second = NAMES.get(name, name).split("\n")
            middle = y + (k + 0.5) * step
            put(x, middle + (0.36 if not second else -0.05) * size, first, size=size, **how)
            if second:
                put(x, middle + 0.85 * size, second[0], size=0.78 * size, color=INK)
            right = x + beside + across * mean / n + 0.4 * size
            put(right, middle + 0.4 * size, f"{mean:.0f}", size=1.1 * size, **{**how, "weight": "bold"})
        ax.set(xlim=(0, n), ylim=(len(rows) - 0.5, -0.5))
        ax.set_axis_off()
        low, high = (less_trees + side * half for side in (-1, 1))
        words = f"{NAMES[adult_rivals.THIS]} minus boosted trees, 95 % interval:", f"{low:+.0f} to {high:+.0f}"
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

    return {"hero": draw_row, "hero-narrow": draw_column}


def on_adult():
    """Return lists by their name, mean over the splits, and the half of a 95 % interval of this list less the other."""
    path = ROOT / "doc" / "_outputs" / "adult_rivals.txt"
    tables = [text.splitlines() for text in path.read_text(encoding="utf-8").split("\n\n")]
    means, differences = [
        {name: numbers for name, *numbers in (re.split(r" {2,}", line) for line in table[1:])} for table in tables[:2]
    ]
    splits = len(re.findall(r"split \d+", tables[0][0]))
    of = adult_rivals
    shown = of.BOOSTED, of.STEPS, of.THIS, CURVES, LINEAR
    half = {name: half_width(float(numbers[1]), splits) for name, numbers in differences.items()}
    lists = [(name, float(means[name][-1]), half.get(name, 0.0)) for name in shown]
    return sorted(lists, key=lambda row: -row[1])


if __name__ == "__main__":
    for name, draw in hero().items():
        (ROOT / "doc" / "_static" / f"{name}.svg").write_text(as_file(as_svg(draw, name)), encoding="utf-8")
