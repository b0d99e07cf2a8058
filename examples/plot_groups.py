"""Groups: what competes with what
===============================

Every day a shop has forty offers, and room for five of them on its front page. An offer
competes with those of its day and with no others. What if training does not know that?
"""

# %%
# Good days
# ---------
#
# On a good day, before a holiday say, prices are higher, and more is sold. Within a day
# it is the cheap and well-rated offers that sell.

import matplotlib.pyplot as plt
import numpy as np

import pnorm

rng = np.random.default_rng(0)


def draw(days, offers=40):
    """Offers by price and rating, whether each was sold, and on which day."""
    day = np.repeat(np.arange(days), offers)
    good = rng.normal(size=days)[day]
    cheap, rated = rng.normal(size=(2, len(day)))
    sold = rng.random(len(day)) < 1 / (1 + np.exp(2.5 - 2 * good - cheap - rated))
    return np.column_stack([3 * good - cheap, rated]), sold, day


X, sold, day = draw(100)
X_new, sold_new, day_new = draw(300)

# %%
# Three scores
# ------------
#
# The labels of the groups are anything that can be told apart. A known remedy is to
# subtract the mean of its day from every row.

pos, neg = X[sold], X[~sold]
days = {"pos_group": day[sold], "neg_group": day[~sold]}
means = np.array([X[day == d].mean(axis=0) for d in range(100)])[day]
scores = {
    "pooled": pnorm.minimize(pos, neg, p=4)[0],
    "grouped": pnorm.minimize(pos, neg, p=4, **days)[0],
    "centred": pnorm.minimize((X - means)[sold], (X - means)[~sold], p=4)[0],
}
for name, lam in scores.items():
    print(f"{name}:  price {lam[0]:+.2f}, rating {lam[1]:+.2f}")

# %%
# Pooled, a high price speaks *for* an offer. That is true from one day to another, and
# false within each. Three days; what was sold is filled, and arrows point to where the
# scores rise.

figure, ax = plt.subplots(figsize=(6.5, 3.6))
price = [X[day == d, 0].mean() for d in range(100)]
for d, colour in zip(np.argsort(price)[[20, 50, 85]], ("C4", "C2", "C0"), strict=True):
    for on, face in ((sold, colour), (~sold, "none")):
        ax.scatter(*X[on & (day == d)].T, s=28, edgecolors=colour, facecolors=face)
start = np.array([0, -4])
for name, style in (("pooled", "C5"), ("grouped", "black")):
    step = 1.6 * scores[name] / np.linalg.norm(scores[name])
    arrow = {"color": style, "width": 2, "headwidth": 8, "headlength": 8}
    ax.annotate("", step + start, start, arrowprops=arrow)
    ax.annotate(name, 1.1 * step + start, ha="center", va="bottom")
ax.set(xlabel="price", ylabel="rating", ylim=(-4.3, None), aspect="equal")

# %%
# Judge by the day
# ----------------
#
# On 300 new days: how many of the first five offers are sold? The measures of
# :mod:`pnorm.metrics` see one list, and so each day is measured by itself.


def by_day(measure, f, *arguments):
    """Return the mean of a measure over the days that have both sides."""
    values = []
    for d in range(300):
        f_pos, f_neg = (f[(day_new == d) & side] for side in (sold_new, ~sold_new))
        if len(f_pos) and len(f_neg):
            values.append(measure(f_pos, f_neg, *arguments))
    return np.mean(values)


auc, precision_at = pnorm.metrics.auc, pnorm.metrics.precision_at
rng = np.random.default_rng(1)
print("          sold of the first 5    AUC within a day    AUC of all days in one list")
for name, lam in (scores | {"blind": None}).items():
    f = rng.random(len(X_new)) if lam is None else pnorm.score(X_new, None, lam)
    five, within = by_day(precision_at, f, 5), by_day(auc, f)
    whole = auc(f[sold_new], f[~sold_new])
    print(f"{name:8} {5 * five:20.2f} {within:19.3f} {whole:24.3f}")

# %%
# The last column is the trap. Judged by one long list, the pooled score is by far the
# best: it knows which *days* are good. Nobody can choose the day. Centring does as well
# as groups here, where all that a day changes is where its offers lie. The push is not
# the point: with p = 1 the three scores compare in the same way.
#
# **To take away.** Where rows compete within groups, train with groups, and judge
# within groups. A measure of all rows in one list rewards what is of no use.
