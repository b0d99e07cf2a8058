"""Rounds of Figure 1 without the interpreter's lock, for the P-Norm Push of rows in memory.

The loop that is to be read stands in `_solvers/descent.py`, and its state in `_solvers/descent_state.py`. This one
does *ordinary* rounds on the same arrays. A round that is not ordinary it leaves alone, with nothing changed: no ranker
has an edge, the best one separates or nearly does, weights lie on a plateau or are too light, a step is lost in
rounding, or scores are to be formed anew.

Passes go over fixed blocks of rows, which threads share, and what the blocks give is merged in their order. So the bits
do not depend on the number of threads.

(a) outputs: the leaves of a table, dense or coded
(b) sums over the blocks of rows, merged in their order
(c) the step along one ranker
(d) the round
"""

from cpython.mem cimport PyMem_RawCalloc as calloc, PyMem_RawFree as free  # which `tracemalloc` counts
from libc.math cimport INFINITY, NAN, copysign, exp, fabs, fmax, fmin, frexp, ldexp, log
from libc.stdint cimport int32_t, uint8_t, uint16_t
from libc.string cimport memcpy, memmove, memset

from pnorm._core._bins cimport (
    add_by_group, choose_rows, edges_of, fill_values, marginal, multiply_cells, multiply_rows, sums_of_words,
)
from pnorm._core._crew cimport Crew, Work, close_crew, dismiss, do_blocks, equip, help_with
from pnorm._core._dense cimport inner_of, products_of
from pnorm._core._tilt cimport (
    POWERS, Search, Side, advance_scores, expand, given_rows, log_sum_of, mix, move_groups, next_step, scale_weights,
    tilt_cells, tilt_groups, tilt_near, tilt_rows, weigh_codes, weigh_groups, weigh_rows,
)

cdef extern from "_log.h" nogil:
    void pnorm_log(double* values, Py_ssize_t m) noexcept

cdef enum:
    BLOCKS = 64
    EVALUATIONS = 400


# (a) ---------------------------------------------------------------------------------------------

cdef struct Words:
    # Words of one width: codes (words, rows), and the first cell of every word's sums.
    const void* codes
    Py_ssize_t count
    const Py_ssize_t* starts


cdef struct Outputs:
    Py_ssize_t rows, rankers
    Py_ssize_t tally_size, first_cell
    Py_ssize_t block
    # Dense: numbers of four or eight bytes.
    Py_ssize_t bytes
    const char* A
    Py_ssize_t down, right
    const Py_ssize_t* columns
    const Py_ssize_t* runs
    Py_ssize_t n_runs
    # Coded, where `features` is not zero: see `Schema`.
    Py_ssize_t features
    Words narrow, wide
    const uint8_t* is_wide
    const Py_ssize_t* word
    const Py_ssize_t* word_first
    const Py_ssize_t* word_size
    const Py_ssize_t* radix
    const Py_ssize_t* cells
    const Py_ssize_t* feature
    const Py_ssize_t* first
    const Py_ssize_t* at
    const double* terms
    const double* centred
    const double* counts
    # Room for sums by code of a block, chosen rows, and their weights: the loop's own, as threads share tables.
    # That of a thread begins so many numbers after that of the one before.
    Py_ssize_t scratch, chosen_rows
    double* lanes
    int32_t* chosen
    double* of_chosen


