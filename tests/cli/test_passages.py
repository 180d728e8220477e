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
    assert "The document 'papers/mine.txt' is left out. It is this file." in output("passages", "--file", file)


def test_json_has_exact_shares_and_places() -> None:
    """Places are characters of both texts; shares are those of shingles."""
    found = passages("--file", "essay.txt", "--filter", "path=sources/book")
    (hit,) = found["hits"]
    (passage,) = hit["passages"]

    assert {
        *("query", "words", "ignored", "covered", "total", "hits", "candidates", "compared"),
        *("run", "too_common"),
    } == found.keys()
    assert {
        *("id", "words", "share", "adds", "kind", "changed", "passages", "details"),
    } == hit.keys()
    assert (1, 1, 1) == (found["total"], found["candidates"], found["compared"])
    assert (360, 0, {"words": 60, "share": 60 / 360}) == (found["words"], found["ignored"], found["covered"])
    assert (60, 60 / 360, 60, "exact", False) == tuple(
        hit[name] for name in ("words", "share", "adds", "kind", "changed")
    )
    assert 60 == passage["words"]
    assert (QUOTE.upper(), QUOTE) == (PAPER[slice(*passage["a"])], BOOK[slice(*passage["b"])])
    assert {"containment": 56 / 356, "contained": 56 / 706, "jaccard": 56 / (356 + 706 - 56)} == hit["details"]


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
    assert "'top.txt' is not in a folder of the store; leave out --other-folders" == usage_error(
        run("passages", "top", "--other-folders")
    )
    assert "leave out --other-folders" in usage_error(run("passages", "--text", "a", "--other-folders"))


def test_least_words_preset_and_size_are_handed_on() -> None:
    """A passage of 45 words is too short for 46. Around a changed word `verbatim` has two passages."""
    part = " ".join("other" if at == 30 else word for at, word in enumerate(QUOTE.split()))
    edited, verbatim = passages("--text", part), passages("--text", part, "--preset", "verbatim")

    assert ALL[:3] == ids("--text", QUOTE, "--min-words", "46")
    assert [59] == [each["words"] for each in edited["hits"][0]["passages"]]
    assert [30, 29] == [each["words"] for each in verbatim["hits"][0]["passages"]]
    assert 1 == len(passages("--text", QUOTE, "--size", "1")["hits"])
    assert ids("--text", QUOTE)[1:2] == ids("--text", QUOTE, "--size", "1", "--offset", "1")


# --- what people read ---


def test_a_person_reads_the_coverage_and_the_longest_passage_with_its_place() -> None:
    """Line by line; a text with form feeds has pages."""
    shown = output("passages", "--file", "essay.txt", "--filter", "path=sources/book").splitlines()
    begin = PAPER.index(QUOTE.upper())

    assert "17 % of essay.txt (60 of 360 words) appears in 1 indexed document." == shown[0]
    assert "words in common  of yours     new  passages  document" == shown[1]
    assert "             60      17 %      60         1  sources/book.txt" == shown[2]
    assert f"60 words, line 2 → page 2, line 2, characters {begin:,} to {begin + len(QUOTE):,}" == shown[3].strip()
    assert f"“{' '.join(QUOTE.upper().split()[:9])} … {' '.join(QUOTE.upper().split()[-3:])}”" == shown[4].strip()
    assert ["1 match.", "Every shared run of 6 words is found."] == shown[5:]


def test_further_matches_are_said_and_how_to_see_them() -> None:
    """All matches are counted; those of another page are found there."""
    first = output("passages", "--text", QUOTE, "--size", "1")
    second = output("passages", "--text", QUOTE, "--size", "2", "--offset", "1")

    assert "100 % of the text (60 of 60 words) appears in 4 indexed documents." == first.splitlines()[0]
    assert "Showing 1 of 4 matches. Show more with --size 100." in first
    assert "Showing 2 to 3 of 4 matches. Show more with --size 100." in second
    assert "4 matches." in output("passages", "--text", QUOTE)


# --- what is ignored ---


