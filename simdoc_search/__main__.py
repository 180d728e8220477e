"""Runs the command line by `python -m simdoc_search`."""

import os
import sys

try:
    # Python adds the current directory, which may be the folder being indexed. Its files must not be imported.
    if sys.path[0] == os.getcwd() and not getattr(sys.flags, "safe_path", sys.flags.isolated):  # noqa: PTH109 - imports little
        del sys.path[0]
except FileNotFoundError:  # the folder was removed
    pass

from simdoc_search.cli import main

if __name__ == "__main__":
    main()
