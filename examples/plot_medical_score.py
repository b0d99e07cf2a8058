"""A medical score on one page
===========================

Which tumours should a pathologist look at first? This tutorial makes a score of
four measurements in whole points, which can be filled in without a computer. A
certificate proves that the coefficients are the best, and held-out tumours test
the score.
"""

# %%
# The table
# ---------
#
# The Wisconsin breast cancer data come with scikit-learn: 569 tumours with a
# known diagnosis. Ten properties of the cell nuclei were measured on an image
# of each tumour. A random 40 % of the tumours are kept for the test.

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pnorm
from pnorm.metrics import auc, positives_at_top, recall_at
from pnorm.rankers import from_table
from pnorm.sklearn import PNormPush

data = load_breast_cancer(as_frame=True)
tumours = data.data.iloc[:, :10].rename(
    columns=lambda name: name.removeprefix("mean ")
)
malignant = data.target.to_numpy() == 0
train, test = np.split(
    np.random.default_rng(0).permutation(len(tumours)), [342]
)
for name, part in (("train", train), ("test", test)):
    bad, good = malignant[part].sum(), (~malignant[part]).sum()
    print(f"{name:5} {bad} malignant, {good} benign")

# %%
# Fit under constraints
# ---------------------
#
# A score that people use must be short and must make sense. Set three
# constraints:
#
# * At most four columns have coefficients (``max_columns``).
# * The score is made of cuts only, at most 15 for each column.
# * The score never falls when a measurement grows (``monotone``). This rule is
#   medical knowledge: larger and more irregular nuclei are a bad sign.
#
# The penalty is chosen by cross-validation.

cuts = partial(from_table, n_cuts=15, monotone=dict.fromkeys(tumours, 1))
model = PNormPush(p=4, rankers=cuts, max_columns=4)
model.fit(tumours.iloc[train], malignant[train])
print(model.cross_validation_.best)

# %%
# Look at the shape of the score. Each panel shows what one measurement adds.

figure, axes = plt.subplots(2, 2, figsize=(7, 4.6))
pnorm.plotting.shapes(model.lam_, model.rankers_, ax=axes)

# %%
# Are these the best coefficients?
# --------------------------------
#
# Training minimises a convex objective. The certificate bounds the distance
# from the minimum.

print(model.certificate_)

# %%
# The objective is above its minimum by less than a millionth. The proof holds
# for the four columns that were kept, with this penalty and these signs. It
# does not exclude that four other columns are better, and the ranking of new
# patients needs a test.
#
# From coefficients to points
# ---------------------------
#
# ``scorecard`` rounds the score to whole points. The table under the points
# shows what the rounding costs on the training rows. No measurement is missing
# in these data, so the lines "(missing)" rest on no tumour.

pos = tumours.iloc[train[malignant[train]]]
neg = tumours.iloc[train[~malignant[train]]]
card = pnorm.scorecard(model, points=10, pos=pos, neg=neg)
print(card)

# %%
# Test
# ----
#
# Compare the points with the score before the rounding, with p = 1 under the
# same constraints, and with logistic regression on all ten columns. There are
# 86 malignant tumours in the test. "top" counts those before the first benign
# one, and "first 90" is their share among the first 90 tumours.

simple = PNormPush(p=1, rankers=cuts, max_columns=4)
simple.fit(tumours.iloc[train], malignant[train])
logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
logistic.fit(tumours.iloc[train], malignant[train])
scores = {
    "logistic, 10 columns": logistic.decision_function(tumours.iloc[test]),
    "p = 1, 4 columns": simple.decision_function(tumours.iloc[test]),
    "p = 4, 4 columns": model.decision_function(tumours.iloc[test]),
    "p = 4, points": card.score(tumours.iloc[test]),
}
y = malignant[test]
lists = {name: (f[y], f[~y]) for name, f in scores.items()}
print(f"{'':21}{'top':>8}{'first 90':>11}{'AUC':>9}")
for name, sides in lists.items():
    area = auc(*sides, confidence=0.95)
    print(
        f"{name:21}{positives_at_top(*sides):8}{recall_at(*sides, k=90):11.0%}"
        f"    {area:.3f} [{area.low:.3f}, {area.high:.3f}]"
    )

# %%
# In this test, four columns and whole points lose little against ten columns:
# the AUC intervals overlap almost completely, and among the first 90 tumours
# the points find as many malignant ones. p = 4 gains nothing over p = 1,
# because the classes are separated well. With another seed the order of the
# four scores changes: 86 malignant tumours are few.
#
# The first 120 tumours of each list, the best on the left:

ax = pnorm.plotting.ranked_list(lists, top=120)

# %%
# Cut-off in points
# -----------------
#
# At how many points should a tumour be looked at today? At least 90 % of the
# malignant ones must be found, with 95 % confidence. The test rows were not
# used for training, so they can be used for this promise.

cut = pnorm.cutoff(*lists["p = 4, points"], recall=0.9)
print(cut)

# %%
# **The decision.** Print the table of points. A tumour with 9 points or more is
# looked at first. In the test these are 118 of 227 tumours, with 85 of the 86
# malignant ones.
#
# What to do next
# ---------------
#
# * Get the score as a page, as SQL or as Python code: ``card.to_html()``,
#   ``card.to_sql()`` and ``card.to_python()``; see :doc:`/howto/scorecard`.
# * Compare smooth, monotone and short scores: :doc:`/howto/readable`.
# * Turn scores into probabilities: :doc:`/howto/probability`.
# * Read what a certificate proves: :doc:`/gallery/plot_minimiser` and
#   :doc:`/explanation/certificates`.
# * Test the score on patients of another hospital before you use it.
