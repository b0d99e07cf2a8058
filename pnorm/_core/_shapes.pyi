from numpy import float64, int8, intp, uint8, uint16
from numpy.typing import NDArray

_Codes = NDArray[uint8] | NDArray[uint16]
_Array = NDArray[float64]
_Index = NDArray[intp]

def carry(
    before: _Codes,
    factors: _Array,
    codes: _Codes,
    weights: _Array,
    start: int,
    stop: int,
    sums: _Array,
    scratch: _Array,
) -> None: ...
def fit_tree(
    parent: _Index,
    penalty: _Array,
    weights: _Array,
    moments: _Array,
    state: NDArray[int8],
    shape: _Array,
    jump: _Array,
    scratch: _Array,
) -> int: ...
def solve_trees(
    first: _Index,
    parent: _Index,
    penalty: _Array,
    weights: _Array,
    state: NDArray[int8],
    rest: _Array,
    jump: _Array,
    scratch: _Array,
) -> None: ...
def visit(
    features: _Index,
    levels: _Index,
    radix: _Index,
    first: _Index,
    parent: _Index,
    cell: _Index,
    penalty: _Array,
    state: NDArray[int8],
    jump: _Array,
    lines: _Index,
    values: _Array,
    line_penalty: _Array,
    lam: _Array,
    p: float,
    least: float,
    most: int,
    u: _Array,
    w: _Array,
    of_u: _Array,
    of_w: _Array,
    scratch: _Array,
) -> tuple[float, float]: ...
