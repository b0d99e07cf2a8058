"""Exponentially tilted weights: everything a round of the P-Norm Push asks of the rows.

For scores f, the exponential loss factors over the pairs, so one side of the list enters only
through weights

    omega_r  proportional to  c_r exp(scale (f_r + alpha h_r)),

with case weights c_r, scale = -1 on the positives (omega = u) and scale = p on the negatives
(omega = w). What follows are sums over such weights, always with the largest exponent taken out,
so that nothing overflows and no row that matters underflows.

(a) one block of exponents, the only place where they are formed
(b) log-sum-exp and normalised weights
(c) mean, variance and third cumulant of h under the weights, tilted by alpha
(d) the root of equation (1) in alpha

Rows are read in blocks of 256: the exponents of a block stay in the first cache, and a sum of
block sums keeps the rounding error of a million rows near that of a thousand.
`log_c` may be None: no case weights.
"""

from libc.math cimport INFINITY, NAN, exp, fabs, fmax, fmin, log, log1p

cdef extern from "_exp.h" nogil:
    void pnorm_exp_below(double* values, Py_ssize_t m, double top) noexcept

cdef enum:
    BLOCK = 256
    MAX_EVALUATIONS = 400

cdef extern from *:
    """
    /* Share of the largest variance below which u and w each lie at a single level. */
    static const double PLATEAU = 1e-6;
    /* Rounding of a difference of two means, as a share of the range. */
    static const double ROUNDING = 1.2e-16;
    """
    const double PLATEAU
    const double ROUNDING

cdef struct Side:
    const double* f
    const double* h
    const double* log_c
    Py_ssize_t size
    double scale

cdef struct Moments:
    double mean
    double variance
    double third
    double mode


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


cdef double log_sum_exp(const Side* side) noexcept nogil:
    """log of the sum of c exp(scale f), in one pass: a larger exponent rescales the sum so far."""
    cdef:
        double exponents[BLOCK]
        double top = -INFINITY, block_top, total = 0.0
        Py_ssize_t start, m
    start = 0
    while start < side.size:
        m = min(<Py_ssize_t>BLOCK, side.size - start)
        block_top = fill(side, 0.0, start, m, exponents)
        if block_top > top:
            total *= exp(top - block_top)
            top = block_top
        total += sum_exp(exponents, m, top)
        start += BLOCK
    return top + log(total)


cdef double softmax(const Side* side, double* weights) noexcept nogil:
    """weights = c exp(scale f) / their sum; returns the log of that sum."""
    cdef:
        double top = -INFINITY, total = 0.0, inverse
        Py_ssize_t start, m, r
    start = 0
    while start < side.size:
        m = min(<Py_ssize_t>BLOCK, side.size - start)
        top = fmax(top, fill(side, 0.0, start, m, weights + start))
        start += BLOCK
    start = 0
    while start < side.size:
        m = min(<Py_ssize_t>BLOCK, side.size - start)
        total += sum_exp(weights + start, m, top)
        start += BLOCK
    inverse = 1.0 / total
    for r in range(side.size):
        weights[r] *= inverse
    return top + log(total)


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


cdef Moments cumulants(const double* sums, double mode) noexcept nogil:
    """Mean, variance and third cumulant from the power sums of (c); mode is h of the heaviest row."""
    cdef:
        Moments result
        double mean = sums[1] / sums[0], square = sums[2] / sums[0]
    result.mean = mean
    result.variance = fmax(square - mean * mean, 0.0)
    result.third = sums[3] / sums[0] - 3.0 * mean * square + 2.0 * mean * mean * mean
    result.mode = mode
    return result


cdef Moments given_moments(const double* weights, const Side* side) noexcept nogil:
    """Moments of h under weights already at hand: no exponential, and no mode."""
    cdef:
        double sums[4]
        Py_ssize_t start
    sums[0] = sums[1] = sums[2] = sums[3] = 0.0
    start = 0
    while start < side.size:
        add_powers(weights + start, side.h + start, min(<Py_ssize_t>BLOCK, side.size - start), sums)
        start += BLOCK
    return cumulants(sums, NAN)


cdef Moments tilted_moments(const Side* side, double alpha) noexcept nogil:
    """Moments of h under omega at step alpha, in one pass: one exponential per row."""
    cdef:
        double exponents[BLOCK]
        double sums[4]
        double top = -INFINITY, block_top, shrink, mode = NAN
        Py_ssize_t start, m, r
        int k
    sums[0] = sums[1] = sums[2] = sums[3] = 0.0
    start = 0
    while start < side.size:
        m = min(<Py_ssize_t>BLOCK, side.size - start)
        block_top = fill(side, alpha, start, m, exponents)
        if block_top > top:
            shrink = exp(top - block_top)
            for k in range(4):
                sums[k] *= shrink
            top = block_top
            for r in range(m):
                if exponents[r] == top:
                    mode = side.h[start + r]
        pnorm_exp_below(exponents, m, top)
        add_powers(exponents, side.h + start, m, sums)
        start += BLOCK
    return cumulants(sums, mode)


