"""Work in other processes that may crash or hang."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator, Sequence

import pytest

from simdoc_search.errors import SimdocError
from simdoc_search.workers import Begin, WorkerPool

Pool = WorkerPool[str, str]


def work(items: Sequence[str], begin: Begin) -> list[str]:
    """Upper case, but for items that mean trouble."""
    outcomes = []
    for place, item in enumerate(items):
        begin(place)
        if item == "crash":
            os.kill(os.getpid(), signal.SIGKILL)
        if item == "hang":
            time.sleep(3600)
        if item == "fail":
            raise ValueError("the work is wrong")
        outcomes.append(item.upper())
    begin(None)
    if "late crash" in items:
        os.kill(os.getpid(), signal.SIGKILL)
    return outcomes


def lost(item: str, reason: str) -> str:
    """What stands for an item that is lost."""
    return f"{item}: {reason}"


@pytest.fixture
def pool() -> Iterator[Pool]:
    """Two processes."""
    made = Pool(2, work, lost, 1.0)
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


def test_an_item_that_hangs_costs_itself_only(pool: Pool) -> None:
    """After the time for one item its process is ended."""
    assert ["A", "hang: took longer than 1 s to read", "B"] == pool.submit(["a", "hang", "b"]).result()


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

    assert [] == multiprocessing.active_children()
    assert future.done()
