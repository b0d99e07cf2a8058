"""Fit additive scores of four kinds, and measure what simpler ones lose: the page "A score that a person can read".

    PNORM_DATA=... OMP_NUM_THREADS=1 python benchmarks/readable.py       # some minutes; --splits 2 for a look

`doc/pictures.py readable` does the same, draws the scores of the first split, and writes the numbers beside them.

Four kinds of additive scores on MAGIC and Pima, all with p = 4: smooth shapes, smooth shapes of which some columns must
not fall or rise, few steps, and smooth shapes of three columns. Each gets the penalty with the largest average
precision in 5-fold cross-validation; steps get the strongest one within one standard error of that, which makes them
few. Random splits, two thirds to train on and one third to judge by, the same for all kinds. In Pima a glucose, blood
pressure, skin fold, insulin or body mass of zero is missing.
"""

import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import pnorm
from pnorm import metrics

sys.path.insert(0, str(Path(__file__).parent))
from command_line import data_folder, parser_of
from public_sets import corrected_error, splits
from tables import list_table

P = 4
PENALTIES = {"l2": P * 10.0 ** np.arange(0.5, -4.1, -0.5), "l1": P * 10.0 ** np.arange(-0.4, -3.1, -0.2)}
LEAST = 1e-5 * P
"""l2 beside l1, so that there is a minimiser."""
SPLITS = {"magic": 10, "pima": 20}
MONOTONE = {
    "magic": {"fAlpha": -1, "fLength": -1, "fConc": -1},
    "pima": {"glucose": 1, "body mass": 1, "pedigree": 1, "age": 1},
}
"""Gamma rays come from the source, to which fAlpha is the angle; and what a physician would expect of diabetes."""
ZERO_IS_MISSING = ("glucose", "blood pressure", "skin fold", "insulin", "body mass")


@dataclass(frozen=True)
class Kind:
    """How one kind of scores is fitted."""

    along: str = "l2"
    """The penalty that is chosen."""
    cuts: dict[str, Any] = field(default_factory=dict)
    """Arguments of `quantile_thresholds`."""
    least: dict[str, Any] = field(default_factory=dict)
    """Arguments of `minimize`."""
    rule: str = "best"
    """Which of the penalties: "best" or "simplest"."""


def kinds(name):
    """The kinds of scores of a set."""
    return {
        "smooth": Kind(cuts={"linear": True}),
        "monotone": Kind(cuts={"linear": True, "monotone": MONOTONE[name]}),
        "steps": Kind("l1", least={"l2": LEAST}, rule="simplest"),
        "three columns": Kind(cuts={"linear": True}, least={"max_columns": 3}),
    }


@dataclass(frozen=True)
class Fitted:
    """A score, and what is known of it."""

    rankers: Any
    lam: Any
    along: str
    penalty: float
    held: dict[str, float]
    """Measures of rows that were not trained on, by name."""
    columns: int
    jumps: int
    """Cuts with a coefficient."""


def rows_of(name):
    """A set of `pnorm.datasets`, with NaN where a value is missing."""
    data = getattr(pnorm.datasets, name)()
    X = data.X.astype(float)
    if name == "pima":
        never_zero = np.isin(data.names, ZERO_IS_MISSING)
        X[:, never_zero] = np.where(X[:, never_zero] == 0.0, np.nan, X[:, never_zero])
    return data, X


def fitted(kind, data, X, train, test):
    """One kind of score, with its penalty chosen, and judged by other rows."""
    pos, neg = (X[train][data.y[train] == label] for label in (1, 0))
    cuts = partial(pnorm.rankers.quantile_thresholds, names=data.names, missing="own", **kind.cuts)
    how = kind.least | {"penalty": "shapes"}
    tried = {kind.along: PENALTIES[kind.along]}
    found = pnorm.cross_validate(pos, neg, cuts, P, metric="average_precision", tol=1e-3, **how, **tried)
    chosen = getattr(getattr(found, kind.rule), kind.along)
    H = cuts(pos, neg)
    lam, trace = pnorm.minimize(pos, neg, H, P, tol=1e-6, **how, **{kind.along: chosen})
    assert trace.status == "converged", trace
    f = pnorm.score(X[test], H, lam)
    f_pos, f_neg = (f[data.y[test] == label] for label in (1, 0))
    held = {
        "pAUC 1 %": metrics.partial_auc(f_pos, f_neg, 0.01, standardized=True),
        "AP": metrics.average_precision(f_pos, f_neg),
    }
    is_cut = np.array([" > " in name for name in H.names])
    jumps = np.count_nonzero(lam[is_cut])
    return Fitted(H, lam, kind.along, chosen, held, len(set(H.column[lam != 0.0])), jumps)


def measured(name, n=None):
    """Every kind of score on every split, by kind."""
    data, X = rows_of(name)
    of = {label: [] for label in kinds(name)}
    for train, test in splits(data, n or SPLITS[name]):
        for label, kind in kinds(name).items():
            of[label].append(fitted(kind, data, X, train, test))
    return of


def table(of):
    """Means over splits, with the difference to the first kind and its standard error."""
    lines = [["score", "columns", "jumps", "penalty / p", "pAUC 1 %", "AP"]]
    base = next(iter(of.values()))
    for label, fits in of.items():
        middle = [np.median([getattr(fit, what) for fit in fits]) for what in ("columns", "jumps", "penalty")]
        cells = [f"{middle[0]:.0f}", f"{middle[1]:,.0f}", f"{fits[0].along} {middle[2] / P:.2g}"]
        for measure in fits[0].held:
            values, of_base = (np.array([fit.held[measure] for fit in which]) for which in (fits, base))
            d = values - of_base
            more = "" if fits is base else f" ({d.mean():+.3f} \u00b1 {corrected_error(d):.3f})"
            cells.append(f"{values.mean():.3f}{more}")
        lines.append([label, *cells])
    return lines


def points(fit, total=100):
    """The steps of a score as whole points; the highest score there could be has about `total`."""
    of_column = [fit.lam[fit.rankers.column == column] for column in set(fit.rankers.column)]
    highest = sum(max(0.0, np.cumsum(lam).max()) for lam in of_column)
    used = np.flatnonzero(fit.lam)
    return [["if", "points"]] + [[fit.rankers.names[j], f"{total * fit.lam[j] / highest:+.0f}"] for j in used]


def rst(of):
    """The table of a set, for the page."""
    return list_table(table(of), ":class: dense").replace(" \u00b1 ", "\u00a0\u00b1\u00a0")


if __name__ == "__main__":
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--splits", type=int, help="how many, for every set")
    arguments = parser.parse_args()
    data_folder()
    from reproduce import print_columns

    for name in SPLITS:
        found = measured(name, arguments.splits)
        print(f"\n{name}; {len(found['smooth'])} splits")
        print_columns(table(found))
