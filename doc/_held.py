"""The directive ``held``: the tests that hold a promise, a line each, ``test_file.py::test_that_is_a_sentence``."""

from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

_TESTS = Path(__file__).parents[1] / "tests"


class Held(SphinxDirective):
    """A small line with the sentences that the tests' names are; a test that does not exist is an error."""

    has_content = True

    def run(self):
        files = {}
        for line in self.content:
            file, name = line.strip().split("::")
            if f"\ndef {name}(" not in (_TESTS / file).read_text(encoding="utf-8"):
                raise self.error(f"tests/{file} has no {name}")
            files.setdefault(file, []).append(name.removeprefix("test_").replace("_", " "))
        held = nodes.paragraph(classes=["held"])
        for file, sentences in files.items():
            held += nodes.literal(text=file)
            held += nodes.Text(f" {'; '.join(sentences)}. ")
        return [held]


def setup(app):
    app.add_directive("held", Held)
    return {"parallel_read_safe": True}
