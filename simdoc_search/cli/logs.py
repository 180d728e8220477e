"""Shows the log of the library on stderr (`-v`)."""

from __future__ import annotations

import logging

import click

from simdoc_search.cli.common import say

_NULL_HANDLER = logging.NullHandler()


class _StderrHandler(logging.Handler):
    """Prints one line for each record, without control characters."""

    def emit(self, record: logging.LogRecord) -> None:
        say(self.format(record), err=True)


def show_verbose_log(context: click.Context, count: int) -> None:
    """Show the log for `-v` or `-vv`."""
    show_log(context, logging.INFO if count == 1 else logging.DEBUG)


def hide_client_logs() -> None:
    """Hide the logs of the engine clients. The commands report the errors that these clients log."""
    for client in ("opensearch", "elasticsearch", "elastic_transport", "urllib3"):
        logging.getLogger(client).addHandler(_NULL_HANDLER)  # this does nothing if the logger has the handler already
        logging.getLogger(client).propagate = False


def show_log(context: click.Context, level: int) -> None:
    """Show log records of at least this level until the command ends. This does nothing if `-v` already shows them."""
    logger, handler = logging.getLogger("simdoc_search"), _StderrHandler()
    if any(isinstance(existing, _StderrHandler) for existing in logger.handlers):
        return
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s"))
    previous_level = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    context.call_on_close(lambda: logger.setLevel(previous_level))
    context.call_on_close(lambda: logger.removeHandler(handler))
