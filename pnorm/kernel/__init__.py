"""Ranking in a reproducing kernel Hilbert space, by gradient descent on the mean loss over all pairs.

With a kernel K the scoring function is ``f(x) = Σ_r a_r K(x_r, x)``, a sum over the training rows. The inner product of
the space is ``<K_x, K_x'> = K(x, x')``. Use it if no linear function of the columns ranks the rows well. Chen, He and
Pan [1]_ lower::

    E_S(f) + λ/2 ‖f‖²,    E_S(f) = 1/(m n) Σ_i Σ_j φ(f(x_i) - f(x̃_j))

by gradient descent, and prove how fast it approaches the best function.

- `train` takes these steps. Each costs one sum over pairs, computed with a sort, and one product with the Gram matrix.
- `minimize` computes the minimiser by Newton's method.
- `schedule` returns the steps to which the theorem applies. `pnorm.bounds` computes the bounds of the paper.

`train` and `minimize` take a power p, as in the P-Norm Push: the mean over the negatives is then a power mean.

References
----------
.. [1] H. Chen, F. He, Z. Pan, "Approximation Analysis of Gradient Descent Algorithm for Bipartite Ranking",
   Journal of Applied Mathematics 2012, 189753.
"""

from pnorm.kernel._minimize import minimize
from pnorm.kernel._model import Approximation, Model
from pnorm.kernel._schedule import Schedule, schedule
from pnorm.kernel._trace import Descent
from pnorm.kernel._train import train

__all__ = ["Approximation", "Descent", "Model", "Schedule", "minimize", "schedule", "train"]


def __dir__() -> list[str]:
    return __all__
