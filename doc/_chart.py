"""The directive ``chart``: a picture that doc/pictures.py draws while the pages are built, as SVG within the page.

A picture is drawn once, in the colours of light pages, and its text stays text. On a dark page a style sheet replaces
each colour by that of `DARK`: in a page where the theme is dark, in a file of its own where the viewer prefers that.
"""

import re
from html import escape
from io import StringIO
from pathlib import Path

import matplotlib.pyplot as plt
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

HERE = Path(__file__).parent

INK, GRID, PAGE = "#222832", "#d8dce2", "#ffffff"
BLUE, ORANGE, GREEN, RED, PURPLE, GREY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#b0578f", "#6d7684"
"""Okabe and Ito's colours, told apart by the colour-blind, as in pnorm.mplstyle."""

DARK = {
    INK: "#ced6dd",
    GRID: "#3f4752",
    PAGE: "#14181e",
    BLUE: "#56b4e9",
    ORANGE: "#f0b93a",
    GREEN: "#37c79b",
    RED: "#ff8a50",
    PURPLE: "#e3a0c8",
    GREY: "#9aa4b0",
    "#440154": "#228b8d",  # of two or three series in the order of their keys, as pnorm.plotting draws them
    "#2d718e": "#58c765",
    "#58c765": "#fde725",
}


def on_dark(text, within=""):
    """Return the rules of CSS for the colours that occur in a picture."""
    both = [(part, light, dark) for light, dark in DARK.items() for part in ("fill", "stroke")]
    return "".join(
        f'{within}[style*="{part}: {light}"] {{ {part}: {dark} !important }}\n'
        for part, light, dark in both
        if f"{part}: {light}" in text
    )


def as_svg(draw, name):
    """Return a picture as SVG. `draw` returns a figure; numbers are rounded down to a hundredth of a point."""
    with plt.style.context([HERE / "pnorm.mplstyle", {"svg.fonttype": "none"}]):
        figure, drawn = draw(), StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(drawn, format="svg", metadata=nothing, transparent=True)
        plt.close(figure)
    text = drawn.getvalue()
    text = text[text.index("<svg ") :].replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "")
    text = text.replace("xlink:href", "href")
    text = re.sub(r"'DejaVu Sans'[^;\"]*sans-serif", "sans-serif", text)
    text = re.sub(r'"[^"<>]*"', lambda value: re.sub(r"(\.\d\d)\d+", r"\1", value[0]), text)
    text = re.sub(r'(?<= d=")[^"]+', lambda path: re.sub(r"\s*([A-Zz])\s*", r"\1", path[0]), text)
    text = re.sub(r' transform="rotate\(-0 [^"]+"|font-family: sans-serif; |text-anchor: start; ', "", text)
    text = text.replace("<svg ", '<svg font-family="sans-serif" ', 1)
    text = re.sub(r"<!--.*?-->|<style.*?</style>", "", text, flags=re.DOTALL)
    used = set(re.findall(r'(?:href="|url\()#(\w+)', text))
    text = re.sub(r' id="([^"]+)"', lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "", text)
    text = re.sub(r'((?:href="|url\()#)', rf"\1{name}-", text)  # a page has several pictures
    return re.sub(r"\n\s*", "\n", _without_bare_groups(text))


def _without_bare_groups(text):
    """Leave out groups without attributes, of which Matplotlib writes one for each mark."""
    kept, parts = [], []
    for part in re.split(r"(<g\b[^>]*>|</g>)", text):
        if part.startswith("<g"):
            kept.append(part != "<g>")
        if kept.pop() if part == "</g>" else not part.startswith("<g") or kept[-1]:
            parts.append(part)
    return "".join(parts)


def as_file(svg):
    """Return a picture with its style sheet, for a file of its own."""
    style = f"<style>\n@media (prefers-color-scheme: dark) {{\n{on_dark(svg)}}}\n</style>\n"
    end = svg.index(">") + 1
    return f"{svg[:end]}\n{style}{svg[end:].lstrip()}"


class Chart(SphinxDirective):
    """A figure with a picture of doc/pictures.py, or of a file of doc/_static; the content is its caption."""

    required_arguments = 1
    option_spec = {"alt": directives.unchanged_required, "class": directives.class_option}  # noqa: RUF012
    has_content = True

    def run(self):
        if "alt" not in self.options:
            raise self.error("a chart needs :alt:, the text in its place")
        name, alt = self.arguments[0], escape(self.options["alt"])
        figure = nodes.figure(classes=["chart", *self.options.get("class", [])])
        figure += nodes.raw(
            "", self.svg(name).replace("<svg ", f'<svg role="img" aria-label="{alt}" ', 1), format="html"
        )
        if self.content:
            caption = nodes.caption()
            for paragraph in self.parse_content_to_nodes():
                caption += paragraph.children if isinstance(paragraph, nodes.paragraph) else paragraph
            figure += caption
        return [figure]

    def svg(self, name):
        kept = HERE / "_static" / f"{name}.svg"
        self.env.note_dependency(str(kept if kept.exists() else HERE / "pictures.py"))
        if kept.exists():
            return re.sub(r"<style>.*?</style>\n", "", kept.read_text(encoding="utf-8"), flags=re.DOTALL)
        import pictures  # what it needs is imported only where a page has a picture

        draw = pictures.DRAWN.get(name)
        if draw is None:
            raise self.error(f"doc/pictures.py has no {name}; it has {', '.join(pictures.DRAWN)}")
        return as_svg(draw, name)


def add_style(app, config):
    """Give the pages the rules for dark pages."""
    every = "".join(f"{part}: {light}" for light in DARK for part in ("fill", "stroke"))
    path = HERE / "_build" / "chart.css"
    path.write_text(on_dark(every, 'html[data-theme="dark"] figure.chart svg '), encoding="utf-8")
    config.html_static_path.append(str(path))
    config.html_css_files.append(path.name)


def setup(app):
    app.add_directive("chart", Chart)
    app.connect("config-inited", add_style)
    return {"parallel_read_safe": True}
