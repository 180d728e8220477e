"""The command line. A command parses, calls one library function, prints.

Exit codes: 0 done, 1 failed, 2 called wrongly, 130 Ctrl-C. Results go to stdout, progress and errors to stderr.

index.py  similar.py  passages.py  compare.py  explain.py  info.py  ...    one command each
group.py    the commands as one, and what becomes of errors
common.py   options and output that all commands share
query_options.py the same for the commands that ask
similar_output.py  passages_output.py  versions_output.py  related_output.py    what these commands print
passages_page.py  versions_page.py    their pages
comparison_options.py    what counts as a shared passage
duplicates_output.py, duplicates_page.py    output of `duplicates`, and its page
index_watch.py  what `index --watch` does
limit_options.py  what makes sentences alike and documents versions, and which hits are shown
config.py   what simdoc.toml says in place of options
columns.py  which columns hits have, in which order, and links to files
input_text.py texts and queries from files, pipes and standard input
complete.py what a shell completes
logs.py     what -v shows
tune_output.py  what `tune` says
"""

from __future__ import annotations

import io
import logging
import sys

from simdoc_search.workers.memory import is_out_of_memory

__all__ = ["OUT_OF_MEMORY", "main"]

OUT_OF_MEMORY = "out of memory; allow more (the limit of the container), then run the same command again"


def main() -> None:
    """Run the command line."""
    try:
        _main()
    except KeyboardInterrupt:  # before a command begins
        sys.exit(130)
    except (MemoryError, ImportError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        sys.exit(f"Error: {OUT_OF_MEMORY}")


def _main() -> None:
    try:
        import click  # noqa: F401 - the message is for those who lack it
        import rich  # noqa: F401
    except ImportError:
        sys.exit("Error: the command line needs an optional package; install it with: pip install 'simdoc-search[cli]'")
    from simdoc_search.cli.group import cli

    # What goes wrong is said once, by us.
    for client in ("opensearch", "elasticsearch", "elastic_transport", "urllib3"):
        logging.getLogger(client).addHandler(logging.NullHandler())
        logging.getLogger(client).propagate = False
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # an id may hold what the terminal cannot show

    try:
        cli(prog_name="simdoc-search")
    except OSError as error:  # stdout is a full disk; a closed pipe is click's business
        sys.exit(f"Error: cannot write the output: {error.strerror or error}")
