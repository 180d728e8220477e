"""The group of all commands."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from simdoc_search import __version__
from simdoc_search.cli.common import convert_errors
from simdoc_search.cli.config import read_config
from simdoc_search.cli.logs import verbose_option

COMMANDS = [
    *("apply", "backfill", "backup", "check", "compare", "dedupe", "defaults", "delete", "duplicates", "engine"),
    *("explain", "index", "info", "languages", "list", "passages", "related", "repair", "serve", "show", "similar"),
    *("status", "template", "tune", "versions", "watch"),
]
"""Names of the commands. Each command is in the module of the same name."""


class _Commands(click.Group):
    """Imports only the command that runs.

    Every error, even one from click's parser, becomes one printable sentence.
    """

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with convert_errors():
            return super().make_context(*args, **kwargs)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - of click
        return COMMANDS

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - of click
        return _import_command(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] in ("find", "query", "search"):
            ctx.fail(
                f"No such command {args[0]!r}; use similar to find documents that share text, or passages to find "
                "the text that they share"
            )
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        with convert_errors():
            return super().invoke(ctx)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="%(prog)s %(version)s")
@verbose_option
@click.pass_context
def cli(context: click.Context) -> None:
    """Find documents that share text: near-duplicates, reused passages and versions.

    \b
      simdoc-search index ./corpus        index the files in a folder
      simdoc-search similar doc123        find the documents that share text with doc123
      simdoc-search passages doc123       show the passages that they share
      simdoc-search duplicates            group the near-duplicates in the store

    To see the options of a command, run: simdoc-search COMMAND --help

    Exit status: 0 success, 1 failure, 2 invalid arguments, 130 Ctrl-C.
    """
    context.default_map = read_config(cli)


def load_commands() -> dict[str, click.Command]:
    """Return all commands by name. Running one command only imports that command."""
    return {name: _import_command(name) for name in COMMANDS}


def _import_command(name: str) -> click.Command:
    values = vars(import_module(f"simdoc_search.cli.{name}")).values()
    return next(value for value in values if isinstance(value, click.Command) and value.name == name)
