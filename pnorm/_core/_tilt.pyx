"""Exponentially tilted weights: everything a round of the P-Norm Push asks of the rows.

For scores f, the exponential loss factors over the pairs, so one side of the list enters only
through weights

    omega_r  proportional to  c_r exp(scale (f_r + alpha h_r)),

with case weights c_r, scale = -1 on the positives (omega = u) and scale = p on the negatives
(omega = w). What follows are sums over such weights, always with the largest exponent taken out,
so that nothing overflows and no row that matters underflows.

(a) some exponents, the only place where they are formed
(b) sums of exponentials, and weights
(c) power sums of h under the weights, tilted by alpha, and those of a step that is near
(d) a step to the root of equation (1) in alpha
(e) the same for every query group

All but (d) and (e) work on a block of rows; the caller merges the results of blocks. Within it, rows are read 256
at a time: their exponents stay in the first cache, and a sum of such sums keeps the rounding error
of a million rows near that of a thousand. `log_c` may be None: no case weights.
"""

from libc.math cimport INFINITY, NAN, exp, fabs, fmax, fmin, frexp, ldexp, log, log1p
from libc.string cimport memcpy, memset

cdef extern from "_exp.h" nogil:
    void pnorm_exp_below(double* values, Py_ssize_t m, double top) noexcept

cdef extern from "_tilt.h" nogil:
    double pnorm_fill(
        const double* f, const double* h, const double* log_c, double scale, double alpha, Py_ssize_t m,
        double* out) noexcept
    void pnorm_advance(double* f, const double* h, double alpha, Py_ssize_t m) noexcept
    void pnorm_scale(double* values, double factor, Py_ssize_t m) noexcept
    double pnorm_max(const double* values, Py_ssize_t m) noexcept
    double pnorm_sum(const double* values, Py_ssize_t m) noexcept
    void pnorm_add_powers(
        const double* weights, const double* h, double level, Py_ssize_t m, double* sums) noexcept
    void pnorm_add_all_powers(
        const double* weights, const double* h, double unit, Py_ssize_t m, double* sums) noexcept
    void pnorm_tilt_near(double* weights, const double* h, double rate, Py_ssize_t m) noexcept

cdef extern from "_log.h" nogil:
    void pnorm_log(double* values, Py_ssize_t m) noexcept

cdef extern from "_groups.h" nogil:
    enum:
        PNORM_GROUPS
    void pnorm_subtract_tops(
        double* values, const Py_ssize_t* starts, Py_ssize_t n, double largest, double* tops) noexcept
    void pnorm_normalize(double* values, const Py_ssize_t* starts, Py_ssize_t n, double* sums) noexcept
    void pnorm_tilt(
        const double* weights, const double* h, double rate, double top, Py_ssize_t m, double* out) noexcept
    void pnorm_powers_of_groups(
        const double* weights, const double* h, const Py_ssize_t* starts, Py_ssize_t n, int own, double* level,
        double (*sums)[PNORM_GROUPS]) noexcept
    void pnorm_powers_of_cells(
        const double* masses, const double* values, const double* tilt, Py_ssize_t width, Py_ssize_t n, int own,
        double* level, double (*sums)[PNORM_GROUPS]) noexcept
    void pnorm_sums_of_cells(
        const double* masses, const double* tilt, Py_ssize_t width, Py_ssize_t n, double* sums) noexcept
    void pnorm_cumulants(double (*sums)[PNORM_GROUPS], Py_ssize_t n, double* out) noexcept
    void pnorm_log_ratio(const double* values, const double* others, Py_ssize_t n, double* out) noexcept

cdef enum:
    BLOCK = 256    # rows, and no more groups than in PNORM_GROUPS

cdef Side side_of(
    const double[::1] f, const double[::1] h, const double[::1] log_c, double scale, Py_ssize_t start, Py_ssize_t stop,
) noexcept:
    cdef Side side
    side.f = &f[start]
    side.h = &h[start]
    side.log_c = NULL
    if log_c is not None:
        side.log_c = &log_c[start]
    side.size = stop - start
    side.scale = scale
    return side


# (a) ---------------------------------------------------------------------------------------------

cdef inline double fill(
    const Side* side, double alpha, Py_ssize_t start, Py_ssize_t m, double* exponents
) noexcept nogil:
    """exponents = scale * (f + alpha * h) + log_c on rows start:start + m; returns their maximum."""
    cdef const double* log_c = NULL if side.log_c == NULL else side.log_c + start
    return pnorm_fill(side.f + start, side.h + start, log_c, side.scale, alpha, m, exponents)


