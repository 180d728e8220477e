"""The layout of help texts.

`--help` fits a screen. It shows the examples of a command, its most used options, and then its other options in groups.
It shows only the first sentence about each option. `--help-all` shows everything.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import cleandoc
from textwrap import fill
from time import perf_counter
from typing import Any, Final

import click

from simdoc_search.cli.common import QUIET_KEY, convert_errors, is_quiet

MORE_OPTIONS: Final = "More options"
"""Title of the option group that `--help` shows as a list of names without descriptions."""

_OTHER_OPTIONS = "Other options"
_HELP_OPTIONS = {"--help", "--help-all"}  # they are not in a group, because the last line of the help names them

OPTION_GROUPS: Mapping[str, tuple[str, ...]] = {
    "Query": ("--file", "--text", "--folder"),
    "Which documents": (
        *("--filter", "--exclude", "--exclude-same-folder", "--include-self", "--since", "--new", "--in"),
        *("--keep-in", "--previous-plan", "--all"),
    ),
    "Comparison": (
        *("--measure", "--estimate", "--min-words", "--preset", "--ignore", "--ignore-quotes"),
        *(
            "--ignore-bibliography",
            "--each-other",
            "--compare-all",
            "--drop",
            "--overlap",
            "--probability",
            "--no-version-control",
        ),
    ),
    "Files": (
        *("--archives", "--checksum", "--exclude-files", "--follow-links", "--max-size"),
        *("--prefix", "--prune", "--prune-all", "--reject-duplicates", "--watch"),
    ),
    "Output": (
        *("--size", "--show", "--sort", "--sentences", "--explain", "--edges"),
        *("--html", "--csv", "--plan", "--json", "--quiet"),
    ),
    "Index": ("--store",),
    MORE_OPTIONS: (
        *("--all-from", "--filter-any", "--offset", "--fail-if-any", "--fail-if-empty", "--fail-on-skip", "--workers"),
        *("--profile", "--shingle-size", "--unit", "--stop-words", "--stem", "--frequencies", "--sketch"),
        *("--no-passages", "--passage-run", "--no-texts", "--extractor", "--synonyms", "--language"),
        *("--front-matter", "--quoted-replies", "--planner", "--compat", "--id-field"),
        *("--engine", "--field", "--text-field", "--file-timeout", "--worker-memory"),
        *("--max-distance", "--min-share", "--min-smaller-share", "--min-score"),
    ),
}
"""The options of each group. Options have the same names in all commands, so one table is enough."""

_MAX_NAME_WIDTH = 26
_MAX_EXAMPLES = 3
_DEFINITION = re.compile(r"[A-Z]+ is [^.]+\.")
"""The first sentence of the paragraph that explains an argument."""
_RANGE = re.compile(r"(; |(?<=\[))\d*\.?\d*<?=?x[<>]=?[\d.]+(<=?[\d.]+)?")


class Formatter(click.HelpFormatter):
    """Prints headings in bold, and aligns the columns of all groups."""

    name_width: int = 0

    def write_heading(self, heading: str) -> None:
        """Write the heading of a group."""
        self.write(f"{'':>{self.current_indent}}{click.style(f'{heading}:', bold=True)}\n")

    def write_group(self, title: str, rows: Sequence[tuple[str, str]]) -> None:
        """Write a group of options or commands."""
        width = min(self.name_width, _MAX_NAME_WIDTH)
        with self.section(title):
            self.write_dl([(f"{name:<{width}}", text) for name, text in rows], col_max=width)


class Context(click.Context):
    """A context whose help has the layout of this module."""

    formatter_class: type[click.HelpFormatter] = Formatter


class Command(click.Command):
    """A command whose help has the layout of this module.

    Args:
        *args: as in click.
        main_options: the options that most people use.
        option_groups: maps group titles to options. This command shows these options in these groups, and all others in
            the groups of `OPTION_GROUPS`.
        shows_time: whether to print how long the command took, if stderr is a terminal.
        **kwargs: as in click.
    """

    context_class: type[click.Context] = Context

    def __init__(
        self,
        *args: Any,
        main_options: Sequence[str] = (),
        option_groups: Mapping[str, Sequence[str]] | None = None,
        shows_time: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.main_options = main_options
        self.option_groups: Mapping[str, Sequence[str]] = option_groups or {}
        self.shows_time = shows_time
        self.params.append(_make_flag(["--quiet", "-q"], _set_quiet, "Do not print progress or notes."))
        self.params.append(_make_flag(["--help-all"], _print_complete_help, "Show this message with all details."))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. An error prints one sentence. If `shows_time`, print how long the command took."""
        start = perf_counter()
        try:
            with convert_errors():
                return super().invoke(ctx)
        finally:
            if self.shows_time and is_terminal() and not is_quiet():
                click.secho(f"{perf_counter() - start:.2f} s", dim=True, err=True)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description. `--help` shows the first paragraph, the definition of an argument, and examples."""
        if _shows_all_details(ctx):
            super().format_help_text(ctx, formatter)
            return
        first, *others = cleandoc(self.help or "").split("\n\n")
        examples = next((paragraph for paragraph in others if paragraph.startswith("\b\n")), "")
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(first)
            for definition in filter(None, map(_DEFINITION.match, others)):
                formatter.write_paragraph()
                formatter.write_text(definition[0])
            if examples:
                formatter.write_paragraph()
                formatter.write_text("\n".join(examples.splitlines()[: 1 + _MAX_EXAMPLES]))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in groups."""
        assert isinstance(formatter, Formatter)  # noqa: S101 - tells mypy the type
        groups = self._group_options(ctx)
        more = [] if _shows_all_details(ctx) else groups.pop(MORE_OPTIONS, [])
        rows = {title: [*_option_rows(ctx, options)] for title, options in groups.items()}
        names = [name for group in rows.values() for name, _ in group]
        formatter.name_width = max((len(name) for name in names if len(name) <= _MAX_NAME_WIDTH), default=0)
        for title, group in rows.items():
            formatter.write_group(title, group)
        if more:
            with formatter.section(MORE_OPTIONS):
                formatter.write(_wrap_names([_long_name(option) for option in more], formatter))
        if not _shows_all_details(ctx):
            formatter.write_paragraph()
            formatter.write_text(f"All details: {ctx.command_path} --help-all")

    def _group_options(self, ctx: click.Context) -> dict[str, list[click.Option]]:
        """Return the options by the title of their group, in the order in which the groups are shown."""
        titles = {name: title for title, names in OPTION_GROUPS.items() for name in names}
        titles |= {name: title for title, names in self.option_groups.items() for name in names}
        options = [
            option
            for option in self.get_params(ctx)
            if isinstance(option, click.Option) and not option.hidden and not _HELP_OPTIONS & {*option.opts}
        ]
        others = _OTHER_OPTIONS if self.main_options else "Options"
        groups: dict[str, list[click.Option]] = {"Options": []}
        groups |= {title: [] for title in [*self.option_groups, *OPTION_GROUPS, _OTHER_OPTIONS]}
        order = {name: place for place, name in enumerate(self.main_options)}
        for option in sorted(options, key=lambda option: order.get(_long_name(option), len(order))):
            is_main = _long_name(option) in order
            groups["Options" if is_main else titles.get(_long_name(option), others)].append(option)
        groups[MORE_OPTIONS] = groups.pop(MORE_OPTIONS)  # show this group last
        return {title: options for title, options in groups.items() if options}


