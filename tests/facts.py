"""Facts of a message, which tests ask for: names, numbers and quoted words, and not its wording."""

import re

import pytest

_FACT = re.compile(
    r"(?<!\w)'[^']+'(?!\w)|--[a-z-]+|[A-Za-z_]\w*(?:[._]\w+)+|[A-Za-z]+\d+"
    r"|(?:(?<![\w-])[-+])?\d(?:[\d,]*\d)?(?:\.\d+)?(?:e[-+]?\d+)?|\w+(?==)|\b(?:[A-Z]?[a-z]+[A-Z]\w+|None|nan|inf|True|False)\b|^\w+"
)
"""Something quoted, an option, a name in code, a number, or the first word."""

_REGEX = re.compile(r"\||\\\\|'\?|'[^']*\.\*[^']*'|\[[^\]]*-|\\[dwsS]|\(\?")
_SIGNS = re.compile(r"\\|\.[*+]|[\^$|\[]")


def pattern(told):
    """The facts of a message in their order, whatever stands between; a message of one fact, or a pattern, as it is."""
    found = [fact.strip("'") for fact in _FACT.findall(told.replace("\\n", " ").replace("\\", ""))]
    if len(found) < 2 or _REGEX.search(told):
        return told if _SIGNS.search(told) else re.escape(told)
    return "(?s)" + ".*".join([rf"(?<!\w){re.escape(fact)}" for fact in found])


def raises(error, told):
    """Expect an error with the facts of a message."""
    return pytest.raises(error, match=pattern(told))


def warns(category, told):
    """Expect a warning with the facts of a message."""
    return pytest.warns(category, match=pattern(told))


def tells(text, told):
    """Whether a text has the facts of a message."""
    return re.search(pattern(told), text) is not None
