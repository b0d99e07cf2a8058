"""Measure how much p changes an ROC curve: the numbers of the page "When p changes the whole curve"; needs PNORM_DATA.

    PNORM_DATA=... python benchmarks/curves.py           # some minutes on one core

`doc/pictures.py curves` measures the same, draws it, and writes doc/_outputs/curves.inc. The area is that between
the ROC curves of the minimisers of F_1 and F_64. Where one of them is not finite there is none.

1. The 110 rows of the page, their minimisers and the formula; clouds around these points, judged by new rows.
2. The dense sets of `pnorm.datasets`, with either class on top. Weak rankers are the columns; for sets of at most 13
   columns, also the columns with their squares and products. 20 random splits of each class in 2:1.
3. A search for columns with a large area, on a random half of the rows, 2000 at most: all pairs of columns, and twice
   the five best with one column more. The best is judged by 20 splits of the other half.
4. WDBC with four columns, all rows: the benign tumour that decides, and the curve without it.
"""

import itertools
import sys
from pathlib import Path

import numpy as np
from scipy.special import softmax

import pnorm
from pnorm import metrics

sys.path.insert(0, str(Path(__file__).parent))
from command_line import data_folder, parser_of
from tables import list_table
from uneven import halves

POWERS = (1, 64)
CLASSES = {
    "pima": ("diabetes", "no diabetes"),
    "housing": ("river", "no river"),
    "wdbc": ("malignant", "benign"),
    "tic_tac_toe": ("x wins", "x does not"),
    "ionosphere": ("good", "bad"),
    "spambase": ("spam", "mail"),
    "magic": ("gamma", "hadron"),
}
SPLITS = 20

# Two columns: what few and most positives have, nothing, and both with much of the second.
FEW, MOST, NONE, BOTH = np.array([[1, 0], [0, 1], [0, 0], [1, 8]], dtype=float)


def rates(f_pos, f_neg):
    """The true positive rate between one negative and the next: the ROC curve, whose mean is the AUC."""
    roc = metrics.roc_counts(f_pos, f_neg)
    at = np.arange(len(f_neg)) + 0.5
    return np.interp(at, roc.false_positives, roc.true_positives) / len(f_pos)


def apart(curves):
    """The area between the first curve and the last."""
    return float(np.abs(curves[-1] - curves[0]).mean())


# Constructed --------------------------------------------------------------------------------------------


def points():
    """The rows of the page."""
    return np.repeat([FEW, MOST], [2, 8], axis=0), np.repeat([NONE, BOTH], [99, 1], axis=0)


def coefficients(p):
    """Their minimiser by the formula of the page."""
    a, b = np.log(2), np.log(99 / 8) / p
    return np.array([b + 8 * a, b - a]) / 9


