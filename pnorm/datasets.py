"""Data sets: one that is generated from rules, one that is simulated, seven that are read from files, and a reader of
svmlight files.

The package does not contain the seven files. They are the public files, byte for byte, and are read from the folder
``data_home``, by default the folder in the environment variable ``PNORM_DATA``. Their sha256 is checked. If a file is
missing and scikit-learn is installed, the copy of the data set at OpenML is fetched into ``data_home``, or into the
data folder of scikit-learn. It must contain the same rows, in any order.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import FilePath, Seed
from pnorm._checks.text import install

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


@dataclass(frozen=True, repr=False, eq=False)
class Dataset:
    """Rows with labels.

    Attributes
    ----------
    X : ndarray or scipy.sparse.csr_array, shape (N, d)
        The rows.
    y : ndarray of int, shape (N,)
        1 for a positive row, 0 for a negative one.
    names : tuple of str
        Names of the d columns.
    citation : str
        The source of the data.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> data.X.shape, data.y[:3], data.names[:2]
    ((958, 9), array([0, 0, 0]), ('top-left', 'top-middle'))
    >>> data.pos.shape, data.neg.shape
    ((626, 9), (332, 9))
    """

    X: Any
    y: NDArray[np.int64]
    names: tuple[str, ...]
    citation: str

    @property
    def pos(self) -> Any:
        """The positive rows, (I, d)."""
        return self.X[self.y == 1]

    @property
    def neg(self) -> Any:
        """The negative rows, (K, d)."""
        return self.X[self.y == 0]

    def __repr__(self) -> str:
        positives = int(self.y.sum())
        return f"<{positives} positives and {self.y.size - positives} negatives in {self.X.shape[1]} columns>"


_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
_O, _X, _BLANK = 0, 1, 2  # the coding of TR2005-874


def tic_tac_toe() -> Dataset:
    """Return all 958 final boards of tic-tac-toe, with the label "x has won".

    x moves first, and a game ends with three in a row or a full board. A board is positive if x has
    three in a row (626 of 958). The columns are the nine squares, row by row from the top left,
    with o = 0, x = 1 and blank = 2 as in TR2005-874. The boards are those of the UCI set
    "Tic-Tac-Toe Endgame"; here they are generated from the rules, in lexicographic order.

    Returns
    -------
    Dataset
        958 rows, 9 columns, 626 positives.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> data
    <626 positives and 332 negatives in 9 columns>
    >>> data.names[:2]
    ('top-left', 'top-middle')
    """
    ends = _ends()
    boards = sorted(ends)
    rows, columns = ("top", "middle", "bottom"), ("left", "middle", "right")
    return Dataset(
        X=np.array(boards, dtype=np.float64),
        y=np.array([ends[board] for board in boards], dtype=np.int64),
        names=tuple(f"{row}-{column}" for row in rows for column in columns),
        citation="D. Aha, Tic-Tac-Toe Endgame, UCI Machine Learning Repository, 1991, doi:10.24432/C5688J",
    )


def _ends() -> dict[tuple[int, ...], bool]:
    """Return every board that ends a game, with whether x has won, by playing all games."""
    ends: dict[tuple[int, ...], bool] = {}
    boards: set[tuple[int, ...]] = {(_BLANK,) * 9}
    for mover, other in [(_X, _O), (_O, _X)] * 5:
        following: set[tuple[int, ...]] = set()
        for board in boards:
            won = any(all(board[square] == other for square in line) for line in _LINES)
            if won or _BLANK not in board:
                ends[board] = won and other == _X
                continue
            free = (square for square in range(9) if board[square] == _BLANK)
            following |= {(*board[:square], mover, *board[square + 1 :]) for square in free}
        boards = following
    return ends


# A set that is simulated ------------------------------------------------------------------------------

_KINDS = {
    "honest": (2000, 5.0, 0.5, 0.5, 6.0, 0.5),
    "careless": (3500, 10.0, 2.5, 0.2, 9.0, 1.0),
    "staged": (2000, 5.0, 0.0, 1.0, 2.0, 0.5),
}
"""The means of the columns for each kind of claim."""
_WRONG = 0.2


def insurance_claims(n: int = 20_000, seed: Seed = 0, *, staged: float = 0.1) -> Dataset:
    """Return simulated insurance claims: which of them can be paid without review?

    No real claim is among the rows; each row is an independent draw from the process below. A claim that is in order
    is positive. One claim in five is wrong, and there are two kinds of wrong claims. Most are careless: the amount is
    large, the claim is late, papers and photos are missing, and the policy is old. A few are staged: their papers are
    better than those of honest claims, and the policy is new. Coefficients that lower the scores of the many careless
    claims raise the scores of the few staged claims, which so reach the top of the list, where claims are paid.

    The process was written for this package, to show when p > 1 helps: a weighted sum of the columns cannot fit both
    kinds at once. With ``staged=0`` there is one kind of wrong claims, and p changes little. The numbers are in
    ``benchmarks/demonstration.py``, beside those of logistic regression.

    Parameters
    ----------
    n : int
        Number of rows, 1 or more.
    seed : int or numpy.random.Generator
        Random numbers; the same seed gives the same result.
    staged : float
        The share of the wrong claims that are staged, from 0 to 1.

    Returns
    -------
    Dataset
        `n` rows, 6 columns, about 80 % positives.

    Raises
    ------
    ValueError, TypeError
        If `n` is not an integer of 1 or more, `staged` is not between 0 and 1, or there is no such `seed`.

    Notes
    -----
    A claim is wrong with probability 0.2; a wrong claim is staged with probability `staged`. The columns
    are independent given the kind of the claim. Their means, before rounding:

    =====================  ======  ========  ======  ==================================
    column                 honest  careless  staged  distribution
    =====================  ======  ========  ======  ==================================
    ``amount``             2000    3500      2000    gamma, shape 2, rounded
    ``days to report``     5       10        5       exponential, rounded down
    ``documents missing``  0.5     2.5       0       Poisson
    ``photos``             0.5     0.2       1       1 (there are photos) or 0
    ``years insured``      6       9         2       exponential, rounded to one decimal
    ``earlier claims``     0.5     1         0.5     Poisson
    =====================  ======  ========  ======  ==================================

    Examples
    --------
    >>> import numpy as np
    >>> import pnorm
    >>> data = pnorm.datasets.insurance_claims()
    >>> data
    <16040 positives and 3960 negatives in 6 columns>
    >>> data.names[:3]
    ('amount', 'days to report', 'documents missing')

    Train on one half, and count the wrong claims among the first 1000 of the other half:

    >>> X, y, held_out, label = data.X[:10_000], data.y[:10_000], data.X[10_000:], data.y[10_000:]
    >>> H = pnorm.rankers.normalized(X[y == 1], X[y == 0])
    >>> for p in (1, 4):
    ...     lam, _ = pnorm.train(X[y == 1], X[y == 0], H, p)
    ...     first = np.argsort(-pnorm.score(held_out, H, lam))[:1000]
    ...     print(f"p = {p}: {(label[first] == 0).sum()} wrong")
    p = 1: 42 wrong
    p = 4: 25 wrong
    """
    n, share, rng = _checks.count(n, "n", 1), _checks.share(staged, "staged"), _checks.generator(seed)
    wrong = rng.random(n) < _WRONG
    kind = np.where(wrong, np.where(rng.random(n) < share, 2, 1), 0)
    amount, days, missing, photos, years, earlier = np.array(list(_KINDS.values())).T[:, kind]
    columns = {
        "amount": rng.gamma(2.0, amount / 2.0).round(),
        "days to report": np.floor(rng.exponential(days)),
        "documents missing": rng.poisson(missing),
        "photos": rng.random(n) < photos,
        "years insured": rng.exponential(years).round(1),
        "earlier claims": rng.poisson(earlier),
    }
    return Dataset(
        X=np.column_stack(list(columns.values())).astype(np.float64),
        y=(~wrong).astype(np.int64),
        names=tuple(columns),
        citation="Simulated by pnorm.datasets.insurance_claims; there are no real claims in it",
    )


# Sets that are read -----------------------------------------------------------------------------------


def pima(data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Return the Pima Indians diabetes data, with the label "diabetes within five years".

    Eight measurements of 768 women; diabetes is positive. An impossible zero, of glucose or of the body mass
    for instance, is a missing value.

    Parameters
    ----------
    data_home : path, optional
        Folder with ``pima-indians-diabetes.csv``; None for the one that ``PNORM_DATA`` names.

    Returns
    -------
    Dataset
        768 rows, 8 columns, 268 positives.

    Raises
    ------
    FileNotFoundError
        If the file does not exist and cannot be fetched.
    ValueError
        If the file has another sha256 than expected.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.pima()
    >>> data
    <268 positives and 500 negatives in 8 columns>
    >>> (data.X[:, data.names.index("insulin")] == 0).sum().item()  # not measured
    374
    """
    return _load(_PIMA, data_home)


