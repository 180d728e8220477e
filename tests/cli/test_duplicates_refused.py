"""`simdoc-search duplicates`: what it cannot do is said in a sentence, and who interrupts it hears how to go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import json_lines, output, run, sentence, usage_error, write
from tests.support.copies import BASE

pytestmark = pytest.mark.usefixtures("copies")


def test_what_cannot_be_written_is_said_before_anything_is_done() -> None:
    """So that what is new is still new for the command that is right; and no document is overwritten."""
    assert "cannot be written" in sentence(run("duplicates", "docs", "--new", "--html", "gone/page.html"))
    assert "cannot be written" in sentence(run("duplicates", "docs", "--new", "--csv", "gone/pairs.csv"))
    assert "may be a document" in sentence(run("duplicates", "docs", "--csv", "docs/copy.txt"))
    assert "--html takes the name of a file" in usage_error(run("duplicates", "docs", "--html", "-"))
    assert BASE == Path("docs/copy.txt").read_text()
    assert not Path(".simdoc").exists()
    output("duplicates", "docs", "--csv", "docs/pairs.csv")


def test_what_excludes_nothing_is_said() -> None:
    """A path begins below the folder that is indexed; what there is is named."""
    shown = run("duplicates", "docs", "--exclude", "path=docs/sub/")

    assert (
        "note: nothing to exclude: no document has a path that begins with 'docs/sub/'; there are: sub/" in shown.stderr
    )
    assert "note" not in run("duplicates", "docs", "--exclude", "path=sub/").stderr


def test_what_is_no_folder_is_indexed_and_all_is_looked_at() -> None:
    """A table has no files of its own; that is said."""
    write(Path(), {"rows.jsonl": json_lines({"id": "x", "text": BASE}, {"id": "y", "text": BASE})})
    shown = run("duplicates", "rows.jsonl")

    assert "1 group, 1 duplicate: 1 to drop, 0 to decide" == shown.stdout.splitlines()[-1]
    assert "looked at are all documents of the store, as not everything named is a folder" in shown.stderr


def test_a_folder_that_is_not_there_is_an_error() -> None:
    """In one sentence, and no store is made."""
    said = sentence(run("duplicates", "nowhere"))

    assert "nowhere" in said
    assert not Path(".simdoc").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--overlap", "0"], "an overlap of 0 would pair all documents with all"),
        (["--overlap", "0.8"], "write"),
        (["--overlap", "101"], "100"),
        (["--keep", "best"], "keep is one of longest, first, newest, oldest, max:FIELD or min:FIELD"),
        (["--json", "--csv", "-"], "give --json or --csv -, as both go to stdout"),
        (["--filter", "de"], "write FIELD=VALUE"),
    ],
)
def test_a_wrong_call_says_what_is_right(options: list[str], said: str) -> None:
    """Exit code 2."""
    output("index", "docs")

    assert said in usage_error(run("duplicates", *options))


def test_a_local_store_is_no_engine() -> None:
    """One sentence; and a checkpoint belongs to an engine."""
    output("index", "docs")

    assert ("this store is in no engine that could be asked; leave via engine out, it compares in memory") == sentence(
        run("duplicates", "--via", "engine")
    )
    assert "a checkpoint is kept only where the engine compares; add via engine, or leave it out" == usage_error(
        run("duplicates", "--checkpoint", "done")
    )


@pytest.mark.parametrize("noted", [True, False])
def test_who_interrupts_hears_how_to_go_on(noted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a checkpoint by the same command; without one, that there could have been one."""

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    output("index", "docs")
    monkeypatch.setattr("simdoc_search.search.SimilaritySearch.duplicates", interrupted)
    result = run("duplicates", "--via", "engine", *(["--checkpoint", "done"] if noted else []))

    assert 130 == result.exit_code
    assert (
        "what was asked so far is in done, run the same command to go on"
        if noted
        else "with --checkpoint FILE another run could go on from here"
    ) in result.stderr