cdef double plateau_sums(const Side* side, double alpha, double level, double* sums) noexcept nogil:
    """Power sums of h - level where almost all weight lies at the level.

    Rows at the level add exact zeros to every sum, so the others are taken relative to their own
    largest exponent, and keep their digits however little they weigh. Fills sums[1:4] with
    E (h - level)^k e^-t, to be read with the returned t: minus infinity where all rows are at the level.
    """
    cdef:
        double exponents[BLOCK]
        double at_top = -INFINITY, off_top = -INFINITY, at = 0.0, off = 0.0, e, x, y, shift
        Py_ssize_t start = 0, m, r
    sums[1] = sums[2] = sums[3] = 0.0
    while start < side.size:
        m = min(<Py_ssize_t>BLOCK, side.size - start)
        fill(side, alpha, start, m, exponents)
        for r in range(m):
            x = exponents[r]
            y = side.h[start + r] - level
            if y == 0.0:
                if x > at_top:
                    at *= exp(at_top - x)
                    at_top = x
                at += exp(x - at_top)
            else:
                if x > off_top:
                    e = exp(off_top - x)
                    off *= e
                    sums[1] *= e
                    sums[2] *= e
                    sums[3] *= e
                    off_top = x
                e = exp(x - off_top)
                off += e
                sums[1] += e * y
                sums[2] += e * y * y
                sums[3] += e * y * y * y
        start += BLOCK
    shift = fmax(at_top, off_top)
    e = at * exp(at_top - shift) + off * exp(off_top - shift)
    sums[1] /= e
    sums[2] /= e
    sums[3] /= e
    return off_top - shift


# (d) ---------------------------------------------------------------------------------------------

cdef double equation_1(
    Moments u, Moments w, double p, double sign, double* slope, double* bend
) noexcept nogil:
    """g(x) = sign * (E_w h - E_u h) at alpha = sign * x, with its first two derivatives in x.

    p g is the slope of log F_p along the ranker, and g increases: g' = p Var_w h + Var_u h.
    """
    slope[0] = p * w.variance + u.variance
    bend[0] = sign * (p * p * w.third - u.third)
    return sign * (w.mean - u.mean)


cdef double on_plateau(
    const Side* pos, const Side* neg, double alpha, double level, double sign, double* slope, double* bend
) noexcept nogil:
    """The same times a positive number, to leading order, where u and w both lie at one level.

    g is then a difference of two numbers that both decay like e^-x, and would be lost beside the
    level. Only ratios of g, g' and g'' are used, so the largest exponent is taken out of all three.
    """
    cdef:
        double u[4]
        double w[4]
        double p = neg.scale
        double u_top = plateau_sums(pos, alpha, level, u), w_top = plateau_sums(neg, alpha, level, w)
        double top = fmax(u_top, w_top), a, b
    if top == -INFINITY:
        slope[0] = bend[0] = 0.0
        return 0.0
    a, b = exp(u_top - top), exp(w_top - top)
    slope[0] = p * b * w[2] + a * u[2]
    bend[0] = sign * (p * p * b * w[3] - a * u[3])
    return sign * (b * w[1] - a * u[1])


cdef double evaluate(
    const Side* pos, const Side* neg, double x, double sign, double span, double* slope, double* bend
) noexcept nogil:
    """g and its derivatives at x, by the sums that keep their digits there."""
    cdef:
        Moments u = tilted_moments(pos, sign * x), w = tilted_moments(neg, sign * x)
        double g = equation_1(u, w, neg.scale, sign, slope, bend)
    if slope[0] <= PLATEAU * (1.0 + neg.scale) * span * span and fabs(u.mode - w.mode) <= 1e-8 * span:
        g = on_plateau(pos, neg, sign * x, u.mode, sign, slope, bend)
    return g


