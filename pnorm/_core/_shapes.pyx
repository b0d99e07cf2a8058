"""Steps of a whole column: what its shape, a number for each code, is to become, given sums of the weights by code.

A *tree* holds the rankers of a column. Its nodes are the codes; a ranker is an edge, whose coefficient, the *jump*, is
the shape at a node less that at the node's parent. Cuts of a number make a chain, in which the parent of a code is the
code below it. Levels of a category hang on one node, the hub, and so does the code of missing values on the lowest one
of those that are known. A node without a ranker is *rigid*: its shape is its parent's. Parents come before their nodes,
and all that hangs on a node follows it, without others between. The first node of a column, the root, has no parent.
`cell` is the code of a node; -1 for a hub without one.

A *line* is a ranker with any values by code.

`penalty` has four rows, one number for each jump: the penalties of its size and of its square, its least and its
greatest value, each zero or infinite. Rigid nodes have the bounds zero.

(a) sums of the weights by code, and the weights, from one column to the next
(b) a quadratic objective on a tree
(c) the objective itself, along one column
(d) sweeps over all columns, and products with the Hessian
"""

from libc.math cimport fabs, fmax, fmin, log
from libc.stdint cimport int8_t, uint8_t, uint16_t

from pnorm._core._bins cimport marginal, multiply_rows, sums_of_words
from pnorm._core._tilt cimport weigh_codes

ctypedef fused first_t:
    uint8_t
    uint16_t

ctypedef fused second_t:
    uint8_t
    uint16_t

cdef enum:
    LANES = 4
    PAD = 24
    EXCHANGES = 200   # of signs of jumps, at most
    PATIENCE = 3      # exchanges of all signs at once that may fail to lower the number of wrong ones
    HALVINGS = 40
    FREE = 2          # the state of a jump without a corner and without bounds

cdef double SMALL = 0.01  # p times what a step promises, up to which another one would do next to nothing


# (a) ---------------------------------------------------------------------------------------------

def carry(
    const first_t[::1] before, const double[::1] factors, const second_t[::1] codes, double[::1] weights,
    Py_ssize_t start, Py_ssize_t stop, double[::1] sums, double[::1] scratch,
):
    """weights *= factors[before], and sums = sums of the weights by another column's codes, on rows start:stop.

    Four tables take turns, as in `sums_by_code`, whose scratch they need.

    In: before, factors, codes, start, stop. Changed: weights. Out: sums. Scratch: scratch.
    """
    cdef:
        const first_t* a = &before[0]
        const second_t* b = &codes[0]
        const double* table = &factors[0]
        double* w = &weights[0]
        double* lanes = &scratch[0]
        Py_ssize_t n = sums.shape[0], lane = (n + 7) // 8 * 8 + PAD, r = start, k
    with nogil:
        for k in range(LANES * lane):
            lanes[k] = 0.0
        while r + 3 < stop:
            w[r] *= table[a[r]]
            w[r + 1] *= table[a[r + 1]]
            w[r + 2] *= table[a[r + 2]]
            w[r + 3] *= table[a[r + 3]]
            lanes[b[r]] += w[r]
            lanes[lane + b[r + 1]] += w[r + 1]
            lanes[2 * lane + b[r + 2]] += w[r + 2]
            lanes[3 * lane + b[r + 3]] += w[r + 3]
            r += 4
        while r < stop:
            w[r] *= table[a[r]]
            lanes[b[r]] += w[r]
            r += 1
        for k in range(n):
            sums[k] = (lanes[k] + lanes[lane + k]) + (lanes[2 * lane + k] + lanes[3 * lane + k])


# (b) ---------------------------------------------------------------------------------------------

cdef struct Tree:
    const Py_ssize_t* parent
    const double* l1
    const double* l2
    const double* low
    const double* high
    Py_ssize_t n


cdef inline double force(const Tree* tree, const int8_t* state, Py_ssize_t c) noexcept nogil:
    """What pulls at a jump of this sign towards zero, with the sign of the jump."""
    return 0.0 if state[c] == FREE else -tree.l1[c] * state[c]


cdef void eliminate(
    const Tree* tree, const int8_t* state, const double* extra, double* weight, double* moment
) noexcept nogil:
    """From the leaves to the root, leave each node with the weight and the moment of all that hangs on it."""
    cdef:
        Py_ssize_t c, up
        double total, pull
    for c in range(tree.n - 1, 0, -1):
        up = tree.parent[c]
        if state[c] == 0:
            weight[up] += weight[c]
            moment[up] += moment[c]
            continue
        total = weight[c] + tree.l2[c]
        if total > 0.0:
            pull = force(tree, state, c) + (0.0 if extra == NULL else extra[c])
            weight[up] += weight[c] * (tree.l2[c] / total)
            moment[up] += (tree.l2[c] * moment[c] - weight[c] * pull) / total