# (b) ---------------------------------------------------------------------------------------------

def exp_below(double[::1] values, double top):
    """values = exp(values - top), and e^-600 where that is less; none is above the top.

    In: top. Changed: values.
    """
    with nogil:
        pnorm_exp_below(&values[0], values.shape[0], top)


cdef inline double sum_of_blocks(const double* values, Py_ssize_t m) noexcept nogil:
    """np.sum(values), as a sum of such sums."""
    cdef:
        double total = 0.0
        Py_ssize_t begin = 0
    while begin < m:
        total += pnorm_sum(values + begin, min(<Py_ssize_t>BLOCK, m - begin))
        begin += BLOCK
    return total


cdef double sum_exp(double* values, Py_ssize_t m, double top) noexcept nogil:
    """values = exp(values - top), in place; returns their sum."""
    pnorm_exp_below(values, m, top)
    return pnorm_sum(values, m)


def log_sum(const double[::1] f, const double[::1] log_c, double scale, Py_ssize_t start, Py_ssize_t stop):
    """Return (top, sum of c exp(scale f - top)) on rows start:stop, with their largest exponent as top.

    One pass: a larger exponent rescales the sum so far.

    In: f, log_c, scale, start, stop.
    """
    cdef:
        Side side = side_of(f, f, log_c, scale, start, stop)
        double top, total
    with nogil:
        top = log_sum_of(&side, &total)
    return top, total


cdef double log_sum_of(const Side* side, double* total) noexcept nogil:
    """Do as `log_sum` does; returns the top."""
    cdef:
        double exponents[BLOCK]
        double top = -INFINITY, block_top
        Py_ssize_t begin = 0, m
    total[0] = 0.0
    while begin < side.size:
        m = min(<Py_ssize_t>BLOCK, side.size - begin)
        block_top = fill(side, 0.0, begin, m, exponents)
        if block_top > top:
            total[0] *= exp(top - block_top)
            top = block_top
        total[0] += sum_exp(exponents, m, top)
        begin += BLOCK
    return top


def weigh(
    const double[::1] f, const double[::1] log_c, double[::1] weights, double scale, Py_ssize_t start, Py_ssize_t stop
):
    """weights = c exp(scale f - top) on rows start:stop; return (top, total) as `log_sum` does.

    In: f, log_c, scale, start, stop. Out: weights.
    """
    cdef:
        Side side = side_of(f, f, log_c, scale, start, stop)
        double* out = &weights[start]
        double top, total
    with nogil:
        top = weigh_rows(&side, out, &total)
    return top, total


cdef double weigh_rows(const Side* side, double* out, double* total) noexcept nogil:
    """Do as `weigh` does; returns the top."""
    cdef:
        double top = -INFINITY
        Py_ssize_t begin = 0, m
    total[0] = 0.0
    while begin < side.size:
        m = min(<Py_ssize_t>BLOCK, side.size - begin)
        top = fmax(top, fill(side, 0.0, begin, m, out + begin))
        begin += BLOCK
    begin = 0
    while begin < side.size:
        m = min(<Py_ssize_t>BLOCK, side.size - begin)
        total[0] += sum_exp(out + begin, m, top)
        begin += BLOCK
    return top


def softmax_rows(const double[::1] f, const double[::1] log_c, double scale, double[::1] weights):
    """weights = softmax of scale f + log c over all rows; return the log of the sum of exponentials.

    In: f, log_c, scale. Out: weights.
    """
    cdef:
        Side side = side_of(f, f, log_c, scale, 0, f.shape[0])
        double* out = &weights[0]
        double top, total, factor
        Py_ssize_t r
    with nogil:
        top = weigh_rows(&side, out, &total)
        factor = 1.0 / total
        for r in range(side.size):
            out[r] *= factor
    return top + log(total)


def rescale_rows(double[::1] weights, double factor, Py_ssize_t start, Py_ssize_t stop):
    """weights *= factor on rows start:stop.

    In: factor, start, stop. Changed: weights.
    """
    cdef double* of_rows = &weights[start]
    with nogil:
        scale_weights(of_rows, factor, stop - start)


cdef void scale_weights(double* values, double factor, Py_ssize_t n) noexcept nogil:
    """values *= factor."""
    pnorm_scale(values, factor, n)


def advance(double[::1] f, const double[::1] h, double alpha, Py_ssize_t start, Py_ssize_t stop):
    """f += alpha * h on rows start:stop.

    In: h, alpha, start, stop. Changed: f.
    """
    cdef:
        double* scores = &f[start]
        const double* outputs = &h[start]
    with nogil:
        advance_scores(scores, outputs, alpha, stop - start)


