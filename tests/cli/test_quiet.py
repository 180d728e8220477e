"""`--quiet`, the duration of answers, and progress bars with totals."""

from __future__ import annotations

import re
from itertools import count, islice
from pathlib import Path

import pytest

from simdoc_search.cli import index_paths
from simdoc_search.cli.index_paths import source_progress
from tests.support.cli import output, run, sentence, words, write


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with an index."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"docs/a.txt": words(0, 50), "docs/b.txt": words(0, 50), "docs/c.bin": b"\0\1\2"})
    output("index", "docs")
    return tmp_path


@pytest.mark.parametrize(
    "command", [("index", "docs"), ("duplicates", "docs"), ("list", "--show", "nothing")], ids=" ".join
)
def test_quiet_hides_notes_but_no_results(command: tuple[str, ...]) -> None:
    loud, quiet = run(*command), run(*command, "--quiet")
    number = re.compile(r"\d\.\d+ s")

    assert "" != loud.stderr
    assert "" == quiet.stderr == run(*command, "-q").stderr
    assert number.sub("", loud.stdout) == number.sub("", quiet.stdout)


def test_quiet_hides_no_errors() -> None:
    assert "no document 'nothing'" in sentence(run("similar", "nothing", "--quiet"))
    assert "does not exist" in run("index", "docs", "nothing", "-q").stderr


def test_quiet_ends_with_its_command() -> None:
    output("similar", "a", "--quiet")

    assert "indexed" in run("duplicates", "docs").stderr


def test_a_terminal_shows_the_duration_of_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "" == run("similar", "a").stderr
    monkeypatch.setattr("simdoc_search.cli.help_layout.is_terminal", lambda: True)

    assert re.search(r"^(\x1b\[2m)?\d+\.\d\d s", run("similar", "a").stderr, re.MULTILINE)
    assert "" == run("similar", "a", "--quiet").stderr
    assert "" == run("list").stderr


def updates(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, int | None]]:
    """Return a list to which all calls that change a progress bar are added."""
    calls: list[dict[str, int | None]] = []

    class Bar:
        def __enter__(self) -> Bar:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def add_task(self, _: str, **__: int | None) -> int:
            return 0

        def update(self, _: int, **values: int | None) -> None:
            calls.append(values)

    monkeypatch.setattr("simdoc_search.cli.common.make_progress", lambda *_, **__: Bar())
    return calls


def test_indexing_folders_shows_the_number_of_files(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = updates(monkeypatch)
    output("index", "docs", "--checksum")

    assert {"total": 3} == calls[0]
    assert {"completed": 3, "total": 3} == calls[-1]


def test_attachments_increase_the_number_of_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    """One file can have several documents."""
    calls = updates(monkeypatch)
    with source_progress(iter(["a.eml", "b.txt"]), ["docs"], hidden=True) as (_, advance):  # type: ignore[arg-type]
        advance(1)
        advance(3)

    assert [{"total": 2}, {"completed": 1, "total": 2}, {"completed": 4, "total": 4}] == calls


def test_the_number_of_many_or_streamed_sources_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are not listed, because they may not fit into memory."""
    calls = updates(monkeypatch)
    monkeypatch.setattr(index_paths, "_MAX_LISTED_SOURCES", 2)
    for paths, archives in ((["docs"], False), (["docs"], True), (["docs/a.txt"], False)):
        with source_progress(count(), paths, hidden=True, archives=archives) as (sources, _):  # type: ignore[arg-type]
            assert [0, 1, 2, 3] == list[object](islice(sources, 4))

    assert [{"total": None}] * 3 == calls
