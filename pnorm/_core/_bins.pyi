from numpy import float32, float64, int32, intp, uint8, uint16
from numpy.typing import NDArray

_Matrix = NDArray[float32] | NDArray[float64]
_Codes = NDArray[uint8] | NDArray[uint16]
_Array = NDArray[float64]
_Index = NDArray[intp]

def distinct(A: _Matrix, values: NDArray[float64], counts: NDArray[intp]) -> None: ...
def encode(
    A: _Matrix,
    start: int,
    stop: int,
    columns: _Index,
    first: _Index,
    cuts: _Array,
    words: _Index,
    radix: _Index,
    out: _Codes,
) -> None: ...
def sums_by_code(
    codes: _Codes,
    weights: _Array,
    start: int,
    stop: int,
    rows: NDArray[int32] | None,
    first: _Index,
    sums: _Array,
    scratch: _Array,
) -> None: ...
def choose(
    codes: _Codes, wanted: NDArray[uint8], weights: _Array, start: int, stop: int, rows: NDArray[int32], of_rows: _Array
) -> int: ...
def scratch_size(largest: int) -> int: ...
def sums_by_pair(a: _Codes, b: _Codes, weights: _Array, start: int, stop: int, sums: _Array) -> None: ...
def look_up(codes: _Codes, table: _Array, start: int, stop: int, out: _Array) -> None: ...
def scores_by_code(
    lam: _Array,
    feature: _Index,
    first: _Index,
    at: _Index,
    terms: _Array,
    cells: _Index,
    above: _Array,
    out: _Array,
) -> None: ...
def tables_of_words(
    of_features: _Array, cells: _Index, first: _Index, size: _Index, radix: _Index, out: _Array
) -> None: ...
def add_looked_up(codes: _Codes, table: _Array, start: int, stop: int, out: _Array) -> None: ...
def add_words(
    codes: _Codes, words: _Index, first: _Index, tables: _Array, start: int, stop: int, out: _Array
) -> None: ...
def multiply_looked_up(codes: _Codes, table: _Array, start: int, stop: int, weights: _Array) -> float: ...
def extract(codes: _Codes, radix: int, levels: int, out: NDArray[uint16]) -> None: ...
def marginals(
    of_words: _Array, first: _Index, size: _Index, radix: _Index, cells: _Index, of_features: _Array
) -> None: ...
def values_by_code(at: _Index, terms: _Array, out: _Array) -> None: ...
def extremes(
    feature: _Index,
    first: _Index,
    at: _Index,
    terms: _Array,
    cells: _Index,
    rows: _Array,
    values: _Array,
    following: _Index,
    low: _Array,
    high: _Array,
) -> None: ...
def edges(
    sums: _Array, cells: _Index, feature: _Index, first: _Index, at: _Index, terms: _Array, above: _Array, out: _Array
) -> None: ...
def stored_sums(
    starts: _Index,
    rows: NDArray[int32],
    codes: _Codes,
    weights: _Array,
    begin: int,
    end: int,
    cells: _Index,
    sums: _Array,
    stored: _Array,
) -> None: ...
def twofold_sum(weights: _Array, start: int, stop: int) -> tuple[float, float]: ...
def add_stored(
    starts: _Index, rows: NDArray[int32], codes: _Codes, features: _Index, cells: _Index, table: _Array, out: _Array
) -> None: ...