cdef void advance_scores(double* f, const double* h, double alpha, Py_ssize_t n) noexcept nogil:
    """Do as `advance` does."""
    pnorm_advance(f, h, alpha, n)


# (c) ---------------------------------------------------------------------------------------------

cdef inline void rescale(double* sums, double factor, int n) noexcept nogil:
    """sums[k] *= factor for k < n."""
    cdef int k
    for k in range(n):
        sums[k] *= factor


cdef tuple listed(double top, const double* sums):
    return (top, *[sums[k] for k in range(POWERS)])


def given(const double[::1] weights, const double[::1] h, double unit, Py_ssize_t start, Py_ssize_t stop):
    """Return (0, power sums of h) under given weights on rows start:stop, in the form of `tilted`. No exponential.

    In: weights, h, unit, start, stop.
    """
    cdef:
        const double* of_rows = &weights[start]
        const double* outputs = &h[start]
        double sums[POWERS]
    with nogil:
        given_rows(of_rows, outputs, unit, stop - start, sums)
    return listed(0.0, sums)


cdef void given_rows(
    const double* weights, const double* h, double unit, Py_ssize_t size, double* sums
) noexcept nogil:
    """Do as `given` does."""
    cdef Py_ssize_t begin = 0
    memset(sums, 0, POWERS * sizeof(double))
    while begin < size:
        pnorm_add_all_powers(weights + begin, h + begin, unit, min(<Py_ssize_t>BLOCK, size - begin), sums)
        begin += BLOCK


def tilted(
    const double[::1] f, const double[::1] h, const double[::1] log_c, double scale, double alpha, double unit,
    Py_ssize_t start, Py_ssize_t stop,
):
    """Return ((top, power sums of h), h of the heaviest row) under the weights at step alpha, on rows start:stop.

    Weights are exp(exponent - top). The power sums are those of unit * h, which is at most one in absolute value, of
    orders 0..9. One pass, with one exponential per row.

    In: f, h, log_c, scale, alpha, unit, start, stop.
    """
    cdef:
        Side side = side_of(f, h, log_c, scale, start, stop)
        double sums[POWERS]
        double top, mode
    with nogil:
        top = tilt_rows(&side, alpha, unit, sums, &mode)
    return listed(top, sums), mode


cdef double tilt_rows(const Side* side, double alpha, double unit, double* sums, double* mode) noexcept nogil:
    """Do as `tilted` does; returns the top."""
    cdef:
        double exponents[BLOCK]
        double top = -INFINITY, block_top
        Py_ssize_t begin = 0, m, r
    mode[0] = NAN
    memset(sums, 0, POWERS * sizeof(double))
    while begin < side.size:
        m = min(<Py_ssize_t>BLOCK, side.size - begin)
        block_top = fill(side, alpha, begin, m, exponents)
        if block_top > top:
            rescale(sums, exp(top - block_top), POWERS)
            top = block_top
            for r in range(m):
                if exponents[r] == block_top:
                    mode[0] = side.h[begin + r]
        pnorm_exp_below(exponents, m, top)
        pnorm_add_all_powers(exponents, side.h + begin, unit, m, sums)
        begin += BLOCK
    return top


def expanded(const double[::1] sums, double rate):
    """Return the power sums 0..3 of h under weights times exp(rate * h), from the power sums 0..9 under the weights.

    Sum k is that of rate^m / m! times sum k + m, over all m. For |h| <= 1 and |rate| <= 1 / 16, what it leaves out of
    sum 1 is below 5e-17 of the weight, and of sum 3 below 1e-12.

    In: sums, rate.
    """
    cdef double out[4]
    with nogil:
        expand(&sums[0], rate, out)
    return out[0], out[1], out[2], out[3]


cdef void expand(const double* sums, double rate, double* out) noexcept nogil:
    """Do as `expanded` does."""
    cdef:
        double rates[POWERS]
        int k, m
    for m in range(1, POWERS):
        rates[m] = rate / m
    for k in range(4):
        out[k] = sums[POWERS - 1]
        for m in range(POWERS - 1 - k, 0, -1):
            out[k] = sums[k + m - 1] + rates[m] * out[k]


def tilt_weights(double[::1] weights, const double[::1] h, double rate, Py_ssize_t start, Py_ssize_t stop):
    """weights *= exp(rate * h) on rows start:stop, where |rate * h| <= 1 / 16; return their sum.

    In: h, rate, start, stop. Changed: weights.
    """
    cdef:
        double* of_rows = &weights[start]
        const double* outputs = &h[start]
        double total
    with nogil:
        total = tilt_near(of_rows, outputs, rate, stop - start)
    return total


