"""Compressed files, by their first bytes."""

from __future__ import annotations

import io
import os
import re
import zlib
from collections.abc import Callable

from pnorm._checks.text import first
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
"""Where an archive of tar says what it is."""

_LAYERS = 3
"""Times that a file is unpacked, at most."""


def packed(data: bytes) -> str | None:
    """Return the way in which a file that begins so is compressed, if it is."""
    return next((kind for kind, magic in _PACKED.items() if re.match(magic, data)), None)


def unpacked(path: str, data: bytes) -> bytes:
    """Return what a compressed file holds; other files as they are, workbooks among them."""
    for _ in range(_LAYERS):
        kind = packed(data)
        if kind is None or (kind == "zip" and is_workbook(data)):
            break
        data = _unpack(path, data, kind)
    if data[_TAR] == b"ustar":
        raise TableError(f"{path} is an archive of files (tar); unpack it first")
    return data


def is_workbook(data: bytes) -> bool:
    """Return whether a zip file is a workbook of a spreadsheet program."""
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            if "mimetype" in names:
                return b"opendocument.spreadsheet" in archive.read("mimetype")[:100]
            return "[Content_Types].xml" in names or any(name.startswith("xl/") for name in names)
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, zlib.error):
        return False


def _unpack(path: str, data: bytes, kind: str) -> bytes:
    if kind == "7z":
        raise TableError(f"{path} is compressed (7z); unpack it first")
    try:
        return _WAYS[kind](path, data)
    except (TableError, MemoryError):
        raise
    except Exception as error:  # each library has errors of its own
        raise TableError(f"{path} is compressed ({kind}) and damaged: {error}") from None


def _gzip(path: str, data: bytes) -> bytes:
    import gzip

    return gzip.decompress(data)


def _bzip2(path: str, data: bytes) -> bytes:
    import bz2

    return bz2.decompress(data)


def _xz(path: str, data: bytes) -> bytes:
    import lzma

    return lzma.decompress(data)


def _zstd(path: str, data: bytes) -> bytes:
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]  # of Python 3.14
    except ImportError:
        try:
            import pyarrow
        except ImportError:
            raise TableError(
                f"{path} is compressed (zstd), which takes pyarrow to read, the extra 'parquet' of pnorm: pip install "
                "pyarrow; or unpack it first"
            ) from None
        with pyarrow.CompressedInputStream(pyarrow.BufferReader(data), "zstd") as stream:
            return bytes(stream.read())
    return bytes(zstd.decompress(data))


def _zip(path: str, data: bytes) -> bytes:
    import zipfile

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/") and not _is_extra(name)]
        if len(names) != 1:
            raise TableError(
                f"{path} is an archive (zip) of {len(names)} files{': ' * bool(names)}{first(names, 5)}; a file of "
                "rows is needed, or an archive of one"
            )
        return archive.read(names[0])


def _is_extra(name: str) -> bool:
    """Return whether a file in an archive is one that systems add."""
    return name.startswith("__MACOSX/") or os.path.basename(name) in (".DS_Store", "Thumbs.db")


_WAYS: dict[str, Callable[[str, bytes], bytes]] = {
    "gzip": _gzip, "bzip2": _bzip2, "xz": _xz, "zstd": _zstd, "zip": _zip,
}  # fmt: skip
