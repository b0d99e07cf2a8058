"""Metadata in the head of each page: a description for search engines, and a title for links in messages."""

import re
from html import escape, unescape

from docutils import nodes

_LENGTH = 200


def _description(doctree):
    """The first paragraph of a page that is a sentence without formulas, cut at the end of a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split()).removeprefix("Result. ")
        is_sentence = len(text) > 30 and text.endswith(".") and not text.startswith("Go to the end")
        if is_sentence and not any(True for _ in paragraph.findall(nodes.math)):
            return text if len(text) <= _LENGTH else f"{text[:_LENGTH].rsplit(' ', 1)[0]} ..."
    return ""


def _add(app, page, template, context, doctree):
    if doctree is None:
        return
    if page == "index":
        context["title"] = "Ranking with the P-Norm Push"
    title = re.sub("<[^>]+>", "", context["title"])  # without its markup
    tags = {"og:type": "website", "og:site_name": "pnorm", "og:title": unescape(title)}
    description = "" if page == "404" else _description(doctree)
    head = []
    if description:
        head.append(f'<meta name="description" content="{escape(description)}">')
        tags["og:description"] = description
    if base := app.config.html_baseurl:
        tags["og:url"] = f"{base}{page}.html"
        if page == "404":  # a host shows this page at any address, so its links start from the root of the version
            head.append(f'<base href="{escape(base)}">')
    head += [f'<meta property="{name}" content="{escape(text)}">' for name, text in tags.items()]
    context["metatags"] = "\n".join([*head, context.get("metatags", "")])


def setup(app):
    """Add the tags when a page is written."""
    app.connect("html-page-context", _add)
    return {"parallel_read_safe": True}
