"""A price of your own
===================

What a bad row costs for the good rows that it outranks is a choice. Here a budget is
free of charge, and only what goes past it costs.
"""

# %%
# Which images show a 9? Of 1797 digits, shrunk to 4 by 4 pixels, some are hard to tell.
# Say that the list is read until 40 of the 9s are left. Other digits down there, among
# the last 40, are of no interest; above them, there shall be none.
#
# A budget as a price
# -------------------
#
# A price is a convex function of the *height* r of a bad row, which is the number of
# good rows that it outranks. It comes with its derivative.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import pnorm
from pnorm.objectives import Linear, Power, Price

BUDGET = 40


def past(r):
    """How far r is past the budget."""
    return np.maximum(r - BUDGET, 0)


budget = Price(lambda r: past(r) ** 2, lambda r: 2 * past(r), name="past 40")

# %%
# Both functions are tried out before they are used. A fixed fee for whatever goes past
# the budget is not convex, and where training ends could depend on where it starts. It
# is refused:

try:
    Price(lambda r: np.minimum(r, BUDGET), lambda r: 1.0 * (r < BUDGET), name="at most 40")
except ValueError as error:
    print(error)

# %%
# Three prices, scaled to cost the same for outranking 90 of the 9s:

prices = {"r": Linear(), "r ** 4": Power(4), "past 40": budget}
r = np.linspace(0, 90, 400)
figure, ax = plt.subplots(figsize=(5, 3))
for name, price in prices.items():
    cost = np.exp(price.log_of(r))
    ax.plot(r, cost / cost[-1], label=name)
ax.set(xlabel="height r", ylabel="price")
ax.legend()

# %%
# What it buys
# ------------
#
# In training, a sum of losses over the pairs stands for the count; the logistic loss
# does not run away where a pair is badly wrong. Six splits into halves:

X, digit = load_digits(return_X_y=True)
X, nine = X.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16) / 16, digit == 9
heights = {(part, name): [] for part in ("training", "new") for name in prices}
for seed in range(6):
    halves = np.array_split(np.random.default_rng(seed).permutation(len(X)), 2)
    pos, neg = (X[halves[0][nine[halves[0]] == side]] for side in (True, False))
    for name, price in prices.items():
        lam, _ = pnorm.train(pos, neg, loss="logistic", price=price, t_max=150)
        for part, rows in zip(("training", "new"), halves, strict=True):
            f = pnorm.score(X[rows], None, lam)
            heights[part, name].append(pnorm.metrics.heights(f[nine[rows]], f[~nine[rows]]))

figure, axes = plt.subplots(1, 2, figsize=(7, 3.2), sharey=True)
at = np.arange(1, 90)
for (part, name), of in heights.items():
    mean = [(np.concatenate(of) >= r).sum() / len(of) for r in at]
    axes[int(part == "new")].plot(at, mean, label=name)
for ax, part in zip(axes, ("training", "new"), strict=True):
    ax.axvline(BUDGET, color="black", lw=0.7)
    ax.set(yscale="log", ylim=(0.08, 300), xlabel="height r", title=f"{part} rows")
axes[0].set_ylabel("other digits this high or higher")
axes[0].legend()

# %%
for (part, name), of in heights.items():
    mean = [(np.concatenate(of) > r).sum() / len(of) for r in (10, 20, BUDGET)]
    print(
        f"{part:8}  {name:8} higher than 10: {mean[0]:4.1f}, "
        f"20: {mean[1]:4.1f}, 40: {mean[2]:3.1f}"
    )

# %%
# The price does what it says: of all three it has the most other digits within the
# budget, where they cost nothing, and the fewest past it. On new rows it still has the
# fewest, but not by enough to tell it from r ** 4, which keeps the rest of the list in
# better order and needs no budget.
#
# **To take away.** If you know what a row at a given height costs you, say so:
# :class:`pnorm.objectives.Price` takes any convex function, and checks it. If you do
# not, a power does nearly the same. :doc:`/explanation/prices` compares more of them,
# on real data.

# sphinx_gallery_thumbnail_number = 2
