"""Optimality certificates
=======================

Training has stopped. Is the objective at its minimum? A certificate bounds the
distance from it. This example shows the certificate, and three data sets with
and without a minimiser.
"""

# %%
# The rows are malignant and benign tumours. There are three sets of weak
# rankers: six properties, cuts of the same six, and all thirty properties.

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import pnorm

data = load_breast_cancer()
malignant = data.target == 0
pos, neg = data.data[malignant], data.data[~malignant]
six = pos[:, :6], neg[:, :6]
problems = {
    "six properties": (*six, pnorm.rankers.normalized(*six)),
    "cuts of the six": (
        *six,
        pnorm.rankers.quantile_thresholds(*six, n_cuts=7),
    ),
    "all thirty": (pos, neg, pnorm.rankers.normalized(pos, neg)),
}

# %%
# The certificate
# ---------------
#
# :func:`pnorm.train` changes one coefficient per round and stops after
# ``t_max`` rounds. :func:`pnorm.minimize` takes Newton steps and stops when it
# has a certificate: ``trace.gap`` bounds the distance of the objective from its
# infimum.

p = 4
pos6, neg6, H = problems["six properties"]
lam, run = pnorm.train(pos6, neg6, H, p, t_max=3000)
best, newton = pnorm.minimize(pos6, neg6, H, p)
print(newton)
print(f"the infimum is lower by {newton.gap:.1e} at most")

# %%
pnorm.plotting.trace(
    {"train": run, "minimize": newton}, floor=newton.objective[-1]
)

# %%
# After a few hundred rounds, training is a tenth of a nat above the infimum.
# This need not be a fault: early stopping keeps the coefficients small. The
# certificate measures the distance.
#
# When there is no minimiser
# --------------------------
#
# Suppose that a weighted sum ranks all malignant tumours above all benign ones.
# Then twice that sum has a lower objective, and there is no minimiser. If a
# weighted sum puts some pairs in order strictly and no pair in the wrong order,
# its coefficients still grow without limit. ``separability`` finds which case
# holds:

for name, (a, b, h) in problems.items():
    found = pnorm.diagnostics.separability(a, b, h)
    kept = found.support_pos.sum() + found.support_neg.sum()
    print(
        f"{name:16} {found.kind:16} "
        f"{kept} of 569 tumours keep weight in the limit"
    )

# %%
# * *Overlapping*: there is a minimiser.
# * *Separable*: the objective falls without end. The coefficients depend on
#   when training stopped.
# * *Quasi-separable*: the clear cases lose all weight in the limit. The other
#   rows have a minimiser of their own.
#
# The left picture shows training on the three sets. The right picture shows the
# tumours of the second set. Clear cases are hollow.

figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3.4))
for name, (a, b, h) in problems.items():
    _, trace = pnorm.train(a, b, h, p, t_max=1000)
    left.plot(trace.log_objective, label=name)
left.set(xlabel="rounds", xscale="symlog", xlim=(0, 1000))
left.set(ylabel="log $F_p$", ylim=(8, 28))
left.legend(loc="lower left")

a, b, h = problems["cuts of the six"]
found = pnorm.diagnostics.separability(a, b, h)
for rows, keeps, colour in (
    (b, found.support_neg, "C3"),
    (a, found.support_pos, "C0"),
):
    for on, face in ((keeps, colour), (~keeps, "none")):
        right.scatter(
            *rows[on, :2].T, s=12, edgecolors=colour, facecolors=face, lw=0.7
        )
right.set(xlabel="radius", ylabel="texture", title="blue: malignant")

# %%
# Report
# ------
#
# ``report`` computes all of this for any coefficients, whichever method found
# them:

lam, _ = pnorm.train(a, b, h, p)
print(pnorm.diagnostics.report(a, b, h, p, lam))

# %%
# **The decision.** Compare minimisers when you compare p, losses or weak
# rankers. A result after 200 rounds depends on the rounds as much as on p. If
# there is no minimiser, stop early or set ``l2``, and do not interpret large
# coefficients. A certificate is about the training rows. The ranking of new
# rows needs held-out rows.
#
# What to do next
# ---------------
#
# * Read the theory: :doc:`/explanation/certificates`.
# * Choose p and the penalty on held-out rows: :doc:`/gallery/plot_choose_p` and
#   :doc:`/howto/choosing`.