cdef void substitute(
    const Tree* tree, const int8_t* state, const double* extra, const double* weight, const double* moment,
    double* shape, double* jump, double* strain,
) noexcept nogil:
    """From the root to the leaves, find shape and jumps; strain = the force at jumps that are held at zero."""
    cdef:
        Py_ssize_t c
        double total
    shape[0] = moment[0] / weight[0] if weight[0] > 0.0 else 0.0
    jump[0] = strain[0] = 0.0
    for c in range(1, tree.n):
        shape[c] = shape[tree.parent[c]]
        jump[c] = strain[c] = 0.0
        total = weight[c] + tree.l2[c]
        if state[c] == 0:
            strain[c] = moment[c] - weight[c] * shape[c]
        elif total > 0.0:
            jump[c] = (
                moment[c] + force(tree, state, c) + (0.0 if extra == NULL else extra[c]) - weight[c] * shape[c]
            ) / total
            shape[c] += jump[c]


cdef int exchanged(
    const Tree* tree, int8_t state, Py_ssize_t c, double jump, double strain, double slack
) noexcept nogil:
    """The state in which a jump should be instead; the same where it is right."""
    if state == FREE:
        return FREE
    if state == 0:
        if tree.high[c] > 0.0 and strain > tree.l1[c] + slack:
            return 1
        if tree.low[c] < 0.0 and -strain > tree.l1[c] + slack:
            return -1
        return 0
    return state if state * jump >= 0.0 else 0


cdef Py_ssize_t fit(
    const Tree* tree, const double* weights, const double* moments, int8_t* state, double* shape, double* jump,
    double* scratch,
) noexcept nogil:
    """Do as `fit_tree` does."""
    cdef:
        double* weight = scratch
        double* moment = scratch + tree.n
        double* strain = scratch + 2 * tree.n
        Py_ssize_t c, wrong, last = 0, best = tree.n + 1, patience = PATIENCE, left = EXCHANGES
        double slack, size = 0.0
        int8_t next_
    for c in range(tree.n):
        size += fabs(moments[c])
    slack = 1e-15 * size
    for c in range(1, tree.n):
        if not tree.low[c] < tree.high[c]:
            state[c] = 0
        elif tree.l1[c] == 0.0 and tree.low[c] < 0.0 and tree.high[c] > 0.0:
            state[c] = FREE
        elif state[c] == FREE:
            state[c] = 0
        elif (state[c] > 0 and not tree.high[c] > 0.0) or (state[c] < 0 and not tree.low[c] < 0.0):
            state[c] = 0
    while True:
        for c in range(tree.n):
            weight[c] = weights[c]
            moment[c] = moments[c]
        eliminate(tree, state, NULL, weight, moment)
        substitute(tree, state, NULL, weight, moment, shape, jump, strain)
        wrong = 0
        for c in range(1, tree.n):
            if exchanged(tree, state[c], c, jump[c], strain[c], slack) != state[c]:
                wrong += 1
                last = c
        left -= 1
        if wrong == 0 or left == 0:
            break
        if wrong < best:
            best = wrong
            patience = PATIENCE
        else:
            patience -= 1
        for c in range(1 if patience >= 0 else last, tree.n if patience >= 0 else last + 1):
            next_ = exchanged(tree, state[c], c, jump[c], strain[c], slack)
            state[c] = next_
    for c in range(1, tree.n):  # what a search that was cut short leaves outside the bounds
        if state[c] != FREE and state[c] * jump[c] <= 0.0:
            jump[c] = 0.0
        shape[c] = shape[tree.parent[c]] + jump[c]
    return wrong


def fit_tree(
    const Py_ssize_t[::1] parent, const double[:, ::1] penalty, const double[::1] weights, const double[::1] moments,
    int8_t[::1] state, double[::1] shape, double[::1] jump, double[::1] scratch,
):
    """Minimise sum weights x**2 / 2 - moments x + penalties of the jumps, over the shapes x of a tree.

    `state` says which jumps are 1: above zero, -1: below it, 0: at zero, and 2: free of corners and bounds. From those
    given, all wrong ones are exchanged at once, and one by one where that does not help (Judice & Pires, Computers and
    Operations Research 21, 1994); each exchange costs O(nodes). Return how many are wrong at the end: none, but where
    rounding decides. Scratch has three numbers for each node.

    In: parent, penalty, weights, moments. Changed: state. Out: shape, jump. Scratch: scratch.
    """
    cdef:
        Tree tree = tree_of(&parent[0], &penalty[0, 0], penalty.shape[1], 0, parent.shape[0])
        Py_ssize_t wrong
    with nogil:
        wrong = fit(&tree, &weights[0], &moments[0], &state[0], &shape[0], &jump[0], &scratch[0])
    return wrong


