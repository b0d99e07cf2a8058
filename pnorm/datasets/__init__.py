"""Data sets: one that is generated from rules, one that is simulated, seven that are read from files, and a reader of
svmlight files.

The package does not contain the seven files. They are the public files, byte for byte, and are read from the folder
``data_home``, by default the folder in the environment variable ``PNORM_DATA``. Their sha256 is checked. If a file is
missing and scikit-learn is installed, the copy of the data set at OpenML is fetched into ``data_home``, or into the
data folder of scikit-learn. It must contain the same rows, in any order.
"""

from __future__ import annotations

from pnorm.datasets._dataset import Dataset
from pnorm.datasets._made import insurance_claims, tic_tac_toe
from pnorm.datasets._public import a9a, housing, ionosphere, magic, pima, spambase, wdbc
from pnorm.datasets._svmlight import GradedLists, read_svmlight

__all__ = [
    "Dataset",
    "GradedLists",
    "a9a",
    "housing",
    "insurance_claims",
    "ionosphere",
    "magic",
    "pima",
    "read_svmlight",
    "spambase",
    "tic_tac_toe",
    "wdbc",
]


def __dir__() -> list[str]:
    return __all__
