"""Matrices of outputs, dense and sparse, block by block: products with one vector, and one column.

`products` of the outputs with the weights u and w give the edges of step (a) of Figure 1 of the COLT paper,
sum of u h - sum of w h; `combined` gives the scores f = H lambda, and `column` the h of equation (1).

BLAS would do for the products, but starts threads of its own: sums would depend on their number,
and two pools of threads would be in each other's way. Reading the matrix is what takes the time.
"""

from libc.math cimport fabs, fmax, fmin
from libc.string cimport memset

ctypedef fused index_t:
    int
    long long

cdef enum:
    WIDTH = 512    # columns of a row-major matrix summed at a time, whose sums stay in the first cache
    HEIGHT = 512   # rows of a column-major matrix combined at a time, likewise
    LANES = 16     # sums side by side


cdef extern from "_dense.h" nogil:
    void pnorm_add_rows_float(
        const float* A, Py_ssize_t down, Py_ssize_t rows, Py_ssize_t n, const double* s, double* out) noexcept
    void pnorm_add_rows_double(
        const double* A, Py_ssize_t down, Py_ssize_t rows, Py_ssize_t n, const double* s, double* out) noexcept
    double pnorm_dot_float(const float* a, const double* s, Py_ssize_t n) noexcept
    double pnorm_dot_double(const double* a, const double* s, Py_ssize_t n) noexcept
    void pnorm_four_dots_float(
        const float* a, Py_ssize_t right, const double* s, Py_ssize_t n, double* out) noexcept
    void pnorm_four_dots_double(
        const double* a, Py_ssize_t right, const double* s, Py_ssize_t n, double* out) noexcept


cdef inline void add_rows(
    const real_t* A, Py_ssize_t down, Py_ssize_t rows, Py_ssize_t n, const double* s, double* out
) noexcept nogil:
    if real_t is float:
        pnorm_add_rows_float(A, down, rows, n, s, out)
    else:
        pnorm_add_rows_double(A, down, rows, n, s, out)


cdef inline double dot(const real_t* a, const double* s, Py_ssize_t n) noexcept nogil:
    if real_t is float:
        return pnorm_dot_float(a, s, n)
    else:
        return pnorm_dot_double(a, s, n)


cdef inline void four_dots(
    const real_t* a, Py_ssize_t right, const double* s, Py_ssize_t n, double* out
) noexcept nogil:
    if real_t is float:
        pnorm_four_dots_float(a, right, s, n, out)
    else:
        pnorm_four_dots_double(a, right, s, n, out)


def products(
    const real_t[:, :] A, const Py_ssize_t[:, ::1] runs, const double[::1] s, Py_ssize_t start, Py_ssize_t stop,
    double[::1] out,
):
    """out = A.T @ s over rows start:stop, of the columns in runs [first, last).

    In: A, runs, s, start, stop. Out: out.
    """
    cdef:
        Py_ssize_t down = A.strides[0] // <Py_ssize_t>sizeof(real_t), right = A.strides[1] // <Py_ssize_t>sizeof(real_t)
        const real_t* top = &A[start, 0]
    with nogil:
        products_of(top, down, right, &runs[0, 0], runs.shape[0], &s[start], stop - start, &out[0])


cdef void products_of(
    const real_t* top, Py_ssize_t down, Py_ssize_t right, const Py_ssize_t* runs, Py_ssize_t n_runs, const double* s,
    Py_ssize_t rows, double* out,
) noexcept nogil:
    """Do as `products` does, from the first row and its weight on."""
    cdef Py_ssize_t k, first, j, n
    for k in range(n_runs):
        n = runs[2 * k + 1] - runs[2 * k]
        if down == 1:
            first = n - n % 4
            for j in range(0, first, 4):
                four_dots(top + (runs[2 * k] + j) * right, right, s, rows, out + j)
            for j in range(first, n):
                out[j] = dot(top + (runs[2 * k] + j) * right, s, rows)
        else:
            for j in range(n):
                out[j] = 0.0
            first = 0
            while first < n:
                add_rows(top + runs[2 * k] + first, down, rows, min(<Py_ssize_t>WIDTH, n - first), s, out + first)
                first += WIDTH
        out += n


def combined(
    const real_t[:, :] A, const Py_ssize_t[:, ::1] runs, const double[::1] lam, Py_ssize_t start, Py_ssize_t stop,
    double[::1] out,
):
    """out += A @ lam on rows start:stop, over the columns in runs [first, last).

    In: A, runs, lam, start, stop. Changed: out.
    """
    cdef:
        Py_ssize_t down = A.strides[0] // <Py_ssize_t>sizeof(real_t), right = A.strides[1] // <Py_ssize_t>sizeof(real_t)
        Py_ssize_t k, j, n, r, first, last, done = 0
        const real_t* a
        double c
    with nogil:
        for k in range(runs.shape[0]):
            n = runs[k, 1] - runs[k, 0]
            if down == 1:
                first = start
                while first < stop:
                    last = min(stop, first + HEIGHT)
                    for j in range(n):
                        a = &A[0, 0] + (runs[k, 0] + j) * right
                        c = lam[done + j]
                        if c != 0.0:
                            for r in range(first, last):
                                out[r] += c * a[r]
                    first = last
            else:
                for r in range(start, stop):
                    out[r] += dot(&A[0, 0] + r * down + runs[k, 0], &lam[done], n)
            done += n


