"""Texts in Thai, Lao, Khmer and Burmese."""

from __future__ import annotations

from pathlib import Path

from simdoc_search.passages.unsplit_text import describe_unsplit_text
from tests.support.cli import output, write

THAI = "\u0e40\u0e23\u0e32\u0e1b\u0e23\u0e30\u0e0a\u0e38\u0e21\u0e01\u0e31\u0e19" * 5
ENGLISH = "the keeper wrote about the old harbour and the people who lived there. " * 10


def test_texts_whose_words_are_not_split_are_recognised() -> None:
    for text in (THAI, f"{ENGLISH}{THAI * 20}", "\u1780\u17b6\u179a" * 20, "\u1019\u103c\u1014\u103a" * 20):
        assert describe_unsplit_text(text).startswith("Thai, Lao, Khmer and Burmese are not split into words.")
    for text in ("", ENGLISH, f"{ENGLISH}{THAI}", THAI[:19], "\u6211\u4eec\u5f00\u4f1a" * 20, "\ud68c\uc758 " * 30):
        assert "" == describe_unsplit_text(text)


def test_passages_says_that_it_finds_few_passages(tmp_path: Path) -> None:
    write(tmp_path, {"papers/a.txt": THAI + ENGLISH, "b.txt": ENGLISH[:20] + THAI})

    found = output("passages", "--file", tmp_path / "b.txt", "--in", tmp_path / "papers", "--store", tmp_path / "s")
    assert describe_unsplit_text(THAI) in " ".join(found.split())
