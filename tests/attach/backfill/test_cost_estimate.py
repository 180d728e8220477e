"""What a backfill would cost: bytes and hours, as far as the engine tells."""

from __future__ import annotations

from typing import Any

import pytest

from simdoc_search.attach.backfill import Task, estimate
from tests.support.described import RefusalError, engine, hits, index


@pytest.mark.parametrize("status", [403, 400, 410])
def test_what_the_engine_does_not_tell_is_unknown(status: int) -> None:
    """A user who may not look at nodes still gets documents, bytes and hours."""

    def handle(method: str, path: str, body: Any) -> Any:
        if path.startswith(("/_nodes", "/_cluster")) or "_stats" in path:
            raise RefusalError(status)
        if path.endswith("/_count"):  # of documents without a fingerprint; there is no mark of a text without words
            return {"count": 0 if "fp.tokens" in str(body) else 1_000_000}
        return {"hits": {"hits": hits(10)}} if path.endswith("/_search") else {"i": index(number_of_replicas="1")}

    found = estimate(engine(handle), "i", Task("body", "fp", throttle=100))

    assert (1_000_000, 10) == (found.documents, found.sampled)
    assert 2 * found.documents * found.bytes_per_document == pytest.approx(found.bytes_added)
    assert 10_000 == found.seconds


def test_nothing_to_do_costs_nothing() -> None:
    """Also where there is no index that is fit."""

    def handle(method: str, path: str, body: Any) -> Any:
        return {"i": index(blocks={"write": "true"})} if path == "/i" else {"nodes": {}}

    found = estimate(engine(handle), "i", Task("body"))

    assert (0, 0, 0, 0.0) == (found.documents, found.bytes_added, found.bytes_meanwhile, found.seconds)
    assert 1 == len(found.skipped_indices)
