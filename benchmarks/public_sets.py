"""Public sets in random splits, for studies that take long."""

import json
import sys

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

import pnorm


def splits(data, n):
    """Rows to train on and rows to judge by, two thirds and one third, stratified, n times."""
    return StratifiedShuffleSplit(n, test_size=1 / 3, random_state=0).split(np.zeros(len(data.y)), data.y)


def over_splits(n_splits, judged, out):
    """Return by set what `judged(data, train, test)` finds in each split; a file keeps what is known after each set.

    n_splits : the number of splits of each set.
    """
    found = json.loads(out.read_text()) if out and out.exists() else {}
    for name, n in n_splits.items():
        data, runs = getattr(pnorm.datasets, name)(), []
        for train, test in splits(data, n):
            runs.append(judged(data, train, test))
            print(f"\r{name}: split {len(runs)}", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        found[name] = {"rows": len(data.y), "positives": int(data.y.sum()), "runs": runs}
        if out:
            out.write_text(json.dumps(found))
    return found
