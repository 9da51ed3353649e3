"""`python -m henad_web`: the command `henad`, where it is not on the path."""

import sys

from henad_native.cli import main

if __name__ == "__main__":
    sys.exit(main())
