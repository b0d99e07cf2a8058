"""Public data for tests, from the folder that PNORM_DATA names."""

import os
from pathlib import Path

import pytest
from reproduce import SETTINGS

import pnorm

HOME = Path(os.environ.get("PNORM_DATA", "/nowhere"))


def needs(name):
    """Skip a test where the file is not at hand."""
    return pytest.mark.skipif(not (HOME / name).exists(), reason=f"PNORM_DATA does not name a folder with {name}")


def wdbc():
    """The first six features of the Wisconsin breast cancer data, scaled to [0, 1]; malignant is positive."""
    data = pnorm.datasets.wdbc(HOME)
    pos, neg = data.pos[:, :6], data.neg[:, :6]
    return pos, neg, pnorm.rankers.normalized(pos, neg)


def pima():
    """The eight features of the Pima diabetes data, and the papers' four thresholds of each."""
    data = pnorm.datasets.pima(HOME)
    return data.X, data.y == 1, pnorm.rankers.thresholds(SETTINGS["pima-thresholds"].cuts)
