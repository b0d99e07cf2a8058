from typing import Any

from numpy import float64, intp
from numpy.typing import NDArray

_Matrix = NDArray[Any]
_Vector = NDArray[float64]
_Runs = NDArray[intp]

def products(A: _Matrix, runs: _Runs, s: _Vector, start: int, stop: int, out: _Vector) -> None: ...
def combined(A: _Matrix, runs: _Runs, lam: _Vector, start: int, stop: int, out: _Vector) -> None: ...
def column(A: _Matrix, j: int, shift: float, start: int, stop: int, out: _Vector) -> None: ...
def sparse_products(
    indptr: _Matrix, indices: _Matrix, data: _Vector, s: _Vector, start: int, stop: int, out: _Vector
) -> None: ...
