"""Estimates the disk space and the duration of a backfill from a sample. It writes nothing."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simdoc_search.attach.backfill.checkpoints import Search, plan_backfill_searches
from simdoc_search.attach.backfill.fingerprint_writer import FingerprintWriter, list_source_fields
from simdoc_search.attach.backfill.options import BackfillOptions
from simdoc_search.attach.backfill.report import BackfillReport
from simdoc_search.attach.backfill.targets import Target, find_targets
from simdoc_search.attach.indices import IndexDescription, SkippedIndex
from simdoc_search.sketch.estimate import wilson_interval
from simdoc_search.sketch.token_kinds import TOKEN_KINDS
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.queries import randomize_order

SAMPLE_SIZE = 300
"""Maximum number of documents to read and fingerprint."""

BYTES_PER_DOCUMENT, BYTES_PER_TOKEN = 80, 10
"""Size of the fingerprint field in a merged segment: bytes per document, and additional bytes per token. On OpenSearch
3.3 with random text, the size was 251 bytes for 16 tokens, 1,700 for 163 tokens, and 5,166 for 511 tokens. It is a
tenth smaller with best_compression, and smaller if documents share tokens."""

UPDATE_FACTOR, DEFAULT_INDEXING_MILLISECONDS = 3, 0.2
"""An update takes about three times as long as the engine reports for indexing a document. This factor was measured on
two cores, which the engine, its merges and this process shared. If the engine reports no time,
DEFAULT_INDEXING_MILLISECONDS per document are assumed."""


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """The estimated cost of a backfill."""

    document_count: int = 0  # number of documents to read
    write_count: int = 0  # number of documents to write
    max_write_count: int = 0  # maximum number of documents to write, with 95 % confidence
    sampled_count: int = 0  # number of documents in the sample
    tokens_per_document: float = 0.0  # average number of tokens of all kinds in a fingerprint
    bytes_added: int = 0  # growth of the indices with their replicas, after merges have removed old document versions
    max_bytes_added: int = 0  # growth before these merges, while the old versions still take space
    seconds: float = 0.0  # estimated duration
    skipped_indices: list[SkippedIndex] = field(default_factory=list)  # indices to skip, with the reason
    notes: list[str] = field(default_factory=list)  # sentences about `force` and about fields that may not contain text

    @property
    def bytes_per_document(self) -> float:
        """Bytes that one fingerprint adds to an index, without replicas."""
        return BYTES_PER_DOCUMENT + BYTES_PER_TOKEN * self.tokens_per_document if self.write_count else 0.0


def estimate_cost(engine: Engine, index: str, options: BackfillOptions) -> CostEstimate:
    """Estimate the cost of a backfill. The arguments are those of `Backfill`.

    Raises:
        StoreNotFoundError: no index has this name.
    """
    engine = engine.in_background()
    targets, skipped = find_targets(engine, index, options)
    parts: list[CostEstimate] = []
    for target in targets:
        first, *comparisons = plan_backfill_searches(engine, target, options)
        size = max(10, SAMPLE_SIZE // (len(targets) * max(1, len(comparisons))))
        parts.append(_estimate_search_cost(engine, target, options, first, size, skip_correct_documents=False))
        parts += [
            _estimate_search_cost(engine, target, options, search, size, skip_correct_documents=True)
            for search in comparisons
        ]
    document_count = sum(part.document_count for part in parts)
    write_count = sum(part.write_count for part in parts)
    seconds = sum(part.seconds for part in parts)
    return CostEstimate(
        document_count,
        write_count,
        sum(part.max_write_count for part in parts),
        sum(part.sampled_count for part in parts),
        sum(part.tokens_per_document * part.write_count for part in parts) / write_count if write_count else 0.0,
        sum(part.bytes_added for part in parts),
        sum(part.max_bytes_added for part in parts),
        max(seconds, document_count / options.throttle) if options.throttle else seconds,
        skipped,
        [note for target in targets for note in target.notes],
    )


def _estimate_search_cost(
    engine: Engine, target: Target, options: BackfillOptions, search: Search, size: int, *, skip_correct_documents: bool
) -> CostEstimate:
    """Estimate the cost of the documents that a search finds.

    With `skip_correct_documents`, documents whose fingerprint is already correct do not count as writes.
    """
    document_count = engine.count(target.index.name, search.query, **search.params)
    if not document_count:
        return CostEstimate()
    body = {
        "query": randomize_order(search.query),
        "size": size,
        "seq_no_primary_term": True,
        "_source": list_source_fields(options),
    }
    started = time.perf_counter()
    hits = engine.search(target.index.name, body, **search.params)["hits"]["hits"]
    writer = FingerprintWriter(engine, target, options)
    values = [
        value
        for _, value in writer.compute_new_values(hits, BackfillReport(), write_unchanged=not skip_correct_documents)
    ]
    seconds = (time.perf_counter() - started) / max(1, len(hits))
    tokens = sum(map(_count_tokens, values)) / max(1, len(values))
    document_bytes, milliseconds, copies = _read_index_statistics(engine, target.index)
    share = len(values) / max(1, len(hits))
    write_count = round(document_count * share)
    added = round(copies * write_count * (BYTES_PER_DOCUMENT + BYTES_PER_TOKEN * tokens))
    return CostEstimate(
        document_count,
        write_count,
        _estimate_max_writes(share, len(hits), document_count),
        len(hits),
        tokens,
        added,
        added + round(copies * write_count * document_bytes),
        document_count * seconds + write_count * UPDATE_FACTOR * milliseconds / 1000,
    )


def _count_tokens(value: Mapping[str, Any] | None) -> int:
    """Return the number of tokens of all kinds in a fingerprint."""
    if value is None:
        return 0
    return int(value["buckets"]) + sum(len((value.get(name) or "").split()) for name in TOKEN_KINDS)


def _estimate_max_writes(share: float, sampled_count: int, document_count: int) -> int:
    """Return an upper bound of the number of writes. `share` is the share of sampled documents that must be written."""
    return round(
        document_count * (share if sampled_count in (0, document_count) else wilson_interval(share, sampled_count)[1])
    )


def _read_index_statistics(engine: Engine, index: IndexDescription) -> tuple[float, float, float]:
    """Return the average bytes per document, milliseconds per indexed document, and allocated copies per shard."""
    response = engine.get_if_allowed(index.name, "_stats", "docs,store,indexing")
    stats = response.get("_all", {}).get("primaries", {})
    if not {"docs", "indexing", "store"} <= stats.keys():
        return 0.0, DEFAULT_INDEXING_MILLISECONDS, index.copy_count
    indexed, document_count = stats["indexing"]["index_total"], stats["docs"]["count"]
    milliseconds = stats["indexing"]["index_time_in_millis"] / indexed if indexed else DEFAULT_INDEXING_MILLISECONDS
    document_bytes = stats["store"]["size_in_bytes"] / document_count if document_count else 0.0
    return document_bytes, milliseconds, response["_shards"]["successful"] / index.shard_count
