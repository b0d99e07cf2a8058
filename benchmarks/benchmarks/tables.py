"""Columns of categories and labels by what holds them."""

import numpy as np
import pandas as pd
import pyarrow as pa

import pnorm

WORDS = np.array([f"level {k}" for k in range(30)])


def whole(rows, form):
    """Return six columns of thirty levels in a form."""
    codes = np.random.default_rng(0).integers(0, 30, (rows, 6))
    if form == "integers":
        return codes
    if form == "text":
        return WORDS[codes]
    objects = WORDS.astype(object)[codes]
    if form in ("objects", "lists"):
        return objects if form == "objects" else objects.tolist()
    names = [f"x{j}" for j in range(6)]
    if form == "pandas":
        return pd.DataFrame(objects, columns=names, dtype="string")
    if form == "pandas, categorical":
        return pd.DataFrame(objects, columns=names).astype("category")
    if form == "polars":
        import polars as pl

        return pl.DataFrame(objects.tolist(), names, orient="row")
    columns = [pa.array(column) for column in objects.T]
    return pa.table([column.dictionary_encode() for column in columns] if "dict" in form else columns, names)


class Categories:
    """A million rows of six columns: make indicators of their levels, and score them."""

    params = (
        [1_000, 1_000_000],
        ["integers", "text", "objects", "lists", "pandas", "pandas, categorical", "polars", "Arrow", "Arrow, dict"],
    )
    param_names = ("N", "held by")

    def setup(self, rows, form):
        self.X = whole(rows, form)
        self.H = pnorm.rankers.categories(self.X, self.X)
        self.lam = np.ones(len(self.H))

    def time_levels(self, rows, form):
        pnorm.rankers.categories(self.X, self.X)

    def time_score(self, rows, form):
        pnorm.score(self.X, self.H, self.lam)


class Labels:
    """Labels of a million rows, of which rows are taken apart by the first."""

    params = ([1_000, 1_000_000], ["integers", "text", "objects"])
    param_names = ("N", "held by")

    def setup(self, rows, form):
        self.X = np.zeros((rows, 1))
        self.y = whole(rows, form)[:, 0]

    def time_split(self, rows, form):
        pnorm.split(self.X, self.y, positive=self.y[0])
