"""Tables of both sides that grow batch by batch, for rows that are read once and do not fit in memory uncoded."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np

from pnorm import _checks
from pnorm._checks.text import naming
from pnorm._storage.base import Index, Table
from pnorm._storage.codebook import Schema, words_of_rows
from pnorm._storage.coded import Coded
from pnorm._storage.combined import Closed, Stacked
from pnorm._storage.dense import Dense
from pnorm._storage.sparse import Sparse
from pnorm._storage.store import OfFeature, OfMatrix, Piece, with_room
from pnorm._threads import SERIAL, Pool

_BLOCK = 2**26
"""Bytes of a block of rows: the C library returns memory to the system at once if it is larger than 32 MB."""

_MANY = 2**20
"""Number of rows that is assumed when codes are packed into words, since the true number is not known yet."""


class Growing:
    """The outputs of weak rankers on labelled rows, which come in batches.

    The codes of each batch are kept separately until all batches have come. Then they are joined, batch after batch,
    and each batch is freed, so the peak memory is that of the table and one batch. With a folder they are files there.
    """

    def __init__(self, folder: str | None = None, pool: Pool = SERIAL) -> None:
        self._folder, self._pool = folder, pool
        self._schema: Schema | None = None
        self._numbers: list[Index] = []
        """The rankers of the codes, if there are codes, and of each matrix."""
        self._complements: list[bool] = []
        self._kept = [_Batches(folder), _Batches(folder)]
        """The data of each batch for either side: words of one byte, words of two, and rows of each matrix."""
        self.sizes = [0, 0]
        """Number of rows of either side."""

    def add(self, pieces: Sequence[Piece], n_rows: int, sides: Sequence[Index]) -> None:
        """Add rows of both sides, given the pieces of all rows and the places of the rows of either side."""
        pieces = [with_room(piece) for piece in pieces]
        features = [piece for piece in pieces if isinstance(piece, OfFeature)]
        matrices = [piece for piece in pieces if isinstance(piece, OfMatrix)]
        if not self._numbers:
            self._begin(features, matrices)
        parts: list[Any] = []
        if self._schema is not None:
            sources = [piece.feature.source for piece in features]
            parts += words_of_rows(self._schema, sources, n_rows, self._pool)
        for k, rows in enumerate(sides):
            self.sizes[k] += rows.size
            if rows.size:
                of_codes = [np.ascontiguousarray(words[:, rows]) for words in parts]
                self._kept[k].put(of_codes, [piece.A[rows].astype(np.float64) for piece in matrices])

    def tables(self) -> list[Table]:
        """Return the tables of both sides; each must have rows."""
        return [self._table(k) for k in range(2)]

    def close(self) -> None:
        """Delete the files of batches that were not joined."""
        for kept in self._kept:
            kept.close()

    def _begin(self, features: Sequence[OfFeature], matrices: Sequence[OfMatrix]) -> None:
        if features:
            own = np.sort(np.concatenate([piece.where for piece in features]))
            ranks = [own.searchsorted(piece.where) for piece in features]
            self._schema = Schema([piece.feature for piece in features], ranks, _MANY)
            self._numbers.append(own)
        for piece in matrices:
            both = piece.complements is not None
            self._complements.append(both)
            self._numbers.append(np.r_[piece.where, piece.complements] if both else piece.where)

    def _table(self, side: int) -> Table:
        n_rows, n_words = self.sizes[side], 0 if self._schema is None else 2
        whole: list[Any] = []
        sparse: list[list[Any]] = [[] for _ in self._complements]
        start = 0
        for batch in self._kept[side].all():
            words, matrices = batch[:n_words], batch[n_words:]
            if not whole:
                whole += [self._room((x.shape[1], n_rows), x.dtype) for x in words]
                whole += [
                    None if _checks.is_sparse(x) else self._room((n_rows, x.shape[1]), np.float64) for x in matrices
                ]
            rows = slice(start, start + batch[0].shape[0])
            for into, part in zip(whole, words, strict=False):
                into[:, rows] = part.T
            for into, part, parts in zip(whole[n_words:], matrices, sparse, strict=True):
                if into is None:
                    parts.append(part)
                else:
                    into[rows] = part
            start = rows.stop
        tables: list[Table] = [] if self._schema is None else [Coded(self._schema, (whole[0], whole[1]))]
        for both, into, parts in zip(self._complements, whole[n_words:], sparse, strict=True):
            table: Table = Dense(into) if into is not None else _stacked(parts)
            tables.append(Closed(table) if both else table)
        return tables[0] if len(tables) == 1 else Stacked(tables, self._numbers)

    def _room(self, shape: tuple[int, int], dtype: Any) -> Any:
        """An uninitialised array, in memory or in a file that is deleted with it."""
        if self._folder is None or 0 in shape:
            return np.empty(shape, dtype)
        with tempfile.TemporaryFile(dir=self._folder) as file, naming(self._folder):
            _allocate(file, math.prod(shape) * np.dtype(dtype).itemsize)
            return np.memmap(file, dtype, "r+", shape=shape)


def _allocate(file: BinaryIO, size: int) -> None:
    """Make a file of zeros that has its place on the disk: to write into a map of one without it ends the process."""
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(file.fileno(), 0, size)
            return
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # of file systems that cannot
                raise
    for start in range(0, size, _BLOCK):
        file.write(bytes(min(_BLOCK, size - start)))
    file.flush()


def _stacked(parts: Sequence[Any]) -> Table:
    """Join the sparse rows of batches."""
    from scipy.sparse import vstack

    return Sparse(vstack(parts, format="csc"))


def memory(table: Table) -> int:
    """Return the bytes that the outputs of a table take."""
    if isinstance(table, Stacked):
        return sum(map(memory, table.parts))
    if isinstance(table, Coded):
        return sum([words.nbytes for words in table.words])
    return 8 * table.stored


class _Batches:
    """Arrays of batches, first in, first out; with a folder, in a file there."""

    def __init__(self, folder: str | None) -> None:
        self._folder = folder or ""
        self._file = None if folder is None else tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self._known: deque[list[Any]] = deque()
        self._left = 0
        """Number of rows that still fit into the last block."""

    def put(self, words: Sequence[Any], matrices: Sequence[Any]) -> None:
        """Store words (m, N) and matrices (N, n) of some rows."""
        arrays = [*[x.T for x in words], *matrices]
        if any([_checks.is_sparse(x) for x in arrays]):
            self._known.append(arrays)
        elif self._file is not None:
            with naming(self._folder):
                for x in arrays:
                    self._file.write(np.ascontiguousarray(x.T).data)
            self._known.append([(x.dtype, x.T.shape) for x in arrays])
        else:
            self._into_blocks(arrays)

    def _into_blocks(self, arrays: Sequence[Any]) -> None:
        """Copy rows into blocks that are large enough for their memory to return to the system when freed."""
        size = len(arrays[0])
        if size > self._left:
            self._shorten()
            self._left = max(_BLOCK // sum([x.shape[1] * x.itemsize for x in arrays]), size)
            self._known.append([np.empty((x.shape[1], self._left), x.dtype).T for x in arrays])
        last = self._known[-1]
        start = len(last[0]) - self._left
        for block, x in zip(last, arrays, strict=True):
            block[start : start + size] = x
        self._left -= size

    def _shorten(self) -> None:
        """Cut off the unused rows of the last block."""
        if self._known and self._left:
            self._known[-1] = [block[: -self._left] for block in self._known[-1]]

    def all(self) -> Iterator[list[Any]]:
        """Yield rows (N, m) of all batches, and free them."""
        self._shorten()
        if self._file is not None:
            with naming(self._folder):
                self._file.seek(0)
        while self._known:
            yield [self._array(x) for x in self._known.popleft()]
        self.close()

    def close(self) -> None:
        """Delete the file."""
        if self._file is not None:
            with contextlib.suppress(OSError):  # of what is still to be written, where the disk is full
                self._file.close()

    def _array(self, known: Any) -> Any:
        if not isinstance(known, tuple):
            return known
        assert self._file is not None
        dtype, shape = known
        out = np.empty(shape, dtype)
        self._file.readinto(out.data.cast("B") if out.size else bytearray())
        return out.T
