"""An unreadable file or folder is skipped. If the user names its path, an error is raised."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from simdoc_search.corpus import SkippedFile, read_corpus, read_sources
from simdoc_search.errors import CorpusError
from tests.support.folders import posix_only, write
from tests.support.users import ordinary_user

pytestmark = posix_only


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a file and a folder that an ordinary user cannot read."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        write(Path(place), "all/a.txt", "all/closed.txt", "all/closed.jsonl", "all/closed/b.txt", "all/z.txt")
        closed = [Path(place, "all", name) for name in ("closed.txt", "closed.jsonl", "closed")]
        for path in closed:
            path.chmod(0)
        yield Path(place, "all")
        for path in closed:
            path.chmod(0o755)


def test_unreadable_files_and_folders_are_skipped(folder: Path) -> None:
    with ordinary_user():
        documents = [document for _, document in read_sources(read_corpus([folder]))]

    assert ["a.txt", "z.txt"] == [document.id for document in documents if not isinstance(document, SkippedFile)]
    assert {f"{folder}/{name}": "permission denied" for name in ("closed.jsonl", "closed.txt", "closed/")} == {
        document.path: document.reason for document in documents if isinstance(document, SkippedFile)
    }


def test_a_named_unreadable_path_is_an_error(folder: Path) -> None:
    with ordinary_user():
        with pytest.raises(CorpusError, match=r"no permission to read .*closed; change its permissions"):
            read_corpus([folder / "closed"])
        with pytest.raises(CorpusError, match=r"closed\.jsonl cannot be read \(Permission denied\); check the path"):
            list(read_corpus([folder / "closed.jsonl"]))
