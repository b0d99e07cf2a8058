"""The list of the command on Adult beside boosted trees and other lists of the same rows, over ten splits.

    PNORM_DATA=... OMP_NUM_THREADS=1 python benchmarks/adult_trees.py    # three minutes on one core; needs scikit-learn

Each split is that of `pnorm adult.data.gz --budget 1000 --seed S`, with S from 0 to 9: a fifth of the rows is held out.
The boosted trees are scikit-learn's HistGradientBoostingClassifier with its own settings. They get the rows that the
command trains on, with text columns as categories and "?" as a missing value. Without interactions,
``interaction_cst="no_interactions"``, they are a sum over columns too. "this list, p = 1" is `pnorm -p 1`.

The first table has the positives in the first 1,000 held-out rows, the second "this list less the other list". Split 0
is that of the reasons and curves in the picture of the documentation. Its differences have intervals as the command
computes them, which hold jointly with 95 %. The bars of the picture are the splits 1 to 9. There are the mean
difference, its standard error, which is corrected for rows that splits share, the smallest and largest difference, and
the numbers of splits above, equal to and below zero.
"""

import math
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

sys.path.insert(0, str(Path(__file__).parent))

from mixed import adult
from public_sets import corrected_error

import pnorm
from pnorm._command.reproduce import print_columns
from pnorm._job import hold_out
from pnorm._job.baselines import CURVES, LINEAR
from pnorm._job.quality import quality
from pnorm._job.tested import Tested, tested

BUDGET, SPLITS = 1000, range(10)
THIS, NO_PUSH = "this list", "this list, p = 1"
ADDITIVE_TREES, TREES = "boosted trees, no interactions", "boosted trees"
RIVALS = NO_PUSH, ADDITIVE_TREES, TREES, CURVES, LINEAR


class Fewer(NamedTuple):
    """Positives in the first rows of this list less those of another one."""

    value: float
    low: float
    """Lower end of an interval; those of all lists hold jointly with 95 %."""
    high: float


def trees(found, interactions):
    """Return the scores of the held-out rows of a test by boosted trees that were trained on the others."""
    (frame, y), (new, _) = found.training, found.held_out
    text = frame.select_dtypes(["object", "string"]).columns
    levels = {name: pd.CategoricalDtype(sorted(frame[name].dropna().unique())) for name in text}
    known = {name: new[name].where(new[name].isin(dtype.categories)) for name, dtype in levels.items()}
    how = {} if interactions else {"interaction_cst": "no_interactions"}
    model = HistGradientBoostingClassifier(random_state=0, **how).fit(frame.astype(levels), y)
    return model.decision_function(new.assign(**known).astype(levels))


def beside(found, others):
    """Return by name what other lists of the rows of a test have fewer, with the intervals of the command."""
    of = quality(*sides(found, found.scores), {name: sides(found, f) for name, f in others.items()}, budget=BUDGET)
    result = {}
    for name, difference in zip(others, of.differences, strict=True):
        assert (difference.other, difference.depth) == (name, BUDGET)
        value = difference.value
        result[name] = Fewer(*[BUDGET * float(x) for x in (value, value.low, value.high)])
    return result


def sides(found, f):
    """Return scores of the held-out positives and of the held-out negatives."""
    good = found.held_out[1]
    return f[good], f[~good]


def split(seed, **how) -> Tested:
    """Return what the command finds on a split."""
    frame, y = adult()
    return tested(frame.mask(frame == "?"), y, hold_out.share(y, seed=seed), budget=BUDGET, seed=seed, **how)


def lists(seed):
    """Return what the command finds on a split, and the scores of the held-out rows by other lists."""
    found = split(seed)
    of_trees = {ADDITIVE_TREES: trees(found, interactions=False), TREES: trees(found, interactions=True)}
    return found, {**found.others, **of_trees}  # in the order of the command, which draws resamples for one by one


def hits(found, f):
    """Return the positives in the first rows."""
    return BUDGET * float(pnorm.metrics.precision_at(*sides(found, f), BUDGET))


def main():
    """Print both tables."""
    runs, intervals = [], {}
    for seed in SPLITS:
        found, others = lists(seed)
        others[NO_PUSH] = split(seed, p=1, compare=False, n_top=0).scores
        runs.append({THIS: hits(found, found.scores), **{name: hits(found, others[name]) for name in RIVALS}})
        intervals = intervals or beside(found, others)
        print(f"split {seed}: {runs[-1]}", file=sys.stderr, flush=True)
    lines = [["positives in the first 1,000", *[f"split {seed}" for seed in SPLITS], "mean of 1 to 9"]]
    for name in (THIS, *RIVALS):
        of = [run[name] for run in runs]
        lines.append([name, *[f"{x:.0f}" for x in of], f"{np.mean(of[1:]):.1f}"])
    print_columns(lines)
    print()
    lines = [["this list less", "split 0", "joint 95 %", "mean of 1 to 9", "error", "smallest", "largest"]]
    lines[0] += ["above", "equal", "below"]
    for name in RIVALS:
        of, by = intervals[name], np.round([run[THIS] - run[name] for run in runs[1:]], 6)
        interval = f"{math.floor(of.low):+d} to {math.ceil(of.high):+d}"
        lines.append([name, f"{of.value:+.0f}", interval, f"{by.mean():+.1f}", f"{corrected_error(by, 1 / 4):.1f}"])
        lines[-1] += [f"{by.min():+.0f}", f"{by.max():+.0f}"]
        lines[-1] += [str(int((np.sign(by) == sign).sum())) for sign in (1, 0, -1)]
    print_columns(lines)


if __name__ == "__main__":
    main()
