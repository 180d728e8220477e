"""What a backfill would cost: bytes, hours, and whether the disks have room for it. Nothing is written."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from simdoc_search.backfill import queries
from simdoc_search.backfill.disks import UNTOLD, NodeDisk, disks_after
from simdoc_search.backfill.patient import PatientEngine
from simdoc_search.backfill.reading import wanted_source
from simdoc_search.backfill.targets import Target, find_targets
from simdoc_search.backfill.task import BackfillReport, SkippedIndex, Task
from simdoc_search.backfill.writing import Writer
from simdoc_search.stores.rest import Engine

__all__ = ["Estimate", "estimate"]

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
        sampled: how many were looked at for this.
        tokens_per_document: in a fingerprint.
        bytes_added: to the indices and their replicas, once the old states of documents are merged away.
        bytes_meanwhile: the most until then.
        seconds: how long it would take.
        disks: the nodes' disks at the most; None: the engine does not tell.
        skipped_indices: indices that would not be done, with the reason.
    """

    documents: int
    writes: int
    sampled: int
    tokens_per_document: float
    bytes_added: int
    bytes_meanwhile: int
    seconds: float
    disks: list[NodeDisk] | None
    skipped_indices: list[SkippedIndex] = field(default_factory=list)

    @property
    def bytes_per_document(self) -> float:
        """What one fingerprint adds to an index, without replicas."""
        return BYTES_PER_DOCUMENT + BYTES_PER_TOKEN * self.tokens_per_document if self.writes else 0.0


@dataclass(frozen=True, slots=True)
class _Share:
    """What one index contributes."""

    documents: int
    writes: int
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
    patient = PatientEngine(engine)
    targets, skipped = find_targets(engine, index, task)
    shares = {each.index: _share(patient, each, task, max(10, SAMPLE // len(targets))) for each in targets}
    writes = sum(each.writes for each in shares.values())
    tokens = sum(each.tokens * each.writes for each in shares.values())
    documents = sum(each.documents for each in shares.values())
    seconds = sum(each.seconds for each in shares.values())
    return Estimate(
        documents,
        writes,
        sum(each.sampled for each in shares.values()),
        tokens / writes if writes else 0.0,
        sum(each.added for each in shares.values()),
        sum(each.meanwhile for each in shares.values()),
        max(seconds, documents / task.throttle) if task.throttle else seconds,
        disks_after(patient, {name: each.meanwhile for name, each in shares.items()}),
        skipped,
    )


def _share(engine: PatientEngine, target: Target, task: Task, size: int) -> _Share:
    query = queries.all_chosen(target, task) if task.stale else queries.to_do(target, task)
    documents = int(engine.ask("POST", [target.index, "_count"], {"query": query})["count"])
    began = time.perf_counter()
    hits = _sample(engine, target, task, query, size)
    updates = Writer(engine, target, task).updates(hits, BackfillReport())
    seconds = (time.perf_counter() - began) / len(hits) if hits else 0.0
    share = len(updates) / len(hits) if hits else 0.0
    tokens = sum(each.values["buckets"] for each in updates) / len(updates) if updates else 0.0
    before, milliseconds = _before(engine, target)
    copies, writes = 1 + target.replicas, round(documents * share)
    added = round(copies * writes * (BYTES_PER_DOCUMENT + BYTES_PER_TOKEN * tokens))
    seconds = documents * seconds + writes * UPDATE_COST * milliseconds / 1000
    return _Share(documents, writes, len(hits), tokens, added, added + round(copies * writes * before), seconds)


def _sample(engine: PatientEngine, target: Target, task: Task, query: dict[str, Any], size: int) -> list[Any]:
    """Documents drawn at random."""
    body = {
        "query": {"function_score": {"query": query, "random_score": {}}},
        "size": size,
        "seq_no_primary_term": True,
        "_source": wanted_source(task.text_field, task.field),
    }
    hits: list[Any] = engine.ask("POST", [target.index, "_search"], body)["hits"]["hits"]
    return hits


def _before(engine: PatientEngine, target: Target) -> tuple[float, float]:
    """Bytes of a document as it is, and milliseconds that the engine took to index one."""
    asked = [target.index, "_stats", "docs,store,indexing"]
    found = engine.ask("GET", asked, allow=UNTOLD)
    if not found:
        return 0.0, USUAL_MILLISECONDS
    stats = found["_all"]["primaries"]
    done, documents = stats["indexing"]["index_total"], stats["docs"]["count"]
    milliseconds = stats["indexing"]["index_time_in_millis"] / done if done else USUAL_MILLISECONDS
    return (stats["store"]["size_in_bytes"] / documents if documents else 0.0), milliseconds
