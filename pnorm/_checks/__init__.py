"""The front door: what users pass in is checked here, once, before any work.

One function per kind of argument. Each returns the value in the form the rest of the package
relies on, or raises `ValueError` or `TypeError` that names the argument, says what was got and
what was expected, and where it helps what to try.
"""

from pnorm._checks.accepted import *
from pnorm._checks.arrays import *
from pnorm._checks.cells import *
from pnorm._checks.documents import *
from pnorm._checks.frames import *
from pnorm._checks.functions import *
from pnorm._checks.grouping import *
from pnorm._checks.models import *
from pnorm._checks.scalars import *
from pnorm._checks.tables import *
from pnorm._checks.values import *
from pnorm._checks.words import *
