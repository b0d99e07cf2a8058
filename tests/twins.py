"""A slow twin of every compiled function: the same name, arguments and results, in plain NumPy.

Twins leave scratch alone.
"""

import itertools
from fractions import Fraction
from math import factorial

import numpy as np
from numpy.polynomial.chebyshev import chebval, chebvander

TERMS = 14

# _tilt --------------------------------------------------------------------------------------------


def exp_below(values, top):
    values[:] = np.exp(np.maximum(values - top, -600.0))


def _exponents(f, h, log_c, scale, alpha):
    return scale * (f + alpha * h) + (0.0 if log_c is None else log_c)


def log_sum(f, log_c, scale, start, stop):
    x = _exponents(f, 0.0, log_c, scale, 0.0)[start:stop]
    return x.max(initial=-np.inf), np.exp(x - x.max(initial=-np.inf)).sum()


def weigh(f, log_c, weights, scale, start, stop):
    weights[start:stop] = _exponents(f, 0.0, log_c, scale, 0.0)[start:stop]
    top = weights[start:stop].max(initial=-np.inf)
    exp_below(weights[start:stop], top)
    return top, weights[start:stop].sum()


def softmax_rows(f, log_c, scale, weights):
    top, total = weigh(f, log_c, weights, scale, 0, f.size)
    weights /= total
    return top + np.log(total)


def rescale_rows(weights, factor, start, stop):
    weights[start:stop] *= factor


def advance(f, h, alpha, start, stop):
    f[start:stop] += alpha * h[start:stop]


def _powers(weights, h, n=4):
    return tuple((weights * h**k).sum() for k in range(n))


def given(weights, h, unit, start, stop):
    return 0.0, *_powers(weights[start:stop], unit * h[start:stop], 10)


def tilted(f, h, log_c, scale, alpha, unit, start, stop):
    x, h = _exponents(f, h, log_c, scale, alpha)[start:stop], h[start:stop]
    top = x.max(initial=-np.inf)
    return (top, *_powers(np.exp(x - top), unit * h, 10)), h[x.argmax()] if x.size else np.nan


def expanded(sums, rate):
    return tuple(sum(rate**m / factorial(m) * sums[k + m] for m in range(10 - k)) for k in range(4))


def tilt_weights(weights, h, rate, start, stop):
    weights[start:stop] *= np.exp(rate * h[start:stop])
    return weights[start:stop].sum()


def tilt_codes(masses, values, scale, factors):
    x, some = scale * values, masses > 0
    top = x[some].max(initial=-np.inf)
    factors[:] = np.where(some, np.exp(np.where(some, x, top) - top), 1.0)
    return top, masses @ factors, masses.sum()


def logs(values, out):
    out[:] = np.log(values)


def split(f, h, log_c, scale, alpha, level, start, stop):
    x, y = _exponents(f, h, log_c, scale, alpha)[start:stop], h[start:stop] - level
    tops = [x[rows].max(initial=-np.inf) for rows in (y == 0, y != 0)]
    at, off = (_powers(np.exp(x[rows] - top), y[rows]) for rows, top in zip((y == 0, y != 0), tops, strict=True))
    return (tops[0], at[0]), (tops[1], *off)


def root_step(x, lo, hi, bracket, last, width, g, slope, bend):
    rho = width * abs(g) / slope if slope > 0 else np.inf
    near = min(np.log1p(rho), 700) / width
    curved = 2 * slope**2 - g * bend
    move = max(2 * abs(g) * slope / curved, near) if curved > 0 else np.inf
    if rho < 1:
        move = min(move, -np.log1p(-rho) / width)
    elif hi == np.inf and g < 0:
        last = move = min(max(move, 2 * last), max(4 * near, 3 * x))
    lo, hi = (x, hi) if g < 0 else (lo, x)
    y = x - np.sign(g) * move
    if rho < 1 and move * width <= 1e-6:
        return (y, lo, hi, bracket, last), False
    if not lo < y < hi or (rho >= 1 and hi - lo > bracket / 2):
        y = (lo + hi) / 2 if hi < np.inf else 2 * lo + near
    return ((y, lo, hi, hi - lo, last), True) if lo < y < hi else ((x, lo, hi, bracket, last), False)


