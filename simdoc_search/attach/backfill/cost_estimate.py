"""What a backfill would cost: bytes and hours. Nothing is written."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simdoc_search.attach.backfill.guarded_writer import Writer, wanted_source
from simdoc_search.attach.backfill.seq_nos import work_in
from simdoc_search.attach.backfill.targets import UNTOLD, Target, find_targets
from simdoc_search.attach.backfill.task import BackfillReport, SkippedIndex, Task
from simdoc_search.sketch.kinds import KINDS
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.queries import in_random_order

SAMPLE = 300
"""Documents that are read and fingerprinted."""

BYTES_PER_DOCUMENT, BYTES_PER_TOKEN = 80, 10
"""What our field takes in a merged segment. Measured on OpenSearch 3.3: 251 bytes for 16 tokens of random text, 1,700
for 163, 5,166 for 511; a tenth less with best_compression, and less where documents share tokens."""

UPDATE_COST, USUAL_MILLISECONDS = 3, 0.2
"""An update takes about three times as long as the engine says that it took to index a document, with our process and
the merging beside it on the same two cores; and what that is where the engine does not say."""


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
    skipped_indices: list[SkippedIndex] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def bytes_per_document(self) -> float:
        """What one fingerprint adds to an index, without replicas."""
        return BYTES_PER_DOCUMENT + BYTES_PER_TOKEN * self.tokens_per_document if self.writes else 0.0


@dataclass(frozen=True, slots=True)
class _Share:
    """What the documents of one query contribute."""

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
    patient = engine.in_background()
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
    return Estimate(
        documents,
        writes,
        sum(each.writes_at_most for each in shares),
        sum(each.sampled for each in shares),
        sum(each.tokens * each.writes for each in shares) / writes if writes else 0.0,
        sum(each.added for each in shares),
        sum(each.meanwhile for each in shares),
        max(seconds, documents / task.throttle) if task.throttle else seconds,
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
    return _Share(documents, writes, most, len(hits), tokens, added, meanwhile, seconds)


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
        "query": in_random_order(query),
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
