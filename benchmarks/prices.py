"""Prices on real lists: the numbers and curves of the page "Prices and losses"; needs PNORM_DATA.

    PNORM_DATA=... python benchmarks/prices.py prices
    PNORM_DATA=... python benchmarks/prices.py losses

PNORM_DATA is a folder with pima-indians-diabetes.csv, wdbc.data, magic04.data and spambase.data.
prices: train on random splits with the logistic loss and seven prices, 200 rounds as in the papers: the
   top of the list, the whole of it, and the price that was paid.
losses: the same with five losses and the price r ** 4.
"""

from concurrent.futures import ProcessPoolExecutor

import numpy as np
from command_line import data_folder, parser_of

import pnorm
from pnorm.objectives import Exponential, Linear, Power, Price

SPLITS = 60
FALSE_POSITIVE_RATES = np.geomspace(0.002, 1.0, 60)


def data():
    """Columns, labels and the number of training rows of each set."""
    sets = pnorm.datasets
    pima, wdbc, magic, spam = sets.pima(), sets.wdbc(), sets.magic(), sets.spambase()
    cells = np.concatenate([wdbc.pos, wdbc.neg])[:, :6]
    return {
        "Pima": (pima.X, pima.y == 1, 300),
        "WDBC": (cells, np.arange(569) < len(wdbc.pos), 369),
        "MAGIC": (magic.X, magic.y == 1, 2000),
        "Spambase": (np.log1p(spam.X), spam.y == 1, 1500),
    }


def prices(n_pos):
    """Prices by name; a height of all positives is n_pos."""
    at, high = n_pos / 20, n_pos / 3
    return {
        "r": Linear(),
        "r^4": Power(4),
        "r^16": Power(16),
        "exp(10 r/I)": Exponential(10 / n_pos),
        "max(0, r - I/20)^2": Price(lambda r: np.maximum(r - at, 0) ** 2, lambda r: 2 * np.maximum(r - at, 0)),
        "(r - I/20)^2": Price(lambda r: (r - at) ** 2, lambda r: 2 * (r - at)),
        "(r - I/3)^2": Price(lambda r: (r - high) ** 2, lambda r: 2 * (r - high)),
    }


LOSSES = ("exponential", "logistic", "hinge", "squared_hinge", "squared")


def judged(f, y):
    """Positives above the first negative, precision in the first 5 %, AUC, and true positive rates."""
    pos, neg = f[y], f[~y]
    first = np.argsort(-f, kind="stable")[: max(1, len(f) // 20)]
    cuts = np.quantile(neg, 1.0 - FALSE_POSITIVE_RATES, method="higher")
    rates = (pos[:, None] > cuts).mean(axis=0)
    return np.r_[pnorm.metrics.positives_at_top(pos, neg), y[first].mean(), pnorm.metrics.auc(pos, neg), rates]


def split(job):
    """One random split of one set: what each price, or loss, does in training and testing."""
    name, seed, what = job
    X, y, size = data()[name]
    rows = np.random.default_rng(seed).permutation(len(X))
    train, test = rows[:size], rows[size:]
    pos, neg = X[train][y[train]], X[train][~y[train]]
    H = pnorm.rankers.normalized(pos, neg)
    choices = {loss: {"loss": loss, "price": Power(4)} for loss in LOSSES}
    if what == "prices":
        choices = {label: {"loss": "logistic", "price": price} for label, price in prices(len(pos)).items()}
    found = {}
    for label, chosen in choices.items():
        lam, trace = pnorm.train(pos, neg, H, t_max=200, n_threads=1, **chosen)
        f = pnorm.score(X, H, lam)
        found[label] = np.stack([judged(f[part], y[part]) for part in (train, test)]), trace.status
    return found


def experiment(name, what="prices", splits=SPLITS):
    """All splits of one set: by label, numbers (split, train or test, number) and how the runs ended."""
    with ProcessPoolExecutor(2) as pool:
        found = list(pool.map(split, [(name, seed, what) for seed in range(splits)]))
    return {label: (np.stack([run[label][0] for run in found]), [run[label][1] for run in found]) for label in found[0]}


def table(name, what):
    """Means over splits, and differences from the first row in standard errors."""
    found = experiment(name, what)
    print(f"{name:20} {'train':>8}{'':22}{'test':>8}")
    print(f"{'':20} {'at top':>8} {'first 5%':>9} {'AUC':>7}    {'at top':>8} {'first 5%':>9} {'AUC':>7}   ends")
    base = next(iter(found.values()))[0]
    for label, (numbers, ends) in found.items():
        mean, apart = numbers.mean(axis=0), numbers - base
        error = apart.std(axis=0, ddof=1) / len(apart) ** 0.5
        marks = np.where(apart.mean(axis=0) > 2 * error, "+", np.where(apart.mean(axis=0) < -2 * error, "-", " "))
        digits = (8, 1), (8, 3), (6, 4)
        cells = [
            " ".join(f"{mean[part, k]:{w}.{d}f}{marks[part, k]}" for k, (w, d) in enumerate(digits)) for part in (0, 1)
        ]
        counts = ", ".join(f"{status} {ends.count(status)}" for status in sorted(set(ends)))
        print(f"{label:20} {'  '.join(cells)}   {counts}")
    print(flush=True)


if __name__ == "__main__":
    parser = parser_of(__file__, __doc__)
    parser.add_argument("table", nargs="*", choices=["prices", "losses", []], metavar="{prices,losses}")  # [] if none
    asked = parser.parse_args()
    data_folder()
    for what in asked.table or ("prices", "losses"):
        for name in data():
            table(name, what)
