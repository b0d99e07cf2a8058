"""Tables in files: columns of text or of typed values, with what was assumed to read them."""

from pnorm._tables.batches import Batch, Batches, batches_of
from pnorm._tables.labels import NEGATIVE, RANK, UNLABELLED, Groups, Labels, absent, labelled, numbers, positive_labels
from pnorm._tables.source import TableError
from pnorm._tables.whole import Source, is_several, open_source, open_sources

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
