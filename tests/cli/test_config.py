"""`simdoc.toml` sets defaults of options, and can only set harmless ones."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pytest

from simdoc_search.cli.config import SETTABLE_OPTIONS
from simdoc_search.cli.group import load_commands
from tests.support.cli import answer, output, run, usage_error, words, write, write_corpus

HARMLESS = """
store = "index.simdoc"

[index]
exclude-files = ["drafts/", "*.log"]
archives = true

[similar]
show = ["size", "path"]
size = 2
overlap = 20

[list]
sort = "size"
filter = ["path=reports/"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with a corpus and a configuration."""
    write_corpus(tmp_path / "corpus")
    write(tmp_path, {"simdoc.toml": HARMLESS, "corpus/drafts/x.txt": words(0, 99), "corpus/a.log": words(0, 99)})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(folder: Path, text: str, *command: str, **environment: str) -> str:
    """Write a configuration, and return the error message of a command."""
    write(folder, {"simdoc.toml": text})
    return usage_error(run(*(command or ("list",)), **environment))


def test_the_file_sets_options_and_the_command_line_overrides_it(folder: Path) -> None:
    report = run("index", "corpus")
    hits = answer("similar", "doc123")["hits"]

    assert "5 indexed" in report.stdout
    assert "2 excluded: corpus/a.log, corpus/drafts/" in report.stderr
    assert (folder / "index.simdoc").is_dir()
    assert ["reports/copy.txt", "reports/half.txt"] == [hit["id"] for hit in hits]
    assert {"size", "path"} == set(hits[0]["show"])
    assert 3 == len(answer("similar", "doc123", "--size", "9")["hits"])
    assert ["title"] == list(answer("similar", "doc123", "--show", "title")["hits"][0]["show"])
    assert ["reports/half.txt", "reports/copy.txt"] == [line.split()[-1] for line in output("list").splitlines()[1:]]


def test_values_in_a_fingerprint_take_precedence_over_the_file(folder: Path) -> None:
    write(folder, {"simdoc.toml": "[similar]\noverlap = 20\nprobability = 90\n", "queries": "doc123_60\nnone\n"})
    output("index", "corpus")
    queries = [answer("similar", name)["query"] for name in ("doc123", "doc123_60", "doc123_60_80")]
    of_many = run("similar", "--all-from", "queries", "--json")

    assert [(0.2, 0.9), (0.6, 0.9), (0.6, 0.8)] == [(query["overlap"], query["probability"]) for query in queries]
    assert '"overlap": 0.6' in of_many.stdout
    assert "no document 'none'" in of_many.stdout
    assert "no document has the id 'doc123_60'" in usage_error(run("similar", "doc123_60", "--overlap", "50"))


def test_a_string_is_a_list_of_one(folder: Path) -> None:
    write(folder, {"simdoc.toml": '[index]\nexclude-files = "*.log"\nwith = "versions,related"\n'})

    assert "1 excluded: corpus/a.log" in run("index", "corpus").stderr
    assert "sentences:2" in answer("info")["settings"]["sketches"]


def test_the_file_is_found_in_a_parent_folder_with_its_store(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output("index", "corpus")
    monkeypatch.chdir(folder / "corpus" / "reports")

    assert f"reading options from {folder / 'simdoc.toml'}" in run("-v", "list").stderr
    assert "reports/half.txt" in output("list")
    assert 1 == run("list", SIMDOC_CONFIG="").exit_code
    assert "no index at" in run("list", SIMDOC_STORE="elsewhere").stderr


def test_unknown_options_and_invalid_values_are_one_sentence(folder: Path) -> None:
    assert "[similar] cannot set 'sizes'; did you mean 'size'?" in refused(folder, "[similar]\nsizes = 3")
    assert "cannot set 'similer'; did you mean 'similar'?" in refused(folder, "[similer]")
    assert "[similar] size: 'x' is not a valid integer" in refused(folder, '[similar]\nsize = "x"')
    assert "[index] exclude-files is 7; write a list of strings" in refused(folder, "[index]\nexclude-files = 7")
    assert "[index] archives is 1; write true or false" in refused(folder, "[index]\narchives = 1")
    assert "[list] filter: 'x' is not a filter" in refused(folder, '[list]\nfilter = ["x"]')
    assert "store must be a non-empty string, not 3" in refused(folder, "store = 3")
    assert "is not valid TOML: " in refused(folder, "[similar")
    assert "is not valid TOML: " in refused(folder, "\ufeff\0")
    assert "leads to a folder" in refused(folder, "", "list", SIMDOC_CONFIG=str(folder))


def test_a_file_made_to_exhaust_the_parser_is_one_short_sentence(folder: Path) -> None:
    for text in (
        ".".join("a" * 3_000) + " = 1",
        "x = " + "[" * 3_000,
        "[list]\nlimit = " + "1" * 5_000,
        "x" * 50_000 + " = 1",
        "[list]\n" + "x" * 50_000 + " = 1",
        "[list]\nlimit = '" + "x" * 50_000 + "'",
        "store = ['" + "x" * 50_000 + "']",
    ):
        assert 600 > len(refused(folder, text)) - len(str(folder))


def test_a_file_cannot_set_dangerous_options(folder: Path) -> None:
    """These options remove documents, read outside of a folder, load code, name an engine or belong to commands that
    write.
    """
    for option in ("prune", "prefix", "follow-links", "prune-all", "watch", "concepts", "synonyms", "engine", "store"):
        assert f"[index] cannot set '{option}'" in refused(folder, f"[index]\n{option} = true")
    for command in ("apply", "delete", "repair", "backup", "backfill", "engine", "template", "check"):
        assert f"cannot set '{command}'" in refused(folder, f"[{command}]\nyes = true")


def test_no_option_that_can_be_set_writes_a_file() -> None:
    for name, options in SETTABLE_OPTIONS.items():
        flags = {flag.lstrip("-"): parameter for parameter in load_commands()[name].params for flag in parameter.opts}

        assert options <= set(flags)
        assert not [option for option in options if isinstance(flags[option].type, click.Path | click.File)]


def test_only_a_named_file_may_name_an_engine_or_another_folder(folder: Path) -> None:
    """Otherwise, credentials from the environment could be sent to that engine."""
    for store in ("http://127.0.0.1:1/docs", "../other", "/etc/other"):
        assert "is outside the folder of this file" in refused(folder, f'store = "{store}"')
    (folder / "simdoc.toml").rename(folder / "mine.toml")
    write(folder, {"mine.toml": 'store = "../other"'})

    assert "no index at" in run("list", SIMDOC_CONFIG="mine.toml").stderr
    assert "/other" in run("list", SIMDOC_CONFIG=str(folder / "mine.toml")).stderr


def test_delete_ignores_the_store_of_the_file(folder: Path) -> None:
    output("index", "corpus")

    assert "no index at .simdoc" in run("delete", "doc123").stderr.replace("./", "")
    assert "1 document deleted" in output("delete", "doc123.txt", "--store", folder / "index.simdoc")


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_file_that_others_can_write_is_ignored_unless_named(folder: Path) -> None:
    path = folder / "simdoc.toml"
    path.chmod(0o666)

    assert f"note: {path} is ignored, because another user can write to it" in run("list").stderr
    assert "index.simdoc" in run("list", SIMDOC_CONFIG=str(path)).stderr


def test_exclude_patterns_match_names_paths_and_folders(folder: Path) -> None:
    """Patterns on the command line replace those of the file."""
    result = run(
        "index", "corpus", "--exclude-files", "./reports/*.txt", "--exclude-files", "old.*", "--exclude-files", "drafts"
    )

    assert {"doc123.txt", "other.txt", "a.log"} == {
        line.split()[-1] for line in output("list", "--filter", "path=", "--sort", "id").splitlines()[1:]
    }
    assert "4 excluded" in result.stderr
