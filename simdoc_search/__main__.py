"""`python -m simdoc_search`."""

import os
import sys

try:
    # Python put it there. Who indexes a folder often stands in it, and its files are no modules of ours.
    if sys.path[0] == os.getcwd() and not getattr(sys.flags, "safe_path", sys.flags.isolated):  # noqa: PTH109 - see above
        del sys.path[0]
except FileNotFoundError:  # the folder was removed
    pass

from simdoc_search.cli import main

if __name__ == "__main__":
    main()
