"""The precision at the top of `PNormPush()` and of logistic regression on rows that are drawn from straight lines.

    OMP_NUM_THREADS=1 python benchmarks/straight.py [--draws 10]     # 20 minutes on one core; needs scikit-learn

Rows have six independent normal columns x0, ..., x5, and P(y = 1) = 1 / (1 + exp(-t)). For each truth t, five lists are
learned from the same rows: the estimator by default, the estimator with straight lines only, logistic regression on the
columns, scikit-learn's boosted trees, and logistic curves as the command makes them. They are judged by 50,000 new rows
of which the probabilities are known: the mean probability of the first 500, which is the precision to expect there.
"best" is the largest mean that any list can have.

± is the standard error of the mean difference over draws, paired by draw. "chosen" counts the draws by the p and the
kind of weak rankers that cross-validation chose.
"""

from collections import Counter

import numpy as np
from command_line import parser_of
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pnorm._job.baselines import CURVES, baselines
from pnorm.sklearn import PNormPush

COLUMNS, NEW, FIRST = 6, 50_000, 500
SIZES = 3000, 20_000

TRUTHS = {
    "straight lines": lambda x: x[:, 0] + 0.7 * x[:, 1] - 0.5 * x[:, 2] - 2.0,
    "a curve": lambda x: x[:, 0] ** 2 + 0.7 * x[:, 1] - 2.5,
    "an interaction": lambda x: 1.5 * x[:, 0] * x[:, 1] + x[:, 2] - 2.0,
}

OWN, LINES = "PNormPush()", 'PNormPush(rankers="columns")'
METHODS = {
    OWN: PNormPush,
    LINES: lambda: PNormPush(rankers="columns"),
    "logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "boosted trees": lambda: HistGradientBoostingClassifier(random_state=0),
}


def draw(truth, n, rng):
    """Columns, and the probabilities of their rows."""
    X = rng.normal(size=(n, COLUMNS))
    return X, expit(truth(X))


def first(f, chance):
    """The mean probability of the first rows of a list."""
    return chance[np.argsort(-f, kind="stable")[:FIRST]].mean()


def judged(truth, n, seed):
    """The precision to expect of each list, and what the default chose."""
    rng = np.random.default_rng(seed)
    (X, chance), (new, of_new) = draw(truth, n, rng), draw(truth, NEW, rng)
    y = rng.random(n) < chance
    models = {name: method().fit(X, y) for name, method in METHODS.items()}
    lists = {name: model.decision_function(new) for name, model in models.items()}
    (curves,) = [of for of in baselines(X[y], X[~y], models[OWN].rankers_) if of.name == CURVES]
    found = {name: first(f, of_new) for name, f in (lists | {CURVES: curves.score(new)}).items()}
    chosen = f"{models[OWN].kind_}, p = {models[OWN].p_:g}"
    return found | {"best": first(truth(new), of_new)}, chosen


def main(argv=None):
    """Print a block for each truth and size."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--draws", type=int, default=10)
    draws = parser.parse_args(argv).draws
    for title, truth in TRUTHS.items():
        for n in SIZES:
            runs = [judged(truth, n, seed) for seed in range(draws)]
            own = np.array([found[OWN] for found, _ in runs])
            print(f"{title}, {n:,} rows")
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
