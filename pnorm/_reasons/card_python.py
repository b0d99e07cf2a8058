"""Scorecards as source of Python."""

from __future__ import annotations

import builtins

from pnorm._checks.words import NARROW, WIDE
from pnorm.rankers import _numbers, _times
from pnorm.rankers._readings import LEVELS_OF

_OF_PYTHON = {
    "trend": "({}_moment(x) - datetime(1970, 1, 1)) / timedelta(days=1)",
    "weekday": f"{LEVELS_OF['weekday']}[{{}}_moment(x).weekday()]",
    "month": f"{LEVELS_OF['month']}[{{}}_moment(x).month - 1]",
    "hour": "{}_moment(x).hour",
    "hours": "({}_moment(x, '1970-01-01 ') - datetime(1970, 1, 1)) / timedelta(hours=1)",
    "days": "{}_days(x)",
}
"""Expressions in Python for the parts of a date, a time of day or a duration."""

_IMPORTS = {
    "bisect_left": "from bisect import bisect_left",
    "datetime": "from datetime import datetime",
    "timedelta": "from datetime import timedelta",
    "re": "import re",
}

_NAMES_OF_PYTHON = {*dir(builtins), *_IMPORTS}
"""Names that the source of a function must not hide."""

_HELPERS = {
    "numeral": '''
def NAME_numeral(word):
    """Return the number that a word spells, or the word."""
    try:
        return float(word) if word.isascii() and "_" not in word else word
    except ValueError:
        return word
''',
    "missing": '''
def NAME_missing(x, words=(), numbers=()):
    """Return whether a value is missing, or one of these words or numbers."""
    if not isinstance(x, str):
        return str(x).lower().lstrip("-s") in ("none", "nan", "nat", "<na>") or x in numbers
    word = " ".join(x.split()).casefold()
    return word in words or NAME_numeral(word) in numbers
''',
    "level": '''
def NAME_level(x, values, texts, words, other):
    """Return the points of a level: by its value, as text without blanks around it, or as a word in any case."""
    if x in values:
        points = values[x]
    elif not isinstance(x, str):
        points = values.get(float(x), other) if float(x) == x else other
    elif x.strip() in texts:
        points = texts[x.strip()]
    else:
        word = x.strip().lower()
        points = words.get(word, words.get(NAME_numeral(word), other))
    if points is None:
        raise ValueError(f"{x!r} has no points")
    return points
''',
    "days": '''
def NAME_days(x):
    """Return the days of a duration."""
    if isinstance(x, str):
        raise ValueError(f"{x!r} is text and no timedelta")
    return x / timedelta(days=1)
''',
    "moment": r'''
def NAME_moment(x, day=""):
    """Return the date and time that a value stands for, by its own clock."""
    text = day + str(x).strip()
    clock = r"[ T]CLOCK"
    zone = "" if day else r"(?:Z|[+-]\d\d(?::?\d\d)?)?"
    if isinstance(x, str) and not re.fullmatch(rf"\d{{4}}-\d\d-\d\d(?:{clock}{zone})?", text):
        raise ValueError(f"Invalid isoformat string: {x!r}")
    return datetime.fromisoformat(text).replace(tzinfo=None)
'''.replace("CLOCK", _times.ISO_CLOCK),
}
"""Functions in the source of a function."""


def _number_of_python() -> str:
    """Return the source of a function that reads a value as a number, as `from_table` does."""
    patterns = {point: pattern.pattern for point, pattern in _numbers.NUMBER_OF.items()}
    plainer = {ord(odd): plain for odd, plain in _numbers.PLAINER.items()}
    alike = {unit: others for unit in _numbers.UNITS if (others := _numbers.alike(unit))}
    wide = "".join(map(chr, NARROW))
    lines = [
        "",
        "def NAME_number(x, point, unit):",
        '    """Return the number that a value stands for."""',
        "    if not isinstance(x, str):",
        '        if unit == "%":',
        '            raise ValueError(f"{x!r} is no number with %")',
        "        return float(x)",
        "    x = x.strip()",
        "    if x.startswith('=\"') and x.endswith('\"') and len(x) > 2:",
        "        x = x[2:-1].strip()",
        f"    if re.fullmatch({WIDE.pattern!a}, x):",
        f"        x = x.translate(str.maketrans({wide!a}, {wide.translate(NARROW)!a}))",
        '    if point != "," and unit != "%" and re.fullmatch("[-+.0-9eE]*[.0-9]", x):',
        "        return float(x)",
        f"    word = re.sub({_numbers.NO_CENTS.pattern!a}, '', x.translate({plainer!a}))",
        f"    account = re.fullmatch({_numbers.ACCOUNT.pattern!a}, word)",
        "    if account:",
        '        word = f"-{account[1]}{account[2]}"',
        f"    found = re.fullmatch({_numbers.DRESSED.pattern!a}, word, re.DOTALL)",
        '    sign, before, inner, rest, behind, after = found.groups(default="")',
        "    found = before or after",
        f"    if found in {alike!a}.get(unit, ()):",
        "        found = unit",
        "    signs = sign + inner + behind",
        "    bare = signs + rest",
        f"    number = re.fullmatch({patterns!a}[point], bare, re.ASCII)",
        f"    for mark in {_numbers.BETWEEN!a}[point]:",
        '        bare = bare.replace(mark, "")',
        '    wrong = found not in (unit, "") or (unit == "%" and not found) or len(signs) > 1 or (before and after)',
        "    if wrong or not number:",
        '        raise ValueError(f"{x!r} is no number as in training")',
        '    return float(bare.replace(point or ".", "."))',
        "",
    ]
    return "\n".join(lines)
