"""The P-Norm Push on a cluster: `sample`, `train`, `minimize` and `score` for Dask arrays and data frames.

The rows stay in their partitions on the workers. In each round every partition computes a few sums, which are merged
in a fixed order, and the coefficients are sent back. The traffic does not grow with the number of rows. (With query
groups, and with losses other than the exponential one, one or two numbers per row are sent.) Workers store the outputs
of their partitions and no state that changes from round to round. If a worker is lost, its partitions are read again
on another worker, and the run continues with the same numbers.

The functions run on the threads of this process, or on the cluster of the current ``dask.distributed.Client``. Do not
use Dask's ``processes`` scheduler: it stores nothing on workers, so partitions would be sent with every reduction.
The module needs Dask, the extra ``dask``.
"""

try:
    import dask  # noqa: F401
except ImportError:
    from pnorm._checks.text import install

    raise ImportError(f"pnorm.dask needs Dask. {install('dask')}") from None

from pnorm.dask._coded_rows import CodedRows, code_rows
from pnorm.dask._minimize import minimize
from pnorm.dask._sample import sample
from pnorm.dask._score import score
from pnorm.dask._score_table import score_table
from pnorm.dask._train import train

__all__ = [
    "CodedRows",
    "code_rows",
    "minimize",
    "sample",
    "score",
    "score_table",
    "train",
]


def __dir__() -> list[str]:
    return __all__
