"""Tables in files: columns of text or of typed values, with what was assumed to read them."""

from pnorm._tables.batches import Batch, Batches, batches_of
from pnorm._tables.open import open_source
from pnorm._tables.source import Source, TableError

__all__ = ["Batch", "Batches", "Source", "TableError", "batches_of", "open_source"]
