"""Errors of measures from tables of scores: a table of the page "Measures of the top".

    python benchmarks/score_tables.py

40,000 positives and 3,960,000 negatives, in 20 parts whose tables are merged. The bound is half of the distance from
`low` to `high`; the error is that of the value, against all rows.
"""

import pickle
import time

import numpy as np
from command_line import parser_of
from scipy.special import expit

from pnorm import metrics

MEASURES = {
    "auc": {},
    "average_precision": {},
    "partial_auc": {"max_fpr": 0.1},
    "precision_at": {"k": 0.05},
}
PARTS = 20


def errors(f_pos, f_neg, size):
    """Print what a table with at most `size` intervals is wrong by, what it takes, and its bytes."""
    parts = [metrics.ScoreTable.of(f_pos[i::PARTS], f_neg[i::PARTS], size=size) for i in range(PARTS)]
    start = time.perf_counter()
    table = parts[0].merge(*parts[1:])
    took = time.perf_counter() - start
    print(f"  {size:,} intervals: {len(pickle.dumps(table)) / 1e6:.1f} MB, merged in {took:.1f} s")
    for name, more in MEASURES.items():
        exact, found = (getattr(metrics, name)(*f, **more) for f in ((f_pos, f_neg), (table,)))
        print(f"    {name:20}{exact:10.4f}{0.5 * (found.high - found.low):12.1e}{abs(found - exact):12.1e}")


def main():
    """Print the errors for normal scores, and for small probabilities."""
    rng = np.random.default_rng(0)
    f_pos, f_neg = rng.normal(1, 1, 40_000), rng.normal(0, 1, 3_960_000)
    for name, of in (("normal scores", np.array), ("probabilities", lambda f: expit(2 * f - 7))):
        print(f"{name}\n    {'':20}{'value':>10}{'bound':>12}{'error':>12}")
        for size in (2**12, 2**16):
            errors(of(f_pos), of(f_neg), size)


if __name__ == "__main__":
    parser_of(__file__, __doc__).parse_args()
    main()
