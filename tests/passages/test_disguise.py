"""Characters that hide a copy are reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.passages.disguise import describe_disguised_words
from tests.support.cli import answer, output, write
from tests.support.web import pages_of

TEXT = "the keeper wrote about the old harbour and the people who lived there"


def test_disguised_words_are_counted_and_quoted() -> None:
    """Not each of their characters. One such word is enough."""
    one_word = describe_disguised_words("the w\u0435r\u0435b\u0430rr\u0435l")
    five_words = describe_disguised_words("k\u200bee\u200bper of\nth\u0435 h\u0430rb\u043eur, \u043ed, \u043ef")

    assert one_word.startswith("1 word contains invisible characters or letters of two alphabets")
    assert "“w\u0435r\u0435b\u0430rr\u0435l” (line 1)." in one_word
    assert five_words.startswith("5 words contain ")
    quoted = "“k\\u200bee\\u200bper” (line 1), “th\u0435” (line 2), “h\u0430rb\u043eur” (line 2), and 2 more."
    assert f" of two alphabets: {quoted} Such words can hide copied text" in five_words


def test_normal_texts_are_not_suspected() -> None:
    """Neither texts in two languages, nor the zero-width spaces between Thai words, nor Greek letters in science."""
    russian = "\u043e\u043d \u043f\u0438\u0441\u0430\u043b"
    thai = "\u0e20\u0e32\u0e29\u0e32\u200b\u0e44\u0e17\u0e22 "

    for text in (
        "",
        TEXT,
        f"{russian} {TEXT} " * 9,
        thai * 9,
        f"{TEXT}\u200b {TEXT} " * 9,
        "10 \u03bcm \u03b1-helix " * 9,
    ):
        assert "" == describe_disguised_words(text)


def test_all_outputs_have_the_note(tmp_path: Path) -> None:
    """Also if no source was found."""
    disguised = TEXT.replace("e", "\u0435")
    write(tmp_path, {"papers/a.txt": TEXT, "essays/b.txt": disguised})
    note, page = describe_disguised_words(disguised), tmp_path / "page.html"
    place = ("--in", tmp_path / "papers", "--store", tmp_path / "s")

    assert note in output("passages", "--file", tmp_path / "essays" / "b.txt", *place, "--html", page).splitlines()
    assert note in output("passages", "--folder", tmp_path / "essays", *place).splitlines()
    assert note in page.read_text("utf-8")
    search = SimilaritySearch(open_store(":memory:"))
    search.index([Document("a", TEXT)])
    with pages_of(lambda: search) as pages:
        assert note in pages.html("/passages", text=disguised)
        assert note in pages.html("/compare", text=disguised, b="a")
        assert [f"your text: {note}"] == pages.json("/compare", text=disguised, b="a")["notes"]


def test_compare_says_which_text_has_disguised_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    disguised = TEXT.replace("people", "p\u0435ople")
    write(tmp_path, {"a.txt": TEXT, "b.txt": disguised})
    files, page = ("compare", "a.txt", "b.txt"), tmp_path / "page.html"
    note = f"b.txt: {describe_disguised_words(disguised)}"
    printed = output(*files, "--html", page)

    assert note in " ".join(printed.split())
    assert note in page.read_text("utf-8")
    assert [note] == answer(*files)["notes"]
    assert [] == answer("compare", "b.txt", "b.txt")["notes"]
