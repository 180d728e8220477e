"""The group of all commands."""

from __future__ import annotations

from typing import Any

import click

from simdoc_search.cli.apply import apply
from simdoc_search.cli.backfill import backfill
from simdoc_search.cli.backup import backup
from simdoc_search.cli.check import check
from simdoc_search.cli.common import sentences
from simdoc_search.cli.compare import compare
from simdoc_search.cli.config import read_config
from simdoc_search.cli.defaults import defaults
from simdoc_search.cli.delete import delete
from simdoc_search.cli.duplicates import duplicates
from simdoc_search.cli.engine import engine
from simdoc_search.cli.explain import explain
from simdoc_search.cli.index import index
from simdoc_search.cli.info import info
from simdoc_search.cli.languages import languages
from simdoc_search.cli.list import list_command
from simdoc_search.cli.logs import verbose_option
from simdoc_search.cli.passages import passages
from simdoc_search.cli.related import related
from simdoc_search.cli.repair import repair
from simdoc_search.cli.serve import serve
from simdoc_search.cli.show import show
from simdoc_search.cli.similar import similar
from simdoc_search.cli.status import status
from simdoc_search.cli.template import template
from simdoc_search.cli.tune import tune
from simdoc_search.cli.versions import versions
from simdoc_search.cli.watch import watch


class _Commands(click.Group):
    """Turns every error into one safe sentence, including errors of click's own parsing."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with sentences():
            return super().make_context(*args, **kwargs)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] in ("find", "query", "search"):
            ctx.fail(
                f"No such command {args[0]!r}; similar finds documents that share text, passages the text they share"
            )
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        with sentences():
            return super().invoke(ctx)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="simdoc-search", message="%(prog)s %(version)s")
@verbose_option
@click.pass_context
def cli(context: click.Context) -> None:
    """Find documents that share text: near-duplicates, reused passages, versions.

    \b
      simdoc-search index ./corpus
      simdoc-search similar doc123_20_80

    finds the documents that overlap doc123 by 20 % or more, each with a probability of at least 80 %.

    Exit codes: 0 success, 1 failure, 2 invalid arguments or a malformed FINGERPRINT, percentage or address, 130 Ctrl-C.
    """
    context.default_map = read_config(cli)


for _command in (
    index,
    similar,
    passages,
    versions,
    related,
    compare,
    duplicates,
    apply,
    explain,
    list_command,
    show,
    serve,
    info,
    languages,
    tune,
    defaults,
    delete,
    engine,
    template,
    check,
    status,
    repair,
    backup,
    backfill,
    watch,
):
    cli.add_command(_command)
