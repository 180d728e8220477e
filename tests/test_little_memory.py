"""With too little memory, a command fails with one sentence. Only a file that needs too much memory is skipped."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.cli import OUT_OF_MEMORY_MESSAGE
from simdoc_search.errors import MissingExtraError, is_out_of_memory
from simdoc_search.indexing import preparation
from simdoc_search.stores.local import writer
from tests.support import cli


def caused(cause: Exception) -> MissingExtraError:
    """Return an import error with this cause."""
    error = MissingExtraError("the format .pdf", "documents")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        RuntimeError("can't start new thread"),
        caused(ImportError("libx.so: failed to map segment from shared object")),
    ],
)
def test_a_lack_of_memory_is_reported_with_one_sentence(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(SimilaritySearch, "index", fail)
    cli.write(tmp_path, {"a.txt": "some words"})

    assert OUT_OF_MEMORY_MESSAGE == cli.sentence(cli.run("index", tmp_path / "a.txt", "--store", tmp_path / "store"))


@pytest.mark.parametrize(
    "error", [RuntimeError("other"), ImportError("no module"), OSError(errno.ENOENT, "No such file"), None]
)
def test_other_errors_are_not_a_lack_of_memory(error: Exception | None) -> None:
    assert not is_out_of_memory(error)


@pytest.mark.parametrize(
    ("machine", "heap"),
    [(None, 128_000_000), (64_000_000_000, 128_000_000), (512_000_000, 32_000_000), (64_000_000, 15_000_000)],
)
def test_the_writer_buffers_less_on_a_small_machine(
    machine: int | None, heap: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "read_machine_memory", lambda: machine)

    assert heap == writer.choose_heap_bytes()


@pytest.mark.slow
def test_a_document_for_which_this_process_has_no_memory_is_prepared_by_another_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(preparation, "fingerprints", fail)
    search = SimilaritySearch(open_store(":memory:", create=True))

    assert 1 == search.index([Document("a", "some words")]).added_count
