"""Count how often cut-offs keep their promise on simulated lists: tables of the page "Cut-offs that keep their word".

    python benchmarks/cutoffs.py

Lists with normal scores, whose truth is known. "Broken" is the share of lists whose cut-off has less precision than it
promises, "none" the share without one. "Depth" is the mean share of the rows that could be taken with the precision, by
`pnorm.cutoff`, by a Bonferroni correction of its cuts, and by the naive choice: the deepest row where the held-out
precision is as large.
"""

import numpy as np
from scipy.special import ndtr

import pnorm
from pnorm import _cutoff

LISTS = 1000


def of_normals(rng, n, apart, share):
    """Scores of both sides, normal with means `apart` and 0, and a function that gives the precision above scores."""
    y = rng.random(n) < share
    f = rng.normal(size=n) + apart * y
    return f[y], f[~y]


def precision_above(t, apart, share):
    """The share of positives among new rows above a score."""
    hits = share * ndtr(apart - t)
    return hits / (hits + (1.0 - share) * ndtr(-t))


def naive(f_pos, f_neg, target):
    """The score of the deepest row down to which the rows have the precision."""
    f = np.concatenate([f_pos, f_neg])
    order = np.argsort(-f)
    deep = np.flatnonzero(np.cumsum(order < f_pos.size) / np.arange(1, f.size + 1) >= target)
    return f[order[deep[-1]]] if deep.size else None


def bonferroni(f_pos, f_neg, target, level=0.05):
    """The deepest of the same cuts, each tested at a part of the level."""
    rows = _cutoff._Drawn(np.sort(f_pos), np.sort(f_neg))
    sizes = _cutoff._sizes(lambda x, y: rows.p_value(x, y, target), level, rows)
    cuts = [rows.cut(x, y) for x, y in sizes]
    kept = [cut.score for cut in cuts if rows.p_value(cut.pos, cut.neg, target) <= level / len(cuts)]
    return min(kept, default=None)


def of_precision(n, apart, share, target, lists=LISTS):
    """Print a line: what each way keeps."""
    rng, grid = np.random.default_rng(0), np.linspace(-6.0, 9.0, 150_001)
    best = grid[precision_above(grid, apart, share) >= target][0]
    rows_above = lambda t: share * ndtr(apart - t) + (1.0 - share) * ndtr(-t)  # noqa: E731
    found = []
    for _ in range(lists):
        f = of_normals(rng, n, apart, share)
        scores = pnorm.cutoff(*f, precision=target).score, bonferroni(*f, target), naive(*f, target)
        found.append([np.nan if t is None else t for t in scores])
    found = np.array(found)
    told = []
    for scores in found.T:
        some = scores[~np.isnan(scores)]
        broken = (precision_above(some, apart, share) < target).sum() / lists
        told.append((broken, 1.0 - some.size / lists, rows_above(some).sum() / lists / rows_above(best)))
    cells = "   ".join(f"{broken:7.1%} {none:6.1%} {depth:5.2f}" for broken, none, depth in told)
    print(f"{n:6} {share:6.0%} {target:10}   {cells}")


def of_promises(lists=LISTS):
    """Print how often other promises, and the intervals beside them, are broken."""
    told = (("recall 0.9", {"recall": 0.9}, None), ("budget 10 %", {"budget": 100, "of": 1000}, None),
            ("budget 10 %, prior 2 %", {"budget": 100, "of": 1000, "prior": 0.02}, 0.02),
            ("precision 0.3, prior 2 %", {"precision": 0.3, "prior": 0.02}, 0.02),
            ("precision 0.8", {"precision": 0.8}, None))  # fmt: skip
    for name, asked, prior in told:
        rng, wrong = np.random.default_rng(0), np.zeros(4)
        for _ in range(lists if prior is None else lists // 4):
            found = pnorm.cutoff(*of_normals(rng, 1000, 2.0, 0.3), **asked)
            t, share = found.nearest, 0.3 if prior is None else prior
            precise, recall = precision_above(t, 2.0, share), ndtr(2.0 - t)
            true = {"recall": recall, "precision": precise, "budget": precise * found.rows}[found.asked]
            once = rng.binomial(round(found.rows), precise)
            wrong += [
                true < found.promised,
                not found.precision.low <= precise <= found.precision.high,
                not found.recall.low <= recall <= found.recall.high,
                not found.one_list[0] <= once <= found.one_list[1],
            ]
        cells = "".join(f"{value:11.1%}" for value in wrong / (lists if prior is None else lists // 4))
        print(f"{name:26}{cells}")


def of_bad_tops(*shares, n=1000, target=0.8, lists=LISTS):
    """Print how often there is no cut-off if some negatives score above all other rows, and the naive depth."""
    for share in shares:
        rng, none, deep = np.random.default_rng(0), 0, []
        for _ in range(lists):
            f_pos, f_neg = of_normals(rng, n, 2.0, 0.3)
            f_neg[: round(share * f_neg.size)] += 10.0
            none += not pnorm.cutoff(f_pos, f_neg, precision=target).kept
            deepest = naive(f_pos, f_neg, target)
            deep.append(0 if deepest is None else (np.concatenate([f_pos, f_neg]) >= deepest).sum())
        print(f"{share:20.1%}{f'{none} of {lists}':>17}{np.mean(deep):15.0f}")


if __name__ == "__main__":
    print("  rows  share  precision   cutoff: broken, none, depth   Bonferroni             naive")
    for n in (300, 1000, 10_000):
        for apart, share, target in ((2.0, 0.3, 0.8), (3.0, 0.05, 0.8), (2.0, 0.05, 0.5)):
            of_precision(n, apart, share, target)
    print(f"{'broken, 1000 rows':26}{'promise':>11}{'precision':>11}{'recall':>11}{'one list':>11}")
    of_promises()
    print(f"{'negatives at the top':>20}{'none':>17}{'naive: rows':>15}")
    of_bad_tops(0.0, 0.005, 0.01, 0.02)
