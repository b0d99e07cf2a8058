"""Optimality certificates, separability, the limit of training, and its geometry.

Data are of one of three kinds. The kind depends on two convex hulls: those of the outputs of the weak rankers on the
positives and on the negatives.

- *Overlapping*: the hulls overlap, and F_p has a minimiser.
- *Quasi-separable*: the hulls only touch. Some coefficients go to infinity in training, and only some rows keep weight.
- *Separable*: the hulls are disjoint. Some combination of the weak rankers puts every positive above every negative,
  and the infimum of F_p is 0.

`separability` returns the kind. `certificate` bounds the distance of given coefficients from the infimum. `q_limit`
returns the limit of all training runs. `report` prints all of this as text.
"""

from __future__ import annotations

from pnorm._trace import NoSignalWarning, SeparationWarning
from pnorm.diagnostics._bregman import bregman_distance, legendre_bregman_projection, phi, primal_objective
from pnorm.diagnostics._certificate import Certificate, certificate
from pnorm.diagnostics._convergence import Convergence, convergence, same_limit
from pnorm.diagnostics._limit import Limit, q_limit, q_prime
from pnorm.diagnostics._report import report
from pnorm.diagnostics._separability import Separability, separability

__all__ = [
    "Certificate",
    "Convergence",
    "Limit",
    "NoSignalWarning",
    "Separability",
    "SeparationWarning",
    "bregman_distance",
    "certificate",
    "convergence",
    "legendre_bregman_projection",
    "phi",
    "primal_objective",
    "q_limit",
    "q_prime",
    "report",
    "same_limit",
    "separability",
]


def __dir__() -> list[str]:
    return __all__
