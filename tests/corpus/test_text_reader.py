"""Sources one after the other become texts; a bad one costs only itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from simdoc_search.corpus import Document, Skipped, find_files, read_sources
from tests.support import formats
from tests.support.bombs import deep_odt
from tests.support.cli import write


def test_texts_come_in_the_order_of_their_sources(tmp_path: Path) -> None:
    """Files are read when it is their turn; what is a document, or skipped already, stays what it is."""
    write(tmp_path, {"a.txt": "one", "b.bin": b"\0\1"})
    others: list[Document | Skipped] = [Document("row", "two"), Skipped("c", "hidden")]
    found = [outcome for _, outcome in read_sources([*others, *find_files([tmp_path])])]

    assert [Document("row", "two"), Skipped("c", "hidden"), Document("a.txt", "one")] == found[:3]
    assert [Skipped(f"{tmp_path}/b.bin", "binary")] == found[3:]


def test_nothing_is_read_before_it_is_asked_for(tmp_path: Path) -> None:
    """A file that vanishes meanwhile is skipped."""
    write(tmp_path, {"a.txt": "one", "b.txt": "two"})
    found = read_sources(list(find_files([tmp_path])))
    (_, first) = next(found)
    (tmp_path / "b.txt").unlink()
    (_, second) = next(found)

    assert (Document("a.txt", "one"), Skipped(f"{tmp_path}/b.txt", "vanished before it was read")) == (first, second)


@pytest.mark.slow
def test_a_file_that_ends_its_reader_costs_only_itself(tmp_path: Path) -> None:
    """Those before and after it are read."""
    write(tmp_path, {"a.pdf": formats.pdf(), "b.odt": deep_odt(), "c.docx": formats.docx()})
    kinds = [type(outcome) for _, outcome in read_sources(find_files([tmp_path]))]

    assert [Document, Skipped, Document] == kinds
