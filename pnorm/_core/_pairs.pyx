"""Sums over all pairs of a function of the difference of two scores, without the pairs.

Sources s_i with weights c_i and targets t_k, both sorted, within segments (one for each query
group) between which there are no pairs. For every target, the sum over i of c_i phi(s_i - t_k):

(a) the order of scores
(b) piecewise polynomials, by a sweep
(c) smooth functions with exponential and linear tails, by a fast multipole method

(c) is the black-box fast multipole method of W. Fong & E. Darve, Journal of Computational Physics 228
(2009) 8712-8725, in one dimension and on one level: Chebyshev series on cells of width one. As phi has no
singularity on the line, near cells go by series as well. Beyond the reach of the table its tails are
exponential and linear, and merge from cell to cell. The moments of a source cell are its multipole expansion
(particle to multipole); they give the series of every target cell, its local expansion (multipole to local);
that is summed up at every target (local to particle).
"""

from libc.limits cimport INT_MAX
from libc.math cimport INFINITY, exp, isfinite

cdef extern from "_cells.h" nogil:
    enum:
        TERMS "PNORM_TERMS"
        WIDTH "PNORM_WIDTH"
    void pnorm_particle_to_multipole(
        const double* f, const double* weights, Py_ssize_t apart, Py_ssize_t m, double end, double* moments) noexcept
    void pnorm_multipole_to_local(const double* moments, const double* table, double* local) noexcept
    void pnorm_local_to_particle(const double* f, Py_ssize_t m, double end, const double* local, double* out) noexcept

N_TERMS, N_WIDTH = TERMS, WIDTH

# (a) ---------------------------------------------------------------------------------------------

cdef enum:
    MOVES = 16


def sort(const double[::1] f, Py_ssize_t[::1] order, double[::1] out, int[::1] counts):
    """out = f[order], sorted, equal scores in the order of their rows; return whether that was done.

    Buckets of equal width, and an insertion sort of what comes of them: linear where no stretch of
    the line is much denser than the average, given up for a general sort where one is, where a score
    is not finite, or where rows are more than an int can count. `counts`, zeros, has a place for
    every bucket and one more.

    In: f. Out: order, out. Scratch: counts.
    """
    cdef:
        Py_ssize_t n = f.shape[0], n_buckets = counts.shape[0] - 1, r, b, k, allowed = MOVES * f.shape[0]
        double low = INFINITY, high = -INFINITY, wild = 0.0, scale, x
        bint done = True
    if n > INT_MAX:
        return False
    with nogil:
        for r in range(n):
            low = f[r] if f[r] < low else low
            high = f[r] if f[r] > high else high
            wild += f[r] - f[r]  # nan from infinities and nan, which are no places in an array
        scale = n_buckets / (high - low) if high > low else 0.0
        if wild != 0.0 or not isfinite(scale) or not isfinite(high - low):
            done = False
        else:
            for r in range(n):
                b = <Py_ssize_t>((f[r] - low) * scale)
                counts[(b if b < n_buckets else n_buckets - 1) + 1] += 1
            for b in range(n_buckets):
                counts[b + 1] += counts[b]
            for r in range(n):
                b = <Py_ssize_t>((f[r] - low) * scale)
                b = b if b < n_buckets else n_buckets - 1
                k = counts[b]
                counts[b] += 1
                order[k] = r
                out[k] = f[r]
            for r in range(1, n):
                x = out[r]
                if not x < out[r - 1]:
                    continue
                b = order[r]
                k = r
                while k > 0 and x < out[k - 1]:
                    out[k] = out[k - 1]
                    order[k] = order[k - 1]
                    k -= 1
                out[k] = x
                order[k] = b
                allowed -= r - k
                if allowed < 0:
                    done = False
                    break
    return done


# (b) ---------------------------------------------------------------------------------------------

