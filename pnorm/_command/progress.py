"""Progress of the command: one line on the standard error stream."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pnorm._checks.text import shown

_PATIENCE = 2.0
"""Seconds before the first line."""

_PAUSE = 0.5
"""Seconds between two changes of the line on a terminal."""

_WIDE = 78


class Progress:
    """A line with the current stage, rewritten in place on a terminal, from the third second on."""

    def __init__(self) -> None:
        self._stream = sys.stderr
        self._start = time.monotonic()
        self._stage, self._share, self._said = "", "", ""
        self._end, self._lock = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._tick, daemon=True) if self._stream.isatty() else None

    def __call__(self, stage: str, done: int = 0, of: int = 0) -> None:
        """Set the current stage, and how much of it is done. It costs little."""
        self._stage, self._share = stage, f": {done:,} of {of:,}" if of else ""

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Keep the line away while other lines are printed on the same terminal."""
        with self._lock:
            self._erase()
            yield
            sys.stdout.flush()

    def _erase(self) -> None:
        if self._said:
            self._stream.write("\r" + " " * len(self._said) + "\r")
            self._stream.flush()
            self._said = ""

    def _tick(self) -> None:
        wait = _PATIENCE
        while not self._end.wait(wait):
            wait = _PAUSE
            self._say()

    def _say(self) -> None:
        stage, share = self._stage, self._share
        if not stage:
            return
        with self._lock:
            if self._end.is_set():
                return
            line = shown(f"pnorm: {stage}{share}, {time.monotonic() - self._start:.0f} s", _WIDE)
            self._stream.write("\r" + line.ljust(len(self._said)))
            self._said = line
            self._stream.flush()

    def __enter__(self) -> Progress:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(self, *error: Any) -> None:
        """Erase the line."""
        with self._lock:
            self._end.set()
            self._erase()
        if self._thread is not None:
            self._thread.join()
