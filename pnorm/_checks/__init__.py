"""The front door: what users pass in is checked here, once, before any work.

One function per kind of argument. Each returns the value in the form the rest of the package
relies on, or raises `ValueError` or `TypeError` that names the argument, says what was got and
what was expected, and where it helps what to try.
"""

from pnorm._checks.arrays import (
    Array,
    Vector,
    exponents,
    folds,
    is_sparse,
    list_to_array,
    masses,
    n_rows,
    one_or_zero,
    outputs_of_callable,
    scores,
    shape_of,
    some_of,
    spans,
    summable,
    vector,
    weights,
)
from pnorm._checks.case_weights import CaseWeights, Groups, case_weights, case_weights_of, spread
from pnorm._checks.cells import column_called, level, python
from pnorm._checks.documents import DIGITS, TOO_DEEP, Fields, plain, shallow
from pnorm._checks.frames import column_names, pick, places, same_names
from pnorm._checks.functions import Vectorised, callback, convex, sampled
from pnorm._checks.grouping import distinct, groups, key, labels, lists, shared, sizes
from pnorm._checks.integers import stay_apart
from pnorm._checks.matrices import (
    Some,
    array,
    floats,
    matrix,
    no_number,
    pairs,
    rows,
    same_form,
    same_width,
    some,
    table,
    width,
)
from pnorm._checks.scalars import (
    CUBED,
    ROOT,
    SQUARED,
    choice,
    count,
    generator,
    names,
    nonnegative,
    numbers_of,
    positive,
    power,
    power_of_two,
    probability,
    real,
    several,
    share,
    shown,
    squared,
    threads,
    two,
)
from pnorm._checks.sparse_matrices import sparse, sparse_columns, summing
