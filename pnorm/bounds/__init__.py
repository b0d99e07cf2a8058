"""Generalisation bounds: guarantees of the theory for new rows, as numbers.

Each function evaluates a statement of a paper, or a part of one, for given numbers of rows. All of them assume that
rows are independent draws, positives from one distribution and negatives from another. The class of functions, the
confidence and the margin must be fixed before looking at the rows.

Functions named ``held_out_...`` are for rows that were not used in training. The class is then a single function, and
the bounds are much smaller. Most other bounds are loose. A bound is vacuous if it holds without any theory: an error of
at most 1 or more, a probability of at least 0 or less. Guarantees are of type `Bound`, a float with the attribute
`vacuous`. A vacuous bound prints as such. Bounds are computed in logarithms where they would overflow otherwise.

There are three sources: the P-Norm Push (C. Rudin, COLT 2006 and TR2005-874), the area under the ROC curve (S. Agarwal,
S. Har-Peled, D. Roth, AISTATS 2005), and gradient descent in a kernel space (H. Chen, F. He, Z. Pan, Journal of Applied
Mathematics 2012). The number of positives is I or m, the number of negatives K or n.
"""

from __future__ import annotations

from pnorm.bounds._accuracy import auc_bounds, expected_ranking_accuracy_bound, freund_bound, random_labels_bound
from pnorm.bounds._bound import Bound
from pnorm.bounds._held_out import (
    held_out_auc_confidence,
    held_out_auc_epsilon,
    held_out_auc_sample_size,
    held_out_auc_variance,
    held_out_push_bound,
    held_out_push_confidence,
    held_out_push_epsilon,
    held_out_push_sample_size,
)
from pnorm.bounds._push import (
    MarginCurve,
    log_covering_linear,
    margin_curve,
    push_confidence,
    push_epsilon,
    push_sample_size,
    push_scaling,
)
from pnorm.bounds._rank_matrices import (
    is_rank_matrix,
    rank_matrix,
    rank_matrix_count,
    rank_shatter_exact,
    rank_shatter_linear,
)
from pnorm.bounds._regularized import rate, sample_deviation_bound, sample_error_bound, step_condition

__all__ = [
    "Bound",
    "MarginCurve",
    "auc_bounds",
    "expected_ranking_accuracy_bound",
    "freund_bound",
    "held_out_auc_confidence",
    "held_out_auc_epsilon",
    "held_out_auc_sample_size",
    "held_out_auc_variance",
    "held_out_push_bound",
    "held_out_push_confidence",
    "held_out_push_epsilon",
    "held_out_push_sample_size",
    "is_rank_matrix",
    "log_covering_linear",
    "margin_curve",
    "push_confidence",
    "push_epsilon",
    "push_sample_size",
    "push_scaling",
    "random_labels_bound",
    "rank_matrix",
    "rank_matrix_count",
    "rank_shatter_exact",
    "rank_shatter_linear",
    "rate",
    "sample_deviation_bound",
    "sample_error_bound",
    "step_condition",
]


def __dir__() -> list[str]:
    return __all__
