"""A million rows
==============

The objective is a sum over pairs of a positive and a negative. A million rows
make more than a hundred billion pairs. pnorm forms no pairs: its time and
memory grow with the number of rows. This example measures both.
"""

# %%
# The rows have twenty columns of random numbers. The first two decide how
# likely a row is to be positive.

import time
import tracemalloc

import matplotlib.pyplot as plt
import numpy as np

import pnorm

rng = np.random.default_rng(0)


def draw(rows):
    """Return positives and negatives."""
    X = rng.standard_normal((rows, 20), dtype=np.float32)
    good = X[:, 0] + np.abs(X[:, 1]) + rng.standard_normal(rows) > 2.5
    return X[good], X[~good]


# %%
# Time
# ----
#
# ``a_round`` measures a round of training on thresholds in one thread. For
# comparison, ``over_pairs`` computes the same weights of the rows by the
# formula of the papers, with all pairs in one array.


def a_round(pos, neg, H):
    """Return the seconds that a round takes, the median of fifty."""
    ends = []

    def look(trace):
        ends.append(time.process_time())

    pnorm.train(pos, neg, H, 4, t_max=51, n_threads=1, callback=look)
    return np.median(np.diff(ends))


def over_pairs(f_pos, f_neg, p):
    """Weights of the rows as the papers write them."""
    q = np.exp(f_neg[None, :] - f_pos[:, None])
    push = q.sum(axis=0) ** (p - 1)
    return (q * push).sum(axis=1), q.sum(axis=0) * push


sizes, ours = [10_000, 30_000, 100_000, 300_000, 1_000_000], []
for size in sizes:
    pos, neg = draw(size)
    H = pnorm.rankers.quantile_thresholds(pos, neg, n_cuts=63)
    ours.append(a_round(pos, neg, H))

few, literal = [2_000, 4_000, 8_000], []
for size in few:
    f_pos, f_neg = (side[:, 0] for side in draw(size))
    start = time.process_time()
    for _ in range(5):
        over_pairs(f_pos, f_neg, 4)
    literal.append((time.process_time() - start) / 5)

# %%
# Along the dotted line time is proportional to the rows; it is not measured.
# Below a hundred thousand rows, the fixed cost of a round is visible.

figure, ax = plt.subplots(figsize=(6.5, 3.8))
ax.loglog(few, literal, "s-", color="C1", label="all pairs, one column")
ax.loglog(
    sizes, ours, "o-", label=f"one round, {len(H)} thresholds of 20 columns"
)
ax.loglog(
    sizes, np.array(sizes) * ours[-1] / sizes[-1], ":", color="C5", zorder=0
)
ax.set(xlabel="rows", ylabel="seconds")
ax.legend()

# %%
slope, steep = (
    np.polyfit(np.log(x[-3:]), np.log(y[-3:]), 1)[0]
    for x, y in ((sizes, ours), (few, literal))
)
print(f"{len(pos):,} x {len(neg):,} = {len(pos) * len(neg):,} pairs")
print(
    f"time grows as rows to the power {slope:.2f}, with all pairs {steep:.2f}"
)

# %%
# Memory
# ------
#
# Thresholds are stored as codes. Here they take one byte for each row and
# column, for any number of thresholds up to 255. With ``H=None`` the columns
# themselves are the weak rankers. They are read in place and not copied.

for name, of in (("thresholds", H), ("columns as they are", None)):
    tracemalloc.start()
    pnorm.train(pos, neg, of, 4, t_max=10, n_threads=1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    data = pos.nbytes + neg.nbytes
    print(f"{name}: {peak / 1e6:.0f} MB beside {data / 1e6:.0f} MB of data")

# %%
# **The decision.** Estimate the cost from the number of rows, not pairs. Use
# thresholds for many rows: a round reads one byte for each row and column and
# chooses among more than a thousand weak rankers. The times are those of one
# thread. By default a round uses all cores, with the same result to the last
# bit.
#
# What to do next
# ---------------
#
# * Read how rows are stored: :doc:`/explanation/many_rows`.
# * Compare the speed with other packages, up to ten million rows:
#   :doc:`/results/speed`.
# * Train on rows in partitions on many machines: :doc:`/howto/large`.
