"""What `-v` shows: the log of the library, on stderr."""

from __future__ import annotations

import logging

import click

from simdoc_search.cli.common import say

__all__ = ["verbose_option"]


class _OnStderr(logging.Handler):
    """One harmless line for each record."""

    def emit(self, record: logging.LogRecord) -> None:
        say(self.format(record), err=True)


def _log_to_stderr(context: click.Context, _parameter: click.Parameter, count: int) -> None:
    if not count:
        return
    logger, handler = logging.getLogger("simdoc_search"), _OnStderr()
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s"))
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO if count == 1 else logging.DEBUG)
    context.call_on_close(lambda: logger.setLevel(level))
    context.call_on_close(lambda: logger.removeHandler(handler))


verbose_option = click.option(
    "-v",
    "--verbose",
    count=True,
    expose_value=False,
    callback=_log_to_stderr,
    help="Say on stderr what is done; -vv: also each request to an engine.",
)
