"""Models in files: JSON with numbers and names, and without code.

A new file is first written under a temporary name. It replaces the earlier file when it is complete and on the disk, so
that there is a complete file at any time. Every field of a file is checked when it is read. Unknown fields are refused.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Coefficients, Model, Rows, Vector
from pnorm._checks.text import naming, shown
from pnorm._score import probability, score
from pnorm._trace import Intercept
from pnorm._version import version
from pnorm.rankers import Rankers, WeakRankers, callables, columns, from_dict
from pnorm.rankers._table import told_of_suspects

if TYPE_CHECKING:  # what few models need
    from pnorm._cutoff import Cutoff
    from pnorm._reasons.explain import Explanation

_FORMAT, _VERSION = "pnorm.model", 1

_THIS = version
"""The version of the package, in a class with a field of that name."""

_Path = str | os.PathLike[str]

_INSTEAD = {
    "score_samples": "call model.score(X)",
    "predict_proba": "call model.probability(X), which returns the probability of the positive class",
    "shapes": "call pnorm.shapes(model.lam, model.H)",
    "report_html": "call pnorm.report_html(path, X, y, model.H, model.lam, p=model.p, intercept=model.intercept, "
    "slope=model.slope)",
    "feature_importances_": "call pnorm.importance(pos, neg, model.H, model.lam)",
    "choose_cutoff": "call pnorm.cutoff(model.score(X), y=y, ...), and pass what it returns to ScoringFunction",
    "threshold_": "see model.cutoff and model.intercept",
    "classes_": "model.predict returns True for the positive class",
    "fit": "load returns no estimator",
    "get_params": "load returns no estimator",
}
"""Members of an estimator that a scoring function lacks, and what to use instead."""


@dataclass(frozen=True, eq=False, repr=False)
class ScoringFunction:
    """A scoring function ``f = Σ_j λ_j h_j`` in one object: coefficients, weak rankers, power, intercept and cut-off.

    `load` returns one. Make one after training to keep together what `score` and `probability` need. It scores and
    explains rows without scikit-learn. It is no estimator: it cannot be fitted again or cross-validated.

    Parameters
    ----------
    lam : array_like, shape (n,)
        Coefficients, one per weak ranker. The attribute is a read-only array.
    H : None, sequence of callables, or Rankers
        The weak rankers. They are those that `train` was given. None is the columns of the data, by position.
    p : float, optional
        The power, for the record; scores do not depend on it. `probability` needs it.
    metadata : dict, optional
        Further information: strings, numbers, True, False, None, and lists and dictionaries of these.
    version : str
        The version of pnorm that wrote the file; by default, this one.
    intercept : float, optional
        b, the `intercept` of the trace, or of `pnorm.intercept`. `probability` needs it.
    cutoff : Cutoff, optional
        The result of `pnorm.cutoff`. `predict` needs it.
    average : array_like, shape (columns,), optional
        The mean part of each column in the scores of the rows that `explain` compares with. `save` writes that of an
        estimator: of the average negative training row, or the positive one with ``push="bottom"``.
    compared_with : str
        What these rows are, in words.
    slope : float
        The factor of the log odds in `probability`, above 0. `save` writes the `slope_` of an estimator.

    Raises
    ------
    ValueError, TypeError
        If `lam` is not one finite number per weak ranker, `average` not one per column of ``H.column_names``, `p` is
        below 1, or an argument has another type.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> lam, trace = pnorm.train(data.pos, data.neg, p=4)
    >>> cut = pnorm.cutoff(data.pos @ lam, data.neg @ lam, budget=100)
    >>> model = pnorm.ScoringFunction(lam, p=4, intercept=trace.intercept, cutoff=cut)
    >>> model.score(data.X[:2]).round(3), model.probability(data.X[:2]).round(3)
    (array([0.605, 0.523]), array([0.6, 0.5]))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "boards.json"
    >>> pnorm.save(path, model)
    >>> loaded = pnorm.load(path)
    >>> loaded.predict(data.X[:2]), loaded.decision_function(data.X[:2]) > 0
    (array([False, False]), array([ True,  True]))
    >>> loaded.explain(data.X[:2]).contributions.shape
    (2, 9)
    """

    lam: Vector
    H: Rankers = None  # type: ignore[assignment]
    p: float | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    version: str = _THIS
    intercept: float | None = None
    cutoff: Cutoff | None = None
    average: Vector | None = None
    compared_with: str = "the average of the reference"
    slope: float = 1.0

    def __post_init__(self) -> None:
        H, lam = self.H, self.lam
        if not isinstance(H, Rankers):
            H = columns(_checks.n_rows(lam, "lam")) if H is None else callables(H)
        lam = _checks.vector(lam, "lam", len(H), "one coefficient per weak ranker").copy()
        lam.flags.writeable = False
        average = self.average
        if average is not None:
            average = _checks.vector(average, "average", len(H.column_names), "one number per column").copy()
            average.flags.writeable = False
        if not isinstance(self.compared_with, str):
            raise TypeError(f"compared_with must be words; got {type(self.compared_with).__name__}")
        known = {
            "H": H,
            "lam": lam,
            "p": None if self.p is None else _checks.power(self.p),
            "intercept": self._own_intercept(),
            "cutoff": None if self.cutoff is None else _is_cutoff(self.cutoff),
            "average": average,
            "slope": _checks.positive(self.slope, "slope"),
        }
        for name, value in known.items():
            object.__setattr__(self, name, value)

    def _own_intercept(self) -> float | None:
        """Return the intercept, checked; that of a trace keeps the kind of its data, of which `probability` warns."""
        if self.intercept is None or isinstance(self.intercept, Intercept):
            return self.intercept
        return _checks.intercept(self.intercept)

    if not TYPE_CHECKING:  # a type checker knows the members

        def __getattr__(self, name: str) -> Any:
            """Refuse an attribute that is not there; for a member of an estimator, say what to use instead."""
            said = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name in _INSTEAD:
                said += f": {_INSTEAD[name]}. joblib.dump and joblib.load keep a fitted estimator as it is"
            raise AttributeError(said, name=name, obj=self)

    def score(self, X: Rows, n_threads: int | None = None) -> Vector:
        """Score rows, as ``pnorm.score(X, model.H, model.lam)`` does.

        Parameters
        ----------
        X : array_like, shape (N, d)
            The rows.
        n_threads : int, optional
            Number of threads; by default, one for each core that this process may use. As in `pnorm.score`.

        Returns
        -------
        ndarray, shape (N,)
            f(x), as ``score_samples`` of the estimator returns it. `decision_function` is this minus a number.

        Raises
        ------
        ValueError, TypeError
            If X does not fit the weak rankers.
        """
        return score(X, self.H, self.lam, n_threads=n_threads)

    def decision_function(self, X: Rows, n_threads: int | None = None) -> Vector:
        """Score rows as ``decision_function`` of the saved estimator does, with zero at the probability 1/2.

        Parameters
        ----------
        X : array_like, shape (N, d)
            The rows.
        n_threads : int, optional
            Number of threads; by default, one for each core that this process may use. As in `pnorm.score`.

        Returns
        -------
        ndarray, shape (N,)
            f(x) plus `intercept`, above 0 where `probability` is above 1/2. The values are those of the estimator to
            the last bit. The cut-off does not change them: `predict` uses it.

        Raises
        ------
        ValueError, TypeError
            If X does not fit the weak rankers, or the model has no intercept.
        """
        if self.intercept is None:
            raise ValueError("the model was saved without intercept, so decision_function has no zero; use score(X)")
        return self.score(X, n_threads) + self.intercept

    def explain(self, X: Rows, reference: Rows | None = None, n_threads: int | None = None) -> Explanation:
        """Compute the contribution of each column to the scores of rows, as `pnorm.explain` does.

        Parameters
        ----------
        X : array_like, shape (N, d)
            The rows.
        reference : rows, or a single row, optional
            Rows, or a row, with which scores are compared. By default, it is the `average` that was saved with the
            model: for an estimator and for the command, the average negative training row, or with ``push="bottom"``
            the positive one. A model without an average compares with X, which then needs rows that differ.
        n_threads : int, optional
            Number of threads; by default, one for each core that this process may use. As in `pnorm.score`.

        Returns
        -------
        Explanation
            `contributions`, shape (N, columns), and `base`, which add up to `score`.

        Raises
        ------
        ValueError, TypeError
            If X or the reference does not fit the weak rankers. Also if X is a single row, or equal rows, and there is
            neither a reference nor an average.
        """
        from pnorm._reasons.explain import beside_average, explain

        if reference is not None or self.average is None:
            return explain(X, self.H, self.lam, reference=reference, n_threads=n_threads)
        n_threads = _checks.threads(n_threads)
        return beside_average(X, self.H, self.lam, self.average, self.compared_with, n_threads)

    def probability(self, X: Rows, n_threads: int | None = None) -> Vector:
        """Estimate the probability that rows are positive, as `pnorm.probability` does.

        Parameters
        ----------
        X : array_like, shape (N, d)
            The rows.
        n_threads : int, optional
            Number of threads; by default, one for each core that this process may use. As in `pnorm.score`.

        Returns
        -------
        ndarray, shape (N,)
            P(y = 1 | x).

        Raises
        ------
        ValueError, TypeError
            If X does not fit the weak rankers, or the model was saved without `p` or `intercept`.
        """
        if self.p is None:
            raise ValueError("the model was saved without p, which probabilities need; save it with p and intercept")
        return probability(X, self.H, self.lam, self.p, self.intercept, slope=self.slope, n_threads=n_threads)

    def predict(self, X: Rows, n_threads: int | None = None) -> NDArray[np.bool_]:
        """Return which rows to take, by the cut-off that was saved with the model.

        Parameters
        ----------
        X : array_like, shape (N, d)
            The rows.
        n_threads : int, optional
            Number of threads; by default, one for each core that this process may use. As in `pnorm.score`.

        Returns
        -------
        ndarray of bool, shape (N,)
            Whether f(x) is ``cutoff.score`` or more.

        Raises
        ------
        ValueError, TypeError
            If X does not fit the weak rankers, or the model has no cut-off.

        Warns
        -----
        UserWarning
            If no cut-off meets the requirement. Then no row is taken.
        """
        if self.cutoff is None:
            raise ValueError(
                "the model has no cut-off: choose one with pnorm.cutoff, from scores of held-out rows, and save it "
                "with pnorm.save(..., cutoff=found)"
            )
        return self.cutoff.takes(self.score(X, n_threads))

    def _repr_html_(self) -> str:
        from pnorm._checks import sheet

        used, most = self.H.column[self.lam != 0.0], 30
        counts = np.bincount(used, minlength=len(self.H.column_names))
        every = np.bincount(self.H.column, minlength=counts.size)
        columns = np.flatnonzero(counts).tolist()
        rows = [(self.H.column_names[c], f"{counts[c]:,} of {every[c]:,}") for c in columns[:most]]
        left = [f"{len(columns) - most:,} more columns"] if len(columns) > most else []
        cut = [] if self.cutoff is None else str(self.cutoff).splitlines()[:1]
        return sheet.as_html(
            ["column", "weak rankers in use"], rows, caption=str(self)[1:-1], note="; ".join(left + cut)
        )

    def __repr__(self) -> str:
        push = "" if self.p is None else f", p = {self.p:g}"
        doubt = told_of_suspects(self.H)
        used = f"{np.count_nonzero(self.lam)} of {self.lam.size} weak rankers in use"
        return f"<ScoringFunction: {used}{push}{f'; {doubt}' if doubt else ''}>"


def save(
    path: _Path,
    lam: Coefficients | Model,
    H: WeakRankers = None,
    p: float | None = None,
    metadata: dict[str, Any] | None = None,
    *,
    intercept: float | None = None,
    cutoff: Any = None,
) -> None:
    """Write a scoring function to a file.

    Parameters
    ----------
    path : str or path-like
        The file. An existing file is replaced in one step at the end, and is unchanged after an error. If the process
        is killed, a hidden file ``.pnorm-*.tmp`` may remain beside it and can be deleted.
    lam : array_like, shape (n,)
        Coefficients, one per weak ranker. Or a `ScoringFunction`, or a fitted estimator of `pnorm.sklearn`; weak
        rankers, power, intercept, slope, cut-off, and what its reasons compare with are then taken from it, and only
        `metadata` can be passed beside it.
    H : None or Rankers
        The weak rankers. They are those that `train` was given. None, the columns of the data, is saved as
        ``columns(n)`` of `pnorm.rankers`, which identifies columns by position. To keep the names of a frame's columns
        in the model, train with ``columns(frame)``.
    p : float, optional
        The power, for the record; scores do not depend on it.
    metadata : dict, optional
        Further information: strings, numbers, True, False, None, and lists and dictionaries of these. Tuples are
        loaded as lists.
    intercept : float, optional
        b, the `intercept` of the trace, or of `pnorm.intercept`. ``probability`` of the loaded model needs it and p.
    cutoff : Cutoff, optional
        The result of `pnorm.cutoff`. ``predict`` of the loaded model needs it.

    Raises
    ------
    TypeError
        If some weak rankers are functions, which cannot be stored in a file, `lam` is a pipeline, `metadata` contains a
        type that JSON does not have, or `cutoff` is not a `Cutoff`.
    ValueError
        If an argument is passed that is taken from a model or an estimator, `lam` is not one finite number per weak
        ranker, or `p` is below 1.
    OSError
        If the file cannot be written.

    See Also
    --------
    load : Read the file.

    Notes
    -----
    `load` returns a `ScoringFunction`. To load the estimator itself, write it with ``joblib.dump(model, path)``, and
    load it with ``joblib.load`` from trusted sources only.

    The file is JSON in ASCII, one field per line: ``format``, ``version`` of the format, ``pnorm`` (the version of the
    package), ``p``, ``intercept``, ``slope`` (if it is not 1), ``cutoff`` (the dictionary of `Cutoff.to_dict`) and
    ``compared_with`` (the ``rows`` in words, and the ``parts``, which are `average`) if they were given, ``metadata``,
    ``lam`` and ``H``, the dictionary of `Rankers.to_dict`. Numbers are written with enough digits to be loaded bit for
    bit.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> H = pnorm.rankers.thresholds([[0.5, 1.5]] * 9, names=data.names)
    >>> lam, trace = pnorm.train(data.pos, data.neg, H, p=4)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "boards.json"
    >>> pnorm.save(path, lam, H, p=4, metadata={"trained on": "all 958 boards"}, intercept=trace.intercept)
    >>> model = pnorm.load(path)
    >>> model
    <ScoringFunction: 18 of 18 weak rankers in use, p = 4>
    >>> bool((model.score(data.X) == pnorm.score(data.X, H, lam)).all())
    True
    >>> model.probability(data.X[[0, -1]]).round(3)
    array([0.399, 0.988])
    """
    _checks.path_first(path, "pnorm.save(path, model)")
    target, average, compared_with, slope = _file(path), None, "", 1.0
    if hasattr(lam, "named_steps"):
        raise TypeError(
            "a pipeline cannot be saved: save its last step, pnorm.save(path, pipeline[-1]), which ranks what the "
            "other steps return; or fit PNormPush to the table itself, which it reads without other steps"
        )
    is_estimator = hasattr(lam, "lam_") and hasattr(lam, "rankers_")
    if is_estimator or isinstance(lam, ScoringFunction):
        passed = {"H": H, "p": p, "intercept": intercept, "cutoff": cutoff}
        extra = [name for name, value in passed.items() if value is not None]
        if extra:
            brings = "an estimator" if is_estimator else "a ScoringFunction"
            raise ValueError(f"{brings} brings its own {extra[0]}; leave {extra[0]} out")
        model: Any = lam
        if is_estimator:
            lam, H, p, slope, cutoff = model.lam_, model.rankers_, model.p_, model.slope_, model.cutoff_
            intercept = None if model._offset is None else -model._offset
            average, compared_with = model._average()
        else:
            lam, H, p, intercept, cutoff = model.lam, model.H, model.p, model.intercept, model.cutoff
            average, compared_with, slope = model.average, model.compared_with, model.slope
            metadata = model.metadata if metadata is None else metadata
    if H is None:
        lam = _checks.vector(lam, "lam", None, "one coefficient per column")
        H = columns(_checks.n_rows(lam, "lam"))
    rankers = H if isinstance(H, Rankers) else callables(H)
    try:
        made = rankers.to_dict()
    except TypeError as error:
        raise TypeError(
            f"{error}, and write lam alone with numpy.save: a model file holds numbers and names, and no code"
        ) from None
    fields = {
        "format": _FORMAT,
        "version": _VERSION,
        "pnorm": version,
        "p": None if p is None else _checks.power(p),
        **({} if intercept is None else {"intercept": _checks.intercept(intercept)}),
        **({} if slope == 1.0 else {"slope": slope}),
        **({} if cutoff is None else {"cutoff": _is_cutoff(cutoff).to_dict()}),
        **({} if average is None else {"compared_with": {"rows": compared_with, "parts": average.tolist()}}),
        "metadata": {} if metadata is None else _checks.plain(metadata, "metadata"),
        "lam": _checks.vector(lam, "lam", len(rankers), "one coefficient per weak ranker").tolist(),
        "H": made,
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in fields.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    _model(text, "the model")  # nothing is written that could not be read
    _replace(target, text.encode("ascii"))


def load(path: _Path) -> ScoringFunction:
    """Read a scoring function that `save` wrote.

    Parameters
    ----------
    path : str or path-like
        The file. It need not come from a trusted source: it is JSON, no code in it is run, and every field is checked.
        Reading takes at most 50 times the memory of the file.

    Returns
    -------
    ScoringFunction
        It is no estimator of scikit-learn, even if one was saved (see `save`).

    Raises
    ------
    ValueError
        If the file is not a model, is damaged, or has a version that this version of pnorm cannot read.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pnorm
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> pnorm.save(path, [0.5, -1.0])
    >>> pnorm.load(path).score([[1.0, 2.0], [3.0, 4.0]])
    array([-1.5, -2.5])
    """
    name = shown(os.fsdecode(os.fspath(path)), 1000)
    with open(path, "rb") as stream:
        data = stream.read()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is no model: it is not UTF-8 text ({error.reason} at byte {error.start})") from None
    return _model(text, name)


def _file(path: Any) -> str:
    """Return the file that a path leads to, behind all links; refuse one that cannot be replaced."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be the name of a file; got {type(path).__name__}")
    target = os.path.realpath(os.fsdecode(os.fspath(path)))
    if os.path.lexists(target) and not os.path.isfile(target):
        raise ValueError(f"path must name a file; {shown(target, 1000)} is a folder or a device")
    if not os.path.isdir(os.path.dirname(target)):
        raise FileNotFoundError(errno.ENOENT, "no such folder", os.path.dirname(target))
    if os.path.exists(target) and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file may not be written", target)
    if not os.access(os.path.dirname(target), os.W_OK):
        raise PermissionError(errno.EACCES, "no file can be made in the folder", os.path.dirname(target))
    return target