def _groups(starts):
    return [slice(*ends) for ends in itertools.pairwise(starts)]


def weigh_by_group(f, log_c, starts, scale, weights, log_sums):
    for g, own in enumerate(_groups(starts)):
        top, total = weigh(f, log_c, weights, scale, own.start, own.stop)
        weights[own], log_sums[g] = weights[own] / total, top + np.log(total)


def multiply_by_group(weights, codes, factors, out):
    out[:] = weights * factors[codes]


def tilted_by_group(weights, h, starts, rate, top, own, level, sums, cumulants):
    tilted_weights = weights * np.exp(rate * h - top)
    for g, rows in enumerate(_groups(starts)):
        level[g] = h[rows][tilted_weights[rows].argmax()] if own else level[g]
        sums[g], *moments = _powers(tilted_weights[rows], h[rows] - level[g])
        mean, square, cube = np.array(moments) / sums[g] if sums[g] > 0 else np.zeros(3)
        cumulants[g] = mean, square - mean**2, cube - 3 * mean * square + 2 * mean**3


def tilted_cells(masses, values, rate, top, own, tilt, level, sums, cumulants):
    tilt[:] = np.exp(rate * values - top)
    h, starts = np.tile(values, len(masses)), values.size * np.arange(len(masses) + 1)
    tilted_by_group(masses.ravel(), h, starts, rate, top, own, level, sums, cumulants)


def move_cells(u, w, v, values, p, step, light, tilts, share, mass):
    rates = np.array([-step, p * step, step])
    tops = (rates[:, None] * values).max(axis=1)
    tilts[:] = np.exp(rates[:, None] * values - tops[:, None])
    if min(u.sum(axis=1).min(), w.sum(axis=1).min()) <= light:
        return 0.0, 0.0, False
    pos, neg = [(x * tilt).sum(axis=1) / x.sum(axis=1) for x, tilt in ((u, tilts[0]), (w, tilts[1]))]
    share[:] = w.sum(axis=1) * pos**p * neg
    log_f = p * tops[0] + tops[1] + np.log(share.sum())
    share /= share.sum()
    log_mass = log_f
    if v is not None:
        mass *= pos * (v @ tilts[2]) / v.sum(axis=1)
        log_mass = tops[0] + tops[2] + np.log(mass.sum())
        mass /= mass.sum()
    for x, tilt in ((u, tilts[0]), (w, tilts[1])):
        x[:] = (share / (x @ tilt))[:, None] * tilt
    return log_f, log_mass, True


def mixture(before, pos_sums, pos, neg_sums, neg, p, share):
    some = (before > 0) & (pos_sums > 0)
    share[:] = np.where(some, np.divide(pos_sums, before, where=some, out=np.zeros(some.size)) ** p * neg_sums, 0.0)
    share /= share.sum()
    edge, curve, third = neg[:, 0] - pos[:, 0], pos[:, 1] + p * neg[:, 1], p * p * neg[:, 2] - pos[:, 2]
    mean = share @ edge
    bend = share @ third + 3 * p * (share @ ((edge - mean) * curve)) + p * p * (share @ (edge - mean) ** 3)
    size = share @ (np.abs(pos[:, 0]) + np.abs(neg[:, 0]))
    return mean, share @ curve + p * (share @ (edge - mean) ** 2), bend, size


def split_by_group(f, h, log_c, starts, scale, alpha, level, tops, sums):
    for g, own in enumerate(_groups(starts)):
        at, off = split(f, h, log_c, scale, alpha, level[g], own.start, own.stop)
        tops[g], sums[g] = (at[0], off[0]), (*at[1:], *off[1:])


# _dense -------------------------------------------------------------------------------------------


