"""What `_descent` calls without the interpreter's lock."""

from libc.stdint cimport int32_t, uint8_t, uint16_t

ctypedef fused code_t:
    uint8_t
    uint16_t

cdef void sums_of_words(
    const code_t* codes, Py_ssize_t across, Py_ssize_t words, const double* weights, Py_ssize_t n, const int32_t* rows,
    const Py_ssize_t* first, double* sums, double* lanes) noexcept nogil
cdef Py_ssize_t choose_rows(
    const code_t* codes, const uint8_t* wanted, const double* weights, Py_ssize_t size, int32_t* rows, double* of_rows
) noexcept nogil
cdef double multiply_rows(const code_t* codes, const double* table, Py_ssize_t n, double* weights) noexcept nogil
cdef void add_by_group(
    const code_t* codes, const Py_ssize_t* place, const double* weights, const Py_ssize_t* groups, Py_ssize_t n,
    Py_ssize_t width, double* sums) noexcept nogil
cdef void multiply_cells(
    const code_t* codes, const Py_ssize_t* place, const Py_ssize_t* groups, const double* factors, Py_ssize_t n,
    Py_ssize_t width, double* weights) noexcept nogil
cdef void marginal(
    const double* joint, Py_ssize_t size, Py_ssize_t radix, Py_ssize_t levels, double* own) noexcept nogil
cdef void fill_values(
    const Py_ssize_t* at, const double* terms, Py_ssize_t n, Py_ssize_t levels, double* out) noexcept nogil
cdef void edges_of(
    const double* sums, const Py_ssize_t* cells, Py_ssize_t features, const Py_ssize_t* feature,
    const Py_ssize_t* first, const Py_ssize_t* at, const double* terms, Py_ssize_t rankers, double* above, double* out
) noexcept nogil
