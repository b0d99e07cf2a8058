"""Exponentially tilted weights: everything a round of the P-Norm Push asks of the rows.

For scores f, the exponential loss factors over the pairs, so one side of the list enters only
through weights

    omega_r  proportional to  c_r exp(scale (f_r + alpha h_r)),

with case weights c_r, scale = -1 on the positives (omega = u) and scale = p on the negatives
(omega = w). What follows are sums over such weights, always with the largest exponent taken out,
so that nothing overflows and no row that matters underflows.

(a) some exponents, the only place where they are formed
(b) sums of exponentials, and weights
(c) power sums of h under the weights, tilted by alpha
(d) a step to the root of equation (1) in alpha
(e) the same for every query group

All but (d) and (e) work on a block of rows; the caller merges the results of blocks. Within it, rows are read 256
at a time: their exponents stay in the first cache, and a sum of such sums keeps the rounding error
of a million rows near that of a thousand. `log_c` may be None: no case weights.
"""

from libc.math cimport INFINITY, NAN, exp, fabs, fmax, fmin, log, log1p

cdef extern from "_exp.h" nogil:
    void pnorm_exp_below(double* values, Py_ssize_t m, double top) noexcept

cdef enum:
    BLOCK = 256

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

cdef inline double maximum(const double* values, Py_ssize_t m) noexcept nogil:
    """np.max(values); four chains, as one alone would wait for each comparison."""
    cdef:
        double a = -INFINITY, b = -INFINITY, c = -INFINITY, d = -INFINITY
        Py_ssize_t r
    for r in range(0, m - 3, 4):
        a = values[r] if values[r] > a else a
        b = values[r + 1] if values[r + 1] > b else b
        c = values[r + 2] if values[r + 2] > c else c
        d = values[r + 3] if values[r + 3] > d else d
    for r in range(m - m % 4, m):
        a = values[r] if values[r] > a else a
    a = a if a > b else b
    c = c if c > d else d
    return a if a > c else c


cdef inline double fill(
    const Side* side, double alpha, Py_ssize_t start, Py_ssize_t m, double* exponents
) noexcept nogil:
    """exponents = scale * (f + alpha * h) + log_c on rows start:start + m; returns their maximum."""
    cdef:
        const double* f = side.f + start
        const double* h = side.h + start
        const double* log_c = side.log_c
        double scale = side.scale
        Py_ssize_t r
    if alpha == 0.0:
        for r in range(m):
            exponents[r] = scale * f[r]
    else:
        for r in range(m):
            exponents[r] = scale * (f[r] + alpha * h[r])
    if log_c != NULL:
        for r in range(m):
            exponents[r] += log_c[start + r]
    return maximum(exponents, m)


# (b) ---------------------------------------------------------------------------------------------

def exp_below(double[::1] values, double top):
    """values = exp(values - top), and e^-600 where that is less; none is above the top.

    In: top. Changed: values.
    """
    with nogil:
        pnorm_exp_below(&values[0], values.shape[0], top)


cdef double sum_exp(double* values, Py_ssize_t m, double top) noexcept nogil:
    """values = exp(values - top), in place; returns their sum. Four chains hide the latency of +."""
    cdef:
        double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0
        Py_ssize_t r
    pnorm_exp_below(values, m, top)
    for r in range(0, m - 3, 4):
        s0 += values[r]
        s1 += values[r + 1]
        s2 += values[r + 2]
        s3 += values[r + 3]
    for r in range(m - m % 4, m):
        s0 += values[r]
    return (s0 + s1) + (s2 + s3)


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


def rescale_rows(double[::1] weights, double factor, Py_ssize_t start, Py_ssize_t stop):
    """weights *= factor on rows start:stop.

    In: factor, start, stop. Changed: weights.
    """
    cdef Py_ssize_t r
    with nogil:
        for r in range(start, stop):
            weights[r] *= factor


def advance(double[::1] f, const double[::1] h, double alpha, Py_ssize_t start, Py_ssize_t stop):
    """f += alpha * h on rows start:stop.

    In: h, alpha, start, stop. Changed: f.
    """
    cdef:
        double* scores = &f[start]
        const double* outputs = &h[start]
        Py_ssize_t size = stop - start, r
    with nogil:
        for r in range(size):
            scores[r] += alpha * outputs[r]


# (c) ---------------------------------------------------------------------------------------------

