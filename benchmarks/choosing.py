"""Gains from choosing p, and rounds or a penalty: the tables of the page "Choosing p by cross-validation".

    PNORM_DATA=... python benchmarks/choosing.py                 # the first table; four minutes
    PNORM_DATA=... python benchmarks/choosing.py penalties       # the second; ten minutes

Random splits, two thirds to train on and one third to judge by; 31 cuts of each column, at most 400 rounds. On the rows
to train on, 5-fold cross-validation chooses among p = 1, 4, 16, 64 and 40 numbers of rounds by each of several
criteria, all from the same folds and runs; then all of them are trained on with what was chosen. "simplest" is the rule
of one standard error. "at top" are the positives above the first negative, with their standard deviation over splits;
pAUC is the standardised partial AUC down to the first 10 negatives. "+" and "-" stand for more and less than "best
pAUC", with p < 0.05 in a paired t test that is corrected for splits that share rows (Nadeau and Bengio, 2003).

The second table has, for 15 cuts of each column and the first splits, what is chosen by the partial AUC from p = 1, 4,
16 and 40 numbers of rounds, and from the same p and 6 penalties l2 of 1 to 1e-5; differences are paired by split, with
standard errors.
"""

import dataclasses
import time
from functools import partial

import numpy as np
from command_line import data_folder, parser_of
from reproduce import paired

import pnorm
from pnorm import metrics

POWERS = (1, 4, 16, 64)
T_MAX = 400
SPLITS = {"pima": 20, "wdbc": 20, "spambase": 10, "magic": 10}
recipe = partial(pnorm.rankers.quantile_thresholds, n_cuts=31)

CRITERIA = {
    "at top": metrics.positives_at_top,
    "pAUC": lambda f_pos, f_neg: metrics.partial_auc(f_pos, f_neg, max_fp=min(10, len(f_neg)), standardized=True),
    "bedroc": metrics.bedroc,
    "AP": metrics.average_precision,
    "AUC": metrics.auc,
}


def judged(f_pos, f_neg):
    """All criteria at once."""
    return [float(measure(f_pos, f_neg)) for measure in CRITERIA.values()]


def validated(pos, neg, seed):
    """One cross-validation, seen by every criterion: the measure that is called keeps the values of all."""
    kept = []

    def measure(f_pos, f_neg):
        kept.append(judged(f_pos, f_neg))
        return kept[-1][0]

    found = pnorm.cross_validate(pos, neg, recipe, POWERS, T_MAX, metric=measure, rounds=40, seed=seed)
    values = iter(kept)
    scores = np.empty((len(CRITERIA), *found.scores.shape))
    for k in range(found.scores.shape[1]):  # in the order in which they were judged
        for i in range(len(POWERS)):
            last = None
            for s, t in enumerate(np.minimum(found.rounds, found.traces[i][k].n_iter)):
                if t != last:
                    now, last = next(values), t
                scores[:, i, k, s] = now
    assert next(values, None) is None
    np.testing.assert_array_equal(scores[0], found.scores)
    return {name: dataclasses.replace(found, scores=of, metric=name) for name, of in zip(CRITERIA, scores, strict=True)}


def outcome(pos, neg, held_pos, held_neg, rounds):
    """What training on all rows makes of other rows, for every p and number of rounds: (P, S, criterion)."""
    H = recipe(pos, neg)
    out = np.empty((len(POWERS), rounds.size, len(CRITERIA)))
    for i, p in enumerate(POWERS):
        _, trace = pnorm.train(pos, neg, H, p, T_MAX)
        for s, t in enumerate(rounds):
            lam = trace.lam_at(min(int(t), trace.n_iter))
            out[i, s] = judged(pnorm.score(held_pos, H, lam), pnorm.score(held_neg, H, lam))
    return out


