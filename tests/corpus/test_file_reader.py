"""Files on disk, uploads and lists of sources are read as texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from simdoc_search.corpus import Document, SkippedFile, find_files, read_bytes, read_file, read_sources
from simdoc_search.errors import CorpusError
from simdoc_search.workers import ItemLimits
from tests.support import formats
from tests.support.bombs import deep_pptx
from tests.support.cli import write
from tests.support.formats import MAKERS
from tests.support.slow_cases import slow_after


def test_reading_a_file_returns_its_text_or_raises_an_error_of_one_sentence(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "the text of a", "b.png": b"\0\1\2"})

    assert "the text of a" == read_file(tmp_path / "a.txt").text
    with pytest.raises(CorpusError, match=r"b\.png cannot be read: binary"):
        read_file(tmp_path / "b.png")
    with pytest.raises(CorpusError, match=r"is a folder; give a file in it"):
        read_file(tmp_path)
    with pytest.raises(CorpusError, match=r"none does not exist; check the path"):
        read_file(tmp_path / "none")


# --- uploads ---


@pytest.mark.parametrize("extension", slow_after(1, sorted(MAKERS)))
def test_an_upload_has_the_text_of_the_file(tmp_path: Path, extension: str) -> None:
    data = MAKERS[extension]()
    (tmp_path / f"a{extension}").write_bytes(data)

    assert read_file(tmp_path / f"a{extension}").text == read_bytes(f"a{extension}", data).text


def test_folders_in_the_name_of_an_upload_are_ignored() -> None:
    names = ("/etc/passwd", "..\\..\\a.txt", "a/b/", "", "a\0b", "dir/x.html")

    assert ["passwd", "a.txt", "file", "file", "ab", "x.html"] == [read_bytes(name, b"<p>words").id for name in names]
    assert "words" == read_bytes("dir/x.html", b"<p>words").text.strip()


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.txt", b"x" * 2_000, "2,000 bytes are over the limit of 1,000"),
        ("a.bin", b"\0\1" * 99, "binary"),
        ("a.parquet", b"PAR1", "format .parquet is not supported"),
        ("a.mbox", b"From x", "the file is an archive; extract one of its documents, and give that document"),
        ("a.pdf", b"%PDF-1.4 broken", "damaged"),
    ],
)
def test_an_upload_without_text_raises_an_error_of_one_sentence(name: str, data: bytes, reason: str) -> None:
    with pytest.raises(CorpusError, match=f"'{name}' cannot be read: {reason}"):
        read_bytes(name, data, max_bytes=1_000)


def test_an_upload_is_read_within_the_limits() -> None:
    with pytest.raises(CorpusError, match="took longer"):
        read_bytes("a.html", b"<div>" * 400_000, limits=ItemLimits(seconds=0.4))


# --- lists of sources ---


def test_sources_are_read_in_order_and_when_requested(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "one", "b.bin": b"\0\1", "c.txt": "three"})
    others: list[Document | SkippedFile] = [Document("row", "two"), SkippedFile("c", "hidden")]
    documents = (document for _, document in read_sources([*others, *find_files([tmp_path])]))

    assert [*others, Document("a.txt", "one")] == [next(documents) for _ in range(3)]
    (tmp_path / "c.txt").unlink()
    assert [
        SkippedFile(f"{tmp_path}/b.bin", "binary"),
        SkippedFile(f"{tmp_path}/c.txt", "vanished before it was read"),
    ] == list(documents)


@pytest.mark.slow
def test_only_the_file_that_crashes_its_reader_is_skipped(tmp_path: Path) -> None:
    write(tmp_path, {"a.pdf": formats.pdf(), "b.pptx": deep_pptx(), "c.docx": formats.docx()})
    kinds = [type(document) for _, document in read_sources(find_files([tmp_path]))]

    assert [Document, SkippedFile, Document] == kinds
