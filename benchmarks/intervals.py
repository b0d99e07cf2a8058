"""Coverage of the intervals of `pnorm.metrics`: tables of the page "Measures of the top".

    python benchmarks/intervals.py

Lists of 60 positives and 300 negatives, scores normal with means 1.5 and 0; 95 % intervals from 1000 resamples. What
is estimated is the mean of the measure over such lists. Then the positives above every negative on lists of other
lengths.
"""

import numpy as np

from pnorm import metrics

POSITIVES, NEGATIVES, LISTS = 60, 300, 1000


def lists(seed, n, positives=POSITIVES, negatives=NEGATIVES):
    """Random lists, one after another."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        yield rng.normal(1.5, 1, positives), rng.normal(size=negatives)


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


def coverage_above(*sizes):
    """Print the same of the positives above every negative, on lists of so many positives and negatives."""
    mean = np.mean([metrics.positives_at_top(*f) for f in lists(0, 20_000, *sizes)])
    found = [metrics.positives_at_top(*f, confidence=0.95, seed=seed) for seed, f in enumerate(lists(1, LISTS, *sizes))]
    low, high = np.mean([x.high < mean for x in found]), np.mean([x.low > mean for x in found])
    print(f"{sizes[0]:9}{sizes[1]:11}{mean:10.4f}{1.0 - low - high:8.1%}{low:9.1%}{high:10.1%}")


if __name__ == "__main__":
    coverage()
    print(f"\n{'positives':>9}{'negatives':>11}{'mean':>10}{'held':>8}{'too low':>9}{'too high':>10}")
    for sizes in ((30, 300), (60, 300), (120, 280)):
        coverage_above(*sizes)
