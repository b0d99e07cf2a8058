from typing import Any

from numpy import float64, intp, uint8, uint16
from numpy.typing import NDArray

from pnorm._core._threads import Threads

_Vector = NDArray[float64]
_Index = NDArray[intp]

class Leaf:
    @staticmethod
    def dense(A: NDArray[Any], columns: _Index, runs: _Index, block: int) -> Leaf: ...
    @staticmethod
    def coded(
        narrow: NDArray[uint8],
        wide: NDArray[uint16],
        starts_narrow: _Index,
        starts_wide: _Index,
        is_wide: NDArray[uint8],
        word: _Index,
        word_first: _Index,
        word_size: _Index,
        radix: _Index,
        cells: _Index,
        feature: _Index,
        first: _Index,
        at: _Index,
        terms: _Vector,
        centred: _Vector,
        counts: _Vector,
        scratch: int,
        block: int,
    ) -> Leaf: ...

class Rounds:
    tallied: bool

    def __init__(
        self,
        p: float,
        limits: tuple[float, ...],
        lam: _Vector,
        facts: _Vector,
        leaf_of: _Index,
        place: _Index,
        pos: tuple[list[Leaf], _Vector, _Vector, _Vector | None, _Vector],
        neg: tuple[list[Leaf], _Vector, _Vector, _Vector | None, _Vector],
        v: _Vector | None,
        exchanged: bool,
        centred: bool,
        groups: list[tuple[_Index | None, _Index, _Index, _Vector | None]] | None,
        mass: _Vector,
        now: _Vector,
        n_threads: int,
    ) -> None: ...
    def run(
        self,
        pool: Threads,
        tallied: bool,
        f_pos: _Vector | None,
        f_neg: _Vector | None,
        selection: str,
        least: _Vector,
        rankers: _Index,
        records: _Vector,
    ) -> int: ...
    def take(
        self, pool: Threads, tallied: bool, f_pos: _Vector | None, f_neg: _Vector | None, j: int, step: float
    ) -> bool: ...
