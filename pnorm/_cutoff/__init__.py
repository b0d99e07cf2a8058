"""Cut-offs of a list, with a guarantee for new rows."""

from pnorm._cutoff.choose import check_asked, cutoff, cutoff_of_model, written
from pnorm._cutoff.record import Cutoff, hits_of, kept_on

__all__ = ["Cutoff", "check_asked", "cutoff", "cutoff_of_model", "hits_of", "kept_on", "written"]
