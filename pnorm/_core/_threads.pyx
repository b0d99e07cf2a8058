"""Threads that share a loop, out of the reach of signal handlers.

Python runs signal handlers in the main thread, between any two bytecodes, those of the standard library among them. An
exception that a handler raises there may leave a lock held for ever, or a thread started of which nobody knows.
Compiled code has no bytecodes: here handlers run only in a function that was passed, and in a wait for a lock, which is
then not had. What this uses of the standard library is compiled, too.
"""

from _thread import allocate_lock, start_new_thread
from collections import deque
from os import getpid


cdef class _Worker:
    """A thread, and its share. Both locks are held while it has none, by nobody in particular."""

    cdef object go, done
    cdef object function, todo, error
    cdef list results
    cdef bint leaves

    def __cinit__(self):
        self.go, self.done = allocate_lock(), allocate_lock()
        self.go.acquire()
        self.done.acquire()

    def run(self):
        """What the thread does: to go on without a function is to end."""
        while True:
            self.go.acquire()
            if self.function is None:
                break
            try:
                _share(self.function, self.todo, self.results)
            except BaseException as error:
                self.todo.clear()
                self.error = error
            self.function = self.todo = self.results = None  # arrays do not live on with the thread
            self.done.release()
            if self.leaves:
                return
        self.done.release()

    cdef begin(self, function, todo, list results):
        self.function, self.todo, self.results, self.error = function, todo, results, None
        self.go.release()

    cdef leave(self):
        """Have a thread that is at work end by itself afterwards."""
        self.leaves = True
        if self.done.acquire(False):  # it no longer is, and did not see that
            self.go.release()


cdef object _share(function, todo, list results):
    """Do items until none is left."""
    cdef Py_ssize_t i
    while True:
        try:
            i, item = todo.popleft()
        except IndexError:
            return
        results[i] = function(item)


cdef object _all_done(list busy):
    """Wait until every one is done, who leaves the list then."""
    while busy:
        (<_Worker> busy[len(busy) - 1]).done.acquire()
        busy.pop()


cdef object _all_ended(list ending):
    """Wait until threads have ended that have nothing else to do, however many handlers raise meanwhile."""
    try:
        _all_done(ending)
    except BaseException:
        _all_ended(ending)
        raise


cdef class Threads:
    """Runs a function on many items, in threads that live from the first use to the end of a ``with`` block.

    What a handler raises comes out when all threads are done with the items they are at. If another one raises before
    that, it comes out at once; these threads end by themselves then, and nobody sees their results.
    """

    cdef readonly object n_threads
    cdef readonly bint interrupted  # an exception came to the caller of `map`, who waits for those at work
    cdef list workers
    cdef object process

    def __init__(self, n_threads):
        self.n_threads, self.workers, self.process = n_threads, [], getpid()

    def __reduce__(self):
        return type(self), (self.n_threads,)

    def map(self, function, items):
        """Return [function(item) for item in items]."""
        cdef _Worker worker
        cdef list asked, busy, results
        if self.n_threads == 1:
            return [function(item) for item in items]
        todo = deque(enumerate(items))
        results = [None] * len(todo)
        self.interrupted = False
        asked = self.started(min(self.n_threads, len(todo)) - 1)
        busy = asked[:]
        for worker in asked:
            worker.begin(function, todo, results)
        try:
            _share(function, todo, results)
            if self.forked():
                raise RuntimeError(
                    "the process was forked in the middle of a pass over the rows, where the child lacks the threads "
                    "that share it; fork before the run, or in its callback"
                )
            _all_done(busy)
        except BaseException:
            todo.clear()
            self.interrupted = True
            if not self.forked():
                try:
                    _all_done(busy)
                except BaseException:
                    for worker in busy:
                        self.workers.remove(worker)
                        worker.leave()
                    raise
            raise
        errors = [worker.error for worker in asked if worker.error is not None]
        if errors:
            for worker in asked:
                worker.error = None
            raise errors[0]
        return results

    cdef bint forked(self):
        """Whether this is a child of the process in which the threads are."""
        return self.process != getpid()

    cdef list started(self, n):
        """So many threads, or as many as there is room for."""
        cdef _Worker worker
        if self.forked():
            self.workers, self.process = [], getpid()
        while len(self.workers) < n:
            worker = _Worker()
            self.workers.append(worker)
            try:
                start_new_thread(worker.run, ())
            except BaseException as error:
                self.workers.pop()
                if isinstance(error, RuntimeError):  # no room for another: those that are there do it all
                    break
                raise
        return self.workers[:max(n, 0)]

    cdef list dismissed(self):
        """Have all threads end; returns them."""
        cdef _Worker worker
        cdef list workers
        workers, self.workers = [] if self.forked() else self.workers, []
        for worker in workers:
            worker.go.release()
        return workers

    def close(self):
        """End the threads."""
        _all_ended(self.dismissed())

    def __enter__(self):
        return self

    def __exit__(self, kind, error, where):
        self.close()
        raised = as_raised(error)
        if raised is not error:
            raise raised

    def __del__(self):
        if self.workers:
            self.dismissed()


def as_raised(error):
    """An exception as a signal handler raised it: Python turns a StopIteration into a RuntimeError in a generator.

    In a generator of ours, that is, of which nobody outside is to know; what happens in those of others is theirs.
    """
    cause = error.__cause__ if type(error) is RuntimeError else None
    if type(cause) is StopIteration and cause.__traceback__ is not None:
        name = cause.__traceback__.tb_frame.f_globals.get("__name__", "")
        if name.partition(".")[0] in ("pnorm", "numpy", "scipy") and error.args == ("generator raised StopIteration",):
            return cause
    return error
