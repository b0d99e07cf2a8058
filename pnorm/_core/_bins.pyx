"""Outputs that take few values: codes per row, and what is asked of them.

A *word* holds one feature's code of a row, or the codes of several features with few levels in
mixed radix. All rows' words of one kind lie in an array (words, rows), so that a pass reads one
word of many rows after the other.

(a) from values to codes: distinct values, and the number of cuts below a value
(b) sums of weights by code, the one pass of a round: step (a) of Figure 1 of the COLT paper is a function of them
(c) tables by code, read for every row: scores f = H lambda, and the factors by which step (c) changes the weights
(d) from sums by code to the edges of step (a)
(e) sums and tables by code of features that are kept as the rows where they are not zero
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy, memset

ctypedef fused real_t:
    float
    double

cdef enum:
    ROWS = 256     # rows coded at a time: their values, and where their search stands, stay in the first cache
    SLOTS = 2048   # of the table of distinct values
    SHORT = 1024   # rows to which the tables of all words are added: their sums stay in the first cache
    LANES = 4
    FEW = 8        # terms of a ranker that it does not take all codes to know
    PAD = 24       # tables an exact number of pages apart would make loads wait for unrelated stores


# (a) ---------------------------------------------------------------------------------------------

def distinct(const real_t[:, :] A, double[:, ::1] values, Py_ssize_t[::1] counts):
    """Add the distinct values of every column to those in its row of values, in no order; counts says how many.

    Where they do not fit, the count is one more than there is room for, and the row stays as it was. A hash table that
    gives up early: a column of measurements is known for one after a few hundred rows.

    In: A. Changed: values, counts.
    """
    cdef:
        double table[SLOTS]
        uint8_t used[SLOTS]
        Py_ssize_t limit = values.shape[1], column, known, k, r, slot
    with nogil:
        for column in range(A.shape[1]):
            if counts[column] > limit:
                continue
            memset(used, 0, sizeof(used))
            known = 0
            for k in range(counts[column]):
                known += entered(values[column, k], table, used)
            for r in range(A.shape[0]):
                known += entered(<double>A[r, column] + 0.0, table, used)  # -0.0 is 0.0
                if known > limit:
                    break
            counts[column] = known
            if known > limit:
                continue
            k = 0
            for slot in range(SLOTS):
                if used[slot]:
                    values[column, k] = table[slot]
                    k += 1


cdef inline bint entered(double x, double* table, uint8_t* used) noexcept nogil:
    """Enter a value into a hash table; returns whether it was not there."""
    cdef:
        uint64_t bits
        Py_ssize_t slot
    memcpy(&bits, &x, 8)
    slot = <Py_ssize_t>((bits * <uint64_t>0x9E3779B97F4A7C15) >> 53)
    while used[slot] and table[slot] != x:
        slot = (slot + 1) % SLOTS
    if used[slot]:
        return False
    used[slot] = 1
    table[slot] = x
    return True


cdef void count_below(
    const real_t* x, const double* cuts, Py_ssize_t half, int32_t* below
) noexcept nogil:
    """below = number of cuts < x, for ROWS values at once; none for NaN.

    A binary search without branches in 2 * half - 1 sorted cuts, the last of which may be infinite.
    """
    cdef:
        Py_ssize_t r
        Py_ssize_t step = half
    for r in range(ROWS):
        below[r] = 0
    while step > 0:
        for r in range(ROWS):
            below[r] += <int32_t>step if cuts[below[r] + step - 1] < x[r] else 0
        step //= 2


def encode(
    const real_t[:, :] A, Py_ssize_t start, Py_ssize_t stop, const Py_ssize_t[::1] columns,
    const Py_ssize_t[::1] first, const double[::1] cuts, const Py_ssize_t[::1] words,
    const Py_ssize_t[::1] radix, code_t[:, ::1] out,
):
    """Add radix times the code of every feature to its word, on rows start:stop.

    Feature k counts the cuts[first[k]:first[k + 1]] below column columns[k]; their number is one
    less than a power of two.

    In: A, start, stop, columns, first, cuts, words, radix. Changed: out.
    """
    cdef:
        real_t x[ROWS]
        int32_t below[ROWS]
        Py_ssize_t features = columns.shape[0], begin = start, m, k, r, column
        Py_ssize_t down = A.strides[0] // <Py_ssize_t>sizeof(real_t), right = A.strides[1] // <Py_ssize_t>sizeof(real_t)
        const real_t* values
        code_t* codes
    with nogil:
        while begin < stop:
            m = min(<Py_ssize_t>ROWS, stop - begin)
            for k in range(features):
                column = columns[k]
                values = &A[0, 0] + begin * down + column * right
                for r in range(m):
                    x[r] = values[r * down]
                for r in range(m, ROWS):
                    x[r] = 0.0
                count_below(x, &cuts[first[k]], (first[k + 1] - first[k] + 1) // 2, below)
                codes = &out[words[k], begin]
                for r in range(m):
                    codes[r] += <code_t>(below[r] * radix[k])
            begin += ROWS


# (b) ---------------------------------------------------------------------------------------------

cdef inline void clear(double* lanes, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        lanes[k] = 0.0


cdef inline void add_lanes(const double* lanes, Py_ssize_t lane, Py_ssize_t m, double* out) noexcept nogil:
    """out = sum of four tables."""
    cdef Py_ssize_t k
    for k in range(m):
        out[k] = (lanes[k] + lanes[lane + k]) + (lanes[2 * lane + k] + lanes[3 * lane + k])


cdef inline void add_row(
    const code_t* a, const code_t* b, const int32_t* rows, const double* weights, Py_ssize_t r, double* tables,
    Py_ssize_t lane,
) noexcept nogil:
    """Add the weight of row r, or of the r-th of some rows, to a table of each word."""
    cdef Py_ssize_t i = r if rows == NULL else rows[r]
    tables[a[i]] += weights[r]
    tables[LANES * lane + b[i]] += weights[r]


cdef inline void add_by_code(
    const code_t* a, const code_t* b, const int32_t* rows, const double* weights, Py_ssize_t n,
    double* lanes, Py_ssize_t lane,
) noexcept nogil:
    """Add weights to the sums by code of two words.

    Each has four tables, which take turns: one alone would wait for itself where a code repeats.
    """
    cdef Py_ssize_t r = 0
    while r + 3 < n:
        add_row(a, b, rows, weights, r, lanes, lane)
        add_row(a, b, rows, weights, r + 1, lanes + lane, lane)
        add_row(a, b, rows, weights, r + 2, lanes + 2 * lane, lane)
        add_row(a, b, rows, weights, r + 3, lanes + 3 * lane, lane)
        r += 4
    while r < n:
        add_row(a, b, rows, weights, r, lanes, lane)
        r += 1


def sums_by_code(
    const code_t[:, ::1] codes, const double[::1] weights, Py_ssize_t start, Py_ssize_t stop,
    const int32_t[::1] rows, const Py_ssize_t[::1] first, double[::1] sums, double[::1] scratch,
):
    """sums[first[w]:first[w + 1]] = sums of weights by the codes of word w, on rows start:stop.

    With `rows` not None, on those rows, counted from `start`, to which the first weights belong.
    Two words at a time, so that weights are read once for both. Measured per word and row: 0.4 ns
    for 256 codes, even or with nine of ten rows at one (one word at a time: 0.45 and 0.8 ns; with
    one table, 2.9 ns), 0.64 ns for 4096.

    In: codes, weights, start, stop, rows, first. Out: sums. Scratch: scratch.
    """
    cdef:
        const code_t* at = &codes[0, start]
        const int32_t* some = NULL
        const double* of_rows
        Py_ssize_t n
    if rows is None:
        of_rows, n = &weights[start], stop - start
    else:
        some, of_rows, n = &rows[0], &weights[0], rows.shape[0]
    with nogil:
        sums_of_words(at, codes.shape[1], codes.shape[0], of_rows, n, some, &first[0], &sums[0], &scratch[0])


cdef void sums_of_words(
    const code_t* codes, Py_ssize_t across, Py_ssize_t words, const double* weights, Py_ssize_t n, const int32_t* rows,
    const Py_ssize_t* first, double* sums, double* lanes,
) noexcept nogil:
    """Do as `sums_by_code` does, from the codes of the first row on; those of the next word are so many further on."""
    cdef Py_ssize_t w = 0, next_, last = words - 1, lane
    while w <= last:
        next_ = min(w + 1, last)  # the last of an odd number is added up twice
        lane = (max(first[w + 1] - first[w], first[next_ + 1] - first[next_]) + 7) // 8 * 8 + PAD
        clear(lanes, 2 * LANES * lane)
        add_by_code(codes + w * across, codes + next_ * across, rows, weights, n, lanes, lane)
        add_lanes(lanes, lane, first[w + 1] - first[w], &sums[first[w]])
        add_lanes(lanes + LANES * lane, lane, first[next_ + 1] - first[next_], &sums[first[next_]])
        w += 2


def scratch_size(Py_ssize_t largest):
    """Return the number of doubles that `sums_by_code` needs as scratch for words of so many codes.

    In: largest.
    """
    return 2 * LANES * ((largest + 7) // 8 * 8 + PAD)


def choose(
    const code_t[::1] codes, const uint8_t[::1] wanted, const double[::1] weights, Py_ssize_t start, Py_ssize_t stop,
    int32_t[::1] rows, double[::1] of_rows,
):
    """Fill in the rows start:stop whose code is wanted, counted from start, and their weights; return their number.

    Both need room for all rows.

    In: codes, wanted, weights, start, stop. Out: rows, of_rows.
    """
    cdef Py_ssize_t n
    with nogil:
        n = choose_rows(&codes[start], &wanted[0], &weights[start], stop - start, &rows[0], &of_rows[0])
    return n


cdef Py_ssize_t choose_rows(
    const code_t* codes, const uint8_t* wanted, const double* weights, Py_ssize_t size, int32_t* rows, double* of_rows,
) noexcept nogil:
    """Do as `choose` does, from the code and the weight of the first row on."""
    cdef Py_ssize_t r, n = 0
    for r in range(size):
        rows[n] = <int32_t>r
        of_rows[n] = weights[r]
        n += wanted[codes[r]]
    return n


def sums_by_pair(
    const code_t[::1] a, const code_t[::1] b, const double[::1] weights, Py_ssize_t start, Py_ssize_t stop,
    double[:, ::1] sums,
):
    """sums[i, j] += sum of weights where a is i and b is j, on rows start:stop.

    In: a, b, weights, start, stop. Changed: sums.
    """
    cdef:
        Py_ssize_t r, width = sums.shape[1]
        double* table = &sums[0, 0]
    with nogil:
        for r in range(start, stop):
            table[a[r] * width + b[r]] += weights[r]


cdef void add_by_group(
    const code_t* codes, const Py_ssize_t* place, const double* weights, const Py_ssize_t* groups, Py_ssize_t n,
    Py_ssize_t width, double* sums,
) noexcept nogil:
    """sums[g, c] += sum of weights where the group is g and the place of the code is c."""
    cdef Py_ssize_t r
    for r in range(n):
        sums[groups[r] * width + place[codes[r]]] += weights[r]


# (c) ---------------------------------------------------------------------------------------------

def look_up(const code_t[::1] codes, const double[::1] table, Py_ssize_t start, Py_ssize_t stop, double[::1] out):
    """out = table[codes] on rows start:stop.

    In: codes, table, start, stop. Out: out.
    """
    cdef Py_ssize_t r
    with nogil:
        for r in range(start, stop):
            out[r] = table[codes[r]]


def scores_by_code(
    const double[::1] lam, const Py_ssize_t[::1] feature, const Py_ssize_t[::1] first, const Py_ssize_t[::1] at,
    const double[::1] terms, const Py_ssize_t[::1] cells, double[::1] above, double[::1] out,
):
    """out[cells[k] + c] = sum of lam times the values at code c of the rankers of feature k, from their terms.

    In: lam, feature, first, at, terms, cells. Out: out. Scratch: above.
    """
    cdef:
        Py_ssize_t j, k, t, c, base, levels
        double total
    with nogil:
        clear(&above[0], above.shape[0])
        clear(&out[0], out.shape[0])
        for j in range(lam.shape[0]):
            if lam[j] == 0.0:
                continue
            base = cells[feature[j]]
            levels = cells[feature[j] + 1] - base
            for t in range(first[j], first[j + 1]):
                c = at[t]
                if c < levels:
                    out[base + c] += lam[j] * terms[t]
                else:
                    above[base + c - levels] += lam[j] * terms[t]
        for k in range(cells.shape[0] - 1):
            total = 0.0
            for c in range(cells[k], cells[k + 1]):
                total += above[c]
                out[c] += total


def tables_of_words(
    const double[::1] of_features, const Py_ssize_t[::1] cells, const Py_ssize_t[::1] first,
    const Py_ssize_t[::1] size, const Py_ssize_t[::1] radix, double[::1] out,
):
    """Tables by the code of every word, the sums of those by the codes of its features: `marginals` turned round.

    In: of_features, cells, first, size, radix. Out: out.
    """
    cdef:
        Py_ssize_t k, code, level, low, levels
        const double* own
        double* table
    with nogil:
        clear(&out[0], out.shape[0])
        for k in range(first.shape[0]):
            levels = cells[k + 1] - cells[k]
            own = &of_features[cells[k]]
            table = &out[first[k]]
            code = 0
            while code < size[k]:
                for level in range(levels):
                    for low in range(radix[k]):
                        table[code + low] += own[level]
                    code += radix[k]


def add_looked_up(const code_t[::1] codes, const double[::1] table, Py_ssize_t start, Py_ssize_t stop, double[::1] out):
    """out += table[codes] on rows start:stop.

    In: codes, table, start, stop. Changed: out.
    """
    cdef Py_ssize_t r
    with nogil:
        for r in range(start, stop):
            out[r] += table[codes[r]]


def add_words(
    const code_t[:, ::1] codes, const Py_ssize_t[::1] words, const Py_ssize_t[::1] first, const double[::1] tables,
    Py_ssize_t start, Py_ssize_t stop, double[::1] out,
):
    """out += the tables of some words, that of word w from tables[first[w]] on, at their codes, on rows start:stop.

    In: codes, words, first, tables, start, stop. Changed: out.
    """
    cdef:
        const code_t* a
        const double* table
        double* f = &out[0]
        Py_ssize_t begin = start, end, k, r
    with nogil:
        while begin < stop:
            end = min(begin + SHORT, stop)
            for k in range(words.shape[0]):
                a = &codes[words[k], 0]
                table = &tables[first[words[k]]]
                for r in range(begin, end):
                    f[r] += table[a[r]]
            begin = end


def multiply_looked_up(
    const code_t[::1] codes, const double[::1] table, Py_ssize_t start, Py_ssize_t stop, double[::1] weights
):
    """weights *= table[codes] on rows start:stop; return their sum.

    In: codes, table, start, stop. Changed: weights.
    """
    cdef double total
    with nogil:
        total = multiply_rows(&codes[start], &table[0], stop - start, &weights[start])
    return total


cdef double multiply_rows(const code_t* codes, const double* table, Py_ssize_t n, double* weights) noexcept nogil:
    """Do as `multiply_looked_up` does, from the code and the weight of the first row on."""
    cdef:
        double a = 0.0, b = 0.0, c = 0.0, d = 0.0
        Py_ssize_t r = 0
    while r + 3 < n:
        weights[r] *= table[codes[r]]
        weights[r + 1] *= table[codes[r + 1]]
        weights[r + 2] *= table[codes[r + 2]]
        weights[r + 3] *= table[codes[r + 3]]
        a += weights[r]
        b += weights[r + 1]
        c += weights[r + 2]
        d += weights[r + 3]
        r += 4
    while r < n:
        weights[r] *= table[codes[r]]
        a += weights[r]
        r += 1
    return (a + b) + (c + d)


cdef void multiply_cells(
    const code_t* codes, const Py_ssize_t* place, const Py_ssize_t* groups, const double* factors, Py_ssize_t n,
    Py_ssize_t width, double* weights,
) noexcept nogil:
    """weights *= factors[g, c] where the group is g and the place of the code is c."""
    cdef Py_ssize_t r
    for r in range(n):
        weights[r] *= factors[groups[r] * width + place[codes[r]]]


def extract(const code_t[::1] codes, Py_ssize_t radix, Py_ssize_t levels, uint16_t[::1] out):
    """out = the code of one feature of a word.

    In: codes, radix, levels. Out: out.
    """
    cdef Py_ssize_t r
    with nogil:
        for r in range(codes.shape[0]):
            out[r] = <uint16_t>((codes[r] // radix) % levels)


# (d) ---------------------------------------------------------------------------------------------

def marginals(
    const double[::1] of_words, const Py_ssize_t[::1] first, const Py_ssize_t[::1] size, const Py_ssize_t[::1] radix,
    const Py_ssize_t[::1] cells, double[::1] of_features,
):
    """Sum by the codes of every feature, from sums by the codes of its word.

    Feature k is in the word whose size[k] codes begin at first[k], and has its own sums from cells[k].

    In: of_words, first, size, radix, cells. Out: of_features.
    """
    cdef Py_ssize_t k
    with nogil:
        for k in range(first.shape[0]):
            marginal(&of_words[first[k]], size[k], radix[k], cells[k + 1] - cells[k], &of_features[cells[k]])


cdef void marginal(
    const double* joint, Py_ssize_t size, Py_ssize_t radix, Py_ssize_t levels, double* own
) noexcept nogil:
    """Sum by the codes of one feature, from sums by the codes of its word."""
    cdef:
        Py_ssize_t code = 0, level, low
        double total
    for level in range(levels):
        own[level] = 0.0
    while code < size:
        for level in range(levels):
            total = 0.0
            for low in range(radix):
                total += joint[code + low]
            own[level] += total
            code += radix


cdef void fill_values(
    const Py_ssize_t* at, const double* terms, Py_ssize_t n, Py_ssize_t levels, double* out
) noexcept nogil:
    """Do as `values_by_code` does."""
    cdef Py_ssize_t k, c
    for c in range(levels):
        out[c] = 0.0
    for k in range(n):
        if at[k] < levels:
            out[at[k]] += terms[k]
        else:
            for c in range(at[k] - levels, levels):
                out[c] += terms[k]


def values_by_code(const Py_ssize_t[::1] at, const double[::1] terms, double[::1] out):
    """out[c] = value of a ranker at code c, from its terms.

    A term at c < levels is a value at that code alone, one at levels + c a value at c and all codes above.

    In: at, terms. Out: out.
    """
    fill_values(&at[0], &terms[0], at.shape[0], out.shape[0], &out[0])


cdef double value_at(
    const Py_ssize_t* at, const double* terms, Py_ssize_t n, Py_ssize_t levels, Py_ssize_t code
) noexcept nogil:
    """Value of a ranker at one code."""
    cdef:
        Py_ssize_t k
        double total = 0.0
    for k in range(n):
        if at[k] == code or (at[k] >= levels and at[k] - levels <= code):
            total += terms[k]
    return total


def extremes(
    const Py_ssize_t[::1] feature, const Py_ssize_t[::1] first, const Py_ssize_t[::1] at, const double[::1] terms,
    const Py_ssize_t[::1] cells, const double[::1] rows, double[::1] values, Py_ssize_t[::1] following,
    double[::1] low, double[::1] high,
):
    """low, high = least and greatest value of every ranker on the codes that have rows.

    A ranker of few terms changes its value only at their codes and next to these: it is looked up at the
    first codes with rows from there on.

    In: feature, first, at, terms, cells, rows. Out: low, high. Scratch: values, following.
    """
    cdef:
        Py_ssize_t j, k, c, base, levels, n, step, known = -1
        double value
    with nogil:
        for j in range(feature.shape[0]):
            base = cells[feature[j]]
            levels = cells[feature[j] + 1] - base
            n = first[j + 1] - first[j]
            if feature[j] != known:  # first code with rows from each code on
                known = feature[j]
                following[levels] = levels
                for c in range(levels - 1, -1, -1):
                    following[c] = c if rows[base + c] > 0.0 else following[c + 1]
            low[j] = INFINITY
            high[j] = -INFINITY
            if n > FEW:
                fill_values(&at[first[j]], &terms[first[j]], n, levels, &values[0])
                for c in range(levels):
                    if rows[base + c] > 0.0:
                        low[j] = min(low[j], values[c])
                        high[j] = max(high[j], values[c])
                continue
            for k in range(2 * n + 1):
                c = 0
                if k > 0:
                    step = at[first[j] + (k - 1) // 2]
                    c = min((step if step < levels else step - levels) + (k - 1) % 2, levels)
                c = following[c]
                if c < levels:
                    value = value_at(&at[first[j]], &terms[first[j]], n, levels, c)
                    low[j] = min(low[j], value)
                    high[j] = max(high[j], value)


def edges(
    const double[::1] sums, const Py_ssize_t[::1] cells, const Py_ssize_t[::1] feature,
    const Py_ssize_t[::1] first, const Py_ssize_t[::1] at, const double[::1] terms,
    double[::1] above, double[::1] out,
):
    """out[j] = sum over codes of sums times the value of ranker j, from its terms.

    With sums of u less sums of w, these are the edges of step (a) of Figure 1. above[cells[k] + c] becomes the
    sum over the codes of feature k from c on.

    In: sums, cells, feature, first, at, terms. Out: above, out.
    """
    with nogil:
        edges_of(
            &sums[0], &cells[0], cells.shape[0] - 1, &feature[0], &first[0], &at[0], &terms[0], feature.shape[0],
            &above[0], &out[0],
        )


cdef void edges_of(
    const double* sums, const Py_ssize_t* cells, Py_ssize_t features, const Py_ssize_t* feature,
    const Py_ssize_t* first, const Py_ssize_t* at, const double* terms, Py_ssize_t rankers, double* above, double* out,
) noexcept nogil:
    """Do as `edges` does."""
    cdef:
        Py_ssize_t j, k, t, c, base, levels
        double total
    for k in range(features):
        total = 0.0
        for c in range(cells[k + 1] - 1, cells[k] - 1, -1):
            total += sums[c]
            above[c] = total
    for j in range(rankers):
        base = cells[feature[j]]
        levels = cells[feature[j] + 1] - base
        total = 0.0
        for t in range(first[j], first[j + 1]):
            c = at[t]
            total += terms[t] * (sums[base + c] if c < levels else above[base + c - levels])
        out[j] = total


# (e) ---------------------------------------------------------------------------------------------

cdef inline void add_twofold(double x, double* total, double* rounded) noexcept nogil:
    """total + rounded += x: what the sum rounds off is kept (Knuth)."""
    cdef:
        double after = total[0] + x
        double moved = after - total[0]
    rounded[0] += (total[0] - (after - moved)) + (x - moved)
    total[0] = after


def stored_sums(
    const Py_ssize_t[::1] starts, const int32_t[::1] rows, const code_t[::1] codes, const double[::1] weights,
    Py_ssize_t begin, Py_ssize_t end, const Py_ssize_t[::1] cells, double[::1] sums, double[:, ::1] stored,
):
    """sums[cells[k] + c] = sum of weights of the rows that feature k stores with code c, for features begin:end.

    The sum over the codes is stored[k, 0], and stored[k, 1] is what it has rounded off.

    In: starts, rows, codes, weights, begin, end, cells. Out: sums, stored.
    """
    cdef:
        Py_ssize_t k, i
        double weight, total, rounded
        double* own
    with nogil:
        for k in range(begin, end):
            own = &sums[cells[k]]
            clear(own, cells[k + 1] - cells[k])
            total = rounded = 0.0
            for i in range(starts[k], starts[k + 1]):
                weight = weights[rows[i]]
                own[codes[i]] += weight
                add_twofold(weight, &total, &rounded)
            stored[k, 0] = total
            stored[k, 1] = rounded


def twofold_sum(const double[::1] weights, Py_ssize_t start, Py_ssize_t stop):
    """Return the sum of weights start:stop, and what it has rounded off.

    In: weights, start, stop.
    """
    cdef:
        double total = 0.0, rounded = 0.0
        Py_ssize_t r
    with nogil:
        for r in range(start, stop):
            add_twofold(weights[r], &total, &rounded)
    return total, rounded


def add_stored(
    const Py_ssize_t[::1] starts, const int32_t[::1] rows, const code_t[::1] codes, const Py_ssize_t[::1] features,
    const Py_ssize_t[::1] cells, const double[::1] table, double[::1] out,
):
    """out += table[cells[k] + c] on the rows that feature k stores with code c, for some features.

    In: starts, rows, codes, features, cells, table. Changed: out.
    """
    cdef:
        Py_ssize_t t, k, i
        const double* own
    with nogil:
        for t in range(features.shape[0]):
            k = features[t]
            own = &table[cells[k]]
            for i in range(starts[k], starts[k + 1]):
                out[rows[i]] += own[codes[i]]
