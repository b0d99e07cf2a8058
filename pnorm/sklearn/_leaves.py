"""Weak rankers from estimators: leaves of trees, and transformed columns."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from pnorm import _checks
from pnorm._checks import Rows, Vector
from pnorm._storage.features import LARGEST_FEATURE
from pnorm.rankers import Rankers, _Categories, _Columns
from pnorm.sklearn._rows import LabelledRows


def of_estimator(estimator: Any, rows: LabelledRows) -> Rankers:
    """Return leaves or transformed columns of an estimator; fit it on the rows first if necessary."""
    if not hasattr(estimator, "apply") and not hasattr(estimator, "transform"):
        raise TypeError(
            f"rankers must be an estimator with apply, trees, or with transform; {type(estimator).__name__} has neither"
        )
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        known = rows.weight is not None and has_fit_parameter(estimator, "sample_weight")
        weight = {"sample_weight": rows.weight} if known else {}
        estimator = clone(estimator).fit(rows.X, rows.positive.astype(np.intp), **weight)
    return leaves(estimator, rows.X) if hasattr(estimator, "apply") else _Transformed(estimator, rows.X)


def leaves(trees: Any, X: Rows) -> Rankers:
    """Make one indicator per leaf of every tree: h(x) = 1 if x falls into the leaf, else 0.

    Parameters
    ----------
    trees : fitted estimator
        An object whose ``apply(X)`` returns the leaf of every row in every tree: scikit-learn's decision trees,
        random forests, `RandomTreesEmbedding` and gradient boosting (not its histogram-based one), XGBoost's
        estimators.
    X : array_like, shape (N, d)
        The training rows of both sides.

    Returns
    -------
    Rankers
        Tree by tree, the leaves into which rows of X fall; named like ``tree 2, leaf 17``. They are stored as codes
        of a byte or two per row and tree, not as columns, and cannot be written to JSON.

    Raises
    ------
    ValueError, TypeError
        If there is no `apply`, or a tree has 65,536 leaves or more.

    Notes
    -----
    Trees that were fitted on the labels of the training rows overfit them, and the edges of their leaves are too large.
    Fit such trees on other rows, keep them small, or stop early.

    Examples
    --------
    >>> import pnorm
    >>> from sklearn.ensemble import RandomTreesEmbedding
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> trees = RandomTreesEmbedding(20, max_depth=4, random_state=0).fit(data.X)
    >>> H = pnorm.sklearn.leaves(trees, data.X)
    >>> lam, trace = pnorm.train(data.pos, data.neg, H, p=4)
    """
    if not callable(getattr(trees, "apply", None)):
        raise TypeError(f"trees must have a method apply; got {type(trees).__name__}")
    found = [np.unique(column) for column in _leaves_of(trees, X).T]
    for t, of_tree in enumerate(found):
        if of_tree.size >= LARGEST_FEATURE:
            raise ValueError(
                f"tree {t} has {of_tree.size} leaves; at most {LARGEST_FEATURE - 1} can be told apart: limit "
                "max_leaf_nodes or max_depth"
            )
    return _Leaves(trees, found)


def _leaves_of(trees: Any, X: Any) -> NDArray[np.intp]:
    """Return the leaf of every row in every tree, (N, T)."""
    found = np.asarray(trees.apply(X))
    return found.reshape(len(found), -1).astype(np.intp)


class _Leaves(_Categories):
    """Weak rankers with trees as columns and their leaves as levels."""

    def __init__(self, trees: Any, found: Sequence[NDArray[np.intp]]) -> None:
        names = [f"tree {t}, leaf {leaf}" for t, of_tree in enumerate(found) for leaf in of_tree]
        super().__init__(names, None, [of_tree.tolist() for of_tree in found], False)
        self._trees, self._leaves = trees, found

    _fields = Rankers._fields

    def _reads(self) -> list[tuple[Hashable, str]]:
        return [((id(self._trees), t), f"tree {t}") for t, of_tree in enumerate(self._leaves) for _ in of_tree]

    def _codes(self, X: Any, name: str, columns: Sequence[int]) -> list[tuple[NDArray[np.uint16], Any]]:
        codes, found = [], _leaves_of(self._trees, X)
        for t in columns:
            column, of_tree = found[:, t], self._leaves[t]
            at = np.minimum(np.searchsorted(of_tree, column), of_tree.size - 1)
            codes.append((np.where(of_tree[at] == column, at, of_tree.size).astype(np.uint16), None))
        return codes


class _Transformed(_Columns):
    """Weak rankers of the columns that a transformer returns."""

    def __init__(self, transformer: Any, X: Any) -> None:
        first = transformer.transform(_checks.rows(X, np.zeros(1, np.intp)))
        n = _checks.width(first, "what rankers.transform returns")
        try:
            names = [str(name) for name in transformer.get_feature_names_out()]
        except (AttributeError, ValueError):  # it has no names for its columns
            names = []
        super().__init__(names if len(names) == n else [f"x{j}" for j in range(n)], n, None)
        self._transformer = transformer

    _fields = Rankers._fields

    def _reads(self) -> list[tuple[Hashable, str]]:
        return [((id(self._transformer), j), name) for j, name in enumerate(self.names)]

    def _read(self, X: Any, name: str, seen: Any = None) -> Any:
        return super()._read(self._transformer.transform(X), f"{name}, transformed,", seen)

    def _terms(self, X: Any, lam: Vector) -> Any:
        return super()._terms(self._transformer.transform(X), lam)
