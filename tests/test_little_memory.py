"""With too little memory a command is one sentence, and a file that needs too much costs itself only."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.cli import OUT_OF_MEMORY
from simdoc_search.errors import MissingExtraError, StoreError
from simdoc_search.indexing import preparation
from simdoc_search.stores.local import writer
from simdoc_search.workers.memory import is_out_of_memory
from tests.support import cli, formats

linux_only = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="other systems do not say what is left")

# A command whose address space is limited to the megabytes that the first argument says, as by `ulimit -v`.
IN_LITTLE_MEMORY = """
import os, resource, sys
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # or numpy cannot even be imported where there are many cores
limit = int(sys.argv.pop(1)) * 1_000_000
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
from simdoc_search.cli import main
main()
"""


@linux_only
@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("limit", [175, 250, 350, 450])
def test_index_works_or_says_what_to_do(limit: int, workers: int, tmp_path: Path) -> None:
    """Whatever the limit is, no library ends the process, and the next run works."""
    files: dict[str, str | bytes] = {f"{number}.txt": cli.words(number, number + 2000) for number in range(200)}
    cli.write(tmp_path / "corpus", {**files, "a.docx": formats.docx(), "large.txt": cli.words(0, 700_000)})
    command = ("index", "corpus", "--store", "store", "--workers", workers)
    ran = cli.script(IN_LITTLE_MEMORY, limit, *command, cwd=tmp_path)

    if ran.returncode or limit <= 250:
        assert "ulimit -v" in cli.sentence(ran)

    report = cli.answer("index", tmp_path / "corpus", "--store", tmp_path / "store")
    assert (202, []) == (report["indexed"] + report["unchanged"], report["skipped"])


def caused(cause: Exception) -> MissingExtraError:
    """What is raised when a package cannot be imported."""
    error = MissingExtraError("the format .pdf", "documents")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        RuntimeError("can't start new thread"),
        ImportError("libx.so: failed to map segment from shared object"),
        caused(ImportError("libx.so: failed to map segment from shared object")),
    ],
)
def test_a_lack_of_memory_is_one_sentence(error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However Python and the system say it."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(SimilaritySearch, "index", fail)
    cli.write(tmp_path, {"a.txt": "some words"})

    assert OUT_OF_MEMORY == cli.sentence(cli.run("index", tmp_path / "a.txt", "--store", tmp_path / "store"))


@pytest.mark.parametrize(
    "error", [RuntimeError("other"), ImportError("no module"), OSError(errno.ENOENT, "No such file"), None]
)
def test_other_errors_are_not_a_lack_of_memory(error: Exception | None) -> None:
    """They keep their own words."""
    assert not is_out_of_memory(error)


@pytest.mark.parametrize(
    ("machine", "left", "heap"),
    [
        (None, None, 128_000_000),
        (64_000_000_000, None, 128_000_000),
        (512_000_000, None, 32_000_000),
        (64_000_000, None, 15_000_000),
        (64_000_000_000, 300_000_000, 50_000_000),
        (64_000_000_000, 200_000_000, 15_000_000),
        (64_000_000_000, 8_000_000_000, 128_000_000),
    ],
)
def test_the_writer_takes_less_where_there_is_less(
    machine: int | None, left: int | None, heap: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sixteenth of the machine or container, and half of what a limit of address space leaves besides."""
    monkeypatch.setattr(writer, "machine_memory", lambda: machine)
    monkeypatch.setattr(writer, "address_space_left", lambda: left)

    assert heap == writer.heap_bytes()


def test_a_writer_that_may_be_ended_for_want_of_memory_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not opened, or takes no more records; what was committed is there."""
    said = "ulimit -v leaves 100 MB of address space, and writing an index needs 200 MB; raise"
    search = SimilaritySearch(open_store(tmp_path / "store", create=True))
    search.index([Document("a", "some words")])
    with search.store.writer() as opened:
        record = search.store.get("a", text=True, passages=True)
        monkeypatch.setattr(writer, "address_space_left", lambda: 100_000_000)
        with pytest.raises(StoreError, match=said):
            opened.put([record] if record else [])
    with pytest.raises(StoreError, match=said), search.store.writer():
        pass

    assert ["a"] == [each.id for each in search.store.scan()]


def test_a_document_for_which_this_process_has_no_memory_is_prepared_by_another_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There it is skipped, if that has too little as well; the run goes on."""

    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(preparation, "fingerprints", fail)
    search = SimilaritySearch(open_store(":memory:", create=True))

    assert 1 == search.index([Document("a", "some words")]).indexed