cdef void add_powers(const double* weights, const double* h, Py_ssize_t m, double* sums) noexcept nogil:
    """sums[k] += sum of weights * h ** k for k = 0..3."""
    cdef:
        double a0 = 0.0, a1 = 0.0, a2 = 0.0, a3 = 0.0
        double b0 = 0.0, b1 = 0.0, b2 = 0.0, b3 = 0.0
        double x, y
        Py_ssize_t r
    for r in range(0, m - 1, 2):
        x = weights[r]
        y = weights[r + 1]
        a0 += x
        b0 += y
        x *= h[r]
        y *= h[r + 1]
        a1 += x
        b1 += y
        x *= h[r]
        y *= h[r + 1]
        a2 += x
        b2 += y
        a3 += x * h[r]
        b3 += y * h[r + 1]
    if m % 2:
        x = weights[m - 1]
        y = h[m - 1]
        a0 += x
        a1 += x * y
        a2 += x * y * y
        a3 += x * y * y * y
    sums[0] += a0 + b0
    sums[1] += a1 + b1
    sums[2] += a2 + b2
    sums[3] += a3 + b3


cdef inline void rescale(double* sums, double factor) noexcept nogil:
    """sums[k] *= factor for k = 0..3."""
    cdef int k
    for k in range(4):
        sums[k] *= factor


def given(const double[::1] weights, const double[::1] h, Py_ssize_t start, Py_ssize_t stop):
    """Return (0, power sums of h) under given weights on rows start:stop, in the form of `tilted`. No exponential.

    In: weights, h, start, stop.
    """
    cdef:
        const double* of_rows = &weights[start]
        const double* outputs = &h[start]
        double sums[4]
    with nogil:
        given_rows(of_rows, outputs, stop - start, sums)
    return 0.0, sums[0], sums[1], sums[2], sums[3]


cdef void given_rows(const double* weights, const double* h, Py_ssize_t size, double* sums) noexcept nogil:
    """Do as `given` does."""
    cdef Py_ssize_t begin = 0
    sums[0] = sums[1] = sums[2] = sums[3] = 0.0
    while begin < size:
        add_powers(weights + begin, h + begin, min(<Py_ssize_t>BLOCK, size - begin), sums)
        begin += BLOCK


def tilted(
    const double[::1] f, const double[::1] h, const double[::1] log_c, double scale, double alpha,
    Py_ssize_t start, Py_ssize_t stop,
):
    """Return ((top, power sums of h), h of the heaviest row) under the weights at step alpha, on rows start:stop.

    Weights are exp(exponent - top). One pass, with one exponential per row.

    In: f, h, log_c, scale, alpha, start, stop.
    """
    cdef:
        Side side = side_of(f, h, log_c, scale, start, stop)
        double sums[4]
        double top, mode
    with nogil:
        top = tilt_rows(&side, alpha, sums, &mode)
    return (top, sums[0], sums[1], sums[2], sums[3]), mode


cdef double tilt_rows(const Side* side, double alpha, double* sums, double* mode) noexcept nogil:
    """Do as `tilted` does; returns the top."""
    cdef:
        double exponents[BLOCK]
        double top = -INFINITY, block_top
        Py_ssize_t begin = 0, m, r
    mode[0] = NAN
    sums[0] = sums[1] = sums[2] = sums[3] = 0.0
    while begin < side.size:
        m = min(<Py_ssize_t>BLOCK, side.size - begin)
        block_top = fill(side, alpha, begin, m, exponents)
        if block_top > top:
            rescale(sums, exp(top - block_top))
            top = block_top
            for r in range(m):
                if exponents[r] == block_top:
                    mode[0] = side.h[begin + r]
        pnorm_exp_below(exponents, m, top)
        add_powers(exponents, side.h + begin, m, sums)
        begin += BLOCK
    return top


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
    """out = log(values), by the same function on every processor, which NumPy's is not.

    In: values. Out: out.
    """
    cdef Py_ssize_t r
    with nogil:
        for r in range(values.shape[0]):
            out[r] = log(values[r])


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
        double exponents[BLOCK]
        double off[4]
        double at = 0.0, at_top = -INFINITY, off_top = -INFINITY, e, x, y
        Py_ssize_t begin = 0, m, r
    with nogil:
        off[0] = off[1] = off[2] = off[3] = 0.0
        while begin < side.size:
            m = min(<Py_ssize_t>BLOCK, side.size - begin)
            fill(&side, alpha, begin, m, exponents)
            for r in range(m):
                x = exponents[r]
                y = side.h[begin + r] - level
                if y == 0.0:
                    if x > at_top:
                        at *= exp(at_top - x)
                        at_top = x
                    at += exp(x - at_top)
                else:
                    if x > off_top:
                        rescale(off, exp(off_top - x))
                        off_top = x
                    e = exp(x - off_top)
                    off[0] += e
                    off[1] += e * y
                    off[2] += e * y * y
                    off[3] += e * y * y * y
            begin += BLOCK
    return (at_top, at), (off_top, off[0], off[1], off[2], off[3])


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
    cdef double x = at.x, rho, near, move, y
    rho = width * fabs(g) / slope if slope > 0.0 else INFINITY
    near = fmin(log1p(rho), 700.0) / width
    move = 2.0 * slope * slope - g * bend
    move = fmax(2.0 * fabs(g) * slope / move, near) if move > 0.0 else INFINITY
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

