"""Draw the folders and modules of the package, floor by floor, from their imports, into doc/_static/layout.svg, and for
dark pages into doc/_static/layout-dark.svg.

    python doc/layout.py

Needs Matplotlib. Arrows that follow from others are left out: of A to B, B to C and A to C, the last.
"""

import itertools
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path as Curve
from scipy.optimize import linprog

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests")]

from test_package import floors, layout, rooms  # noqa: E402

BLUE, ORANGE, GREY = "C0", "C1", "C5"

STYLE, DARK = (ROOT / "doc" / f"{name}.mplstyle" for name in ("pnorm", "pnorm-dark"))

NOTES = {
    "pnorm._core": "compiled loops",
    "pnorm._checks": "arguments, messages",
    "pnorm._hint": "nearest names",
    "pnorm._version": "the version",
    "pnorm.datasets": "data sets",
    "pnorm._threads": "passes, blocks, pool",
    "pnorm._blas": "products by BLAS",
    "pnorm._categories": "levels",
    "pnorm._trace": "record of a run",
    "pnorm._storage": "tables of outputs",
    "pnorm._split": "rows by label",
    "pnorm.objectives": "prices and losses",
    "pnorm.rankers": "weak rankers",
    "pnorm.metrics": "measures of a list",
    "pnorm.kernel": "kernel spaces",
    "pnorm.listwise": "lists with grades",
    "pnorm._solvers": "problems, solutions",
    "pnorm.bounds": "generalisation",
    "pnorm.boosting": "LightGBM, XGBoost",
    "pnorm._score": "score",
    "pnorm._reasons": "what columns add",
    "pnorm._train": "train",
    "pnorm._minimize": "minimize",
    "pnorm._minimize_path": "minimize_path",
    "pnorm._cross_validation": "cross_validate",
    "pnorm._cutoff": "cut-offs",
    "pnorm._default": "what is taken unasked",
    "pnorm._files": "save, load",
    "pnorm._job": "learn, hold out, test",
    "pnorm._report": "the HTML page",
    "pnorm.callbacks": "early stopping",
    "pnorm.dask": "rows on a cluster",
    "pnorm.diagnostics": "certificates",
    "pnorm.plotting": "pictures",
    "pnorm.sklearn": "the estimator",
    "pnorm._tables": "tables in files",
    "pnorm._coded": "rows as codes",
    "pnorm": "the public names",
    "pnorm._command": "the command pnorm",
}
"""A few words for each room."""

WALK = [
    ("pnorm._train", "pnorm._solvers"),
    ("pnorm._solvers", "pnorm.rankers"),
    ("pnorm._solvers", "pnorm.objectives"),
    ("pnorm.rankers", "pnorm._storage"),
    ("pnorm._storage", "pnorm._core"),
    ("pnorm.objectives", "pnorm._core"),
]
"""The way of `pos` from `train` to the compiled sums."""

BARS = ("pnorm", "pnorm._command")
"""Rooms over the whole width, without arrows: the one imports all public modules, the other that one."""

WIDTH, HEIGHT, FLOOR = 1.5, 0.5, 0.86

CROWD = 3
"""Rooms of a floor, at most, that stand side by side: a telephone is narrow."""


def arrows(of_rooms):
    """The imports that do not follow from others, and those of the walk."""
    below, floor = {}, floors(of_rooms)
    for name in sorted(floor, key=floor.get):
        others = of_rooms.get(name, set())
        below[name] = others.union(*(below[other] for other in others))
    found = {
        (name, other)
        for name, others in of_rooms.items()
        for other in others
        if not any(other in below[between] for between in others)
    }
    assert all(other in of_rooms[name] for name, other in WALK)
    return sorted(arrow for arrow in found | set(WALK) if arrow[0] not in BARS)


def chains(found, height):
    """Every arrow as a chain of places, one at each height from its start to its end."""
    return {
        (name, other): [name, *((name, other, k) for k in range(height[name] - 1, height[other], -1)), other]
        for name, other in found
    }