cdef double tilt_near(double* weights, const double* h, double rate, Py_ssize_t size) noexcept nogil:
    """Do as `tilt_weights` does."""
    cdef:
        double total = 0.0
        Py_ssize_t begin = 0, m
    while begin < size:
        m = min(<Py_ssize_t>BLOCK, size - begin)
        pnorm_tilt_near(weights + begin, h + begin, rate, m)
        total += pnorm_sum(weights + begin, m)
        begin += BLOCK
    return total


def tilt_codes(const double[::1] masses, const double[::1] values, double scale, double[::1] factors):
    """Weigh codes by the exponentials of their values: factors = exp(scale * values - top), 1 for codes without mass.

    Returns (top, sum of masses * factors, sum of masses), with the largest exponent of codes with mass as top.

    In: masses, values, scale. Out: factors.
    """
    cdef double top, scaled, total
    with nogil:
        top = weigh_codes(&masses[0], &values[0], masses.shape[0], scale, &factors[0], &scaled, &total)
    return top, scaled, total


cdef double weigh_codes(
    const double* masses, const double* values, Py_ssize_t n, double scale, double* factors, double* scaled,
    double* total,
) noexcept nogil:
    """Do as `tilt_codes` does; returns the top."""
    cdef:
        double top = -INFINITY
        Py_ssize_t c
    for c in range(n):
        if masses[c] > 0.0:
            top = fmax(top, scale * values[c])
    for c in range(n):
        factors[c] = scale * values[c] if masses[c] > 0.0 else top
    pnorm_exp_below(factors, n, top)
    scaled[0] = total[0] = 0.0
    for c in range(n):
        scaled[0] += masses[c] * factors[c]
        total[0] += masses[c]
    return top


def logs(const double[::1] values, double[::1] out):
    """out = log(values), for values >= 0, by the same function on every processor, which NumPy's is not.

    In: values. Out: out.
    """
    cdef Py_ssize_t n = values.shape[0]
    if n:
        with nogil:
            memcpy(&out[0], &values[0], n * sizeof(double))
            pnorm_log(&out[0], n)


def split(
    const double[::1] f, const double[::1] h, const double[::1] log_c, double scale, double alpha, double level,
    Py_ssize_t start, Py_ssize_t stop,
):
    """Return (top, sum of weights) where h is at a level, and (top, power sums of h - level) elsewhere.

    Rows at the level add exact zeros to every power sum of h - level; the others keep their digits
    however little they weigh.

    In: f, h, log_c, scale, alpha, level, start, stop.
    """
    cdef:
        Side side = side_of(f, h, log_c, scale, start, stop)
        double tops[2]
        double sums[5]
    with nogil:
        split_rows(&side, alpha, level, tops, sums)
    return (tops[0], sums[0]), (tops[1], sums[1], sums[2], sums[3], sums[4])


cdef void split_rows(const Side* side, double alpha, double level, double* tops, double* sums) noexcept nogil:
    """tops, sums = what `split` returns, at the level and off it."""
    cdef:
        double exponents[BLOCK]
        double* off = sums + 1
        double e, x, y
        Py_ssize_t begin = 0, m, r
    tops[0] = tops[1] = -INFINITY
    sums[0] = off[0] = off[1] = off[2] = off[3] = 0.0
    while begin < side.size:
        m = min(<Py_ssize_t>BLOCK, side.size - begin)
        fill(side, alpha, begin, m, exponents)
        for r in range(m):
            x = exponents[r]
            y = side.h[begin + r] - level
            if y == 0.0:
                if x > tops[0]:
                    sums[0] *= exp(tops[0] - x)
                    tops[0] = x
                sums[0] += exp(x - tops[0])
            else:
                if x > tops[1]:
                    rescale(off, exp(tops[1] - x), 4)
                    tops[1] = x
                e = exp(x - tops[1])
                off[0] += e
                off[1] += e * y
                off[2] += e * y * y
                off[3] += e * y * y * y
        begin += BLOCK


# (d) ---------------------------------------------------------------------------------------------

