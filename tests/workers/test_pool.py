"""Work in other processes that may crash or hang."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from simdoc_search.errors import DocumentError, SimdocError
from simdoc_search.workers import ItemLimits, WorkerPool, fair_memory, iterate_in_subprocess
from tests.support.trouble import lost, numbers, work
from tests.support.workers import worker_processes

Pool = WorkerPool[str, str]

MEMORY = 300_000_000  # bytes that a process may hold here


@pytest.fixture
def pool() -> Iterator[Pool]:
    """Two processes."""
    made = Pool(2, work, lost, ItemLimits(60.0, MEMORY))
    yield made
    made.close()


@pytest.fixture
def hasty_pool() -> Iterator[Pool]:
    """The same, with little time for an item."""
    made = Pool(2, work, lost, ItemLimits(1.0, MEMORY))
    yield made
    made.close()


def test_outcomes_come_in_the_order_of_the_items(pool: Pool) -> None:
    """Each chunk has a future with one outcome per item."""
    chunks = [[f"a{n}", f"b{n}"] for n in range(20)]
    futures = [pool.submit(chunk) for chunk in chunks]

    assert [[f"A{n}", f"B{n}"] for n in range(20)] == [future.result() for future in futures]


def test_an_item_that_ends_its_process_costs_itself_only(pool: Pool) -> None:
    """The others of its chunk, and the other chunks, are done by the next process."""
    broken, whole = pool.submit(["a", "crash", "b", "crash", "c"]), pool.submit(["d"])
    reason = "crash: ended unexpectedly (exit code -9)"

    assert ["A", reason, "B", reason, "C"] == broken.result()
    assert ["D"] == whole.result()


@pytest.mark.slow
def test_an_item_that_hangs_costs_itself_only(hasty_pool: Pool) -> None:
    """After the time for one item its process is ended."""
    assert ["A", "hang: took longer than 1 s to read", "B"] == hasty_pool.submit(["a", "hang", "b"]).result()


@pytest.mark.slow
def test_an_item_that_takes_too_much_memory_costs_itself_only(pool: Pool) -> None:
    """Its process is ended in time, and the reason says how much would have been allowed."""
    reason = "swell: needed more memory than 300 MB to read"

    assert ["A", reason, "B"] == pool.submit(["a", "swell", "b"]).result()


@pytest.mark.parametrize("item", ["no memory", "no thread"])
def test_an_item_for_which_there_is_no_memory_costs_itself_only(pool: Pool, item: str) -> None:
    """A limit of the system is a reason like one of ours."""
    assert ["A", f"{item}: ran out of memory", "B"] == pool.submit(["a", item, "b"]).result()


@pytest.mark.slow
def test_memory_that_is_taken_after_the_reading_costs_its_item_only(pool: Pool) -> None:
    """Where all of a chunk are worked on together, which of them it was is found out."""
    reason = "late swell: needed more memory than 300 MB to read"

    assert ["A", reason, "B"] == pool.submit(["a", "late swell", "b"]).result()


@pytest.mark.slow
def test_memory_that_others_left_behind_is_not_held_against_an_item(pool: Pool) -> None:
    """What passes the limit only on top of what others took is done by a process of its own."""
    assert ["KEEP", "KEEP", "A"] == pool.submit(["keep", "keep", "a"]).result()


def test_an_error_of_the_work_is_raised_here(pool: Pool) -> None:
    """The future raises it, and the process goes on with the next chunk."""
    with pytest.raises(RuntimeError, match="ValueError: the work is wrong"):
        pool.submit(["fail"]).result()

    assert ["A"] == pool.submit(["a"]).result()


def test_a_process_that_dies_twice_at_no_item_is_an_error(pool: Pool) -> None:
    """Which item is at fault is not known then, so none is skipped in silence."""
    with pytest.raises(SimdocError, match=r"twice; .* use fewer workers"):
        pool.submit(["late crash"]).result()


def test_close_ends_processes_at_work(pool: Pool) -> None:
    """Nobody waits for a process that hangs."""
    future = pool.submit(["hang"])
    pool.close()

    assert [] == worker_processes()
    assert future.done()


def test_a_pool_that_cannot_start_its_processes_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two failed starts are an error; nothing is taken for the fault of an item."""
    monkeypatch.setattr(sys, "executable", "/bin/false")
    made = Pool(1, work, lost, ItemLimits())
    try:
        with pytest.raises(SimdocError, match=r"ended unexpectedly \(exit code 1\) twice"):
            made.submit(["a"]).result()
    finally:
        made.close()


