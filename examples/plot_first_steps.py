"""Train, score, look at the top
=============================

Which tumours should a pathologist look at first? From 285 tumours whose diagnosis is
known we learn a score, and see how it ranks 284 others.
"""

# %%
# Good rows and bad rows
# ----------------------
#
# "Good" is what belongs at the top of the list, here the malignant tumours: the
# *positives*. Ten properties of the cell nuclei were measured on an image of each.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import pnorm

data = load_breast_cancer()
X, malignant = data.data[:, :10], data.target == 0
names = [name.removeprefix("mean ") for name in data.feature_names[:10]]
rows = np.random.default_rng(0).permutation(len(X))
old, new = rows[:285], rows[285:]
pos, neg = X[old[malignant[old]]], X[old[~malignant[old]]]
print(f"to learn from: {len(pos)} malignant and {len(neg)} benign tumours")

# %%
# A score is a weighted sum of *weak rankers*, simple ways to order the rows. Here each
# of them asks whether a property exceeds a cut, with 15 cuts to a property, placed so
# that as many tumours fall between any two.

H = pnorm.rankers.quantile_thresholds(pos, neg, n_cuts=15, names=names)
print(f"{len(H)} weak rankers, such as {H.names[0]!r}")

# %%
# Train
# -----
#
# Every round changes one coefficient, the one that helps most at that moment. With
# ``p=4``, a benign tumour that outranks twice as many malignant ones costs 16 times as
# much.

lam, trace = pnorm.train(pos, neg, H, p=4, t_max=100)
print(trace)
print(f"{np.count_nonzero(lam)} weak rankers are in use")

# %%
# Score, and look at the top
# --------------------------
#
# The tumours that were trained on are in perfect order. That says little, with a
# coefficient for every six of them. What counts is how tumours are ranked that the
# score has never seen.

lists = {}
for name, part in (("trained on", old), ("new", new)):
    f = pnorm.score(X[part], H, lam)
    lists[name] = f[malignant[part]], f[~malignant[part]]

figure, ax = plt.subplots(figsize=(7, 1.5))
pnorm.plotting.ranked_list(lists, top=120, ax=ax)

# %%
# Measures put numbers on that, with intervals for what they would be on other new rows.
# (That of the precision has no width, as the first fifty are malignant in every
# resample. That is no proof that they always are.)

print(pnorm.metrics.summary(*lists["new"], k=50, confidence=0.95))

# %%
# Who carries the score?
# ----------------------
#
# The score can be read. A bar is what a tumour gains, or loses, by exceeding the cut;
# the cuts of one property add up.

pnorm.plotting.weights(lam, H, top=12)

# %%
# **To take away.** :func:`pnorm.train` wants good rows and bad rows,
# :func:`pnorm.score` ranks any others, and lists are judged on rows that were not
# trained on. Which ``p``, and how many rounds, is the question of the next example.

# sphinx_gallery_thumbnail_number = 2
