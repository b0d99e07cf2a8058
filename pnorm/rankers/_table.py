"""Weak rankers of a table of mixed columns: the plan of the columns, and the collection."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import Seen, Unread, tell
from pnorm._checks import DATE, DURATION, ONLY, TIME, Cells, Coded, Lines, Vector
from pnorm._checks.text import aligned, first, shown
from pnorm._storage import scoring
from pnorm._storage.features import LARGEST_FEATURE
from pnorm._storage.store import OfFeature, Piece
from pnorm.rankers import _numbers, _times
from pnorm.rankers._base import Found, Index, Rankers, Signs, kind
from pnorm.rankers._forms import DAY_FIRST, MONTH_FIRST, Form
from pnorm.rankers._levels import _Categories
from pnorm.rankers._readings import CATEGORY, KINDS, LEVELS_OF, ORDERED, RARE, Reading, Where, derived
from pnorm.rankers._thresholds import _Thresholds

OF = {DATE: ("trend", "weekday", "hour", "month"), DURATION: ("days",), TIME: ("hours",)}
"""The parts that are read from columns of a kind. Of other kinds, the column itself is used."""

WORD = "word"
"""The part of a column of numbers, dates or times that has indicators of words among them."""

NO_WORD = "(none)"
"""Stands for all other values of that part."""

UNITS = {"trend": "days since 1970-01-01", "days": "days", "hours": "hours since midnight", "hour": "hours"}
"""The units of these parts."""

WRITTEN = {"trend": _times.moment_text, "days": _times.span_text, "hours": _times.clock_text}
"""Formats of these numbers; others are printed as numbers."""

_NOTE = 300
"""Characters of a note, at most, where a plan is printed."""

_TOLD = 8
"""Levels in a message, at most."""

_AT_ONCE = 64
"""Parts of columns that are read at once where each is scored on its own."""

SEPARATES, ID, AS_ASKED = "almost separates the labels alone", "an id", "as asked"
ID_BY_NAME, ID_OF_SEVERAL = f"{ID} by its name", f"{ID} of several rows by its name"
"""The beginnings of notes on columns; the last one is for columns that `kinds` leaves out."""

AGREES = "agrees with the label in"
"""Begins the note on a column that may be another form of the label."""

FILLED, EMPTY, SAME, BETWEEN = "has a value in", "is missing in", "is the same in", "has values from"
"""Begin the note on a column of which nearly all values, or missing ones, one value, or a range, are on one side."""

APART = "and no other value"
"""Follows a number or a date that may stand for a missing value, in notes on columns."""

CODE = "by its name, the numbers may be codes"
"""The note on a column of numbers whose name says that they have no order."""

NONE = "'none' counts as missing"
"""Begins the note on a column of categories with this word, which may be a level."""

ALIKE = "differ only in case or spaces"
"""Of values that may be meant as one, in notes on columns."""

NO_LEVEL = "every value is in fewer than"
"""Begins the note on a column of categories, all of which have too few rows."""


@dataclass(frozen=True)
class ColumnPlan:
    """The kind of a column of a table, and what was made of it."""

    name: str
    kind: str
    values: int
    """Distinct values, without missing ones."""
    missing: int
    rankers: int
    """Number of weak rankers made of it."""
    note: str

    @property
    def separates(self) -> bool:
        """Whether it almost separates the sides alone."""
        return SEPARATES in self.note

    @property
    def agrees(self) -> str:
        """How often it agrees with the label, if that is so often that it may be another form of it; otherwise ""."""
        return next((part for part in self.note.split("; ") if part.startswith(AGREES)), "")

    @property
    def one_sided(self) -> str:
        """In how many rows it has a value, or one value, or is missing, if they nearly all have one label; else ""."""
        return next((part for part in self.note.split("; ") if part.startswith((FILLED, EMPTY, SAME, BETWEEN))), "")

    @property
    def apart(self) -> tuple[str, ...]:
        """Numbers, or a date, that may stand for a missing value."""
        told = next((part.partition(" in ")[0] for part in self.note.split("; ") if APART in part), "")
        return tuple(told.replace(" and ", ", ").split(", ")) if told else ()

    @property
    def none_levels(self) -> str:
        """The levels of a category with the word none among them, for `kinds`; "" if it has none, or many levels."""
        told = next((part for part in self.note.split("; ") if part.startswith(NONE)), "")
        return told.partition("the kind '")[2].partition("'")[0]

    @property
    def _thousands(self) -> tuple[str, str]:
        """A number whose point may stand between thousands, and the number that it then is; otherwise empty texts."""
        told = next((part for part in self.note.split("; ") if _numbers.MAY_MEAN in part), "")
        number, _, other = told.partition(f", {_numbers.MAY_MEAN} ")
        return number.partition(" is read as ")[0], other

    @property
    def is_id(self) -> bool:
        """Whether it was left out as an id."""
        return self.rankers == 0 and self.note.startswith(ID)


@dataclass(frozen=True)
class Ask:
    """What is to be told of a column that was learned from: values that count as missing, or another kind in doubt."""

    column: str
    text: str
    kinds: tuple[str, ...] = ()
    """Words of `kinds` that may be right."""
    lost: bool = True
    """Whether the column is a category or left out, and not read as its values probably are."""
    words: tuple[str, ...] = ()
    """Words that do not read as the other values do, if there are only some. Of values that count as missing, those
    that are repeated and have no digits."""
    unread: Unread | None = None
    """The values that do not read and count as missing, with which the text ends, if there are some."""

    def with_test(self, more: Unread) -> str:
        """Return the text with values of test rows as well that training did not have."""
        assert self.unread is not None
        both = self.unread + more
        are = "is" if more.unknown == 1 else "are"
        rows = f"{more.unknown:,} of them {are} new, in the test rows"
        return f"{self.text.removesuffix(self.unread.told())}{both.told()}; {rows}"


class Plan(tuple[ColumnPlan, ...]):
    """The plan of all columns; it prints as a table."""

    __slots__ = ()

    def _table(self, widest: int) -> list[tuple[str, ...]]:
        """Return the head and a row for each column, with names of so many characters at most."""
        head = ("column", "becomes", "values", "missing", "weak rankers", "")
        rows = [
            (
                shown(of.name, widest),
                of.kind,
                *[f"{n:,}" for n in (of.values, of.missing, of.rankers)],
                shown(of.note, _NOTE),
            )
            for of in self
        ]
        return [head, *rows]

    def to_frame(self) -> Any:
        """Return the plan as a data frame of pandas.

        Returns
        -------
        DataFrame
            A row for each column of the table; the columns are the attributes of `ColumnPlan`.

        Raises
        ------
        ImportError
            If pandas is missing.
        """
        from pnorm._checks import sheet

        return sheet.frame([asdict(of) for of in self], [*ColumnPlan.__dataclass_fields__])

    def __repr__(self) -> str:
        return aligned(self._table(24), (0, 1, 5))

    def _repr_html_(self) -> str:
        from pnorm._checks import sheet

        head, *rows = self._table(sheet.WIDEST)
        return sheet.as_html(head, rows, (0, 1, 5))


def suspects(H: Rankers) -> list[str]:
    """Return the columns that may be known only after the label."""
    plan = getattr(H, "plan", ())
    found = [of.name for note in ("separates", "agrees", "one_sided") for of in plan if getattr(of, note)]
    return list(dict.fromkeys(found))


def told_of_suspects(H: Rankers) -> str:
    """Return that some columns may be known only after the label; empty if there are none."""
    names = suspects(H)
    return f"{first(names, 3, lambda name: shown(name, 40))} may be known only after the outcome" if names else ""


class OfLevels(_Categories):
    """Indicators of the levels of one column, given as codes and counts of unknown values."""

    def _codes(self, X: Any, name: str, columns: Sequence[int]) -> list[Any]:
        return [X]


@dataclass(frozen=True, eq=False)
class Part:
    """The weak rankers of a column, or of a part of it."""

    of: str
    rankers: Rankers
    straight: Rankers | None = None
    """A line in their place, if it is to be chosen between them."""

    def with_line(self, linear: Lines) -> Part:
        """Return the part with a line, without it, or with nothing but it, as far as it has one."""
        of = self.rankers
        if linear == ONLY:
            return Part(self.of, self.straight or of)
        if linear or not isinstance(of, _Thresholds) or not of._lines:
            return Part(self.of, of)
        kept = [k for k, (_, cut) in enumerate(of._cuts) if not math.isinf(cut)]
        names, cuts = [of.names[k] for k in kept], [of._cuts[k] for k in kept]
        return Part(self.of, _Thresholds(names, 1, None, cuts, True, None, of._monotone))

    def prepared(self, reading: Reading, cells: Cells, at: Where, x: Vector | None) -> Any:
        """Return the input of the rankers: a matrix of one column, or codes; `x` are the numbers of the column."""
        if x is None:
            return reading.codes(cells, at)
        if self.of == WORD:
            return self.words(cells), None
        x = derived(self.of, x)
        if self.of not in LEVELS_OF:
            return x[:, None]
        assert isinstance(self.rankers, OfLevels)
        own = self.rankers._levels[0]
        code = np.array([own.index(level) if level in own else len(own) for level in (*LEVELS_OF[self.of], None)])
        return code[np.where(np.isnan(x), -1.0, x).astype(np.intp)].astype(np.uint16), None

    def words(self, cells: Cells) -> NDArray[np.uint16]:
        """Return the numbers of the words of a part that has indicators of these, and the number after for others."""
        assert isinstance(self.rankers, OfLevels)
        own = {_checks.folded(word): k for k, word in enumerate(self.rankers._levels[0])}
        if cells.plain is not None or not isinstance(cells.values, Coded):
            return np.full(len(cells), len(own), np.uint16)
        values = [_checks.folded(value) if isinstance(value, str) else None for value in cells.values.values]
        numbers = [len(own) if word is None else own.get(word, len(own)) for word in values]
        return np.array(numbers, np.uint16)[cells.values.codes]


@dataclass(frozen=True, eq=False)
class Source:
    """A column of the table: how it is read, and its weak rankers."""

    column: int
    reading: Reading
    parts: tuple[Part, ...]
    unread: int = 0
    """Values that did not read, of the rows that it was made from. Most are missing words of `reading` by now."""

    def prepared(self, cells: Cells, at: Where) -> tuple[list[Any], Unread | None]:
        """Return the inputs of the parts, and counts of values that do not read, where a column has numbers."""
        if self.reading.kind == CATEGORY:
            return [part.prepared(self.reading, cells, at, None) for part in self.parts], None
        x, unread = self.reading.read(cells, at)
        unread = replace(unread, in_training=self.unread)
        return [part.prepared(self.reading, cells, at, x) for part in self.parts], unread


class Table(Rankers):
    """Weak rankers of a table of mixed columns.

    Columns are found by name if the rows have names, and by place otherwise.
    """

    def __init__(
        self,
        found: Found,
        width: int,
        sources: Sequence[Source],
        plan: Plan,
        asks: Sequence[Ask] = (),
        as_levels: Sequence[str] = (),
    ) -> None:
        super().__init__([name for source in sources for part in source.parts for name in part.rankers.names])
        self.plan, self.asks = plan, tuple(asks)
        self.as_levels = tuple(as_levels)
        """The columns left out that the kind "category" would use."""
        self._found, self._width, self._sources = found, width, tuple(sources)
        self._parts = [(source, part) for source in sources for part in source.parts]
        self._ends = np.cumsum([len(part.rankers) for _, part in self._parts])

    @property
    def signs(self) -> Signs:
        return np.concatenate([part.rankers.signs for _, part in self._parts])

    @property
    def _is_straight(self) -> bool:
        return any(part.rankers._is_straight for _, part in self._parts)

    def _repr_html_(self) -> str:
        return self.plan._repr_html_()

    def with_lines(self, linear: Lines) -> Table:
        """Return the weak rankers of this `linear`, of a table that was made for all of them."""
        sources = [replace(of, parts=tuple([part.with_line(linear) for part in of.parts])) for of in self._sources]
        plan = list(self.plan)
        for of in sources:
            plan[of.column] = replace(plan[of.column], rankers=sum([len(part.rankers) for part in of.parts]))
        return Table(self._found, len(plan), sources, Plan(plan), self.asks, self.as_levels)

    def with_missing(self, words: Callable[[str], Sequence[str]]) -> Table:
        """Return weak rankers that take more words of new rows for missing values; `words` has those of a column."""
        sources = [
            replace(of, reading=replace(of.reading, missing=tuple(dict.fromkeys((*of.reading.missing, *own)))))
            for of in self._sources
            for own in [words(self.plan[of.column].name)]
        ]
        if [of.reading for of in sources] == [of.reading for of in self._sources]:
            return self
        return Table(self._found, len(self.plan), sources, self.plan, self.asks, self.as_levels)

    def counted(self, seen: Sequence[Seen], n_rows: int) -> Table:
        """Return the weak rankers of a sample with the counts of all rows in the plan, as seen in columns."""
        plan = list(self.plan)
        for source, of in zip(self._sources, seen, strict=True):
            n_missing = n_rows - of.n + isinstance(of, Unread) * of.unknown
            of_sample = plan[source.column]
            note = _recounted(of_sample.note, of) if isinstance(of, Unread) else of_sample.note
            plan[source.column] = replace(of_sample, missing=n_missing, note=note)
        return Table(self._found, len(plan), self._sources, Plan(plan), self.asks, self.as_levels)

    def _planned(self) -> NDArray[np.intp]:
        """Return for each weak ranker the place of its column in the plan: a date has several parts there."""
        columns = np.array([source.column for source, _ in self._parts], np.intp)
        return np.repeat(columns, np.diff(self._ends, prepend=0))

    def _reads(self) -> list[tuple[Hashable, str]]:
        of_columns: list[tuple[Hashable, str]] = []
        for source, part in self._parts:
            of = f" ({part.of})" if source.reading.kind == DATE or part.of == WORD else ""
            label = self.plan[source.column].name + of
            key: Hashable = source.column if self._found is None and not of else label
            of_columns += [(key, label)] * len(part.rankers)
        return of_columns

    def _meanings(self) -> list[str]:
        found = []
        for source, part in self._parts:
            levels = [level for level in source.reading.levels if level not in (RARE, None)]
            told = f"{len(levels)} levels, {first(levels, _TOLD)}"
            for meaning in part.rankers._meanings():
                if source.reading.kind == CATEGORY and meaning == f"x = {RARE!r}":
                    meaning = f"none of {told}"
                elif source.reading.kind == ORDERED:
                    meaning = f"{meaning} of {told}"
                found.append(meaning)
        return found

    def _fields(self) -> dict[str, Any]:
        def of_part(part: Part) -> dict[str, Any]:
            fields = part.rankers._fields()
            own = [key for key in ("cuts", "levels", "monotone") if key in fields]
            return {"of": part.of, "names": list(part.rankers.names)} | {key: fields[key] for key in own}

        return {
            "kind": "table",
            "columns": None if self._found is None else list(self._found),
            "width": self._width,
            "sources": [
                {
                    "column": source.column,
                    "kind": source.reading.kind,
                    "point": source.reading.form.point,
                    "unit": source.reading.form.unit,
                    "order": source.reading.form.order,
                    **({"scaled": True} if source.reading.form.scaled else {}),
                    **({"mixed": True} if source.reading.form.mixed else {}),
                    **({"first_year": year} if (year := source.reading.form.first_year) else {}),
                    **({"written": word} if (word := source.reading.form.written) else {}),
                    **({"missing_words": list(source.reading.missing)} if source.reading.missing else {}),
                    **({"any_case": True} if source.reading.any_case else {}),
                    "levels": [list(source.reading.levels)],
                    "parts": [of_part(part) for part in source.parts],
                }
                for source in self._sources
            ],
            "plan": [asdict(of) for of in self.plan],
        }

    def _prepared(
        self, X: Any, name: str, wanted: Sequence[bool]
    ) -> Iterator[tuple[Rankers, slice, Any, Unread | None]]:
        """Yield the wanted parts, the numbers of their rankers, what these read, and what does not read.

        The last is yielded with the first part of a column.
        """
        parts = [
            (source, part, slice(end - len(part.rankers), end))
            for (source, part), end, want in zip(self._parts, self._ends.tolist(), wanted, strict=True)
            if want
        ]
        used = {source.column: source for source, _, _ in parts}
        assert self._width is not None
        columns = _checks.cells_of(X, name, self._found, self._width, list(used))
        read = {
            column: source.prepared(cells, Where(name, column, self._found))
            for (column, source), cells in zip(used.items(), columns, strict=True)
        }
        told = set[int]()
        for source, part, own in parts:
            inputs, unread = read[source.column]
            yield part.rankers, own, inputs[source.parts.index(part)], None if source.column in told else unread
            told.add(source.column)

    def _values(self, X: Any, k: int) -> _checks.Values:
        """Return the values of which part number k has levels: its column, the names of days or months, or words."""
        source, part = self._parts[k]
        assert self._width is not None
        (cells,) = _checks.cells_of(X, "X", self._found, self._width, [source.column])
        if source.reading.kind == CATEGORY:
            return source.reading.own(cells).values
        if part.of == WORD:
            assert isinstance(part.rankers, OfLevels)
            return Coded([*part.rankers._levels[0], NO_WORD], part.words(cells).astype(np.intp))
        x = derived(part.of, source.reading.numbers(cells, Where("X", source.column, self._found)))
        names = LEVELS_OF[part.of]
        return Coded([*names, None], np.where(np.isnan(x), len(names), x).astype(np.intp))

    def _read(self, X: Any, name: str, seen: list[Seen] | None = None) -> Any:
        found: list[Seen] = [] if seen is None else seen
        read = []
        for rankers, _, rows, unread in self._prepared(X, name, [True] * len(self._parts)):
            read.append(rankers._read(rows, name, found))
            found += [] if unread is None else [unread]
        if seen is None:
            tell(found, strict=name == "X")
        return read

    def _output(self, rows: Any, j: int, name: str) -> Vector:
        k = int(np.searchsorted(self._ends, j, side="right"))
        rankers = self._parts[k][1].rankers
        return rankers._output(rows[k], j - int(self._ends[k]) + len(rankers), name)

    def _terms(self, X: Any, lam: Vector) -> list[scoring.Term]:
        wanted = [bool(own.any()) for own in np.split(lam, self._ends[:-1])]
        if not any(wanted):
            return []
        terms: list[scoring.Term] = []
        for rankers, own, rows, unread in self._prepared(X, "X", wanted):
            terms += rankers._terms(rows, lam[own])
            terms += [] if unread is None else [scoring.Told(unread)]
        return terms

    def _terms_by_column(self, X: Any, lam: Vector) -> Iterator[tuple[int, list[scoring.Term]]]:
        wanted = np.array([own.any() for own in np.split(lam, self._ends[:-1])])
        if not wanted.any():
            yield from super()._terms_by_column(X, lam)
            return
        of_column = self.column
        for start in range(0, wanted.size, _AT_ONCE):  # each part alone would go through all of them
            some = wanted & (np.arange(wanted.size) // _AT_ONCE == start // _AT_ONCE)
            for rankers, own, rows, unread in self._prepared(X, "X", some.tolist()):
                told: list[scoring.Term] = [] if unread is None else [scoring.Told(unread)]
                yield int(of_column[own.start]), rankers._terms(rows, lam[own]) + told

    def _pieces(self, X: Any, name: str, where: Index, complements: Index | None = None) -> list[Piece]:
        pieces: list[Piece] = []
        for rankers, own, rows, unread in self._prepared(X, name, [True] * len(self._parts)):
            first, *others = rankers._pieces(rows, name, where[own], None if complements is None else complements[own])
            if unread is not None:
                assert isinstance(first, OfFeature)
                source = replace(first.feature.source, seen=unread)
                first = replace(first, feature=replace(first.feature, source=source))
            pieces += [first, *others]
        return pieces


def _recounted(note: str, seen: Unread) -> str:
    """Return a note on a sample with the counts of all rows of words for missing values, and of what does not read."""
    n_rows, told = dict(seen.words), 0

    def of_words(found: re.Match[str]) -> str:
        nonlocal told
        n = sum([n_rows.get(_checks.folded(word), 0) for word in re.findall("'([^']*)'", found[1])])
        told += n
        return f"{found[1]} as missing ({n:,} values)" if n else found[0]

    def of_values(_: re.Match[str]) -> str:
        return replace(seen, unknown=seen.unknown + sum(n_rows.values()) - told, found=(), rows=()).told()

    note = re.sub(r"((?:'[^']*'(?: and )?)+ counts?) as missing \([\d,]+ values\)", of_words, note)
    return re.sub(r"[\d,]+ values? do(?:es)? not read as [^:;]* and counts? as missing", of_values, note)


@kind("table")
def _table_of(fields: _checks.Fields) -> Rankers:
    width = fields.count("width", 1)
    found = fields.optional_strings("columns", width)
    plan = []
    for of in fields.inner("plan", width):
        n_values, missing, n_rankers = [of.count(key, 0) for key in ("values", "missing", "rankers")]
        plan.append(
            ColumnPlan(of.of(str, "name"), of.of(str, "kind"), n_values, missing, n_rankers, of.of(str, "note"))
        )
        of.nothing_else()
    sources: list[Source] = []
    for of in fields.inner("sources"):
        column, of_kind = of.count("column", 0), of.choice("kind", KINDS)
        if column >= width or column in [source.column for source in sources]:
            raise ValueError(f"'sources' of a table have column {column} twice, or more columns than its width {width}")
        form = Form(
            of.choice("point", ("", ".", ",")),
            of.choice("unit", ("", *_numbers.UNITS, "min", "mo")),
            of.choice("order", ("", DAY_FIRST, MONTH_FIRST)),
            of.flag("scaled"),
            of.flag("mixed"),
            of.count("first_year", 1900) if of.has("first_year") else 0,
            of.of(str, "written") if of.has("written") else "",
        )
        (levels,) = of.levels("levels", LARGEST_FEATURE - 1)[:1]
        words = of.strings("missing_words", None) if of.has("missing_words") else ()
        reading = Reading(of_kind, form, levels, tuple(map(_checks.folded, words)), of.flag("any_case"))
        parts = []
        for part in of.inner("parts"):
            read_off = part.choice("of", (*OF.get(of_kind, ("",)), *[WORD] * (of_kind != CATEGORY)))
            if of_kind == CATEGORY or read_off in (*LEVELS_OF, WORD):
                (own,) = part.levels("levels", LARGEST_FEATURE - 1)[:1]
                if of_kind == CATEGORY and own != levels:
                    raise ValueError("the levels of a category in a table are not those that its weak rankers read")
                rankers: Rankers = OfLevels(part.strings("names", len(own)), None, [own], True)
            else:
                cuts, lines, between = part.cuts("cuts", 1, True, scoring.CUTS)
                names = part.strings("names", len(cuts))
                rankers = _Thresholds(names, 1, None, cuts, True, lines, part.signs("monotone", 1), between)
            part.nothing_else()
            parts.append(Part(read_off, rankers))
        of.nothing_else()
        sources.append(Source(column, reading, tuple(parts)))
    table = Table(found, width, sources, Plan(plan))
    if fields.strings("names", len(table)) != table.names:
        raise ValueError("the names of a table are not those of its columns")
    return table
