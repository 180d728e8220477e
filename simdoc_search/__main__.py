"""Runs the command line with `python -m simdoc_search`."""

import os
import sys

try:
    # Python adds the current directory to sys.path. That may be the folder being indexed, so do not import from it.
    if sys.path[0] == os.getcwd() and not getattr(sys.flags, "safe_path", sys.flags.isolated):  # noqa: PTH109 - pathlib is not imported yet
        del sys.path[0]
except FileNotFoundError:  # the current directory was removed
    pass

from simdoc_search.cli import main

if __name__ == "__main__":
    main()
