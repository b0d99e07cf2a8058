"""Check claims of the documentation, each with a few lines of code.

    python benchmarks/check.py

Each claim takes less than a minute on one core and needs no files. The page "Check the claims yourself" shows the print
and names the scripts that measure the same at full length.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, ndtr
from shared import parser_of

import pnorm


def the_objective():
    """The objective, in a double loop over pairs."""
    rng = np.random.default_rng(0)
    f_pos, f_neg, p = rng.normal(1, 1, 60), rng.normal(0, 1, 80), 4
    literal = 0.0
    for of_negative in f_neg:
        price = 0.0
        for of_positive in f_pos:
            price += np.exp(-(of_positive - of_negative))
        literal += price**p
    ours = np.exp(pnorm.objectives.value(f_pos, f_neg, pnorm.objectives.Power(p)))
    return f"literal double loop {literal:.6e}, package {ours:.6e}, relative difference {abs(ours / literal - 1):.0e}"


def the_certificate():
    """The certified minimum beside that of SciPy, which knows only the formula and its gradient."""
    data, p, l2 = pnorm.datasets.tic_tac_toe(), 4, 0.01
    lam, trace = pnorm.minimize(data.pos, data.neg, p=p, l2=l2)

    def objective(x):
        f, g = -data.pos @ x, data.neg @ x
        u, w = np.exp(f - logsumexp(f)), np.exp(p * g - logsumexp(p * g))
        value = p * logsumexp(f) + logsumexp(p * g) + 0.5 * l2 * x @ x
        return value, p * (w @ data.neg - u @ data.pos) + l2 * x

    options = {"maxiter": 10_000, "ftol": 1e-15, "gtol": 1e-10}
    theirs = minimize(objective, np.zeros(lam.size), jac=True, method="L-BFGS-B", options=options)
    below = objective(lam)[0] - theirs.fun
    return f"minimize less L-BFGS {below:+.0e}, certified gap {trace.gap:.0e}"


def the_demonstration():
    """Wrong claims among the first 1,000 held out, on 20 draws of which none is in the documentation."""
    wrong = []
    for seed in range(1000, 1020):
        data = pnorm.datasets.insurance_claims(seed=seed)
        (X, new), (y, right) = (np.split(of, 2) for of in (data.X, data.y))
        H = pnorm.rankers.normalized(X[y == 1], X[y == 0])
        first = [np.argsort(-pnorm.score(new, H, pnorm.train(X, y=y, H=H, p=p)[0]))[:1000] for p in (1, 16)]
        wrong.append([(right[rows] == 0).sum() for rows in first])
    fewer = np.subtract(*np.transpose(wrong))
    error = fewer.std(ddof=1) / np.sqrt(fewer.size)
    at_1, at_16 = np.mean(wrong, axis=0)
    return f"wrong: p = 1 {at_1:.1f}, p = 16 {at_16:.1f}, difference {fewer.mean():.1f} ± {error:.1f}"


def the_cutoff():
    """Cut-offs for a precision of 0.8 on 500 lists of 1,000 rows with normal scores, whose precision is known."""
    rng, broken, some = np.random.default_rng(5), 0, 0
    for _ in range(500):
        y = rng.random(1000) < 0.3
        score = pnorm.cutoff(rng.normal(2.0 * y, 1.0), y=y, precision=0.8).score
        if score is not None:
            hits, misses = 0.3 * ndtr(2.0 - score), 0.7 * ndtr(-score)
            some, broken = some + 1, broken + (hits / (hits + misses) < 0.8)
    return f"{broken} of 500 lists broken ({broken / 500:.1%}; promised: at most 5 %), {some} have a cut-off"


def the_interval_of_the_auc():
    """The coverage of the interval of the AUC, with 10 positives in each list."""
    rng, truth, held = np.random.default_rng(6), float(ndtr(3.5 / np.sqrt(2.0))), 0
    for _ in range(1000):
        found = pnorm.metrics.auc(rng.normal(3.5, 1, 10), rng.normal(0, 1, 200), confidence=0.95, n_resamples=200)
        held += found.low <= truth <= found.high
    return f"95 % intervals hold in {held / 1000:.1%} of 1,000 lists"


def the_shares_of_the_classes():
    """The coefficients if every negative counts 50 times."""
    data = pnorm.datasets.tic_tac_toe()
    once, _ = pnorm.train(data.pos, data.neg, p=4)
    copied, _ = pnorm.train(data.pos, np.repeat(data.neg, 50, axis=0), p=4)
    return f"largest change of a coefficient {np.abs(copied - once).max():.0e}, largest coefficient {once.max():.2f}"


CLAIMS = (
    the_objective,
    the_certificate,
    the_demonstration,
    the_cutoff,
    the_interval_of_the_auc,
    the_shares_of_the_classes,
)


def main():
    """Print a line for each claim."""
    for claim in CLAIMS:
        print(f"{claim.__doc__}\n    {claim()}", flush=True)


if __name__ == "__main__":
    parser_of(__file__, __doc__).parse_args()
    main()