cdef Tree tree_of(
    const Py_ssize_t* parent, const double* penalty, Py_ssize_t across, Py_ssize_t start, Py_ssize_t stop
) noexcept nogil:
    """The tree of nodes start:stop, whose parents are counted from the first."""
    cdef Tree tree
    tree.parent = parent + start
    tree.l1 = penalty + start
    tree.l2 = penalty + across + start
    tree.low = penalty + 2 * across + start
    tree.high = penalty + 3 * across + start
    tree.n = stop - start
    return tree


def factor_trees(
    const Py_ssize_t[::1] first, const Py_ssize_t[::1] parent, const double[:, ::1] penalty, double[::1] weights,
    const int8_t[::1] state, double[:, ::1] factors,
):
    """Find the factors with which `solve_trees` solves (T' C T + l2) jump = rest on each tree.

    T takes the jumps of a tree to its shape, C is centred diag(weights), and jumps of state 0 are held at zero. Tree k
    has the nodes first[k]:first[k + 1]. The l1 is left out. Of each node, the factors are those of its moment and of
    its right-hand side in the moment of its parent, and what divides its jump. The weights become those of all that
    hangs on a node, and are left so.

    In: first, parent, penalty, state. Changed: weights. Out: factors.
    """
    cdef:
        Py_ssize_t k, c, up, start, n = parent.shape[0]
        double total
        double* weight
        double* kept = &factors[0, 0]
        double* moved = kept + n
        double* over = moved + n
        const double* l2 = &penalty[1, 0]
    with nogil:
        for k in range(first.shape[0] - 1):
            start = first[k]
            weight = &weights[start]
            for c in range(first[k + 1] - 1, start, -1):
                up = parent[c]
                total = weights[c] + l2[c]
                kept[c] = 1.0
                moved[c] = over[c] = 0.0
                if state[c] != 0 and total > 0.0:
                    over[c] = 1.0 / total
                    moved[c] = weights[c] * over[c]
                    kept[c] = l2[c] * over[c]
                elif state[c] != 0:
                    kept[c] = 0.0
                weight[up] += kept[c] * weights[c]
            kept[start] = weights[start]
            moved[start] = 0.0
            over[start] = 1.0 / weights[start] if weights[start] > 0.0 else 0.0


def solve_trees(
    const Py_ssize_t[::1] first, const Py_ssize_t[::1] parent, const double[:, ::1] factors, const double[::1] rest,
    double[::1] jump, double[::1] scratch,
):
    """Solve the systems of all trees, with the factors of `factor_trees`. Scratch has two numbers for each node.

    In: first, parent, factors, rest. Out: jump. Scratch: scratch.
    """
    cdef:
        Py_ssize_t k, c, start, n = parent.shape[0]
        const double* kept = &factors[0, 0]
        const double* moved = kept + n
        const double* over = moved + n
        double* moment = &scratch[0]
        double* shape = moment + n
    with nogil:
        for c in range(n):
            moment[c] = 0.0
        for k in range(first.shape[0] - 1):
            start = first[k]
            for c in range(first[k + 1] - 1, start, -1):
                moment[start + parent[c]] += kept[c] * moment[c] - moved[c] * rest[c]
            shape[start] = moment[start] * over[start]
            jump[start] = 0.0
            for c in range(start + 1, first[k + 1]):
                jump[c] = (moment[c] + rest[c]) * over[c] - moved[c] * shape[start + parent[c]]
                shape[c] = shape[start + parent[c]] + jump[c]


