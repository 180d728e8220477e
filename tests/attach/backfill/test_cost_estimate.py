"""The cost of a backfill is estimated from a sample and the statistics of the engine."""

from __future__ import annotations

from typing import Any

import pytest

from simdoc_search.attach.backfill import BackfillOptions, estimate_cost
from tests.support.fake_engine import RefusalError, engine, hits, index


@pytest.mark.parametrize("status", [403, 400, 410])
def test_the_cost_is_estimated_without_statistics_of_the_engine(status: int) -> None:
    def handle(_: str, path: str, __: Any) -> Any:
        if "_stats" in path:
            raise RefusalError(status)
        if path.endswith("/_count"):
            return {"count": 1_000_000}
        return {"hits": {"hits": hits(10)}} if path.endswith("/_search") else {"i": index(number_of_replicas="1")}

    found = estimate_cost(engine(handle), "i", BackfillOptions("body", "fp", throttle=100))

    assert (1_000_000, 10) == (found.document_count, found.sampled_count)
    assert 2 * found.document_count * found.bytes_per_document == pytest.approx(found.bytes_added)
    assert 10_000 == found.seconds


def test_an_index_that_cannot_be_filled_costs_nothing() -> None:
    found = estimate_cost(engine(lambda *_: {"i": index(blocks={"write": "true"})}), "i", BackfillOptions("body"))

    assert (0, 0, 0, 0.0) == (found.document_count, found.bytes_added, found.max_bytes_added, found.seconds)
    assert 1 == len(found.skipped_indices)
