"""Formulas as MathML, which browsers show by themselves: the pages need no network."""

import re

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util.math import get_node_equation_number


def mathml(node, as_block):
    # docutils would set the index of an accented letter below the letter; an empty group takes it
    tex = re.sub(r"\\tilde\s*([a-z])(?=[_^])", r"\\tilde{\1}{}", node.astext())
    return tex2mathml(tex, as_block=as_block)


def visit_inline(translator, node):
    translator.body.append(mathml(node, as_block=False))
    raise nodes.SkipNode


def visit_block(translator, node):
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})</span>')
    translator.body.append(mathml(node, as_block=True) + "</div>")
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