def root_step(
    double x, double lo, double hi, double bracket, double last, double width, double g, double slope, double bend
):
    """Take a step to the root x > 0 of g, and return (x, lo, hi, bracket, last) and whether the search goes on.

    g and two derivatives are those at x. The search begins at x = lo = last = 0 and hi = bracket = inf, with g < 0.

    Halley's step inside what is certain. As |g''| <= width * g', with width the largest range of
    the exponents per unit of alpha, the root is at least near = log(1 + rho) / width away and, for
    rho = width |g| / g' < 1, at most far = -log(1 - rho) / width. Where rho >= 1 the signs of g
    bracket the root: the bracket is halved when it shrinks too slowly; while its upper end is open
    each move is at least twice the one before, as Halley's alone would crawl on a plateau, and x at
    most quadruples (or goes four times near).

    A step below 1e-6 / width from rho < 1 is the last: what it leaves is of third order, 1e-18 / width.

    In: x, lo, hi, bracket, last, width, g, slope, bend.
    """
    cdef:
        Search at
        bint search
    at.x, at.lo, at.hi, at.bracket, at.last = x, lo, hi, bracket, last
    search = next_step(&at, width, g, slope, bend)
    return (at.x, at.lo, at.hi, at.bracket, at.last), search


cdef bint next_step(Search* at, double width, double g, double slope, double bend) noexcept nogil:
    """Do as `root_step` does; returns whether the search goes on."""
    cdef:
        double x = at.x, rho, near, move, y, unit
        int exponent
    rho = width * fabs(g) / slope if slope > 0.0 else INFINITY
    near = fmin(log1p(rho), 700.0) / width
    # In units of a power of two near the width, in which fourth powers of columns are numbers.
    frexp(width, &exponent)
    unit = ldexp(1.0, min(max(-exponent, -1000), 1000))
    g *= unit
    slope *= unit
    slope *= unit
    bend = bend * unit * unit * unit
    move = 2.0 * slope * slope - g * bend
    move = fmax(2.0 * fabs(g) * slope / move * unit, near) if move > 0.0 else INFINITY
    if rho < 1.0:
        move = fmin(move, -log1p(-rho) / width)
    elif at.hi == INFINITY and g < 0.0:
        move = fmin(fmax(move, 2.0 * at.last), fmax(4.0 * near, 3.0 * x))
        at.last = move
    if g < 0.0:
        at.lo = x
        y = x + move
    else:
        at.hi = x
        y = x - move
    if rho < 1.0 and move * width <= 1e-6:
        at.x = y
        return False
    if not at.lo < y < at.hi or (rho >= 1.0 and at.hi - at.lo > 0.5 * at.bracket):
        y = at.lo + 0.5 * (at.hi - at.lo) if at.hi < INFINITY else 2.0 * at.lo + near
        if not at.lo < y < at.hi:
            return False
    at.bracket = at.hi - at.lo
    at.x = y
    return True


# (e) ---------------------------------------------------------------------------------------------

cdef inline Py_ssize_t fitting(const Py_ssize_t* starts, Py_ssize_t g, Py_ssize_t n, Py_ssize_t room) noexcept nogil:
    """The group up to which rows from group g on fit into some room; one group at least."""
    cdef Py_ssize_t stop = g + 1
    while stop < n and starts[stop + 1] - starts[g] <= room:
        stop += 1
    return stop


cdef void weigh_groups(
    const Side* side, const Py_ssize_t* starts, Py_ssize_t n, double* weights, double* log_sums
) noexcept nogil:
    """Do as `weigh_by_group` does."""
    cdef:
        double sums[BLOCK]
        double* own
        double top
        Py_ssize_t g = 0, stop, k, r, m
    while g < n:
        stop = fitting(starts, g, n, BLOCK)
        own = weights + starts[g]
        m = starts[stop] - starts[g]
        top = fill(side, 0.0, starts[g], m, own)
        pnorm_subtract_tops(own, starts + g, stop - g, top, log_sums + g)
        pnorm_exp_below(own, m, 0.0)
        if m <= BLOCK:
            pnorm_normalize(own, starts + g, stop - g, sums)
        else:  # a group that is longer than a block is alone
            sums[0] = sum_of_blocks(own, m)
            for r in range(m):
                own[r] *= 1.0 / sums[0]
        pnorm_log(sums, stop - g)
        for k in range(stop - g):
            log_sums[g + k] += sums[k]
        g = stop


def weigh_by_group(
    const double[::1] f, const double[::1] log_c, const Py_ssize_t[::1] starts, double scale, double[::1] weights,
    double[::1] log_sums,
):
    """weights = softmax of scale f + log c within each group; log_sums of the groups.

    The rows of group g are starts[g]:starts[g + 1], one at least.

    In: f, log_c, starts, scale. Out: weights, log_sums.
    """
    cdef Side side = side_of(f, f, log_c, scale, 0, f.shape[0])
    with nogil:
        weigh_groups(&side, &starts[0], log_sums.shape[0], &weights[0], &log_sums[0])


