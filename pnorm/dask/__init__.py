"""Rows beyond one machine: `train`, `minimize` and `score` on Dask arrays and frames.

The rows stay where they are, partition by partition. A round asks every partition for a few sums, which are
merged in a fixed order, and sends back the coefficients: traffic does not grow with the rows. (With query groups
and with losses other than the papers', one or two numbers for each row travel.) Workers
keep the outputs of their partitions and nothing that changes from round to round, so that a worker may be
lost at any time: its partitions are read again elsewhere, and the run goes on with the same numbers.

It runs on the threads of this process, or on the cluster of the current ``dask.distributed.Client``. (Dask's other
scheduler of processes keeps nothing on the workers: partitions would travel with every reduction.) Needs Dask, the
extra ``dask``.
"""

try:
    import dask  # noqa: F401
except ImportError:
    from pnorm._checks.text import install

    raise ImportError(f"pnorm.dask needs Dask. {install('dask')}") from None

from pnorm.dask._coded_rows import CodedRows, code_rows
from pnorm.dask._cross_validate import cross_validate
from pnorm.dask._minimize import minimize
from pnorm.dask._minimize_path import minimize_path
from pnorm.dask._score import score
from pnorm.dask._score_table import score_table
from pnorm.dask._train import train

__all__ = [
    "CodedRows",
    "code_rows",
    "cross_validate",
    "minimize",
    "minimize_path",
    "score",
    "score_table",
    "train",
]
