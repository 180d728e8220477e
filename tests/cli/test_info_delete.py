"""`simdoc-search info` and `delete`, and what all commands have in common: the store, help, exit codes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import click
import pytest

from simdoc_search.cli.group import cli
from tests.support.cli import answer, output, process, run, sentence, usage_error, write_corpus

COMMANDS = sorted(name for name, command in cli.commands.items() if not isinstance(command, click.Group))
ON_A_STORE = ["delete", "explain", "index", "info", "similar"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run, with an indexed corpus."""
    monkeypatch.chdir(tmp_path)
    write_corpus(tmp_path / "corpus")
    output("index", "corpus")
    return tmp_path


# --- info ---


def test_info_shows_documents_bytes_and_settings(folder: Path) -> None:
    """People get one line for each; the bytes are those of the store's files."""
    shown = dict(re.split(r" {2,}", line, maxsplit=1) for line in output("info").splitlines() if "  " in line)
    size = sum(file.stat().st_size for file in (folder / ".simdoc").rglob("*") if file.is_file())

    assert "5" == shown["documents"]
    assert f"{size:,}" == shown["bytes"].split()[0]
    assert "runs of 5 words, ignoring case" == shown["compared"]
    assert "minhash:512" == shown["sketch"]


def test_info_as_json_has_the_promised_keys() -> None:
    """documents, bytes and the settings as the store keeps them; stdout holds nothing else."""
    result = run("info", "--json")
    shown = answer("info")

    assert (0, "") == (result.exit_code, result.stderr)
    assert {"documents", "bytes", "settings"} <= set(shown)
    assert 5 == shown["documents"]
    assert 1000 < shown["bytes"]
    assert {"profile": "nfkc_cf", "shingle_size": 5, "unit": "word", "short_texts": True} == (
        shown["settings"]["analysis"]
    )
    assert 512 == shown["settings"]["minhash"]["bucket_count"]
    assert 2 == shown["settings"]["version"]


def test_info_of_an_empty_store_is_fine() -> None:
    """No document is no error."""
    output("index", "-", "--store", "empty", stdin="")

    assert 0 == answer("info", "--store", "empty")["documents"]
    assert re.search(r"^documents +0$", output("info", "--store", "empty"), re.MULTILINE)


# --- delete ---


def test_delete_removes_documents_and_leaves_their_files(folder: Path) -> None:
    """What was deleted is found no more."""
    assert "1 deleted\n" == output("delete", "reports/copy.txt")
    assert ["reports/half.txt", "notes/old.txt"] == [hit["id"] for hit in answer("similar", "doc123")["hits"]]
    assert (folder / "corpus/reports/copy.txt").exists()
    assert 4 == answer("info")["documents"]


def test_delete_takes_several_ids_and_counts_each_once() -> None:
    """With --json the count is a key beside what the store refused."""
    assert {"deleted": 2, "refused": []} == answer("delete", "doc123.txt", "other.txt", "doc123.txt")
    assert 3 == answer("info")["documents"]


def test_delete_removes_nothing_if_one_id_is_unknown() -> None:
    """The error names that id and those that look like it."""
    said = sentence(run("delete", "doc123.txt", "reports/cpy.txt"))

    assert "'reports/cpy.txt'" in said
    assert "did you mean 'reports/copy.txt'" in said
    assert 5 == answer("info")["documents"]


def test_a_deleted_document_comes_back_when_its_file_is_indexed_again() -> None:
    """Deleting is about the store; the folder is as it was."""
    output("delete", "other.txt")

    assert 1 == answer("index", "corpus")["indexed"]


# --- the store ---


def test_the_store_is_where_it_is_asked_for(folder: Path) -> None:
    """--store counts before SIMDOC_STORE, that before ./.simdoc."""
    output("index", "-", "--store", "given", SIMDOC_STORE="set", stdin="")
    output("index", "corpus/other.txt", SIMDOC_STORE="set")

    assert {"corpus", "given", "set", ".simdoc"} == {each.name for each in folder.iterdir()}
    assert 0 == answer("info", "--store", "given", SIMDOC_STORE="set")["documents"]
    assert 1 == answer("info", SIMDOC_STORE="set")["documents"]
    assert 5 == answer("info")["documents"]


@pytest.mark.parametrize("command", [["info"], ["similar", "a"], ["delete", "a"]])
def test_where_no_store_is_the_command_that_makes_one_is_shown(folder: Path, command: list[str]) -> None:
    """Asking makes none."""
    said = sentence(run(*command, "--store", "nowhere"))

    assert "no store at nowhere; make one with: simdoc-search index FOLDER --store nowhere" == said
    assert not (folder / "nowhere").exists()