def multiply_by_group(
    const double[::1] weights, const Py_ssize_t[::1] codes, const double[::1] factors, double[::1] out
):
    """out = weights times the factor of the row's group.

    In: weights, codes, factors. Out: out.
    """
    cdef Py_ssize_t r
    with nogil:
        for r in range(weights.shape[0]):
            out[r] = weights[r] * factors[codes[r]]


cdef inline const double* tilt_block(
    const double* weights, const double* h, Py_ssize_t m, double rate, double top, double* tilted_weights
) noexcept nogil:
    """Return weights * exp(rate * h - top), no copy at a rate of zero."""
    if rate == 0.0:
        return weights
    pnorm_tilt(weights, h, rate, top, m, tilted_weights)
    return tilted_weights


cdef inline double heaviest(const double* weights, const double* h, Py_ssize_t m, double* level) noexcept nogil:
    """level = h of the heaviest row; return its weight."""
    cdef Py_ssize_t r, best = 0
    for r in range(1, m):
        best = r if weights[r] > weights[best] else best
    level[0] = h[best]
    return weights[best]


cdef void tilt_groups(
    const double* weights, const double* h, const Py_ssize_t* starts, Py_ssize_t n, double rate, double top,
    bint own, double* level, double* sums, double* cumulants,
) noexcept nogil:
    """Do as `tilted_by_group` does."""
    cdef:
        double room[BLOCK]
        double powers[4][PNORM_GROUPS]
        double whole[4]
        double most, weight, mode
        const double* x
        Py_ssize_t g = 0, stop, k, m, begin
    while g < n:
        stop = fitting(starts, g, n, BLOCK)
        begin = starts[g]
        m = starts[stop] - begin
        if m <= BLOCK:
            x = tilt_block(weights + begin, h + begin, m, rate, top, room)
            pnorm_powers_of_groups(x, h + begin, starts + g, stop - g, own, level + g, powers)
        else:  # a group that is longer than a block is alone
            if own:
                most = -INFINITY
                while begin < starts[stop]:
                    m = min(<Py_ssize_t>BLOCK, starts[stop] - begin)
                    x = tilt_block(weights + begin, h + begin, m, rate, top, room)
                    weight = heaviest(x, h + begin, m, &mode)
                    if weight > most:
                        most = weight
                        level[g] = mode
                    begin += BLOCK
                begin = starts[g]
            whole[0] = whole[1] = whole[2] = whole[3] = 0.0
            while begin < starts[stop]:
                m = min(<Py_ssize_t>BLOCK, starts[stop] - begin)
                x = tilt_block(weights + begin, h + begin, m, rate, top, room)
                pnorm_add_powers(x, h + begin, level[g], m, whole)
                begin += BLOCK
            for k in range(4):
                powers[k][0] = whole[k]
        memcpy(sums + g, powers[0], (stop - g) * sizeof(double))
        pnorm_cumulants(powers, stop - g, cumulants + 3 * g)
        g = stop


def tilted_by_group(
    const double[::1] weights, const double[::1] h, const Py_ssize_t[::1] starts, double rate, double top, bint own,
    double[::1] level, double[::1] sums, double[:, ::1] cumulants,
):
    """cumulants[g] = mean, variance and third cumulant of h - level[g] in group g under weights * exp(rate * h).

    sums[g] is the sum of these over e^top, which is no less than the largest exponential. The rows of group g are
    starts[g]:starts[g + 1], one at least. At a rate and top of zero there is no exponential. If the levels are `own`,
    they become h of the heaviest row of each group.

    In: weights, h, starts, rate, top, own. Changed: level. Out: sums, cumulants.
    """
    with nogil:
        tilt_groups(
            &weights[0], &h[0], &starts[0], sums.shape[0], rate, top, own, &level[0], &sums[0], &cumulants[0, 0]
        )


cdef void tilt_cells(
    const double* masses, const double* values, Py_ssize_t n, Py_ssize_t width, double rate, double top, bint own,
    double* tilt, double* level, double* sums, double* cumulants,
) noexcept nogil:
    """Do as `tilted_cells` does."""
    cdef:
        double powers[4][PNORM_GROUPS]
        Py_ssize_t g = 0, c, m
    for c in range(width):
        tilt[c] = rate * values[c]
    pnorm_exp_below(tilt, width, top)
    while g < n:
        m = min(<Py_ssize_t>PNORM_GROUPS, n - g)
        pnorm_powers_of_cells(masses + g * width, values, tilt, width, m, own, level + g, powers)
        memcpy(sums + g, powers[0], m * sizeof(double))
        pnorm_cumulants(powers, m, cumulants + 3 * g)
        g += m


