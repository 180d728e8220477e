"""`simdoc-search passages`: who shares passages with a document, a file or a text, and what is said of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.cli import json_lines, output, run, sentence, usage_error, write
from tests.support.quote import ALL, BOOK, PAPER, QUOTE, ids, passages, prose


@pytest.fixture(autouse=True)
def folder(passages_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run."""
    monkeypatch.chdir(passages_corpus)
    return passages_corpus


# --- what is asked ---


def test_a_document_a_file_and_a_text_are_asked_about() -> None:
    """By id, name or path; from a file, from stdin, as an argument. A document does not find itself."""
    others = [each for each in ALL if each != "papers/mine.txt"]

    assert others == ids("papers/mine.txt") == ids("mine") == ids("./corpus/papers/mine.txt")
    assert ALL == ids("--file", "essay.txt") == ids("--text", QUOTE)
    assert ALL == ids("--file", "-", stdin=PAPER) == ids("--text", "-", stdin=QUOTE)


def test_the_query_is_said() -> None:
    """A document of the store, a file, or a text that is neither."""
    assert {"id": "papers/mine.txt", "file": None} == passages("mine")["query"]
    assert {"id": None, "file": "essay.txt"} == passages("--file", "essay.txt")["query"]
    assert {"id": None, "file": "-"} == passages("--file", "-", stdin=PAPER)["query"]
    assert {"id": None, "file": None} == passages("--text", QUOTE)["query"]


def test_a_file_that_is_stored_does_not_find_itself() -> None:
    """It is the same document, which is said; a copy of it elsewhere finds it."""
    file = "corpus/papers/mine.txt"

    assert [each for each in ALL if each != "papers/mine.txt"] == ids("--file", file)
    assert {"id": "papers/mine.txt", "file": file} == passages("--file", file)["query"]
    assert "without the document 'papers/mine.txt', which is this file" in output("passages", "--file", file)


def test_json_has_exact_shares_and_places() -> None:
    """Places are characters of both texts; shares are those of shingles."""
    found = passages("--file", "essay.txt", "--filter", "path=sources/book")
    (hit,) = found["hits"]
    (passage,) = hit["passages"]

    assert {"query", "hits", "candidates", "compared"} == found.keys()
    assert {
        *("id", "containment", "contained", "jaccard", "words", "kind", "changed", "passages"),
    } == hit.keys()
    assert (1, 1) == (found["candidates"], found["compared"])
    assert (60, "exact", False, 60) == (hit["words"], hit["kind"], hit["changed"], passage["words"])
    assert (QUOTE.upper(), QUOTE) == (PAPER[slice(*passage["a"])], BOOK[slice(*passage["b"])])
    assert [56 / 356, 56 / 706] == [hit["containment"], hit["contained"]]
    assert 56 / (356 + 706 - 56) == hit["jaccard"]


def test_filters_and_folders_leave_documents_out() -> None:
    """`--filter` keeps, `--exclude` drops; `--other-folders` drops the folder of the source."""
    three = ["drafts/notes.txt", "sources/book.txt", "sources/short.txt"]

    assert ["sources/book.txt", "sources/short.txt"] == ids("--text", QUOTE, "--filter", "path=sources/")
    assert ALL[1:] == ids("--text", QUOTE, "--exclude", "path=drafts/")
    assert ALL[2:] == ids("--text", QUOTE, "--exclude", "path=drafts/", "--exclude", "path=papers/")
    assert three == ids("mine", "--other-folders")
    assert ALL[:2] == ids("sources/book.txt", "--other-folders")
    assert ALL[:2] == ids("--file", "corpus/sources/short.txt", "--other-folders")
    assert ALL == ids("--file", "essay.txt", "--other-folders")
    assert ["german"] == ids("mine", "--store", "languages", "--filter", "language=de")
    assert ALL[:1] + ALL[2:] == ids("mine", "--store", "languages", "--exclude", "language=de")


def test_a_file_that_is_not_stored_yet_lies_in_the_folder_that_is(folder: Path) -> None:
    """New in an indexed folder, its neighbours count as such."""
    write(folder, {"corpus/sources/new.txt": PAPER})
    try:
        assert ALL[:2] == ids("--file", "corpus/sources/new.txt", "--other-folders")
        assert ALL == ids("--file", "corpus/sources/new.txt")
    finally:
        (folder / "corpus/sources/new.txt").unlink()


def test_other_folders_needs_a_folder() -> None:
    """A document at the top has none, and a text neither."""
    assert "'top.txt' lies in no folder of the store; leave out --other-folders" == usage_error(
        run("passages", "top", "--other-folders")
    )
    assert "leave out --other-folders" in usage_error(run("passages", "--text", "a", "--other-folders"))


