"""The command in this process, and what tests ask of its output."""

from functools import partial

import pytest

from pnorm import _default
from pnorm._command import opening
from pnorm._command.main import main

BATCHED = ["in batches"]
"""Among the words of `run`: the rows do not fit in memory."""

BATCHES = pytest.mark.parametrize("batches", [[], BATCHED], ids=["memory", "batches"])


def fixed(l2):
    """Among the words of `run`: nothing is left to choose, p = 1 and this penalty."""
    return "-p", 1, f"l2={l2}"


QUICK = fixed(0.1)


def run(capsys, *words):
    """The status of a command, its output, and its errors."""
    typed = [str(word) for word in words]
    with pytest.MonkeyPatch.context() as patch:
        for word in typed:
            if word == BATCHED[0]:
                patch.setattr(opening, "SHARE", 0.0)
            if word.startswith("l2="):
                patch.setattr(_default, "choose", partial(_default.choose, l2=float(word[3:])))
        status = main([word for word in typed if word != BATCHED[0] and not word.startswith("l2=")])
    return status, *capsys.readouterr()


def ran(capsys, *words):
    """The output of a command that succeeds and has nothing to say on the standard error."""
    status, out, err = run(capsys, *words)
    assert (status, err) == (0, "")
    return out


def refused(capsys, *words):
    """The error of a command that is refused: one line, and nothing else is printed."""
    status, out, err = run(capsys, *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("pnorm: error: ")
    return err


def flat(text):
    return " ".join(text.split())


def read(page):
    return page.read_text(encoding="utf-8")


def cells_of(out):
    """The words of each line behind its name."""
    lines = [line.strip().partition("  ") for line in out.splitlines()]
    return {name: rest.split() for name, _, rest in lines if rest}
