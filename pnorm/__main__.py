"""``python -m pnorm``; the console script ``pnorm`` is the same."""

import sys

from pnorm._command.main import main

if __name__ == "__main__":
    sys.exit(main())
