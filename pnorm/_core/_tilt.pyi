from numpy import float64
from numpy.typing import NDArray

_Vector = NDArray[float64]

def exp_below(values: _Vector, top: float) -> None: ...
def log_sum(f: _Vector, log_c: _Vector | None, scale: float) -> float: ...
def weigh(f: _Vector, log_c: _Vector | None, weights: _Vector, scale: float) -> float: ...
def advance(f: _Vector, h: _Vector, alpha: float) -> None: ...
def split_log_sums(
    f: _Vector, h: _Vector, log_c: _Vector | None, scale: float, alpha: float, level: float
) -> tuple[float, float]: ...
def solve(
    f_pos: _Vector,
    h_pos: _Vector,
    log_c_pos: _Vector | None,
    u: _Vector,
    f_neg: _Vector,
    h_neg: _Vector,
    log_c_neg: _Vector | None,
    w: _Vector,
    p: float,
    sign: float,
    width: float,
    span: float,
) -> tuple[float, int]: ...
