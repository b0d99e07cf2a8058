"""Draw the pictures of the documentation into doc/_static, and write what the experiments say into doc/_outputs.

    PNORM_DATA=... python -P doc/pictures.py [NAME ...]

Needs Matplotlib and PNORM_DATA, a folder with the data sets of `pnorm.datasets`. Without a NAME, all are made;
the names are those of the functions at the end.
"""

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator, PercentFormatter
from scipy.spatial import ConvexHull
from scipy.special import logsumexp

import pnorm
from pnorm import bounds, kernel
from pnorm._command import reproduce as _reproduce

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]

import calibration  # noqa: E402
import curves as _curves  # noqa: E402
import readable as _readable  # noqa: E402
import uneven as _uneven  # noqa: E402
from certified import kinds  # noqa: E402
from prices import FALSE_POSITIVE_RATES, data, experiment  # noqa: E402
from problems import wdbc  # noqa: E402
from tables import list_table  # noqa: E402

STATIC = ROOT / "doc" / "_static"

# Okabe & Ito's colours, told apart by the colour-blind.
BLUE, ORANGE, GREEN, RED, GREY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#777777"


def save(figure, name):
    """Write one picture, the same bytes each time."""
    figure.savefig(STATIC / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


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
    """Above, the rows and their hulls; below, the objective over the coefficients."""
    figure, axes = plt.subplots(2, 3, figsize=(10, 6.6))
    for (kind, (pos, neg)), (above, below) in zip(three_kinds_of_data().items(), axes.T, strict=True):
        draw_hulls(above, kind, pos, neg)
        draw_objective(below, kind, pos, neg, p)
    axes[0, 0].set_ylabel("$h_2$")
    axes[1, 0].set_ylabel("$\\lambda_2$")
    axes[0, 0].legend(loc="upper left", fontsize=9, handletextpad=0.2, borderaxespad=0)
    save(figure, "hulls")


def draw_hulls(ax, kind, pos, neg):
    """Rows that lose all weight are hollow."""
    along = np.array([2, 1]) / 5**0.5
    for X, colour, marker, label in ((pos, BLUE, "o", "positives"), (neg, RED, "s", "negatives")):
        hull = X[ConvexHull(X).vertices]
        ax.fill(*hull.T, color=colour, alpha=0.15, lw=0)
        on = np.abs(X @ along) < 1e-9 if kind == "quasi-separable" else np.full(len(X), kind == "overlapping")
        ax.scatter(*X[on].T, c=colour, marker=marker, s=34, zorder=3, label=label)
        ax.scatter(*X[~on].T, edgecolors=colour, facecolors="white", marker=marker, s=34, zorder=3)
    if kind != "overlapping":
        line = np.outer([-1.35, 1.35], [-along[1], along[0]])
        ax.plot(*line.T, color=GREY, lw=1, ls="--", zorder=1)
    title = {"overlapping": "hulls overlap", "quasi-separable": "hulls touch", "separable": "hulls miss each other"}[
        kind
    ]
    ax.set_title(f"{kind}: {title}")
    ax.set(xlabel="$h_1$", xlim=(-1.9, 1.9), ylim=(-1.7, 1.7), aspect="equal", xticks=(-1, 0, 1), yticks=(-1, 0, 1))


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
    ax.plot(*path.T, color=ORANGE, lw=1.6, label="coordinate descent")
    best, _ = pnorm.minimize(pos, neg, p=p)
    if kind == "overlapping":
        ax.plot(*best, "*", color=GREEN, ms=13, mec="white", label="the minimiser")
    else:
        direction = np.array([2, 1]) / 5**0.5
        start = best if kind == "quasi-separable" else np.zeros(2)
        ax.annotate(
            "",
            start + 12 * direction,
            start + 7 * direction,
            arrowprops={"arrowstyle": "->", "color": GREEN, "lw": 2.5},
        )
        ax.plot([], [], color=GREEN, lw=2, label="to infinity")
    ax.plot(0, 0, "o", color="black", ms=4)
    ax.legend(loc="lower right", fontsize=9)
    ax.set(xlabel="$\\lambda_1$", xlim=(-3, 12), ylim=(-6, 9), aspect="equal")


def gaps():
    """WDBC: what descent leaves, what Newton's method certifies, and q' settling while the coefficients do not."""
    pos, neg, H = wdbc()
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.9))
    for p, colour in ((1, BLUE), (4, ORANGE), (16, GREEN), (64, RED)):
        _, trace = pnorm.minimize(pos, neg, H, p, tol=0)
        _, run = pnorm.train(pos, neg, H, p, t_max=20_000)
        gap = pnorm.diagnostics.convergence(run, trace).gap
        rounds = np.unique(np.geomspace(1, len(gap) - 1, 300).astype(int))
        left.loglog(rounds, np.maximum(gap[rounds], 1e-14), color=colour, lw=1.2)
        steps = np.arange(1, trace.n_iter + 1)
        value = trace.log_objective - trace.log_objective[-1] + trace.gap
        left.loglog(steps, value[1:], color=colour, marker="o", ms=3.5, lw=0.8, ls=":")
        lam = trace.path[-1]
        stops = np.unique(np.geomspace(1, run.n_iter, 60).astype(int))
        apart = [pnorm.diagnostics.same_limit(pos, neg, H, lam, run.lam_at(t)) for t in stops]
        right.loglog(stops, apart, color=colour, lw=1.2, label=f"p = {p}")
    left.set(xlabel="rounds of descent, or Newton steps", ylabel="log $F_p$ less its infimum (nats)", ylim=(1e-14, 1e3))
    left.set_title("dotted: Newton; lines: coordinate descent")
    right.set(xlabel="rounds of descent", ylabel="largest difference of log $q'$")
    right.set_title("how far descent is from the limit $q'^*$")
    right.legend(fontsize=9, loc="lower left")
    save(figure, "gaps")


