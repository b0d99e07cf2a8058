"""Optimality certificates
=======================

Training has stopped: is the objective as low as it gets? Here are three answers to that
question, on one set of data.
"""

# %%
# Malignant and benign tumours, by six properties as they are, by cuts of the same six,
# and by all thirty that were measured.

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import pnorm

data = load_breast_cancer()
malignant = data.target == 0
pos, neg = data.data[malignant], data.data[~malignant]
six = pos[:, :6], neg[:, :6]
problems = {
    "six properties": (*six, pnorm.rankers.normalized(*six)),
    "cuts of the six": (*six, pnorm.rankers.quantile_thresholds(*six, n_cuts=7)),
    "all thirty": (pos, neg, pnorm.rankers.normalized(pos, neg)),
}

# %%
# A proof
# -------
#
# :func:`pnorm.train` goes down one coefficient at a time, and stops when it is told to.
# :func:`pnorm.minimize` takes Newton's steps and stops when it can prove that it is
# there: ``trace.gap`` bounds what is left above the infimum.

p = 4
pos6, neg6, H = problems["six properties"]
lam, run = pnorm.train(pos6, neg6, H, p, t_max=3000)
best, newton = pnorm.minimize(pos6, neg6, H, p)
print(newton)
print(f"the infimum is lower by {newton.gap:.1e} at most")

# %%
pnorm.plotting.trace({"train": run, "minimize": newton}, floor=newton.objective[-1])

# %%
# After a few hundred rounds a tenth of a nat is left. That need not be a fault: to stop
# early is to keep the coefficients small. But without a proof one does not know what
# was left.
#
# When there is none
# ------------------
#
# The objective need not have a minimiser. If some weighted sum puts all malignant
# tumours above all benign ones, twice that sum does it better. If it does so for some
# tumours, and does no harm to the others, the coefficients grow for the sake of these
# few. Each set of columns has its own answer:

for name, (a, b, h) in problems.items():
    found = pnorm.diagnostics.separability(a, b, h)
    kept = found.support_pos.sum() + found.support_neg.sum()
    print(f"{name:16} {found.kind:16} {kept} of 569 tumours keep weight in the limit")

# %%
# *Overlapping*: there is a minimiser. *Separable*: the objective falls for ever, and
# the coefficients say when training stopped, no more. *Quasi-separable*: the clear
# cases lose all weight in the limit, and the others have a minimiser of their own. On
# the left, training on the three; on the right, the tumours of the second, hollow if
# they are clear cases.

figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3.4))
for name, (a, b, h) in problems.items():
    _, trace = pnorm.train(a, b, h, p, t_max=1000)
    left.plot(trace.log_objective, label=name)
left.set(xlabel="rounds", xscale="symlog", xlim=(0, 1000), ylabel="log $F_p$")
left.legend()

a, b, h = problems["cuts of the six"]
found = pnorm.diagnostics.separability(a, b, h)
for rows, keeps, colour in ((b, found.support_neg, "C1"), (a, found.support_pos, "C0")):
    for on, face in ((keeps, colour), (~keeps, "none")):
        right.scatter(*rows[on, :2].T, s=12, edgecolors=colour, facecolors=face, lw=0.7)
right.set(xlabel="radius", ylabel="texture", title="blue: malignant")

# %%
# Report
# --------
#
# All of this can be had for any coefficients, however they were found:

lam, _ = pnorm.train(a, b, h, p)
print(pnorm.diagnostics.report(a, b, h, p, lam))

# %%
# **To take away.** To compare p, loss or weak rankers, compare minimisers, or say where
# training stopped: a figure after 200 rounds shows the rounds as much as the p. Where
# there is no minimiser, stop early or set ``l2``, and do not read much into large
# coefficients. :doc:`/explanation/certificates` has the theory. (How well the
# training rows are fitted is not how well new rows are ranked; for that, see the example
# before.)