def split(X, seed):
    """Two thirds and one third of the rows."""
    rows = np.random.default_rng(seed).permutation(len(X))
    return X[rows[: 2 * len(X) // 3]], X[rows[2 * len(X) // 3 :]]


def measure(name):
    """Print what each way to choose leads to."""
    data = getattr(pnorm.datasets, name)()
    ways = {}
    spread = []
    for seed in range(SPLITS[name]):
        (pos, held_pos), (neg, held_neg) = split(data.pos, seed), split(data.neg, 1000 + seed)
        found = validated(pos, neg, seed)
        rounds = next(iter(found.values())).rounds
        out = outcome(pos, neg, held_pos, held_neg, rounds)
        picks = {f"best {way}": each.best for way, each in found.items()}
        picks |= {f"simplest {way}": found[way].simplest for way in ("at top", "pAUC")}
        for i, p in enumerate(POWERS):
            by = found["pAUC"].mean[i]
            picks[f"p = {p}, best pAUC"] = p, int(rounds[by.argmax()])
        picks |= {f"p = {p}, {T_MAX} rounds": (p, T_MAX) for p in (1, 64)}
        for way, (p, t) in picks.items():
            ways.setdefault(way, []).append((p, t, *out[POWERS.index(p), np.flatnonzero(rounds == t)[0]]))
        top = found["at top"]
        i, s = top._place(*top.best)
        spread.append((top.mean[i, s], top.standard_error[i, s]))
    print(f"{name}: {len(pos)} + {len(neg)} rows to train on, {len(held_pos)} + {len(held_neg)} to judge by, "
          f"{SPLITS[name]} splits")  # fmt: skip
    print(f"{'':22}{'p: 1  4 16 64':>14}{'rounds':>8}{'at top':>17}{'pAUC':>10}{'AP':>10}{'AUC':>10}")
    base = np.array(ways["best pAUC"])
    for way, rows in ways.items():
        rows = np.array(rows)
        powers = " ".join(f"{int((rows[:, 0] == p).sum()):2d}" for p in POWERS)
        tests = [paired(rows[:, k] - base[:, k], 0.5) for k in range(2, rows.shape[1])]
        marks = [" " if not test.corrected < 0.05 else "+" if test.mean > 0 else "-" for test in tests]
        cells = [f"{rows[:, 2].mean():9.1f} ± {rows[:, 2].std(ddof=1):4.1f}{marks[0]}"]
        cells += [f"{rows[:, 2 + k].mean():9.4f}{marks[k]}" for k in (1, 3, 4)]
        print(f"{way:22}{powers:>14}{np.median(rows[:, 1]):8.0f}{''.join(cells)}".rstrip())
    mean, error = np.mean(spread, axis=0)
    print(f"best at top, in cross-validation: {mean:.1f} per fold, with a standard error of {error:.1f}\n", flush=True)


# Rounds or a penalty --------------------------------------------------------------------------------------


PENALTIES = np.logspace(0, -5, 6)
FIRST_SPLITS = {"pima": 20, "spambase": 5}
coarse = partial(pnorm.rankers.quantile_thresholds, n_cuts=15)


def chosen(pos, neg, way):
    """Weak rankers and coefficients by what cross-validation chooses, the choice, and the seconds of processor time."""
    began = time.process_time()
    more = {"t_max": T_MAX, "rounds": 40} if way == "rounds" else {"l2": PENALTIES}
    best = pnorm.cross_validate(pos, neg, coarse, POWERS[:3], **more).best
    took = time.process_time() - began
    H = coarse(pos, neg)
    lam, _ = pnorm.train(pos, neg, H, *best) if way == "rounds" else pnorm.minimize(pos, neg, H, best.p, l2=best.l2)
    return H, lam, best, took


def compare(name):
    """Print what rounds and penalties lead to."""
    data = getattr(pnorm.datasets, name)()
    found = {"rounds": [], "penalty": []}
    for seed in range(FIRST_SPLITS[name]):
        (pos, held_pos), (neg, held_neg) = split(data.pos, seed), split(data.neg, 1000 + seed)
        for way, rows in found.items():
            H, lam, best, took = chosen(pos, neg, way)
            rows.append((*judged(pnorm.score(held_pos, H, lam), pnorm.score(held_neg, H, lam)), *best, took))
    print(f"{name}: {FIRST_SPLITS[name]} splits, {len(H)} cuts")
    print(f"{'':16}{'p: 1  4 16':>12}{'median':>12}{'at top':>12}{'pAUC':>17}{'AP':>18}{'AUC':>18}{'seconds':>9}")
    wanted = [list(CRITERIA).index(measure) for measure in ("at top", "pAUC", "AP", "AUC")]
    for way, rows in found.items():
        found[way] = rows = np.array(rows)
        powers = " ".join(f"{int((rows[:, -3] == p).sum()):2d}" for p in POWERS[:3])
        stage = f"{'t' if way == 'rounds' else 'l2'} = {np.median(rows[:, -2]):.3g}"
        at_top, *cells = rows[:, wanted].mean(axis=0)
        line = f"{at_top:12.1f}{cells[0]:17.4f}{cells[1]:18.4f}{cells[2]:18.4f}{np.median(rows[:, -1]):9.1f}"
        print(f"   {way:13}{powers:>12}{stage:>12}{line}")
    apart = (found["penalty"] - found["rounds"])[:, wanted]
    error = apart.std(axis=0, ddof=1) / np.sqrt(len(apart))
    both = enumerate(zip(apart.mean(axis=0), error, strict=True))
    told = [f"{x:+.1f} ± {e:.1f}" if k == 0 else f"{x:+.4f} ± {e:.4f}" for k, (x, e) in both]
    print(f"   {'difference':37}{told[0]:>12}{told[1]:>17}{told[2]:>18}{told[3]:>18}\n", flush=True)


if __name__ == "__main__":
    parser = parser_of(__file__, __doc__)
    parser.add_argument("table", nargs="?", choices=["penalties"], help="the second table in place of the first")
    asked = parser.parse_args()
    data_folder()
    if asked.table:
        for name in FIRST_SPLITS:
            compare(name)
    else:
        for name in SPLITS:
            measure(name)