def weigh_by_group(
    const double[::1] f, const double[::1] log_c, const Py_ssize_t[::1] codes, double scale,
    double[::1] weights, double[::1] log_sums, double[::1] sums,
):
    """weights = softmax of scale f + log c within each group; log_sums of the groups, all of which have rows.

    In: f, log_c, codes, scale. Out: weights, log_sums. Scratch: sums.
    """
    cdef:
        Side side = side_of(f, f, log_c, scale, 0, f.shape[0])
        Py_ssize_t r, g, start = 0
    with nogil:
        for g in range(log_sums.shape[0]):
            log_sums[g] = -INFINITY
        while start < side.size:
            fill(&side, 0.0, start, min(<Py_ssize_t>BLOCK, side.size - start), &weights[start])
            start += BLOCK
        for r in range(side.size):
            log_sums[codes[r]] = fmax(log_sums[codes[r]], weights[r])
        for r in range(side.size):
            weights[r] -= log_sums[codes[r]]
        pnorm_exp_below(&weights[0], side.size, 0.0)
        for g in range(sums.shape[0]):
            sums[g] = 0.0
        for r in range(side.size):
            sums[codes[r]] += weights[r]
        for r in range(side.size):
            weights[r] /= sums[codes[r]]
        for g in range(sums.shape[0]):
            log_sums[g] += log(sums[g])


def heaviest_by_group(
    const double[::1] f, const double[::1] h, const double[::1] log_c, const Py_ssize_t[::1] codes, double scale,
    double alpha, double[::1] top, double[::1] level,
):
    """level = h of the heaviest row of every group at step alpha.

    In: f, h, log_c, codes, scale, alpha. Out: level. Scratch: top.
    """
    cdef:
        Side side = side_of(f, h, log_c, scale, 0, f.shape[0])
        double exponents[BLOCK]
        Py_ssize_t start = 0, m, r, g
    with nogil:
        for g in range(top.shape[0]):
            top[g] = -INFINITY
        while start < side.size:
            m = min(<Py_ssize_t>BLOCK, side.size - start)
            fill(&side, alpha, start, m, exponents)
            for r in range(m):
                g = codes[start + r]
                if exponents[r] > top[g]:
                    top[g] = exponents[r]
                    level[g] = h[start + r]
            start += BLOCK


def split_by_group(
    const double[::1] f, const double[::1] h, const double[::1] log_c, const Py_ssize_t[::1] codes, double scale,
    double alpha, const double[::1] level, double[:, ::1] tops, double[:, ::1] sums,
):
    """Do as `split` does, for every group about its own level.

    sums[g, 0], relative to tops[g, 0], is the sum of exponentials at the level; sums[g, 1:5],
    relative to tops[g, 1], are power sums of h - level off it. Without rows, the top is minus infinity.

    In: f, h, log_c, codes, scale, alpha, level. Out: tops, sums.
    """
    cdef:
        Side side = side_of(f, h, log_c, scale, 0, f.shape[0])
        double exponents[BLOCK]
        double y
        Py_ssize_t start = 0, m, r, g
        int k
    with nogil:
        for g in range(tops.shape[0]):
            tops[g, 0] = tops[g, 1] = -INFINITY
            for k in range(5):
                sums[g, k] = 0.0
        while start < side.size:
            m = min(<Py_ssize_t>BLOCK, side.size - start)
            fill(&side, alpha, start, m, exponents)
            for r in range(m):
                g = codes[start + r]
                k = h[start + r] != level[g]
                tops[g, k] = fmax(tops[g, k], exponents[r])
            start += BLOCK
        start = 0
        while start < side.size:
            m = min(<Py_ssize_t>BLOCK, side.size - start)
            fill(&side, alpha, start, m, exponents)
            for r in range(m):
                g = codes[start + r]
                exponents[r] -= tops[g, h[start + r] != level[g]]
            pnorm_exp_below(exponents, m, 0.0)
            for r in range(m):
                g = codes[start + r]
                y = h[start + r] - level[g]
                if y == 0.0:
                    sums[g, 0] += exponents[r]
                else:
                    sums[g, 1] += exponents[r]
                    sums[g, 2] += exponents[r] * y
                    sums[g, 3] += exponents[r] * y * y
                    sums[g, 4] += exponents[r] * y * y * y
            start += BLOCK
