"""The P-Norm Push as a scikit-learn estimator, and measures of the top as scorers; needs the extra ``sklearn``.

`PNormPush` is a classifier of two classes. Sort rows by its `decision_function` to get a ranked list. It is trained by
`pnorm.train` or `pnorm.minimize` and works in pipelines, searches and cross-validation. `scorer` turns measures of
`pnorm.metrics` into scorers for ``scoring=``. `leaves` turns the leaves of a forest into weak rankers.
"""

from __future__ import annotations

try:
    from pnorm.sklearn._estimator import PNormPush
    from pnorm.sklearn._leaves import leaves
    from pnorm.sklearn._scorers import partial_auc_scorer, positives_at_top_scorer, scorer
except ImportError as error:
    if (error.name or "").partition(".")[0] not in ("joblib", "sklearn"):
        raise
    from pnorm._checks.text import install

    raise ImportError(f"pnorm.sklearn needs scikit-learn 1.4 or newer ({error}). {install('sklearn')}") from error

__all__ = ["PNormPush", "leaves", "partial_auc_scorer", "positives_at_top_scorer", "scorer"]


def __dir__() -> list[str]:
    return __all__
