"""Inspects the mappings of the indices behind a name, and the states of their documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simdoc_search.attach.backfill.checkpoints import read_checkpoints, read_shard_states
from simdoc_search.attach.index_pipeline import IndexPipeline, PipelineReader
from simdoc_search.attach.indices import IndexDescription, SkippedIndex, describe_indices
from simdoc_search.attach.inspection.counts import Counts, count_documents
from simdoc_search.attach.inspection.sample import Sample, SampleSource, sample_documents
from simdoc_search.errors import FormatMismatchError, MissingExtraError
from simdoc_search.sketch.key import resolve_hash_key
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.thresholds import SimilarityThresholds
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.indices import closed_reason
from simdoc_search.stores.remote.mapping_check import find_faults
from simdoc_search.stores.remote.schema import recorded_thresholds
from simdoc_search.stores.remote.texts import check_text_fields, find_text_query, recorded_text_fields

DEFAULT_SAMPLE_SIZE = 200
"""Default maximum number of documents whose fingerprints are compared with their texts."""


@dataclass(frozen=True, slots=True)
class IndexInspection:
    """A concrete index whose documents were counted."""

    index: IndexDescription
    counts: Counts  # numbers of its documents in each state. Documents that the alias excludes are not counted.
    primary_bytes: int | None  # size of the primary shards in bytes; None if this user may not read the size
    pipeline: IndexPipeline
    # for each shard, the sequence number up to which `backfill --stale` has compared the fingerprints of written
    # documents with the texts. Empty if it has compared none.
    checkpoints: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Inspection:
    """The results of an inspection.

    `all_indices` includes closed ones, sorted by name. The documents of `skipped_indices` were not counted.
    `thresholds` are those that the mappings record. `text_fields` is empty if they are unknown.
    """

    all_indices: Sequence[IndexDescription]
    index_inspections: Sequence[IndexInspection]
    skipped_indices: Sequence[SkippedIndex]
    sample: Sample
    thresholds: SimilarityThresholds
    text_fields: Sequence[str] = ()

    @property
    def index_settings(self) -> dict[str, Mapping[str, Any]]:
        """The settings of the indices whose documents were counted, by the name of the index."""
        return {inspected.index.name: inspected.index.index_settings for inspected in self.index_inspections}

    @property
    def document_count(self) -> int:
        """The number of all documents."""
        return sum(inspected.counts.document_count for inspected in self.index_inspections)

    @property
    def missing_count(self) -> int:
        """The number of documents with a text but no fingerprint. See `Counts.missing_count`."""
        return sum(inspected.counts.missing_count for inspected in self.index_inspections)

    @property
    def missing_share(self) -> float:
        """The share of the documents with a text but no fingerprint among all documents, 0..1."""
        return self.missing_count / self.document_count if self.document_count else 0.0

    @property
    def without_text_count(self) -> int:
        """The number of documents without a text and without a fingerprint, in the indices where queries find them."""
        return sum(inspected.counts.without_text_count or 0 for inspected in self.index_inspections)


def inspect_indices(
    engine: Engine,
    name: str,
    *,
    field: str | None = None,
    text_fields: Sequence[str] = (),
    sample_size: int = DEFAULT_SAMPLE_SIZE,
) -> Inspection:
    """Inspect an index, or all indices behind an alias, a pattern or a data stream. Nothing is written.

    A few searches per index are sent, so the cost hardly depends on the number of documents. The sample is drawn from
    the documents written during or after the last `backfill --stale`, or from all documents if there was none. If
    `field` is None, it is the only fingerprint field in the mappings. If `text_fields` is empty, the text fields in the
    mappings are used. `sample_size` is at most 10,000.

    Raises:
        StoreNotFoundError: no index has this name.
        LocationError: there is no such text field.
    """
    engine = engine.without_closed_indices()
    all_indices = describe_indices(engine, name, field)
    closed = {index.name: closed_reason(index.name) for index in all_indices if index.is_closed}
    skip_reasons = {**(_find_missing_shards(engine, name) if len(closed) < len(all_indices) else {}), **closed}
    skipped = [SkippedIndex(index, reason) for index, reason in sorted(skip_reasons.items())]
    usable = [index for index in all_indices if index.name not in skip_reasons]
    if application_mappings := {index.name: index.mappings for index in usable if not index.is_simdoc_index}:
        location = f"{engine.name}/{name}"
        check_text_fields(text_fields, application_mappings, usable[0].field, location, is_simdoc_index=False)
    mappings = [index.mappings for index in usable]
    known_text_fields = list(text_fields) or (recorded_text_fields(mappings, usable[0].field) if usable else [])
    pipelines, sizes = PipelineReader(engine), _read_sizes(engine, name) if usable else {}
    indices = []
    for index in usable:
        try:
            indices.append(_inspect_index(engine, index, known_text_fields, pipelines, sizes.get(index.name)))
        except RequestError as error:
            skipped.append(SkippedIndex(index.name, f"cannot count the documents of the index: {error}"))
    names = ",".join(inspected.index.name for inspected in indices) if skip_reasons else name
    compared_sample = _draw_sample(engine, names, indices, known_text_fields, sample_size)
    thresholds = recorded_thresholds(mappings, usable[0].field) if usable else SimilarityThresholds()
    return Inspection(all_indices, indices, skipped, compared_sample, thresholds, known_text_fields)


def _inspect_index(
    engine: Engine, index: IndexDescription, text_fields: Sequence[str], pipelines: PipelineReader, size: int | None
) -> IndexInspection:
    used_text_fields = [] if index.is_simdoc_index else [*text_fields] or index.text_fields
    query = find_text_query(engine, index.name, index.mappings, used_text_fields, index.filters)
    checkpoints: tuple[int, ...] = ()
    if index.settings is not None and (shards := read_shard_states(engine, index.name, index.shard_count)):
        checkpoints = read_checkpoints(index.subfields, shards, used_text_fields, index.settings)
        checkpoints = checkpoints if max(checkpoints) >= 0 else ()
    counts = count_documents(engine, index, query)
    return IndexInspection(index, counts, size, pipelines.find_pipeline(index), checkpoints)


def _draw_sample(
    engine: Engine, name: str, indices: Sequence[IndexInspection], text_fields: Sequence[str], size: int
) -> Sample:
    """Draw a sample. If the fingerprints of one index cannot be compared with the texts, none are compared."""
    filled_indices = [inspected for inspected in indices if inspected.counts.current_count]
    document_count = sum(inspected.counts.current_count for inspected in filled_indices)
    if not size:
        return Sample(document_count, 0, 0, not_compared_reason="no sample was requested")
    sources_and_reasons = [_make_sample_source(inspected, text_fields) for inspected in filled_indices]
    reason = next((reason for _, reason in sources_and_reasons if reason), "")
    sources = [replace(source, text_fields=()) if reason else source for source, _ in sources_and_reasons]
    try:
        sample = sample_documents(engine, name, sources, size)
    except MissingExtraError as error:
        return Sample(document_count, 0, 0, not_compared_reason=str(error))
    return replace(sample, not_compared_reason=reason) if reason else sample


def _make_sample_source(inspected: IndexInspection, text_fields: Sequence[str]) -> tuple[SampleSource, str]:
    """Return the source for a sample of one index, and why its texts cannot be compared; empty if they can."""
    index, reason = inspected.index, ""
    settings = index.settings or Settings()
    used_text_fields = [*text_fields] or index.text_fields
    if index.is_simdoc_index:
        used_text_fields = ["body"] if "body" in index.mappings.get("properties", {}) else []
    if not used_text_fields:
        unknown = f"the text field of the index {index.name} is unknown; set the field with --text-field"
        reason = f"the index {index.name} does not store texts" if index.is_simdoc_index else unknown
    try:
        settings = settings.with_verified_key(resolve_hash_key(), f"the index {index.name}")
    except FormatMismatchError as error:
        reason = str(error)
    faults = (fault.problem for fault in find_faults(index.mappings, {}, index.field) if fault.blocks_queries)
    if fault := next(faults, ""):
        reason = f"cannot compare the documents of the index {index.name}: {fault}"
    return SampleSource(
        index, settings, used_text_fields, inspected.counts.current_count, inspected.checkpoints
    ), reason


def _find_missing_shards(engine: Engine, name: str) -> dict[str, str]:
    """Map each index with missing shards to a sentence about them. Searches of such an index wait, and then fail."""
    health = engine.get_if_allowed("_cluster", "health", name, level="indices")
    reasons = {}
    for index, state in health.get("indices", {}).items():
        shards = int(state.get("number_of_shards", 0))
        missing = shards - int(state.get("active_primary_shards", 0))
        if missing > 0:
            advice = "find the cause with `GET _cluster/allocation/explain`, then run the command again"
            are = "is" if missing == 1 else "are"
            reasons[index] = f"{missing} of {shards} shards {are} missing (status {state['status']}); {advice}"
    return reasons


def _read_sizes(engine: Engine, name: str) -> dict[str, int]:
    """Return the size of the primary shards of each index in bytes; empty if this user may not read them."""
    stats = engine.get_if_allowed(name, "_stats", "store")
    sizes = {
        index: described.get("primaries", {}).get("store", {}) for index, described in stats.get("indices", {}).items()
    }
    return {index: int(store["size_in_bytes"]) for index, store in sizes.items() if "size_in_bytes" in store}