class CommandGroup(click.Group):
    """A group of commands whose help has the layout of this module."""

    context_class: type[click.Context] = Context
    command_class: type[click.Command] | None = Command


def _long_name(option: click.Option) -> str:
    return max(option.opts, key=len)


def _wrap_names(names: Sequence[str], formatter: Formatter) -> str:
    """Return the names as lines. A name is never split at a hyphen."""
    indent = " " * formatter.current_indent
    text = ", ".join(names)
    return fill(text, formatter.width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False) + "\n"


def is_terminal() -> bool:
    """Return whether stderr is a terminal."""
    return sys.stderr.isatty()


def _make_flag(
    names: Sequence[str], callback: Callable[[click.Context, click.Parameter, bool], None], text: str
) -> click.Option:
    """Return an option that every command has."""
    return click.Option(names, is_flag=True, is_eager=True, expose_value=False, callback=callback, help=text)


def _set_quiet(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    context.meta[QUIET_KEY] = value


def _print_complete_help(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        context.meta[__name__] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


def _shows_all_details(context: click.Context) -> bool:
    """Whether this is the help of `--help-all`."""
    return bool(context.meta.get(__name__))


def _option_rows(context: click.Context, options: Sequence[click.Option]) -> Iterator[tuple[str, str]]:
    """Yield the names and the help of options. `--help` only shows the first sentence, and the default."""
    for option in options:
        name, text = option.get_help_record(context) or ("", "")
        name = re.sub("INTEGER RANGE|INTEGER|FLOAT RANGE", "N", name)
        if not _shows_all_details(context):
            description, gap, default = text.partition("  [")
            default = _RANGE.sub("", gap + default).replace("  []", "")
            text = re.split(r"(?<=\.) (?=[A-Z`.])", description)[0] + default
        yield name, text