def test_ignored_files_and_documents_are_not_counted(tmp_path: Path) -> None:
    """A template, and a document of the store by its id; the answer says how many words they have."""
    write(tmp_path, {"template.txt": QUOTE})
    whole = output("passages", "--file", "essay.txt", "--ignore", tmp_path / "template.txt")
    short = passages("--file", "essay.txt", "--ignore", tmp_path / "template.txt", "--filter", "path=sources/")

    assert "100 % of essay.txt (300 of 300 words) appears in 1 indexed document. 60 words are ignored." in whole
    assert (0, 300, 60) == (short["total"], short["words"], short["ignored"])
    assert 360 == passages("--file", "essay.txt", "--ignore", "papers/mine.txt")["ignored"]
    assert 0 == passages("--text", QUOTE, "--ignore", tmp_path / "template.txt")["words"]
    assert "'nobody' is neither a file nor a document of the store" in sentence(
        run("passages", "mine", "--ignore", "nobody")
    )


def test_quotations_are_not_counted() -> None:
    """With `--ignore-quotes`, those in quotation marks are left out."""
    text = f"{prose(30, 14)} “{QUOTE}” {prose(30, 15)}"
    found = passages("--text", text)

    assert (60, 4) == (found["covered"]["words"], found["total"])
    assert (60, 0) == tuple(passages("--text", text, "--ignore-quotes")[name] for name in ("ignored", "total"))


def test_a_short_text_is_told_its_chance() -> None:
    """Without texts; of 20 words 16 shingles stand in a row: 1 - 16 · 17 / (32 · 33); of 3 words none."""
    store = "--store", "textless"

    assert "The text has only 20 words: a document with all of it is found with a probability of 74.2 %" in output(
        "passages", "--text", " ".join(QUOTE.split()[:20]), *store
    )
    assert "only 3 words: it is only found in documents without other words" in output(
        "passages", "--text", "a b c", *store
    )
    assert "probability" not in output("passages", "--text", QUOTE, *store)


@pytest.mark.parametrize("count", [3, 4, 5, 6, 10, 20])
def test_a_short_quotation_is_found(count: int) -> None:
    """In all documents that have it, and nowhere else."""
    quotation = " ".join(QUOTE.split()[10 : 10 + count])

    assert ALL == ids("--text", quotation)
    assert f"Every shared run of {min(count, 6)} words is found." in output("passages", "--text", quotation)


def test_what_is_estimated_is_said() -> None:
    """In a store without texts no passage is named, and shares have a tilde."""
    shown = output("passages", "--file", "essay.txt", "--store", "textless")
    hits = passages("--file", "essay.txt", "--store", "textless")["hits"]

    assert re.match(r"About \d+ % of essay.txt \(\d+ of 360 words\) appears in 4 indexed documents\.", shown)
    assert re.search(r"^ +~\d+ +~\d+ % +\d+ +drafts/notes.txt$", shown, re.MULTILINE)
    assert 4 == shown.count("estimated, because a text is not stored")
    assert {("estimated", ())} == {(hit["kind"], tuple(hit["passages"])) for hit in hits}


def test_that_not_all_candidates_were_compared_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a phrase stands in more documents than are compared; `--all` compares them."""
    monkeypatch.setattr("simdoc_search.search.passages.MAX_COMPARED", 20)
    rows = json_lines(*({"id": f"{n}", "text": f"{QUOTE} {prose(8, n)}"} for n in range(30)))
    output("index", "-", "--store", tmp_path / "s", stdin=rows)
    arguments = ("passages", "--text", f"{QUOTE} {prose(60, 99)}", "--size", "1", "--store", tmp_path / "s")
    shown = output(*arguments)

    assert (
        "At least 50 % of the text (60 of 120 words) appears in 20 indexed documents. "
        "10 of 30 candidates were not compared. Compare all with --all."
    ) == shown.splitlines()[0]
    assert "Showing 1 of at least 20 matches. Show more with --size 100." in shown
    assert "Showing 1 of 30 matches. Show more with --size 100." in output(*arguments, "--all")


def test_nothing_found_is_said_and_can_fail() -> None:
    """With the promise beside it."""
    result = run("passages", "top", "--fail-if-empty")

    assert (1, "") == (result.exit_code, result.stderr)
    assert (
        "No indexed document shares a passage with top.txt (200 words).\nEvery shared run of 6 words is found.\n"
    ) == result.stdout
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


def test_a_text_that_repeats_a_passage_is_covered_where_it_does() -> None:
    """The words in common are those of both texts, so they are fewer; a line says why."""
    asked = "--text", f"{QUOTE} {QUOTE}", "--filter", "path=sources/book"
    (hit,) = passages(*asked)["hits"]

    assert (60, 0.5, 120) == (hit["words"], hit["share"], hit["adds"])
    assert {"words": 120, "share": 1.0} == passages(*asked)["covered"]
    assert "your text repeats some of these words: 120 of its words appear here" in output("passages", *asked)