@pytest.mark.parametrize("command", [["info"], ["index", "corpus"]])
def test_a_path_that_is_no_store_is_left_alone(folder: Path, command: list[str]) -> None:
    """A file, or a folder with other things in it."""
    assert "is a file and not a store; name a folder" in sentence(run(*command, "--store", "corpus/other.txt"))
    assert "not a store; name another folder" in sentence(run(*command, "--store", "corpus"))
    assert 5 == sum(each.is_file() for each in (folder / "corpus").rglob("*"))


@pytest.mark.parametrize("command", [["info"], ["index", "corpus"], ["similar", "a"], ["delete", "a"]])
def test_a_store_of_a_newer_format_is_refused(folder: Path, command: list[str]) -> None:
    """Both versions are named."""
    file = folder / ".simdoc/simdoc.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"version": 99}))

    assert re.search(r"version 99.* 3; use the version that made it", sentence(run(*command)))


def test_a_second_writer_is_refused_while_one_is_at_work(folder: Path) -> None:
    """Readers are answered meanwhile, and afterwards the second one can write."""
    code = """
from simdoc_search import open_store
with open_store(".simdoc").writer():
    print("locked", flush=True)
    input()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert "locked" == other.stdout.readline().strip()
        for command in (["index", "corpus"], ["delete", "other.txt"]):
            said = sentence(run(*command))

            assert "another writer is writing to the store .simdoc; try again when it is done" == said
        assert 5 == answer("info")["documents"]
        other.communicate("\n", timeout=60)

    assert "1 deleted\n" == output("delete", "other.txt")


# --- all commands ---


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command: str) -> None:
    """A line of it begins with the program's name, and no formatting sign is left over."""
    shown = output(command, "--help")
    lines = [line.strip() for line in shown.splitlines()]

    assert shown.startswith(f"Usage: simdoc-search {command} ")
    assert [] != [line for line in lines if line.startswith(f"simdoc-search {command}")]
    assert "\\b" not in shown
    assert "\b" not in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_each_option_says_what_it_does(command: str) -> None:
    """No option is without help."""
    options = [each for each in cli.commands[command].params if isinstance(each, click.Option)]

    assert [] != options
    assert [] == [each.name for each in options if not each.help]


@pytest.mark.parametrize("command", sorted({*COMMANDS} - {"serve"}))
def test_each_command_has_json(command: str) -> None:
    """`--json` is the same everywhere; what `serve` serves is JSON by its address."""
    assert "--json" in output(command, "--help")


@pytest.mark.parametrize("command", ON_A_STORE)
def test_each_command_on_a_store_takes_any(command: str) -> None:
    """`--store` is the same everywhere: a folder or an address."""
    shown = output(command, "--help")

    assert "--store PATH|URL" in shown
    assert "SIMDOC_STORE" in shown


def test_h_is_short_for_help() -> None:
    """For the program and for its commands."""
    assert output("--help") == output("-h")
    assert output("index", "--help") == output("index", "-h")


def test_help_of_the_program_names_the_commands_and_shows_the_first_two_steps() -> None:
    """Each command is a line; the example is unbroken."""
    shown = output("--help")

    assert all(re.search(rf"^  {command} +[A-Z]", shown, re.MULTILINE) for command in COMMANDS)
    assert "\n  simdoc-search index ./corpus\n" in re.sub(" {3,}", "  ", shown)
    assert "\\b" not in shown
    assert "\b" not in shown


def test_the_version_is_that_of_the_package() -> None:
    """`--version` prints it after the name."""
    assert f"simdoc-search {version('simdoc-search')}\n" == output("--version")


@pytest.mark.parametrize("arguments", [["bogus"], ["info", "--bogus"], ["info", "more"], ["index"], ["delete"]])
def test_a_wrong_call_exits_with_2_and_shows_how_to_get_help(arguments: list[str]) -> None:
    """Nothing is on stdout."""
    result = run(*arguments)

    assert usage_error(result)
    assert re.search(r"^Try '.*-h(elp)?' for help\.$", result.stderr, re.MULTILINE)


@pytest.mark.slow
def test_exit_codes_are_those_of_the_process(folder: Path) -> None:
    """0 done, 1 failed, 2 called wrongly; errors are on stderr."""
    done = [process(*each, cwd=folder) for each in (["info"], ["similar", "nobody"], ["similar"])]

    assert [0, 1, 2] == [each.returncode for each in done]
    assert [True, False, False] == [bool(each.stdout) for each in done]
    assert [False, True, True] == [bool(each.stderr) for each in done]
    assert done[1].stderr.startswith("Error: no document 'nobody'")


def test_help_does_not_wait_for_the_store(folder: Path) -> None:
    """A command loads what it needs when it runs: neither tantivy nor rich for `--help`."""
    code = """
import sys
from simdoc_search.cli.group import cli
cli(["similar", "--help"], standalone_mode=False)
print(sorted({"tantivy", "rich"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder)

    assert "[]" == done.stdout.splitlines()[-1]
