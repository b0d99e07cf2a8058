"""Sphinx configuration. Build with: sphinx-build -W --keep-going doc doc/_build/html"""

import contextlib
import io
import os
import re
import sys
from importlib import metadata
from pathlib import Path

from docutils import nodes
from sphinx.ext import autosummary
from sphinx.util import logging

import pnorm
from pnorm._command import main as command
from pnorm._command import options

project = "pnorm"
author = "The pnorm developers"
project_copyright = "2026, the pnorm developers"
release = version = pnorm.__version__

sys.path.insert(0, str(Path(__file__).parent))
extensions = [
    "_chart",
    "_held",
    "_meta",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "_gallery",
]
exclude_patterns = ["_build", "_outputs", "_install.inc", "_which_tool.inc"]
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "ignore_pattern": r"leads\.py",  # it writes a file for the command
    "within_subsection_order": "_gallery.in_order",
    "reset_modules": ("_gallery.reset",),
    "abort_on_example_error": True,
    "doc_module": ("pnorm",),
    "capture_repr": (),
    "image_srcset": ["2x"],
    "thumbnail_size": (720, 504),  # cards show them at half of that
    "remove_config_comments": True,
    "notebook_extensions": {".py"},
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 3600,
    "write_computation_times": False,
}
default_role = "code"
nitpicky = True
nitpick_ignore_regex = [("py:class", r"(?!pnorm).*"), ("py:obj", r"(?!pnorm).*"), ("py:data", r".*")]

autodoc_typehints = "none"
python_maximum_signature_line_length = 90  # longer ones have a line for each argument
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_validation_checks = {"GL06", "GL07", "GL08", "PR01", "PR02", "PR03", "PR04", "RT01", "RT03", "SS01", "SS05"}
numpydoc_validation_exclude = {  # private, or classes that users do not construct
    r"\._",
    r"\.(WeakRanker|Dataset|GradedLists|MeanOverLists|Trace|Rankers|Certificate|Separability|Limit|Convergence|Chain|Estimate|Roc|Crossing|Summary|Bound|MarginCurve|Approximation|Model|Descent|Schedule|Epochs|CodedRows|CrossValidation|MinimizerPath|EarlyStopping|TimeLimit|Explanation|Shapes|Shape|Importance|Scorecard|PointsOf|Rounding|Cutoff|ColumnProfile|Profile|ColumnDrift|Drift)$",
    r"\.CodedRows\.",
    r"\.(Estimate|MeanOverLists|GradedLists|Roc|Crossing|Bound|MarginCurve|Schedule)\.",
    r"\.Dataset\.",
    r"\.(n_iter|gap|gaps|objective|descended|distances|scores|coef_|intercept_|certificate_|written)$",
    r"\.(CrossValidation|MinimizerPath)\.",
}

autosummary_generate = False  # the tables of the reference pages link to entries on the same page