def _columns(runs):
    return np.concatenate([np.arange(first, last) for first, last in runs])


def products(A, runs, s, start, stop, out):
    out[:] = A[start:stop, _columns(runs)].astype(float).T @ s[start:stop]


def combined(A, runs, lam, start, stop, out):
    out[start:stop] += A[start:stop, _columns(runs)].astype(float) @ lam


def symmetric(A, right, left, down, across):
    down += A @ right
    across += A.T @ left


def inner(a, b):
    return a @ b


def finite(values):
    return bool(np.isfinite(values).all())


def column_extremes(A, low, high):
    low[:], high[:] = A.min(axis=0), A.max(axis=0)


def measure(pos_low, pos_high, neg_low, neg_high, close, out):
    low, high = np.minimum(pos_low, neg_low), np.maximum(pos_high, neg_high)
    span = high - low
    middle, largest = low + span / 2, np.maximum(-low, high)
    centred = np.maximum(high - middle, middle - low)
    out[:] = low, high, span, middle, largest, centred, np.minimum(largest, span), close * centred


def column(A, j, shift, start, stop, out):
    out[start:stop] = A[start:stop, j].astype(float) - shift


def sparse_products(indptr, indices, data, s, start, stop, out):
    for j in range(start, stop):
        own = slice(indptr[j], indptr[j + 1])
        out[j] = data[own] @ s[indices[own]]


# _bins --------------------------------------------------------------------------------------------


def distinct(A, values, counts):
    limit = values.shape[1]
    for j in np.flatnonzero(counts <= limit):
        found = np.unique(np.r_[values[j, : counts[j]], A[:, j].astype(float) + 0.0])
        counts[j] = min(found.size, limit + 1)
        if found.size <= limit:
            values[j, : found.size] = found


def encode(A, start, stop, columns, first, cuts, words, radix, out):
    for k, column in enumerate(columns):
        below = (cuts[first[k] : first[k + 1], None] < A[start:stop, column]).sum(axis=0)
        out[words[k], start:stop] += (below * radix[k]).astype(out.dtype)


def sums_by_code(codes, weights, start, stop, rows, first, sums, scratch):
    if rows is None:
        rows, weights = np.arange(stop - start), weights[start:stop]
    for w in range(len(codes)):
        n_codes = first[w + 1] - first[w]
        sums[first[w] : first[w + 1]] = np.bincount(codes[w, start + rows], weights[: rows.size], n_codes)


