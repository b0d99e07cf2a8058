"""Linear ranking of lists with grades: Kendall's tau and NDCG, and their surrogates for training.

Rows come in lists, such as the documents of a query, and every row has a grade. A linear function ``f = <w, x>`` orders
each list. Kendall's tau loss counts the pairs in the wrong order. NDCG measures the grades at the top. Each of the two
losses has a surrogate, a convex upper bound with a subgradient. `train` minimises the mean of a surrogate over the
lists, with subgradient steps for one list at a time. The source is section 17.4 of S. Shalev-Shwartz and S. Ben-David,
"Understanding Machine Learning", 2014.
"""

from pnorm.listwise._losses import kendall_tau_hinge, kendall_tau_loss, ndcg_hinge, ndcg_loss
from pnorm.listwise._train import Epochs, train
from pnorm.metrics import ndcg

__all__ = ["Epochs", "kendall_tau_hinge", "kendall_tau_loss", "ndcg", "ndcg_hinge", "ndcg_loss", "train"]


def __dir__() -> list[str]:
    return __all__
