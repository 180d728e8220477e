"""`simdoc-search passages`: a document, files or a text come in; who shares passages with them goes out, and where."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support import formats
from tests.support.cli import answer, json_lines, output, run, sentence, usage_error, write


def prose(count: int, seed: int) -> str:
    """Words of which no run repeats."""
    return " ".join(f"w{number}" for number in random.Random(seed).sample(range(100_000), count))


QUOTE = prose(60, 1)
BEGIN = " ".join(QUOTE.split()[:45])
PAPER = f"{prose(200, 2)}\n{QUOTE.upper()}\n{prose(100, 3)}"
BOOK = f"{prose(500, 4)}\n\f{prose(100, 5)}\n{QUOTE} {prose(50, 6)}"
ALL = ["drafts/notes.txt", "papers/mine.txt", "sources/book.txt", "sources/short.txt"]
"""Those that have the quote."""


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an indexed corpus, and files that are not indexed; no test changes it."""
    folder = tmp_path_factory.mktemp("passages")
    corpus = {
        "papers/mine.txt": PAPER,
        "sources/book.txt": BOOK,
        "sources/short.txt": f"{BEGIN} {prose(60, 7)}",
        "drafts/notes.txt": f"{QUOTE} {prose(30, 8)}",
        "top.txt": prose(200, 9),
    }
    write(folder, {f"corpus/{name}": text for name, text in corpus.items()})
    write(folder, {"essay.txt": PAPER, "essays/one.txt": PAPER, "essays/two.txt": prose(90, 10), "docs.jsonl": ""})
    write(
        folder, {"essays/sub/three.txt": f"{prose(80, 11)} {BEGIN}", "essays/empty.txt": "...", "essays/x.bin": b"\0"}
    )
    rows = [{"id": "row 1", "text": QUOTE}, {"id": "row 2", "text": prose(70, 12)}]
    write(folder, {"rows.jsonl": json_lines(*rows), "ids.txt": "papers/mine.txt\nnobody\n./corpus/top.txt\n"})
    german = {"id": "german", "text": f"{prose(90, 13)} {QUOTE}", "language": "de"}
    write(folder, {"german.jsonl": json_lines(german)})
    output("index", folder / "corpus", "--store", folder / ".simdoc")
    output("index", folder / "corpus", folder / "german.jsonl", "--store", folder / "languages")
    output("index", folder / "corpus", "--store", folder / "textless", "--no-texts")
    return folder