def test_a_pool_that_gets_no_thread_ends_its_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """None is left behind, to find later that nobody listens."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(RuntimeError):
        Pool(2, work, lost, ItemLimits())

    assert [] == worker_processes()


def test_what_a_reader_prints_does_not_disturb_the_answers(pool: Pool, capfd: pytest.CaptureFixture[str]) -> None:
    """It goes to standard error, from Python and from below it."""
    outcomes = pool.submit(["print", "a"]).result()

    assert ["PRINT", "A"] == outcomes
    assert "" == capfd.readouterr().out


ORPHAN = """
import os, sys, time
from simdoc_search.workers import ItemLimits, WorkerPool
from tests.support.trouble import lost, work
pool = WorkerPool(1, work, lost, ItemLimits())
pool.submit(["hang"])
from tests.support.workers import worker_processes
print(*[each.pid for each in worker_processes()], flush=True)
time.sleep(3600)
"""


@pytest.mark.slow
def test_a_process_at_work_ends_when_its_parent_is_killed() -> None:
    """Nobody looks at its time and memory any more."""
    root = Path(__file__).parents[2]
    with subprocess.Popen([sys.executable, "-c", ORPHAN], cwd=root, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        worker = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    worker.wait(timeout=60)

    assert not worker.is_running()


# --- one iterator ---


def test_an_iterator_apart_gives_all_its_values_in_order() -> None:
    """However many there are."""
    assert list(range(1000)) == list(iterate_in_subprocess(numbers, 1000))
    assert [] == list(iterate_in_subprocess(numbers, 0))


@pytest.mark.parametrize(
    ("how", "error", "reason"),
    [
        ("crash", DocumentError, r"ended unexpectedly \(exit code -9\)"),
        ("hang", DocumentError, "took longer than 1 s to read"),
        ("swell", DocumentError, "needed more memory than 300 MB to read"),
        ("refuse", DocumentError, "refused"),
        ("fail", RuntimeError, "ValueError: the work is wrong"),
    ],
)
def test_an_iterator_apart_that_fails_is_an_error(how: str, error: type[Exception], reason: str) -> None:
    """What came before is given."""
    found: list[int] = []
    with pytest.raises(error, match=reason):
        found.extend(
            iterate_in_subprocess(numbers, 300, how, limits=ItemLimits(1.0 if how == "hang" else 60.0, MEMORY))
        )

    assert list(range(256)) == found
    assert [] == worker_processes()


def test_an_iterator_apart_that_is_left_early_ends_its_process() -> None:
    """Nothing of it is left behind."""
    values = iterate_in_subprocess(numbers, 1000)
    first = next(values)
    values.close()

    assert 0 == first
    assert [] == worker_processes()


# --- what is fair ---


@pytest.mark.parametrize("workers", [1, 2, 64])
def test_workers_together_get_half_of_the_memory(workers: int) -> None:
    """Each at least 1 GB, as a long text needs most of that, unless half of the machine has less; and at most 4 GB."""
    half = psutil.virtual_memory().total // 2

    assert fair_memory(workers) <= min(max(half // workers, 1_000_000_000), 4_000_000_000, half)
    assert fair_memory(workers) >= min(fair_memory(1), 1_000_000_000)
