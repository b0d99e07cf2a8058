"""The directive ``chart``: a picture of doc/charts.py, in its light or its dark version as the page is."""

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective


class Chart(SphinxDirective):
    """A figure with the name of a chart; the content is its caption."""

    required_arguments = 1
    option_spec = {"alt": directives.unchanged_required}  # noqa: RUF012
    has_content = True

    def run(self):
        if "alt" not in self.options:
            raise self.error("a chart needs :alt:, the text in its place")
        name = self.arguments[0]
        both = nodes.container()  # the theme hides a caption beside the picture that it hides
        for suffix, only in (("", "only-light"), ("-dark", "only-dark")):
            both += nodes.image(uri=f"/_static/{name}{suffix}.svg", alt=self.options["alt"], classes=[only])
        figure = nodes.figure(classes=["chart"])
        figure += both
        caption = nodes.caption()
        for paragraph in self.parse_content_to_nodes():
            caption += paragraph.children if isinstance(paragraph, nodes.paragraph) else paragraph
        figure += caption
        return [figure]


def setup(app):
    app.add_directive("chart", Chart)
    return {"parallel_read_safe": True}
