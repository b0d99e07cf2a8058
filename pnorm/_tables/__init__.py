"""Tables in files: columns of text or of typed values, with what was assumed to read them."""

from pnorm._tables.batches import Batch, Batches, batches_of
from pnorm._tables.labels import NEGATIVE, RANK, UNLABELLED, Groups, Labels, absent, labelled, numbers, positive_labels
from pnorm._tables.many import is_several, open_sources
from pnorm._tables.open import open_source
from pnorm._tables.source import Source, TableError

__all__ = [
    "NEGATIVE",
    "RANK",
    "UNLABELLED",
    "Batch",
    "Batches",
    "Groups",
    "Labels",
    "Source",
    "TableError",
    "absent",
    "batches_of",
    "is_several",
    "labelled",
    "numbers",
    "open_source",
    "open_sources",
    "positive_labels",
]
