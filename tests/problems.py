"""Public data for tests, from the folder that PNORM_DATA names."""

import os
from pathlib import Path

import numpy as np
import pytest

import pnorm

HOME = Path(os.environ.get("PNORM_DATA", "/nowhere"))


def needs(name):
    """Skip a test where the file is not at hand."""
    return pytest.mark.skipif(not (HOME / name).exists(), reason=f"PNORM_DATA does not name a folder with {name}")


def wdbc():
    """The first six features of the Wisconsin breast cancer data, scaled to [0, 1]; malignant is positive."""
    rows = [line.split(",") for line in (HOME / "wdbc.data").read_text().split()]
    X, y = np.array([row[2:8] for row in rows], float), np.array([row[1] == "M" for row in rows])
    return X[y], X[~y], pnorm.rankers.normalized(X[y], X[~y])


def pima():
    """The eight features of the Pima diabetes data, and the papers' four thresholds of each."""
    table = np.loadtxt(HOME / "pima-indians-diabetes.csv", delimiter=",")
    cuts = [[2, 3, 6, 7], [100, 130, 150, 160], [60, 65, 72, 90], [1, 10, 20, 30]]
    cuts += [[30, 50, 80, 100], [30, 32, 35, 37], [0.1, 0.2, 0.3, 0.5], [30, 33, 36, 40]]
    return table[:, :8], table[:, 8] == 1, pnorm.rankers.thresholds(cuts)
