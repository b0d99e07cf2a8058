"""Reader of files in the format of SVMlight."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import FilePath
from pnorm._checks.text import install


class GradedLists(NamedTuple):
    r"""Rows of several lists with grades, for `pnorm.listwise.train`: ``train(*data)``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pnorm
    >>> path = pathlib.Path(tempfile.mkdtemp(), "train.txt")
    >>> _ = path.write_text("2 qid:7 1:0.5 3:1\n0 qid:7 1:0.1\n1 qid:4 2:0.2\n0 qid:4 1:0.3\n")
    >>> data = pnorm.datasets.read_svmlight(path)
    >>> data.X.shape, data.y, data.group
    ((4, 3), array([2., 0., 1., 0.]), array([7, 7, 4, 4]))
    >>> w, trace = pnorm.listwise.train(*data)
    """

    X: Any
    """(N, d): the rows, a `scipy.sparse.csr_array`."""
    y: NDArray[np.float64]
    """(N,): the grades."""
    group: NDArray[np.int64]
    """(N,): the number of each row's query."""

    def __repr__(self) -> str:
        (n, d), lists = self.X.shape, np.unique(self.group).size
        return f"<{n} rows of {lists} lists in {d} columns, grades {self.y.min():g} to {self.y.max():g}>"


def read_svmlight(files: FilePath | Sequence[FilePath]) -> Any:
    r"""Read rows, grades and queries from svmlight files, the format of the public learning-to-rank data sets.

    A line is ``grade qid:query column:value column:value ... # comment``; columns that are left out are zero. The
    function uses `sklearn.datasets.load_svmlight_files` and needs scikit-learn, the extra ``sklearn``.

    Parameters
    ----------
    files : path, or sequence of paths
        A file, or several files of one data set, such as training and test files, which get the same columns. Files
        that end in ``.gz`` or ``.bz2`` are unpacked.

    Returns
    -------
    GradedLists, or list of GradedLists
        For every file `X`, `y` and `group`. Columns are counted from 1 if no file has a column 0, up to the largest
        column with a value; ``X.resize((N, d))`` adds empty columns.

    Raises
    ------
    FileNotFoundError
        If a file does not exist.
    ImportError
        If scikit-learn is not installed.
    ValueError, TypeError
        If a line has another format (the message contains its number), a row has no query or a grade that is not
        finite, a file has no rows, or a compressed file is damaged.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pnorm
    >>> path = pathlib.Path(tempfile.mkdtemp(), "train.txt")
    >>> _ = path.write_text("2 qid:7 1:0.5 3:1 # the best\n0 qid:7 1:0.1\n1 qid:4 2:0.2\n")
    >>> data = pnorm.datasets.read_svmlight(path)
    >>> data
    <3 rows of 2 lists in 3 columns, grades 0 to 2>
    >>> data.X.toarray()
    array([[0.5, 0. , 1. ],
           [0.1, 0. , 0. ],
           [0. , 0.2, 0. ]])
    >>> data.y, data.group
    (array([2., 0., 1.]), array([7, 7, 4]))
    """
    import zlib

    from scipy.sparse import csr_array, get_index_dtype

    paths = [files] if isinstance(files, (str, os.PathLike)) else files
    if (
        not isinstance(paths, (list, tuple))
        or not paths
        or not all([isinstance(path, (str, os.PathLike)) for path in paths])
    ):
        raise TypeError(f"files must be the path of a file, or a list of paths; got {files!r}")
    try:
        from sklearn.datasets import load_svmlight_files
    except ImportError:
        raise ImportError(f"read_svmlight needs scikit-learn. {install('sklearn')}") from None
    with contextlib.ExitStack() as stack:
        sources = [_Lines(stack.enter_context(_unpacked(path))) for path in paths]
        try:
            found = load_svmlight_files(sources, query_id=True)
        except (ValueError, OverflowError, EOFError, OSError, zlib.error) as error:
            at = "".join([f"{path}, line {s.number}: " for path, s in zip(paths, sources, strict=True) if s.number])
            if isinstance(error, (ValueError, OverflowError)):
                raise ValueError(f"{at}{error}; a line is grade qid:query column:value ...") from error
            raise ValueError(f"{at}{error}; the file cannot be unpacked: it is damaged or misnamed") from error
    made = []
    for path, X, y, group in zip(paths, found[::3], found[1::3], found[2::3], strict=True):
        if y.size == 0:
            raise ValueError(f"{path} has no rows")
        if group.size != y.size:
            raise ValueError(
                f"{path} has {y.size} rows, and {group.size} of them have a query (qid:7, say, after the grade); all "
                "need one. sklearn.datasets.load_svmlight_file reads rows without queries"
            )
        if not (finite := np.isfinite(y)).all():
            i = int(finite.argmin())
            raise ValueError(f"{path} has the grade {y[i]} in row {i}; grades must be finite")
        index = get_index_dtype(maxval=max(X.nnz, *X.shape))  # not all of scikit-learn takes 64 bits
        rows = csr_array((X.data, X.indices.astype(index), X.indptr.astype(index)), shape=X.shape)
        made.append(GradedLists(rows, y, group))
    return made if paths is files else made[0]


class _Lines:
    """A file that knows the number of the line that is read; 0 before the first and after the last."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.number = file, 0
        self.read = file.read

    def __iter__(self) -> Iterator[bytes]:
        self.number = 1
        for line in self._file:
            yield line
            self.number += 1
        self.number = 0


def _unpacked(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file that may be compressed."""
    import bz2
    import gzip

    opened: Any = {".gz": gzip.open, ".bz2": bz2.open}.get(os.path.splitext(path)[1], open)
    return cast(BinaryIO, opened(path, "rb"))