def tilted_cells(
    const double[:, ::1] masses, const double[::1] values, double rate, double top, bint own, double[::1] tilt,
    double[::1] level, double[::1] sums, double[:, ::1] cumulants,
):
    """Do as `tilted_by_group` does from masses by group and value.

    In: masses, values, rate, top, own. Out: tilt, sums, cumulants. Changed: level.
    """
    with nogil:
        tilt_cells(
            &masses[0, 0], &values[0], masses.shape[0], masses.shape[1], rate, top, own, &tilt[0], &level[0], &sums[0],
            &cumulants[0, 0],
        )


cdef bint move_groups(
    double* u, double* w, const double* v, const double* values, Py_ssize_t n, Py_ssize_t width, double p, double step,
    double light, double* tilts, double* share, double* mass, double* change,
) noexcept nogil:
    """Do as `move_cells` does; returns False, with nothing changed, where a group is too light."""
    cdef:
        double rates[3]
        double tops[3]
        double before[PNORM_GROUPS]
        double after[PNORM_GROUPS]
        double logs_of_u[PNORM_GROUPS]
        double top, total
        double* tilt
        Py_ssize_t g = 0, c, k, m
    rates[0], rates[1], rates[2] = -step, p * step, step
    for k in range(3):
        tilt, tops[k] = tilts + k * width, -INFINITY
        for c in range(width):
            tilt[c] = rates[k] * values[c]
            tops[k] = fmax(tops[k], tilt[c])
        pnorm_exp_below(tilt, width, tops[k])
    while g < n:
        m = min(<Py_ssize_t>PNORM_GROUPS, n - g)
        pnorm_sums_of_cells(u + g * width, NULL, width, m, before)
        pnorm_sums_of_cells(u + g * width, tilts, width, m, after)
        for k in range(m):
            if not before[k] > light:
                return False
        pnorm_log_ratio(after, before, m, logs_of_u)
        pnorm_sums_of_cells(w + g * width, NULL, width, m, before)
        pnorm_sums_of_cells(w + g * width, tilts + width, width, m, after)
        for k in range(m):
            if not before[k] > light:
                return False
        pnorm_log_ratio(after, before, m, share + g)
        for k in range(m):
            share[g + k] += p * logs_of_u[k]
        g += m
    top = pnorm_max(share, n)
    pnorm_exp_below(share, n, top)
    tops[1] += p * tops[0] + top
    g = 0
    while g < n:
        m = min(<Py_ssize_t>PNORM_GROUPS, n - g)
        pnorm_sums_of_cells(w + g * width, NULL, width, m, before)
        for k in range(m):
            share[g + k] *= before[k]
        g += m
    total = sum_of_blocks(share, n)
    change[0] = change[1] = tops[1] + log(total)
    total = 1.0 / total
    g = 0
    while g < n:
        m = min(<Py_ssize_t>PNORM_GROUPS, n - g)
        for k in range(m):
            share[g + k] *= total
        pnorm_sums_of_cells(u + g * width, tilts, width, m, after)
        if v != NULL:
            pnorm_sums_of_cells(u + g * width, NULL, width, m, before)
            for k in range(m):
                mass[g + k] *= after[k] / before[k]
            pnorm_sums_of_cells(v + g * width, NULL, width, m, before)
            pnorm_sums_of_cells(v + g * width, tilts + 2 * width, width, m, logs_of_u)
            for k in range(m):
                mass[g + k] *= logs_of_u[k] / before[k]
        spread_factors(share + g, after, tilts, width, m, u + g * width)
        pnorm_sums_of_cells(w + g * width, tilts + width, width, m, after)
        spread_factors(share + g, after, tilts + width, width, m, w + g * width)
        g += m
    if v != NULL:
        total = sum_of_blocks(mass, n)
        change[1] = tops[0] + tops[2] + log(total)
        total = 1.0 / total
        for g in range(n):
            mass[g] *= total
    return True


cdef inline void spread_factors(
    const double* share, const double* after, const double* tilt, Py_ssize_t width, Py_ssize_t n, double* factors
) noexcept nogil:
    """factors[g, c] = share[g] / after[g] * tilt[c]."""
    cdef:
        double factor
        Py_ssize_t g, c
    for g in range(n):
        factor = share[g] / after[g]
        for c in range(width):
            factors[g * width + c] = factor * tilt[c]


