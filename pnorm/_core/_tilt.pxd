"""What `_descent` calls without the interpreter's lock."""

cdef enum:
    POWERS = 10    # sums of powers of outputs, from zero on: PNORM_POWERS of _tilt.h

cdef struct Side:
    const double* f
    const double* h
    const double* log_c
    Py_ssize_t size
    double scale

cdef struct Search:
    double x
    double lo
    double hi
    double bracket
    double last

cdef double log_sum_of(const Side* side, double* total) noexcept nogil
cdef void scale_weights(double* values, double factor, Py_ssize_t n) noexcept nogil
cdef void advance_scores(double* f, const double* h, double alpha, Py_ssize_t n) noexcept nogil
cdef double weigh_rows(const Side* side, double* out, double* total) noexcept nogil
cdef void given_rows(
    const double* weights, const double* h, double unit, Py_ssize_t size, double* sums) noexcept nogil
cdef double tilt_rows(const Side* side, double alpha, double unit, double* sums, double* mode) noexcept nogil
cdef void expand(const double* sums, double rate, double* out) noexcept nogil
cdef double tilt_near(double* weights, const double* h, double rate, Py_ssize_t size) noexcept nogil
cdef double weigh_codes(
    const double* masses, const double* values, Py_ssize_t n, double scale, double* factors, double* scaled,
    double* total) noexcept nogil
cdef bint next_step(Search* at, double width, double g, double slope, double bend) noexcept nogil
cdef void weigh_groups(
    const Side* side, const Py_ssize_t* starts, Py_ssize_t n, double* weights, double* log_sums) noexcept nogil
cdef void tilt_groups(
    const double* weights, const double* h, const Py_ssize_t* starts, Py_ssize_t n, double rate, double top,
    bint own, double* level, double* sums, double* cumulants) noexcept nogil
cdef void tilt_cells(
    const double* masses, const double* values, Py_ssize_t n, Py_ssize_t width, double rate, double top, bint own,
    double* tilt, double* level, double* sums, double* cumulants) noexcept nogil
cdef bint move_groups(
    double* u, double* w, const double* v, const double* values, Py_ssize_t n, Py_ssize_t width, double p, double step,
    double light, double* tilts, double* share, double* mass, double* change) noexcept nogil
cdef void mix(
    const double* before, const double* pos_sums, const double* pos, const double* neg_sums, const double* neg,
    double p, Py_ssize_t n, double* share, double* out) noexcept nogil
