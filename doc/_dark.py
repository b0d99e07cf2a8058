"""Pictures for dark pages: where NAME.svg has a NAME-dark.svg beside it, a page gets both and shows one."""

from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform


class Dark(SphinxTransform):
    """Put the dark picture behind the light one, each with the class by which the theme shows it."""

    default_priority = 400

    def apply(self, **kwargs):
        for image in list(self.document.findall(nodes.image)):
            light = image["uri"]
            dark = light.removesuffix(".svg") + "-dark.svg"
            if light.startswith("/") and light.endswith(".svg") and Path(f"{self.env.srcdir}{dark}").exists():
                other = image.deepcopy()
                other["uri"] = dark
                image["classes"].append("only-light")
                other["classes"].append("only-dark")
                above = image.parent
                at = above.index(image)
                if isinstance(above, nodes.figure):  # the theme hides a caption beside the picture that it hides
                    above[at] = nodes.container("", image, other)
                else:
                    above.insert(at + 1, other)


def setup(app):
    """Do this to all pages."""
    app.add_transform(Dark)
    return {"parallel_read_safe": True}
