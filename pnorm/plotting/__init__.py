"""Pictures of ranked lists and of training; needs Matplotlib, the extra ``plot``.

`pnorm.report_html` draws the precision by depth, the calibration, the choice by cross-validation and the reasons.

Each function draws on ``ax``, or on a new figure, and returns the axes, so that you can change titles and limits. No
function changes Matplotlib's settings. Sizes of text and lines follow your style. Colours follow the background of the
axes, light or dark, and can be told apart by the colour-blind. Lists by a number, such as p, get an ordered scale.
Positives are blue and negatives are orange.

>>> import pnorm
>>> data = pnorm.datasets.tic_tac_toe()
>>> lam, trace = pnorm.train(data.pos, data.neg, p=4)
>>> lists = {4: (pnorm.score(data.pos, None, lam), pnorm.score(data.neg, None, lam))}
>>> ax = pnorm.plotting.ranked_list(lists)
>>> ax.figure.savefig("list.svg")  # doctest: +SKIP
"""

from pnorm.plotting._coefficients import coefficient_path, weights
from pnorm.plotting._lists import ranked_list
from pnorm.plotting._push_path import push_path
from pnorm.plotting._roc import roc
from pnorm.plotting._shapes import shapes
from pnorm.plotting._trace import trace

__all__ = [
    "coefficient_path",
    "push_path",
    "ranked_list",
    "roc",
    "shapes",
    "trace",
    "weights",
]


def __dir__() -> list[str]:
    return __all__
