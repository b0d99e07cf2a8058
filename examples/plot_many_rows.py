"""A million rows
==============

The objective is a sum over pairs of a good and a bad row, and a million rows make more
than a hundred billion of them. No pair is ever formed: time and memory grow with the
rows.
"""

# %%
# Twenty columns of noise, of which the first two say how likely a row is to be good.

import time
import tracemalloc

import matplotlib.pyplot as plt
import numpy as np

import pnorm

rng = np.random.default_rng(0)


def draw(rows):
    """Return good rows and bad rows."""
    X = rng.standard_normal((rows, 20), dtype=np.float32)
    good = X[:, 0] + np.abs(X[:, 1]) + rng.standard_normal(rows) > 2.5
    return X[good], X[~good]


# %%
# Time
# ----
#
# A round of training on thresholds, in one thread, and for comparison the same weights
# of the rows by the formula: all pairs in one array.


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
# The dotted line is not measured: along it, time is in proportion to the rows. Below a
# hundred thousand of them, what a round costs beside the pass over the rows shows.

figure, ax = plt.subplots(figsize=(6.5, 3.8))
ax.loglog(few, literal, "s-", color="C1", label="all pairs, one column")
ax.loglog(sizes, ours, "o-", label=f"one round, {len(H)} thresholds of 20 columns")
ax.loglog(sizes, np.array(sizes) * ours[-1] / sizes[-1], ":", color="C5", zorder=0)
ax.set(xlabel="rows", ylabel="seconds")
ax.legend()

# %%
slope, steep = (
    np.polyfit(np.log(x[-3:]), np.log(y[-3:]), 1)[0]
    for x, y in ((sizes, ours), (few, literal))
)
print(f"{len(pos):,} x {len(neg):,} = {len(pos) * len(neg):,} pairs")
print(f"time grows as rows to the power {slope:.2f}, with all pairs {steep:.2f}")

# %%
# Memory
# ------
#
# Thresholds are kept as codes, one byte per row and column here, whatever their number.
# Columns that are used as they are, with ``H=None``, are read where they lie, and not
# copied.

for name, of in (("thresholds", H), ("columns as they are", None)):
    tracemalloc.start()
    pnorm.train(pos, neg, of, 4, t_max=10, n_threads=1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    data = pos.nbytes + neg.nbytes
    print(f"{name}: {peak / 1e6:.0f} MB beside {data / 1e6:.0f} MB of data")

# %%
# **To take away.** Count rows, not pairs. Thresholds make a round cheap: it reads one
# byte per row and column, and has more than a thousand weak rankers to choose from. The
# times here are of one thread; by default a round uses all cores, with the same result
# to the last bit. :doc:`/explanation/many_rows` says how rows are stored,
# :doc:`/results/speed` has measurements up to ten million rows and beside other packages,
# and with :doc:`/howto/cluster` the rows may lie in partitions on many machines.