def wdbc(data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Return the diagnostic Wisconsin breast cancer data, with the label "malignant tumour".

    Ten properties of cell nuclei in an image (mean, standard error and worst of each); malignant is positive. The
    papers use the first six columns, because all columns together separate the classes.

    Parameters
    ----------
    data_home : path, optional
        Folder with ``wdbc.data``; None for the one that ``PNORM_DATA`` names.

    Returns
    -------
    Dataset
        569 rows, 30 columns, 212 positives.

    Raises
    ------
    FileNotFoundError
        If the file does not exist and cannot be fetched.
    ValueError
        If the file has another sha256 than expected.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.wdbc()
    >>> data
    <212 positives and 357 negatives in 30 columns>
    >>> data.names[:3]
    ('mean radius', 'mean texture', 'mean perimeter')
    """
    return _load(_WDBC, data_home)


def housing(data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Return the Boston housing data as used in the papers, with the label "tract bounds the Charles River".

    CHAS = 1 is positive. The other thirteen variables are the columns, including the price (MEDV). The column B is
    computed from the share of Black residents under an assumption for which other packages have withdrawn the data
    set. Use it only to repeat the experiments of the papers.

    Parameters
    ----------
    data_home : path, optional
        Folder with ``housing.csv``; None for the one that ``PNORM_DATA`` names.

    Returns
    -------
    Dataset
        506 rows, 13 columns, 35 positives.

    Raises
    ------
    FileNotFoundError
        If the file does not exist and cannot be fetched.
    ValueError
        If the file has another sha256 than expected.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.housing()
    >>> data
    <35 positives and 471 negatives in 13 columns>
    >>> data.names[-2:]
    ('LSTAT', 'MEDV')
    """
    return _load(_HOUSING, data_home)


def ionosphere(data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Return the ionosphere data, with the label "good radar return" (it shows structure in the ionosphere).

    Seventeen pulses, a real and an imaginary part of each; good returns are positive. The second column is constant.

    Parameters
    ----------
    data_home : path, optional
        Folder with ``ionosphere.data``; None for the one that ``PNORM_DATA`` names.

    Returns
    -------
    Dataset
        351 rows, 34 columns, 225 positives.

    Raises
    ------
    FileNotFoundError
        If the file does not exist and cannot be fetched.
    ValueError
        If the file has another sha256 than expected.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.ionosphere()
    >>> data
    <225 positives and 126 negatives in 34 columns>
    >>> (data.X[:, 1] == 0).all().item()
    True
    """
    return _load(_IONOSPHERE, data_home)


def spambase(data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Return the spambase data, with the label "spam".

    Frequencies of 48 words and 6 characters in per cent, and three lengths of runs of capitals; spam is positive.
    391 rows occur more than once.

    Parameters
    ----------
    data_home : path, optional
        Folder with ``spambase.data``; None for the one that ``PNORM_DATA`` names.

    Returns
    -------
    Dataset
        4601 rows, 57 columns, 1813 positives.

    Raises
    ------
    FileNotFoundError
        If the file does not exist and cannot be fetched.
    ValueError
        If the file has another sha256 than expected.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.spambase()
    >>> data
    <1813 positives and 2788 negatives in 57 columns>
    >>> data.names[-3:]
    ('average run of capitals', 'longest run of capitals', 'capitals')
    """
    return _load(_SPAMBASE, data_home)


def magic(data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Return the MAGIC telescope data, with the label "gamma ray".

    Ten parameters of simulated images of showers; gamma rays, the signal, are positive. The rows are sorted by class.

    Parameters
    ----------
    data_home : path, optional
        Folder with ``magic04.data``; None for the one that ``PNORM_DATA`` names.

    Returns
    -------
    Dataset
        19020 rows, 10 columns, 12332 positives.

    Raises
    ------
    FileNotFoundError
        If the file does not exist and cannot be fetched.
    ValueError
        If the file has another sha256 than expected.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.magic()
    >>> data
    <12332 positives and 6688 negatives in 10 columns>
    >>> data.y[0].item(), data.y[-1].item()
    (1, 0)
    """
    return _load(_MAGIC, data_home)


def a9a(data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Return the training part of a9a, the census data "Adult" as indicators, with the label "more than 50,000 a year".

    Fourteen variables in 123 indicators of a level or an interval, of which a row has at most 14; more than 50,000 is
    positive. The rows are sparse (`scipy.sparse.csr_array`).

    Parameters
    ----------
    data_home : path, optional
        Folder with ``a9a.libsvm.gz``; None for the one that ``PNORM_DATA`` names.

    Returns
    -------
    Dataset
        32561 rows, 123 columns, 7841 positives.

    Raises
    ------
    FileNotFoundError
        If the file does not exist and cannot be fetched.
    ValueError
        If the file has another sha256 than expected.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.a9a()
    >>> data
    <7841 positives and 24720 negatives in 123 columns>
    >>> int(data.X.sum(axis=1).max())
    14
    """
    return _load(_A9A, data_home)


# Files of queries -------------------------------------------------------------------------------------


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


_Labelled = tuple[Any, NDArray[np.bool_]]
"""Rows, and which of them are positive."""


@dataclass(frozen=True)
class _Source:
    """The source of a data set, its reader, and its fingerprints."""

    file: str
    sha256: str
    """Hash of the file, or of its content if it is compressed."""
    read: Callable[[bytes], _Labelled]
    """Reads rows and labels from the content."""
    names: tuple[str, ...]
    citation: str
    openml: int
    """The number of the set at OpenML."""
    labels: tuple[str, ...]
    """The spellings of the positive label at OpenML."""
    rows: str
    """The fingerprint of the rows, which does not depend on their order."""


def _load(source: _Source, data_home: str | os.PathLike[str] | None) -> Dataset:
    if data_home is not None and not isinstance(data_home, (str, os.PathLike)):
        raise TypeError(f"data_home must be the path of a folder; got {data_home!r}")
    given = (os.environ.get("PNORM_DATA") or None) if data_home is None else data_home
    folder = None if given is None else os.fsdecode(os.path.expanduser(given))
    if folder is None:
        X, y = _fetch(source, None, "PNORM_DATA is not set")
    elif not os.path.isdir(folder):
        name = "PNORM_DATA" if data_home is None else "data_home"
        raise FileNotFoundError(f"{name} must be a folder with {source.file}; there is no folder {folder}")
    elif os.path.isfile(path := os.path.join(folder, source.file)):
        X, y = source.read(_content(source, path))
    else:
        X, y = _fetch(source, folder, f"{source.file} is not in {folder}")
    return Dataset(X, y.astype(np.int64), source.names, source.citation)


_MOST_BYTES = 2**24
"""Largest number of bytes of an unpacked file; larger ones are other files, and may be made to fill the memory."""


def _content(source: _Source, path: str) -> bytes:
    """Return the unpacked content of a file; refuse a file that is not the expected one."""
    import gzip
    import zlib

    with open(path, "rb") as file:
        content = file.read()
    if path.endswith(".gz"):
        # whatever it is in case of an error, it has another sum
        with contextlib.suppress(OSError, EOFError, zlib.error), gzip.open(path) as stream:
            content = stream.read(_MOST_BYTES)
    found = _sha256(content)
    if found != source.sha256:
        raise ValueError(
            f"{path} has the sha256 {found}, and {source.sha256} was expected: it is another version of the data, "
            "or its line ends were changed"
        )
    return content


def _fetch(source: _Source, home: str | None, why: str) -> _Labelled:
    """Fetch the same rows from OpenML."""
    from http.client import HTTPException  # at the top it would be 15 ms of importing pnorm

    hint = f"put {source.file} (sha256 of its content {source.sha256}) into a folder, and name it in PNORM_DATA"
    try:
        from sklearn.datasets import fetch_openml
    except ImportError:
        raise FileNotFoundError(
            f"{why}: {hint}; or install scikit-learn, the extra 'sklearn' of pnorm, to fetch the set from OpenML"
        ) from None
    try:
        bunch = fetch_openml(data_id=source.openml, data_home=home, as_frame=False, parser="liac-arff")
    except (OSError, HTTPException, ValueError) as error:
        raise FileNotFoundError(
            f"{why}, and OpenML (its set {source.openml}) could not be reached ({error}): {hint}"
        ) from error
    X, names = bunch.data.copy(), [str(name).rstrip(":") for name in bunch.feature_names]
    for name, levels in (bunch.get("categories") or {}).items():  # OpenML calls some numbers nominal
        column = names.index(str(name).rstrip(":"))
        X[:, column] = np.array(levels, dtype=np.float64)[X[:, column].astype(np.intp)]
    if source is _HOUSING:
        at = names.index("CHAS")
        y = X[:, at] == 1.0
        X = np.column_stack([np.delete(X, at, axis=1), np.asarray(bunch.target, dtype=np.float64)])
    else:
        y = np.isin(np.asarray(bunch.target).astype(str), source.labels)
    if source is _A9A:  # OpenML has the rows for testing after those for training
        X, y = _sparse(X[:32561]), y[:32561]
    found = _fingerprint(X, y)
    if found != source.rows:
        raise ValueError(
            f"{why}, and the set {source.openml} at OpenML does not hold its rows (fingerprint {found}, expected "
            f"{source.rows}): {hint}"
        )
    return X, y


def _fingerprint(X: Any, y: NDArray[np.bool_]) -> str:
    """Return a hash of labelled rows that does not depend on their order."""
    dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
    table = np.column_stack([y, dense]) + 0.0  # no negative zeros
    rows = sorted(row.astype("<f8").tobytes() for row in table)
    return _sha256(b"".join(rows))[:32]


def _sha256(content: bytes) -> str:
    import hashlib  # not at the top, as importing pnorm would load OpenSSL

    return hashlib.sha256(content).hexdigest()


def _sparse(X: Any) -> Any:
    from scipy.sparse import csr_array

    return csr_array(X, shape=(32561, 123), dtype=np.float64)


def _reader(positive: str, label: int = -1, unused: Sequence[int] = ()) -> Callable[[bytes], _Labelled]:
    """Return a reader of columns of numbers, but for the label and columns that are not used."""

    def read(content: bytes) -> _Labelled:
        table = np.array([line.split(",") for line in content.decode("ascii").split()])
        return np.delete(table, [label, *unused], axis=1).astype(np.float64), table[:, label] == positive

    return read


def _read_a9a(content: bytes) -> _Labelled:
    lines = [line.split() for line in content.decode("ascii").splitlines()]
    columns = [[int(entry.removesuffix(":1")) - 1 for entry in line[1:]] for line in lines]
    ends = np.cumsum([0, *map(len, columns)], dtype=np.int32)  # for scikit-learn, which does not take 64 bits
    X = _sparse((np.ones(ends[-1]), np.concatenate(columns).astype(np.int32), ends))
    return X, np.array([line[0] == "+1" for line in lines])


_UCI = "UCI Machine Learning Repository"

_PIMA = _Source(
    file="pima-indians-diabetes.csv",
    sha256="06f5b7c2cd7bca686fda4f92eab5f61e7ff6426a9acefa2e3dda04fc54293cf5",
    read=_reader("1"),
    names=("pregnancies", "glucose", "blood pressure", "skin fold", "insulin", "body mass", "pedigree", "age"),
    citation="J. W. Smith et al., Using the ADAP learning algorithm to forecast the onset of diabetes mellitus, "
    f"Symposium on Computer Applications in Medical Care, 1988; once at the {_UCI}",
    openml=37,
    labels=("tested_positive",),
    rows="f6f742e983e2af972dc44f33d3c6e6bd",
)

_NUCLEUS = ("radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity", "concave points",
            "symmetry", "fractal dimension")  # fmt: skip

_WDBC = _Source(
    file="wdbc.data",
    sha256="d606af411f3e5be8a317a5a8b652b425aaf0ff38ca683d5327ffff94c3695f4a",
    read=_reader("M", label=1, unused=[0]),
    names=tuple(f"{part} {what}" for part in ("mean", "error of", "worst") for what in _NUCLEUS),
    citation="W. Wolberg, O. Mangasarian, N. Street, W. Street, Breast Cancer Wisconsin (Diagnostic), "
    f"{_UCI}, 1993, doi:10.24432/C5DW2B",
    openml=1510,
    labels=("2",),
    rows="66fc16610d372ace04af1d8f3e314c9b",
)

_HOUSING = _Source(
    file="housing.csv",
    sha256="e63eeb0f33157628abc6f9beab80bd64d7433458d21dbe864ce35bf0ab0eb6c9",
    read=_reader("1", label=3),
    names=("CRIM", "ZN", "INDUS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX", "PTRATIO", "B", "LSTAT", "MEDV"),
    citation="D. Harrison, D. Rubinfeld, Hedonic housing prices and the demand for clean air, Journal of "
    f"Environmental Economics and Management 5, 1978; once at the {_UCI}",
    openml=531,
    labels=("1",),
    rows="6dda537f13431e12f6f0be8b86a9a8f6",
)

_IONOSPHERE = _Source(
    file="ionosphere.data",
    sha256="46d52186b84e20be52918adb93e8fb9926b34795ff7504c24350ae0616a04bbd",
    read=_reader("g"),
    names=tuple(f"{part} part of pulse {pulse}" for pulse in range(1, 18) for part in ("real", "imaginary")),
    citation=f"V. Sigillito, S. Wing, L. Hutton, K. Baker, Ionosphere, {_UCI}, 1989, doi:10.24432/C5W01B",
    openml=59,
    labels=("g",),
    rows="6056426d9bd6afc9e01ea4097df3fa0a",
)

_WORDS = """\
make address all 3d our over remove internet order mail receive will people report addresses free business
email you credit your font 000 money hp hpl george 650 lab labs telnet 857 data 415 85 technology 1999 parts pm direct
cs meeting original project re edu table conference ; ( [ ! $ #"""

_SPAMBASE = _Source(
    file="spambase.data",
    sha256="b1ef93de71f97714d3d7d4f58fc9f718da7bbc8ac8a150eff2778616a8097b12",
    read=_reader("1"),
    names=(*_WORDS.split(), "average run of capitals", "longest run of capitals", "capitals"),
    citation=f"M. Hopkins, E. Reeber, G. Forman, J. Suermondt, Spambase, {_UCI}, 1999, doi:10.24432/C53G6X",
    openml=44,
    labels=("1",),
    rows="72d64ff968ec9316c180ea25488fee3d",
)

_MAGIC = _Source(
    file="magic04.data",
    sha256="e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a",
    read=_reader("g"),
    names=("fLength", "fWidth", "fSize", "fConc", "fConc1", "fAsym", "fM3Long", "fM3Trans", "fAlpha", "fDist"),
    citation=f"R. Bock, MAGIC Gamma Telescope, {_UCI}, 2007, doi:10.24432/C52C8B",
    openml=1120,
    labels=("g",),
    rows="1167b3f007e340dbcb0c219c154260a6",
)

_A9A = _Source(
    file="a9a.libsvm.gz",
    sha256="f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906",
    read=_read_a9a,
    names=tuple(f"a{j}" for j in range(1, 124)),
    citation=f"B. Becker, R. Kohavi, Adult, {_UCI}, 1996, doi:10.24432/C5XW20; in indicators by J. Platt, from the "
    "LIBSVM data page",
    openml=1430,
    labels=("1", "1.0"),
    rows="ea484a3f56fb0a001fd1b90e141338c0",
)


def __dir__() -> list[str]:
    return __all__