def symmetric(
    const double[:, :] A, const double[::1] right, const double[::1] left, double[::1] down, double[::1] across,
):
    """down += A @ right and across += A.T @ left, in one pass over a matrix whose rows are adjacent numbers.

    A block off the diagonal of a symmetric matrix stands for two, and reading it is what takes the time.

    In: A, right, left. Changed: down, across.
    """
    cdef Py_ssize_t apart = A.strides[0] // <Py_ssize_t>sizeof(double), n = A.shape[1], first, last, r
    if A.strides[1] != sizeof(double):
        raise ValueError("rows must be of adjacent numbers")
    with nogil:
        first = 0
        while first < A.shape[0]:
            last = min(A.shape[0], first + 4)
            for r in range(first, last):
                down[r] += dot(&A[0, 0] + r * apart, &right[0], n)
            add_rows(&A[0, 0] + first * apart, apart, last - first, n, &left[first], &across[0])
            first = last


def inner(const double[::1] a, const double[::1] b):
    """Return the sum of a * b.

    In: a, b.
    """
    cdef double total
    with nogil:
        total = inner_of(&a[0], &b[0], a.shape[0])
    return total


cdef double inner_of(const double* a, const double* b, Py_ssize_t n) noexcept nogil:
    """Do as `inner` does."""
    return dot(a, b, n)


def finite(const real_t[::1] values):
    """Return whether all values are finite.

    In: values.
    """
    cdef:
        real_t nothing[LANES]
        const real_t* x = NULL
        Py_ssize_t size = values.shape[0], r = 0
        int k
    if size:
        x = &values[0]
    with nogil:
        memset(nothing, 0, sizeof(nothing))
        while r + LANES <= size:
            for k in range(LANES):
                nothing[k] += x[r + k] - x[r + k]  # NaN for what is not finite
            r += LANES
        while r < size:
            nothing[0] += x[r] - x[r]
            r += 1
        for k in range(1, LANES):
            nothing[0] += nothing[k]
    return nothing[0] == 0


def column_extremes(const real_t[:, :] A, double[::1] low, double[::1] high):
    """Fill in the smallest and the largest number of every column.

    In: A. Out: low, high.
    """
    cdef:
        Py_ssize_t r, j
        double x
    with nogil:
        for j in range(A.shape[1]):
            low[j] = high[j] = A[0, j]
        for r in range(1, A.shape[0]):
            for j in range(A.shape[1]):
                x = A[r, j]
                low[j], high[j] = min(low[j], x), max(high[j], x)


def measure(
    const double[::1] pos_low, const double[::1] pos_high, const double[::1] neg_low, const double[::1] neg_high,
    double close, double[:, ::1] out,
):
    """Fill in facts of rankers, given the smallest and the largest output of each on either side.

    The rows of out are: smallest, largest, largest - smallest, their middle, largest absolute output, that of the
    output less the middle, the smaller of the third and the fifth, `close` times the sixth.

    In: pos_low, pos_high, neg_low, neg_high, close. Out: out.
    """
    cdef:
        double low, high, span, middle, largest, centred
        Py_ssize_t j
    with nogil:
        for j in range(out.shape[1]):
            low, high = fmin(pos_low[j], neg_low[j]), fmax(pos_high[j], neg_high[j])
            span = high - low
            middle = low + 0.5 * span
            largest, centred = fmax(fabs(low), fabs(high)), fmax(high - middle, middle - low)
            out[0, j], out[1, j], out[2, j], out[3, j] = low, high, span, middle
            out[4, j], out[5, j], out[6, j], out[7, j] = largest, centred, fmin(largest, span), close * centred


def column(const real_t[:, :] A, Py_ssize_t j, double shift, Py_ssize_t start, Py_ssize_t stop, double[::1] out):
    """out = column j less a constant, on rows start:stop.

    In: A, j, shift, start, stop. Out: out.
    """
    cdef:
        Py_ssize_t down = A.strides[0] // <Py_ssize_t>sizeof(real_t), r
        const real_t* a = &A[0, j]
    with nogil:
        for r in range(start, stop):
            out[r] = a[r * down] - shift


def sparse_products(
    const index_t[::1] indptr, const index_t[::1] indices, const double[::1] data, const double[::1] s,
    Py_ssize_t start, Py_ssize_t stop, double[::1] out,
):
    """out = A.T @ s for columns start:stop of a CSC matrix.

    In: indptr, indices, data, s, start, stop. Out: out.
    """
    cdef:
        Py_ssize_t j, k
        double a, b
    with nogil:
        for j in range(start, stop):
            a = b = 0.0
            for k in range(indptr[j], indptr[j + 1] - 1, 2):
                a += data[k] * s[indices[k]]
                b += data[k + 1] * s[indices[k + 1]]
            if (indptr[j + 1] - indptr[j]) % 2:
                k = indptr[j + 1] - 1
                a += data[k] * s[indices[k]]
            out[j] = a + b