def shares_of_kinds():
    """Pima, the papers' thresholds: kinds of random training sets by their size."""
    sizes = [20, 35, 50, 75, 100, 150, 200, 300, 400, 500, 600, 700]
    counts = kinds(sizes, 100)
    order = {"separable": RED, "quasi-separable": ORANGE, "overlapping": BLUE}
    table = np.array([[counts[size][kind] / 100 for size in sizes] for kind in order])
    figure, ax = plt.subplots(figsize=(7, 3.4))
    ax.stackplot(sizes, table, colors=order.values(), alpha=0.85, lw=0)
    for x, y, text, turn in (
        (38, 0.3, "separable", 90),
        (190, 0.5, "quasi-separable", 0),
        (585, 0.72, "overlapping", 0),
    ):
        ax.text(x, y, text, color="black", weight="bold", rotation=turn)
    ax.set(xlabel="training rows", ylabel="share of 100 random splits", xlim=(sizes[0], sizes[-1]), ylim=(0, 1))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    save(figure, "kinds")


def gained_by_prices():
    """True positive rates under five prices less those under the price r, over random splits."""
    colours = {
        "r^4": BLUE,
        "r^16": GREEN,
        "exp(10 r/I)": ORANGE,
        "(r - I/20)^2": RED,
        "(r - I/3)^2": GREY,
    }
    names = {"r^4": "$r^4$", "r^16": "$r^{16}$", "exp(10 r/I)": "$e^{10r/I}$", "(r - I/20)^2": "$(r - I/20)^2$",
             "(r - I/3)^2": "$(r - I/3)^2$"}  # fmt: skip
    sets = data()
    figure, axes = plt.subplots(2, len(sets), figsize=(11, 5.6), sharex=True)
    for name, column in zip(sets, axes.T, strict=True):
        found = experiment(name)
        base = found["r"][0]
        for part, (ax, title) in enumerate(zip(column, (f"{name}, training", f"{name}, testing"), strict=True)):
            for label, colour in colours.items():
                gain = (found[label][0] - base)[:, part, 3:]
                mean, error = gain.mean(axis=0), 2 * gain.std(axis=0, ddof=1) / len(gain) ** 0.5
                ax.fill_between(FALSE_POSITIVE_RATES, mean - error, mean + error, color=colour, alpha=0.15, lw=0)
                ax.semilogx(FALSE_POSITIVE_RATES, mean, color=colour, lw=1.3, label=names[label])
            ax.axhline(0, color="black", lw=0.7)
            ax.set_title(title)
            ax.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
            ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes[0, 0].set_ylabel("gain in true positive rate")
    axes[1, 0].set_ylabel("gain in true positive rate")
    for ax in axes[1]:
        ax.set_xlabel("false positive rate")
        ax.set_xticks([0.01, 0.1, 1.0], ["1 %", "10 %", "100 %"])
    axes[0, 0].legend(fontsize=8.5, handlelength=1.2)
    save(figure, "prices")


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
        {name: _reproduce.measure(name, range(splits), selection=rule) for name in _reproduce.SETTINGS}
        for rule in ("absolute", "largest")
    )
    judged = _reproduce.claims(results)
    (ROOT / "doc" / "_outputs" / "experiments_colt.inc").write_text(_rule_of_colt(results, by_colt), encoding="utf-8")
    text = _means(results)
    for name, of in results.items():
        figure = _reproduce.draw(of)
        figure.savefig(STATIC / f"{name}.png", dpi=80, metadata={"Software": None})
        plt.close(figure)
        setting = _reproduce.SETTINGS[name]
        head, *lines = _reproduce.claims_table([claim for claim in judged if claim.setting == setting.title])
        text += (
            f"\n{setting.title}\n{'-' * len(setting.title)}\n\n{setting.source}.\n\n.. image:: /_static/{name}.png\n"
        )
        text += f"   :alt: ROC curves of one split, and what p does over {splits} splits: {setting.title}\n\n"
        text += list_table([[row[k] for k in (1, 3, 4)] for row in (head, *lines)], ":widths: 36 16 48")
    (ROOT / "doc" / "_outputs" / "experiments.inc").write_text(text, encoding="utf-8")


