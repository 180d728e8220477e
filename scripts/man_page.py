"""Write the man page and the shells' completions of the command line, as the commands say themselves.

    python scripts/man_page.py PREFIX

puts them below PREFIX where man and the shells look: ~/.local for oneself, /usr/local for all, DESTDIR/usr for a
package. zsh needs PREFIX/share/zsh/site-functions in its fpath.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from simdoc_search.cli.group import cli

NAME = "simdoc-search"
MAN_PAGE = f"share/man/man1/{NAME}.1"
COMPLETIONS = {
    "bash": f"share/bash-completion/completions/{NAME}",
    "zsh": f"share/zsh/site-functions/_{NAME}",
    "fish": f"share/fish/vendor_completions.d/{NAME}.fish",
}


def main(prefix: Path) -> None:
    """Write all of them."""
    written(prefix / MAN_PAGE, "\n".join(man_page()) + "\n")
    for shell, place in COMPLETIONS.items():
        made = get_completion_class(shell) or sys.exit(f"click knows no {shell}")
        written(prefix / place, made(cli, {}, NAME, f"_{NAME.replace('-', '_')}_COMPLETE".upper()).source())


def written(path: Path, text: str) -> None:
    """A file, in folders that may be new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    print(path)


def man_page() -> Iterator[str]:
    """The lines of the man page, all commands in one."""
    yield f'.TH {NAME.upper()} 1 "" "{NAME} {version(NAME)}" "User Commands"'
    yield ".ad l"  # long defaults have no spaces to adjust
    yield from (".SH NAME", f"{NAME} \\- {escaped(cli.get_short_help_str(200))}")
    yield from (".SH SYNOPSIS", f".B {escaped(NAME)}", "[\\-v] COMMAND [OPTIONS] ...")
    yield from (".SH DESCRIPTION", *paragraphs(cli.help or ""), *options(cli))
    for command in commands(cli):
        yield from section(command)


def commands(group: click.Group, prefix: str = "") -> Iterator[tuple[str, click.Command]]:
    """All commands by their whole names, also those of groups."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        yield f"{prefix}{name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{prefix}{name} ")


def section(named: tuple[str, click.Command]) -> Iterator[str]:
    """What one command does, and its options."""
    name, command = named
    with click.Context(command, info_name=f"{NAME} {name}") as context:
        pieces = " ".join(command.collect_usage_pieces(context))
    yield from (f'.SH "{escaped(name.upper())}"', f".B {escaped(f'{NAME} {name}')}", escaped(pieces), ".PP")
    yield from paragraphs(command.help or "")
    yield from options(command)


def options(command: click.Command) -> Iterator[str]:
    """The options of a command with their help."""
    with click.Context(command) as context:
        for each in command.get_params(context):
            if record := each.get_help_record(context):
                yield from (".TP", f".B {escaped(record[0])}", escaped(record[1]))


def paragraphs(text: str) -> Iterator[str]:
    """Paragraphs as they are filled; those that click leaves as they are, as they stand."""
    for paragraph in text.split("\n\n"):
        lines = paragraph.strip("\n").splitlines()
        if lines and lines[0].strip() == "\b":
            yield from (".PP", ".nf", *(escaped(line) for line in lines[1:]), ".fi")
        else:
            yield from (".PP", *(escaped(line.strip()) for line in lines))


def escaped(text: str) -> str:
    """Text for roff: no line begins with a control character, and signs are what they are."""
    said = " ".join(text.split("\n")).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{said}" if said.startswith((".", "'")) else said


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