def sweep(
    const double[:] s, const double[:] c, const Py_ssize_t[::1] s_starts,
    const double[:] t, const Py_ssize_t[::1] t_starts, double sign, double reach,
    double[:] masses, double[:] firsts, double[:] seconds,
):
    """Sum c d ** m, d = 1 - z, over the sources with z = sign (s - t) < reach, for m = 0, 1, 2; None is left out.

    The reach is one, or the next number, which counts sources with d = 0 as well.

    Scores times the sign ascend. As t grows, d grows with it and sources only enter: all terms that
    are added are of one sign where the weights are, and no digits cancel.

    In: s, c, s_starts, t, t_starts, sign, reach. Out: masses, firsts, seconds.
    """
    cdef:
        Py_ssize_t g, i, k
        double mass, first, second, move, d, at
    with nogil:
        for g in range(t_starts.shape[0] - 1):
            i = s_starts[g]
            mass = first = second = 0.0
            at = sign * t[t_starts[g]]
            for k in range(t_starts[g], t_starts[g + 1]):
                move = sign * t[k] - at
                at = sign * t[k]
                second += move * (2.0 * first + mass * move)
                first += mass * move
                while i < s_starts[g + 1] and sign * s[i] - at < reach:
                    d = 1.0 - (sign * s[i] - at)
                    mass += c[i]
                    first += c[i] * d
                    second += c[i] * d * d
                    i += 1
                if masses is not None:
                    masses[k] = mass
                if firsts is not None:
                    firsts[k] = first
                if seconds is not None:
                    seconds[k] = second


def rounded_sweep(
    const double[:] s, const double[:] c, const Py_ssize_t[::1] s_starts,
    const double[:] t, const Py_ssize_t[::1] t_starts, double sign, double smoothing,
    double[:, ::1] front, double[:] values, double[:] slopes,
):
    """Sum the hinge with a parabola around z = 1, and minus its slope.

    Sources enter the parabola as t grows, and leave it for the straight part. So that nothing is
    ever taken off a sum, those on the parabola are in two groups, as a queue made of two stacks is:
    the `front`, of shape (n_sources, 3), holds for each of its sources sums over that one
    and all later ones, about the last; the others are in sums as in `sweep`. When the front is
    used up, the others become the front.

    In: s, c, s_starts, t, t_starts, sign, smoothing. Out: values, slopes. Scratch: front.
    """
    cdef:
        Py_ssize_t g, i, k, lower, upper, turn, end
        double mass, first, second, straight_mass, straight, move, d, at, last, reach = 1.0 + smoothing
    with nogil:
        for g in range(t_starts.shape[0] - 1):
            lower = upper = turn = s_starts[g]
            end = s_starts[g + 1]
            mass = first = second = straight_mass = straight = last = 0.0
            at = sign * t[t_starts[g]]
            for k in range(t_starts[g], t_starts[g + 1]):
                move = sign * t[k] - at
                at = sign * t[k]
                straight += straight_mass * move
                second += move * (2.0 * first + mass * move)
                first += mass * move
                while upper < end and sign * s[upper] - at < reach:
                    d = reach - (sign * s[upper] - at)
                    mass += c[upper]
                    first += c[upper] * d
                    second += c[upper] * d * d
                    upper += 1
                while lower < upper and sign * s[lower] - at <= 1.0 - smoothing:
                    if lower == turn:
                        last = sign * s[upper - 1]
                        mass = first = second = 0.0
                        for i in range(upper - 1, lower - 1, -1):
                            d = last - sign * s[i]
                            mass += c[i]
                            first += c[i] * d
                            second += c[i] * d * d
                            front[i, 0] = mass
                            front[i, 1] = first
                            front[i, 2] = second
                        mass = first = second = 0.0
                        turn = upper
                    straight_mass += c[lower]
                    straight += c[lower] * (1.0 - (sign * s[lower] - at))
                    lower += 1
                values[k] = second
                slopes[k] = first
                if lower < turn:
                    d = reach - (last - at)
                    values[k] += front[lower, 2] + d * (2.0 * front[lower, 1] + d * front[lower, 0])
                    slopes[k] += front[lower, 1] + d * front[lower, 0]
                values[k] = straight + values[k] / (4.0 * smoothing)
                slopes[k] = straight_mass + slopes[k] / (2.0 * smoothing)


# (c) ---------------------------------------------------------------------------------------------

def particle_to_multipole(
    const double[::1] s, const double[:] c, const Py_ssize_t[::1] cells, const double[::1] ends,
    double[:, ::1] moments,
):
    """moments[a, j] = sum of c T_j(2 (s - end) - 1) over the rows of cell a, cells[a] to cells[a + 1].

    In: s, c, cells, ends. Out: moments.
    """
    cdef Py_ssize_t a, b, m, apart = c.strides[0] // <Py_ssize_t>sizeof(double)
    with nogil:
        for a in range(ends.shape[0]):
            b, m = cells[a], cells[a + 1] - cells[a]
            pnorm_particle_to_multipole(&s[b], &c[b], apart, m, ends[a], &moments[a, 0])