def uneven():
    """The top of the list where one class is small, and all tables as one file that the page includes."""
    found = _uneven.measured()
    (ROOT / "doc" / "_outputs" / "uneven.inc").write_text(_uneven.tables(found), encoding="utf-8")
    figure, axes = plt.subplots(3, 3, figsize=(10, 8.2))
    rows = {"Normal classes": "true positive rate", "MAGIC": "partial AUC", "Spambase": "partial AUC"}
    for (name, what), row in zip(rows.items(), axes, strict=True):
        most = np.max(list(found[name]), axis=0)
        for ax, (scarce, sizes) in zip(row, _uneven.sizes(most).items(), strict=True):
            draw_sizes(ax, found[name], sizes)
            ax.set_title(f"{name}: {scarce}")
            if ax is not axes[0, 0]:
                ax.sharey(row[-1])
        row[0].set_ylabel(f"{what}, %")
    for ax in axes[-1]:
        ax.set_xlabel("rows of the smaller class")
    axes[0, 0].legend(fontsize=9, handlelength=1.2)
    save(figure, "uneven")


def draw_sizes(ax, found, sizes):
    """Means with two standard errors by p; of normal classes, with what the formula says as dotted lines."""
    at = [min(size) for size in sizes]
    for i, (p, colour) in enumerate(zip(_uneven.POWERS, (BLUE, ORANGE, GREEN, RED), strict=True)):
        normal = found[sizes[0]].ndim == 2
        mean, error = np.transpose(
            [_uneven.means(found[size][:, i] if normal else found[size][:, i, 0]) for size in sizes]
        )
        ax.errorbar(at, mean, 2 * error, color=colour, marker="o", ms=3.5, lw=1.2, label=f"p = {p}")
        if normal:
            ax.plot(at, [100 * _uneven.predicted(*size, p) for size in sizes], color=colour, lw=1.2, ls=":")
    ax.set_xscale("log")
    ax.set_xticks([n for n in _uneven.SIZES if n <= at[-1]])
    ax.xaxis.set_major_formatter("{x:.0f}")
    ax.minorticks_off()


