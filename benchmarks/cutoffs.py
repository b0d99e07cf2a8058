"""Count how often cut-offs keep their promise on simulated lists: tables of the page "Cut-offs that keep their word".

    python benchmarks/cutoffs.py

Lists with normal scores, whose truth is known. "Broken" is the share of lists whose cut-off has less precision than it
promises, "none" the share without one, and "of found" the share of the cut-offs found that are broken. "Depth" is the
mean share of the rows that could be taken with the precision, by `pnorm.cutoff`, by a Bonferroni correction of its
cuts, and by the naive choice: the deepest row where the held-out precision is as large. The lines below the first table
have the Monte Carlo standard error of a share of so many lists, and the largest probability that is not excluded where
no list is broken.

Each table has lists of its own seed. Lists with a flat top have the precision 0.85 in the first 300 of 1000 rows, and
0.5 below. After their table, normal lists are cut by `pnorm.cutoff` alone, and as by an estimator or the command, which
know the share of positives among the rows of training. The lines below have what a choice of `at_least` by the labels
breaks, and what one among several precisions does.

The last three tables are for the page "Generalisation bounds". Those of equal scores at the top without a prior, and of
the sequence of cuts with one, are computed: the largest probability of a broken guarantee, divided by
1 - confidence, over populations in which the proof leaves a gap.
"""

import itertools
from functools import partial

import numpy as np
from scipy.special import ndtr
from scipy.stats import beta, binom
from shared import parser_of

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
    cells = "  ".join(f"{broken:6.1%} {none:6.1%} {depth:5.2f}" for broken, none, depth in told)
    print(f"{n:6} {share:5.0%} {target:6} {of_found(*told[0][:2]):>8}  {cells}")


def of_found(broken, none):
    """Return the share of the cut-offs found that are broken, as text."""
    return f"{broken / (1.0 - none):.1%}" if none < 1.0 else ""


def of_draws(*numbers):
    """Print how far shares of so many lists may be from the probabilities."""
    for lists in numbers:
        at_5, at_50 = (np.sqrt(share * (1.0 - share) / lists) for share in (0.05, 0.5))
        none = 1.0 - 0.05 ** (1.0 / lists)  # it leaves all lists unbroken with probability 5 %
        print(f"of {lists:4} lists: standard error {at_5:.1%} at 5 %, {at_50:.1%} at 50 %; ", end="")
        print(f"if none is broken, up to {none:.1%}")


