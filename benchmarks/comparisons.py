"""Error rates of the words "better" in the test of the command: tables of the page "Measures of the top".

    python benchmarks/comparisons.py [each]

Five lists of the same rows: a normal merit, plus an error of each list of the same size. All five are equally good, so
every "better" is wrong. One list stands for the trained one and is compared with the other four as on the page: in the
precision of the first rows and in average precision. In the last case there is no merit, and all lists are noise.

A line shows in how many draws the page calls this list better, another one, or either; the same for one comparison, on
average over the four lists; and in how many draws this list passes for better than a random order. The last line has
the largest Monte Carlo standard error of each column. With `each`, every interval of a difference has 95 % by itself,
which is not what the page does.
"""

from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from shared import parser_of

from pnorm._job.quality import quality
from pnorm._report import markup

DRAWS = 250

ERROR = 0.5
"""The standard deviation of the errors. That of the merit within a class is 1."""

OTHERS = ("linear model", "logistic curves", "boosted trees", "x alone")

CASES = {
    "20, 180": (20, 180, 1.5, None, None),
    "60, 300": (60, 300, 1.5, None, None),
    "60, 300, tied scores": (60, 300, 1.5, 0, None),
    "150, 450, budget 50": (150, 450, 1.5, None, 50),
    "60, 300, noise": (60, 300, 0.0, None, None),
}
"""Positives, negatives, the distance of their means, decimals of the scores, and the budget."""


def lists(rng, n_pos, n_neg, apart, decimals):
    """Return the scores of five lists, as pairs of positives and negatives."""
    merit = np.repeat([apart, 0.0], [n_pos, n_neg]) + rng.normal(size=n_pos + n_neg)
    f = merit + ERROR * rng.normal(size=(1 + len(OTHERS), merit.size))
    return [(scores[:n_pos], scores[n_pos:]) for scores in (f if decimals is None else np.round(f, decimals))]


def said(found):
    """Return whether this list and the other one are called better, (measures, lists, 2): precision is the first."""
    beaten = dict(markup.beaten(found))
    of_first = []
    for of in found.differences:
        of_first.append(
            (
                markup.shown_by_hits(of) == markup.THIS_IS_BETTER,
                markup.there(of, found.push) in beaten.get(of.other, ""),
            )
        )
    of_average = [
        (markup.shown_by_averages(of) == markup.THIS_IS_BETTER, "in average precision" in beaten.get(of.other, ""))
        for of in found.averages
    ]
    return of_first, of_average


def page(seed, case, confidence):
    """Return what the page of one draw says of the other lists, and whether of a random order."""
    *how, budget = CASES[case]
    own, *others = lists(np.random.default_rng([list(CASES).index(case), seed]), *how)
    of_others = dict(zip(OTHERS, others, strict=True))
    found = quality(*own, of_others, budget=budget, confidence=confidence, seed=seed)
    return said(found), found.beats_chance


def standard_error(shares):
    """Return the Monte Carlo standard errors of shares of the draws, or upper bounds for means over the lists.

    The mean over the lists of one draw is between 0 and 1, so its variance is at most that of an indicator.
    """
    return np.sqrt(shares * (1.0 - shares) / DRAWS)


def main(each=False):
    """Print a line for each case."""
    confidence = 1.0 - 0.05 * 2 * len(OTHERS) if each else 0.95  # it is divided by the number of differences
    heads = ["this", "other", "either", *["this", "other"] * 2]
    print(f"{'':20}{'a page':>21}{'precision':>14}{'average':>14}{'chance':>8}")
    print(f"{'positives, negatives':20}{''.join([f'{head:>7}' for head in heads])}")
    lines = []
    with ProcessPoolExecutor() as pool:
        for case in CASES:
            pages = list(pool.map(partial(page, case=case, confidence=confidence), range(DRAWS), chunksize=5))
            words = np.array([of_others for of_others, _ in pages])
            of_page = [*words.any(axis=(1, 2)).mean(axis=0), words.any(axis=(1, 2, 3)).mean()]
            lines.append([*of_page, *words.mean(axis=(0, 2)).flat])
            if not each:
                lines[-1].append(np.mean([is_better for _, is_better in pages]))
            print_line(case, lines[-1])
    print_line("standard error up to", standard_error(np.array(lines)).max(axis=0))


def print_line(name, shares):
    """Print shares below the heads of `main`."""
    told = [f"{share:{width}.1%}" for share, width in zip(shares, [7] * 7 + [8], strict=False)]
    print(f"{name:20}{''.join(told)}", flush=True)


if __name__ == "__main__":
    parser = parser_of(__file__, __doc__)
    parser.add_argument("each", nargs="?", choices=["each"], help="intervals that have 95 %% by themselves")
    main(bool(parser.parse_args().each))