def move_cells(
    double[:, ::1] u, double[:, ::1] w, const double[:, ::1] v, const double[::1] values, double p, double step,
    double light, double[:, ::1] tilts, double[::1] share, double[::1] mass,
):
    """Return the changes of log F_p and of the log of the mass with a step along a ranker, and whether it was taken.

    Given are the sums of the weights u, w and v (those at p = 1, or None) by group and value. u and w become the
    factors of these weights, tilts[2] those of v by value. `mass` are the shares of groups at p = 1, for v.
    The step is not taken, and nothing changed, where a group's u or w is no more than `light`.

    In: v, values, p, step, light. Changed: u, w, mass. Out: tilts, share.
    """
    cdef:
        double change[2]
        const double* of_v = NULL if v is None else &v[0, 0]
        bint taken
    with nogil:
        taken = move_groups(
            &u[0, 0], &w[0, 0], of_v, &values[0], u.shape[0], u.shape[1], p, step, light, &tilts[0, 0], &share[0],
            &mass[0], change,
        )
    return (change[0], change[1], True) if taken else (0.0, 0.0, False)


cdef void mix(
    const double* before, const double* pos_sums, const double* pos, const double* neg_sums, const double* neg,
    double p, Py_ssize_t n, double* share, double* out
) noexcept nogil:
    """Do as `mixture` does."""
    cdef:
        double total, edge, curve, mean, spread
        double s_edge = 0.0, s_square = 0.0, s_cube = 0.0, s_curve = 0.0, s_both = 0.0, s_third = 0.0, size = 0.0
        Py_ssize_t g
    pnorm_log_ratio(pos_sums, before, n, share)
    for g in range(n):
        share[g] *= p
    pnorm_exp_below(share, n, pnorm_max(share, n))
    for g in range(n):
        share[g] *= neg_sums[g]
    total = 1.0 / sum_of_blocks(share, n)
    for g in range(n):
        share[g] *= total
        edge = neg[3 * g] - pos[3 * g]
        curve = pos[3 * g + 1] + p * neg[3 * g + 1]
        size += share[g] * (fabs(neg[3 * g]) + fabs(pos[3 * g]))
        s_third += share[g] * (p * p * neg[3 * g + 2] - pos[3 * g + 2])
        s_curve += share[g] * curve
        mean = share[g] * edge
        s_edge += mean
        s_both += mean * curve
        mean *= edge
        s_square += mean
        s_cube += mean * edge
    mean = s_edge
    spread = s_square - mean * mean
    out[0] = mean
    out[1] = s_curve + p * spread
    out[2] = (
        s_third + 3.0 * p * (s_both - mean * s_curve)
        + p * p * (s_cube - 3.0 * mean * s_square + 2.0 * mean * mean * mean)
    )
    out[3] = size


def mixture(
    const double[::1] before, const double[::1] pos_sums, const double[:, ::1] pos, const double[::1] neg_sums,
    const double[:, ::1] neg, double p, double[::1] share,
):
    """Return the slope of log F_p, over p, two derivatives, and the size of the terms of the slope.

    Sums and cumulants are those of `tilted_by_group`; those of the positives before were `before`. The share of
    a group is proportional to (pos_sums / before) ** p * neg_sums, of groups without weight to nothing.

    In: before, pos_sums, pos, neg_sums, neg, p. Out: share.
    """
    cdef double out[4]
    with nogil:
        mix(
            &before[0], &pos_sums[0], &pos[0, 0], &neg_sums[0], &neg[0, 0], p, before.shape[0], &share[0], out
        )
    return out[0], out[1], out[2], out[3]


def split_by_group(
    const double[::1] f, const double[::1] h, const double[::1] log_c, const Py_ssize_t[::1] starts, double scale,
    double alpha, const double[::1] level, double[:, ::1] tops, double[:, ::1] sums,
):
    """Do as `split` does, for every group about its own level; the rows of group g are starts[g]:starts[g + 1].

    sums[g, 0], relative to tops[g, 0], is the sum of exponentials at the level; sums[g, 1:5],
    relative to tops[g, 1], are power sums of h - level off it. Without rows, the top is minus infinity.

    In: f, h, log_c, starts, scale, alpha, level. Out: tops, sums.
    """
    cdef:
        Side side
        Py_ssize_t g
    for g in range(level.shape[0]):
        side = side_of(f, h, log_c, scale, starts[g], starts[g + 1])
        split_rows(&side, alpha, level[g], &tops[g, 0], &sums[g, 0])
