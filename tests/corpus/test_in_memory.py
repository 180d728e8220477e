"""A file that is in memory and nowhere else: an upload."""

from __future__ import annotations

from pathlib import Path

import pytest

from simdoc_search.corpus import read_bytes, read_file
from simdoc_search.errors import CorpusError
from simdoc_search.workers import ItemLimits
from tests.support.formats import MAKERS
from tests.support.often import first


@pytest.mark.parametrize("ending", first(2, sorted(MAKERS)))
def test_it_gives_what_the_file_gives(tmp_path: Path, ending: str) -> None:
    """Of each format the same text, without being written anywhere."""
    data = MAKERS[ending]()
    (tmp_path / f"a{ending}").write_bytes(data)

    assert read_file(tmp_path / f"a{ending}").text == read_bytes(f"a{ending}", data).text


def test_the_folders_in_its_name_are_left_out() -> None:
    """Whoever sends it says what it is called."""
    names = ("/etc/passwd", "..\\..\\a.txt", "a/b/", "", "a\0b", "dir/x.html")

    assert ["passwd", "a.txt", "file", "file", "ab", "x.html"] == [read_bytes(each, b"<p>words").id for each in names]
    assert "words" == read_bytes("dir/x.html", b"<p>words").text.strip()


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.txt", b"x" * 2_000, "over the limit of 1,000 bytes"),
        ("a.bin", b"\0\1" * 99, "binary"),
        ("a.parquet", b"PAR1", "format .parquet is not supported"),
        ("a.mbox", b"From x", "it holds several documents; give one of them"),
        ("a.pdf", b"%PDF-1.4 broken", "damaged"),
    ],
)
def test_what_gives_no_text_is_a_sentence(name: str, data: bytes, said: str) -> None:
    """With the name of the file."""
    with pytest.raises(CorpusError, match=f"'{name}' cannot be read: .*{said}"):
        read_bytes(name, data, max_bytes=1_000)


def test_reading_it_ends_at_its_limits() -> None:
    """What takes too long costs itself alone."""
    slow = b"<div>" * 400_000

    with pytest.raises(CorpusError, match="took longer"):
        read_bytes("a.html", slow, limits=ItemLimits(seconds=0.4))