def curves():
    """Rows for which p changes the whole ROC curve, and the tables as one file that the page includes."""
    (ROOT / "doc" / "_outputs" / "curves.inc").write_text(_curves.tables(_curves.measured()), encoding="utf-8")
    figure, ((scores, made), (whole, gain)) = plt.subplots(2, 2, figsize=(10, 8))
    draw_constructed(scores, made)
    X, on_top, _ = _curves.load("magic", "hadron")
    powers = (1, 4, 16, 64)
    _, held = _curves.over_splits(_curves.with_products(X), on_top, powers)
    every = np.unique(np.geomspace(1, held.shape[2], 150).astype(int)) - 1
    at, held = (every + 0.5) / held.shape[2], held[:, :, every]
    for i, (p, colour) in enumerate(zip(powers, (BLUE, ORANGE, GREEN, RED), strict=True)):
        whole.plot(at, held[:, i].mean(axis=0), color=colour, lw=1.5, label=f"p = {p}")
        more = held[:, i] - held[:, 0]
        mean, error = more.mean(axis=0), 2 * more.std(axis=0, ddof=1) / len(more) ** 0.5
        gain.semilogx(at, mean, color=colour, lw=1.5)
        gain.fill_between(at, mean - error, mean + error, color=colour, alpha=0.15, lw=0)
    whole.set(xlabel="false positive rate", ylabel="true positive rate", title="MAGIC, hadrons on top, new rows")
    whole.legend(fontsize=9, loc="lower right")
    gain.set(xlabel="false positive rate", ylabel="gain in true positive rate over p = 1", title="the same, gains")
    save(figure, "curves")


def draw_constructed(scores, made):
    """The constructed rows: scores by p; ROC curves, and those of clouds around the rows."""
    powers = np.geomspace(1, 64, 100)
    lams = np.array([_curves.coefficients(p) for p in powers])
    kinds = {"both: 1 negative": _curves.BOTH, "few: 2 positives": _curves.FEW, "most: 8 positives": _curves.MOST,
             "none: 99 negatives": _curves.NONE}  # fmt: skip
    for (name, point), colour in zip(kinds.items(), (RED, BLUE, GREEN, ORANGE), strict=True):
        scores.plot(powers, lams @ point, color=colour, lw=1.5, label=name)
    scores.set_xscale("log", base=2)
    scores.set_xticks([1, 2, 4, 8, 16, 32, 64], ["1", "2", "4", "8", "16", "32", "64"])
    scores.set(xlabel="p", ylabel="score", title="10 positives and 100 negatives")
    scores.legend(fontsize=9)
    sides, (pos, neg), new = _curves.points(), _curves.clouds(0, 1000), _curves.clouds(1, 10_000)
    for p, colour in ((1, BLUE), (64, RED)):
        for style, (good, bad), judged in (("-", sides, sides), (":", (pos, neg), new)):
            lam, _ = pnorm.minimize(good, bad, p=p)
            false, true = pnorm.metrics.roc_counts(*(side @ lam for side in judged))
            label = f"p = {p}" + (", clouds, new rows" if style == ":" else "")
            made.plot(false / false[-1], true / true[-1], color=colour, lw=1.5, ls=style, label=label)
    made.set(xlabel="false positive rate", ylabel="true positive rate", title="their ROC curves")
    made.legend(fontsize=9, loc="upper center", bbox_to_anchor=(0.55, 0.97))


