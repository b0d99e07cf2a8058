"""Print the size of the project: lines of code by folder, long modules, pictures, words of pages.

    python tools/size.py [FOLDER]

A line counts unless it is blank or holds nothing but a comment or a docstring. Only files that git knows are read.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

LONG = 600
"""Lines of a module, comments included, beyond which it is named."""

HAVE_DOCSTRINGS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
IGNORED = {getattr(tokenize, name) for name in ["COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER"]}


def lines_of_python(text: str) -> int:
    """Lines of a module in Python that are code."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, HAVE_DOCSTRINGS) and ast.get_docstring(node):
            docstrings |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {line for token in tokens if token.type not in IGNORED for line in range(token.start[0], token.end[0] + 1)}
    return len(lines - docstrings)


def lines_of_text(text: str) -> int:
    """Lines of code in another language: Cython, C, Meson, CSS, JavaScript."""
    text = re.sub(r'"""[\s\S]*?"""|/\*[\s\S]*?\*/', "", text)
    comment = re.compile(r"\s*(#(?!include|define|undef|if|el|endif|pragma|error)|//|$)")
    return sum(not comment.match(line) for line in text.splitlines())


def main() -> None:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, check=True).stdout
    files = [root / name for name in listed.decode().split("\0") if name]
    lines: Counter[str] = Counter()
    words, long = 0, []
    for path in files:
        suffix = path.suffix
        if suffix in {".rst", ".md", ".inc"} and path.is_relative_to(root / "doc"):
            words += len(path.read_text("utf-8").split())
        elif suffix in {".py", ".pyi", ".pyx", ".pxd", ".h", ".c", ".in", ".build", ".css", ".js", ".html", ".sql"}:
            text = path.read_text("utf-8")
            folder = path.parent.relative_to(root)
            n = lines_of_python(text) if suffix in {".py", ".pyi"} else lines_of_text(text)
            for inside in [folder, *folder.parents][:-1]:
                lines[inside.as_posix()] += n
            if folder.parts[:1] == ("pnorm",) and text.count("\n") > LONG:
                long.append((text.count("\n"), path.relative_to(root).as_posix()))
    for folder, n in sorted(lines.items()):
        print(f"{n:7,}  {folder}")
    print(f"\n{len(long)} modules above {LONG} lines:", *(f"{n:7,}  {name}" for n, name in sorted(long)), sep="\n")
    print(f"\n{sum(path.suffix == '.svg' for path in files)} pictures (SVG), {words:,} words of pages")


if __name__ == "__main__":
    main()
