"""What a backfill would cost: bytes, hours, and whether the disks have room for it. Nothing is written."""

from __future__ import annotations

import math
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from simdoc_search.attach.backfill.spans import work_in
from simdoc_search.attach.backfill.targets import UNTOLD, Target, find_targets
from simdoc_search.attach.backfill.task import BackfillReport, SkippedIndex, Task
from simdoc_search.attach.backfill.writing import Writer, wanted_source
from simdoc_search.sketch.kinds import KINDS
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.queries import at_random

__all__ = ["Estimate", "NodeDisk", "disks_after", "estimate"]

SAMPLE = 300
"""Documents that are read and fingerprinted."""

BYTES_PER_DOCUMENT, BYTES_PER_TOKEN = 80, 10
"""What our field takes in a merged segment. Measured on OpenSearch 3.3: 251 bytes for 16 tokens of random text, 1,700
for 163, 5,166 for 511; a tenth less with best_compression, and less where documents share tokens."""

UPDATE_COST, USUAL_MILLISECONDS = 3, 0.2
"""An update takes about three times as long as the engine says that it took to index a document, with our process and
the merging beside it on the same two cores; and what that is where the engine does not say."""

_SETTING = "cluster.routing.allocation.disk"
_WATERMARKS = ("flood_stage", "high", "low")
_UNITS = {"b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30, "tb": 1 << 40, "pb": 1 << 50}


@dataclass(frozen=True, slots=True)
class NodeDisk:
    """The disk of a node.

    Attributes:
        node: its name.
        total: bytes that it has.
        used: bytes that are used now.
        used_after: bytes that would be used.
        watermark: the highest one that would be passed, `full` if it would not fit at all; None: none.
    """

    node: str
    total: int
    used: int
    used_after: int
    watermark: str | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is to be expected.

    Attributes:
        documents: how many would be read.
        writes: how many of them would get a fingerprint, or a mark.
        writes_at_most: no more than so many, with 95 % confidence, where a sample says how many are out of date.
        sampled: how many were looked at for this.
        tokens_per_document: in a fingerprint, those of all kinds.
        bytes_added: to the indices and their replicas, once the old states of documents are merged away.
        bytes_meanwhile: the most until then.
        seconds: how long it would take.
        disks: the nodes' disks at the most; None: the engine does not tell.
        skipped_indices: indices that would not be done, with the reason.
        notes: what `force` would do, a sentence for each index.
    """

    documents: int
    writes: int
    writes_at_most: int
    sampled: int
    tokens_per_document: float
    bytes_added: int
    bytes_meanwhile: int
    seconds: float
    disks: list[NodeDisk] | None
    skipped_indices: list[SkippedIndex] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def bytes_per_document(self) -> float:
        """What one fingerprint adds to an index, without replicas."""
        return BYTES_PER_DOCUMENT + BYTES_PER_TOKEN * self.tokens_per_document if self.writes else 0.0


@dataclass(frozen=True, slots=True)
class _Share:
    """What the documents of one query contribute."""

    index: str
    documents: int
    writes: int
    writes_at_most: int
    sampled: int
    tokens: float
    added: int
    meanwhile: int
    seconds: float


def estimate(engine: Engine, index: str, task: Task) -> Estimate:
    """What it would cost to do a task; the arguments are those of `Backfill`.

    Raises:
        StoreNotFoundError: there is no such index.
        StoreError: the engine does not answer, or refuses.
    """
    patient = engine.at_work()
    targets, skipped = find_targets(patient, index, task)
    size = max(10, SAMPLE // max(1, len(targets)))
    shares = [
        _share(patient, each, task, query, size, compared=compared)
        for each in targets
        for query, compared in zip(work_in(patient, each, task), (False, True), strict=True)
    ]
    writes = sum(each.writes for each in shares)
    documents = sum(each.documents for each in shares)
    seconds = sum(each.seconds for each in shares)
    meanwhile = {each.index: 0 for each in targets}
    for share in shares:
        meanwhile[share.index] += share.meanwhile
    return Estimate(
        documents,
        writes,
        sum(each.writes_at_most for each in shares),
        sum(each.sampled for each in shares),
        sum(each.tokens * each.writes for each in shares) / writes if writes else 0.0,
        sum(each.added for each in shares),
        sum(meanwhile.values()),
        max(seconds, documents / task.throttle) if task.throttle else seconds,
        disks_after(patient, meanwhile),
        skipped,
        [each.note for each in targets if each.note],
    )


def _share(engine: Engine, target: Target, task: Task, query: dict[str, Any], size: int, *, compared: bool) -> _Share:
    """What is written for certain apart from what is only compared."""
    documents = engine.count(target.index, query)
    began = time.perf_counter()
    hits = _sample(engine, target, task, query, size) if documents else []
    updates = [values for _, values in Writer(engine, target, task).values(hits, BackfillReport(), anew=not compared)]
    seconds = (time.perf_counter() - began) / len(hits) if hits else 0.0
    share = len(updates) / len(hits) if hits else 0.0
    tokens = sum(map(_tokens, updates)) / len(updates) if updates else 0.0
    before, milliseconds = _before(engine, target)
    copies, writes = 1 + target.replicas, round(documents * share)
    added = round(copies * writes * (BYTES_PER_DOCUMENT + BYTES_PER_TOKEN * tokens))
    seconds = documents * seconds + writes * UPDATE_COST * milliseconds / 1000
    meanwhile = added + round(copies * writes * before)
    most = _at_most(len(updates), len(hits), documents)
    return _Share(target.index, documents, writes, most, len(hits), tokens, added, meanwhile, seconds)


def _tokens(values: Mapping[str, Any] | None) -> int:
    """How many tokens a document gets, those of all kinds."""
    if values is None:
        return 0
    return int(values["buckets"]) + sum(len((values.get(name) or "").split()) for name in KINDS)


def _at_most(found: int, looked_at: int, documents: int) -> int:
    """The upper end of what so many in a sample may be of all: the rule of three, and its like for more than none."""
    if looked_at in (0, documents) or found == looked_at:
        return round(documents * found / looked_at) if looked_at else 0
    return min(documents, math.ceil(documents * (found + 2 * math.sqrt(found) + 3) / looked_at))


def _sample(engine: Engine, target: Target, task: Task, query: dict[str, Any], size: int) -> list[Any]:
    """Documents drawn at random."""
    body = {
        "query": at_random(query),
        "size": size,
        "seq_no_primary_term": True,
        "_source": wanted_source(task),
    }
    hits: list[Any] = engine.search(target.index, body)["hits"]["hits"]
    return hits


def _before(engine: Engine, target: Target) -> tuple[float, float]:
    """Bytes of a document as it is, and milliseconds that the engine took to index one."""
    asked = [target.index, "_stats", "docs,store,indexing"]
    found = engine.call("GET", asked, allow=UNTOLD)
    stats = (found or {}).get("_all", {}).get("primaries", {})
    if not {"docs", "indexing", "store"} <= stats.keys():  # we may not know, or no shard is there
        return 0.0, USUAL_MILLISECONDS
    done, documents = stats["indexing"]["index_total"], stats["docs"]["count"]
    milliseconds = stats["indexing"]["index_time_in_millis"] / done if done else USUAL_MILLISECONDS
    return (stats["store"]["size_in_bytes"] / documents if documents else 0.0), milliseconds


# --- would the disks pass a watermark, at which an engine stops placing shards, or takes no more writes? ---


def disks_after(engine: Engine, added: Mapping[str, int]) -> list[NodeDisk] | None:
    """The disks that hold some indices, with so many bytes more in each; None if the engine does not tell."""
    nodes = engine.call("GET", ["_nodes", "stats", "fs"], allow=UNTOLD)
    settings = engine.call("GET", ["_cluster", "settings"], allow=UNTOLD, include_defaults=True, flat_settings=True)
    more: dict[str, float] = defaultdict(float)
    for index, count in added.items():
        stats = engine.call("GET", [index, "_stats", "store"], allow=UNTOLD, level="shards")
        if stats is None:
            return None
        for node, share in _spread(stats["indices"].get(index, {}).get("shards", {})):
            more[node] += share * count
    if nodes is None or settings is None:
        return None
    flat = {key: value for scope in ("defaults", "persistent", "transient") for key, value in _scope(settings, scope)}
    holding = {id: each for id, each in nodes["nodes"].items() if id in more}
    if not all(each.get("fs", {}).get("total") for each in holding.values()):
        return None
    return [_disk(each, more[id], flat) for id, each in holding.items()]


def _spread(shards: Mapping[str, list[Any]]) -> list[tuple[str, float]]:
    """The nodes of an index by their ids, and which part of it each has."""
    placed = [
        (each["routing"]["node"], each["store"]["size_in_bytes"]) for copies in shards.values() for each in copies
    ]
    whole = sum(size for _, size in placed)
    return [(node, size / whole if whole else 1 / len(placed)) for node, size in placed]


def _scope(settings: Mapping[str, Any], scope: str) -> Iterable[tuple[str, Any]]:
    return ((key, value) for key, value in settings.get(scope, {}).items() if key.startswith(_SETTING))


def _disk(node: Mapping[str, Any], more: float, settings: Mapping[str, Any]) -> NodeDisk:
    disk = node["fs"]["total"]
    total, used = int(disk["total_in_bytes"]), int(disk["total_in_bytes"] - disk["available_in_bytes"])
    after = used + round(more)
    passed = "full" if after >= total else None
    if not passed and str(settings.get(f"{_SETTING}.threshold_enabled", "true")) == "true":
        passed = next((each for each in _WATERMARKS if total - after < _least_free(each, settings, total)), None)
    return NodeDisk(str(node["name"]), total, used, after, passed)


def _least_free(watermark: str, settings: Mapping[str, Any], total: int) -> float:
    """The bytes that must be free for a disk to be under a watermark."""
    value = str(settings.get(f"{_SETTING}.watermark.{watermark}", ""))
    room = _bytes(str(settings.get(f"{_SETTING}.watermark.{watermark}.max_headroom", "")))
    if not (share := re.fullmatch(r"(\d+(?:\.\d+)?)(%?)", value)):
        return _bytes(value) or 0.0
    free = (1 - float(share[1]) / (100 if share[2] else 1)) * total
    return min(free, room) if room else free


def _bytes(text: str) -> float | None:
    """A size as engines write it, such as 20gb; None if it is none."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kmgtp]?b)", text.lower())
    return float(found[1]) * _UNITS[found[2]] if found else None