def row_products(
    const Py_ssize_t[:, ::1] nodes, const Py_ssize_t[:, ::1] order, const Py_ssize_t[::1] first,
    const Py_ssize_t[::1] parent, const double[::1] factors, Py_ssize_t[::1] ends, double[::1] scratch,
    double[:, ::1] out,
):
    """out += sum over the edges of all trees of a factor, for all pairs of rows that are both below the edge.

    nodes[k] are the nodes of the rows in tree k, and order[k] puts the rows in the order of their nodes. Of two nodes
    the sum is that of the path from the root to the last node that is above both, or is one of them. As the nodes below
    a node follow it, without others between, going from one node to the next changes this sum on a few runs of nodes.
    Ends is a scratch with a number for each node of the largest tree, and scratch has two.

    In: nodes, order, first, parent, factors. Changed: out. Scratch: ends, scratch.
    """
    cdef:
        Py_ssize_t n = nodes.shape[1], k, i, r, s, c, v, here, there
        Py_ssize_t* end = &ends[0]
        double* path = &scratch[0]
        double* sums = path + ends.shape[0]
        double* row
        const Py_ssize_t* own
        const Py_ssize_t* up
    with nogil:
        for k in range(nodes.shape[0]):
            own = &nodes[k, 0]
            up = &parent[first[k]]
            path[0] = 0.0
            for c in range(first[k + 1] - first[k]):
                if c > 0:
                    path[c] = path[up[c]] + factors[first[k] + c]
                end[c] = c + 1
                sums[c] = 0.0
            for c in range(first[k + 1] - first[k] - 1, 0, -1):
                end[up[c]] = max(end[up[c]], end[c])
            here = 0
            for i in range(n):
                r = order[k, i]
                there = own[r]
                while there >= end[here]:
                    for c in range(here, end[here]):
                        sums[c] = path[up[here]]
                    here = up[here]
                for v in range(here + 1, there + 1):
                    if there < end[v]:
                        for c in range(v, end[v]):
                            sums[c] = path[v]
                here = there
                row = &out[r, 0]
                for s in range(r + 1):
                    row[s] += sums[own[s]]
        for r in range(n):
            for s in range(r):
                out[s, r] = out[r, s]


# (c) ---------------------------------------------------------------------------------------------

cdef struct Column:
    # Sums of u and w by code, and the change of the shape so far, with the weights that come of it.
    # linear = what the objective falls for each unit of the shape, beside log F_p; its sum is zero.
    Py_ssize_t levels
    double p
    const double* u
    const double* w
    const double* linear
    double* change
    double* tilted_u
    double* tilted_w
    double value


cdef double log_f(const Column* column, const double* change, double* of_u, double* of_w) noexcept nogil:
    """The change of log F_p, less the linear term, with a change of the shape.

    of_u, of_w = factors of the weights that keep their sums.
    """
    cdef:
        double top_u, top_w, u, w, all_u, all_w, more = 0.0
        Py_ssize_t b
    top_u = weigh_codes(column.u, change, column.levels, -1.0, of_u, &u, &all_u)
    top_w = weigh_codes(column.w, change, column.levels, column.p, of_w, &w, &all_w)
    u /= all_u
    w /= all_w
    for b in range(column.levels):
        of_u[b] /= u
        of_w[b] /= w
        more += column.linear[b] * change[b]
    return column.p * (top_u + log(u)) + (top_w + log(w)) - more


cdef double penalties(const Tree* tree, const double* jump) noexcept nogil:
    """The penalties of all jumps."""
    cdef:
        double total = 0.0
        Py_ssize_t c
    for c in range(tree.n):
        total += tree.l1[c] * fabs(jump[c]) + 0.5 * tree.l2[c] * jump[c] * jump[c]
    return total


cdef bint search(
    Column* column, const Tree* tree, double* jump, double* after, const double* along, double promised, double* trial,
    double* of_u, double* of_w,
) noexcept nogil:
    """Go from jumps towards others, whose shapes differ by `along`, and halve the step until the objective falls."""
    cdef:
        double share = 1.0, before = penalties(tree, jump), value, slack = 1e-15 * (column.p + before)
        Py_ssize_t c, b, tries
    for tries in range(HALVINGS):
        for b in range(column.levels):
            trial[b] = column.change[b] + share * along[b]
        value = log_f(column, trial, of_u, of_w)
        if tries > 0:
            for c in range(tree.n):
                after[c] = jump[c] + 0.5 * (after[c] - jump[c])
        if value + penalties(tree, after) - before - column.value <= 0.1 * share * promised + slack:
            for c in range(tree.n):
                jump[c] = after[c]
            for b in range(column.levels):
                column.change[b] = trial[b]
                column.tilted_u[b] = of_u[b]
                column.tilted_w[b] = of_w[b]
            column.value = value
            return True
        share *= 0.5
    return False