def write(path: _Path, data: bytes) -> None:
    """Replace a file as a whole, or leave it as it is; write to pipes and devices directly."""
    write_by(path, lambda stream: stream.write(data))


def write_by(path: _Path, fill: Callable[[BinaryIO], object]) -> None:
    """Do as `write` does with what a function writes to a stream."""
    for stream in (sys.stdout, sys.stderr):  # /dev/stdout may be a file, on which others go on writing
        if _is_of(stream, path):
            with naming(os.fsdecode(path)):
                stream.flush()
                fill(stream.buffer)
                stream.flush()
            return
    if os.path.exists(path) and not os.path.isfile(path):
        with naming(os.fsdecode(path)), open(path, "wb") as device:
            fill(device)
    else:
        _replace_by(_file(path), fill)


def _is_of(stream: Any, path: _Path) -> bool:
    """Return whether a stream of this process writes to a path; it may be closed, or be no file."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(stream.fileno()))
    except (OSError, ValueError, AttributeError):
        return False


def _replace(target: str, data: bytes) -> None:
    _replace_by(target, lambda stream: stream.write(data))


def _replace_by(target: str, fill: Callable[[BinaryIO], object]) -> None:
    """Replace a file by a complete one, or leave it as it is."""
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".pnorm-{os.urandom(8).hex()}.tmp")
    old = os.path.exists(target)
    # A replacement is private until it has the mode of the old file; the umask is for new ones.
    mode = 0o600 if old else 0o666
    try:
        with naming(target, temporary):
            with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as stream:
                fill(stream)
                stream.flush()
                os.fsync(stream.fileno())
            if old:
                import shutil  # not at the top, as importing pnorm would load what unpacks archives

                shutil.copymode(target, temporary)
            os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    with contextlib.suppress(OSError):  # that the new name is on the disk as well; not all systems have this
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _model(text: str, name: str) -> ScoringFunction:
    """Return the model of a text, or raise a ValueError that says what is wrong with it."""
    try:
        data = _checks.parsed(text)
        fields = _checks.Fields(data, "its contents", _FORMAT, _VERSION)
        H = from_dict(fields.get("H"))
        lam = np.array(fields.numbers("lam", len(H)))
        p = None if fields.get("p") is None else _checks.power(fields.get("p"))
        b, slope = fields.real_if_there("intercept"), fields.real_if_there("slope")
        cutoff = None
        if "cutoff" in data:
            from pnorm._cutoff import Cutoff

            cutoff = Cutoff.from_dict(fields.of(dict, "cutoff"))
        beside: dict[str, Any] = {} if slope is None else {"slope": slope}
        if "compared_with" in data:
            rows = _checks.Fields.part(fields.of(dict, "compared_with"), "'compared_with'")
            beside["average"] = np.array(rows.numbers("parts", len(H.column_names)))
            beside["compared_with"] = rows.of(str, "rows")
            rows.nothing_else()
        model = ScoringFunction(lam, H, p, fields.of(dict, "metadata"), fields.of(str, "pnorm"), b, cutoff, **beside)
        fields.nothing_else()
    except json.JSONDecodeError as error:
        raise ValueError(f"{name} is no model: it is not JSON, or not all of it is there: {error}") from None
    except RecursionError:
        raise ValueError(f"{name} is no model: {_checks.TOO_DEEP.format('it')}") from None
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name} is no model that this pnorm reads: {error}") from None
    return model


def _is_cutoff(cutoff: Any) -> Cutoff:
    from pnorm._cutoff import Cutoff

    if not isinstance(cutoff, Cutoff):
        raise TypeError(f"cutoff must be what pnorm.cutoff returns; got {type(cutoff).__name__}")
    return cutoff