def clouds(seed, size):
    """Rows around the points, in the same shares."""
    rng = np.random.default_rng(seed)
    pos = np.repeat([FEW, MOST], [size // 5, size - size // 5], axis=0)
    neg = np.repeat([NONE, BOTH], [size - size // 100, size // 100], axis=0)
    return pos + 0.1 * rng.normal(size=pos.shape), neg + 0.1 * rng.normal(size=neg.shape)


def constructed():
    """Print scores, AUC and positives at the top for several p."""
    print("1. p, coefficients, scores of few, most, none and both; AUC; positives at the top; off the formula by")
    pos, neg = points()
    for p in (1, 2, 3, 4, 8, 16, 64):
        lam, trace = pnorm.minimize(pos, neg, p=p)
        scores = [float(point @ lam) for point in (FEW, MOST, NONE, BOTH)]
        f = pos @ lam, neg @ lam
        print(f"    {p:3} {lam.round(4)} {np.round(scores, 4)}  {metrics.auc(*f):.3f} {metrics.positives_at_top(*f)}  "
              f"{np.abs(lam - coefficients(p)).max():.0e}; gap {trace.gap:.0e}")  # fmt: skip
    (pos, neg), new = clouds(0, 1000), clouds(1, 10_000)
    for p in POWERS:
        lam, _ = pnorm.minimize(pos, neg, p=p)
        print(f"    clouds, p = {p}: AUC {metrics.auc(pos @ lam, neg @ lam):.3f}, on new rows "
              f"{metrics.auc(new[0] @ lam, new[1] @ lam):.3f}")  # fmt: skip


# Public data --------------------------------------------------------------------------------------------


def load(name, on_top):
    """Columns from 0 to 1, which rows are of the class that belongs on top, and names."""
    data = getattr(pnorm.datasets, name)()
    span = np.ptp(data.X, axis=0)
    X = (data.X - data.X.min(axis=0)) / np.where(span > 0, span, 1.0)
    return X, data.y == 1 - CLASSES[name].index(on_top), data.names


def with_products(X):
    """The columns, their squares and their products."""
    pairs = itertools.combinations_with_replacement(range(X.shape[1]), 2)
    return np.column_stack([X, *(X[:, i] * X[:, j] for i, j in pairs)])


def curves(powers, pos, neg, *lists):
    """ROC curves of the minimisers, on each list; None where one of them is not finite."""
    lams = []
    for p in powers:
        lam, trace = pnorm.minimize(pos, neg, p=p)
        if trace.status != "converged":
            return None
        lams.append(lam)
    return [np.array([rates(new_pos @ lam, new_neg @ lam) for lam in lams]) for new_pos, new_neg in lists]


def over_splits(X, on_top, powers=POWERS):
    """ROC curves in training and on held-out rows over splits, (split, p, negative) each; None where there are none."""
    found = []
    for seed in range(SPLITS):
        rng = np.random.default_rng(seed)
        (pos, new_pos), (neg, new_neg) = (halves(X[rows], rng) for rows in (on_top, ~on_top))
        one = curves(powers, pos, neg, (pos, neg), (new_pos, new_neg))
        if one is not None:
            found.append(one)
    return [np.array(part) for part in zip(*found, strict=True)] if found else None


def everywhere():
    """All sets, both classes, columns and products: a list of (set, on top, weak rankers, curves)."""
    found = []
    for name, classes in CLASSES.items():
        for on_top in classes:
            X, y, _ = load(name, on_top)
            found.append((name, on_top, f"{X.shape[1]} columns", over_splits(X, y)))
            if X.shape[1] <= 13:
                more = with_products(X)
                found.append((f"{name}, products", on_top, f"{more.shape[1]} columns", over_splits(more, y)))
    return found


def search(X, on_top, keep=5, most=4):
    """The columns that make the area largest, of all pairs and of what the best of them lead to."""
    pos, neg = X[on_top], X[~on_top]

    def area(columns):
        sides = pos[:, columns], neg[:, columns]
        found = curves(POWERS, *sides, sides)
        return -1.0 if found is None else apart(found[0])

    known = {}
    level = set(itertools.combinations(range(X.shape[1]), 2))
    for _ in range(2, most + 1):
        known |= {columns: area(columns) for columns in level}
        best = sorted(level, key=known.get)[-keep:]
        level = {tuple(sorted({*columns, j})) for columns in best for j in range(X.shape[1]) if j not in columns}
    return max(known, key=known.get)


def searched():
    """The columns found for every set and class, and their curves on rows that the search has not seen."""
    found = []
    for name, classes in CLASSES.items():
        for on_top in classes:
            X, y, names = load(name, on_top)
            rows = np.random.default_rng(0).permutation(len(y))
            half, rest = rows[: len(y) // 2][:2000], rows[len(y) // 2 :]
            columns = search(X[half], y[half])
            judged = over_splits(X[rest][:, columns], y[rest])
            found.append((name, on_top, ", ".join(names[j] for j in columns), judged))
    return found


def table(found):
    """Areas and held-out AUCs with standard deviations over splits; shares of positives above the first negative."""
    lines = [["set", "on top", "splits", "area, training", "held out", "AUC, p = 1", "p = 64"]]
    lines[0] += ["training top, p = 1", "p = 64", "top, p = 1", "p = 64", "weak rankers"]
    for name, on_top, rankers, of in found:
        if of is not None:
            areas = [np.abs(part[:, -1] - part[:, 0]).mean(axis=1) for part in of]
            aucs = of[1][:, [0, -1]].mean(axis=2).T
            cells = [f"{value.mean():.3f} \u00b1 {value.std(ddof=1):.3f}" for value in (*areas, *aucs)]
            cells += [f"{share:.3f}" for part in of for share in part[:, [0, -1], 0].mean(axis=0)]
            lines.append([name, on_top, str(len(of[0])), *cells, rankers])
    return lines


def one_row():
    """WDBC: the row that has most of the weight w at p = 64, and the curves with and without it."""
    names = ["error of radius", "error of area", "worst radius", "worst area"]
    X, y, known = load("wdbc", "malignant")
    X = X[:, [known.index(name) for name in names]]
    pos, neg = X[y], X[~y]
    print("4. WDBC,", ", ".join(names))
    for rows in (neg, np.delete(neg, heaviest(pos, neg)[0], axis=0)):
        (found,) = curves(POWERS, pos, rows, (pos, rows))
        row, weight = heaviest(pos, rows)
        print(f"    {len(rows)} negatives: AUC {found[0].mean():.3f}, {found[1].mean():.3f}; area {apart(found):.3f}; "
              f"one row {rows[row].round(2)} has {weight:.0%}")  # fmt: skip


def heaviest(pos, neg):
    """The negative with the largest weight w at p = 64, and that weight."""
    lam, _ = pnorm.minimize(pos, neg, p=POWERS[-1])
    w = softmax(POWERS[-1] * (neg @ lam))
    return int(w.argmax()), float(w.max())


def tables(found):
    """Both tables, for the page."""
    text = ""
    for title, of in found.items():
        text += f"{title}\n{'~' * len(title)}\n\n" + list_table(table(of), ":class: dense") + "\n"
    return text.replace(" \u00b1 ", "\u00a0\u00b1\u00a0")


def measured():
    """Return the contents of the tables, by title."""
    return {"All columns": everywhere(), "Columns that were searched for": searched()}


if __name__ == "__main__":
    parser_of(__file__, __doc__).parse_args()
    data_folder()
    constructed()
    print(tables(measured()))
    one_row()