def test_least_words_preset_and_size_are_handed_on() -> None:
    """A passage of 45 words is too short for 46; one of 18 is one for `edited`, and none for `verbatim`."""
    part = f"{prose(30, 14)} {' '.join(QUOTE.split()[10:28])}"

    assert ALL[:3] == ids("--text", QUOTE, "--min-words", "46")
    assert ["papers/mine.txt"] == ids("--text", part)
    assert [] == ids("--text", part, "--preset", "verbatim")
    assert 1 == len(passages("--text", QUOTE, "--size", "1")["hits"])
    assert ids("--text", QUOTE)[1:2] == ids("--text", QUOTE, "--size", "1", "--offset", "1")


# --- what people read ---


def test_a_person_reads_shares_and_the_longest_passage_with_its_place() -> None:
    """Line by line; a text with form feeds has pages."""
    shown = output("passages", "--file", "essay.txt", "--filter", "path=sources/book").splitlines()
    begin = PAPER.index(QUOTE.upper())

    assert "words in common    yours   theirs  passages  document" == shown[0]
    assert "             60   15.7 %    7.9 %         1  sources/book.txt" == shown[1]
    assert f"60 words, line 2 → page 2, line 2, characters {begin:,} to {begin + len(QUOTE):,}" == shown[2].strip()
    assert f"“{' '.join(QUOTE.upper().split()[:9])} … {' '.join(QUOTE.upper().split()[-3:])}”" == shown[3].strip()
    assert ["1 hit, 1 document compared; every shared run of 36 words is found, shorter ones perhaps"] == shown[4:]


def test_a_short_text_is_told_its_chance() -> None:
    """Of 20 words 16 shingles stand in a row: 1 - 16 · 17 / (32 · 33); of 3 words none."""
    assert "the text has only 20 words: a document with all of it is found with a probability of 74.2 %" in output(
        "passages", "--text", " ".join(QUOTE.split()[:20])
    )
    assert "only 3 words: it is found only where a document has no others" in output("passages", "--text", "a b c")
    assert "probability" not in output("passages", "--text", QUOTE)


def test_what_is_estimated_is_said() -> None:
    """In a store without texts no passage is named, and shares have a tilde."""
    shown = output("passages", "--file", "essay.txt", "--store", "textless")
    hits = passages("--file", "essay.txt", "--store", "textless")["hits"]

    assert re.search(r"^ +~\d+ +~\d+ % +~\d+ % +drafts/notes.txt$", shown, re.MULTILINE)
    assert 4 == shown.count("estimated, as a text is not stored")
    assert {("estimated", ())} == {(hit["kind"], tuple(hit["passages"])) for hit in hits}


def test_that_not_all_candidates_were_compared_is_said(tmp_path: Path) -> None:
    """Where a phrase stands in more documents than are looked at."""
    rows = json_lines(*({"id": f"{n}", "text": f"{QUOTE} {prose(8, n)}"} for n in range(230)))
    output("index", "-", "--store", tmp_path / "s", stdin=rows)
    shown = output("passages", "--text", QUOTE, "--size", "1", "--store", tmp_path / "s")

    assert "1 hit, 200 documents compared of 230 that have something in common with it; " in shown
    assert "those were compared that seemed to share most; --size compares more" in shown


def test_nothing_found_is_said_and_can_fail() -> None:
    """With the promise beside it."""
    result = run("passages", "top", "--fail-if-empty")

    assert (1, "") == (result.exit_code, result.stderr)
    assert "nothing found; every shared run of 36 words is found, shorter ones perhaps\n" == result.stdout
    assert 0 == run("passages", "mine", "--fail-if-empty").exit_code
    assert 1 == run("passages", "--file", "essays/two.txt", "--file", "essays/two.txt", "--fail-if-empty").exit_code


# --- what goes wrong ---


@pytest.mark.parametrize(
    "arguments",
    [(), ("mine", "--text", "a"), ("--file", "essay.txt", "--folder", "essays"), ("--text", "", "--all-from", "-")],
)
def test_one_kind_of_source_is_given(arguments: tuple[str, ...]) -> None:
    """Neither none nor two."""
    said = usage_error(run("passages", *arguments))

    assert "give one of ID, --file, --folder, --text or --all-from" == said


def test_what_cannot_be_answered_is_one_sentence(tmp_path: Path) -> None:
    """No such document, no words, no such field, a store without passage tokens."""
    output("index", "essay.txt", "--no-passages", "--store", tmp_path / "s")

    assert "no document 'nobody' in the store" in sentence(run("passages", "nobody"))
    assert "the text has no words" in sentence(run("passages", "--text", "..."))
    assert "langauge" in sentence(run("passages", "--text", QUOTE, "--filter", "langauge=de"))
    assert "without passages" in sentence(run("passages", "--text", QUOTE, "--store", tmp_path / "s"))
    assert "essays/x.bin cannot be read: binary" == sentence(run("passages", "--file", "essays/x.bin"))
