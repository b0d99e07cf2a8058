"""Hooks of the gallery: an order, a style for the pictures, cards of a few panels, and plain text in notebooks."""

import json
import re
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot
from PIL import Image, ImageOps
from sphinx_gallery.sorting import ExplicitOrder

in_order = ExplicitOrder(
    [
        "plot_fraud.py",
        "plot_screening.py",
        "plot_medical_score.py",
        "plot_groups.py",
        "plot_first_steps.py",
        "plot_choose_p.py",
        "plot_weights.py",
        "plot_minimiser.py",
        "plot_many_rows.py",
        "plot_own_price.py",
    ]
)

PANELS = {"plot_choose_p": (0.0, 0.0, 0.536, 1.0), "plot_medical_score": (0.0, 0.0, 0.5, 1.0)}
"""The part of the first picture, as left, upper, right and lower end, whose words can be read on a card."""


def reset(gallery_conf, name):
    """Start every example with the same style, whatever the one before has set.

    Words are larger than in other pictures: figures are 7 inches wide, and telephones show them at half of that.
    """
    pyplot.close("all")
    mpl.rcdefaults()
    pyplot.style.use(Path(__file__).with_name("pnorm.mplstyle"))
    mpl.rcParams.update(dict.fromkeys(["font.size", "axes.titlesize", "axes.labelsize"], 12.5))
    mpl.rcParams.update(dict.fromkeys(["xtick.labelsize", "ytick.labelsize", "legend.fontsize"], 12))


def setup(app):
    """Register what runs after the gallery is generated."""
    app.connect("builder-inited", crop_cards, priority=900)
    app.connect("builder-inited", write_notebooks_plainly, priority=900)
    return {"parallel_read_safe": True}


def crop_cards(app):
    """Show some panels on the cards of examples whose pictures have several."""
    folder = Path(app.srcdir) / "gallery" / "images"
    for name, ends in PANELS.items():
        drawn = folder / f"sphx_glr_{name}_001_2_00x.png"
        if not drawn.exists():  # with ``-D plot_gallery=0``
            continue
        with Image.open(drawn) as picture:
            box = [round(end * side) for end, side in zip(ends, 2 * picture.size, strict=True)]
            card = ImageOps.pad(
                picture.convert("RGB").crop(box), app.config.sphinx_gallery_conf["thumbnail_size"], color="white"
            )
        card.save(folder / "thumb" / f"sphx_glr_{name}_thumb.png")


def write_notebooks_plainly(app):
    """Replace roles of Sphinx, which notebooks show as they are, by titles of pages and names of objects."""
    for path in (Path(app.srcdir) / "gallery").glob("*.ipynb"):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = [_plain("".join(cell["source"]))]
        path.write_text(json.dumps(notebook, indent=1), encoding="utf-8")


def _plain(text):
    text = re.sub(r":doc:`/([^`]+)`", lambda page: f"*{_title(page[1])}*", text)
    text = re.sub(r":(?:func|class|mod):`~[\w.]*\.(\w+)`", r"`\1`", text)
    return re.sub(r":(?:func|class|mod):`([\w.]+)`", r"`\1`", text)


def _title(page):
    """The title of a page of the documentation or of an example."""
    doc = Path(__file__).parent
    kind, _, name = page.partition("/")
    path = doc.parent / "examples" / f"{name}.py" if kind == "gallery" else doc / f"{page}.rst"
    lines = path.read_text(encoding="utf-8").splitlines()
    under = next(i for i, line in enumerate(lines) if re.fullmatch("={3,}", line))
    return lines[under - 1].removeprefix('"""')
