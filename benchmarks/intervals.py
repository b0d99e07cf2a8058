"""Coverage of the intervals of `pnorm.metrics`: tables of the page "Measures of the top".

    python benchmarks/intervals.py

Lists of 60 positives and 300 negatives, scores normal with means 1.5 and 0; 95 % intervals from 1000 resamples. What
is estimated is the mean of the measure over such lists. Then the positives above every negative and the AUC on lists of
other lengths. Then three measures of the whole list with few positives: normal scores so far apart, and Student's t
with 3 degrees of freedom.

Then average precision, in 400 lists a line, with stratified resamples and with resamples of all rows. The numbers of
positives and negatives are the same in all lists ("fixed"), or the class of each row is drawn ("drawn"), or the list
is a fifth of five times as many rows with drawn classes, with the same share of positives ("a fifth"). The last two
columns are the shares of lists whose interval is too low or too high, with drawn classes and resamples of all rows.

The last table is about the intervals of the first k rows. The means of the scores are so far apart. The numbers of
positives and negatives are the same in all of 5000 lists, or the class of each row is drawn. It has the mean precision
and the share of lists whose interval contains it, with fixed and with drawn classes, and the share of the intervals of
Clopper and Pearson for the hits in k rows, with drawn classes. Then the same of the recall, the mean hits divided by
the mean number of positives, with Clopper and Pearson's for the hits in so many positives; here the shares are of the
first 400 lists with fixed classes and of the first 1000 with drawn ones. The interval of lift is that of recall in
other units. Some lines have scores that are rounded to multiples of a step, so that the k-th row ties with rows of both
classes.
"""

from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from shared import parser_of

from pnorm import metrics
from pnorm.metrics._by_name import first_negatives
from pnorm.metrics._ranked_list import RankedList
from pnorm.metrics._shares import first_rows, share

POSITIVES, NEGATIVES, LISTS = 60, 300, 1000

FEWER = 400
"""Lists for each line of average precision, which has six intervals for each of them."""

AVERAGE_PRECISION = [(20, 180, 0.0), (50, 450, 0.0), (50, 10, 0.0), (50, 10, 2.3)]
AVERAGE_PRECISION += [(30, 1470, 1.5), (30, 270, 1.5), (30, 70, 1.5), (200, 9800, 1.5), (200, 1800, 1.5)]
"""Positives, negatives, and how far the means of their scores are apart."""

HEAD = f"{'held':>9}{'low':>6}{'high':>6}"


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


def coverage_of(measure, *sizes):
    """Print the same of one measure, on lists of so many positives and negatives."""
    mean = np.mean([measure(*f) for f in lists(0, 20_000, *sizes)])
    found = [measure(*f, confidence=0.95, seed=seed) for seed, f in enumerate(lists(1, LISTS, *sizes))]
    low, high = np.mean([x.high < mean for x in found]), np.mean([x.low > mean for x in found])
    print(f"{sizes[0]:9}{sizes[1]:11}{mean:10.4f}{1.0 - low - high:8.1%}{low:9.1%}{high:10.1%}")


def coverage_with_few_positives(apart, freedom, positives, negatives):
    """Print how often intervals of the whole list contain the mean, and lie below and above it."""
    rng = np.random.default_rng(3)

    def drawn():
        f = (
            rng.normal(size=positives + negatives)
            if freedom is None
            else rng.standard_t(freedom, positives + negatives)
        )
        return f[:positives] + apart, f[positives:]

    def part(*f, **more):
        return metrics.partial_auc(*f, max_fpr=first_negatives(negatives) / negatives, standardized=True, **more)

    measures = metrics.auc, part, partial(metrics.average_precision, stratified=True)
    mean = np.mean([[measure(*f) for measure in measures] for f in (drawn() for _ in range(10_000))], axis=0)
    found = []
    for seed in range(LISTS):
        f = drawn()
        found.append([tuple(measure(*f, confidence=0.95, seed=seed)) for measure in measures])
    _, low, high = np.moveaxis(found, -1, 0)
    too_low, too_high = (high < mean).mean(axis=0), (low > mean).mean(axis=0)
    shares = np.stack([1.0 - too_low - too_high, too_low, too_high], axis=-1)
    kind = "normal" if freedom is None else f"t, {freedom}"
    told = "".join([f"{'':2}{x[0]:7.1%}{x[1]:6.1%}{x[2]:6.1%}" for x in shares])
    print(f"{positives:9}{negatives:10}{kind:>8}{apart:6.1f}{told}", flush=True)


