"""Texts in Thai, Lao, Khmer and Burmese."""

from __future__ import annotations

from pathlib import Path

import pytest

from simdoc_search.passages.unsplit_text import UNSPLIT_PASSAGES_NOTE, has_unsplit_words
from tests.support.cli import output, run, write

THAI = "\u0e40\u0e23\u0e32\u0e1b\u0e23\u0e30\u0e0a\u0e38\u0e21\u0e01\u0e31\u0e19" * 5
ENGLISH = "the keeper wrote about the old harbour and the people who lived there. " * 10


NOTE = "Thai, Lao, Khmer and Burmese are not split into words."
OPTION = "--unit character"


def test_texts_whose_words_are_not_split_are_recognised() -> None:
    for text in (THAI, f"{ENGLISH}{THAI * 20}", "\u1780\u17b6\u179a" * 20, "\u1019\u103c\u1014\u103a" * 20):
        assert has_unsplit_words(text)
    for text in ("", ENGLISH, f"{ENGLISH}{THAI}", THAI[:19], "\u6211\u4eec\u5f00\u4f1a" * 20, "\ud68c\uc758 " * 30):
        assert not has_unsplit_words(text)


def test_passages_and_compare_say_that_they_find_few_passages(tmp_path: Path) -> None:
    write(tmp_path, {"papers/a.txt": THAI + ENGLISH, "b.txt": ENGLISH[:20] + THAI})
    files = tmp_path / "b.txt", tmp_path / "papers" / "a.txt"
    found = output("passages", "--file", files[0], "--in", tmp_path / "papers", "--store", tmp_path / "s")
    compared = output("compare", *files, "--html", tmp_path / "page.html")

    assert UNSPLIT_PASSAGES_NOTE in " ".join(found.split())
    assert UNSPLIT_PASSAGES_NOTE in " ".join(compared.split())
    assert NOTE in (tmp_path / "page.html").read_text("utf-8")
    assert NOTE not in output("compare", files[0], files[0])


def test_similar_and_duplicates_name_the_option_that_finds_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The two texts differ in one letter of each phrase."""
    monkeypatch.chdir(tmp_path)
    phrases = [THAI[:10] + chr(0x0E01 + number) + THAI[:10] for number in range(30)]
    write(tmp_path, {"d/a.txt": " ".join(phrases), "d/b.txt": " ".join(f"\u0e01{phrase}" for phrase in phrases)})
    output("index", "d")
    output("index", "d", "--store", "characters", "--unit", "character")
    for arguments in (("similar", "a.txt"), ("similar", "--file", "d/a.txt"), ("duplicates",)):
        by_words, by_characters = run(*arguments), run(*arguments, "--store", "characters")

        assert "b.txt" not in by_words.stdout
        assert NOTE in by_words.stderr
        assert OPTION in by_words.stderr
        assert "b.txt" in by_characters.stdout
        assert NOTE not in by_characters.stderr
