"""Pairs of rows of different grades within lists, without the pairs.

A list is sorted by score while its grades are split at one boundary after the other: where a lower
part meets a higher one, both already in the order of scores, one sweep over each sums up their
pairs, and a merge makes one sorted part of them. O(r log r) for r rows of any number of grades.
"""


cdef struct Work:
    const double* f         # scores, by row
    const double* y         # grades, ascending within a list, by place
    Py_ssize_t* order       # the row at every place
    Py_ssize_t* spare
    double* grad            # by row; may be NULL
    double hinge            # sums of max(0, 1 - (f_i - f_j)) over the pairs with y_i > y_j
    double wrong            # the number of them with f_i <= f_j


cdef void merge(Work* w, Py_ssize_t low, Py_ssize_t middle, Py_ssize_t high) noexcept nogil:
    """Make one sorted part of two."""
    cdef Py_ssize_t a = low, b = middle, k
    for k in range(low, high):
        if b == high or (a < middle and w.f[w.order[a]] <= w.f[w.order[b]]):
            w.spare[k] = w.order[a]
            a += 1
        else:
            w.spare[k] = w.order[b]
            b += 1
    for k in range(low, high):
        w.order[k] = w.spare[k]


cdef void sweep(Work* w, Py_ssize_t low, Py_ssize_t middle, Py_ssize_t high) noexcept nogil:
    """Add the pairs of a lower part, up to the middle, with a higher one, both sorted by score."""
    cdef:
        Py_ssize_t k, near = middle, below = middle, row
        double first = 0.0, at = w.f[w.order[low]]
    # As the lower one's score grows, higher ones only come near it: nothing is taken off a sum.
    for k in range(low, middle):
        row = w.order[k]
        first += (near - middle) * (w.f[row] - at)
        at = w.f[row]
        while near < high and w.f[w.order[near]] - at < 1.0:
            first += 1.0 - (w.f[w.order[near]] - at)
            near += 1
        while below < high and w.f[w.order[below]] <= at:
            below += 1
        w.hinge += first
        w.wrong += below - middle
        if w.grad != NULL:
            w.grad[row] += near - middle
    if w.grad != NULL:
        near = low
        for k in range(middle, high):
            row = w.order[k]
            while near < middle and not w.f[row] - w.f[w.order[near]] < 1.0:
                near += 1
            w.grad[row] -= middle - near


cdef void part(Work* w, Py_ssize_t low, Py_ssize_t high) noexcept nogil:
    """Sort a part by score, and add its pairs."""
    cdef Py_ssize_t middle = low + (high - low) // 2, before, after
    if high - low < 2:
        return
    if w.y[low] == w.y[high - 1]:
        part(w, low, middle)
        part(w, middle, high)
    else:  # at the boundary of two grades next to the middle
        before = after = middle
        while before > low and w.y[before - 1] == w.y[middle]:
            before -= 1
        while after < high and w.y[after] == w.y[middle]:
            after += 1
        middle = before if before > low and (after == high or middle - before <= after - middle) else after
        part(w, low, middle)
        part(w, middle, high)
        sweep(w, low, middle, high)
    merge(w, low, middle, high)


def kendall(
    const double[::1] f, const double[::1] y, const Py_ssize_t[::1] by_grade, const Py_ssize_t[::1] starts,
    Py_ssize_t first, Py_ssize_t last, Py_ssize_t[::1] order, Py_ssize_t[::1] spare,
    double[::1] hinges, double[::1] wrongs, double[::1] grad,
):
    """Sum the hinge over the pairs of every list first:last, count those misordered, and find the hinges' slopes.

    Rows of list g are by_grade[starts[g]:starts[g + 1]], grades y of these places ascend. grad is
    by row; None leaves it out. Scratch is as long as by_grade.

    In: f, y, by_grade, starts, first, last. Out: hinges, wrongs, grad. Scratch: order, spare.
    """
    cdef:
        Work w
        Py_ssize_t g, k
    if f.shape[0] == 0:
        return
    with nogil:
        w.f, w.y, w.order, w.spare = &f[0], &y[0], &order[0], &spare[0]
        w.grad = NULL
        if grad is not None:
            w.grad = &grad[0]
        for g in range(first, last):
            w.hinge = w.wrong = 0.0
            for k in range(starts[g], starts[g + 1]):
                order[k] = by_grade[k]
                if grad is not None:
                    grad[by_grade[k]] = 0.0
            part(&w, starts[g], starts[g + 1])
            hinges[g] = w.hinge
            wrongs[g] = w.wrong
