"""Columns of categories and labels by what holds them, and tables in files."""

import contextlib
import io
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa

import pnorm
from pnorm import _checks
from pnorm._command.main import main
from pnorm._tables import open_source

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
    """A million rows of six columns, on either side: make indicators of their levels, and score one side."""

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


class Mixed:
    """Read a file of twenty columns of all kinds, 0.3 and 54 MB, and make weak rankers of four fifths of its rows."""

    params = ([1_000, 200_000],)
    param_names = ("N",)

    def setup(self, rows):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(rng.normal(size=(rows, 10)), columns=[f"x{j}" for j in range(10)])
        for j, most in enumerate((5, 20, 100)):
            frame[f"n{j}"] = rng.integers(0, most, rows)
        for j, most in enumerate((3, 10, 20, 30)):
            frame[f"c{j}"] = WORDS[rng.integers(0, most, rows)]
        seconds = rng.integers(0, 700 * 86_400, rows)
        frame["when"] = pd.Timestamp("2023-01-01") + pd.to_timedelta(seconds, unit="s")
        frame["id"] = [f"TX{k:08d}" for k in range(rows)]
        frame["label"] = np.where(frame["x1"] + rng.logistic(size=rows) > 3, "yes", "no")
        frame.to_csv("mixed.csv", index=False)

    def time_weak_rankers(self, rows):
        source = open_source("mixed.csv")
        y = np.array(source.texts("label")) == "yes"
        columns = source.columns([name for name in source.names if name != "label"])
        some = np.arange(rows) % 5 > 0
        sides = [_checks.rows(columns, np.flatnonzero(side & some)) for side in (y, ~y)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pnorm.rankers.TableWarning)
            pnorm.rankers.from_table(*sides, linear=True)

    def peakmem_weak_rankers(self, rows):
        self.time_weak_rankers(rows)


class Command:
    """Train on a file of thirteen columns: 0.2 and 14 MB as CSV."""

    params = ([1_000, 100_000], ["csv", "parquet"])
    param_names = ("N", "kind")

    def setup(self, rows, kind):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(rng.normal(size=(rows, 12)).round(9), columns=[f"x{j}" for j in range(12)])
        noise = rng.logistic(size=rows)
        frame["label"] = np.where(frame["x1"] + frame["x2"] / 2 > 1 + noise, "yes", "no")
        self.path = f"rows.{kind}"  # asv runs each benchmark in a folder of its own
        frame.to_csv(self.path, index=False) if kind == "csv" else frame.to_parquet(self.path)

    def time_train(self, rows, kind):
        with contextlib.redirect_stdout(io.StringIO()):
            main([self.path, "--label", "label", "-t", "5"])

    def peakmem_train(self, rows, kind):
        self.time_train(rows, kind)
