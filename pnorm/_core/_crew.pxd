"""Threads that share the passes of `_descent`."""

from cpython.pythread cimport PyThread_type_lock

ctypedef void (*Work)(void* task, Py_ssize_t block, Py_ssize_t thread) noexcept nogil

cdef enum:
    THREADS = 64    # at most: there are no more blocks

cdef struct Crew:
    Py_ssize_t most, there, next, end
    bint closed
    Work work
    void* task
    PyThread_type_lock mutex
    PyThread_type_lock go[THREADS]
    PyThread_type_lock done[THREADS]

cdef int equip(Crew* crew, Py_ssize_t n_threads) except -1
cdef void dismiss(Crew* crew) noexcept
cdef void help_with(Crew* crew) noexcept nogil
cdef void do_blocks(Crew* crew, Work work, void* task, Py_ssize_t blocks) noexcept nogil
cdef void close_crew(Crew* crew) noexcept nogil