def of_promises(lists=4 * LISTS):
    """Print how often other promises, and the intervals beside them, are broken."""
    told = (("recall 0.9", {"recall": 0.9}, None), ("budget 10 %", {"budget": 100, "of": 1000}, None),
            ("budget 10 %, prior 2 %", {"budget": 100, "of": 1000, "prior": 0.02}, 0.02),
            ("precision 0.3, prior 2 %", {"precision": 0.3, "prior": 0.02}, 0.02),
            ("precision 0.8", {"precision": 0.8}, None))  # fmt: skip
    for name, asked, prior in told:
        rng, wrong = np.random.default_rng(1), np.zeros(4)
        for _ in range(lists if prior is None else lists // 4):
            found = pnorm.cutoff(*of_normals(rng, 1000, 2.0, 0.3), **asked)
            t, share = found.nearest, 0.3 if prior is None else prior
            precise, recall = precision_above(t, 2.0, share), ndtr(2.0 - t)
            true = {"recall": recall, "precision": precise, "budget": precise * found.rows}[found.asked]
            once = rng.binomial(1000, share * recall)
            wrong += [
                true < found.promised,
                not found.precision.low <= precise <= found.precision.high,
                not found.recall.low <= recall <= found.recall.high,
                not found.one_list.low <= once <= found.one_list.high,
            ]
        cells = "".join(f"{value:11.1%}" for value in wrong / (lists if prior is None else lists // 4))
        print(f"{name:26}{cells}")


def of_few_scores(*cases, lists=LISTS // 4):
    """Print how often a precision with a prior is broken if both sides have few scores, many of them equal.

    The ratio of the rates of both sides at or above the k-th score is that of the precision for the first `last` of
    them, and less below. The worst of three values of `last` is printed.
    """
    print("scores  precision  prior    broken")
    for n_scores, target, prior in cases:
        worst = 0
        for last in (0, 2, 4):
            rng, broken = np.random.default_rng(2), 0
            rates = np.arange(1.0, n_scores + 1.0) / n_scores
            ratio = target / (1.0 - target) * (1.0 - prior) / prior
            of_neg = np.minimum(1.0, rates / ratio * np.where(np.arange(n_scores) < last, 1.0, 1.02))
            for _ in range(lists):
                f_pos = -np.searchsorted(rates, rng.random(60)).astype(float)
                f_neg = -np.searchsorted(of_neg, rng.random(150)).astype(float)
                score = pnorm.cutoff(f_pos, f_neg, precision=target, prior=prior).score
                broken += score is not None and -score >= last
            worst = max(worst, broken)
        print(f"{n_scores:6} {target:10} {prior:6}   {worst / lists:7.1%}")


def of_bad_tops(*shares, n=1000, target=0.8, at_least=100, lists=LISTS):
    """Print how often there is no cut-off if some negatives score above all other rows, and the naive depth."""
    for share in shares:
        rng, none, deep = np.random.default_rng(3), np.zeros(2, int), []
        for _ in range(lists):
            f_pos, f_neg = of_normals(rng, n, 2.0, 0.3)
            f_neg[: round(share * f_neg.size)] += 10.0
            cuts = [pnorm.cutoff(f_pos, f_neg, precision=target, at_least=least) for least in (None, at_least)]
            none += [not cut.kept for cut in cuts]
            deepest = naive(f_pos, f_neg, target)
            deep.append(0 if deepest is None else (np.concatenate([f_pos, f_neg]) >= deepest).sum())
        print(f"{share:20.1%}{none[0]:10}{none[1]:16}{np.mean(deep):15.0f}")


def with_flat_top(rng, n, top=0.3, precise=(0.85, 0.5)):
    """Scores of both sides, uniform, with one precision in the top share of the rows, and another below."""
    f = rng.random(n)
    y = rng.random(n) < np.where(f > 1.0 - top, *precise)
    return f[y], f[~y]


def flat_precision_above(t, top=0.3, precise=(0.85, 0.5)):
    """The share of positives among new rows above a score, on lists of `with_flat_top`."""
    taken = 1.0 - t
    first = np.minimum(taken, top)
    return (precise[0] * first + precise[1] * (taken - first)) / taken


def normal(n, apart, share):
    """A function that draws normal lists, and the precision above a score."""
    return partial(of_normals, n=n, apart=apart, share=share), partial(precision_above, apart=apart, share=share)


def kept_by(draw, precision, target, at_least, lists, seed):
    """The shares of lists with a broken guarantee and without a cut-off, and the mean depth."""
    rng, broken, rows = np.random.default_rng(seed), 0, []
    for _ in range(lists):
        found = pnorm.cutoff(*draw(rng), precision=target, at_least=at_least)
        if found.kept:
            rows.append(found.depth)
            broken += precision(found.score) < target
    return broken / lists, 1.0 - len(rows) / lists, sum(rows) / lists


def of_first_depths(n=1000, target=0.8, lists=LISTS):
    """Print what cut-offs keep whose tests begin at different depths, on lists with a flat top and on normal ones."""
    lists_of = {"flat top": (partial(with_flat_top, n=n), flat_precision_above), "normal": normal(n, 2.0, 0.3)}
    print(f"{'list':10}{'at_least':>10}{'broken':>10}{'none':>10}{'rows':>8}")
    for name, (draw, precision) in lists_of.items():
        for at_least in (None, 100, 200, 300):
            broken, none, rows = kept_by(draw, precision, target, at_least, lists, 4)
            print(f"{name:10}{at_least or '':>10}{broken:10.1%}{none:10.1%}{rows:8.0f}")


def rare(top, n=2400, rows=100, share=0.009):
    """A function that draws lists with few positives, and the precision above a score: `top` in the first rows."""
    first = rows / n
    precise = top, (share - first * top) / (1.0 - first)
    return partial(with_flat_top, n=n, top=first, precise=precise), partial(
        flat_precision_above, top=first, precise=precise
    )


def of_training_shares(*cases, tops=(0.2, 0.3, 0.4), lists=LISTS):
    """Print what cut-offs keep that begin at 0.1 / precision of the positives expected from the share in training.

    Below the normal lists are those of 2400 rows with 0.9 % of positives, and a flat precision in the first 100 rows.
    """
    print(f"{'rows':>7}{'share':>8}{'list':>11}{'precision':>11}   alone: broken, none, rows, of found  from training")
    drawn = [(n, share, f"{apart:g} apart", target, normal(n, apart, share)) for n, share, apart, target in cases]
    drawn += [(2400, 0.009, f"top {top:g}", 0.1, rare(top)) for top in tops]
    for n, share, name, target, (draw, precision) in drawn:
        line = f"{n:7}{share:8.1%}{name:>11}{target:11}"
        for at_least in (None, _cutoff.first_depth((1000 * share, 1000 * (1.0 - share)), n, target)):
            kept = kept_by(draw, precision, target, at_least, lists, 5)
            line += "{:10.1%}{:8.1%}{:6.0f}".format(*kept) + f"{of_found(*kept[:2]):>7}"
        print(line)


def of_stratified(*cases, lists=2 * LISTS):
    """Print how often a cut-off is found where no cut has the precision, if a fifth of both kinds of rows is held out.

    The precision is the same at all depths, and just below the target.
    """
    print(f"{'rows':>7}{'precision':>11}   broken: independent rows   a fifth of both kinds")
    for n, target in cases:
        rng, kept = np.random.default_rng(6), np.zeros(2)
        for _ in range(lists):
            n_pos = rng.binomial(5 * n, target - 1e-4)  # of the file
            trained_on, held = (n_pos - n_pos // 5, 4 * n - n_pos + n_pos // 5), n_pos // 5
            f, drawn = rng.random(n), rng.random(n) < target - 1e-4
            for k, y in enumerate((drawn, np.arange(n) < held)):
                kept[k] += _cutoff.cutoff_of_model(f[y], f[~y], trained_on, precision=target).kept
        print(f"{n:7}{target:11}{kept[0] / lists:26.1%}{kept[1] / lists:24.1%}")


def of_chosen_depths(n=1000, target=0.8, depths=(100, 200, 300, 400, 500), lists=LISTS):
    """Print how often a cut-off is found where none has the precision: on average of the depths, and by any of them."""
    rng, found = np.random.default_rng(7), []
    for _ in range(lists):
        f, y = rng.random(n), rng.random(n) < target - 1e-4
        found.append([pnorm.cutoff(f, y=y, precision=target, at_least=least).kept for least in depths])
    found = np.array(found)
    print(f"broken where no cut has the precision: {found.mean():.1%}, any of {len(depths)}: {found.any(1).mean():.1%}")


def of_chosen_precisions(*cases, n=1000, targets=(0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95), lists=LISTS):
    """Print how often the guarantee of one of several precisions is broken on the same rows, by which of them counts.

    That is each alone, on average; the highest that has a cut-off; the one that promises most positives; and any.
    """
    print(f"{'share':>7}{'list':>11}   each alone   highest   most positives   any of {len(targets)}")
    for apart, share in cases:
        (draw, precision), rng, broken = normal(n, apart, share), np.random.default_rng(8), np.zeros(4)
        for _ in range(lists):
            f = draw(rng)
            cuts = [cut for cut in (pnorm.cutoff(*f, precision=target) for target in targets) if cut.kept]
            wrong = [precision(cut.score) < cut.target for cut in cuts] or [False]
            most = int(np.argmax([cut.target * cut.depth for cut in cuts] or [0]))
            broken += sum(wrong) / len(targets), wrong[-1], wrong[most], any(wrong)
        alone, highest, chosen, some = broken / lists
        print(f"{share:7.0%}{f'{apart:g} apart':>11}{alone:13.1%}{highest:10.1%}{chosen:17.1%}{some:12.1%}")


def sizes_of(rows, target, level, at_least=1):
    """The numbers of positives and negatives of the cuts to be tested."""
    return _cutoff._sizes(lambda x, y: rows.p_value(x, y, target), level, rows, at_least)


def most_wrong(rows, size, target, level):
    """The largest number of negatives with which a cut of so many rows is accepted; -1 if none is."""
    return sum(rows.p_value(size - y, y, target) <= level for y in range(size + 1)) - 1


def with_a_tie(rows, level, target, above, tied, precise, at_least=1):
    """Probability that a cut is accepted, if none has more than the precision and one score near the top is tied.

    A share `above` of the rows scores higher, all differently, and is positive with probability `precise`. A share
    `tied` has one score, and is positive so often that both shares together have the precision. Other rows score lower.
    """
    n, depths = rows.all.size, [x + y for x, y in sizes_of(rows, target, level, at_least)]
    wrong = [most_wrong(rows, size, target, level) if size >= at_least else -1 for size in range(n + 1)]
    of_tied = target + above / tied * (target - precise)
    found = 0.0
    for higher in range(n + 1):
        negatives = binom.pmf(np.arange(higher + 1), higher, 1.0 - precise)
        first = min(higher, depths[0])
        if wrong[first] >= 0:
            accepted = binom.cdf(wrong[first], first, 1.0 - precise)
        else:  # the cut above the tied score is passed over; the next one takes all rows with that score
            sizes = np.arange(n - higher + 1)
            tested = [higher + k for k in sizes if wrong[higher + k] >= 0 and higher + k <= depths[-1]]
            of_size = binom.pmf(sizes, n - higher, tied / (1.0 - above))
            accepted = sum(of_size[size - higher] * negatives
                           @ binom.cdf(wrong[size] - np.arange(higher + 1), size - higher, 1.0 - of_tied)
                           for size in tested)  # fmt: skip
        found += binom.pmf(higher, n, above) * accepted
    return found


def of_ties(*cases):
    """Print the largest probability of `with_a_tie` over a grid of populations, divided by the level."""
    print("   rows  precision    level  at_least  populations   largest")
    for n, target, level, at_least in cases:
        rows, found = _cutoff._Drawn(np.arange(1.0), np.arange(n - 1.0)), []
        # about the share of the rows that the first cut needs
        least = max(np.log(level) / np.log(target), at_least) / n
        shares = itertools.product((0.4, 0.7, 1.0, 1.4), (0.1, 0.3, 0.6), (0.0, 0.5, 0.8, 0.9, 0.95, 0.99, 1.0))
        for above, tied, part in shares:
            above, precise = above * least, part * target
            if above + tied < 1.0 and target + above / tied * (target - precise) <= 1.0:
                found.append(with_a_tie(rows, level, target, above, tied, precise, at_least))
        print(f"{n:7} {target:10} {level:8} {at_least:9} {len(found):12} {max(found) / level:9.4f}")


def of_sequences(*cases):
    """Print bounds of the probability that a cut with a prior is broken, divided by the level.

    Precision falls below q once, at a score with a share a of the positives at or above it. The rates of both sides at
    lower scores have the ratio at which the precision is q, which is the least favourable. Cuts above that score are
    taken to be accepted. The largest bound over a grid of a is printed.
    """
    print("positives  negatives  ratio    level   largest")
    nodes, masses = np.polynomial.legendre.leggauss(200)
    for n_pos, n_neg, ratio, level in cases:
        rows = _cutoff._Reweighted(np.arange(float(n_pos)), np.arange(float(n_neg)), 0.5)
        target, bounds = ratio / (1.0 + ratio), []
        cuts = []
        for x, _ in sizes_of(rows, target, level):
            cuts.append((x, sum(rows.p_value(x, y, target) <= level for y in range(n_neg)) - 1))
        for a in np.linspace(0.0, min(1.0, ratio), 40, endpoint=False):
            bound, low = 0.0, 0
            for x, wrong in cuts:
                for above in range(low, x):  # positives at or above the score; the cut is the first one below it
                    rate = a + (1.0 - a) * beta.ppf((nodes + 1.0) / 2.0, x - above, n_pos - x + 1)
                    accepted = masses @ binom.cdf(wrong, n_neg, np.minimum(1.0, rate / ratio)) / 2.0
                    bound += binom.pmf(above, n_pos, a) * accepted
                low = x
            bounds.append(bound)
        print(f"{n_pos:9} {n_neg:10} {ratio:6} {level:8} {max(bounds) / level:9.4f}")


if __name__ == "__main__":
    parser_of(__file__, __doc__).parse_args()
    print(f"{'':30}{'cutoff':19}  {'Bonferroni':19}  naive")
    print("  rows share  prec. of found" + "  broken   none depth" * 3)
    for n in (300, 1000, 10_000):
        for apart, share, target in ((2.0, 0.3, 0.8), (3.0, 0.05, 0.8), (2.0, 0.05, 0.5)):
            of_precision(n, apart, share, target)
    of_draws(LISTS // 4, LISTS, 4 * LISTS)
    print(f"{'broken, 1000 rows':26}{'promise':>11}{'precision':>11}{'recall':>11}{'one list':>11}")
    of_promises()
    print(f"{'negatives at the top':>20}{'none':>10}{'at_least=100':>16}{'naive: rows':>15}")
    of_bad_tops(0.0, 0.005, 0.01, 0.02)
    of_first_depths()
    of_training_shares(
        *((1000, 0.3, 1.0, 0.5), (10_000, 0.1, 1.5, 0.5), (10_000, 0.1, 1.2, 0.5), (10_000, 0.01, 3.0, 0.5)),
        *((1000, 0.1, 1.5, 0.5), (1000, 0.05, 3.0, 0.8), (1000, 0.3, 2.0, 0.8), (10_000, 0.005, 3.0, 0.5)),
        *((10_000, 0.01, 1.5, 0.1), (2400, 0.009, 1.5, 0.1), (2400, 0.009, 2.0, 0.1)),
    )
    of_stratified((200, 0.3), (1000, 0.3), (1000, 0.8), (10_000, 0.1))
    of_chosen_depths()
    of_chosen_precisions((2.0, 0.3))
    of_chosen_precisions((3.0, 0.05), lists=400)
    of_few_scores((8, 0.2, 0.1), (8, 0.5, 0.4))
    of_ties((40, 0.5, 0.05, 1), (40, 0.8, 0.05, 1), (40, 0.8, 0.2, 1), (80, 0.5, 0.05, 1), (80, 0.9, 0.05, 1))
    of_ties((40, 0.5, 0.05, 20), (40, 0.8, 0.05, 25), (40, 0.8, 0.2, 20), (80, 0.5, 0.05, 40), (80, 0.8, 0.05, 40))
    of_sequences(*itertools.product((20, 60), (50, 150), (1, 2, 5), (0.05, 0.2)))
