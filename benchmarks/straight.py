"""The precision at the top of `PNormPush()` and of logistic regression on rows that are drawn from straight lines.

    OMP_NUM_THREADS=1 python benchmarks/straight.py [--draws 10]     # 30 minutes on one core; needs scikit-learn

Rows have six independent columns x0, ..., x5, and P(y = 1) = 1 / (1 + exp(-t)). The columns are normal. Heavy tails
are exponentials of normal numbers, and whole numbers are Poisson counts with mean 3. For each truth t, six lists are
learned from the same rows: the estimator by default, the estimator with straight lines only, the estimator with the
columns themselves, logistic regression on the columns, scikit-learn's boosted trees, and logistic curves as the command
makes them. They are judged by 50,000 new rows of which the probabilities are known: the mean probability of the first
500, which is the precision to expect there. Lists from 200,000 rows are judged by the first 100 of 200,000 new ones.
"best" is the largest mean that any list can have.

± is the standard error of the mean difference over draws, paired by draw. "lines chosen" counts the draws in which
cross-validation chose straight lines.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from command_line import parser_of
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pnorm._job.baselines import CURVES, baselines
from pnorm.sklearn import PNormPush

COLUMNS = 6


def normal(rng, n):
    return rng.normal(size=(n, COLUMNS))


def heavy(rng, n):
    return np.exp(normal(rng, n))


def counts(rng, n):
    return rng.poisson(3.0, size=(n, COLUMNS)).astype(float)


class Case(NamedTuple):
    """Rows to draw, and which of the new ones are looked at."""

    title: tuple[str, str]
    draw: Callable
    truth: Callable
    sizes: tuple[int, ...] = (3000, 20_000)
    new: int = 50_000
    first: int = 500


def lines(x):
    return x[:, 0] + 0.7 * x[:, 1] - 0.5 * x[:, 2] - 2.0


def curve(x):
    return x[:, 0] ** 2 + 0.7 * x[:, 1] - 2.5


def product(x):
    return 1.5 * x[:, 0] * x[:, 1] + x[:, 2] - 2.0


MANY = {"sizes": (200_000,), "new": 200_000, "first": 100}

BLOCKS = {
    "The truth is straight lines": (
        Case(("", "normal"), normal, lines),
        Case(("heavy", "tails"), heavy, lambda x: 0.25 * lines(x) - 2.5),
        Case(("whole", "numbers"), counts, lambda x: 0.5 * lines(x) - 2.0),
        Case(("", "normal"), normal, lambda x: lines(x) - 4.5, **MANY),
        Case(("heavy", "tails"), heavy, lambda x: 0.1 * lines(x) - 5.0, **MANY),
    ),
    "The truth is a curve or an interaction": (
        Case(("a", "curve"), normal, curve),
        Case(("inter-", "action"), normal, product),
    ),
}

OWN, LOGISTIC = "PNormPush()", "logistic regression"
METHODS = {
    OWN: PNormPush,
    'PNormPush(linear="only")': lambda: PNormPush(linear="only"),
    'PNormPush(rankers="columns")': lambda: PNormPush(rankers="columns"),
    LOGISTIC: lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "boosted trees": lambda: HistGradientBoostingClassifier(random_state=0),
}


def first(f, chance, n):
    """The mean probability of the first n rows of a list."""
    return chance[np.argsort(-f, kind="stable")[:n]].mean()


def judged(case, n, seed):
    """The precision to expect of each list, and what the default chose."""
    rng = np.random.default_rng(seed)
    X, new = case.draw(rng, n), case.draw(rng, case.new)
    chance, of_new = expit(case.truth(X)), expit(case.truth(new))
    y = rng.random(n) < chance
    models = {name: method().fit(X, y) for name, method in METHODS.items()}
    lists = {name: model.decision_function(new) for name, model in models.items()}
    (curves,) = [of for of in baselines(X[y], X[~y], models[OWN].rankers_) if of.name == CURVES]
    lists |= {CURVES: curves.score(new), "best": case.truth(new)}
    return {name: first(f, of_new, case.first) for name, f in lists.items()}, models[OWN].kind_ == "lines"


def show(block, cases, of):
    """Print a table of one column for each case and size; `of` returns the lists of all draws."""
    columns = [(case, n) for case in cases for n in case.sizes]
    print(block)
    rows = [("", [of_title[k] for (of_title, *_), _ in columns]) for k in range(2)]
    rows.append(("rows to learn from", [f"{n:,}" for _, n in columns]))
    rows.append(("rows looked at", [f"{case.first}" for case, _ in columns]))
    every = [of(case, n) for case, n in columns]
    for name in every[0][0][0]:
        rows.append((name, [f"{np.mean([found[name] for found, _ in runs]):.3f}" for runs in every]))
    less = [np.array([found[OWN] - found[LOGISTIC] for found, _ in runs]) for runs in every]
    rows.append((f"less {LOGISTIC}", [f"{x.mean():+.3f}" for x in less]))
    rows.append(("  ±", [f"{x.std(ddof=1) / np.sqrt(x.size):.3f}" for x in less]))
    rows.append(("lines chosen", [f"{sum(chosen for _, chosen in runs)}/{len(runs)}" for runs in every]))
    for name, values in rows:
        print(f"  {name:30}{''.join([f'{value:>8}' for value in values])}".rstrip(), flush=True)


def main(argv=None):
    """Print both tables."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--draws", type=int, default=10)
    draws = parser.parse_args(argv).draws
    for k, (block, cases) in enumerate(BLOCKS.items()):
        print(end="\n" * bool(k))
        show(block, cases, lambda case, n: [judged(case, n, seed) for seed in range(draws)])


if __name__ == "__main__":
    main()
