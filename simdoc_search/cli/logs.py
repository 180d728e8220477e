"""Shows the log of the library on stderr: warnings, or more with `-v`."""

from __future__ import annotations

import logging
import sys

import click

from simdoc_search.cli.common import is_quiet
from simdoc_search.display import printable

_NULL_HANDLER = logging.NullHandler()


class _StderrHandler(logging.Handler):
    """Prints one line for each record, without control characters."""

    def emit(self, record: logging.LogRecord) -> None:
        if not is_quiet():
            # rich replaces sys.stderr, so that the line appears above a progress bar. `click.echo` would bypass it.
            sys.stderr.write(f"{printable(self.format(record))}\n")
            sys.stderr.flush()  # the test runner of click 8.2.0 does not


def hide_client_logs() -> None:
    """Hide the logs of the engine clients. The commands report the errors that these clients log."""
    for client in ("opensearch", "elasticsearch", "elastic_transport", "urllib3"):
        logging.getLogger(client).addHandler(_NULL_HANDLER)  # this does nothing if the logger has the handler already
        logging.getLogger(client).propagate = False


def show_log(context: click.Context, level: str) -> None:
    """Show log records of at least this level until the command ends, unless the log is shown already."""
    logger, handler = logging.getLogger("simdoc_search"), _StderrHandler()
    if any(isinstance(existing, _StderrHandler) for existing in logger.handlers):
        return
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s"))
    previous_level = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    context.call_on_close(lambda: logger.setLevel(previous_level))
    context.call_on_close(lambda: logger.removeHandler(handler))
