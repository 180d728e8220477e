"""The group of all commands."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from simdoc_search import __version__
from simdoc_search.cli.common import convert_errors
from simdoc_search.cli.config import read_config
from simdoc_search.cli.help_layout import CommandGroup, Formatter

COMMAND_GROUPS: Mapping[str, tuple[str, ...]] = {
    "Find": ("similar", "passages", "compare", "versions", "related"),
    "Clean up": ("duplicates", "apply", "dedupe"),
    "Collection": ("index", "list", "show", "info", "languages", "delete", "serve", "mcp"),
    "Search engine": ("template", "backfill", "status", "watch", "engine"),
    "Maintenance": ("check", "repair", "backup", "defaults", "tune", "explain"),
}
"""The commands, grouped by purpose. Each command is in the module of the same name."""

COMMANDS = sorted(name for names in COMMAND_GROUPS.values() for name in names)


class _Commands(CommandGroup):
    """Imports only the command that runs.

    Every error, even one from click's parser, becomes one printable sentence.
    """

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with convert_errors():
            return super().make_context(*args, **kwargs)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click defines the parameters
        return COMMANDS

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click defines the parameters
        return _import_command(cmd_name) if cmd_name in COMMANDS else None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click defines the parameters
        """Write the commands. The options are in the usage line, so that the help fits a screen."""
        assert isinstance(formatter, Formatter)  # noqa: S101 - tells mypy the type
        formatter.name_width = max(map(len, COMMANDS))
        for title, names in COMMAND_GROUPS.items():
            width = formatter.width - formatter.name_width
            formatter.write_group(title, [(name, _import_command(name).get_short_help_str(width)) for name in names])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] in ("find", "query", "search"):
            ctx.fail(
                f"No such command {args[0]!r}; use `similar` to find documents that share text, or `passages` to find "
                "the text that they share"
            )
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        with convert_errors():
            return super().invoke(ctx)


def _show_verbose_log(context: click.Context, _parameter: click.Parameter, count: int) -> None:
    if count:
        from simdoc_search.cli.logs import show_log

        show_log(context, "INFO" if count == 1 else "DEBUG")


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    options_metavar="[--version] [-v | -vv]",
    subcommand_metavar="COMMAND [--help] ...",
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.option(
    "-v",
    "--verbose",
    count=True,
    expose_value=False,
    callback=_show_verbose_log,
    help="Log to stderr what the command does. -vv also logs each request to an engine.",
)
@click.pass_context
def cli(context: click.Context) -> None:
    """Find documents that share text: copies, reused passages and versions.

    \b
      simdoc-search duplicates ~/Documents                which files are copies?
      simdoc-search passages --file a.pdf --in ~/Papers   where is its text from?
      simdoc-search similar report_20_80                  overlap 20 % or more
    """
    from simdoc_search.cli.logs import hide_client_logs, show_log

    hide_client_logs()
    show_log(context, "WARNING")  # such as that the command waits for an engine
    context.default_map = read_config(cli)


def load_commands() -> dict[str, click.Command]:
    """Return all commands by name. Running one command only imports that command."""
    return {name: _import_command(name) for name in COMMANDS}


def _import_command(name: str) -> click.Command:
    values = vars(import_module(f"simdoc_search.cli.{name}")).values()
    return next(value for value in values if isinstance(value, click.Command) and value.name == name)
