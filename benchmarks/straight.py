"""The precision at the top of `PNormPush()` and of logistic regression on rows that are drawn from straight lines.

    OMP_NUM_THREADS=1 python benchmarks/straight.py [--draws 10]     # 30 minutes on one core; needs scikit-learn

Rows have six independent columns x0, ..., x5, and P(y = 1) = 1 / (1 + exp(-t)). The columns are normal. Heavy tails
are exponentials of normal numbers, and whole numbers are Poisson counts with mean 3. For each truth t, six lists are
learned from the same rows: the estimator by default, the estimator with straight lines only, the estimator with the
columns themselves, logistic regression on the columns, scikit-learn's boosted trees, and logistic curves as the command
makes them. They are judged by 50,000 new rows of which the probabilities are known: the mean probability of the first
500, which is the precision to expect there. "the first 100" judges by those of 200,000 new rows. "best" is the largest
mean that any list can have.

± is the standard error of the mean difference over draws, paired by draw. "chosen" counts the draws by the p and the
kind of weak rankers that cross-validation chose.
"""

from collections import Counter
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

    draw: Callable
    truth: Callable
    sizes: tuple[int, ...] = (3000, 20_000)
    new: int = 50_000
    first: int = 500


def lines(x):
    return x[:, 0] + 0.7 * x[:, 1] - 0.5 * x[:, 2] - 2.0


MANY = {"sizes": (200_000,), "new": 200_000, "first": 100}

CASES = {
    "straight lines": Case(normal, lines),
    "straight lines, heavy tails": Case(heavy, lambda x: 0.25 * lines(x) - 2.5),
    "straight lines, whole numbers": Case(counts, lambda x: 0.5 * lines(x) - 2.0),
    "straight lines, the first 100": Case(normal, lambda x: lines(x) - 4.5, **MANY),
    "straight lines, heavy tails, the first 100": Case(heavy, lambda x: 0.1 * lines(x) - 5.0, **MANY),
    "a curve": Case(normal, lambda x: x[:, 0] ** 2 + 0.7 * x[:, 1] - 2.5),
    "an interaction": Case(normal, lambda x: 1.5 * x[:, 0] * x[:, 1] + x[:, 2] - 2.0),
}

OWN = "PNormPush()"
METHODS = {
    OWN: PNormPush,
    'PNormPush(linear="only")': lambda: PNormPush(linear="only"),
    'PNormPush(rankers="columns")': lambda: PNormPush(rankers="columns"),
    "logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
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
    chosen = f"{models[OWN].kind_}, p = {models[OWN].p_:g}"
    return {name: first(f, of_new, case.first) for name, f in lists.items()}, chosen


def main(argv=None):
    """Print a block for each truth and size."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--draws", type=int, default=10)
    draws = parser.parse_args(argv).draws
    for title, case in CASES.items():
        for n in case.sizes:
            runs = [judged(case, n, seed) for seed in range(draws)]
            own = np.array([found[OWN] for found, _ in runs])
            print(f"{title}, {n:,} rows to learn from")
            print(f"  {'':30}{'precision':>9}   {OWN} has more")
            for name in (*METHODS, CURVES, "best"):
                of = np.array([found[name] for found, _ in runs])
                less = own - of
                more = f"   {less.mean():+.3f} ± {less.std(ddof=1) / np.sqrt(draws):.3f}" if name != OWN else ""
                print(f"  {name:30}{of.mean():9.3f}{more}")
            counts = Counter(chosen for _, chosen in runs).most_common()
            print(f"  chosen: {'; '.join([f'{what} ({k})' for what, k in counts])}", flush=True)


if __name__ == "__main__":
    main()