MORE = 5000
"""Lists for each line of the first k rows. Recall has an interval in the first `LISTS` or `FEWER` of them."""

FIRST_ROWS = ("precision", "of k rows"), ("recall", "of positives")
"""Intervals for drawn rows, and those of Clopper and Pearson beside them."""

FIRST = [(200, 20, 20, 4.0, 0.0), (360, 60, 10, 1.5, 0.0), (360, 60, 60, 1.5, 0.0), (1000, 10, 10, 4.0, 0.0)]
FIRST += [(1000, 200, 10, 1.5, 0.0), (1000, 200, 50, 2.5, 0.0), (1000, 200, 200, 1.5, 0.0), (1000, 200, 200, 4.0, 0.0)]
FIRST += [(1000, 200, 200, 8.0, 0.0), (1000, 200, 500, 4.0, 0.0), (360, 60, 18, 1.5, 2.0), (1000, 200, 50, 2.5, 1.0)]
FIRST += [(1000, 200, 200, 4.0, 1.0), (1000, 200, 200, 4.0, 3.0), (1000, 200, 500, 4.0, 2.0)]
FIRST += [(1000, 200, 1000, 1.5, 0.0), (1000, 10, 10, 8.0, 0.0), (1000, 10, 100, 1.5, 0.0)]
"""Rows, positives, first rows k, how far the means of the scores are apart, and the step to which they are rounded."""

FIXED, DRAWN, FIFTH = "fixed", "drawn", "fifth"
"""Three laws of the number of positives in a simulated list: a given number, a binomial one, a fifth of such a one."""


def drawn_lists(rng, n, n_rows, positives, apart, classes):
    """Random lists of normal scores, with the same number of positives or with so many on average."""
    parts = {FIXED: 0, DRAWN: 1, FIFTH: 5}[classes]
    for _ in range(n):
        n_pos = positives
        if parts:
            of_all = rng.binomial(parts * n_rows, positives / n_rows)
            n_pos = np.clip(round(of_all / parts), 1, n_rows - 1)
        f = rng.normal(size=n_rows)
        f[:n_pos] += apart
        yield f[:n_pos], f[n_pos:]


def coverage_of_average_precision(case):
    """Return a line: how often its intervals contain the mean, by how classes and resamples are drawn."""
    positives, negatives, apart = case
    told, missed = "", {}
    for classes in (FIXED, DRAWN, FIFTH):
        how = positives + negatives, positives, apart, classes
        mean = np.mean([metrics.average_precision(*f) for f in drawn_lists(np.random.default_rng(0), 20_000, *how)])
        lists_of = list(drawn_lists(np.random.default_rng(4), FEWER, *how))
        for stratified in (True, False):
            found = [
                metrics.average_precision(*f, confidence=0.95, seed=seed, stratified=stratified)
                for seed, f in enumerate(lists_of)
            ]
            low, high = np.mean([x.high < mean for x in found]), np.mean([x.low > mean for x in found])
            missed[classes, stratified] = f"{low:7.1%}{high:7.1%}"
            told += f"{1.0 - low - high:{12 if stratified else 7}.1%}"
    return f"{positives:9}{negatives:10}{apart:6.1f}{told}{missed[DRAWN, False]}"


