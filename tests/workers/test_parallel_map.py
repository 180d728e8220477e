"""A function is mapped over chunks in worker processes, with the results and the errors of one process."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from simdoc_search.errors import QuerySyntaxError, StoreError
from simdoc_search.workers import ParallelMapper
from tests.support.failing_work import double, double_in_parent
from tests.support.workers import worker_processes


@pytest.fixture(scope="module")
def two() -> Iterator[ParallelMapper]:
    with ParallelMapper(2) as workers:
        yield workers


def test_outcomes_come_in_the_order_of_the_chunks(two: ParallelMapper) -> None:
    assert [2 * n for n in range(50)] == list(two.map(double, range(50)))
    assert 2 == len(worker_processes())
    assert [2, 4] == list(two.map(double, [1, 2]))  # the processes are running already


def test_a_few_chunks_start_no_process() -> None:
    with ParallelMapper(4) as workers:
        assert [2, 4, 6] == list(workers.map(double, [1, 2, 3], max_chunks_without_workers=3))
        assert [] == list(workers.map(double, []))
        assert workers._pool is None


def test_only_a_few_chunks_are_read_ahead(two: ParallelMapper) -> None:
    read: list[int] = []
    outcomes = two.map(double, (read.append(n) or n for n in range(100)), max_chunks_without_workers=2)  # type: ignore[func-returns-value]

    assert 0 == next(outcomes)
    assert len(read) <= 8
    outcomes.close()
    assert [10] == list(two.map(double, [5]))


def test_an_error_has_its_own_type(two: ParallelMapper) -> None:
    with pytest.raises(StoreError, match="3 cannot be doubled"):
        list(two.map(double, [1, 2, StoreError("3 cannot be doubled")]))
    with pytest.raises(TypeError):
        list(two.map(double, [1, None]))
    assert [2] == list(two.map(double, [1]))


def test_this_process_does_the_work_of_a_process_that_crashes(two: ParallelMapper) -> None:
    parent = os.getpid()

    assert [(2, parent)] == list(two.map(double_in_parent, [(1, parent)]))


def test_closing_ends_the_processes() -> None:
    before = len(worker_processes())
    with ParallelMapper(2) as workers:
        assert [0, 2] == list(workers.map(double, [0, 1], max_chunks_without_workers=0))
        assert before + 2 == len(worker_processes())
    assert before == len(worker_processes())


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "2"])
def test_workers_must_be_a_positive_integer(workers: object) -> None:
    with pytest.raises(QuerySyntaxError, match="workers must be an integer of at least 1"):
        ParallelMapper(workers)  # type: ignore[arg-type]
