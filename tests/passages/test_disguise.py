"""Characters that hide a copy are reported."""

from __future__ import annotations

from pathlib import Path

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.passages.disguise import describe_disguise
from tests.support.cli import output, write
from tests.support.web import pages_of

TEXT = "the keeper wrote about the old harbour and the people who lived there"


def test_characters_inside_words_are_counted() -> None:
    with_spaces = " ".join(f"{word[:1]}\u200b{word[1:]}" for word in TEXT.split()[:5])
    with_cyrillic = TEXT.replace("o", "\u043e").replace("e", "\u0435")

    assert describe_disguise(with_spaces).startswith("In 5 places, words contain invisible characters")
    assert describe_disguise(with_cyrillic)
    assert "" == describe_disguise(with_spaces.rpartition(" ")[0])


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
        assert "" == describe_disguise(text)


def test_all_outputs_have_the_note(tmp_path: Path) -> None:
    """Also if no source was found."""
    disguised = TEXT.replace("e", "\u0435")
    write(tmp_path, {"papers/a.txt": TEXT, "essays/b.txt": disguised})
    note, page = describe_disguise(disguised), tmp_path / "page.html"
    place = ("--in", tmp_path / "papers", "--store", tmp_path / "s")

    assert note in output("passages", "--file", tmp_path / "essays" / "b.txt", *place, "--html", page).splitlines()
    assert note in output("passages", "--folder", tmp_path / "essays", *place).splitlines()
    assert note in page.read_text("utf-8")
    search = SimilaritySearch(open_store(":memory:"))
    search.index([Document("a", TEXT)])
    with pages_of(lambda: search) as pages:
        assert note in pages.html("/passages", text=disguised)
