"""Coverage of the intervals of `pnorm.metrics`: a table of the page "Measures of the top".

    python benchmarks/intervals.py

Lists of 60 positives and 300 negatives, scores normal with means 1.5 and 0; 95 % intervals from 1000 resamples. What
is estimated is the mean of the measure over such lists.
"""

import numpy as np

from pnorm import metrics

POSITIVES, NEGATIVES, LISTS = 60, 300, 1000


def lists(seed, n):
    """Random lists, one after another."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        yield rng.normal(1.5, 1, POSITIVES), rng.normal(size=NEGATIVES)


def coverage():
    """Print means, and shares of lists whose interval lies around, below and above them."""
    more = {"k": 0.05, "max_fpr": 0.1}
    names = [name for name in metrics.summary([1.0], [0.0]) if name not in ("positives", "negatives", *more)]
    truth = np.mean([[metrics.summary(*f, **more)[name] for name in names] for f in lists(0, 20_000)], axis=0)
    found = np.zeros((3, len(names)))
    for seed, f in enumerate(lists(1, LISTS)):
        estimates = metrics.summary(*f, **more, confidence=0.95, seed=seed)
        low, high = np.array([[getattr(estimates[name], end) for name in names] for end in ("low", "high")])
        found += np.array([(low <= truth) & (truth <= high), high < truth, low > truth])
    print(f"{'':28}{'mean':>10}{'held':>8}{'too low':>9}{'too high':>10}")
    for name, mean, (held, below, above) in zip(names, truth, found.T / LISTS, strict=True):
        print(f"{name:28}{mean:10.4f}{held:8.1%}{below:9.1%}{above:10.1%}")


if __name__ == "__main__":
    coverage()
