from typing import Any

from numpy import float64, int32, intp, uint8, uint16
from numpy.typing import NDArray

_Matrix = NDArray[Any]
_Codes = NDArray[Any]
_Vector = NDArray[float64]
_Index = NDArray[intp]

def distinct(A: _Matrix, column: int, values: _Vector) -> int: ...
def encode(
    A: _Matrix,
    start: int,
    stop: int,
    columns: _Index,
    first: _Index,
    cuts: _Vector,
    words: _Index,
    radix: _Index,
    out: _Codes,
) -> None: ...
def sums_by_code(
    codes: _Codes,
    weights: _Vector,
    start: int,
    stop: int,
    rows: NDArray[int32] | None,
    first: _Index,
    sums: _Vector,
    scratch: _Vector,
) -> None: ...
def choose(
    codes: _Codes,
    wanted: NDArray[uint8],
    weights: _Vector,
    start: int,
    stop: int,
    rows: NDArray[int32],
    of_rows: _Vector,
) -> int: ...
def scratch_size(largest: int) -> int: ...
def sums_by_pair(a: _Codes, b: _Codes, weights: _Vector, start: int, stop: int, sums: _Vector) -> None: ...
def look_up(codes: _Codes, table: _Vector, start: int, stop: int, out: _Vector) -> None: ...
def add_looked_up(codes: _Codes, table: _Vector, start: int, stop: int, out: _Vector) -> None: ...
def multiply_looked_up(codes: _Codes, table: _Vector, start: int, stop: int, weights: _Vector) -> float: ...
def extract(codes: _Codes, radix: int, levels: int, out: NDArray[uint16]) -> None: ...
def marginals(
    of_words: _Vector, first: _Index, size: _Index, radix: _Index, cells: _Index, of_features: _Vector
) -> None: ...
def values_by_code(at: _Index, terms: _Vector, out: _Vector) -> None: ...
def extremes(
    feature: _Index,
    first: _Index,
    at: _Index,
    terms: _Vector,
    cells: _Index,
    rows: _Vector,
    values: _Vector,
    following: _Index,
    low: _Vector,
    high: _Vector,
) -> None: ...
def edges(
    sums: _Vector,
    cells: _Index,
    feature: _Index,
    first: _Index,
    at: _Index,
    terms: _Vector,
    above: _Vector,
    out: _Vector,
) -> None: ...
