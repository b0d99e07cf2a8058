"""Tables in files: columns of text or of typed values, with what was assumed to read them."""

from pnorm._tables.open import open_source
from pnorm._tables.source import Source, TableError

__all__ = ["Source", "TableError", "open_source"]