def readable():
    """Scores that a person can read: shapes of the first split, and the numbers beside them as files for the page."""
    for name in _readable.SPLITS:
        found = _readable.measured(name)
        (ROOT / "doc" / "_outputs" / f"readable_{name}.inc").write_text(_readable.rst(found), encoding="utf-8")
        data, X = _readable.rows_of(name)
        smooth, monotone, steps, three = (fits[0] for fits in found.values())
        ranges = dict(zip(data.names, np.nanquantile(X, (0.005, 0.995), axis=0).T.tolist(), strict=True))
        mpl.rcParams["path.simplify_threshold"] = 0.3  # of a point: curves of 255 jumps would make large files
        draw_shapes(f"{name}-smooth", smooth, order_of(smooth)[:8], X, ranges)
        draw_shapes(f"{name}-monotone", monotone, list(_readable.MONOTONE[name]), X, ranges, smooth)
        draw_shapes(f"{name}-steps", steps, order_of(steps)[:8], X, ranges, smooth)
        draw_shapes(f"{name}-three", three, order_of(three), X, ranges, smooth)
    points = list_table(_readable.points(steps), ":class: dense")  # of Pima, the last
    (ROOT / "doc" / "_outputs" / "readable_points.inc").write_text(points, encoding="utf-8")


def order_of(fit):
    """The columns of a score, those that move it the most first."""
    return [ax.get_xlabel() for ax in shapes_of(fit, None)]


def shapes_of(fit, columns, ax=None):
    """The shapes of a score, on axes that are given or left to be closed."""
    axes = pnorm.plotting.shapes(fit.lam, fit.rankers, columns, top=100, ax=ax)
    if ax is None:
        plt.close(axes[0].figure)
    return axes


def draw_shapes(file, fit, columns, X, ranges, behind=None):
    """Shapes of some columns, over what nearly all rows have; in grey those of another score, below the deciles."""
    across = min(len(columns), 4)
    down = -(-len(columns) // across)
    figure, axes = plt.subplots(down, across, figsize=(10, 0.3 + 2.1 * down), sharey=True, squeeze=False)
    for ax, column in zip(axes.flat, columns, strict=False):
        for score, colour in ((behind, "0.6"), (fit, BLUE)):
            if score is not None and column in order_of(score):
                draw_shape(ax, score, column, ranges[column], colour)
        deciles = np.nanquantile(X[:, list(ranges).index(column)], np.arange(0.1, 0.95, 0.1))
        ax.plot(deciles, np.full(9, 0.02), "|", color="black", ms=5, mew=0.7, transform=ax.get_xaxis_transform())
        ax.set(xlabel=column, ylabel="part of the score" if ax in axes[:, 0] else "")
    ends = [ax.dataLim.intervaly for ax in axes.flat[: len(columns)]]
    room = 0.05 * np.ptp(ends)
    axes[0, 0].set_ylim(np.min(ends) - 2 * room, np.max(ends) + room)  # deciles stand below the curves
    for ax in axes.flat[len(columns) :]:
        ax.set_axis_off()
    save(figure, file)


def draw_shape(ax, fit, column, limits, colour):
    """The shape of one column from one end to the other, with the level of missing values on the left."""
    known = len(ax.lines)
    shapes_of(fit, column, ax)
    curve, *dots, zero = ax.lines[known:]
    low, high = limits
    x, y = curve.get_data()
    curve.set_data(np.r_[min(low, x[0]), x, max(high, x[-1])], np.r_[y[0], y, y[-1]])
    curve.set(color=colour, lw=1.6 if colour == BLUE else 1.1)
    zero.set(color="0.85", zorder=0)
    room = 0.03 * (high - low)
    for dot, label in zip(dots, ax.texts[-len(dots) :] if dots else (), strict=True):
        low -= 4 * room
        dot.set(xdata=[low], color=ORANGE if colour == BLUE else colour)
        label.remove()
        if colour == BLUE:
            at, where = (low, dot.get_ydata()[0]), {"textcoords": "offset points", "fontsize": 8}
            ax.annotate("missing", at, (-3, 6), color="0.3", **where)
    ax.set_xlim(low - room, high + room)


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
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 2.3), width_ratios=(3, 1))
    pnorm.plotting.ranked_list(found, top=60, ax=left)
    pnorm.plotting.weights(lam, H, X, top=5, ax=right)
    right.set_title("p = 64", fontsize="medium")
    save(figure, "lists")


