"""Few positives or few negatives: the numbers of the page "Uneven classes"; needs PNORM_DATA.

    PNORM_DATA=... python benchmarks/uneven.py           # some minutes on one core

`doc/pictures.py uneven` measures the same, draws it, and writes doc/_outputs/uneven.inc.

1. Two normal classes, 6 columns, means 2 standard deviations apart, so that every p has the same best direction. The
   minimisers of F_p over 100 draws: their true positive rate at a false positive rate of 1 %, computed from the
   distribution, beside what the formula of the page predicts.
2. MAGIC, Spambase (logarithms of the columns) and a9a: random splits of each class, two thirds to train on and one
   third to judge by. Some of the training rows of a class are kept, at most 4000. 200 rounds on columns scaled to
   [0, 1]. All sizes of a split are judged by the same rows.
3. Housing, the uneven set of the papers: the same with all 23 positives and some or all negatives.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.stats import chi2, norm

import pnorm
from pnorm import metrics

sys.path.insert(0, str(Path(__file__).parent))
from command_line import data_folder, parser_of
from tables import list_table

POWERS = (1, 4, 16, 64)
COLUMNS, APART = 6, 2.0
FULL, SIZES = 4000, (50, 200, 1000, 4000)
SPLITS = {"MAGIC": 40, "Spambase": 20, "a9a": 20, "Housing": 100}


# Normal classes -----------------------------------------------------------------------------------------


def found_at_one_percent(cosine):
    """The true positive rate at a false positive rate of 1 %, of a direction at this cosine from the best."""
    return norm.cdf(APART * cosine + norm.ppf(0.01))


def noise(n_pos, n_neg, p):
    """1 / I_p + 1 / K_p of the page."""
    of_pos, of_neg = (np.exp((APART * tilt / (1 + p)) ** 2) for tilt in (1, p))
    return of_pos / n_pos + of_neg / n_neg


def predicted(n_pos, n_neg, p):
    """The mean of that rate over draws, as the page predicts it."""
    quantiles = chi2.ppf((np.arange(1000) + 0.5) / 1000, COLUMNS - 1)
    tangent = np.sqrt(noise(n_pos, n_neg, p) * quantiles) / APART
    return found_at_one_percent(1 / np.hypot(1, tangent)).mean()


def simulated(n_pos, n_neg, draws=100):
    """That rate for the minimiser of each p, over draws: (draws, p)."""
    found = np.empty((draws, len(POWERS)))
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        pos, neg = rng.normal(size=(n_pos, COLUMNS)), rng.normal(size=(n_neg, COLUMNS))
        pos[:, 0] += APART
        for i, p in enumerate(POWERS):
            lam, _ = pnorm.minimize(pos, neg, p=p)
            found[seed, i] = found_at_one_percent(lam[0] / np.linalg.norm(lam))
    return found


# Public data --------------------------------------------------------------------------------------------


FAR = {"Housing": 0.1}  # false positive rates up to which the partial AUC goes, 1 % elsewhere


def rows_of(name):
    """Positive and negative rows of a set."""
    data = getattr(pnorm.datasets, name.lower())()
    if name == "Spambase":
        return np.log1p(data.pos), np.log1p(data.neg)
    return data.pos, data.neg


def halves(rows, rng):
    """Two thirds of the rows and one third, at random."""
    order = rng.permutation(rows.shape[0])
    cut = 2 * len(order) // 3
    return rows[order[:cut]], rows[order[cut:]]


def judged(pos, neg, held, p, far):
    """Partial AUC, share of positives above the first negative, and AUC of held-out rows; AUC of the training rows."""
    H = None if hasattr(pos, "tocsr") else pnorm.rankers.normalized(pos, neg)  # a9a is sparse, of zeros and ones
    lam, _ = pnorm.train(pos, neg, H, p)
    known, new = ([pnorm.score(side, H, lam) for side in rows] for rows in ((pos, neg), held))
    top = metrics.positives_at_top(*new) / len(new[0])
    return [metrics.partial_auc(*new, far, standardized=True), top, metrics.auc(*new), metrics.auc(*known)]


def sizes(most):
    """Numbers of positives and negatives: few positives, few negatives, as few of both."""
    fewer = [[min(s, n) for s in SIZES] for n in most]
    return {
        "few positives": [(i, most[1]) for i in fewer[0]],
        "few negatives": [(most[0], k) for k in fewer[1]],
        "few of both": list(zip(*fewer, strict=True)),
    }


def every(most):
    """All of these numbers, each once."""
    return list(dict.fromkeys(size for line in sizes(most).values() for size in line))


def public(name):
    """By the numbers of positives and negatives, what `judged` finds: (split, p, measure)."""
    found = {}
    for seed in range(SPLITS[name]):
        rng = np.random.default_rng(seed)
        (pos, held_pos), (neg, held_neg) = (halves(side, rng) for side in rows_of(name))
        most = [min(FULL, side.shape[0]) for side in (pos, neg)]
        for i, k in every(most):
            runs = [judged(pos[:i], neg[:k], (held_pos, held_neg), p, FAR.get(name, 0.01)) for p in POWERS]
            found.setdefault((i, k), []).append(runs)
    return {size: np.array(runs) for size, runs in found.items()}


# Tables -------------------------------------------------------------------------------------------------


def measured():
    """Return the results of `simulated` and `public`, by name."""
    normal = {size: simulated(*size) for size in every((FULL, FULL))}
    return {"Normal classes": normal} | {name: public(name) for name in SPLITS}


def means(values):
    """Means over draws or splits, in hundredths, and their standard errors."""
    return 100 * values.mean(axis=0), 100 * values.std(axis=0, ddof=1) / len(values) ** 0.5


def normal_table(found):
    """True positive rates, found and predicted."""
    lines = [["I", "K", *(f"p = {p}" for p in POWERS)]]
    for size, values in found.items():
        formula = [100 * predicted(*size, p) for p in POWERS]
        cells = [f"{m:.1f} \u00b1 {e:.1f}; {f:.1f}" for m, e, f in zip(*means(values), formula, strict=True)]
        lines.append([*map(str, size), *cells])
    return lines


def public_table(found):
    """The partial AUC for every p, other measures for the first and the last; differences from p = 1."""
    last = len(POWERS) - 1
    lines = [["I", "K", "pAUC, p = 1", *(f"p = {p}" for p in POWERS[1:])]]
    lines[0] += [cell for name in ("at top", "AUC", "training AUC") for cell in (f"{name}, p = 1", f"p = {POWERS[-1]}")]
    for size, values in found.items():
        mean, error = means(values - values[:, :1])
        line = [*map(str, size)]
        for measure in range(values.shape[2]):
            line.append(f"{100 * values[:, 0, measure].mean():.1f}")
            shown = range(last if measure else 1, last + 1)
            line += [f"{mean[i, measure]:+.1f} \u00b1 {error[i, measure]:.1f}" for i in shown]
        lines.append(line)
    return lines


def tables(found):
    """All of it, for the page."""
    text = ""
    for name, of in found.items():
        lines = normal_table(of) if name == "Normal classes" else public_table(of)
        text += f"{name}\n{'~' * len(name)}\n\n" + list_table(lines, ":class: dense") + "\n"
    return text.replace(" \u00b1 ", "\u00a0\u00b1\u00a0")


if __name__ == "__main__":
    parser_of(__file__, __doc__).parse_args()
    data_folder()
    print(tables(measured()))
