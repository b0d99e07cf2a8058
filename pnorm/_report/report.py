"""The HTML report on a list: `report_html`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import UnknownLevelWarning, unread_of
from pnorm._checks import Coefficients, FilePath, Label, Labels, Rows, Scores, Seed, Vector
from pnorm._checks.labelled import one_label, positives, without_column
from pnorm._cross_validation import CrossValidation
from pnorm._cutoff import Cutoff, kept_on
from pnorm._files import _file, _replace
from pnorm._job.baselines import baselines
from pnorm._job.learn import kept
from pnorm._job.quality import Quality, quality
from pnorm._reasons.drift import Drift
from pnorm._reasons.drift import drift as compared
from pnorm._reasons.explain import average_row, beside_means, means_of, parts_of, without_level_trends
from pnorm._reasons.importance import Importance, importance
from pnorm._reasons.leaves import places_of
from pnorm._reasons.shapes import Shapes, shapes
from pnorm._recorders import progress_range
from pnorm._report import content, markup
from pnorm._report.findings import Findings, Row
from pnorm._report.markup import text
from pnorm._report.verdicts import counted_together, hidden_probabilities, verdicts
from pnorm._score import score, sigmoid
from pnorm._trace import Trace
from pnorm._version import version
from pnorm.metrics import precision_at
from pnorm.rankers import Rankers, WeakRankers, as_rankers
from pnorm.rankers._table import Table

_REASONS = 3
"""Columns that are named for each row."""

_FEW_FIRST = 50
"""First rows, at least, that show what they lose without a column. If fewer are looked at, as many as there are
positives take their place."""

_CELLS = 2**25
"""Rows times columns whose parts of scores are held at once, for the importance of columns; of more rows, some are
taken."""

_REFERENCE = 10_000
"""Rows whose mean is the average row, at most."""

_SHARES = 100_000
"""Rows from which shares of pieces are told, at most."""

_WIDE = 2_000
"""Columns up to which the list is compared with simple ones."""


class Beside(NamedTuple):
    """The training rows, if they are at hand, and the average row that effects are compared with."""

    training: Any
    means: Vector | None = None
    """The parts of its score, one for each column."""
    told: str = ""
    """The row in words."""
    in_file: Callable[[str], str] = str
    """Replaces rows of tables in a text by places in the file."""
    n_listed: int = 0
    """The number of rows that are listed elsewhere as well, for `quality`."""
    facts: Sequence[str] = ()
    """Sentences that need no action, for the notes below the warnings."""
    of_command: bool = True
    """Whether the command makes the report; else `training` can be passed."""
    of_test: bool = True
    """Whether the rows of the report are known to be rows of a test, if they are said to be held out."""
    at_random: bool = False
    """Whether the held-out rows are known to have been drawn at random."""


@_checks.takes_no_model("report_html(path, X, y)", "pnorm.report_html(path, X, y, model.H, model.lam)")
def report_html(
    path: FilePath,
    X: Rows,
    y: Labels,
    H: WeakRankers,
    lam: Coefficients,
    *,
    p: float | None = None,
    intercept: float | None = None,
    slope: float = 1.0,
    positive: Label | None = None,
    pos_label: Label | None = None,
    ids: Sequence[Hashable] | NDArray[Any] | None = None,
    training: tuple[Rows, Labels] | Beside | None = None,
    others: Mapping[str, Scores] | None = None,
    cross_validation: CrossValidation | None = None,
    trace: Trace | None = None,
    cutoff: Cutoff | None = None,
    drift: Drift | None = None,
    budget: int | None = None,
    l1: float | None = None,
    l2: float | None = None,
    push: str = "top",
    title: str | None = None,
    label: str | None = None,
    held_out: bool = True,
    notes: Sequence[str] = (),
    reproduce: str | Mapping[str, str] | None = None,
    n_rows: int = 20,
    seed: Seed = 0,
    progress: bool | Callable[[int, int], object] = False,
    n_threads: int | None = None,
) -> None:
    r"""Write an HTML report on a ranked list, for readers who decide whether to use the list.

    The page begins with a sentence such as "Of the first 100 rows, 64 are positive (95 % interval 55 to 73)." Its
    sections are: measures with intervals, compared with other lists; the cut-off; precision by depth; the first rows
    with reasons; the importance and the shape of each column; the calibration of probabilities; warnings; the choice of
    p and the penalty; the certificate; how to reproduce the report; and a glossary. A section without input is
    left out.

    Parameters
    ----------
    path : str or path-like
        The file. It is replaced as a whole at the end, or stays as it was. As in `save`.
    X : array_like, shape (N, d), or sequence of N things where the rankers are callables
        Held-out rows, used neither for training nor for any choice. (See `held_out`.)
    y : sequence of N labels, or str
        Their labels. As in `split`.
    H : None, sequence of callables, or Rankers
        The weak rankers. They are those that `train` was given.
    lam : array_like, shape (n,)
        Coefficients, one per weak ranker.
    p : float, optional
        Power of the price r ** p that a negative pays for the positives below it; at least 1. It is printed, and used
        for probabilities.
    intercept : float, optional
        b, the `intercept` of the trace, or of `pnorm.intercept`. With it and `p` the page contains a section on the
        calibration of the probabilities.
    slope : float
        The factor of the log odds of these probabilities, above 0.
    positive : label, optional
        Another name for `pos_label`. As in `split`.
    pos_label : label, optional
        The label of positive rows; all others are negative. As in `split`.
    ids : sequence of length N, optional
        The names of the rows. By default, the index of a pandas frame, unless this is 0, 1, 2, ...; otherwise, the
        numbers of the rows from 0.
    training : pair (rows, labels), optional
        The training rows. Shapes then show their distribution. The page compares the list with a linear
        model, logistic curves, the best column and, if scikit-learn is installed, boosted trees, all learned from
        them, unless `others` is given, and compares the held-out rows with them, unless `drift` is
        given. The reasons compare a row with the average negative of them, or of X without them; with
        ``push="bottom"``, with the average positive.
    others : mapping from name to array_like, shape (N,), optional
        Scores of the rows of X by other models, for comparison.
    cross_validation : CrossValidation, optional
        The choice of p, the penalty and the kind of weak rankers.
    trace : Trace, optional
        The record of training, for the section on the certificate.
    cutoff : Cutoff, optional
        The result of `pnorm.cutoff` on the held-out rows.
    drift : Drift, optional
        The result of `pnorm.drift` for the held-out rows.
    budget : int, optional
        Number of first rows in the first sentence of the page. By default that of a cut-off for a budget, as a share of
        these rows; without one, the largest of 10, 100, 1000, ... that is at most a fifth of the positives.
    l1 : float, optional
        Weight of the penalty ``l1 |lam|_1``, zero or more. For the record.
    l2 : float, optional
        Weight of the penalty ``l2/2 |lam|**2``, zero or at least 1e-140. For the record.
    push : {"top", "bottom"}
        The end of the list that is to be most accurate. As in `train`. At the bottom, the page counts negatives.
    title : str, optional
        The title of the page.
    label : str, optional
        The meaning of positive, such as ``"bought = yes"``.
    held_out : bool
        Whether the rows were not used for training. If they were, the page begins with a warning.
    notes : sequence of str
        Further warnings for the page.
    reproduce : str, or mapping from str to str, optional
        The command, or facts by their names, such as ``{"command": ..., "Seed": "0", "Date": "2026-03-01"}``. The page
        contains no date unless it is given.
    n_rows : int
        Largest number of rows in the list.
    seed : int or numpy.random.Generator
        Random numbers; the same seed gives the same result. They are for the resamples of the intervals.
    progress : bool or callable
        Show a progress bar; needs tqdm, the extra ``progress``. The bar counts four stages: the lists to compare with,
        the changes since training, the measures, and the columns and rows. A function is called as
        ``progress(done, of)``, with the number of finished stages and of all stages, before each stage and at the end.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. As in `score`.

    Raises
    ------
    ImportError
        If `progress` is asked for and tqdm is missing.
    ValueError, TypeError
        If the rows do not fit the rankers, there is only one class, or an argument has another length than X.
    OSError
        If the file cannot be written.

    See Also
    --------
    explain, shapes, importance : The results for columns, as data.
    cutoff : Choose how many rows to take.

    Notes
    -----
    The page needs no network and contains no scripts. It fits light and dark screens and phones, and can be printed.
    Names and values are escaped, and long ones are shortened. Its size is about 100 kB for any number of rows.

    The cost is a few passes over each column and 1000 resamples of at most 2048 groups of rows. Evenly spaced rows are
    used for the shares of shapes if there are more than 100,000 rows, and for the importance of columns if rows times
    columns exceed 33 million. With training rows, the logistic curves to compare with are fitted up to 28 times,
    and up to 300 boosted trees once, on at most 16,384 rows of each class.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> held = np.arange(data.y.size) % 3 == 0
    >>> pos, neg = pnorm.split(data.X[~held], data.y[~held])
    >>> lam, trace = pnorm.minimize(pos, neg, p=4)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "boards.html"
    >>> pnorm.report_html(path, data.X[held], data.y[held], None, lam, trace=trace, label="x won")
    >>> page = path.read_text(encoding="utf-8")
    >>> page[page.index("Of the first") : page.index(" <span")]
    'Of the first 10 rows, 10 are positive'
    """
    _checks.path_first(path, "report_html(path, X, y, H, lam)")
    target = _file(path)
    push, n_rows = _checks.push(push), _checks.count(n_rows, "n_rows", 0)
    n_threads = _checks.threads(n_threads)
    positive = one_label(positive, pos_label)
    X, is_pos = _labelled(X, y, positive, "X", "y")
    n = is_pos.size
    if ids is None:
        ids = index_of(X)
    rankers = as_rankers(H, X, "X")
    lam = _checks.vector(lam, "lam", len(rankers), "one coefficient per weak ranker")
    if ids is not None and _checks.n_rows(ids, "ids") != n:
        raise ValueError(f"ids must hold one id per row of X, {n}; got {_checks.n_rows(ids, 'ids')}")
    power = None if p is None else _checks.power(p)
    b = None if intercept is None else _checks.intercept(intercept)
    factor = _checks.positive(slope, "slope")
    if b is not None and power is None:
        raise ValueError("intercept makes probabilities together with p; give p as well")
    lists = {} if others is None else _checks.scores_by_name(others, "others", n, "one score per row of X")
    said, commands = _checks.texts(notes, "notes"), _checks.texts_by_name(reproduce or {}, "reproduce", "command")
    _checks.instance(cross_validation, "cross_validation", CrossValidation, "pnorm.cross_validate")
    _checks.instance(trace, "trace", Trace, "training")
    cut = _checks.instance(cutoff, "cutoff", Cutoff, "pnorm.cutoff")
    if budget is None and cut is not None and cut.asked == "budget":
        budget = max(1, round(cut.target * n / cut.of))
    moved = _checks.instance(drift, "drift", Drift, "pnorm.drift")
    beside = training if isinstance(training, Beside) else Beside(training)
    trained = None if beside.training is None else _training(beside.training, positive)
    drawn = _shapes(lam, rankers, X, "X") if trained is None else _shapes(lam, rankers, trained[0], "X of training")
    warned: list[Warning] = []
    stage = iter(progress_range(4, progress, "stage"))
    next(stage)
    with kept(warned, UnknownLevelWarning, read=lambda warning: warning):
        f = score(X, rankers, lam, n_threads=n_threads)
        if not lists and others is None and trained is not None and _is_table(X, rankers):
            simple = baselines(*_sides(*trained), rankers, push=push, seed=seed, n_threads=n_threads)
            lists = {baseline.name: baseline.score(X) for baseline in simple}
    next(stage)
    if moved is None and trained is not None:
        moved = compared(trained[0], X, rankers, lam, n_threads=n_threads)
    is_test = _checks.flag(held_out, "held_out")
    unread = counted_together(rankers, unread_of(warned)) if is_test else {}
    if moved is None or not any(column.unseen for column in moved.columns):  # it names them
        said += dict.fromkeys([beside.in_file(text) for text in map(str, warned) if text not in unread])
    chances = None if b is None or power is None else sigmoid(f, power, b, factor)
    next(stage)
    judged = quality(
        f[is_pos],
        f[~is_pos],
        {name: (g[is_pos], g[~is_pos]) for name, g in lists.items()},
        budget=budget,
        push=push,
        probability=None if chances is None else (chances[is_pos], chances[~is_pos]),
        n_listed=max(n_rows, beside.n_listed),
        of_test=is_test and beside.of_test,
        seed=seed,
    )
    next(stage)
    of = _List(X, is_pos, rankers, lam, push, n_threads)
    which, among = "of these rows", of
    if trained is not None:
        which, among = "training row", of._replace(X=trained[0], is_pos=trained[1])
    means = _means(among) if beside.means is None else beside.means
    matters, thinned, depth = _importance(of, judged)
    listed = None if is_test and hidden_probabilities(judged) else chances
    findings = Findings(
        quality=judged,
        verdicts=verdicts(
            judged,
            rankers,
            held_out=is_test,
            cross_validation=cross_validation,
            drift=moved,
            in_file=beside.in_file,
            unread=unread,
            at_random=beside.at_random,
        ),
        alone="" if judged.lists else _why_alone(training, trained is not None, is_test),
        title=text("Report on a ranked list" if title is None else title, 200),
        label="" if label is None else text(label, 200),
        rows_called=_heading(ids),
        rows=_first_rows(of, f, ids, listed, n_rows, means),
        reference=beside.told or average_row(push, which),
        importance=matters,
        thinned=thinned,
        depth=depth,
        shapes=drawn,
        held_out=is_test,
        of_training=trained is not None,
        plan=[replace(column, note=beside.in_file(column.note)) for column in getattr(H, "plan", ())],
        n_training=None if trained is None else (int(trained[1].sum()), int((~trained[1]).sum())),
        n_rankers=len(rankers),
        n_used=int(np.count_nonzero(lam)),
        p=power,
        penalties={
            name: _checks.nonnegative(value, name) for name, value in (("l1", l1), ("l2", l2)) if value is not None
        },
        cross_validation=cross_validation,
        trace=trace,
        cutoff=cutoff,
        on_labels="" if cut is None or beside.of_test else kept_on(cut, f[is_pos], f[~is_pos]),
        drift=moved,
        of_test=beside.of_test,
        at_random=beside.at_random,
        notes=said,
        facts=beside.facts,
        reproduce=commands,
    )
    made = content.sections(findings)
    foot = f"Made by pnorm {text(version)}. This page needs no network and contains no scripts."
    _replace(target, markup.page(findings.title, content.head(findings), made, foot).encode("utf-8"))
    next(stage, None)


def index_of(X: Any) -> Any:
    """Return the index of a pandas frame, if it says more than the numbers of the rows from 0; otherwise None."""
    if not hasattr(X, "iloc"):
        return None
    numbers = X.index.to_numpy()
    return None if np.array_equal(numbers, np.arange(numbers.size)) else X.index


def _heading(ids: Any) -> str:
    """Return the heading of the names of rows: the name of an index of pandas, or a word."""
    if not hasattr(ids, "to_series"):
        return "Row"
    return "index" if ids.name is None else text(ids.name, 30)


def _labelled(X: Any, y: Any, positive: Any, name: str, of_labels: str) -> tuple[Any, NDArray[np.bool_]]:
    """Return rows, and which are positive."""
    if isinstance(y, str):
        X, y = without_column(X, y)
    with _checks.rows_called(name):
        return X, positives(X, y, _checks.n_rows(X, name), positive, of_labels)


def _training(training: Any, positive: Any) -> tuple[Any, NDArray[np.bool_]]:
    """Return the rows of training, and which are positive."""
    X, y = _checks.two(training, "training must be a pair (X, y) of rows and labels")
    return _labelled(X, y, positive, "X of training", "y of training")


def _is_table(X: Any, rankers: Rankers) -> bool:
    """Return whether rows have columns that `from_table` reads, and not too many of them."""
    if _checks.is_sparse(X) or len(rankers.column_names) > _WIDE:
        return False
    return isinstance(rankers, Table) or None not in places_of(X, rankers)


def _why_alone(training: Any, has_training: bool, held_out: bool) -> str:
    """Return why the list is not compared with a linear model."""
    if not held_out:
        return ""
    if has_training:
        return "This list is not compared with a linear model: the rows are not a table, or have too many columns."
    if isinstance(training, Beside) and training.of_command:
        return "This list is not compared with a linear model: this needs the training rows, and the model has none."
    return "This list is not compared with a linear model: pass the training rows as training=(X, y) to add it."


def _sides(X: Any, is_pos: NDArray[np.bool_], step: int = 1) -> tuple[Any, Any]:
    """Return the positives and the negatives, or one of so many."""
    pos, neg = [_checks.rows(X, np.flatnonzero(side)[::step]) for side in (is_pos, ~is_pos)]
    return pos, neg


class _List(NamedTuple):
    """Rows with labels, and what scores them."""

    X: Any
    is_pos: NDArray[np.bool_]
    rankers: Rankers
    lam: Vector
    push: str
    n_threads: int | None


def _first_rows(of: _List, f: Vector, ids: Any, chances: Vector | None, n_rows: int, means: Vector) -> list[Row]:
    """Return the first rows with what raises and lowers their scores the most."""
    X, is_pos, rankers, lam, push, n_threads = of
    order = np.argsort(f if push == "bottom" else -f, kind="stable")[:n_rows]
    if not order.size:
        return []
    some, means = _checks.rows(X, order), without_level_trends(means, X, rankers, lam, n_threads)
    found = beside_means(some, rankers, parts_of(some, rankers, lam, n_threads)[0], means)
    names = [f"row {k}" for k in order.tolist()] if ids is None else _checks.listed(_checks.rows(ids, order))
    return [
        Row(
            text(name, 30),
            bool(is_pos[k]) == (push == "top"),
            float(f[k]),
            None if chances is None else float(chances[k]),
            of_row,
        )
        for name, k, of_row in zip(names, order.tolist(), found._effects(_REASONS), strict=True)
    ]


def _means(of: _List) -> Vector:
    """Return the average row of the class that does not belong at the end of the list, as parts of its score."""
    others = np.flatnonzero(of.is_pos if of.push == "bottom" else ~of.is_pos)
    some = others[np.linspace(0, others.size - 1, min(others.size, _few(of.rankers, _REFERENCE))).astype(np.intp)]
    return means_of(_checks.rows(of.X, some), of.rankers, of.lam, None, of.n_threads)


def _few(rankers: Rankers, most: int) -> int:
    """Return so many rows that their parts of scores fit."""
    return max(100, min(most, _CELLS // max(1, len(rankers.column_names))))


def _importance(of: _List, judged: Quality) -> tuple[Importance | None, int, int]:
    """Return what the first rows lose without each column, of how many rows one was taken, and how many come first."""
    depth = judged.main
    if depth < _FEW_FIRST:  # one row of ten is chance
        depth = max(depth, judged.n_pos if judged.push == "top" else judged.n_neg)
    if not of.lam.any():
        return None, 1, depth
    step = -(-of.is_pos.size // _few(of.rankers, of.is_pos.size))
    k = max(1, depth // step)

    def hits(f_pos: Any, f_neg: Any) -> float:
        return _precision(*((f_pos, f_neg) if judged.push == "top" else (-f_neg, -f_pos)), k)

    with kept([], UnknownLevelWarning):
        return importance(*_sides(of.X, of.is_pos, step), of.rankers, of.lam, hits, n_threads=of.n_threads), step, k


def _precision(f_pos: Vector, f_neg: Vector, k: int) -> float:
    """Return the precision in the first k rows, from the rows that may be among them: most need not be sorted."""
    f = np.concatenate([f_pos, f_neg])
    least = np.partition(f, f.size - k)[f.size - k]
    first_pos, first_neg = f_pos[f_pos >= least], f_neg[f_neg >= least]
    if not (first_pos.size and first_neg.size):
        return float(first_pos.size > 0)
    return precision_at(first_pos, first_neg, k)


def _shapes(lam: Vector, rankers: Rankers, X: Any, name: str) -> Shapes | None:
    """Return the shapes of columns; None if coefficients are too large to draw."""
    if np.abs(lam).max() > _checks.ROOT:
        return None
    with kept([], UnknownLevelWarning), _checks.rows_called(name):
        n = _checks.n_rows(X, "X")
        return shapes(lam, rankers, X if n <= _SHARES else _checks.rows(X, np.arange(0, n, -(-n // _SHARES))))