def scratch_size(largest):
    return 8 * (-(-largest // 8) * 8 + 24)


def choose(codes, wanted, weights, start, stop, rows, of_rows):
    found = np.flatnonzero(wanted[codes[start:stop]])
    rows[: found.size], of_rows[: found.size] = found, weights[start + found]
    return found.size


def sums_by_pair(a, b, weights, start, stop, sums):
    np.add.at(sums, (a[start:stop], b[start:stop]), weights[start:stop])


def look_up(codes, table, start, stop, out):
    out[start:stop] = table[codes[start:stop]]


def scores_by_code(lam, feature, first, at, terms, cells, above, out):
    out[:] = 0
    for j, k in enumerate(feature):
        table, own = np.empty(cells[k + 1] - cells[k]), slice(first[j], first[j + 1])
        values_by_code(at[own], terms[own], table)
        out[cells[k] : cells[k + 1]] += lam[j] * table


def tables_of_words(of_features, cells, first, size, radix, out):
    out[:] = 0
    for k in range(first.size):
        own = np.arange(size[k]) // radix[k] % (cells[k + 1] - cells[k])
        out[first[k] : first[k] + size[k]] += of_features[cells[k] + own]


def add_looked_up(codes, table, start, stop, out):
    out[start:stop] += table[codes[start:stop]]


def add_words(codes, words, first, tables, start, stop, out):
    for w in words:
        out[start:stop] += tables[first[w] + codes[w, start:stop]]


def multiply_looked_up(codes, table, start, stop, weights):
    weights[start:stop] *= table[codes[start:stop]]
    return weights[start:stop].sum()


def extract(codes, radix, levels, out):
    out[:] = codes // radix % levels


def marginals(of_words, first, size, radix, cells, of_features):
    for k in range(first.size):
        levels = cells[k + 1] - cells[k]
        own = np.arange(size[k]) // radix[k] % levels
        of_features[cells[k] : cells[k + 1]] = np.bincount(own, of_words[first[k] : first[k] + size[k]], levels)


def values_by_code(at, terms, out):
    code, levels = np.arange(out.size), out.size
    out[:] = [sum(x for a, x in zip(at, terms, strict=True) if a == c or levels <= a <= c + levels) for c in code]


def extremes(feature, first, at, terms, cells, rows, values, following, low, high):
    for j, k in enumerate(feature):
        table, own = np.empty(cells[k + 1] - cells[k]), slice(first[j], first[j + 1])
        values_by_code(at[own], terms[own], table)
        table = table[rows[cells[k] : cells[k + 1]] > 0]
        low[j], high[j] = table.min(initial=np.inf), table.max(initial=-np.inf)


def edges(sums, cells, feature, first, at, terms, above, out):
    for k in range(cells.size - 1):
        above[cells[k] : cells[k + 1]] = sums[cells[k] : cells[k + 1]][::-1].cumsum()[::-1]
    for j, k in enumerate(feature):
        table, own = np.empty(cells[k + 1] - cells[k]), slice(first[j], first[j + 1])
        values_by_code(at[own], terms[own], table)
        out[j] = sums[cells[k] : cells[k + 1]] @ table


def stored_sums(starts, rows, codes, weights, begin, end, cells, sums, stored):
    for k in range(begin, end):
        own = slice(starts[k], starts[k + 1])
        sums[cells[k] : cells[k + 1]] = np.bincount(codes[own], weights[rows[own]], cells[k + 1] - cells[k])
        stored[k] = _twofold(weights[rows[own]])


def twofold_sum(weights, start, stop):
    return _twofold(weights[start:stop])


def _twofold(x):
    total = float(np.r_[0.0, x].cumsum()[-1])  # one after the other
    return total, float(sum(map(Fraction, x.tolist()), -Fraction(total)))


def add_stored(starts, rows, codes, features, cells, table, out):
    for k in features:
        own = slice(starts[k], starts[k + 1])
        np.add.at(out, rows[own], table[cells[k] + codes[own].astype(int)])


# _lists -------------------------------------------------------------------------------------------


def kendall(f, y, by_grade, starts, first, last, order, spare, hinges, wrongs, grad):
    for g in range(first, last):
        rows, grade = by_grade[starts[g] : starts[g + 1]], y[starts[g] : starts[g + 1]]
        pairs, z = grade[:, None] > grade, f[rows][:, None] - f[rows]
        hinges[g], wrongs[g] = (pairs * np.maximum(0.0, 1.0 - z)).sum(), (pairs & (z <= 0)).sum()
        if grad is not None:
            active = pairs & (z < 1)
            grad[rows] = active.sum(axis=0) - active.sum(axis=1)


# _pairs -------------------------------------------------------------------------------------------


def sort(f, order, out, counts):
    order[:] = np.argsort(f, kind="stable")
    out[:] = f[order]
    return True


def _segments(s_starts, t_starts):
    return [tuple(slice(*ends[g : g + 2]) for ends in (s_starts, t_starts)) for g in range(t_starts.size - 1)]


def sweep(s, c, s_starts, t, t_starts, sign, reach, masses, firsts, seconds):
    for source, target in _segments(s_starts, t_starts):
        z = sign * s[source, None] - sign * t[target]
        for power, out in enumerate((masses, firsts, seconds)):
            if out is not None:
                out[target] = c[source] @ np.where(z < reach, (1.0 - z) ** power, 0.0)


def rounded_sweep(s, c, s_starts, t, t_starts, sign, smoothing, front, values, slopes):
    for source, target in _segments(s_starts, t_starts):
        z = sign * s[source, None] - sign * t[target]
        d = np.clip(1.0 + smoothing - z, 0.0, 2.0 * smoothing) / (2.0 * smoothing)
        values[target] = c[source] @ (np.maximum(1.0 - smoothing - z, 0.0) + smoothing * d**2)
        slopes[target] = c[source] @ d


def particle_to_multipole(s, c, cells, ends, moments):
    for a, end in enumerate(ends):
        own = slice(cells[a], cells[a + 1])
        moments[a] = c[own] @ chebvander(2.0 * (s[own] - end) - 1.0, TERMS - 1)


def local_to_particle(t, cells, ends, local, out):
    for a, end in enumerate(ends):
        own = slice(cells[a], cells[a + 1])
        out[own] = chebval(2.0 * (t[own] - end) - 1.0, local[a, :TERMS])


def multipole_to_local(s_ends, moments, s_starts, t_ends, t_starts, table, linear, decay, tails, local, exponents):
    reach, turn = len(table) // 2, (-1.0) ** np.arange(TERMS)
    local[:], exponents[:] = 0.0, 0.0
    for source, target in _segments(s_starts, t_starts):
        for a in range(target.start, target.stop):
            z, m = s_ends[source] - t_ends[a], moments[source]
            for b in np.flatnonzero(np.abs(z) <= reach):
                local[a] += m[b] @ table[int(z[b]) + reach]
            low, high = z < -reach, z > reach
            mass, sum_of_z = m[low, 0].sum(), -(z[low] * m[low, 0] + 0.5 * m[low, 1]).sum()
            local[a, 0] += linear * sum_of_z + (1.0 - linear) * mass
            local[a, 1] += linear * 0.5 * mass
            exponents[a] = -z.min() if high.all() else 0.0
            local[a, :TERMS] += (np.exp(-z[high] - exponents[a]) @ (m[high] @ decay)) * decay * turn


# _shapes ------------------------------------------------------------------------------------------


def carry(before, factors, codes, weights, start, stop, sums, scratch):
    weights[start:stop] *= factors[before[start:stop]]
    sums[:] = np.bincount(codes[start:stop], weights[start:stop], sums.size)


def _shapes_of(parent):
    """The matrix that takes the jumps of a tree to its shape, whose level is that of the root."""
    T = np.eye(parent.size)
    for c in range(1, parent.size):
        T[c] += T[parent[c]]
    T[:, 0] = 0
    return T


def fit_tree(parent, penalty, weights, moments, state, shape, jump, scratch):
    T, (l1, l2, low, high) = _shapes_of(parent), penalty
    T[:, 0] = 1  # the level
    free = (l1 == 0) & (low < 0) & (high > 0)
    state[1:] = np.where(free[1:], 2, 0)
    while True:
        side = np.where(state == 2, 0, state)
        on = np.flatnonzero(np.r_[True, state[1:] != 0])
        A = T.T @ (weights[:, None] * T) + np.diag(np.r_[0, l2[1:]])
        x = np.zeros(parent.size)
        x[on] = np.linalg.solve(A[np.ix_(on, on)], (T.T @ moments - l1 * side)[on])
        strain = T.T @ (moments - weights * (T @ x))
        up = (state == 0) & (high > 0) & (strain > l1 + 1e-13 * abs(moments).sum())
        down = (state == 0) & (low < 0) & (-strain > l1 + 1e-13 * abs(moments).sum())
        back = (abs(side) == 1) & (side * x < 0)
        wrong = np.flatnonzero(np.r_[False, (up | down | back)[1:]])
        if not wrong.size:
            break
        state[wrong[-1]] = up[wrong[-1]] * 1 - down[wrong[-1]] * 1
    shape[:] = T @ x
    jump[:] = np.r_[0, x[1:]]
    return 0


def factor_trees(first, parent, penalty, weights, state, factors):
    for a, b in itertools.pairwise(first):
        for c in reversed(range(a + 1, b)):
            total = weights[c] + penalty[1, c]
            free = state[c] != 0
            over = 1 / total if free and total > 0 else 0.0
            factors[:, c] = penalty[1, c] * over if free else 1.0, weights[c] * over, over
            weights[a + parent[c]] += factors[0, c] * weights[c]
        factors[:, a] = weights[a], 0, 1 / weights[a] if weights[a] > 0 else 0


def solve_trees(first, parent, factors, rest, jump, scratch):
    kept, moved, over = factors
    for a, b in itertools.pairwise(first):
        moment, shape = np.zeros(b - a), np.zeros(b - a)
        for c in reversed(range(1, b - a)):
            moment[parent[a + c]] += kept[a + c] * moment[c] - moved[a + c] * rest[a + c]
        shape[0], jump[a] = moment[0] * over[a], 0
        for c in range(1, b - a):
            before = shape[parent[a + c]]
            jump[a + c] = (moment[c] + rest[a + c]) * over[a + c] - moved[a + c] * before
            shape[c] = before + jump[a + c]


def visit(
    features, levels, radix, first, parent, cell, penalty, state, jump, lines, values, line_penalty, lam, linear, cells,
    p, least, most, u, w, of_u, of_w, scratch,
):  # fmt: skip
    of_u[:] = of_w[:] = 1
    fall = promise = moved = 0.0
    for k in features:
        digit = np.arange(u.size) // radix[k] % levels[k]
        column = _Column(np.bincount(digit, u), np.bincount(digit, w), p, linear[cells[k] : cells[k] + levels[k]])
        nodes, own = slice(first[k], first[k + 1]), range(lines[k], lines[k + 1])
        trees = [parent[nodes], cell[nodes], penalty[:, nodes], state[nodes], jump[nodes]]
        before = _omega(penalty[:, nodes], jump[nodes]) + sum(_omega(line_penalty[:, j], lam[j]) for j in own)
        begun = 0.0
        for taken in range(most):
            now = column.step(*trees, least) if first[k + 1] - first[k] > 1 else 0.0
            now += sum(column.step_along(values[j, : levels[k]], line_penalty[:, j], lam, j, least) for j in own)
            begun = now if taken == 0 else begun
            if now <= 0.1 * begun or p * begun <= 0.01:
                break
        promise += begun
        if begun > 0:
            after = _omega(penalty[:, nodes], jump[nodes]) + sum(_omega(line_penalty[:, j], lam[j]) for j in own)
            fall += before - after - column.value(column.change)
            moved += p * np.ptp(column.change)
            for sums, factors, tilted in ((u, of_u, column.tilted()[0]), (w, of_w, column.tilted()[1])):
                factors *= tilted[digit]
                sums *= tilted[digit]
    return fall, promise, moved


def sweeps(
    pos_narrow, pos_wide, of_pos, neg_narrow, neg_wide, of_neg, words, codes, features, levels, radix, first, parent,
    cell, penalty, state, jump, lines, values, line_penalty, lam, linear, cells, p, least, most, enough, slow, far,
    falls, scratch,
):  # fmt: skip
    sides = ([*pos_narrow, *pos_wide], of_pos), ([*neg_narrow, *neg_wide], of_neg)
    moved = 0.0
    for n in range(falls.size):
        falls[n] = 0.0
        for k, (a, b) in enumerate(itertools.pairwise(words)):
            sums = [np.bincount(own[k], weights, codes[k]) for own, weights in sides]
            factors = np.empty((2, codes[k]))
            fall, _, change = visit(
                features[a:b], levels, radix, first, parent, cell, penalty, state, jump, lines, values, line_penalty,
                lam, linear, cells, p, least, most, *sums, *factors, None,
            )  # fmt: skip
            falls[n] += fall
            moved += change
            for (own, weights), factor in zip(sides, factors, strict=True):
                weights *= factor[own[k]]
        if falls[n] <= enough or moved > far or (n > 0 and falls[n] > slow * falls[n - 1]):
            break
    return n + 1


def curvature_sums(pos_narrow, pos_wide, u, neg_narrow, neg_wide, w, starts, tables, p, sums, scratch):
    sums[:] = 0
    for words, weights, factor in (([*pos_narrow, *pos_wide], u, p), ([*neg_narrow, *neg_wide], w, p * p)):
        places = [a + own for a, own in zip(starts, words, strict=False)]
        f = sum(tables[place] for place in places)
        for place in places:
            np.add.at(sums, place, factor * weights * (f - weights @ f))


def row_products(nodes, order, first, parent, factors, ends, scratch, out):
    for own, a, b in zip(nodes, first, first[1:], strict=False):
        for c in range(1, b - a):
            below = {c}
            for v in range(c + 1, b - a):
                if parent[a + v] in below:
                    below.add(v)
            rows = np.isin(own, list(below)).astype(float)
            out += factors[a + c] * np.outer(rows, rows)


def _omega(penalty, jump):
    return (penalty[0] * abs(jump) + penalty[1] * jump**2 / 2).sum()


class _Column:
    """log F_p less a linear term as a function of a change of one column's shape."""

    def __init__(self, u, w, p, linear):
        self.u, self.w, self.p, self.linear, self.change = u, w, p, linear, np.zeros(u.size)

    def value(self, change):
        u, w = self.u / self.u.sum(), self.w / self.w.sum()
        return self.p * np.log(u @ np.exp(-change)) + np.log(w @ np.exp(self.p * change)) - self.linear @ change

    def tilted(self):
        factors = np.exp(-self.change), np.exp(self.p * self.change)
        sides = zip(factors, (self.u, self.w), strict=True)  # codes without mass get the largest factor
        return [np.where(own > 0, x, x[own > 0].max()) / (x @ own / own.sum()) for x, own in sides]

    def slope_and_weight(self):
        of_u, of_w = self.tilted()
        u, w = self.u * of_u, self.w * of_w
        return self.p * (u - w) + self.linear, self.p * u + self.p**2 * w

    def search(self, along, omega, promised):
        """The share of a step after which the objective has fallen; omega is the penalty after a share."""
        for share in 0.5 ** np.arange(40):
            fallen = self.value(self.change + share * along) + omega(share) - self.value(self.change) - omega(0)
            if fallen <= 0.1 * share * promised + 1e-15 * (self.p + omega(0)):
                self.change = self.change + share * along
                return share
        return 0.0

    def step(self, parent, cell, penalty, state, jump, least):
        slope, weight = self.slope_and_weight()
        before, shape, after = _shapes_of(parent) @ jump, np.empty(parent.size), np.empty(parent.size)
        known = cell >= 0
        weights, moments = np.where(known, weight[cell], 0), np.where(known, slope[cell], 0)
        fit_tree(parent, penalty, weights, moments + weights * before, state, shape, after, None)
        along = np.zeros(self.u.size)
        along[cell[known]] = (shape - before)[known]
        start = jump.copy()
        promised = _omega(penalty, after) - _omega(penalty, start) - slope @ along
        if not -promised > least:
            return 0.0
        share = self.search(along, lambda share: _omega(penalty, start + share * (after - start)), promised)
        jump += share * (after - start)
        return -promised if share else 0.0

    def step_along(self, values, penalty, lam, j, least):
        slope, weight = self.slope_and_weight()
        centred = values - weight @ values / weight.sum()
        bend, start, (l1, l2, low, high) = weight @ centred**2, lam[j], penalty
        x = bend * start + slope @ values
        after = np.clip(np.sign(x) * max(abs(x) - l1, 0) / (bend + l2), low, high)
        promised = _omega(penalty, after) - _omega(penalty, start) - slope @ values * (after - start)
        if not -promised > least:
            return 0.0
        share = self.search(
            (after - start) * centred, lambda share: _omega(penalty, start + share * (after - start)), promised
        )
        lam[j] += share * (after - start)
        return -promised if share else 0.0
