import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]

N_TERMS: int
N_WIDTH: int

def sort(f: Array, order: Index, out: Array, counts: NDArray[np.intc]) -> bool: ...
def sweep(
    s: Array,
    c: Array,
    s_starts: Index,
    t: Array,
    t_starts: Index,
    sign: float,
    reach: float,
    masses: Array | None,
    firsts: Array | None,
    seconds: Array | None,
) -> None: ...
def rounded_sweep(
    s: Array,
    c: Array,
    s_starts: Index,
    t: Array,
    t_starts: Index,
    sign: float,
    smoothing: float,
    front: Array,
    values: Array,
    slopes: Array,
) -> None: ...
def particle_to_multipole(s: Array, c: Array, cells: Index, ends: Array, moments: Array) -> None: ...
def multipole_to_local(
    s_ends: Array,
    moments: Array,
    s_starts: Index,
    t_ends: Array,
    t_starts: Index,
    table: Array,
    linear: float,
    decay: Array,
    tails: Array,
    local: Array,
    exponents: Array,
) -> None: ...
def local_to_particle(t: Array, cells: Index, ends: Array, local: Array, out: Array) -> None: ...
