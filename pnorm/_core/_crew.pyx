"""Threads that do the blocks of a pass together, without the interpreter's lock.

One thread runs a loop and calls `do_blocks` for each of its passes; the others are in `help_with` until `close_crew`.
Threads that come late, or never, are not waited for. A block is done by any of them, so a pass may not depend on which.
"""

from cpython.pythread cimport (
    WAIT_LOCK, PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock, PyThread_release_lock,
)


cdef int equip(Crew* crew, Py_ssize_t n_threads) except -1:
    """Make the locks of so many threads. Each helper has two, which nobody can take while it has nothing to do."""
    cdef Py_ssize_t k
    crew.most = min(n_threads, THREADS) - 1
    crew.mutex = PyThread_allocate_lock()
    for k in range(crew.most):
        crew.go[k], crew.done[k] = PyThread_allocate_lock(), PyThread_allocate_lock()
        if crew.go[k] == NULL or crew.done[k] == NULL:
            raise MemoryError
        PyThread_acquire_lock(crew.go[k], WAIT_LOCK)
        PyThread_acquire_lock(crew.done[k], WAIT_LOCK)
    if crew.mutex == NULL:
        raise MemoryError
    return 0


cdef void dismiss(Crew* crew) noexcept:
    """Free the locks."""
    cdef Py_ssize_t k
    if crew.mutex != NULL:
        PyThread_free_lock(crew.mutex)
    for k in range(THREADS):
        if crew.go[k] != NULL:
            PyThread_free_lock(crew.go[k])
        if crew.done[k] != NULL:
            PyThread_free_lock(crew.done[k])


cdef void take_blocks(Crew* crew, Py_ssize_t thread) noexcept nogil:
    """Do blocks until none is left."""
    cdef Py_ssize_t block
    while True:
        PyThread_acquire_lock(crew.mutex, WAIT_LOCK)
        block = crew.next
        crew.next += 1
        PyThread_release_lock(crew.mutex)
        if block >= crew.end:
            return
        crew.work(crew.task, block, thread)


cdef void help_with(Crew* crew) noexcept nogil:
    """Share the passes of a loop until it ends."""
    cdef Py_ssize_t k
    PyThread_acquire_lock(crew.mutex, WAIT_LOCK)
    k = crew.there
    if crew.closed or k == crew.most:
        PyThread_release_lock(crew.mutex)
        return
    crew.there += 1
    PyThread_release_lock(crew.mutex)
    while True:
        PyThread_acquire_lock(crew.go[k], WAIT_LOCK)
        if crew.closed:
            return
        take_blocks(crew, k + 1)
        PyThread_release_lock(crew.done[k])


cdef void do_blocks(Crew* crew, Work work, void* task, Py_ssize_t blocks) noexcept nogil:
    """Do a pass, with the threads that are there."""
    cdef Py_ssize_t k, helpers
    if blocks == 1 or crew.most == 0:
        for k in range(blocks):
            work(task, k, 0)
        return
    PyThread_acquire_lock(crew.mutex, WAIT_LOCK)
    helpers = min(crew.there, blocks - 1)
    crew.work, crew.task, crew.next, crew.end = work, task, 0, blocks
    PyThread_release_lock(crew.mutex)
    for k in range(helpers):
        PyThread_release_lock(crew.go[k])
    take_blocks(crew, 0)
    for k in range(helpers):
        PyThread_acquire_lock(crew.done[k], WAIT_LOCK)


cdef void close_crew(Crew* crew) noexcept nogil:
    """Let the helpers go, and those that are still to come."""
    cdef Py_ssize_t k
    PyThread_acquire_lock(crew.mutex, WAIT_LOCK)
    crew.closed = True
    PyThread_release_lock(crew.mutex)
    for k in range(crew.there):
        PyThread_release_lock(crew.go[k])
