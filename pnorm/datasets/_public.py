"""Public data sets from files that a user has fetched."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm.datasets._dataset import Dataset


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
