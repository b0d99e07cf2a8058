"""What `_descent` calls without the interpreter's lock."""

ctypedef fused real_t:
    float
    double

cdef void products_of(
    const real_t* top, Py_ssize_t down, Py_ssize_t right, const Py_ssize_t* runs, Py_ssize_t n_runs, const double* s,
    Py_ssize_t rows, double* out) noexcept nogil
cdef double inner_of(const double* a, const double* b, Py_ssize_t n) noexcept nogil