def guarantees():
    """Figure 1 of Agarwal et al., redrawn, and the negatives that Theorem 2 of the P-Norm Push asks for."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.9))
    rows = np.unique(np.geomspace(200, 10**6, 400).astype(int))
    for share, label, colour in ((0.5, "1/2", BLUE), (0.1, "1/10", ORANGE), (0.01, "1/100", GREEN)):
        ours, freund = bounds.auc_bounds(rows[rows * share >= 2], share)
        left.loglog(rows[rows * share >= 2], ours, color=colour, lw=1.5, label=f"$m/M$ = {label}")
        left.loglog(rows[rows * share >= 2], freund, color=colour, lw=1.2, ls="--")
    left.axhspan(1.0, 20.0, color=GREY, alpha=0.15, lw=0)
    left.text(1.2e5, 3.5, "says nothing", color="black", fontsize=9)
    left.set(xlabel="rows $M$", ylabel="width of the bound on the AUC", ylim=(0.01, 8), xlim=(200, 10**6))
    left.set_title("lines: Agarwal et al.; dashed: Freund et al.")
    left.legend(fontsize=9, loc="lower left")
    powers = np.array([1, 2, 4, 8, 16, 64])
    for epsilon, colour in ((0.5, BLUE), (0.2, ORANGE), (0.1, GREEN)):
        sizes = [
            bounds.push_sample_size(0.05, epsilon, 0.1, p, lambda r: bounds.log_covering_linear(8, 1.0, r))
            for p in powers
        ]
        right.loglog(powers, sizes, color=colour, marker="o", ms=4, lw=1.5, label=f"excess {epsilon:g}")
    right.set_xscale("log", base=2)
    right.set_xticks(powers, [str(p) for p in powers])
    right.set(xlabel="p", ylabel="negatives asked for")
    right.set_title("P-Norm Push, 8 weak rankers, margin 0.1")
    right.legend(fontsize=9)
    save(figure, "guarantees")


def probabilities():
    """Reliability diagrams of MAGIC and Spambase: held-out rows of five splits, in ten bins."""
    figure, axes = plt.subplots(2, 3, figsize=(10, 6.4), sharex=True, sharey=True)
    rivals = calibration.methods()
    for row, name in zip(axes, ("magic", "spambase"), strict=True):
        data = getattr(pnorm.datasets, name)()
        parts = list(calibration.splits(data, calibration.SPLITS[name]))
        y = np.concatenate([data.y[test] for _, test in parts])
        for ax, kind in zip(row, ("minimize", "train", "train, isotonic"), strict=True):
            push, _, how = kind.partition(", ")
            shown = {f"p = {p}": f"{push}, p = {p}{how and ', ' + how}" for p in calibration.POWERS}
            shown |= {"logistic regression": calibration.LOGISTIC} if kind == "minimize" else {}
            ax.plot([0, 1], [0, 1], color=GREY, lw=0.8)
            for (label, method), colour in zip(shown.items(), (GREEN, BLUE, RED, GREY), strict=False):
                P = [calibration.probabilities(rivals[method], data, *part) for part in parts]
                ax.plot(*calibration.reliability(np.concatenate(P), y).T, "o-", ms=4, lw=1.4, color=colour, label=label)
            ax.set_title(f"{name}: {kind}")
            ax.legend(fontsize=9, loc="upper left")
    for ax in axes[:, 0]:
        ax.set_ylabel("share of positives")
    for ax in axes[1]:
        ax.set_xlabel("mean probability")
    save(figure, "probabilities")


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
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), width_ratios=(1, 1.25))
    at = np.linspace(-2.4, 2.4, 121)
    grid = np.column_stack([x.ravel() for x in np.meshgrid(at, at)])
    f = model.score(grid).reshape(121, 121)
    left.contourf(at, at, f, levels=12, cmap="Greys", alpha=0.5)
    left.scatter(*neg.T, s=12, color=ORANGE, label="bad")
    left.scatter(*pos.T, s=12, color=BLUE, marker="^", label="good")
    left.set(aspect="equal", xticks=[], yticks=[])
    left.set_title("400 rows, and the function (darker: higher)")
    left.legend(fontsize=9, loc="upper right", frameon=True)
    for scores, name, colour in (
        ([model.score(side) for side in new], "kernel", BLUE),
        ([side @ lam for side in new], "linear", GREY),
    ):
        roc = pnorm.metrics.roc_counts(*scores)
        auc = pnorm.metrics.auc(*scores)
        right.plot(*roc, color=colour, lw=1.5, label=f"{name}, AUC {auc:.3f}")
    right.set(xlabel="bad rows above", ylabel="good rows above")
    right.set_title("4000 new rows")
    right.legend(fontsize=9, loc="lower right")
    save(figure, "ring")


def descent():
    """Distances of descent from what it approaches, beside Proposition 3.8, with the rows as all there is."""
    pos, neg = disc_in_ring(60, 2)
    gamma = 0.5
    rows = np.concatenate([pos, neg])
    G = np.exp(-gamma * ((rows[:, None] - rows) ** 2).sum(axis=2))
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2))
    cases = ("logistic", 0.5, (0.0, 0.25, 0.5), (1e-13, 1e4)), ("hinge", 0.05, (0.25, 0.5, 0.75), (1e-6, 1e4))
    times = np.unique(np.geomspace(2, 30_000, 150).astype(int))
    for axis, (loss, lam, thetas, limits) in zip(axes, cases, strict=True):
        smoothing = 1e-8 if loss == "hinge" else 0.0  # away from the hinge's own minimiser by 3e-4 at most
        best, trace = kernel.minimize(pos, neg, loss=loss, smoothing=smoothing, lam=lam, gamma=gamma)
        assert trace.distances[-1] ** 2 < 1e-7
        norm, eta = trace.norm[-1], bounds.step_condition(loss, lam, 1.0)
        for theta, colour in zip(thetas, (GREEN, BLUE, ORANGE), strict=True):
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
            axis.loglog(times, squares, color=colour, lw=1.6, label=f"θ = {theta:g}")
            axis.loglog(times, bound, color=colour, lw=1.1, ls="--")
            still = norm**2 * np.exp(-eta * lam / (1 - theta) * (times ** (1 - theta) - 1))
            axis.loglog(times, still, color=colour, lw=1.1, ls=":")
        axis.set(xlabel="t", ylim=limits, xlim=(2, 30_000), title=f"{loss} loss, λ = {lam:g}")
        axis.legend(fontsize=9, loc="lower left" if loss == "hinge" else "center right")
    axes[0].set_ylabel("squared distance from the minimiser")
    save(figure, "descent")


if __name__ == "__main__":
    drawn = [
        hulls_and_objectives,
        gaps,
        shares_of_kinds,
        gained_by_prices,
        lists,
        readable,
        experiments,
        uneven,
        curves,
        guarantees,
        probabilities,
        ring,
        descent,
    ]
    with plt.style.context(ROOT / "doc" / "pnorm.mplstyle"):
        for draw in drawn:
            if len(sys.argv) == 1 or draw.__name__ in sys.argv[1:]:
                draw()