cdef int find_root(
    const Side* pos, const Side* neg, const double* u, const double* w,
    double sign, double width, double span, double* alpha
) noexcept nogil:
    """Solve g(x) = 0 for x > 0; the number of evaluations, or 0 where g(0) is not below rounding.

    Halley's step inside what is certain. As |g''| <= width * g', with width the largest range of
    the exponents per unit of alpha, the root is at least near = log(1 + rho) / width away and, for
    rho = width |g| / g' < 1, at most far = -log(1 - rho) / width. Where rho >= 1 the signs of g
    bracket the root: the bracket is halved when it shrinks too slowly; while its upper end is open
    each move is at least twice the one before, as Halley's alone would crawl on a plateau, and x at
    most quadruples (or goes four times near).

    A step below 1e-6 / width from rho < 1 is the last: what it leaves is of third order, 1e-18 / width.
    `span` is the range of h over both sides.
    """
    cdef:
        double lo = 0.0, hi = INFINITY, bracket = INFINITY, x = 0.0, y
        double g, slope, bend, rho, near, move, last = 0.0
        int evaluations = 1
    alpha[0] = 0.0
    g = equation_1(given_moments(u, pos), given_moments(w, neg), neg.scale, sign, &slope, &bend)
    if slope <= PLATEAU * (1.0 + neg.scale) * span * span:
        g = evaluate(pos, neg, 0.0, sign, span, &slope, &bend)
    elif fabs(g) <= ROUNDING * span:
        return 0
    if not g < 0.0:
        return 0
    while g != 0.0 and evaluations < MAX_EVALUATIONS:
        rho = width * fabs(g) / slope if slope > 0.0 else INFINITY
        near = fmin(log1p(rho), 700.0) / width
        move = 2.0 * slope * slope - g * bend
        move = fmax(2.0 * fabs(g) * slope / move, near) if move > 0.0 else INFINITY
        if rho < 1.0:
            move = fmin(move, -log1p(-rho) / width)
        elif hi == INFINITY and g < 0.0:
            move = fmin(fmax(move, 2.0 * last), fmax(4.0 * near, 3.0 * x))
            last = move
        if g < 0.0:
            lo = x
            y = x + move
        else:
            hi = x
            y = x - move
        if rho < 1.0 and move * width <= 1e-6:
            x = y
            break
        if not lo < y < hi or (rho >= 1.0 and hi - lo > 0.5 * bracket):
            y = lo + 0.5 * (hi - lo) if hi < INFINITY else 2.0 * lo + near
            if not lo < y < hi:
                break
        bracket = hi - lo
        x = y
        g = evaluate(pos, neg, x, sign, span, &slope, &bend)
        evaluations += 1
    alpha[0] = sign * x
    return evaluations


cdef void add_multiple(double* f, const double* h, Py_ssize_t size, double alpha) noexcept nogil:
    """f += alpha * h."""
    cdef Py_ssize_t r
    for r in range(size):
        f[r] += alpha * h[r]


cdef void split(const Side* side, double alpha, double level, double* log_sums) noexcept nogil:
    """log_sums = log of the sum of c exp(scale (f + alpha h)) where h is at the level, and where not."""
    cdef:
        double exponents[BLOCK]
        double top[2]
        double total[2]
        Py_ssize_t start = 0, m, r
        int off
    top[0] = top[1] = -INFINITY
    total[0] = total[1] = 0.0
    while start < side.size:
        m = min(<Py_ssize_t>BLOCK, side.size - start)
        fill(side, alpha, start, m, exponents)
        for r in range(m):
            off = side.h[start + r] != level
            if exponents[r] > top[off]:
                total[off] *= exp(top[off] - exponents[r])
                top[off] = exponents[r]
            total[off] += exp(exponents[r] - top[off])
        start += BLOCK
    for off in range(2):
        log_sums[off] = top[off] + log(total[off]) if total[off] > 0.0 else -INFINITY


# What Python calls --------------------------------------------------------------------------------

cdef Side side_of(
    const double[::1] f, const double[::1] h, const double[::1] log_c, double scale
) noexcept:
    cdef Side side
    side.f = &f[0]
    side.h = &h[0]
    side.log_c = NULL
    if log_c is not None:
        side.log_c = &log_c[0]
    side.size = f.shape[0]
    side.scale = scale
    return side


def exp_below(double[::1] values, double top):
    with nogil:
        pnorm_exp_below(&values[0], values.shape[0], top)


def log_sum(const double[::1] f, const double[::1] log_c, double scale):
    cdef:
        Side side = side_of(f, f, log_c, scale)
        double result
    with nogil:
        result = log_sum_exp(&side)
    return result


def weigh(const double[::1] f, const double[::1] log_c, double[::1] weights, double scale):
    cdef:
        Side side = side_of(f, f, log_c, scale)
        double result
    with nogil:
        result = softmax(&side, &weights[0])
    return result


def advance(double[::1] f, const double[::1] h, double alpha):
    with nogil:
        add_multiple(&f[0], &h[0], f.shape[0], alpha)


def split_log_sums(
    const double[::1] f, const double[::1] h, const double[::1] log_c, double scale, double alpha, double level
):
    cdef:
        Side side = side_of(f, h, log_c, scale)
        double log_sums[2]
    with nogil:
        split(&side, alpha, level, log_sums)
    return log_sums[0], log_sums[1]


def solve(
    const double[::1] f_pos, const double[::1] h_pos, const double[::1] log_c_pos, const double[::1] u,
    const double[::1] f_neg, const double[::1] h_neg, const double[::1] log_c_neg, const double[::1] w,
    double p, double sign, double width, double span,
):
    cdef:
        Side pos = side_of(f_pos, h_pos, log_c_pos, -1.0)
        Side neg = side_of(f_neg, h_neg, log_c_neg, p)
        double alpha
        int evaluations
    with nogil:
        evaluations = find_root(&pos, &neg, &u[0], &w[0], sign, width, span, &alpha)
    return alpha, evaluations
