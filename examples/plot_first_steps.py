"""Train, score, look at the top
=============================

The shortest complete example: train a score on 285 tumours with a known
diagnosis, and test how it ranks 284 others. Malignant tumours should come
first.
"""

# %%
# Positives and negatives
# -----------------------
#
# *Positives* belong at the top of the list. Here they are the malignant
# tumours. Ten properties of the cell nuclei were measured on an image of each
# tumour.

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
print(f"training rows: {len(pos)} malignant and {len(neg)} benign tumours")

# %%
# A score is a weighted sum of *weak rankers*. A weak ranker maps a row to a
# number. Here it is 1 if a property exceeds a cut, and 0 otherwise. Each
# property has 15 cuts, with about the same number of tumours between any two.

H = pnorm.rankers.quantile_thresholds(pos, neg, n_cuts=15, names=names)
print(f"{len(H)} weak rankers, such as {H.names[0]!r}")

# %%
# Train
# -----
#
# Each round changes one coefficient: that of the weak ranker with the largest
# edge. With ``p=4``, a benign tumour that outranks twice as many malignant ones
# costs 16 times as much.

lam, trace = pnorm.train(pos, neg, H, p=4, t_max=100)
print(trace)
print(f"{np.count_nonzero(lam)} weak rankers are in use")

# %%
# Score, and look at the top
# --------------------------
#
# The training tumours are in perfect order. This proves little, because there
# is one coefficient for every six of them. Judge the score by the new tumours,
# which were not used for training.

lists = {}
for name, part in (("trained on", old), ("new", new)):
    f = pnorm.score(X[part], H, lam)
    lists[name] = f[malignant[part]], f[~malignant[part]]

figure, ax = plt.subplots(figsize=(7, 1.5))
pnorm.plotting.ranked_list(lists, top=120, ax=ax)

# %%
# ``summary`` computes measures of the new list, with intervals for other new
# rows. The interval of the precision has no width, because the first fifty
# tumours are malignant in every resample. This is no proof that they always
# are.

print(pnorm.metrics.summary(*lists["new"], k=50, confidence=0.95))

# %%
# The largest coefficients
# ------------------------
#
# A bar shows what a tumour gains or loses when it exceeds the cut. The cuts of
# one property add up.

pnorm.plotting.weights(lam, H, top=12)

# %%
# What to do next
# ---------------
#
# * Choose p and the number of rounds: :doc:`/gallery/plot_choose_p`.
# * Make a short score in whole points of the same data:
#   :doc:`/gallery/plot_medical_score`.
# * Start from a table with text and dates: :doc:`/gallery/plot_fraud`.

# sphinx_gallery_thumbnail_number = 2