@pytest.fixture(autouse=True)
def folder(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run."""
    monkeypatch.chdir(indexed)
    return indexed


def passages(*arguments: object, stdin: str | None = None) -> Any:
    """The JSON answer."""
    return answer("passages", *arguments, stdin=stdin)


def ids(*arguments: object, stdin: str | None = None) -> list[str]:
    """The ids of the hits, sorted."""
    return sorted(hit["id"] for hit in passages(*arguments, stdin=stdin)["hits"])


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


# --- many ---


def test_a_folder_is_asked_about_file_by_file() -> None:
    """A bad file costs only itself, and is listed; so is one without words."""
    found = passages("--folder", "essays")

    assert ["essays/one.txt", "essays/sub/three.txt", "essays/two.txt"] == sorted(
        each["query"]["file"] for each in found["results"]
    )
    assert {"essays/one.txt": ALL, "essays/sub/three.txt": ALL, "essays/two.txt": []} == {
        each["query"]["file"]: sorted(hit["id"] for hit in each["hits"]) for each in found["results"]
    }
    assert [("essays/empty.txt", "no words"), ("essays/x.bin", "binary")] == sorted(
        (each["path"], each["reason"]) for each in found["skipped"]
    )
    assert [] == found["problems"]


def test_people_read_the_texts_that_share_passages_and_at_the_end_what_was_skipped() -> None:
    """Those that share nothing are counted alone."""
    result = run("passages", "--folder", "essays")

    assert 0 == result.exit_code
    assert [True, False] == [f"\n{name}\n" in f"\n{result.stdout}" for name in ("essays/one.txt", "essays/two.txt")]
    assert result.stdout.endswith("\n2 of 3 texts share passages, 8 pairs; every shared run of 36 words is found, "
                                  "shorter ones perhaps\n")  # fmt: skip
    assert "  1 no words: essays/empty.txt\n  1 binary: essays/x.bin\n" == result.stderr


def test_the_rows_of_a_table_and_several_files_are_many() -> None:
    """One result each, in their order; `--file` of one text is one."""
    rows = passages("--file", "rows.jsonl")["results"]
    both = passages("--file", "essays/two.txt", "--file", "-", stdin=QUOTE)["results"]

    assert [{"id": None, "file": None, "row": "row 1"}, {"id": None, "file": None, "row": "row 2"}] == [
        each["query"] for each in rows
    ]
    assert [4, 0] == [len(each["hits"]) for each in rows]
    assert [("essays/two.txt", 0), ("-", 4)] == [(each["query"]["file"], len(each["hits"])) for each in both]


def test_a_list_asks_about_documents_and_names_those_that_fail() -> None:
    """The others are answered; the exit code is 1."""
    result = run("passages", "--all-from", "ids.txt", "--json")
    first, second, third = json.loads(result.stdout)["results"]

    assert (1, "Error: 1 query of 3 failed\n") == (result.exit_code, result.stderr)
    assert ["papers/mine.txt", "top.txt"] == [each["query"]["id"] for each in (first, third)]
    assert [3, 0] == [len(each["hits"]) for each in (first, third)]
    assert "nobody" == second["query"]["name"]
    assert "no document 'nobody' in the store" in second["error"]
    assert "\nnobody\nError: no document 'nobody'" in run("passages", "--all-from", "ids.txt").stdout


def test_a_missing_path_is_said_before_anything_is_read() -> None:
    """And an empty folder beside another one at the end."""
    assert "no.txt does not exist; check the path" == sentence(
        run("passages", "--file", "essay.txt", "--file", "no.txt")
    )
    assert "no.txt does not exist; check the path" == sentence(run("passages", "--file", "no.txt"))


def test_an_empty_folder_costs_only_itself(tmp_path: Path) -> None:
    """The other one is read; the exit code is 1."""
    (tmp_path / "none").mkdir()
    result = run("passages", "--folder", tmp_path / "none", "--folder", "essays", "--json")

    assert 1 == result.exit_code
    assert 3 == len(json.loads(result.stdout)["results"])
    assert f"{tmp_path / 'none'}" in result.stderr


def test_a_pdf_is_read_as_index_reads_it(tmp_path: Path) -> None:
    """By the readers of the corpus, in another process; a broken one beside it is listed."""
    write(tmp_path, {"a/one.pdf": formats.pdf(), "a/broken.pdf": b"%PDF-1.4 nothing", "a/z.txt": formats.PARAGRAPHS[1]})
    output("index", "-", "--store", tmp_path / "s", stdin=json_lines({"id": "p", "text": formats.PARAGRAPHS[1]}))
    found = passages("--folder", tmp_path / "a", "--store", tmp_path / "s")

    assert [f"{tmp_path}/a/one.pdf", f"{tmp_path}/a/z.txt"] == [each["query"]["file"] for each in found["results"]]
    assert [["p"], ["p"]] == [[hit["id"] for hit in each["hits"]] for each in found["results"]]
    assert [f"{tmp_path}/a/broken.pdf"] == [each["path"] for each in found["skipped"]]


# --- the page ---


def test_html_is_a_list_with_the_pairs_behind_it(tmp_path: Path) -> None:
    """One page, for one text and for many; each document opens to both texts."""
    one, many = tmp_path / "one.html", tmp_path / "many.html"
    shown = output("passages", "--file", "essay.txt", "--html", one)
    found = passages("--folder", "essays", "--html", many)
    pages = [path.read_text("utf-8") for path in (one, many)]

    assert shown.endswith(f"\npage: {one}\n")
    assert 3 == len(found["results"])
    assert [(4, 4), (8, 8)] == [(page.count('<details class="hit"'), page.count("<article")) for page in pages]
    assert ["Who shares passages with essay.txt", "Shared passages"] == [
        re.findall("<title>(.*?)</title>", page)[0] for page in pages
    ]
    for page in pages:
        names = re.findall(r' id="([^"]+)"', page)

        assert len(names) == len(set(names))


def test_a_page_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    """It names the file."""
    said = sentence(run("passages", "mine", "--html", tmp_path / "none" / "a.html"))

    assert f"cannot write {tmp_path}/none/a.html: No such file or directory; check the folder" == said


def test_a_page_without_hits_says_so(tmp_path: Path) -> None:
    """And one of a store without texts has no pair behind its list."""
    output("passages", "top", "--html", tmp_path / "a.html")
    output("passages", "--text", QUOTE, "--store", "textless", "--html", tmp_path / "b.html")

    assert "nothing found" in (tmp_path / "a.html").read_text("utf-8")
    assert "estimated, as a text is not stored" in (tmp_path / "b.html").read_text("utf-8")
    assert "<article" not in (tmp_path / "b.html").read_text("utf-8")


def test_hostile_texts_and_names_are_harmless_everywhere(tmp_path: Path) -> None:
    """In the terminal, in JSON and on the page."""
    hostile = "</script></details><script>\x1b[31m\u202e"
    write(tmp_path, {"a.txt": f"{hostile} {QUOTE} {hostile}"})
    rows = json_lines({"id": f"<b>{hostile}", "text": f"{hostile} {QUOTE} {hostile}"})
    output("index", "-", "--store", tmp_path / "s", stdin=rows)
    arguments = ("passages", "--file", tmp_path / "a.txt", "--store", tmp_path / "s")
    shown = output(*arguments, "--html", tmp_path / "c.html") + output(*arguments, "--json")
    page = (tmp_path / "c.html").read_text("utf-8")

    assert not {"\x1b", "\u202e"} & set(shown + page)
    assert (1, 1, 0) == (page.count("<script"), page.count("</details>\n</main>"), page.count("<b>"))


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