cdef class Leaf:
    """Outputs on the rows of one side that are neither made of other tables nor have their sign changed."""

    cdef Outputs outputs
    cdef object kept

    @staticmethod
    def dense(A, const Py_ssize_t[::1] columns, const Py_ssize_t[:, ::1] runs, Py_ssize_t block):
        """Some columns of an array of float32 or float64, which are also given as runs [first, last)."""
        cdef:
            Leaf leaf = Leaf()
            Outputs* out = &leaf.outputs
            const double[:, :] doubles
            const float[:, :] floats
        out.bytes = A.itemsize
        out.down, out.right = [step // out.bytes for step in A.strides]
        if out.bytes == sizeof(double):
            doubles = A
            out.A = <const char*>&doubles[0, 0]
        else:
            floats = A
            out.A = <const char*>&floats[0, 0]
        out.rows, out.rankers, out.tally_size, out.block = A.shape[0], columns.shape[0], columns.shape[0], block
        out.columns, out.runs, out.n_runs = &columns[0], &runs[0, 0], runs.shape[0]
        leaf.kept = A, columns, runs
        return leaf

    @staticmethod
    def coded(
        const uint8_t[:, ::1] narrow, const uint16_t[:, ::1] wide, const Py_ssize_t[::1] starts_narrow,
        const Py_ssize_t[::1] starts_wide, const uint8_t[::1] is_wide, const Py_ssize_t[::1] word,
        const Py_ssize_t[::1] word_first, const Py_ssize_t[::1] word_size, const Py_ssize_t[::1] radix,
        const Py_ssize_t[::1] cells, const Py_ssize_t[::1] feature, const Py_ssize_t[::1] first,
        const Py_ssize_t[::1] at, const double[::1] terms, const double[::1] centred, const double[::1] counts,
        Py_ssize_t scratch, Py_ssize_t block,
    ):
        """Codes with the meaning that a schema gives them, and how much scratch their sums need."""
        cdef:
            Leaf leaf = Leaf()
            Outputs* out = &leaf.outputs
        out.rows, out.rankers, out.features = narrow.shape[1], feature.shape[0], word.shape[0]
        out.tally_size, out.block = starts_wide[starts_wide.shape[0] - 1], block
        out.narrow.count, out.wide.count = narrow.shape[0], wide.shape[0]
        out.narrow.codes = &narrow[0, 0] if narrow.shape[0] else NULL
        out.wide.codes = &wide[0, 0] if wide.shape[0] else NULL
        out.narrow.starts, out.wide.starts = &starts_narrow[0], &starts_wide[0]
        out.is_wide, out.word, out.word_first, out.word_size = &is_wide[0], &word[0], &word_first[0], &word_size[0]
        out.radix, out.cells, out.feature, out.first = &radix[0], &cells[0], &feature[0], &first[0]
        out.at, out.terms, out.centred, out.counts = &at[0], &terms[0], &centred[0], &counts[0]
        out.scratch = scratch
        leaf.kept = (
            narrow, wide, starts_narrow, starts_wide, is_wide, word, word_first, word_size, radix, cells, feature,
            first, at, terms, centred, counts,
        )
        return leaf


cdef const uint8_t* narrow_word(const Outputs* out, Py_ssize_t k) noexcept nogil:
    return <const uint8_t*>out.narrow.codes + out.word[k] * out.rows


cdef const uint16_t* wide_word(const Outputs* out, Py_ssize_t k) noexcept nogil:
    return <const uint16_t*>out.wide.codes + out.word[k] * out.rows


cdef void tally_block(
    const Outputs* out, const double* weights, Py_ssize_t start, Py_ssize_t size, double* sums,
    Py_ssize_t k, const uint8_t* wanted, Py_ssize_t thread,
) noexcept nogil:
    """Tally of some rows; of those with wanted codes of the word of feature k, if these are given."""
    cdef:
        const double* own = weights + start
        const int32_t* rows = NULL
        int32_t* chosen = out.chosen + thread * out.chosen_rows
        double* of_chosen = out.of_chosen + thread * out.chosen_rows
        double* lanes = out.lanes + thread * out.scratch
    if not out.features:
        if out.bytes == sizeof(double):
            products_of(
                <const double*>out.A + start * out.down, out.down, out.right, out.runs, out.n_runs, own, size, sums
            )
        else:
            products_of(
                <const float*>out.A + start * out.down, out.down, out.right, out.runs, out.n_runs, own, size, sums
            )
        return
    if wanted != NULL:
        if out.is_wide[k]:
            size = choose_rows(wide_word(out, k) + start, wanted, own, size, chosen, of_chosen)
        else:
            size = choose_rows(narrow_word(out, k) + start, wanted, own, size, chosen, of_chosen)
        rows, own = chosen, of_chosen
        if size == 0:
            memset(sums, 0, out.tally_size * sizeof(double))
            return
    sums_of_words(
        <const uint8_t*>out.narrow.codes + start, out.rows, out.narrow.count, own, size, rows, out.narrow.starts, sums,
        lanes,
    )
    sums_of_words(
        <const uint16_t*>out.wide.codes + start, out.rows, out.wide.count, own, size, rows, out.wide.starts, sums,
        lanes,
    )


cdef struct Tallying:
    const Outputs* out
    const double* weights
    double* parts
    Py_ssize_t start, k
    const uint8_t* wanted


cdef void tally_part(void* task, Py_ssize_t b, Py_ssize_t thread) noexcept nogil:
    cdef:
        Tallying* own = <Tallying*>task
        const Outputs* out = own.out
        Py_ssize_t start = own.start + b * out.block
    tally_block(
        out, own.weights, start, min(out.block, out.rows - start), own.parts + b * out.tally_size, own.k, own.wanted,
        thread,
    )


cdef void tally_of(
    Crew* crew, const Outputs* out, const double* weights, double* tally, double* parts, Py_ssize_t k,
    const uint8_t* wanted,
) noexcept nogil:
    """Tally of all rows: the sum of those of blocks, in their order. There is room for a block of each thread."""
    cdef:
        Tallying task
        Py_ssize_t blocks, b, c
    task.out, task.weights, task.parts, task.k, task.wanted, task.start = out, weights, parts, k, wanted, 0
    memset(tally, 0, out.tally_size * sizeof(double))
    while task.start < out.rows:
        blocks = min(crew.most + 1, (out.rows - task.start + out.block - 1) // out.block)
        do_blocks(crew, tally_part, &task, blocks)
        for b in range(blocks):
            for c in range(out.tally_size):
                tally[c] += parts[b * out.tally_size + c]
        task.start += blocks * out.block


cdef Py_ssize_t values_of(
    const Outputs* out, Py_ssize_t place, double sign, double shift, double* values
) noexcept nogil:
    """Values of a coded ranker by code, less a shift and times a sign; returns the number of codes."""
    cdef Py_ssize_t k = out.feature[place], first = out.first[place], c, levels = out.cells[k + 1] - out.cells[k]
    fill_values(out.at + first, out.terms + first, out.first[place + 1] - first, levels, values)
    for c in range(levels):
        values[c] = sign * (values[c] - shift)
    return levels


cdef void by_word(
    const Outputs* out, Py_ssize_t k, const double* values, Py_ssize_t levels, double* of_word
) noexcept nogil:
    """Values by the code of a feature as values by the code of its word."""
    cdef Py_ssize_t c = 0, low, radix = out.radix[k], code = 0
    while c < out.word_size[k]:
        for low in range(radix):
            of_word[c + low] = values[code]
        c += radix
        code = code + 1 if code + 1 < levels else 0


cdef void look_up(
    const Outputs* out, Py_ssize_t k, const double* of_word, Py_ssize_t start, Py_ssize_t stop, double* h
) noexcept nogil:
    """h = value of the code of some rows."""
    cdef:
        const uint8_t* narrow
        const uint16_t* wide
        Py_ssize_t r
    if out.is_wide[k]:
        wide = wide_word(out, k)
        for r in range(start, stop):
            h[r] = of_word[wide[r]]
    else:
        narrow = narrow_word(out, k)
        for r in range(start, stop):
            h[r] = of_word[narrow[r]]


cdef void read_column(
    const Outputs* out, Py_ssize_t place, double sign, double shift, Py_ssize_t start, Py_ssize_t stop, double* h
) noexcept nogil:
    """h = outputs of a ranker of a dense matrix on some rows, less a shift and times a sign."""
    cdef:
        const double* doubles = <const double*>out.A + out.columns[place] * out.right
        const float* floats = <const float*>out.A + out.columns[place] * out.right
        Py_ssize_t r
    if out.bytes == sizeof(double):
        for r in range(start, stop):
            h[r] = sign * (doubles[r * out.down] - shift)
    else:
        for r in range(start, stop):
            h[r] = sign * (<double>floats[r * out.down] - shift)


# (b) ---------------------------------------------------------------------------------------------

cdef struct Rows:
    # One side of the list, and its slice of facts of all rankers.
    Py_ssize_t n, block
    double scale
    double* f
    double* h
    double* weights
    double* tally
    const double* log_c
    const double* low
    const double* high
    Outputs* leaves


cdef Side part_of(const Side* side, Py_ssize_t start, Py_ssize_t size) noexcept nogil:
    """Rows of a side from one on, so many or as many as there are."""
    cdef Side part = side[0]
    part.f += start
    part.h += start
    part.size = min(size, side.size - start)
    if part.log_c != NULL:
        part.log_c += start
    return part


cdef double merged(const double* tops, const double* totals, Py_ssize_t n, double* total) noexcept nogil:
    """Do as `merge_exponentials` does with one sum; returns the top."""
    cdef:
        double top = -INFINITY
        Py_ssize_t b
    for b in range(n):
        top = fmax(top, tops[b])
    total[0] = 0.0
    for b in range(n):
        if tops[b] > -INFINITY:
            total[0] += exp(tops[b] - top) * totals[b]
    return top


cdef struct Pass:
    # A pass over the blocks of one side, with room for what it finds in each.
    Side side
    Py_ssize_t block
    double* weights
    double rate, unit
    double tops[BLOCKS]
    double totals[BLOCKS]
    double sums[BLOCKS][POWERS]
    # That of a ranker: values by code, or a column less a shift and times a sign.
    const Outputs* out
    Py_ssize_t place
    const double* of_word
    double sign, shift
    double* h


cdef Py_ssize_t blocks_of(const Pass* task) noexcept nogil:
    return (task.side.size + task.block - 1) // task.block


cdef Py_ssize_t rows_of(const Pass* task, Py_ssize_t b) noexcept nogil:
    """Rows of a block."""
    return min(task.block, task.side.size - b * task.block)


cdef void weigh_block(void* task, Py_ssize_t b, Py_ssize_t thread) noexcept nogil:
    cdef:
        Pass* own = <Pass*>task
        Side part = part_of(&own.side, b * own.block, own.block)
    if own.weights == NULL:
        own.tops[b] = log_sum_of(&part, &own.totals[b])
    else:
        own.tops[b] = weigh_rows(&part, own.weights + b * own.block, &own.totals[b])


cdef void scale_block(void* task, Py_ssize_t b, Py_ssize_t thread) noexcept nogil:
    cdef Pass* own = <Pass*>task
    scale_weights(own.weights + b * own.block, own.tops[b], rows_of(own, b))


cdef double weigh(Crew* crew, const Side* side, Py_ssize_t block, double* weights) noexcept nogil:
    """Fill in weights of sum one, and return the log of the sum of exponentials; without weights, only do that."""
    cdef:
        Pass task
        double top, total
        Py_ssize_t n, b
    task.side, task.block, task.weights = side[0], block, weights
    n = blocks_of(&task)
    do_blocks(crew, weigh_block, &task, n)
    top = merged(task.tops, task.totals, n, &total)
    if weights != NULL:
        for b in range(n):
            task.tops[b] = exp(task.tops[b] - top) / total
        do_blocks(crew, scale_block, &task, n)
    return top + log(total)


cdef struct Cumulants:
    double mean, variance, third


cdef void powers_block(void* task, Py_ssize_t b, Py_ssize_t thread) noexcept nogil:
    cdef:
        Pass* own = <Pass*>task
        Side part = part_of(&own.side, b * own.block, own.block)
        double mode
    if own.weights == NULL:
        own.tops[b] = tilt_rows(&part, own.rate, own.unit, own.sums[b], &mode)
    else:
        own.tops[b] = 0.0
        given_rows(own.weights + b * own.block, part.h, own.unit, part.size, own.sums[b])


cdef void sum_powers(
    Crew* crew, const Side* side, Py_ssize_t block, const double* weights, double alpha, double unit, double* total
) noexcept nogil:
    """Power sums of unit * h under weights that are given, or else formed at step alpha."""
    cdef:
        Pass task
        double top = -INFINITY, factor
        Py_ssize_t n, b
        int k
    task.side, task.block, task.weights, task.rate, task.unit = side[0], block, <double*>weights, alpha, unit
    n = blocks_of(&task)
    do_blocks(crew, powers_block, &task, n)
    for b in range(n):
        top = fmax(top, task.tops[b])
    memset(total, 0, POWERS * sizeof(double))
    for b in range(n):
        factor = exp(task.tops[b] - top) if task.tops[b] > -INFINITY else 0.0
        for k in range(POWERS):
            total[k] += factor * task.sums[b][k]


cdef Cumulants cumulants(const double* powers, double rate, double size) noexcept nogil:
    """Do as `_cumulants` of the line does."""
    cdef:
        Cumulants found
        double sums[4]
        double square
    expand(powers, rate, sums)
    found.mean, square = sums[1] / sums[0], sums[2] / sums[0]
    found.variance = fmax(0.0, square - found.mean * found.mean)
    found.third = sums[3] / sums[0] - 3.0 * found.mean * square + 2.0 * found.mean * found.mean * found.mean
    found.mean *= size
    found.variance = size * (size * found.variance)
    found.third = size * (size * (size * found.third))
    return found


# (c) ---------------------------------------------------------------------------------------------

cdef struct Limits:
    # Constants of the loop that is read, by their names there.
    double tie, overflow, light, shrunk, exponents, rounds, plateau, rounding, chosen, rows, far, faint, cells, values
    double near


cdef struct Line:
    # F_p along a ranker. A side is its rows, or one row for each value that the ranker takes there.
    Side pos, neg
    Py_ssize_t pos_block, neg_block
    const double* u
    const double* w
    double p, sign, span, width, largest, noise
    # Power sums of h / size at a step, for those that are near.
    double size, base
    double u_powers[POWERS]
    double w_powers[POWERS]
    Groups* groups
    Crew* crew


cdef struct Run:
    # Rows of one side, group by group: their outputs and, in the rounds that ask for them, their weights. Without an
    # order rows come so, and both are those of the side. Its scores stand in this order while rounds are run.
    const Py_ssize_t* order
    const Py_ssize_t* starts
    const Py_ssize_t* codes
    const double* log_c
    double* h
    double* weights
    bint weighed
    double* sums
    double* cumulants


cdef struct Groups:
    Py_ssize_t n
    Run pos, neg
    double* level
    double* before
    double* share
    # Sums of u, w and v by group and value of a ranker that takes few, where the step is found from them; its values.
    Py_ssize_t width
    double* u
    double* w
    double* v
    double* values
    double* tilts
    Py_ssize_t* by_code
    Py_ssize_t* by_word


cdef void sort_rows(const Run* run, const double* values, Py_ssize_t n, double* out) noexcept nogil:
    """out = values of the rows, group by group, where these do not come so."""
    cdef Py_ssize_t r
    if run.order != NULL:
        for r in range(n):
            out[r] = values[run.order[r]]


cdef void unsort_rows(const Run* run, const double* values, Py_ssize_t n, double* out) noexcept nogil:
    """Undo `sort_rows`."""
    cdef Py_ssize_t r
    if run.order != NULL:
        for r in range(n):
            out[run.order[r]] = values[r]


ctypedef void (*Rearrangement)(const Run*, const double*, Py_ssize_t, double*) noexcept nogil


cdef void tilt_group_side(
    Groups* groups, Run* run, const double* weights, const double* h, const double* cells, double rate, double top,
    bint own,
) noexcept nogil:
    """Do as `GroupLine._slope` does, or the same from sums by group and value."""
    if groups.width:
        tilt_cells(
            cells, groups.values, groups.n, groups.width, rate, top, own, groups.tilts, groups.level, run.sums,
            run.cumulants,
        )
    else:
        tilt_groups(weights, h, run.starts, groups.n, rate, top, own, groups.level, run.sums, run.cumulants)


cdef bint slope_of_groups(Line* line, double x, const Limits* limits, double* slope) noexcept nogil:
    """Do as `GroupLine._slope` does; returns False where rows are to be asked for sums that are faint."""
    cdef:
        Groups* groups = line.groups
        Run* pos = &groups.pos
        Run* neg = &groups.neg
        double alpha = line.sign * x, rate = -alpha
        double found[4]
    if line.p * x * line.largest > limits.far:
        return False
    tilt_group_side(groups, pos, line.u, line.pos.h, groups.u, rate, fabs(rate) * line.largest, True)
    rate = line.p * alpha
    tilt_group_side(groups, neg, line.w, line.neg.h, groups.w, rate, fabs(rate) * line.largest, False)
    if x == 0.0:
        memcpy(groups.before, pos.sums, groups.n * sizeof(double))
    mix(
        groups.before, pos.sums, pos.cumulants, neg.sums, neg.cumulants, line.p, groups.n, groups.share, found
    )
    if not found[3] > limits.faint * line.span:
        return False
    line.noise = limits.rounding * found[3]
    slope[0], slope[1], slope[2] = line.sign * found[0], found[1], line.sign * found[2]
    return True


cdef bint overlaps(
    const Groups* groups, const double* pos, const double* neg, double sign, double close
) noexcept nogil:
    """Whether outputs, group by group and times the sign, have a negative more than so much above a positive.

    Of cells, those without mass may have no rows, and show nothing.
    """
    cdef:
        double least, most
        Py_ssize_t g, r, c
    for g in range(groups.n):
        least, most = INFINITY, -INFINITY
        if groups.width:
            for c in range(groups.width):
                r = g * groups.width + c
                if groups.u[r] > 0.0:
                    least = fmin(least, sign * groups.values[c])
                if groups.w[r] > 0.0:
                    most = fmax(most, sign * groups.values[c])
        else:
            for r in range(groups.pos.starts[g], groups.pos.starts[g + 1]):
                least = fmin(least, sign * pos[r])
            for r in range(groups.neg.starts[g], groups.neg.starts[g + 1]):
                most = fmax(most, sign * neg[r])
        if least - most < -close:  # mostly in the first groups
            return True
    return False


cdef double softmax_of(const double* exponents, Py_ssize_t n, double* out) noexcept nogil:
    """Fill in softmax(exponents), and return the log of the sum of exponentials."""
    cdef:
        Side side
        double top, total
        Py_ssize_t g
    side.f = side.h = exponents
    side.log_c, side.size, side.scale = NULL, n, 1.0
    top = weigh_rows(&side, out, &total)
    for g in range(n):
        out[g] /= total
    return top + log(total)


cdef void weigh_run(Run* run, Py_ssize_t n_groups, Side side, double scale) noexcept nogil:
    """Fill in weights of sum one in each group, group by group, and the logs of their sums."""
    side.log_c, side.h, side.scale = run.log_c, side.f, scale
    weigh_groups(&side, run.starts, n_groups, run.weights, run.sums)


cdef void share_out(Run* run, const double* share, Py_ssize_t n_groups, Py_ssize_t n, double* out) noexcept nogil:
    """Multiply the weights within groups by the shares of these; out = the weights of the rows in their order."""
    cdef Py_ssize_t g, r
    for g in range(n_groups):
        for r in range(run.starts[g], run.starts[g + 1]):
            run.weights[r] *= share[g]
    unsort_rows(run, run.weights, n, out)
    run.weighed = True


cdef bint slope_at(Line* line, double x, bint given, const Limits* limits, double* slope) noexcept nogil:
    """Fill in g and two derivatives at x; returns False on a plateau."""
    cdef:
        double alpha = line.sign * x, p = line.p, sign = line.sign, unit = 1.0 / line.size, rate
        Cumulants u, w
    if line.groups != NULL:
        return slope_of_groups(line, x, limits, slope)
    if given or not p * fabs(x - line.base) * line.largest <= limits.near:
        line.base = x
        sum_powers(line.crew, &line.pos, line.pos_block, line.u if given else NULL, alpha, unit, line.u_powers)
        sum_powers(line.crew, &line.neg, line.neg_block, line.w if given else NULL, alpha, unit, line.w_powers)
    rate = sign * (x - line.base) * line.size
    u = cumulants(line.u_powers, -rate, line.size)
    w = cumulants(line.w_powers, p * rate, line.size)
    line.noise = limits.rounding * line.span
    slope[0] = sign * (w.mean - u.mean)
    slope[1] = p * w.variance + u.variance
    slope[2] = sign * (p * p * w.third - u.third)
    return not slope[1] <= limits.plateau * (1.0 + p) * line.span * line.span


cdef double root(Line* line, const Limits* limits) noexcept nogil:
    """Return the root of equation (1); zero where it is no ordinary one."""
    cdef:
        Search at
        double slope[3]
    if not slope_at(line, 0.0, True, limits, slope):
        return 0.0
    if not slope[0] < -line.noise:
        return 0.0
    at.x, at.lo, at.hi, at.bracket, at.last = 0.0, 0.0, INFINITY, INFINITY, 0.0
    for _ in range(EVALUATIONS):
        if slope[0] == 0.0:
            break
        if not next_step(&at, line.width, slope[0], slope[1], slope[2]):
            break
        if not slope_at(line, at.x, False, limits, slope):
            return 0.0
    return line.sign * at.x


# (d) ---------------------------------------------------------------------------------------------

cdef Py_ssize_t largest_of(const double* values, Py_ssize_t n) noexcept nogil:
    """The first place of the largest value."""
    cdef Py_ssize_t j, best = 0
    for j in range(1, n):
        if values[j] > values[best]:
            best = j
    return best


cdef enum:
    # Rows of `facts`: numbers of every ranker, by their names in `Problem` and in its sides.
    SHIFT
    LARGEST
    MAX_ABS
    SIZE
    CLOSE
    OFFSET
    POS_LOW
    POS_HIGH
    NEG_LOW
    NEG_HIGH
    SIGN
    LEAF_SHIFT
    COEFFICIENT_SIGN

cdef enum:
    # Numbers that change from round to round, in the order of `HeldRows.now`.
    LOG_F
    LOG_MASS
    INTERCEPT
    LEVEL
    WIDEST
    MULTIPLIED
    CHANGED
    V_TOTAL
    NUMBERS


cdef class Rounds:
    """Rounds on the arrays of `HeldRows`."""

    cdef:
        Rows pos, neg
        Limits limits
        double p
        Py_ssize_t n, n_leaves, tally_size, n_cells
        double* lam
        double* v
        readonly bint tallied
        bint exchanged, centred, signed
        double* now
        Crew crew
        # What is asked of the threads: rounds, or a step along a ranker.
        int kind
        const double* least
        Py_ssize_t t_max, done, along
        double step
        Py_ssize_t[::1] rankers
        double[:, ::1] records
        const double* facts
        const Py_ssize_t* leaf_of
        const Py_ssize_t* place
        Py_ssize_t* first_of_leaf
        uint8_t* binary
        Groups groups
        double* room_of_groups
        double* share_at_one
        # Room
        double* room
        double* edges
        double* merit
        double* of_leaves
        double* difference
        double* parts
        double* totals
        double* above
        double* by_code
        double* of_v
        double* of_word
        double* zeros
        double* masses[2]
        double* factors[2]
        double* values[2]
        double* weights[2]
        double* logs[2]
        uint8_t* wanted
        int32_t* rows
        list kept

    def __init__(
        self, double p, limits, double[::1] lam, const double[:, ::1] facts, const Py_ssize_t[::1] leaf_of,
        const Py_ssize_t[::1] place, pos, neg, double[::1] v, bint exchanged, bint centred, groups,
        double[::1] mass, double[::1] now, Py_ssize_t n_threads,
    ):
        """Take arrays of HeldRows, with (leaves, h, weights, log_c, tally) of either side, and `facts`.

        Groups are None, or (order, starts, codes, log_c group by group) of either side; `mass` are their shares at
        p = 1.
        """
        cdef:
            Py_ssize_t k, c, rankers = 0, largest = 1, levels = 1, codes = 1, scratch = 0, most = 0, at = 0
            Outputs* out
            Outputs* other
        self.p, self.n = p, lam.shape[0]
        (self.limits.tie, self.limits.overflow, self.limits.light, self.limits.shrunk, self.limits.exponents,
         self.limits.rounds, self.limits.plateau, self.limits.rounding, self.limits.chosen, self.limits.rows,
         self.limits.far, self.limits.faint, self.limits.cells, self.limits.values, self.limits.near) = limits
        self.exchanged, self.centred = exchanged, centred
        self.lam, self.facts, self.leaf_of, self.place = &lam[0], &facts[0, 0], &leaf_of[0], &place[0]
        if v is not None:
            self.v = &v[0]
        self.now = &now[0]
        self.kept = [lam, facts, leaf_of, place, v, mass, now]
        equip(&self.crew, n_threads)
        for k in range(self.n):
            self.signed = self.signed or facts[COEFFICIENT_SIGN, k] != 0.0
        self.n_leaves = len(pos[0])
        self.first_of_leaf = <Py_ssize_t*>allocated(self.n_leaves, sizeof(Py_ssize_t))
        self.binary = <uint8_t*>allocated(self.n, 1)
        self.hold(&self.pos, -1.0, POS_LOW, pos)
        self.hold(&self.neg, p, NEG_LOW, neg)
        if groups is not None:
            self.share_at_one = &mass[0]
            self.take_groups(groups)
        for k in range(self.n_leaves):
            out, other = &self.pos.leaves[k], &self.neg.leaves[k]
            self.first_of_leaf[k] = rankers
            rankers += out.rankers
            largest = max(largest, out.tally_size)
            out.first_cell = other.first_cell = self.tally_size
            self.tally_size += out.tally_size
            for c in range(out.features):
                levels = max(levels, out.cells[c + 1] - out.cells[c])
                codes = max(codes, out.word_size[c])
            if out.features:
                self.n_cells = max(self.n_cells, out.cells[out.features])
                scratch = max(scratch, out.scratch)
                most = max(most, min(out.block, out.rows), min(other.block, other.rows))
        self.room = <double*>allocated(
            2 * self.n + rankers + self.tally_size + 2 * self.n_cells + codes + 13 * levels
            + (self.crew.most + 1) * (largest + scratch + most),
            sizeof(double),
        )
        if groups is not None:
            self.groups.by_code = <Py_ssize_t*>allocated(levels + codes, sizeof(Py_ssize_t))
            self.groups.by_word = self.groups.by_code + levels
        self.rows = <int32_t*>allocated((self.crew.most + 1) * most, sizeof(int32_t))
        self.wanted = <uint8_t*>allocated(codes, 1)
        self.edges = self.some(&at, self.n)
        self.merit = self.some(&at, self.n)
        self.of_leaves = self.some(&at, rankers)
        self.difference = self.some(&at, self.tally_size)
        self.parts = self.some(&at, (self.crew.most + 1) * largest)
        self.totals = self.some(&at, self.n_cells)
        self.above = self.some(&at, self.n_cells)
        self.of_word = self.some(&at, codes)
        self.by_code = self.some(&at, levels)
        self.of_v = self.some(&at, levels)
        self.zeros = self.some(&at, levels)
        for k in range(2):
            self.masses[k] = self.some(&at, levels)
            self.factors[k] = self.some(&at, levels)
            self.values[k] = self.some(&at, levels)
            self.weights[k] = self.some(&at, levels)
            self.logs[k] = self.some(&at, levels)
        for k in range(self.n_leaves):
            out, other = &self.pos.leaves[k], &self.neg.leaves[k]
            out.lanes = other.lanes = self.room + at
            out.of_chosen = other.of_chosen = self.room + at + (self.crew.most + 1) * scratch
            out.chosen = other.chosen = self.rows
            out.scratch = other.scratch = scratch
            out.chosen_rows = other.chosen_rows = most

    def __dealloc__(self):
        dismiss(&self.crew)
        free(self.first_of_leaf)
        free(self.binary)
        free(self.room)
        free(self.room_of_groups)
        free(self.groups.by_code)
        free(self.wanted)
        free(self.rows)
        free(self.pos.leaves)
        free(self.neg.leaves)

    cdef Py_ssize_t block_of(self, Py_ssize_t n) noexcept nogil:
        """Rows of a block, as in `_threads.blocks`."""
        return max(<Py_ssize_t>self.limits.rows, (n + BLOCKS - 1) // BLOCKS)

    cdef double* some(self, Py_ssize_t* at, Py_ssize_t size) noexcept:
        """So many numbers of the room."""
        at[0] += size
        return self.room + at[0] - size

    cdef object take_groups(self, of_sides):
        """Take groups, and make room for rows group by group."""
        cdef:
            const Py_ssize_t[::1] order, starts, codes
            const double[::1] log_c
            Run* run
            Rows* side
            double* room
            Py_ssize_t n = of_sides[0][1].shape[0] - 1, rows, cells, values = <Py_ssize_t>self.limits.values
        self.groups.n = n
        cells = <Py_ssize_t>((self.pos.n + self.neg.n) / self.limits.cells) if self.v != NULL or self.p == 1.0 else 0
        rows = 2 * sum([len(of_side[2]) for of_side in of_sides if of_side[0] is not None])
        room = self.room_of_groups = <double*>allocated(11 * n + rows + 3 * cells + 4 * values, sizeof(double))
        self.groups.u, self.groups.w, self.groups.v = room, room + cells, room + 2 * cells
        room += 3 * cells
        self.groups.values, self.groups.tilts = room, room + values
        room += 4 * values
        self.groups.level, self.groups.before, self.groups.share = room, room + n, room + 2 * n
        room += 3 * n
        for k, (order, starts, codes, log_c) in enumerate(of_sides):
            run, side = (&self.groups.neg, &self.neg) if k else (&self.groups.pos, &self.pos)
            run.starts, run.codes, run.h, run.weights = &starts[0], &codes[0], side.h, side.weights
            run.sums, run.cumulants = room, room + n
            room += 4 * n
            if order is not None:
                run.order, run.h, run.weights = &order[0], room, room + side.n
                room += 2 * side.n
            if log_c is not None:
                run.log_c = &log_c[0]
        self.kept += of_sides

    cdef object hold(self, Rows* side, double scale, int low, of_side):
        """Take the rows of one side."""
        cdef:
            double[::1] h = of_side[1], weights = of_side[2], tally = of_side[4]
            const double[::1] log_c = of_side[3]
            list leaves = of_side[0]
            Py_ssize_t k
        side.n, side.block, side.scale = h.shape[0], self.block_of(h.shape[0]), scale
        side.h, side.weights, side.tally = &h[0], &weights[0], &tally[0]
        if log_c is not None:
            side.log_c = &log_c[0]
        side.low, side.high = self.facts + low * self.n, self.facts + (low + 1) * self.n
        side.leaves = <Outputs*>allocated(self.n_leaves, sizeof(Outputs))
        for k in range(self.n_leaves):
            side.leaves[k] = (<Leaf?>leaves[k]).outputs
        self.kept += [h, weights, log_c, leaves, tally]

    def run(
        self, pool, bint tallied, double[::1] f_pos, double[::1] f_neg, selection, const double[::1] least,
        Py_ssize_t[::1] rankers, double[:, ::1] records,
    ):
        """Do rounds until the records are full or one is not ordinary; return their number.

        Edges within `least` are taken as zero. Scores are None if they are not kept. Changed are `lam`, weights,
        scores, tallies, and the numbers of the enumeration above. A row of records is step, edge, z, log F and
        intercept.
        """
        self.kind, self.least = ("absolute", "signed", "largest").index(selection), &least[0]
        self.t_max, self.rankers, self.records = rankers.shape[0], rankers, records
        self.share(pool, tallied, f_pos, f_neg)
        return self.done

    def take(self, pool, bint tallied, double[::1] f_pos, double[::1] f_neg, Py_ssize_t j, double step):
        """Take a step along ranker j, which is in `lam` already; returns False where scores are to be formed anew.

        Then nothing but an entry of the numbers is changed. The step may be of any kind.
        """
        if not tallied and not self.groups.n and self.pos.leaves[self.leaf_of[j]].features:
            return False
        self.along, self.step, self.t_max = j, step, 0
        self.share(pool, tallied, f_pos, f_neg)
        return self.done > 0

    cdef object share(self, pool, bint tallied, double[::1] f_pos, double[::1] f_neg):
        """Have the threads of a pool do what is asked."""
        self.pos.f = self.neg.f = NULL
        if f_pos is not None:
            self.pos.f, self.neg.f = &f_pos[0], &f_neg[0]
        self.tallied, self.crew.closed, self.crew.there = tallied, False, 0
        pool.map(self.part, range(self.crew.most + 1))

    def part(self, Py_ssize_t thread):
        """Do what is asked in the first thread, and help with it in others. No signal is handled on the way here."""
        with nogil:
            if thread:
                help_with(&self.crew)
            else:
                self.rearrange(sort_rows)
                if self.t_max:
                    self.loop()
                else:
                    self.groups.width = 0
                    if self.pos.f != NULL:
                        self.columns(self.along)
                    self.done = self.move(self.along, self.step)
                self.rearrange(unsort_rows)
                close_crew(&self.crew)

    cdef void loop(self) noexcept nogil:
        cdef:
            Py_ssize_t t = 0, j
            double step, edge, before
        while t < self.t_max:
            before = self.now[LOG_MASS]
            j = self.round(self.kind, self.least, &step, &edge)
            if j < 0:
                break
            self.rankers[t] = j
            self.records[0, t] = step
            self.records[1, t] = edge
            before = self.now[LOG_MASS] - before
            self.records[2, t] = INFINITY if before >= 709.0 else exp(before)
            self.records[3, t] = self.now[LOG_F]
            self.records[4, t] = -self.now[INTERCEPT] if self.exchanged else self.now[INTERCEPT]
            t += 1
        self.done = t

    cdef void rearrange(self, Rearrangement sort_or_unsort) noexcept nogil:
        """Bring scores group by group, or back, by way of the outputs; weights by group are those of earlier rounds."""
        cdef:
            Run* run = &self.groups.pos
            Rows* side = &self.pos
        for _ in range(2):
            run.weighed = False
            if run.order != NULL and side.f != NULL:
                sort_or_unsort(run, side.f, side.n, run.h)
                memcpy(side.f, run.h, side.n * sizeof(double))
            run, side = &self.groups.neg, &self.neg

    cdef const double* fact(self, int which) noexcept nogil:
        return self.facts + which * self.n

    cdef Py_ssize_t round(self, int kind, const double* least, double* step, double* edge) noexcept nogil:
        """Do a round and return its ranker; -1 where it is not ordinary."""
        cdef:
            Py_ssize_t j
            const Outputs* out
        # (a)
        self.find_edges()
        j = self.chosen(kind, least)
        if j < 0:
            return -1
        edge[0] = self.edges[j]
        sign = copysign(1.0, edge[0])
        # (b)
        if self.groups.n:
            return self.grouped_round(j, sign, step)
        gap = self.pos.low[j] - self.neg.high[j] if sign > 0.0 else self.neg.low[j] - self.pos.high[j]
        if gap >= 0.0:
            return -1
        out = &self.pos.leaves[self.leaf_of[j]]
        step[0] = self.step_by_code(j, sign) if out.features else self.step_by_row(j, sign)
        return self.take_step(j, step)

    cdef Py_ssize_t take_step(self, Py_ssize_t j, double* step) noexcept nogil:
        """Steps (c) to (e) of a round; returns the ranker, or -1 where the step is not ordinary.

        The step is cut where the coefficient would cross zero against its sign.
        """
        cdef double before = self.lam[j]
        if self.fact(COEFFICIENT_SIGN)[j] * (before + step[0]) < 0.0:
            step[0] = -before
        if before + step[0] == before or not self.p * fabs(step[0]) * self.fact(MAX_ABS)[j] < self.limits.overflow:
            return -1
        self.lam[j] = before + step[0]
        if not self.move(j, step[0]):
            self.lam[j] = before
            return -1
        return j

    cdef Py_ssize_t grouped_round(self, Py_ssize_t j, double sign, double* step) noexcept nogil:
        """Steps (b) to (e) where pairs form within groups."""
        cdef:
            Line line = self.line(j, sign)
            Groups* groups = &self.groups
        groups.width = self.few_values(j)
        if groups.width:
            self.add_cells(&self.pos, j, groups.pos.codes, self.pos.weights, groups.u)
            self.add_cells(&self.neg, j, groups.neg.codes, self.neg.weights, groups.w)
        else:
            self.columns(j)
            line.pos.h, line.u = groups.pos.h, self.weights_of(&groups.pos, &self.pos)
            line.neg.h, line.w = groups.neg.h, self.weights_of(&groups.neg, &self.neg)
        if not overlaps(groups, line.pos.h, line.neg.h, sign, self.fact(CLOSE)[j]):
            return -1
        step[0] = root(&line, &self.limits)
        return self.take_step(j, step)

    cdef const double* weights_of(self, Run* run, const Rows* side) noexcept nogil:
        """The weights of a side, group by group."""
        if not run.weighed:
            sort_rows(run, side.weights, side.n, run.weights)
            run.weighed = True
        return run.weights

    cdef Py_ssize_t few_values(self, Py_ssize_t j) noexcept nogil:
        """Fill in the values of a ranker and their places; returns their number, zero if steps take the rows."""
        cdef:
            const Outputs* out = &self.pos.leaves[self.leaf_of[j]]
            Groups* groups = &self.groups
            Py_ssize_t place = self.place[j], n = 0, most, levels, k, c, i
            double x
        if not out.features:
            return 0
        k = out.feature[place]
        most = <Py_ssize_t>fmin(
            self.limits.values, (self.pos.n + self.neg.n) / (self.limits.cells * <double>groups.n)
        )
        levels = values_of(out, place, self.fact(SIGN)[j], self.fact(LEAF_SHIFT)[j], self.by_code)
        for c in range(levels):
            x = self.by_code[c]
            i = 0
            while i < n and groups.values[i] < x:
                i += 1
            if i < n and groups.values[i] == x:
                continue
            if n == most:
                return 0
            memmove(groups.values + i + 1, groups.values + i, (n - i) * sizeof(double))
            groups.values[i] = x
            n += 1
        for c in range(levels):
            i = 0
            while groups.values[i] < self.by_code[c]:
                i += 1
            groups.by_code[c] = i
        for c in range(out.word_size[k]):
            groups.by_word[c] = groups.by_code[c // out.radix[k] % levels]
        return n if n > 1 else 0

    cdef void add_cells(
        self, const Rows* side, Py_ssize_t j, const Py_ssize_t* codes, const double* weights, double* cells
    ) noexcept nogil:
        """Sums of weights by group and value of a ranker."""
        cdef:
            const Outputs* out = &side.leaves[self.leaf_of[j]]
            Py_ssize_t k = out.feature[self.place[j]], width = self.groups.width
        memset(cells, 0, self.groups.n * width * sizeof(double))
        if out.is_wide[k]:
            add_by_group(wide_word(out, k), self.groups.by_word, weights, codes, side.n, width, cells)
        else:
            add_by_group(narrow_word(out, k), self.groups.by_word, weights, codes, side.n, width, cells)

    cdef void times_cells(
        self, const Rows* side, Py_ssize_t j, const Py_ssize_t* codes, const double* factors
    ) noexcept nogil:
        """Multiply the weights by factors by group and value of a ranker."""
        cdef:
            const Outputs* out = &side.leaves[self.leaf_of[j]]
            Py_ssize_t k = out.feature[self.place[j]], width = self.groups.width
        if out.is_wide[k]:
            multiply_cells(wide_word(out, k), self.groups.by_word, codes, factors, side.n, width, side.weights)
        else:
            multiply_cells(narrow_word(out, k), self.groups.by_word, codes, factors, side.n, width, side.weights)

    cdef bint multiply_grouped(self, Py_ssize_t j, double step) noexcept nogil:
        """Multiply the weights by factors by group and value; returns False where a group is too light."""
        cdef:
            double* now = self.now
            Groups* groups = &self.groups
            double change[2]
            const double* of_v = NULL
            const Outputs* out = &self.pos.leaves[self.leaf_of[j]]
            Py_ssize_t k = out.feature[self.place[j]], levels = out.cells[k + 1] - out.cells[k], c
        if self.v != NULL:
            of_v = groups.v
            self.add_cells(&self.neg, j, groups.neg.codes, self.v, groups.v)
        if not move_groups(
            groups.u, groups.w, of_v, groups.values, groups.n, groups.width, self.p, step, self.limits.light,
            groups.tilts, groups.share, self.share_at_one, change,
        ):
            return False
        self.times_cells(&self.pos, j, groups.pos.codes, groups.u)
        self.times_cells(&self.neg, j, groups.neg.codes, groups.w)
        if self.v != NULL:
            for c in range(levels):
                self.of_v[c] = groups.tilts[2 * groups.width + groups.by_code[c]]
            self.times(&self.neg, j, self.of_v, levels, self.v)
        now[LOG_F] += change[0]
        now[LOG_MASS] += change[1]
        now[MULTIPLIED] += 1.0
        self.tallied = groups.pos.weighed = groups.neg.weighed = False
        return True

    cdef void find_edges(self) noexcept nogil:
        """Edges of all rankers, from tallies that are formed where there are none."""
        cdef:
            Py_ssize_t j, k, c
            const Outputs* out
            double* own
        if not self.tallied:
            for k in range(self.n_leaves):
                self.tally(k)
            self.tallied = True
        for c in range(self.tally_size):
            self.difference[c] = self.pos.tally[c] - self.neg.tally[c]
        for k in range(self.n_leaves):
            out = &self.pos.leaves[k]
            own = self.difference + out.first_cell
            if not out.features:
                memcpy(self.of_leaves + self.first_of_leaf[k], own, out.rankers * sizeof(double))
                continue
            for c in range(out.features):
                marginal(
                    own + out.word_first[c], out.word_size[c], out.radix[c], out.cells[c + 1] - out.cells[c],
                    self.totals + out.cells[c],
                )
            edges_of(
                self.totals, out.cells, out.features, out.feature, out.first, out.at, out.centred, out.rankers,
                self.above, self.of_leaves + self.first_of_leaf[k],
            )
        for j in range(self.n):
            self.edges[j] = self.fact(SIGN)[j] * self.of_leaves[self.first_of_leaf[self.leaf_of[j]] + self.place[j]]

    cdef void tally(self, Py_ssize_t k) noexcept nogil:
        """Tally the weights of both sides for one leaf."""
        cdef Py_ssize_t first = self.pos.leaves[k].first_cell
        tally_of(&self.crew, &self.pos.leaves[k], self.pos.weights, self.pos.tally + first, self.parts, 0, NULL)
        tally_of(&self.crew, &self.neg.leaves[k], self.neg.weights, self.neg.tally + first, self.parts, 0, NULL)

    cdef Py_ssize_t chosen(self, int kind, const double* least) noexcept nogil:
        """Return the ranker that a rule chooses: of those that tie, the first. -1 where no edge is left."""
        cdef:
            Py_ssize_t j
            double edge, best, sign, tied
        for j in range(self.n):
            edge = self.edges[j]
            if edge != edge:
                return -1
            if fabs(edge) <= least[j]:
                edge = 0.0
            self.merit[j] = fabs(edge) if kind == 0 else edge
            if self.signed and self.lam[j] == 0.0 and self.fact(COEFFICIENT_SIGN)[j] * edge < 0.0:
                self.merit[j] = -INFINITY
        j = largest_of(self.merit, self.n)
        best = self.merit[j]
        if not (best > 0.0 or (kind == 2 and -INFINITY < best < 0.0)):
            return -1
        sign = copysign(1.0, best)
        tied = best - self.limits.tie * self.fact(SIZE)[j]
        for j in range(self.n):
            if self.merit[j] >= tied and sign * self.merit[j] > 0.0:
                return j
        return -1

    cdef Line line(self, Py_ssize_t j, double sign) noexcept nogil:
        """The line along a ranker, without its sides."""
        cdef:
            Line line
            int exponent
            double shift = self.fact(SHIFT)[j]
            double pos_low = self.pos.low[j] - shift, pos_high = self.pos.high[j] - shift
            double neg_low = self.neg.low[j] - shift, neg_high = self.neg.high[j] - shift
        line.p, line.sign = self.p, sign
        line.span = fmax(pos_high, neg_high) - fmin(pos_low, neg_low)
        line.largest = fmax(fmax(pos_high, neg_high), -fmin(pos_low, neg_low))
        frexp(line.largest, &exponent)
        line.size = ldexp(1.0, min(max(exponent, -1000), 1000))
        line.groups, line.crew = NULL, &self.crew
        if self.groups.n:
            line.groups = &self.groups
            line.width = self.p * ((pos_high - pos_low) + (neg_high - neg_low))
        else:
            line.width = fmax(pos_high - pos_low, self.p * (neg_high - neg_low))
        return line

    cdef double step_by_row(self, Py_ssize_t j, double sign) noexcept nogil:
        """The step along a ranker from its outputs on all rows."""
        cdef Line line = self.line(j, sign)
        self.columns(j)
        if not self.binary[j]:
            self.binary[j] = 1 + (self.takes_two(&self.pos, j) and self.takes_two(&self.neg, j))
        if self.binary[j] == 2:
            return 0.0
        line.pos, line.neg = side_of(&self.pos), side_of(&self.neg)
        line.pos_block, line.neg_block = self.pos.block, self.neg.block
        line.u, line.w = self.pos.weights, self.neg.weights
        return root(&line, &self.limits)

    cdef void columns(self, Py_ssize_t j) noexcept nogil:
        """Fill in the outputs of a ranker, centred; those of groups as well, group by group."""
        self.column(&self.pos, j)
        self.column(&self.neg, j)
        sort_rows(&self.groups.pos, self.pos.h, self.pos.n, self.groups.pos.h)
        sort_rows(&self.groups.neg, self.neg.h, self.neg.n, self.groups.neg.h)

    cdef void column(self, Rows* side, Py_ssize_t j) noexcept nogil:
        cdef:
            Pass task = pass_over(side)
            const Outputs* out = &side.leaves[self.leaf_of[j]]
            Py_ssize_t levels
        task.out, task.place, task.h, task.of_word = out, self.place[j], side.h, self.of_word
        task.sign, task.shift = self.fact(SIGN)[j], self.fact(LEAF_SHIFT)[j]
        if out.features:
            levels = values_of(out, task.place, task.sign, task.shift, self.by_code)
            by_word(out, out.feature[task.place], self.by_code, levels, self.of_word)
        do_blocks(&self.crew, column_block, &task, blocks_of(&task))

    cdef bint takes_two(self, const Rows* side, Py_ssize_t j) noexcept nogil:
        """Whether the outputs of a ranker on one side are its extremes only."""
        cdef:
            double shift = self.fact(SHIFT)[j]
            double low = fmin(self.pos.low[j], self.neg.low[j]) - shift
            double high = fmax(self.pos.high[j], self.neg.high[j]) - shift
            Py_ssize_t r
        for r in range(side.n):
            if side.h[r] != low and side.h[r] != high:
                return False
        return True

    cdef double step_by_code(self, Py_ssize_t j, double sign) noexcept nogil:
        """The step along a ranker from sums of the weights by its code; zero where some are too light."""
        cdef:
            Line line = self.line(j, sign)
            const Outputs* out = &self.pos.leaves[self.leaf_of[j]]
            Py_ssize_t place = self.place[j], k = out.feature[place], levels, c
            double shift = self.fact(SHIFT)[j], step, low, high
            double two[2][2]
            bint binary = True
        levels = values_of(out, place, self.fact(SIGN)[j], self.fact(LEAF_SHIFT)[j], self.by_code)
        self.mass(&self.pos, j, self.masses[0])
        self.mass(&self.neg, j, self.masses[1])
        low = fmin(self.pos.low[j], self.neg.low[j]) - shift
        high = fmax(self.pos.high[j], self.neg.high[j]) - shift
        two[0][0] = two[0][1] = two[1][0] = two[1][1] = 0.0
        for c in range(levels):
            if out.counts[out.cells[k] + c] > 0.0 or self.neg.leaves[self.leaf_of[j]].counts[out.cells[k] + c] > 0.0:
                if self.by_code[c] != low and self.by_code[c] != high:
                    binary = False
                    break
                two[0][self.by_code[c] == high] += self.masses[0][c]
                two[1][self.by_code[c] == high] += self.masses[1][c]
        if binary:
            if fmin(fmin(two[0][0], two[0][1]), fmin(two[1][0], two[1][1])) <= self.limits.light:
                return 0.0
            step = (log(two[0][1]) - log(two[0][0])) + (log(two[1][0]) - log(two[1][1]))
            step /= (self.p + 1.0) * line.span
            return step if step * sign > 0.0 else 0.0
        if not self.condense(&self.pos, j, 0, levels, &line.pos) or not self.condense(
            &self.neg, j, 1, levels, &line.neg
        ):
            return 0.0
        line.pos_block, line.neg_block = self.block_of(line.pos.size), self.block_of(line.neg.size)
        line.u, line.w = self.weights[0], self.weights[1]
        return root(&line, &self.limits)

    cdef void mass(self, const Rows* side, Py_ssize_t j, double* masses) noexcept nogil:
        """Sums of the weights by the code of a ranker."""
        cdef:
            const Outputs* out = &side.leaves[self.leaf_of[j]]
            Py_ssize_t k = out.feature[self.place[j]]
        marginal(
            side.tally + out.first_cell + out.word_first[k], out.word_size[k], out.radix[k],
            out.cells[k + 1] - out.cells[k], masses,
        )

    cdef bint condense(self, const Rows* side, Py_ssize_t j, int number, Py_ssize_t levels, Side* out) noexcept nogil:
        """One row for each code that has rows; returns False where some are too light."""
        cdef:
            const Outputs* leaf = &side.leaves[self.leaf_of[j]]
            const double* counts = leaf.counts + leaf.cells[leaf.feature[self.place[j]]]
            Py_ssize_t c, n = 0
        for c in range(levels):
            if counts[c] > 0.0:
                if self.masses[number][c] <= self.limits.light:
                    return False
                self.values[number][n] = self.by_code[c]
                self.weights[number][n] = self.masses[number][c]
                self.logs[number][n] = self.masses[number][c]
                n += 1
        pnorm_log(self.logs[number], n)
        out.f, out.h, out.log_c, out.size, out.scale = (
            self.zeros, self.values[number], self.logs[number], n, side.scale
        )
        return True

    cdef bint move(self, Py_ssize_t j, double step) noexcept nogil:
        """Change scores and weights; returns False, with nothing changed, where scores are to be formed anew."""
        cdef:
            double* now = self.now
            double shift = self.fact(SHIFT)[j], size = 0.0, low, high
            bint coded = self.pos.leaves[self.leaf_of[j]].features > 0, weighs
            Py_ssize_t r
        low, high = fmin(self.pos.low[j], self.neg.low[j]), fmax(self.pos.high[j], self.neg.high[j])
        low = now[CHANGED] + self.p * fabs(step) * (high - low)
        weighs = low > self.limits.exponents or now[MULTIPLIED] == self.limits.rounds
        if not coded and not self.groups.n:
            weighs = weighs or not self.is_near(j, step)
        if self.pos.f != NULL:
            for r in range(self.n):
                self.merit[r] = fabs(self.lam[r])
            size = inner_of(self.merit, self.fact(LARGEST), self.n)
            if self.limits.shrunk * size < now[WIDEST]:
                return False
        if self.groups.n:
            weighs = weighs or not self.groups.width or not self.multiply_grouped(j, step)
        if self.pos.f != NULL:
            if coded and not (self.groups.n and not self.groups.width):
                self.columns(j)
            self.advance(&self.pos, self.groups.pos.h if self.groups.n else self.pos.h, step)
            self.advance(&self.neg, self.groups.neg.h if self.groups.n else self.neg.h, step)
            now[LEVEL] += step * shift
            now[WIDEST] = fmax(now[WIDEST], size)
        elif weighs:
            return False
        now[CHANGED] = low
        if weighs:
            self.weigh()
        elif coded and not self.groups.n:
            self.multiply(j, step)
        elif not self.groups.n:
            self.tilt(j, step)
        return True

    cdef void advance(self, Rows* side, const double* h, double step) noexcept nogil:
        cdef Pass task = pass_over(side)
        task.h, task.weights, task.rate = <double*>h, side.f, step
        do_blocks(&self.crew, advance_block, &task, blocks_of(&task))

    cdef bint is_near(self, Py_ssize_t j, double step) noexcept nogil:
        """Whether a step is so short that the weights are multiplied by exponentials of it."""
        return (self.v != NULL or self.p == 1.0) and self.p * fabs(step) * self.fact(MAX_ABS)[j] <= self.limits.near

    cdef void weigh(self) noexcept nogil:
        """Form the weights from the scores."""
        cdef:
            double* now = self.now
            Side pos = side_of(&self.pos), neg = side_of(&self.neg)
            double log_u, log_w, log_v
        now[MULTIPLIED] = now[CHANGED] = 0.0
        now[V_TOTAL] = 1.0
        self.tallied = False
        if self.groups.n:
            self.weigh_grouped()
            return
        log_u = weigh(&self.crew, &pos, self.pos.block, self.pos.weights)
        log_v = log_w = weigh(&self.crew, &neg, self.neg.block, self.neg.weights)
        if self.p != 1.0:
            neg.scale = 1.0
            log_v = weigh(&self.crew, &neg, self.neg.block, self.v)
        now[LOG_F], now[LOG_MASS] = self.p * log_u + log_w, log_u + log_v
        now[INTERCEPT] = (log_u - log_w) / (self.p + 1.0) - now[LEVEL]
        now[INTERCEPT] -= inner_of(self.lam, self.fact(OFFSET), self.n) if self.centred else 0.0

    cdef void weigh_grouped(self) noexcept nogil:
        """Do as `PNorm._evaluate_groups` does."""
        cdef:
            Groups* groups = &self.groups
            Side neg = side_of(&self.neg)
            double* logs = groups.level
            Py_ssize_t g
        weigh_run(&groups.pos, groups.n, side_of(&self.pos), -1.0)
        weigh_run(&groups.neg, groups.n, neg, 1.0)
        for g in range(groups.n):
            logs[g] = groups.pos.sums[g] + groups.neg.sums[g]
        self.now[LOG_MASS] = softmax_of(logs, groups.n, self.share_at_one)
        if self.v != NULL and groups.neg.order == NULL:
            memcpy(self.v, groups.neg.weights, self.neg.n * sizeof(double))
        elif self.v != NULL:
            unsort_rows(&groups.neg, groups.neg.weights, self.neg.n, self.v)
        if self.p != 1.0:
            weigh_run(&groups.neg, groups.n, neg, self.p)
        for g in range(groups.n):
            logs[g] = self.p * groups.pos.sums[g] + groups.neg.sums[g]
        self.now[LOG_F] = softmax_of(logs, groups.n, groups.share)
        self.now[INTERCEPT] = NAN
        share_out(&groups.pos, groups.share, groups.n, self.pos.n, self.pos.weights)
        share_out(&groups.neg, groups.share, groups.n, self.neg.n, self.neg.weights)

    cdef void multiply(self, Py_ssize_t j, double step) noexcept nogil:
        """Multiply the weights by factors by the code of a ranker."""
        cdef:
            double* now = self.now
            Py_ssize_t leaf = self.leaf_of[j], k
            const Outputs* out = &self.pos.leaves[leaf]
            double top, scaled, total, log_u, log_w, log_v
            Py_ssize_t levels = values_of(
                out, self.place[j], self.fact(SIGN)[j], self.fact(LEAF_SHIFT)[j], self.by_code
            )
        self.mass(&self.pos, j, self.masses[0])
        self.mass(&self.neg, j, self.masses[1])
        top = weigh_codes(self.masses[0], self.by_code, levels, -step, self.factors[0], &scaled, &total)
        log_u = top + (log(scaled) - log(total))
        divide(self.factors[0], levels, scaled)
        top = weigh_codes(self.masses[1], self.by_code, levels, self.p * step, self.factors[1], &scaled, &total)
        log_w = log_v = top + (log(scaled) - log(total))
        divide(self.factors[1], levels, scaled)
        self.times(&self.pos, j, self.factors[0], levels, self.pos.weights)
        self.times(&self.neg, j, self.factors[1], levels, self.neg.weights)
        if self.v != NULL:
            top = weigh_codes(self.masses[1], self.by_code, levels, step, self.of_v, &scaled, &total)
            total = self.times(&self.neg, j, self.of_v, levels, self.v)
            log_v = top + (log(total) - log(now[V_TOTAL]))
            now[V_TOTAL] = total
        self.retally(&self.pos, j, self.factors[0], levels)
        self.retally(&self.neg, j, self.factors[1], levels)
        for k in range(self.n_leaves):
            if k != leaf:
                self.tally(k)
        self.add_logs(j, step, log_u, log_w, log_v)

    cdef void tilt(self, Py_ssize_t j, double step) noexcept nogil:
        """Multiply the weights by exponentials of a short step along a ranker."""
        cdef:
            double log_u = self.tilt_side(&self.pos, -step), log_w = self.tilt_side(&self.neg, self.p * step)
            double log_v = log_w, total
        if self.v != NULL:
            total = self.tilted(&self.neg, step, self.v)
            log_v = log(total) - log(self.now[V_TOTAL])
            self.now[V_TOTAL] = total
        self.tallied = False
        self.add_logs(j, step, log_u, log_w, log_v)

    cdef void add_logs(self, Py_ssize_t j, double step, double log_u, double log_w, double log_v) noexcept nogil:
        """Add the logs of the total factors of the weights and of v after a step."""
        cdef double* now = self.now
        now[MULTIPLIED] += 1.0
        now[LOG_F] += self.p * log_u + log_w
        now[INTERCEPT] += (log_u - log_w) / (self.p + 1.0) - step * (self.fact(SHIFT)[j] + self.fact(OFFSET)[j])
        now[LOG_MASS] += log_u + log_v

    cdef double times(
        self, const Rows* side, Py_ssize_t j, const double* factors, Py_ssize_t levels, double* weights
    ) noexcept nogil:
        """Multiply weights by the factors of the codes of a ranker; returns their sum."""
        cdef:
            Pass task = pass_over(side)
            const Outputs* out = &side.leaves[self.leaf_of[j]]
        task.out, task.place, task.of_word, task.weights = out, self.place[j], self.of_word, weights
        by_word(out, out.feature[task.place], factors, levels, self.of_word)
        return sum_over(&self.crew, times_block, &task)

    cdef double tilted(self, const Rows* rows, double rate, double* weights) noexcept nogil:
        """weights *= exp(rate * h); returns their sum."""
        cdef Pass task = pass_over(rows)
        task.weights, task.rate = weights, rate
        return sum_over(&self.crew, tilt_block, &task)

    cdef double tilt_side(self, Rows* rows, double rate) noexcept nogil:
        """Multiply the weights of a side so, and divide them by their sum; returns the log of that sum."""
        cdef:
            Pass task = pass_over(rows)
            double total = self.tilted(rows, rate, rows.weights)
        task.weights = rows.weights
        for b in range(blocks_of(&task)):
            task.tops[b] = 1.0 / total
        do_blocks(&self.crew, scale_block, &task, blocks_of(&task))
        return log(total)

    cdef void retally(self, const Rows* side, Py_ssize_t j, const double* factors, Py_ssize_t levels) noexcept nogil:
        """Tally the weights after they were multiplied, from the rows with the largest factor if these are few."""
        cdef:
            const Outputs* out = &side.leaves[self.leaf_of[j]]
            Py_ssize_t k = out.feature[self.place[j]], c
            const double* counts = out.counts + out.cells[k]
            double* tally = side.tally + out.first_cell
            double* more = self.difference
            double low = INFINITY, high = -INFINITY, rows = 0.0
            bint whole = False
        for c in range(levels):
            low, high = fmin(low, factors[c]), fmax(high, factors[c])
        for c in range(levels):
            if factors[c] == high:
                rows += counts[c]
            elif factors[c] != low and counts[c] > 0.0:
                whole = True
        if whole or rows > self.limits.chosen * side.n:
            tally_of(&self.crew, out, side.weights, tally, self.parts, 0, NULL)
            return
        for c in range(out.word_size[k]):
            self.wanted[c] = factors[c // out.radix[k] % levels] == high
        tally_of(&self.crew, out, side.weights, more, self.parts, k, self.wanted)
        for c in range(out.tally_size):
            tally[c] = low * tally[c] + (1.0 - low / high) * more[c]


cdef Side side_of(const Rows* rows) noexcept nogil:
    cdef Side side
    side.f, side.h, side.log_c, side.size, side.scale = rows.f, rows.h, rows.log_c, rows.n, rows.scale
    return side


cdef Pass pass_over(const Rows* rows) noexcept nogil:
    cdef Pass task
    task.side, task.block = side_of(rows), rows.block
    return task


cdef double sum_over(Crew* crew, Work work, Pass* task) noexcept nogil:
    """Sum of what the blocks of a pass give."""
    cdef:
        double total = 0.0
        Py_ssize_t b
    do_blocks(crew, work, task, blocks_of(task))
    for b in range(blocks_of(task)):
        total += task.totals[b]
    return total


cdef void column_block(void* task, Py_ssize_t b, Py_ssize_t thread) noexcept nogil:
    cdef:
        Pass* own = <Pass*>task
        Py_ssize_t start = b * own.block, stop = start + rows_of(own, b)
    if own.out.features:
        look_up(own.out, own.out.feature[own.place], own.of_word, start, stop, own.h)
    else:
        read_column(own.out, own.place, own.sign, own.shift, start, stop, own.h)


cdef void advance_block(void* task, Py_ssize_t b, Py_ssize_t thread) noexcept nogil:
    cdef Pass* own = <Pass*>task
    advance_scores(own.weights + b * own.block, own.h + b * own.block, own.rate, rows_of(own, b))


cdef void tilt_block(void* task, Py_ssize_t b, Py_ssize_t thread) noexcept nogil:
    cdef:
        Pass* own = <Pass*>task
        Py_ssize_t start = b * own.block
    own.totals[b] = tilt_near(own.weights + start, own.side.h + start, own.rate, rows_of(own, b))


cdef void times_block(void* task, Py_ssize_t b, Py_ssize_t thread) noexcept nogil:
    cdef:
        Pass* own = <Pass*>task
        const Outputs* out = own.out
        Py_ssize_t k = out.feature[own.place], start = b * own.block, size = rows_of(own, b)
    if out.is_wide[k]:
        own.totals[b] = multiply_rows(wide_word(out, k) + start, own.of_word, size, own.weights + start)
    else:
        own.totals[b] = multiply_rows(narrow_word(out, k) + start, own.of_word, size, own.weights + start)


cdef void divide(double* values, Py_ssize_t n, double total) noexcept nogil:
    cdef Py_ssize_t c
    for c in range(n):
        values[c] /= total


cdef void* allocated(Py_ssize_t n, Py_ssize_t size) except NULL:
    """Memory for n things, zeroed."""
    cdef void* found = calloc(max(n, 1), size)
    if found == NULL:
        raise MemoryError
    return found