def crossings(order, links):
    """The number of pairs of links that cross."""
    place = {item: k for of_floor in order for k, item in enumerate(of_floor)}
    return sum(
        (place[a] - place[c]) * (place[b] - place[d]) < 0
        for of_floor in links.values()
        for (a, b), (c, d) in itertools.combinations(of_floor, 2)
    )


def ordered(levels, links, tries=60):
    """The items of every floor in an order of few crossings: by the mean place of neighbours, from random starts."""
    above, below = {}, {}
    for a, b in itertools.chain(*links.values()):
        below.setdefault(a, []).append(b)
        above.setdefault(b, []).append(a)
    rng, best = np.random.default_rng(0), (np.inf, None)
    for _ in range(tries):
        order = [[of_floor[k] for k in rng.permutation(len(of_floor))] for of_floor in levels]
        for sweep in range(12):
            neighbours = below if sweep % 2 == 0 else above
            for k in range(len(order)) if sweep % 2 == 0 else range(len(order) - 1, -1, -1):
                place = {item: i / len(of) for of in order for i, item in enumerate(of)}
                order[k] = sorted(
                    order[k],
                    key=lambda item: np.mean([place[x] for x in neighbours.get(item, [item])]),
                )
            best = min(best, (crossings(order, links), [list(of) for of in order]), key=lambda pair: pair[0])
    return best[1]


def half(item):
    """Half the width that a room or a passing arrow needs."""
    return 0.5 * WIDTH + 0.08 if isinstance(item, str) else 0.06


def positions(order, links, width, walked):
    """Horizontal places that keep the order and distances, and make arrows short and straight, above all the walk."""
    items = list(itertools.chain(*order))
    number = {item: k for k, item in enumerate(items)}
    pairs = list(itertools.chain(*links.values()))
    n = len(items)
    rows, bounds = [], []

    def at_most(terms, bound):
        row = np.zeros(n + len(pairs))
        for k, factor in terms:
            row[k] = factor
        rows.append(row)
        bounds.append(bound)

    for of_floor in order:
        for a, b in itertools.pairwise(of_floor):
            at_most([(number[a], 1.0), (number[b], -1.0)], -half(a) - half(b))
    for k, (a, b) in enumerate(pairs):
        for sign in (1.0, -1.0):
            at_most([(number[a], sign), (number[b], -sign), (n + k, -1.0)], 0.0)
    # An arrow's own bends cost most, so that long arrows are straight.
    bends = [sum(isinstance(item, tuple) for item in pair) for pair in pairs]
    cost = [0.0] * n + [1.0 + 3.0 * bend + 4.0 * (pair in walked) for pair, bend in zip(pairs, bends, strict=True)]
    limits = [(half(item), width - half(item)) for item in items] + [(0.0, None)] * len(pairs)
    found = linprog(cost, np.array(rows), np.array(bounds), bounds=limits)
    return {item: found.x[k] for item, k in number.items()}


