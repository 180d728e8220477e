"""`simdoc-search passages` for one document or text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import formats
from tests.support.cli import json_lines, output, run, sentence, usage_error, write
from tests.support.quoting_texts import ALL, BOOK, PAPER, QUOTE, ids, passages, prose

pytestmark = pytest.mark.usefixtures("in_passages_corpus")


def test_a_document_a_file_and_a_text_have_the_same_hits() -> None:
    """A document is not a hit for itself or for its file."""
    file = "corpus/papers/mine.txt"
    others = [id for id in ALL if id != "papers/mine.txt"]

    assert others == ids("papers/mine.txt") == ids("mine") == ids(f"./{file}") == ids("--file", file)
    assert ALL == ids("--file", "essay.txt") == ids("--text", QUOTE)
    assert ALL == ids("--file", "-", stdin=PAPER) == ids("--text", "-", stdin=QUOTE)
    assert "The document 'papers/mine.txt' is not listed, because it was indexed from the query file." in output(
        "passages", "--file", file
    )


def test_json_names_the_query() -> None:
    for arguments, id, file in (
        (("mine",), "papers/mine.txt", None),
        (("--file", "corpus/papers/mine.txt"), "papers/mine.txt", "corpus/papers/mine.txt"),
        (("--file", "essay.txt"), None, "essay.txt"),
        (("--text", QUOTE), None, None),
    ):
        assert {"id": id, "file": file} == passages(*arguments)["query"]


def test_json_has_exact_shares_and_places() -> None:
    """Positions are offsets in characters. The details contain shares of shingles."""
    result = passages("--file", "essay.txt", "--filter", "path=sources/book")
    (hit,) = result["hits"]
    (passage,) = hit["passages"]

    keys = {
        "query",
        "word_count",
        "ignored_word_count",
        "notes",
        "disguised_words",
        "covered",
        "total",
        "hits",
        "candidate_count",
        "compared_count",
        "guaranteed_run_length",
        "too_common_run_count",
    }
    assert keys == result.keys()
    assert {"id", "word_count", "share", "new_word_count", "kind", "changed", "passages", "details"} == hit.keys()
    assert (1, 1, 1) == (result["total"], result["candidate_count"], result["compared_count"])
    assert (360, 0, {"word_count": 60, "share": 60 / 360, "quoted_word_count": 0}) == (
        result["word_count"],
        result["ignored_word_count"],
        result["covered"],
    )
    values = tuple(hit[name] for name in ("word_count", "share", "new_word_count", "kind", "changed"))
    assert (60, 60 / 360, 60, "exact", False) == values
    assert 60 == passage["word_count"]
    assert (QUOTE.upper(), QUOTE) == (PAPER[slice(*passage["a"])], BOOK[slice(*passage["b"])])
    assert {"containment": 56 / 356, "reverse_containment": 56 / 706, "jaccard": 56 / (356 + 706 - 56)} == hit[
        "details"
    ]


def test_filters_and_folders_exclude_documents() -> None:
    """`--exclude-same-folder` excludes the folder of the query document."""
    assert ["sources/book.txt", "sources/short.txt"] == ids("--text", QUOTE, "--filter", "path=sources/")
    assert ALL[2:] == ids("--text", QUOTE, "--exclude", "path=drafts/", "--exclude", "path=papers/")
    assert [ALL[0], *ALL[2:]] == ids("mine", "--exclude-same-folder")
    assert ALL[:2] == ids("sources/book.txt", "--exclude-same-folder")
    assert ALL[:2] == ids("--file", "corpus/sources/short.txt", "--exclude-same-folder")
    assert ALL == ids("--file", "essay.txt", "--exclude-same-folder")
    assert ["german"] == ids("mine", "--store", "languages", "--filter", "language=de")


def test_exclude_same_folder_knows_the_folder_of_a_new_file() -> None:
    file = write(Path(), {"corpus/sources/new.txt": PAPER}) / "corpus/sources/new.txt"
    try:
        assert ALL[:2] == ids("--file", file, "--exclude-same-folder")
        assert ALL == ids("--file", file)
    finally:
        file.unlink()


def test_exclude_same_folder_needs_a_query_in_a_folder() -> None:
    message = "the document 'top.txt' is not in a folder; omit --exclude-same-folder"

    assert message == usage_error(run("passages", "top", "--exclude-same-folder"))
    assert "--exclude-same-folder cannot be combined with --text" in usage_error(
        run("passages", "--text", "a", "--exclude-same-folder")
    )


def test_a_long_text_has_a_hint_how_to_find_shorter_runs() -> None:
    hint = "Every shared run of 12 words is found.\nTo find every run of 6 words, add --min-words 6.\n"
    long = " ".join([QUOTE, *(f"own{number}" for number in range(1000))])

    assert output("passages", "--text", long).endswith(hint)
    assert "--min-words" not in output("passages", "--text", QUOTE) + output(
        "passages", "--text", long, "--min-words", 9
    )


def test_min_words_preset_and_page_are_options() -> None:
    """With the preset `verbatim`, a changed word splits a passage in two."""
    changed = " ".join("other" if at == 30 else word for at, word in enumerate(QUOTE.split()))
    edited, verbatim = passages("--text", changed), passages("--text", changed, "--preset", "verbatim")

    assert ALL[:3] == ids("--text", QUOTE, "--min-words", "46")
    assert [59] == [passage["word_count"] for passage in edited["hits"][0]["passages"]]
    assert [30, 29] == [passage["word_count"] for passage in verbatim["hits"][0]["passages"]]
    hint = "Each document is shown with its longest passage. To see all passages, add --html FILE.\n"
    assert hint in output("passages", "--text", changed, "--preset", "verbatim")
    assert ids("--text", QUOTE)[1:2] == ids("--text", QUOTE, "--size", "1", "--offset", "1")


def test_the_table_has_the_coverage_and_the_longest_passage() -> None:
    """A text with form feeds has pages."""
    lines = output("passages", "--file", "essay.txt", "--filter", "path=sources/book").splitlines()
    words = QUOTE.upper().split()

    assert [
        "17 % of essay.txt (60 of 360 words) appears in 1 indexed document.",
        "words in common     share     new  passages  document",
        "             60      17 %      60         1  sources/book.txt",
        "60 words, line 2 ↔ page 2, line 2",
        f"“{' '.join(words[:9])} … {' '.join(words[-3:])}”",
        "1 match.",
        "Every shared run of 6 words is found.",
    ] == [*lines[:3], lines[3].strip(), lines[4].strip(), *lines[5:]]


def test_the_quotation_of_an_edited_passage_has_only_matched_words(tmp_path: Path) -> None:
    """Also on the page. The label says how many words of the text are matched."""
    words = QUOTE.split()
    edited = " ".join([*words[:4], "quite", "other", *words[5:20], "UNKNOWN", *words[21:]])
    arguments = "passages", "--text", edited, "--filter", "path=sources/book"
    lines = [line.strip() for line in output(*arguments).splitlines()]
    output(*arguments, "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8").partition('<nav class="sources"')[2].partition("</nav>")[0]

    quotation = f"“{' '.join(words[:4])} […] {' '.join(words[5:9])} … {' '.join(words[-3:])}”"
    assert ["58 of 61 words match, line 1 ↔ page 2, line 2", quotation] == lines[3:5]
    assert "58 of 61 words match · line 1 ↔ page 2, line 2" in page
    assert quotation in page


@pytest.mark.usefixtures("read_in_this_process")
def test_in_a_word_file_each_paragraph_is_a_line(tmp_path: Path) -> None:
    """Blank lines between paragraphs count too."""
    (tmp_path / "essay.docx").write_bytes(formats.docx((prose(90, 40), prose(5, 41), QUOTE)))
    text = output("passages", "--file", tmp_path / "essay.docx", "--filter", "path=sources/book")

    assert "60 words, line 5 ↔ page 2, line 2" in text


def test_matches_of_other_pages_are_counted() -> None:
    first = output("passages", "--text", QUOTE, "--size", "1")
    second = output("passages", "--text", QUOTE, "--size", "2", "--offset", "1")

    assert "100 % of the text (60 of 60 words) appears in 4 indexed documents." == first.splitlines()[0]
    assert "Showing 1 of 4 matches. Show more with --size 100." in first
    assert "Showing 2 to 3 of 4 matches. Show more with --size 100." in second
    assert "4 matches." in output("passages", "--text", QUOTE)


def test_words_of_files_and_documents_are_ignored(tmp_path: Path) -> None:
    template = write(tmp_path, {"template.txt": QUOTE}) / "template.txt"
    arguments = ("--file", "essay.txt", "--ignore")
    whole = output("passages", *arguments, template)
    part = passages(*arguments, template, "--filter", "path=sources/")

    assert "100 % of essay.txt (300 of 300 words) appears in 1 indexed document. 60 words are ignored." in whole
    assert (0, 300, 60) == (part["total"], part["word_count"], part["ignored_word_count"])
    assert 360 == passages(*arguments, "papers/mine.txt")["ignored_word_count"]
    assert 0 == passages("--text", QUOTE, "--ignore", template)["word_count"]
    message = sentence(run("passages", "mine", "--ignore", "nobody"))
    assert "'nobody' is neither a file nor a document in the index" in message


def test_each_passage_says_how_many_of_its_words_are_quoted(tmp_path: Path) -> None:
    words, page = QUOTE.split(), tmp_path / "page.html"
    half = f"“{' '.join(words[:20])}” {' '.join(words[20:])}"
    printed = output("passages", "--text", half, "--html", page)

    assert "\n20 of the 60 words are quoted.\n" in printed
    assert "\n      60 words, 20 quoted, line 1" in printed
    assert "60 words, 20 quoted · line 1" in page.read_text("utf-8")
    assert "60 words, all quoted, line 1" in output("passages", "--text", f"“{QUOTE}”")


def test_the_bibliography_is_ignored() -> None:
    text = f"{prose(90, 14)}\n\nReferences\nBecker, A. (1998). {QUOTE.title()}"
    result = passages("--text", text, "--ignore-bibliography")
    without = output("passages", "--text", prose(40, 14), "--ignore-bibliography")

    assert (0, 64) == (result["total"], result["ignored_word_count"])
    assert ["The bibliography is ignored: line 3 to line 4."] == result["notes"]
    assert "No bibliography was found, so none is ignored." in without


@pytest.mark.parametrize("count", [3, 5, 6, 20])
def test_a_short_quotation_is_found(count: int) -> None:
    quotation = " ".join(QUOTE.split()[10 : 10 + count])

    assert ALL == ids("--text", quotation)
    assert f"Every shared run of {min(count, 6)} words is found." in output("passages", "--text", quotation)


def test_a_store_without_texts_gives_estimates() -> None:
    """No passage is listed. For a short text, the output has the probability that a document with it is found."""
    arguments = ("--file", "essay.txt", "--store", "textless")
    table, hits = output("passages", *arguments), passages(*arguments)["hits"]

    assert re.match(r"About \d+ % of essay.txt \(\d+ of 360 words\) appears in 4 indexed documents\.", table)
    assert re.search(r"^ +~\d+ +~\d+ % +\d+ +drafts/notes.txt$", table, re.MULTILINE)
    assert 4 == table.count("estimated, because the index does not have the texts of both documents")
    assert {("estimated", ())} == {(hit["kind"], tuple(hit["passages"])) for hit in hits}
    for text, message in (
        (
            " ".join(QUOTE.split()[:20]),
            "only 20 words. A document that contains all of it is found with a probability of 74.2 ",
        ),
        ("a b c", "only 3 words. A text this short only matches documents that contain no other words"),
    ):
        assert message in output("passages", "--text", text, "--store", "textless")
    assert "probability" not in output("passages", "--text", QUOTE, "--store", "textless")


def test_candidates_that_were_not_compared_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simdoc_search.search.passages.MAX_COMPARED_DOCUMENTS", 20)
    rows = json_lines(*({"id": f"{n}", "text": f"{QUOTE} {prose(8, n)}"} for n in range(30)))
    output("index", "-", "--store", tmp_path / "s", stdin=rows)
    arguments = ("passages", "--text", f"{QUOTE} {prose(60, 99)}", "--size", "1", "--store", tmp_path / "s")
    table = output(*arguments)

    assert (
        "At least 50 % of the text (60 of 120 words) appears in 20 indexed documents. "
        "10 of 30 candidates were not compared. Compare all documents with --compare-all."
    ) == table.splitlines()[0]
    assert "Showing 1 of at least 20 matches. Show more with --size 100." in table
    assert "Showing 1 of 30 matches. Show more with --size 100." in output(*arguments, "--compare-all")


def test_a_result_without_hits_fails_on_request() -> None:
    result = run("passages", "top", "--fail-if-empty")

    assert (1, "") == (result.exit_code, result.stderr)
    message = "No indexed document shares a passage with top.txt (200 words).\nEvery shared run of 6 words is found.\n"
    assert message == result.stdout
    assert 0 == run("passages", "mine", "--fail-if-empty").exit_code
    assert 1 == run("passages", "--file", "essays/two.txt", "--file", "essays/two.txt", "--fail-if-empty").exit_code


@pytest.mark.parametrize("arguments", [(), ("mine", "--text", "a"), ("--file", "essay.txt", "--folder", "essays")])
def test_exactly_one_kind_of_query_is_given(arguments: tuple[str, ...]) -> None:
    message = usage_error(run("passages", *arguments))

    assert "give one of ID, --file, --folder, --text or --all-from" == message


def test_wrong_queries_are_one_sentence() -> None:
    for arguments, message in (
        (("nobody",), "no document 'nobody' in the index"),
        (("--text", "..."), "the text has no words"),
        (("--text", QUOTE, "--filter", "langauge=de"), "langauge"),
        (("--file", "essays/x.bin"), "essays/x.bin cannot be read: binary"),
    ):
        assert message in sentence(run("passages", *arguments))


def test_a_copy_of_the_text_is_named_because_it_hides_the_other_sources(tmp_path: Path) -> None:
    write(tmp_path, {"my copy.txt": PAPER, "other.txt": QUOTE, "essays/paper.txt": PAPER})
    output("index", tmp_path / "my copy.txt", tmp_path / "other.txt", "--store", tmp_path / "s")
    note = (
        "'my copy.txt' has 100 % of the text. To see the other sources of the text, add --exclude 'path=my copy.txt'."
    )
    arguments = ("passages", "--file", tmp_path / "essays" / "paper.txt", "--store", tmp_path / "s")

    assert note in output(*arguments).splitlines()
    assert note not in output(*arguments, "--exclude", "path=my copy.txt")
