"""Rows that occur more than once in the public sets, and what they change in benchmarks/additive.py.

    PNORM_DATA=... OMP_NUM_THREADS=1 python benchmarks/duplicates.py    # four minutes; needs the group rivals

The first table counts the rows that repeat an earlier row, columns and label, and in the first splits of additive.py
the share of the rows to judge by that are among the rows to train on. The second compares the default with other
methods on these splits of Spambase and MAGIC: partial AUC down to 1 % of the negatives, standardised, and "default less
the method". The scores are the same in both lines of a method. One line judges by all rows, the other by those that are
not among the rows to train on. ± is the standard error over splits, corrected for rows that splits share.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from additive import DEFAULT, RIVALS, held_out, minimiser, rule
from command_line import data_folder, parser_of
from public_sets import READERS, corrected_error, few, measured, splits
from reproduce import print_columns

SETS = ("pima", "housing", "wdbc", "ionosphere", "spambase", "magic", "adult", "bank")
COMPARED = {
    "spambase": ("default", "LightGBM, depth 1", "HistGradientBoosting"),
    "magic": ("default", "logistic, weights", "LightGBM, depth 1", "HistGradientBoosting"),
}
"""The default, the best of the other additive methods, and trees with interactions."""
SPLITS = 3


def numbered(data):
    """Return for each row the number of its contents, columns and label, among all that occur."""
    return np.unique(np.column_stack([data.X, data.y]), axis=0, return_inverse=True)[1].ravel()


def default(data, rows, judged):
    """Return the scores of other rows by the default: what it chooses on folds, fitted to all rows."""
    X, y = data.indicators(), data.y
    point = rule(DEFAULT)(held_out(DEFAULT, X[rows], y[rows]))
    return minimiser(X[rows], y[rows], X[judged], point, grid=DEFAULT)


def counted():
    """Yield a line of the first table for each set."""
    yield ["set", "rows", "repeat an earlier row", "judged by and trained on"]
    for name in SETS:
        data = READERS[name]()
        row = numbered(data)
        shares = [np.isin(row[judged], row[few(rows)]).mean() for rows, judged in splits(data, SPLITS)]
        yield [name, f"{row.size:,}", f"{row.size - np.unique(row).size:,}", f"{100 * np.mean(shares):.1f} %"]


def compared(name):
    """Yield the lines of the second table for a set."""
    data = READERS[name]()
    row, found = numbered(data), {}
    for rows, judged in splits(data, SPLITS):
        rows = few(rows)
        parts = {"all": judged >= 0, "not trained on": ~np.isin(row[judged], row[rows])}
        for method in COMPARED[name]:
            f = default(data, rows, judged) if method == "default" else RIVALS[method](data, rows, judged)
            f = f[0] if isinstance(f, tuple) else f
            for part, which in parts.items():
                value = measured(f[which], data.y[judged][which])["pAUC 1 %"]
                found.setdefault((method, part), []).append(value)
        print(f"\r{name}: split {len(found['default', 'all'])}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for (method, part), values in found.items():
        more = np.array(found["default", part]) - values
        less = "" if method == "default" else f"{more.mean():+.3f} \u00b1{corrected_error(more):.3f}"
        yield [name, method, part, f"{np.mean(values):.3f}", less]


def main():
    """Print both tables."""
    print_columns(list(counted()))
    print(f"\n{SPLITS} splits")
    lines = [["set", "method", "judged by", "pAUC 1 %", "default less it"]]
    print_columns(lines + [line for name in COMPARED for line in compared(name)])


if __name__ == "__main__":
    parser_of(__file__, __doc__).parse_args()
    data_folder()
    warnings.filterwarnings("ignore", category=FutureWarning, module="sklearn")
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    main()