def heights(floor):
    """The height of every room. A crowded floor has several: private modules, public ones above them, and bars."""
    found, height = {}, 0
    for k in range(1, max(floor.values()) + 1):
        names = sorted((name for name in floor if floor[name] == k and name not in BARS), key=is_public)
        n_rows = -(-len(names) // CROWD)
        rows = [row.tolist() for row in np.array_split(names, n_rows)] if names else []
        for row in [*rows, *([name] for name in BARS if floor[name] == k)]:
            height += 1
            found |= dict.fromkeys(row, height)
    return found


def is_public(name):
    return not name.startswith("pnorm._"), name


def draw(file):
    """Draw the picture in the style that is set."""
    of_rooms = rooms()
    floor = floors(of_rooms)
    assert set(floor) == set(NOTES), set(floor) ^ set(NOTES)
    height = heights(floor)
    routes = chains(arrows(of_rooms), height)
    levels = [
        [name for name in sorted(height) if height[name] == k + 1 and name not in BARS]
        for k in range(max(height.values()))
    ]
    links = {k: [] for k in range(1, len(levels) + 1)}
    for route in routes.values():
        for a, b in itertools.pairwise(route):
            links[height[a] if isinstance(a, str) else a[2]].append((a, b))
        for item in route[1:-1]:
            levels[item[2] - 1].append(item)
    width = max(2.0 * sum(map(half, level)) for level in levels)
    walked = {link for arrow in WALK for link in itertools.pairwise(routes[arrow])}
    x = positions(ordered(levels, links), links, width, walked)
    y = {item: FLOOR * (height[item] if isinstance(item, str) else item[2]) for item in x}

    figure, ax = plt.subplots(figsize=(width + 0.4, FLOOR * len(levels)))
    for k in range(1, max(floor.values()) + 1):
        of_floor = [FLOOR * height[name] for name in floor if floor[name] == k]
        low, high = min(of_floor), max(of_floor)
        ax.axhspan(low - 0.5 * FLOOR, high + 0.5 * FLOOR, color=GREY, alpha=0.07 if k % 2 else 0.0, lw=0)
        ax.text(-0.2, 0.5 * (low + high), str(k), color=GREY, ha="center", va="center")
    for arrow, route in routes.items():
        points = []
        for item in route:
            gap = 0.5 * HEIGHT if isinstance(item, str) else 0.25 * FLOOR
            points += [(x[item], y[item] + gap), (x[item], y[item] - gap)]
        line(ax, points[1:-1], arrow in WALK)
    for name in floor:
        bar = 0.5 * width, FLOOR * height[name], width - 0.24
        box(ax, name, bar if name in BARS else (x[name], y[name], WIDTH))
    ax.set(xlim=(-0.4, width), ylim=(0.5 * FLOOR, FLOOR * (len(levels) + 0.5)))
    ax.axis("off")
    description = {"Date": None, "Description": layout(of_rooms)}
    figure.savefig(ROOT / "doc" / "_static" / file, metadata=description, transparent=True)
    plt.close(figure)


def line(ax, points, walked):
    """Draw an arrow through points: straight past a floor, a curve from one floor to the next."""
    path, codes = [points[0]], [Curve.MOVETO]
    for k, (start, end) in enumerate(itertools.pairwise(points)):
        if k % 2:
            path.append(end)
            codes.append(Curve.LINETO)
        else:
            middle = 0.5 * (start[1] + end[1])
            path += [(start[0], middle), (end[0], middle), end]
            codes += [Curve.CURVE4] * 3
    colour, size = (ORANGE, 2.4) if walked else (GREY, 0.9)
    ax.add_patch(PathPatch(Curve(path, codes), fc="none", ec=colour, lw=size, zorder=2 + walked))
    at, tip = points[-1], 0.05 + 0.03 * walked
    ax.fill(*np.transpose([at, (at[0] - 0.6 * tip, at[1] + 1.6 * tip), (at[0] + 0.6 * tip, at[1] + 1.6 * tip)]),
            color=colour, lw=0, zorder=3 + walked)  # fmt: skip


def box(ax, name, place):
    """Draw a room: its name, and what it holds."""
    x, y, width = place
    last = name.removeprefix("pnorm.")
    private, folder = last.startswith("_"), (ROOT / "pnorm" / last).is_dir()
    colour = ORANGE if name == "pnorm._core" else GREY if private else BLUE
    share = {ORANGE: 0.18, GREY: 0.0, BLUE: 0.16}[colour]
    ink, paper = mpl.rcParams["text.color"], to_rgb(mpl.rcParams["axes.facecolor"])
    face = tuple(share * a + (1.0 - share) * b for a, b in zip(to_rgb(colour), paper, strict=True))
    style = FancyBboxPatch(
        (x - 0.5 * width, y - 0.5 * HEIGHT), width, HEIGHT, "round,pad=0,rounding_size=0.07",
        fc=face, ec=colour, lw=2.0 if folder else 1.0, zorder=6,
    )  # fmt: skip
    ax.add_patch(style)
    ax.text(x, y + 0.09, last + "/" * folder, ha="center", va="center", fontsize=10, fontweight="bold", zorder=7)
    ax.text(x, y - 0.11, NOTES[name], ha="center", va="center", fontsize=8.5, color=ink, alpha=0.85, zorder=7)


if __name__ == "__main__":
    for file, styles in {"layout.svg": [STYLE], "layout-dark.svg": [STYLE, DARK]}.items():
        with plt.style.context(styles):
            draw(file)