cdef double step(
    Column* column, const Tree* tree, const Py_ssize_t* cell, int8_t* state, double* jump, double least, double* scratch
) noexcept nogil:
    """Take one step of Newton's method on a tree; return what it promises, zero where that is less than `least`."""
    cdef:
        Py_ssize_t c, b, n = tree.n
        double* weight = scratch
        double* moment = scratch + n
        double* shape = scratch + 2 * n
        double* after = scratch + 3 * n
        double* more = scratch + 4 * n  # three times n
        double* along = scratch + 7 * n
        double* trial = along + column.levels
        double* of_u = trial + column.levels
        double* of_w = of_u + column.levels
        double p = column.p, u, w, promised
    shape[0] = 0.0
    for c in range(n):
        if c > 0:
            shape[c] = shape[tree.parent[c]] + jump[c]
        weight[c] = moment[c] = 0.0
        b = cell[c]
        if b >= 0:
            u = column.u[b] * column.tilted_u[b]
            w = column.w[b] * column.tilted_w[b]
            weight[c] = p * u + p * p * w
            moment[c] = weight[c] * shape[c] + p * (u - w) + column.linear[b]
    for c in range(n):
        if cell[c] >= 0:
            along[cell[c]] = -shape[c]
    fit(tree, weight, moment, state, shape, after, more)
    promised = penalties(tree, after) - penalties(tree, jump)
    for c in range(n):
        b = cell[c]
        if b >= 0:
            along[b] += shape[c]
    for c in range(n):
        b = cell[c]
        if b >= 0:
            promised -= along[b] * (
                p * (column.u[b] * column.tilted_u[b] - column.w[b] * column.tilted_w[b]) + column.linear[b]
            )
    if not -promised > least:
        return 0.0
    return -promised if search(column, tree, jump, after, along, promised, trial, of_u, of_w) else 0.0


cdef double step_along(
    Column* column, const Tree* line, const double* values, double* lam, double least, double* scratch
) noexcept nogil:
    """Do as `step` does along one ranker with these values by code."""
    cdef:
        Py_ssize_t b
        double* along = scratch
        double* trial = along + column.levels
        double* of_u = trial + column.levels
        double* of_w = of_u + column.levels
        double p = column.p, mass = 0.0, mean = 0.0, square = 0.0, slope = 0.0, u, w, x, promised, after
    for b in range(column.levels):
        u = column.u[b] * column.tilted_u[b]
        w = column.w[b] * column.tilted_w[b]
        mass += p * u + p * p * w
        mean += (p * u + p * p * w) * values[b]
        slope += (p * (u - w) + column.linear[b]) * values[b]
    mean /= mass
    for b in range(column.levels):
        u = column.u[b] * column.tilted_u[b]
        w = column.w[b] * column.tilted_w[b]
        square += (p * u + p * p * w) * (values[b] - mean) * (values[b] - mean)
    x = square * lam[0] + slope
    if not square + line.l2[0] > 0.0:
        return 0.0
    after = (fmax(x - line.l1[0], 0.0) - fmax(-x - line.l1[0], 0.0)) / (square + line.l2[0])
    after = fmin(fmax(after, line.low[0]), line.high[0])
    promised = penalties(line, &after) - penalties(line, lam) - slope * (after - lam[0])
    if not -promised > least:
        return 0.0
    for b in range(column.levels):
        along[b] = (after - lam[0]) * (values[b] - mean)
    return -promised if search(column, line, lam, &after, along, promised, trial, of_u, of_w) else 0.0


cdef struct Forest:
    # The trees and lines of all features, with their penalties, their coefficients, and how to step.
    const Py_ssize_t* levels
    const Py_ssize_t* radix
    const Py_ssize_t* first
    const Py_ssize_t* parent
    const Py_ssize_t* cell
    const double* penalty
    Py_ssize_t across
    int8_t* state
    double* jump
    const Py_ssize_t* lines
    const double* values
    Py_ssize_t width
    const double* line_penalty
    Py_ssize_t line_across
    double* lam
    const double* linear
    const Py_ssize_t* cells
    double p
    double least
    Py_ssize_t most
    double* room


cdef double penalties_of(const Forest* forest, Py_ssize_t k) noexcept nogil:
    """The penalties of the coefficients of a feature."""
    cdef:
        Py_ssize_t j
        Tree tree = tree_of(forest.parent, forest.penalty, forest.across, forest.first[k], forest.first[k + 1])
        double total = penalties(&tree, forest.jump + forest.first[k])
    for j in range(forest.lines[k], forest.lines[k + 1]):
        tree = tree_of(forest.parent, forest.line_penalty, forest.line_across, j, j + 1)
        total += penalties(&tree, forest.lam + j)
    return total


