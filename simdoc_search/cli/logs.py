"""What `-v` shows: the log of the library, on stderr."""

from __future__ import annotations

import logging
from typing import Final

import click

from simdoc_search.cli.common import say


class _OnStderr(logging.Handler):
    """One harmless line for each record."""

    def emit(self, record: logging.LogRecord) -> None:
        say(self.format(record), err=True)


def _log_to_stderr(context: click.Context, _parameter: click.Parameter, count: int) -> None:
    if count:
        show_log(context, logging.INFO if count == 1 else logging.DEBUG)


def show_log(context: click.Context, level: int) -> None:
    """Show on stderr what is at least so grave, until the command ends; if `-v` shows less grave things, these."""
    logger, handler = logging.getLogger("simdoc_search"), _OnStderr()
    if any(isinstance(each, _OnStderr) for each in logger.handlers):
        return
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s"))
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    context.call_on_close(lambda: logger.setLevel(before))
    context.call_on_close(lambda: logger.removeHandler(handler))


verbose_option: Final = click.option(
    "-v",
    "--verbose",
    count=True,
    expose_value=False,
    callback=_log_to_stderr,
    help="Say on stderr what is done; -vv: also each request to an engine.",
)
