"""The command line. A command parses, calls one library function, prints.

Exit codes: 0 done, 1 failed, 2 called wrongly. Results go to stdout, progress and errors to stderr.

index.py  similar.py  explain.py  info.py  delete.py    one command each
group.py    the commands as one
common.py   options and output that all commands share
asking.py   the same for the commands that ask
plot.py     an S-curve
"""

from __future__ import annotations

import io
import logging
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    try:
        import click  # noqa: F401 - the message is for those who lack it
        import rich  # noqa: F401
    except ImportError:
        sys.exit("Error: the command line needs an optional part: pip install 'simdoc-search[cli]'")
    from simdoc_search.cli.group import cli

    logging.getLogger("opensearch").addHandler(logging.NullHandler())  # what goes wrong is said once, by us
    logging.getLogger("opensearch").propagate = False
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # an id may hold what the terminal cannot show

    try:
        cli(prog_name="simdoc-search")
    except OSError as error:  # stdout is a full disk; a closed pipe is click's business
        sys.exit(f"Error: cannot write the output: {error.strerror or error}")
