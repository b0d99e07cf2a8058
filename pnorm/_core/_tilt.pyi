from numpy import float64, intp
from numpy.typing import NDArray

_Vector = NDArray[float64]
_Codes = NDArray[intp]
_Sums = tuple[float, float, float, float, float]

def exp_below(values: _Vector, top: float) -> None: ...
def log_sum(f: _Vector, log_c: _Vector | None, scale: float, start: int, stop: int) -> tuple[float, float]: ...
def weigh(
    f: _Vector, log_c: _Vector | None, weights: _Vector, scale: float, start: int, stop: int
) -> tuple[float, float]: ...
def softmax_rows(f: _Vector, log_c: _Vector | None, scale: float, weights: _Vector) -> float: ...
def rescale_rows(weights: _Vector, factor: float, start: int, stop: int) -> None: ...
def advance(f: _Vector, h: _Vector, alpha: float, start: int, stop: int) -> None: ...
def given(weights: _Vector, h: _Vector, unit: float, start: int, stop: int) -> tuple[float, ...]: ...
def tilted(
    f: _Vector, h: _Vector, log_c: _Vector | None, scale: float, alpha: float, unit: float, start: int, stop: int
) -> tuple[tuple[float, ...], float]: ...
def expanded(sums: _Vector, rate: float) -> tuple[float, float, float, float]: ...
def tilt_weights(weights: _Vector, h: _Vector, rate: float, start: int, stop: int) -> float: ...
def tilt_codes(masses: _Vector, values: _Vector, scale: float, factors: _Vector) -> tuple[float, float, float]: ...
def logs(values: _Vector, out: _Vector) -> None: ...
def split(
    f: _Vector, h: _Vector, log_c: _Vector | None, scale: float, alpha: float, level: float, start: int, stop: int
) -> tuple[tuple[float, float], _Sums]: ...
def root_step(
    x: float, lo: float, hi: float, bracket: float, last: float, width: float, g: float, slope: float, bend: float
) -> tuple[tuple[float, float, float, float, float], bool]: ...
def weigh_by_group(
    f: _Vector, log_c: _Vector | None, starts: _Codes, scale: float, weights: _Vector, log_sums: _Vector
) -> None: ...
def multiply_by_group(weights: _Vector, codes: _Codes, factors: _Vector, out: _Vector) -> None: ...
def tilted_by_group(
    weights: _Vector,
    h: _Vector,
    starts: _Codes,
    rate: float,
    top: float,
    own: bool,
    level: _Vector,
    sums: _Vector,
    cumulants: _Vector,
) -> None: ...
def tilted_cells(
    masses: _Vector,
    values: _Vector,
    rate: float,
    top: float,
    own: bool,
    tilt: _Vector,
    level: _Vector,
    sums: _Vector,
    cumulants: _Vector,
) -> None: ...
def move_cells(
    u: _Vector,
    w: _Vector,
    v: _Vector | None,
    values: _Vector,
    p: float,
    step: float,
    light: float,
    tilts: _Vector,
    share: _Vector,
    mass: _Vector,
) -> tuple[float, float, bool]: ...
def mixture(
    before: _Vector, pos_sums: _Vector, pos: _Vector, neg_sums: _Vector, neg: _Vector, p: float, share: _Vector
) -> tuple[float, float, float, float]: ...
def split_by_group(
    f: _Vector,
    h: _Vector,
    log_c: _Vector | None,
    starts: _Codes,
    scale: float,
    alpha: float,
    level: _Vector,
    tops: _Vector,
    sums: _Vector,
) -> None: ...