def coverage_of_first_rows(case):
    """Return a line: how often the intervals of the first k rows contain the mean, for fixed and for drawn classes."""
    n, positives, k, apart, step = case
    rng = np.random.default_rng(2)
    told = {}
    for classes, lists_of_recall in ((FIXED, FEWER), (DRAWN, LISTS)):
        found = {"precision": [], "of k rows": [], "recall": [], "of positives": []}
        hits, sizes = [], []
        for sides in drawn_lists(rng, MORE, n, positives, apart, classes):
            f_pos, f_neg = [step * np.round(f / step) if step else f for f in sides]
            of_list = first_rows(RankedList(f_pos, f_neg, sure=True).distinct, k, 0.95)
            found["precision"].append(tuple(of_list.measure("precision", 0)))
            found["of k rows"].append(share(of_list.hits[0], k, 0.95))
            hits.append(of_list.hits[0])
            sizes.append(f_pos.size)
            if len(sizes) <= lists_of_recall:
                found["recall"].append(tuple(of_list.measure("recall", 0)))
                found["of positives"].append(share(of_list.hits[0], f_pos.size, 0.95))
        precision, recall = np.mean(hits) / k, np.sum(hits) / np.sum(sizes)
        means = {"precision": precision, "of k rows": precision, "recall": recall, "of positives": recall}
        for what, of_lists in found.items():
            _, low, high = np.array(of_lists).T
            told[what, classes] = f"{np.mean((low <= means[what]) & (means[what] <= high)):8.1%}"
    numbers = [told[what, FIXED] + told[what, DRAWN] + told[given, DRAWN] for what, given in FIRST_ROWS]
    return f"{n:5}{positives:11}{apart:7}{step or '':6}{k:5}{precision:8.3f}{numbers[0]}{recall:8.3f}{numbers[1]}"


if __name__ == "__main__":
    parser_of(__file__, __doc__).parse_args()
    coverage()
    for measure, all_sizes in (
        (metrics.positives_at_top, ((30, 300), (60, 300), (120, 280))),
        (metrics.auc, ((10, 200), (20, 980), (30, 300), (60, 300))),
    ):
        print(f"\n{measure.__name__}")
        print(f"{'positives':>9}{'negatives':>11}{'mean':>10}{'held':>8}{'too low':>9}{'too high':>10}")
        for sizes in all_sizes:
            coverage_of(measure, *sizes)
    print(f"\n{'':33}{'AUC':>21}{'partial AUC':>21}{'average precision':>21}")
    print(f"{'positives':>9}{'negatives':>10}{'scores':>8}{'apart':>6}{HEAD * 3}")
    for sizes in ((10, 200), (20, 180), (50, 450)):
        for apart, freedom in ((0.0, None), (1.0, None), (1.0, 3), (2.3, None), (3.0, 3)):
            coverage_with_few_positives(apart, freedom, *sizes)
        if sizes == (10, 200):
            coverage_with_few_positives(3.5, None, *sizes)  # of these lists, 14 % are perfect
    print(f"\naverage precision\n{'':25}{'fixed':>19}{'drawn':>19}{'a fifth':>19}{'drawn, rows':>14}")
    pair = f"{'stratified':>12}{'rows':>7}"
    print(f"{'positives':>9}{'negatives':>10}{'apart':>6}{pair * 3}{'low':>7}{'high':>7}")
    with ProcessPoolExecutor() as pool:
        for line in pool.map(coverage_of_average_precision, AVERAGE_PRECISION):
            print(line, flush=True)
    print(f"\n{'':42}{'precision':>16}{'C. & P.':>8}{'':8}{'recall, lift':>16}{'C. & P.':>8}")
    columns = f"{'mean':>8}{'fixed':>8}{'drawn':>8}{'drawn':>8}"
    print(f"{'rows':>5}{'positives':>11}{'apart':>7}{'step':>6}{'k':>5}{columns * 2}")
    with ProcessPoolExecutor() as pool:
        for line in pool.map(coverage_of_first_rows, FIRST):
            print(line, flush=True)