cdef double steps_of(const Forest* forest, Py_ssize_t k, Column* column, double* scratch) noexcept nogil:
    """Bring a feature near its minimum; return what its first step promises."""
    cdef:
        Py_ssize_t taken, j, start = forest.first[k]
        Tree line, tree = tree_of(forest.parent, forest.penalty, forest.across, start, forest.first[k + 1])
        double begun = 0.0, now
    for taken in range(forest.most):
        now = 0.0
        if tree.n > 1:
            now = step(
                column, &tree, forest.cell + start, forest.state + start, forest.jump + start, forest.least, scratch
            )
        for j in range(forest.lines[k], forest.lines[k + 1]):
            line = tree_of(forest.parent, forest.line_penalty, forest.line_across, j, j + 1)
            now += step_along(
                column, &line, forest.values + j * forest.width, forest.lam + j, forest.least, scratch
            )
        if taken == 0:
            begun = now
        if now <= 0.1 * begun or forest.p * begun <= SMALL:
            break
    return begun


cdef void visit_word(
    const Forest* forest, const Py_ssize_t* features, Py_ssize_t n, Py_ssize_t size, double* u, double* w,
    double* of_u, double* of_w, double* found,
) noexcept nogil:
    """Do as `visit` does; found = the fall, what is promised, and the most that exponents change."""
    cdef:
        Column column
        Py_ssize_t f, k, b, code
        double start, promised, low, high
        double* own_u = forest.room
        double* own_w
    found[0] = found[1] = found[2] = 0.0
    for b in range(size):
        of_u[b] = of_w[b] = 1.0
    for f in range(n):
        k = features[f]
        column.p = forest.p
        column.levels = forest.levels[k]
        own_w = own_u + column.levels
        column.change = own_w + column.levels
        column.tilted_u = column.change + column.levels
        column.tilted_w = column.tilted_u + column.levels
        column.u = own_u
        column.w = own_w
        column.linear = forest.linear + forest.cells[k]
        column.value = 0.0
        marginal(u, size, forest.radix[k], column.levels, own_u)
        marginal(w, size, forest.radix[k], column.levels, own_w)
        for b in range(column.levels):
            column.change[b] = 0.0
            column.tilted_u[b] = column.tilted_w[b] = 1.0
        start = penalties_of(forest, k)
        promised = steps_of(forest, k, &column, column.tilted_w + column.levels)
        if not promised > 0.0:
            continue
        found[0] += start - penalties_of(forest, k) - column.value
        found[1] += promised
        low = high = column.change[0]
        for b in range(1, column.levels):
            low = fmin(low, column.change[b])
            high = fmax(high, column.change[b])
        found[2] += forest.p * (high - low)
        for b in range(size):
            code = (b // forest.radix[k]) % column.levels
            of_u[b] *= column.tilted_u[code]
            of_w[b] *= column.tilted_w[code]
            u[b] *= column.tilted_u[code]
            w[b] *= column.tilted_w[code]


def visit(
    const Py_ssize_t[::1] features, const Py_ssize_t[::1] levels, const Py_ssize_t[::1] radix,
    const Py_ssize_t[::1] first, const Py_ssize_t[::1] parent, const Py_ssize_t[::1] cell,
    const double[:, ::1] penalty, int8_t[::1] state, double[::1] jump,
    const Py_ssize_t[::1] lines, const double[:, ::1] values, const double[:, ::1] line_penalty, double[::1] lam,
    const double[::1] linear, const Py_ssize_t[::1] cells,
    double p, double least, Py_ssize_t most, double[::1] u, double[::1] w, double[::1] of_u, double[::1] of_w,
    double[::1] scratch,
):
    """Minimise log F_p and its penalties, less a linear term, over one of the features of a word after the other.

    The linear term is that of the shapes: of code b of feature k, linear[cells[k] + b], of sum zero in every feature.
    u, w are sums of the weights by the codes of the word, of sum one; they become those at the new jumps. of_u, of_w
    are the factors by which weights change with the codes. Each feature takes Newton steps, at most so many, until one
    promises less than a tenth of what the first one did, but no second one after a small first one, and none that
    promises less than `least`. Return how far the objective falls, how much the first steps of the features promise,
    and the most that exponents change.

    Feature k is a digit of the word, with the nodes first[k]:first[k + 1] and lines lines[k]:lines[k + 1].

    In: features, levels, radix, first, parent, cell, penalty, lines, values, line_penalty, linear, cells, p, least,
    most. Changed: state, jump, lam, u, w. Out: of_u, of_w. Scratch: scratch.
    """
    cdef:
        Forest forest = Forest(
            &levels[0], &radix[0], &first[0], &parent[0], &cell[0], &penalty[0, 0], penalty.shape[1], &state[0],
            &jump[0], &lines[0], &values[0, 0], values.shape[1], &line_penalty[0, 0], line_penalty.shape[1], &lam[0],
            &linear[0], &cells[0], p, least, most, &scratch[0],
        )
        double[3] found
    with nogil:
        visit_word(&forest, &features[0], features.shape[0], u.shape[0], &u[0], &w[0], &of_u[0], &of_w[0], found)
    return found[0], found[1], found[2]


# (d) ---------------------------------------------------------------------------------------------

cdef void sums_of_word(
    const uint8_t[:, ::1] narrow, const uint16_t[:, ::1] wide, Py_ssize_t word, const double* weights,
    Py_ssize_t codes, double* sums, double* lanes,
) noexcept nogil:
    """Sums of the weights by the codes of a word; the words of one byte come first."""
    cdef Py_ssize_t[2] ends
    ends[0] = 0
    ends[1] = codes
    if word < narrow.shape[0]:
        sums_of_words(&narrow[word, 0], narrow.shape[1], 1, weights, narrow.shape[1], NULL, ends, sums, lanes)
    else:
        word -= narrow.shape[0]
        sums_of_words(&wide[word, 0], wide.shape[1], 1, weights, wide.shape[1], NULL, ends, sums, lanes)


cdef void multiply_word(
    const uint8_t[:, ::1] narrow, const uint16_t[:, ::1] wide, Py_ssize_t word, const double* factors, double* weights
) noexcept nogil:
    """Multiply the weights by what a table says for the codes of a word."""
    if word < narrow.shape[0]:
        multiply_rows(&narrow[word, 0], factors, narrow.shape[1], weights)
    else:
        multiply_rows(&wide[word - narrow.shape[0], 0], factors, wide.shape[1], weights)


def sweeps(
    const uint8_t[:, ::1] pos_narrow, const uint16_t[:, ::1] pos_wide, double[::1] of_pos,
    const uint8_t[:, ::1] neg_narrow, const uint16_t[:, ::1] neg_wide, double[::1] of_neg,
    const Py_ssize_t[::1] words, const Py_ssize_t[::1] codes, const Py_ssize_t[::1] features,
    const Py_ssize_t[::1] levels, const Py_ssize_t[::1] radix,
    const Py_ssize_t[::1] first, const Py_ssize_t[::1] parent, const Py_ssize_t[::1] cell,
    const double[:, ::1] penalty, int8_t[::1] state, double[::1] jump,
    const Py_ssize_t[::1] lines, const double[:, ::1] values, const double[:, ::1] line_penalty, double[::1] lam,
    const double[::1] linear, const Py_ssize_t[::1] cells,
    double p, double least, Py_ssize_t most, double enough, double slow, double far, double[::1] falls,
    double[::1] scratch,
):
    """Visit all words in turn, again and again, with the weights of_pos, of_neg; return how many sweeps were taken.

    Word k, of codes[k] codes, has the features features[words[k]:words[k + 1]]; words of one byte come first. The rest
    is as in `visit`. falls[i] is how far sweep i lowers the objective. The last sweep is one that lowers it by no more
    than `enough`, or by more than the share `slow` of what the one before did; one after which exponents may have
    changed by more than `far`; or the one with the last place in falls. Scratch has the scratch of `visit`, four
    numbers for each code of the largest word, and the scratch of `sums_by_code`.

    In: pos_narrow, pos_wide, neg_narrow, neg_wide, words, codes, features, levels, radix, first, parent, cell,
    penalty, lines, values, line_penalty, linear, cells, p, least, most, enough, slow, far. Changed: of_pos, of_neg,
    state, jump, lam. Out: falls. Scratch: scratch.
    """
    cdef:
        Forest forest = Forest(
            &levels[0], &radix[0], &first[0], &parent[0], &cell[0], &penalty[0, 0], penalty.shape[1], &state[0],
            &jump[0], &lines[0], &values[0, 0], values.shape[1], &line_penalty[0, 0], line_penalty.shape[1], &lam[0],
            &linear[0], &cells[0], p, least, most, NULL,
        )
        Py_ssize_t k, n = 0, size = 0
        double moved = 0.0
        double[3] found
        double* u = &scratch[0]
        double* w
        double* of_u
        double* of_w
        double* lanes
    with nogil:
        for k in range(codes.shape[0]):
            size = max(size, codes[k])
        w = u + size
        of_u = w + size
        of_w = of_u + size
        lanes = of_w + size
        forest.room = lanes + 2 * LANES * ((size + 7) // 8 * 8 + PAD)
        while n < falls.shape[0]:
            falls[n] = 0.0
            for k in range(codes.shape[0]):
                sums_of_word(pos_narrow, pos_wide, k, &of_pos[0], codes[k], u, lanes)
                sums_of_word(neg_narrow, neg_wide, k, &of_neg[0], codes[k], w, lanes)
                visit_word(&forest, &features[words[k]], words[k + 1] - words[k], codes[k], u, w, of_u, of_w, found)
                falls[n] += found[0]
                moved += found[2]
                if found[1] > 0.0:
                    multiply_word(pos_narrow, pos_wide, k, of_u, &of_pos[0])
                    multiply_word(neg_narrow, neg_wide, k, of_w, &of_neg[0])
            n += 1
            if falls[n - 1] <= enough or moved > far or (n > 1 and falls[n - 1] > slow * falls[n - 2]):
                break
    return n


def curvature_sums(
    const uint8_t[:, ::1] pos_narrow, const uint16_t[:, ::1] pos_wide, const double[::1] u,
    const uint8_t[:, ::1] neg_narrow, const uint16_t[:, ::1] neg_wide, const double[::1] w,
    const Py_ssize_t[::1] starts, const double[::1] tables, double p, double[::1] sums, double[::1] scratch,
):
    """sums = p u (f - mean) + p**2 w (f - mean), added up by the codes of all words.

    f are the scores, found in the tables of all words, that of word k from starts[k] on; u, w are the weights, of sum
    one, and the means of each side are weighted by them. Scratch has a number for each row of the larger side, one for
    each code of all words, and the scratch of `sums_by_code`.

    In: pos_narrow, pos_wide, u, neg_narrow, neg_wide, w, starts, tables, p. Out: sums. Scratch: scratch.
    """
    cdef:
        Py_ssize_t k, n = sums.shape[0]
        double* own = &scratch[0]
        double* room = own + n
    with nogil:
        add_curvature(pos_narrow, pos_wide, &u[0], u.shape[0], starts, &tables[0], p, &sums[0], room)
        add_curvature(neg_narrow, neg_wide, &w[0], w.shape[0], starts, &tables[0], p * p, own, room)
        for k in range(n):
            sums[k] += own[k]


cdef void add_curvature(
    const uint8_t[:, ::1] narrow, const uint16_t[:, ::1] wide, const double* weights, Py_ssize_t rows,
    const Py_ssize_t[::1] starts, const double* tables, double factor, double* sums, double* room,
) noexcept nogil:
    """sums = factor weights (f - mean) by the codes of all words, on one side."""
    cdef:
        Py_ssize_t r
        double mean = 0.0
        double* f = room
        double* lanes = f + rows
    for r in range(rows):
        f[r] = 0.0
    if narrow.shape[0]:
        add_tables(&narrow[0, 0], rows, narrow.shape[0], &starts[0], tables, f)
    if wide.shape[0]:
        add_tables(&wide[0, 0], rows, wide.shape[0], &starts[narrow.shape[0]], tables, f)
    for r in range(rows):
        mean += weights[r] * f[r]
    for r in range(rows):
        f[r] = factor * weights[r] * (f[r] - mean)
    if narrow.shape[0]:
        sums_of_words(&narrow[0, 0], rows, narrow.shape[0], f, rows, NULL, &starts[0], sums, lanes)
    if wide.shape[0]:
        sums_of_words(&wide[0, 0], rows, wide.shape[0], f, rows, NULL, &starts[narrow.shape[0]], sums, lanes)


cdef void add_tables(
    const first_t* codes, Py_ssize_t rows, Py_ssize_t words, const Py_ssize_t* starts, const double* tables, double* f
) noexcept nogil:
    """f += what the tables of all words say for their codes; four words at a time."""
    cdef:
        Py_ssize_t k = 0, r
        const first_t* a
        const double* t0
        const double* t1
        const double* t2
        const double* t3
    while k + 3 < words:
        a = codes + k * rows
        t0 = tables + starts[k]
        t1 = tables + starts[k + 1]
        t2 = tables + starts[k + 2]
        t3 = tables + starts[k + 3]
        for r in range(rows):
            f[r] += (t0[a[r]] + t1[a[rows + r]]) + (t2[a[2 * rows + r]] + t3[a[3 * rows + r]])
        k += 4
    while k < words:
        a = codes + k * rows
        t0 = tables + starts[k]
        for r in range(rows):
            f[r] += t0[a[r]]
        k += 1
