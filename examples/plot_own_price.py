"""A price of your own
===================

A price is what a negative costs for the positives that it outranks. You can
pass your own. In this example a negative is free up to a budget and costs only
beyond it.
"""

# %%
# Which of 1797 images show a 9? The images are reduced to 4 by 4 pixels, so
# some digits are hard to tell apart. Suppose that the list is read until 40 of
# the 9s are left. Other digits among the last 40 do no harm. Above them there
# should be none.
#
# A budget as a price
# -------------------
#
# A price is a convex function of the *height* r of a negative: the number of
# positives that it outranks. Pass the function and its derivative.

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
# ``Price`` checks both functions. A price that stops growing at the budget is
# not convex, and the result of training could depend on the start. It raises an
# error:

try:
    Price(
        lambda r: np.minimum(r, BUDGET),
        lambda r: 1.0 * (r < BUDGET),
        name="at most 40",
    )
except ValueError as error:
    print(error)

# %%
# The picture shows three prices, scaled to be equal at a height of 90:

prices = {"r": Linear(), "r ** 4": Power(4), "past 40": budget}
r = np.linspace(0, 90, 400)
figure, ax = plt.subplots(figsize=(5, 3))
for name, price in prices.items():
    cost = np.exp(price.log_of(r))
    ax.plot(r, cost / cost[-1], label=name)
ax.set(xlabel="height r", ylabel="price")
ax.legend()

# %%
# Train and compare
# -----------------
#
# Training replaces the count of pairs by a sum of losses over pairs. The
# logistic loss grows only linearly for a pair in the wrong order. The data are
# split into halves six times.

X, digit = load_digits(return_X_y=True)
X, nine = (
    X.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16) / 16,
    digit == 9,
)
heights = {(part, name): [] for part in ("training", "new") for name in prices}
for seed in range(6):
    halves = np.array_split(np.random.default_rng(seed).permutation(len(X)), 2)
    pos, neg = (X[halves[0][nine[halves[0]] == side]] for side in (True, False))
    for name, price in prices.items():
        lam, _ = pnorm.train(pos, neg, loss="logistic", price=price, t_max=150)
        for part, rows in zip(("training", "new"), halves, strict=True):
            f = pnorm.score(X[rows], None, lam)
            heights[part, name].append(pnorm.metrics.heights(f, y=nine[rows]))

figure, axes = plt.subplots(1, 2, figsize=(7, 3.2), sharey=True)
at = np.arange(1, 90)
for (part, name), of in heights.items():
    mean = [(np.concatenate(of) >= r).sum() / len(of) for r in at]
    axes[int(part == "new")].plot(at, mean, label=name)
for ax, part in zip(axes, ("training", "new"), strict=True):
    ax.axvline(BUDGET, color="black", lw=0.7)
    ax.set(
        yscale="log", ylim=(0.08, 300), xlabel="height r", title=f"{part} rows"
    )
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
# On the training rows the price has the intended effect. Of the three prices it
# leaves the most other digits within the budget, where they cost nothing, and
# the fewest beyond it. On new rows it still leaves the fewest beyond it, but
# the difference from r ** 4 is too small to matter. The power r ** 4 keeps the
# rest of the list in better order and needs no budget.
#
# **The decision.** If you can state the cost of each height, pass it as a
# :class:`pnorm.objectives.Price`. Otherwise use a power, which does nearly as
# well.
#
# What to do next
# ---------------
#
# * Compare more prices on public data: :doc:`/explanation/prices`.
# * Choose the power: :doc:`/gallery/plot_choose_p`.

# sphinx_gallery_thumbnail_number = 1
