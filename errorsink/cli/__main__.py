"""`python -m errorsink.cli`."""

import sys

from errorsink.cli import main

if __name__ == "__main__":
    sys.exit(main())