def multipole_to_local(
    const double[::1] s_ends, const double[:, ::1] moments, const Py_ssize_t[::1] s_starts,
    const double[::1] t_ends, const Py_ssize_t[::1] t_starts,
    const double[:, :, ::1] table, double linear, const double[::1] decay, double[::1] tails,
    double[:, ::1] local, double[::1] exponents,
):
    """local = series of the sums in every target cell, from the moments of the source cells.

    table[D + reach, j, m] are the coefficients of T_j(source) T_m(target) in phi at the distance D
    of two cells. Beyond the reach phi is e^-z upward and, downward, -z where `linear` is one and 1
    where it is zero. decay[j] are the coefficients of e^(-x / 2). The series of a cell is to be
    multiplied by e^exponents: zero, but where all sources are far above.

    In: s_ends, moments, s_starts, t_ends, t_starts, table, linear, decay. Out: local, exponents. Scratch: tails.
    """
    cdef:
        Py_ssize_t g, a, b, j, m, lower, upper, reach = (table.shape[0] - 1) // 2
        double end, at, mass, sum_of_z, tail
    with nogil:
        for g in range(t_starts.shape[0] - 1):
            # sums of e^-(s - middle of the cell) over a cell and all above it
            for b in range(s_starts[g + 1] - 1, s_starts[g] - 1, -1):
                tail = 0.0
                for j in range(TERMS):
                    tail += decay[j] * moments[b, j]
                if b + 1 < s_starts[g + 1]:
                    tail += tails[b + 1] * exp(s_ends[b] - s_ends[b + 1])
                tails[b] = tail
            lower = upper = s_starts[g]
            mass = sum_of_z = 0.0
            at = t_ends[t_starts[g]]
            for a in range(t_starts[g], t_starts[g + 1]):
                end = t_ends[a]
                for m in range(WIDTH):
                    local[a, m] = 0.0
                # far below: the sum of distances, of which every new target cell is farther off
                sum_of_z += mass * (end - at)
                at = end
                while lower < s_starts[g + 1] and s_ends[lower] - end < -reach:
                    mass += moments[lower, 0]
                    sum_of_z += (end - s_ends[lower]) * moments[lower, 0] - 0.5 * moments[lower, 1]
                    lower += 1
                local[a, 0] = linear * sum_of_z + (1.0 - linear) * mass
                local[a, 1] = linear * 0.5 * mass
                while upper < s_starts[g + 1] and s_ends[upper] - end <= reach:
                    upper += 1
                # far above
                exponents[a] = 0.0
                if upper < s_starts[g + 1]:
                    tail = tails[upper]
                    if upper == s_starts[g]:
                        exponents[a] = end - s_ends[upper]
                    else:
                        tail *= exp(end - s_ends[upper])
                    for m in range(TERMS):
                        local[a, m] += tail * decay[m]
                        tail = -tail
            # within reach, distance by distance: one block of the table at a time stays in the first cache
            for j in range(-reach, reach + 1):
                b = s_starts[g]
                for a in range(t_starts[g], t_starts[g + 1]):
                    while b < s_starts[g + 1] and s_ends[b] - t_ends[a] < j:
                        b += 1
                    if b < s_starts[g + 1] and s_ends[b] - t_ends[a] == j:
                        pnorm_multipole_to_local(&moments[b, 0], &table[j + reach, 0, 0], &local[a, 0])


def local_to_particle(
    const double[::1] t, const Py_ssize_t[::1] cells, const double[::1] ends, const double[:, ::1] local,
    double[::1] out,
):
    """out[k] = sum over j of local[a, j] T_j(2 (t - end) - 1) for the rows of every cell a.

    In: t, cells, ends, local. Out: out.
    """
    cdef Py_ssize_t a
    with nogil:
        for a in range(ends.shape[0]):
            pnorm_local_to_particle(&t[cells[a]], cells[a + 1] - cells[a], ends[a], &local[a, 0], &out[cells[a]])
