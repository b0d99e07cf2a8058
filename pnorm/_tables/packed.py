"""Compressed files, by their first bytes."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from pnorm._checks.text import first, install, naming
from pnorm._tables.source import TableError

ZIP = b"PK\x03\x04"

_PACKED = {
    "gzip": rb"\x1f\x8b",
    "bzip2": rb"BZh[1-9](1AY&SY|\x17rE8P\x90)",
    "xz": rb"\xfd7zXZ\0",
    "zstd": rb"\x28\xb5\x2f\xfd",
    "zip": rb"PK(\x03\x04|\x05\x06)",
    "7z": rb"7z\xbc\xaf\x27\x1c",
}

_TAR = slice(257, 262)
"""The position of the signature in a tar archive."""

_START = 512
"""Signatures of files."""

_LAYERS = 3
"""Times that a file is unpacked, at most."""


def packed(data: bytes) -> str | None:
    """Return the way in which a file that begins so is compressed, if it is."""
    return next((kind for kind, magic in _PACKED.items() if re.match(magic, data)), None)


def is_read_once(path: str) -> bool:
    """Return whether a path is the standard input, a pipe, a socket or a device: these give their bytes once."""
    return path == "-" or (os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path))


@contextlib.contextmanager
def unpacked_stream(path: str) -> Iterator[io.BufferedReader]:
    """Open a file whose bytes come unpacked, but those of a workbook."""
    kind = None
    with naming(path), contextlib.ExitStack() as opened:

        def buffered(file: Any) -> io.BufferedReader:
            return opened.enter_context(io.BufferedReader(file))

        if is_read_once(path):
            with contextlib.nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb") as once:
                stream = buffered(io.BytesIO(once.read()))  # archives are read from their end
        else:
            stream = buffered(opened.enter_context(open(path, "rb")))
        try:
            for layer in range(_LAYERS + 1):
                inner = packed(stream.peek(_START))
                if inner == "zip":
                    if layer:  # its end is read first, and other streams go forward
                        stream = buffered(io.BytesIO(stream.read()))
                    book = is_workbook(stream)
                    stream.seek(0)
                    if book:
                        break
                if inner is None:
                    break
                if layer == _LAYERS:
                    raise TableError(f"{path} is compressed more than {_LAYERS} times; unpack it first")
                kind = inner
                if kind == "7z":
                    raise TableError(f"{path} is compressed (7z); unpack it first")
                stream = buffered(opened.enter_context(_WAYS[kind](path, stream)))
            if stream.peek(_START)[_TAR] == b"ustar":
                raise TableError(f"{path} is an archive of files (tar); unpack it first")
            yield stream
        except (TableError, MemoryError):
            raise
        except Exception as error:  # each library has errors of its own
            if kind is None:
                raise
            raise TableError(f"{path} is compressed ({kind}) and damaged: {error}") from None


def is_workbook(file: BinaryIO) -> bool:
    """Return whether a zip file is a workbook of a spreadsheet program."""
    import zipfile

    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
            if "mimetype" in names:
                return b"opendocument.spreadsheet" in archive.read("mimetype")[:100]
            return "[Content_Types].xml" in names or any(name.startswith("xl/") for name in names)
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, zlib.error):
        return False


def _gzip(path: str, file: BinaryIO) -> Any:
    import gzip

    return gzip.GzipFile(fileobj=file, mode="rb")  # the mode of a file within GzipFile is a number


def _bzip2(path: str, file: BinaryIO) -> Any:
    import bz2

    return _Members(file, bz2.BZ2Decompressor)


def _xz(path: str, file: BinaryIO) -> Any:
    import lzma

    return _Members(file, lzma.LZMADecompressor)


class _Members(io.RawIOBase):
    """The content of compressed members, one after the other; zeros behind them are padding, other bytes an error.

    The same holds for gzip. BZ2File and LZMAFile take such bytes for the end, and lose the members behind them.
    """

    def __init__(self, file: BinaryIO, member: Callable[[], Any]) -> None:
        self._file, self._member, self._open = file, member, member()

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        data = given = b""
        while not data:
            if self._open.eof:
                given = self._open.unused_data.lstrip(b"\0")
                while not given:
                    more = self._file.read(_START)
                    if not more:
                        return 0
                    given = more.lstrip(b"\0")
                self._open = self._member()
            elif self._open.needs_input:
                given = self._file.read(io.DEFAULT_BUFFER_SIZE)
                if not given:
                    raise EOFError("Compressed file ended before the end-of-stream marker was reached")
            data, given = self._open.decompress(given, len(into)), b""
        into[: len(data)] = data
        return len(data)


def _zstd(path: str, file: BinaryIO) -> Any:
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]  # of Python 3.14
    except ImportError:
        try:
            import pyarrow
        except ImportError:
            raise TableError(
                f"{path} is compressed (zstd). Reading it needs pyarrow. {install('parquet')}, or unpack it first"
            ) from None
        return pyarrow.CompressedInputStream(pyarrow.PythonFile(file, "r"), "zstd")
    return zstd.ZstdFile(file)


def _zip(path: str, file: BinaryIO) -> Any:
    import zipfile

    archive = zipfile.ZipFile(file)
    names = [name for name in archive.namelist() if not name.endswith("/") and not _is_extra(name)]
    if len(names) != 1:
        raise TableError(
            f"{path} is an archive (zip) of {len(names)} files{': ' * bool(names)}{first(names, 5)}; a file of "
            "rows is needed, or an archive of one"
        )
    if min([of.header_offset for of in archive.infolist()]):
        raise TableError(f"{path} is an archive (zip) behind another; unpack them first")
    return archive.open(names[0])


def _is_extra(name: str) -> bool:
    """Return whether a file in an archive is one that systems add."""
    return name.startswith("__MACOSX/") or os.path.basename(name) in (".DS_Store", "Thumbs.db")


_WAYS: dict[str, Callable[[str, BinaryIO], Any]] = {
    "gzip": _gzip, "bzip2": _bzip2, "xz": _xz, "zstd": _zstd, "zip": _zip,
}  # fmt: skip
