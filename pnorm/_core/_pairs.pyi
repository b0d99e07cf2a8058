from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Index = NDArray[np.intp]

N_TERMS: int
N_WIDTH: int

def sort(f: Vector, order: Index, out: Vector, counts: NDArray[np.intc]) -> bool: ...
def sweep(
    s: Vector,
    c: Vector,
    s_starts: Index,
    t: Vector,
    t_starts: Index,
    sign: float,
    reach: float,
    masses: Vector | None,
    firsts: Vector | None,
    seconds: Vector | None,
) -> None: ...
def rounded_sweep(
    s: Vector,
    c: Vector,
    s_starts: Index,
    t: Vector,
    t_starts: Index,
    sign: float,
    smoothing: float,
    front: Any,
    values: Vector,
    slopes: Vector,
) -> None: ...
def moments(s: Vector, c: Vector, cells: Index, ends: Vector, out: Any) -> None: ...
def series(t: Vector, cells: Index, ends: Vector, local: Any, out: Vector) -> None: ...
def interact(
    s_ends: Vector,
    moments: Any,
    s_starts: Index,
    t_ends: Vector,
    t_starts: Index,
    table: Any,
    linear: float,
    decay: Vector,
    tails: Vector,
    local: Any,
    exponents: Vector,
) -> None: ...
