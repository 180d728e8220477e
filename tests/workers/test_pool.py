"""A worker pool handles subprocesses that crash, hang or run out of memory."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from simdoc_search.errors import DocumentError, SimdocError
from simdoc_search.workers import ItemLimits, WorkerPool, iterate_in_subprocess, memory_per_worker
from tests.support.failing_work import failed, numbers, work
from tests.support.workers import worker_processes

Pool = WorkerPool[str, str]

MEMORY = 300_000_000  # bytes that a process may hold


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """Two processes, with little time for an item."""
    made = Pool(2, work, failed, ItemLimits(2.0, MEMORY))
    yield made
    made.close()


def test_outcomes_come_in_the_order_of_the_items(pool: Pool) -> None:
    futures = [pool.submit([f"a{n}", f"b{n}"]) for n in range(20)]

    assert [[f"A{n}", f"B{n}"] for n in range(20)] == [future.result() for future in futures]


CRASH = "ended unexpectedly (exit code -9)"
SWELL = "needed more memory than 300 MB to read"


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ("crash", CRASH),
        ("no memory", "ran out of memory"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in [
                ("no thread", "ran out of memory"),
                ("late crash", CRASH),  # after all items were read
                ("hang", "took longer than 2 s to read"),
                ("swell", SWELL),
                ("late swell", SWELL),
            ]
        ),
    ],
)
def test_an_item_that_ends_its_process_fails_alone(pool: Pool, item: str, reason: str) -> None:
    broken, whole = pool.submit(["a", item, "b", item, "c"]), pool.submit(["d"])

    assert ["A", f"{item}: {reason}", "B", f"{item}: {reason}", "C"] == broken.result()
    assert ["D"] == whole.result()


@pytest.mark.slow
def test_an_item_is_retried_if_other_items_have_taken_the_memory(pool: Pool) -> None:
    """An item that exceeds the limit only because of other items is retried in a fresh process."""
    assert ["KEEP", "KEEP", "A"] == pool.submit(["keep", "keep", "a"]).result()


def test_an_error_of_the_work_is_raised_in_the_parent(pool: Pool) -> None:
    with pytest.raises(RuntimeError, match="ValueError: the work is wrong"):
        pool.submit(["fail"]).result()

    assert ["A"] == pool.submit(["a"]).result()


def test_output_of_a_reader_does_not_mix_with_the_responses(pool: Pool, capfd: pytest.CaptureFixture[str]) -> None:
    """The output goes to stderr, whether Python or C code prints it."""
    assert ["PRINT", "A"] == pool.submit(["print", "a"]).result()
    assert "" == capfd.readouterr().out


def test_close_ends_processes_at_work() -> None:
    before = len(worker_processes())
    pool = Pool(2, work, failed, ItemLimits(60.0, MEMORY))
    future = pool.submit(["hang"])
    pool.close()

    assert before == len(worker_processes())
    assert future.done()


def test_a_pool_that_cannot_start_its_processes_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error does not name an item."""
    monkeypatch.setattr(sys, "executable", "/bin/false")
    made = Pool(1, work, failed, ItemLimits())
    try:
        with pytest.raises(SimdocError, match=r"ended unexpectedly \(exit code 1\) when it started; .* use fewer"):
            made.submit(["a"]).result()
    finally:
        made.close()


def test_a_pool_that_gets_no_thread_ends_its_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    before = len(worker_processes())

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(RuntimeError):
        Pool(2, work, failed, ItemLimits())

    assert before == len(worker_processes())


ORPHAN = """
import time
from simdoc_search.workers import ItemLimits, WorkerPool
from tests.support.failing_work import failed, work
from tests.support.workers import worker_processes
pool = WorkerPool(1, work, failed, ItemLimits())
pool.submit(["hang"])
print(*[process.pid for process in worker_processes()], flush=True)
time.sleep(3600)
"""


@pytest.mark.slow
def test_a_process_at_work_ends_when_its_parent_is_killed() -> None:
    root = Path(__file__).parents[2]
    with subprocess.Popen([sys.executable, "-c", ORPHAN], cwd=root, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        worker = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    worker.wait(timeout=60)

    assert not worker.is_running()


# --- iterators ---


def test_an_iterator_in_a_subprocess_yields_all_its_values_in_order() -> None:
    assert list(range(1000)) == list(iterate_in_subprocess(numbers, 1000))
    assert [] == list(iterate_in_subprocess(numbers, 0))


@pytest.mark.parametrize(
    ("how", "error", "reason"),
    [
        ("crash", DocumentError, r"ended unexpectedly \(exit code -9\)"),
        ("refuse", DocumentError, "refused"),
        ("fail", RuntimeError, "ValueError: the work is wrong"),
    ],
)
def test_an_iterator_that_fails_yields_its_earlier_values(how: str, error: type[Exception], reason: str) -> None:
    before, values = len(worker_processes()), list[int]()
    with pytest.raises(error, match=reason):
        values.extend(iterate_in_subprocess(numbers, 300, how, limits=ItemLimits(60.0, MEMORY)))

    assert list(range(256)) == values
    assert before == len(worker_processes())


def test_closing_an_iterator_early_ends_its_process() -> None:
    before = len(worker_processes())
    values = iterate_in_subprocess(numbers, 1000)

    assert 0 == next(values)
    values.close()
    assert before == len(worker_processes())


@pytest.mark.parametrize("workers", [1, 2, 64])
def test_workers_together_get_half_of_the_memory(workers: int) -> None:
    """Each gets 1 to 4 GB, but never more than half of the machine."""
    half = psutil.virtual_memory().total // 2

    assert memory_per_worker(workers) <= min(max(half // workers, 1_000_000_000), 4_000_000_000, half)
    assert memory_per_worker(workers) >= min(memory_per_worker(1), 1_000_000_000)
