"""What the gallery of examples needs beside its configuration: an order, and a style for the pictures."""

from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot
from sphinx_gallery.sorting import ExplicitOrder

in_order = ExplicitOrder(
    [
        "plot_first_steps.py",
        "plot_choose_p.py",
        "plot_minimiser.py",
        "plot_screening.py",
        "plot_fraud.py",
        "plot_groups.py",
        "plot_many_rows.py",
        "plot_own_price.py",
    ]
)


def reset(gallery_conf, name):
    """Start every example with the same style, whatever the one before has set."""
    pyplot.close("all")
    mpl.rcdefaults()
    pyplot.style.use(Path(__file__).with_name("pnorm.mplstyle"))
