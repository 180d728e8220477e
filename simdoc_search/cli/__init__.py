"""The command line. A command parses its arguments, calls one library function and prints the result.

Exit status: 0 success, 1 failure, 2 invalid arguments, 130 Ctrl-C. Results go to stdout, progress and errors to stderr.
Docstrings do not list exceptions, because each one ends the command: `convert_errors` in common.py prints it.

Each command is in the module of the same name. The module NAME_output prints the output of a command, and NAME_page
writes its HTML page. Modules whose names end in _options define options that several commands share. The other modules
are:

group.py                the group of all commands
help_layout.py          the layout of `--help`
html_page.py            writes the pages of `--html`
groups_output.py        `--all` of `versions` and `related`
index_paths.py          indexes the folders that a command searches
index_upgrade.py        `index --with` for an existing store
index_watch.py          `index --watch`
common.py               error handling and output that all commands share
columns.py              `--show`, `--sort`, and links to files
passages_search.py      runs the queries of `passages`
input_text.py           reads query texts from files, pipes and stdin
config.py               reads simdoc.toml
complete.py             shell completion
logs.py                 warnings and `-v`
"""

from __future__ import annotations

import io
import sys

from simdoc_search.errors import MissingExtraError, is_out_of_memory

__all__ = ["OUT_OF_MEMORY_MESSAGE", "main"]

OUT_OF_MEMORY_MESSAGE = "out of memory; give the process or its container more memory, then run the same command again"


def main() -> None:
    """Run the command line."""
    try:
        _main()
    except KeyboardInterrupt:  # Ctrl-C before a command begins
        sys.exit(130)
    except (MemoryError, ImportError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        sys.exit(f"Error: {OUT_OF_MEMORY_MESSAGE}")


def _main() -> None:
    try:
        import click  # noqa: F401 - only to report that click is missing
        import rich  # noqa: F401
    except ImportError:
        sys.exit(f"Error: {MissingExtraError('the command line', 'cli')}")
    from simdoc_search.cli.group import cli

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for characters that the terminal cannot show

    try:
        cli(prog_name="simdoc-search")
    except OSError as error:  # such as a full disk; click handles a closed pipe
        sys.exit(f"Error: cannot write the output: {error.strerror or error}")
