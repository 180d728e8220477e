"""Indexing is interrupted by Ctrl-C, kill -9 or the end of a worker process."""

from __future__ import annotations

import functools
import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.stores.base import Store
from simdoc_search.workers import BeginItem, ItemLimits, WorkerPool
from tests.support.texts import documents
from tests.support.workers import worker_processes

pytestmark = pytest.mark.slow

CHUNK = 64  # number of documents in a chunk
AHEAD = 8  # maximum number of chunks that are read before one is written, with 3 workers
COUNT = 12 * CHUNK
WITHHELD = CHUNK // 2  # number of documents that are not sent before the process is interrupted
IN_PIPE = 1 << 18  # maximum number of bytes that were sent and that the process has not read

COMMAND = [  # starts its workers after the first chunk
    sys.executable,
    "-c",
    "from simdoc_search.indexing import jobs; from simdoc_search.cli import main\n"
    "jobs._MIN_SECONDS_BEFORE_WORKERS = jobs._MIN_SHARE_FOR_WORKERS = 0.0\n"
    "if __name__ == '__main__': main()",
]
COMMITTING = [  # commits each chunk at once
    sys.executable,
    "-c",
    "from simdoc_search import indexing; import simdoc_search.indexing.run; from simdoc_search.cli import main\n"
    "indexing.run._COMMIT_INTERVAL_SECONDS = 0.0\n"
    "if __name__ == '__main__': main()",
]


@functools.cache
def everything() -> dict[str, str]:
    """The ids and texts that the processes index."""
    return {document.id: document.text for document in documents("interrupted", COUNT, 400)}


@functools.cache
def lines() -> list[bytes]:
    """The same documents as lines of JSONL."""
    return [json.dumps({"id": id, "text": text}).encode() + b"\n" for id, text in everything().items()]


@pytest.fixture
def search(local_store: Store) -> SimilaritySearch:
    """A search over an empty store."""
    return SimilaritySearch(local_store)


@contextmanager
def indexing(store: Path, workers: int, command: list[str] = COMMAND) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process that indexes standard input. It has read nearly all documents, and waits for the rest."""
    arguments = ["index", "-", "--store", str(store), "--workers", str(workers), "--json"]
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in a background job; subprocesses would also ignore it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [*command, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert process.stdin
        process.stdin.writelines(lines()[:-WITHHELD])
        process.stdin.flush()
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Return exit status and stderr. Fails if a worker that can still write to stderr is running."""
    _, messages = process.communicate(timeout=30)
    return process.returncode, messages.decode()


def read_before_the_signal() -> int:
    """Return the minimum number of documents that the process of `indexing` has read."""
    written = list(itertools.accumulate(map(len, lines()[:-WITHHELD])))
    return sum(end <= written[-1] - IN_PIPE for end in written)


def stored(store: Path) -> dict[str, str | None]:
    """Return all ids and texts. Fails if two documents have the same id."""
    with closing(open_store(store)) as opened:
        records = list(opened.scan(load={"text"}))
    assert len({record.id for record in records}) == len(records)
    return {record.id: record.text for record in records}


def complete(store: Path) -> dict[str, Any]:
    """Index all documents again, and return the report."""
    command = [*COMMAND, "index", "-", "--store", str(store), "--workers", "2", "--json"]
    done = subprocess.run(command, input=b"".join(lines()), capture_output=True, check=True)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


# --- the whole process ---


@pytest.mark.parametrize("workers", [1, 3])
def test_ctrl_c_keeps_finished_documents(workers: int, tmp_path: Path) -> None:
    store = tmp_path / "store"
    with indexing(store, workers) as process:
        os.killpg(process.pid, signal.SIGINT)
        code, messages = ended(process)
    kept = stored(store)
    report = complete(store)

    assert 130 == code
    assert "Error: interrupted; finished documents are stored. Run the same command again to resume\n" == messages
    assert read_before_the_signal() - (AHEAD if workers > 1 else 1) * CHUNK <= len(kept) <= COUNT - CHUNK
    assert kept.items() <= everything().items()
    assert (COUNT - len(kept), len(kept), 0, []) == tuple(
        report[name] for name in ("added_count", "unchanged_count", "replaced_count", "skipped")
    )
    assert everything() == stored(store)


@pytest.mark.parametrize("workers", [1, 3])
def test_the_next_run_completes_a_run_after_kill_9(workers: int, tmp_path: Path) -> None:
    store = tmp_path / "store"
    with indexing(store, workers) as process:
        process.kill()
        code, _ = ended(process)
    kept = stored(store)
    report = complete(store)

    assert -signal.SIGKILL == code
    assert kept.items() <= everything().items()
    assert (COUNT - len(kept), len(kept)) == (report["added_count"], report["unchanged_count"])
    assert everything() == stored(store)


def test_kill_9_keeps_what_was_committed(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with indexing(store, 1, COMMITTING) as process:
        process.kill()
        ended(process)
    kept = stored(store)
    report = complete(store)

    assert read_before_the_signal() - 2 * CHUNK <= len(kept) <= COUNT - CHUNK
    assert kept.items() <= everything().items()
    assert (COUNT - len(kept), len(kept)) == (report["added_count"], report["unchanged_count"])
    assert everything() == stored(store)


# --- inside a process ---


def test_an_interrupt_keeps_the_prepared_documents(search: SimilaritySearch) -> None:
    made = documents("interrupt", 200, 10)

    def interrupted() -> Iterator[Document]:
        yield from made[:150]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search.index(interrupted())

    assert {document.id for document in made[:128]} == {record.id for record in search.store.scan()}
    report = search.index(made)
    assert (72, 128) == (report.added_count, report.unchanged_count)
    assert {document.id for document in made} == {record.id for record in search.store.scan()}


def test_a_killed_worker_loses_no_document(search: SimilaritySearch) -> None:
    def killing() -> Iterator[Document]:
        for number in range(2000):
            if number == 1000:
                os.kill(worker_processes()[0].pid, signal.SIGKILL)
            yield Document(f"new{number}", f"text {number}")

    report = search.index(killing(), workers=2)

    assert (2000, []) == (report.added_count, report.skipped)
    assert [] == worker_processes()


class InterruptedAtStart:
    """Work whose process receives SIGINT while it unpickles the work."""

    def __call__(self, items: Sequence[str], _: BeginItem) -> list[str]:
        """Return the items."""
        return list(items)

    def __reduce__(self) -> tuple[Callable[[], InterruptedAtStart], tuple[()]]:
        """Pickle a call of `start_interrupted`."""
        return start_interrupted, ()


def start_interrupted() -> InterruptedAtStart:
    os.kill(os.getpid(), signal.SIGINT)
    return InterruptedAtStart()


def test_a_worker_ignores_ctrl_c_while_it_starts() -> None:
    pool = WorkerPool(1, InterruptedAtStart(), lambda item, reason: f"{item}: {reason}", ItemLimits())
    try:
        outcomes = pool.submit(["a", "b"]).result()
    finally:
        pool.close()

    assert ["a", "b"] == outcomes
