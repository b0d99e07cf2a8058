import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Index = NDArray[np.intp]

def kendall(
    f: Vector,
    y: Vector,
    by_grade: Index,
    starts: Index,
    first: int,
    last: int,
    order: Index,
    spare: Index,
    hinges: Vector,
    wrongs: Vector,
    grad: Vector | None,
) -> None: ...