html_static_path = ["_static"]
html_css_files = ["pnorm.css"]
html_theme = "pydata_sphinx_theme"
html_title = f"pnorm {version}"
html_favicon = "_static/logo.svg"
html_theme_options = {
    "logo": {"text": f"pnorm {version}", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "header_links_before_dropdown": 3,
    "show_nav_level": 1,
    "show_toc_level": 1,
    "back_to_top_button": True,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
html_sidebars = {"index": [], "404": []}
html_show_sourcelink = False
copybutton_exclude = ".linenos, .gp, .go"  # copy neither prompts nor output

# Formulas: MathJax as one file, without fonts, so that pages show them offline. The package that carries it is in the
# extra ``doc``. In an environment without it, pages load MathJax from the address that Sphinx has.
try:
    mathjax = metadata.distribution("sphinx-mathjax-offline").locate_file("sphinx-mathjax-offline/static/mathjax")
except metadata.PackageNotFoundError:
    pass
else:
    html_static_path.append(str(Path(mathjax) / "tex-svg.js"))
    mathjax_path = "tex-svg.js"
mathjax3_config = {"options": {"enableMenu": False}}

# Versions: each is built into a folder of its own on the host, ``stable`` or ``dev``, beside ``versions.json``.
# Pages get a list of versions only where the host's address is given (see developers/documentation.rst).
if host := os.environ.get("PNORM_DOCS_HOST", "").rstrip("/"):
    folder = "dev" if "dev" in version else "stable"
    html_baseurl = f"{host}/{folder}/"
    html_theme_options |= {
        "switcher": {"json_url": f"{host}/versions.json", "version_match": folder},
        "check_switcher": False,
        "show_version_warning_banner": True,
        "logo": html_theme_options["logo"] | {"text": "pnorm"},
        "navbar_start": ["navbar-logo", "version-switcher"],
    }

# Each page gets a link to where it is edited, only if that is given (see developers/documentation.rst).
if edit := os.environ.get("PNORM_DOCS_EDIT", "").rstrip("/"):
    html_theme_options["use_edit_page_button"] = True
    html_theme_options["secondary_sidebar_items"] = ["page-toc", "edit-this-page"]
    html_context = {"edit_page_url_template": f"{edit}/{{{{ file_name }}}}"}

# Checked by ``sphinx-build -b linkcheck`` where there is a network: all links, with their anchors.
linkcheck_timeout = 30
linkcheck_retries = 2
linkcheck_workers = 4

# The command's own help text, for reference/command.rst.
os.environ["COLUMNS"] = "90"
build = Path(__file__).parent / "_build"
build.mkdir(exist_ok=True)
(build / "help.txt").write_text(options.parser().format_help())

# A report of the command, for howto/report.rst. It takes some seconds, so it is made only for a newer package.
(build / "report").mkdir(exist_ok=True)
report = build / "report" / "report.html"
leads = Path(__file__).parents[1] / "examples" / "leads.csv"
newest = max(path.stat().st_mtime for path in [leads, *Path(pnorm.__file__).parent.rglob("*.py")])
if not report.exists() or report.stat().st_mtime < newest:
    with contextlib.redirect_stdout(io.StringIO()):
        command.main([str(leads), *["--label", "bought", "--id", "lead", "--budget", "100", "--report"], str(report)])
html_extra_path = ["_build/report"]


def as_rst(markdown):
    """The change log: the headings differ, lists, bold words and code are the same in both languages."""
    under = {1: "=", 2: "-", 3: "~"}
    return re.sub(r"^(#+) (.*)$", lambda m: f"{m[2]}\n{under[len(m[1])] * len(m[2])}", markdown, flags=re.MULTILINE)


# The change log, for developers/changes.rst.
log = (Path(__file__).parents[1] / "CHANGELOG.md").read_text(encoding="utf-8")
(build / "changes.inc").write_text(as_rst(log), encoding="utf-8")


def initials(text):
    """Keep a reference whose author has one initial from being read as an item of a list, A., B., C., ..."""
    return re.sub(r"^( *\.\. \[\w+(?:-\d+)?\] +[A-Z])\. ", r"\1\\. ", text, flags=re.MULTILINE)


def setup(app):
    """Apply this to the pages, and to the docstrings after numpydoc."""

    def of_page(app, page, source):
        source[:] = map(initials, source)

    def of_docstring(app, what, name, obj, options, lines):
        # Literal blocks of docstrings are formulas in plain text, not Python. The summary of a table is the first
        # paragraph, so that nothing may stand before it.
        lines[:] = map(initials, "\n".join(lines).strip("\n").split("\n"))
        end = next((k for k, line in enumerate(lines) if not line.strip()), len(lines))
        lines[end:end] = ["", ".. highlight:: none"]
        lines += ["", ".. highlight:: default", ""]

    def of_tables(app, doctree):
        for table in doctree.findall(autosummary.autosummary_table):
            for row in table.findall(nodes.row):
                name, *others = [entry.astext().strip() for entry in row.children]
                if not all(others):
                    logging.getLogger(__name__).warning("the table has no summary of %s", name)

    app.connect("source-read", of_page)
    app.connect("doctree-read", of_tables)
    app.connect("autodoc-process-docstring", of_docstring, priority=900)
