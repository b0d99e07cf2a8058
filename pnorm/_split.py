"""Splitting of rows with labels into positives and negatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._checks import Label, Labels, Rows
from pnorm._checks.labelled import aligned, count_rows, one_label, positives, rows_of, without_column


def split(
    X: Rows, y: Labels, *more: Any, positive: Label | None = None, pos_label: Label | None = None
) -> tuple[Any, ...]:
    """Split rows, or scores, by their labels into positives and negatives.

    Parameters
    ----------
    X : array, data frame, sparse matrix, dictionary of columns or sequence, with N rows
        The rows: NumPy, pandas, polars, pyarrow, SciPy sparse, a dictionary of columns, or a list of anything. A vector
        of scores is accepted as well.
    y : sequence of N labels, or str
        Numbers, strings or booleans, in a list, an array, or a column of a frame. Or the name of the column of X that
        holds the labels; the column is then left out of the rows. X is in this case a frame, a dictionary of columns,
        or a list of dictionaries, one for each row.
    *more : sequences of length N, or None
        Other values of each row, such as weights and groups. None is returned as (None, None).
    positive : label, optional
        Another name for `pos_label`.
    pos_label : label, optional
        The label of positive rows; all others are negative. Leave it out if the labels are plain opposites: 1 (or
        "1"), true, yes, y, t, positive or pos, and 0, -1, false, no, n, f, negative or neg, or yes and no in another
        language, such as ja and nein, oui and non, sí and no. Capitals make no difference.

    Returns
    -------
    pos, neg
        The positive and the negative rows of X, in their order in X and in the form of X: an array gives arrays, a
        frame gives frames with the same columns, a list gives lists, a dictionary of columns gives dictionaries.
    (more_pos, more_neg), ...
        The same for each of `more`. If there are any, the rows of X are returned as a pair as well.

    Raises
    ------
    ValueError
        If lengths differ, a label is missing, all rows are of one kind, `pos_label` is needed and missing, no row has
        the label `pos_label`, or the indices of pandas objects differ, which would join the wrong rows.
    TypeError
        If an argument is not a sequence of rows, or a label is not a number, a string or a boolean.

    See Also
    --------
    train : Accepts rows with labels as well: ``pnorm.train(X, y=y)``.

    Examples
    --------
    >>> import pnorm
    >>> X = [[31.0, 5.0], [44.0, 0.0], [27.0, 2.0]]
    >>> pnorm.split(X, [1, 0, 1])
    ([[31.0, 5.0], [27.0, 2.0]], [[44.0, 0.0]])

    >>> pnorm.split(X, ["yes", "no", "Yes"])
    ([[31.0, 5.0], [27.0, 2.0]], [[44.0, 0.0]])

    A dictionary of columns, one of which holds the labels:

    >>> pnorm.split({"age": [31, 44, 27], "town": ["Ulm", "Bonn", "Ulm"], "good": ["yes", "no", "yes"]}, "good")
    ({'age': [31, 27], 'town': ['Ulm', 'Ulm']}, {'age': [44], 'town': ['Bonn']})

    Weights, and labels of which one has to be named as the positive one:

    >>> (pos, neg), (pos_weight, neg_weight) = pnorm.split(X, ["won", "lost", "open"], [1.0, 2.0, 0.5], pos_label="won")
    >>> pos, pos_weight, neg_weight
    ([[31.0, 5.0]], [1.0], [2.0, 0.5])
    >>> lam, trace = pnorm.train(pos, neg, pos_weight=pos_weight, neg_weight=neg_weight, t_max=1)

    Scores, for the functions of `pnorm.metrics`:

    >>> f_pos, f_neg = pnorm.split([0.9, 0.2, 0.4, 0.3], [1, 0, 1, 0])
    >>> pnorm.metrics.positives_at_top(f_pos, f_neg)
    2
    """
    positive = one_label(positive, pos_label)
    if isinstance(y, str):
        X, y = without_column(X, y)
    size = count_rows(X)
    keep = positives(X, y, size, positive)
    names = [f"argument {k} after y" for k in range(1, len(more) + 1)]
    for name, values in zip(names, more, strict=True):
        if values is not None:
            if rows_of(values, name) != size:
                raise ValueError(f"{name} must hold one value per row, {size}; got {rows_of(values, name)}")
            aligned(X, values, name)
    sides = np.flatnonzero(keep), np.flatnonzero(~keep)
    pairs = [
        tuple(None if values is None else _checks.rows(values, places) for places in sides) for values in (X, *more)
    ]
    return tuple(pairs) if more else pairs[0]
