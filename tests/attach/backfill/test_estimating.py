"""What a backfill would cost: disks, bytes and hours, as far as the engine tells."""

from __future__ import annotations

from typing import Any

import pytest

from simdoc_search.attach.backfill import NodeDisk, Task, estimate
from simdoc_search.attach.backfill.estimating import disks_after
from tests.support.described import RefusalError, engine, hits, index

GB = 1 << 30


def disks(used: float, added: float, settings: dict[str, str]) -> str | None:
    """The watermark that a disk of 1,000 GB passes, with so many GB used and added."""

    def handle(method: str, path: str, body: Any) -> Any:
        if path == "/_nodes/stats/fs":
            disk = {"total_in_bytes": 1000 * GB, "available_in_bytes": int((1000 - used) * GB)}
            return {"nodes": {"x": {"name": "n", "fs": {"total": disk}}, "y": {"name": "other", "fs": {}}}}
        if path == "/_cluster/settings":
            prefix = "cluster.routing.allocation.disk."
            return {"defaults": {f"{prefix}{key}": value for key, value in settings.items()}, "persistent": {}}
        return {"indices": {"i": {"shards": {"0": [{"routing": {"node": "x"}, "store": {"size_in_bytes": 5}}]}}}}

    found = disks_after(engine(handle), {"i": round(added * GB)})
    assert found is not None
    [disk] = found
    assert NodeDisk("n", 1000 * GB, round(used * GB), round((used + added) * GB), disk.watermark) == disk
    return disk.watermark


PERCENT = {"watermark.low": "85%", "watermark.high": "90%", "watermark.flood_stage": "95%"}


@pytest.mark.parametrize(
    ("used", "added", "settings", "passed"),
    [
        (700, 100, PERCENT, None),
        (700, 160, PERCENT, "low"),
        (700, 210, PERCENT, "high"),
        (700, 260, PERCENT, "flood_stage"),
        (700, 300, PERCENT, "full"),
        (860, 0, PERCENT, "low"),
        (700, 260, {**PERCENT, "threshold_enabled": "false"}, None),
        (700, 160, {"watermark.low": "0.85", "watermark.high": "0.9", "watermark.flood_stage": "0.95"}, "low"),
        (700, 160, {"watermark.low": "200gb", "watermark.high": "100gb", "watermark.flood_stage": "1gb"}, "low"),
        (700, 160, {**PERCENT, "watermark.low.max_headroom": "100gb"}, None),
        (700, 160, {**PERCENT, "watermark.low.max_headroom": "-1"}, "low"),
        (700, 160, {}, None),
    ],
)
def test_watermarks_are_read_as_the_engines_read_them(
    used: float, added: float, settings: dict[str, str], passed: str | None
) -> None:
    """Used percent, a ratio, or free bytes; Elasticsearch's headroom bounds what a percent keeps free."""
    assert passed == disks(used, added, settings)


def test_bytes_are_spread_as_the_shards_are() -> None:
    """With replicas, over the nodes that have a copy; one that is not yet written to gets its share too."""

    def handle(method: str, path: str, body: Any) -> Any:
        if path == "/_nodes/stats/fs":
            disk = {"total_in_bytes": 100, "available_in_bytes": 100}
            return {"nodes": {id: {"name": id, "fs": {"total": disk}} for id in "xyz"}}
        if path == "/_cluster/settings":
            return {}
        sizes = {"x": 30, "y": 10} if path.startswith("/large/") else {"x": 0, "y": 0}
        copies = [{"routing": {"node": node}, "store": {"size_in_bytes": size}} for node, size in sizes.items()]
        return {"indices": {path.split("/")[1]: {"shards": {"0": copies}}}}

    found = disks_after(engine(handle), {"large": 40, "empty": 10})

    assert found is not None
    assert {"x": 35, "y": 15} == {each.node: each.used_after for each in found}


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

    assert (1_000_000, 10, None) == (found.documents, found.sampled, found.disks)
    assert 2 * found.documents * found.bytes_per_document == pytest.approx(found.bytes_added)
    assert 10_000 == found.seconds


def test_nothing_to_do_costs_nothing() -> None:
    """Also where there is no index that is fit."""

    def handle(method: str, path: str, body: Any) -> Any:
        return {"i": index(blocks={"write": "true"})} if path == "/i" else {"nodes": {}}

    found = estimate(engine(handle), "i", Task("body"))

    assert (0, 0, 0, 0.0) == (found.documents, found.bytes_added, found.bytes_meanwhile, found.seconds)
    assert 1 == len(found.skipped_indices)
