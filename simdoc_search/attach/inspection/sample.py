"""Draws a random sample of documents, and compares their fingerprints with their texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nlargest
from typing import Any

from simdoc_search.attach.actions import fingerprint_fields
from simdoc_search.attach.backfill.checkpoints import WriteRange
from simdoc_search.attach.indices import IndexDescription
from simdoc_search.display import format_fields
from simdoc_search.errors import DocumentError
from simdoc_search.sketch.estimate import wilson_interval
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.current_documents import read_current_documents
from simdoc_search.stores.remote.engine import Engine, UrlParams
from simdoc_search.stores.remote.fingerprint_value import describe_fault, read_fingerprint_value
from simdoc_search.stores.remote.point_in_time import total_hits
from simdoc_search.stores.remote.queries import all_kinds_query, any_clause, randomize_order
from simdoc_search.stores.remote.texts import read_text

_BATCH_SIZE = 50
_MAX_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class SampleSource:
    """An index from which documents are drawn."""

    index: IndexDescription
    settings: Settings  # the settings of its fingerprints
    text_fields: Sequence[str]  # the paths of its text fields; empty if they are unknown
    document_count: int  # number of documents with a complete fingerprint
    # for each shard, the sequence number up to which `backfill --stale` has compared the fingerprints of written
    # documents with the texts. Empty if it has compared none.
    checkpoints: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """The result of comparing a random sample of fingerprints with the texts.

    Attributes:
        document_count: number of documents with a complete fingerprint.
        sampled_count: number of documents in the sample.
        stale_count: number of sampled documents whose fingerprint is malformed or does not match their text; 0 if the
            fingerprints were not compared with the texts.
        stale_ids: ids of some stale documents.
        already_compared_count: number of documents that were not written since `backfill --stale` compared them. They
            are not sampled.
        faults_by_id: maps the document id of each malformed fingerprint in the sample to the problem.
        not_compared_reason: why the fingerprints were not compared with the texts; empty if they were.
    """

    document_count: int
    sampled_count: int
    stale_count: int
    stale_ids: tuple[str, ...] = ()
    already_compared_count: int = 0
    faults_by_id: Mapping[str, str] = field(default_factory=dict, compare=False)
    not_compared_reason: str = ""

    @property
    def unchecked_count(self) -> int:
        """The number of documents that may be stale."""
        return self.document_count - self.already_compared_count

    @property
    def is_exact(self) -> bool:
        """Whether the sample contains all documents that may be stale."""
        return self.sampled_count >= self.unchecked_count

    @property
    def stale_share(self) -> float:
        """The estimated share of stale documents among all documents, 0..1."""
        return (
            self.stale_count / self.sampled_count * self.unchecked_count / self.document_count
            if self.sampled_count
            else 0.0
        )

    @property
    def stale_share_interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the share, see `wilson_interval`.

        The sample is drawn without replacement, so the interval is narrower if more of the documents are sampled.
        """
        if self.is_exact:
            return self.stale_share, self.stale_share
        share, part = (
            self.stale_count / self.sampled_count if self.sampled_count else 0.0,
            self.unchecked_count / self.document_count,
        )
        low, high = wilson_interval(
            share, self.sampled_count * (self.unchecked_count - 1) / (self.unchecked_count - self.sampled_count)
        )
        return low * part, high * part


def sample_documents(engine: Engine, name: str, sources: Sequence[SampleSource], size: int) -> Sample:
    """Draw at most `size` documents with a complete fingerprint, and compare the fingerprints with the texts.

    `name` must select the indices of all sources. In an index whose text fields are unknown, nothing is compared.

    Raises:
        MissingExtraError: a package for computing the fingerprints is not installed.
    """
    document_count = sum(source.document_count for source in sources)
    drawn, unchecked_count = _draw_documents(engine, name, sources, size) if document_count else ({}, 0)
    sampled_count, has_text, stale, malformed = 0, False, list[str](), dict[str, str]()
    for source in sources:
        mget_docs = drawn.get(source.index.name, [])
        for start in range(0, len(mget_docs), _BATCH_SIZE):
            batch = list(_read_documents(engine, source, mget_docs[start : start + _BATCH_SIZE]))
            sampled_count += len(batch)
            has_text = has_text or any(text is not None for _, _, text in batch)
            faults = {id: describe_fault(document, source.index.field, source.settings) for id, document, _ in batch}
            malformed |= {id: fault for id, fault in faults.items() if fault}
            stale += _find_stale_ids(source, batch, malformed) if source.text_fields else []
    not_compared_reason = ""
    if sampled_count and not has_text and all(source.text_fields for source in sources):
        names = format_fields(sorted({name for source in sources for name in source.text_fields}))
        not_compared_reason, stale = (
            f"no sampled document has a text in {names}; choose another field with --text-field",
            [],
        )
    examples = tuple(sorted(stale)[:_MAX_EXAMPLES])
    return Sample(
        document_count,
        sampled_count,
        len(stale),
        examples,
        max(0, document_count - unchecked_count),
        malformed,
        not_compared_reason,
    )


def _draw_documents(
    engine: Engine, name: str, sources: Sequence[SampleSource], size: int
) -> tuple[dict[str, list[dict[str, Any]]], int]:
    """Return `_mget` entries for random documents of each index, and the number of documents to choose from."""
    hits, total = list[dict[str, Any]](), 0
    for index, query, parameters in _plan_searches(name, sources):
        body = {"query": randomize_order(query), "size": size, "_source": False, "track_total_hits": True}
        response = engine.search(index, body, **parameters)
        hits += response["hits"]["hits"]
        total += total_hits(response)
    mget_docs: dict[str, list[dict[str, Any]]] = {}
    for hit in nlargest(size, hits, key=lambda hit: float(hit["_score"])):  # the score is a random number
        routing = {"routing": hit["_routing"]} if "_routing" in hit else {}
        mget_docs.setdefault(hit["_index"], []).append({"_id": hit["_id"], **routing})
    return mget_docs, total


def _plan_searches(name: str, sources: Sequence[SampleSource]) -> Iterator[tuple[str, dict[str, Any], UrlParams]]:
    """Yield the index, query and parameters of each search. Different checkpoints require one search per shard."""
    combined_queries = []
    for source in sources:
        index, checkpoints = source.index, source.checkpoints
        filters = [
            {"term": {"_index": index.name}},
            all_kinds_query(source.settings, index.field),
            *index.filters,
        ]
        searches = WriteRange(checkpoints).plan_searches() if checkpoints else []
        if len(searches) > 1:
            for query, params in searches:
                yield index.name, {"bool": {"filter": [*filters, query]}}, params
        else:
            combined_queries.append({"bool": {"filter": [*filters, *(query for query, _ in searches)]}})
    if combined_queries:
        yield name, any_clause(combined_queries), {}


_Document = tuple[str, Mapping[str, Any], str | None]
"""The id, the source and the text of a document. Without a text, the last value is None."""


def _read_documents(engine: Engine, source: SampleSource, mget_docs: list[dict[str, Any]]) -> Iterator[_Document]:
    """Read the documents that still exist."""
    index = source.index
    source_fields = [*source.text_fields, index.field]
    requested = [{**entry, "_index": index.name, "_source": source_fields} for entry in mget_docs]
    for document in read_current_documents(engine, requested):
        values = document.get("_source")
        if document.get("found") and isinstance(values, Mapping):
            try:
                text = read_text(values, source.text_fields) if source.text_fields else None
            except DocumentError:
                continue  # backfill refuses a document whose text cannot be read
            yield str(document["_id"]), values, text


def _find_stale_ids(source: SampleSource, batch: Sequence[_Document], faults_by_id: Mapping[str, str]) -> list[str]:
    """Return the ids of the documents whose fingerprint does not match their text."""
    field = source.index.field
    # Omit sentences and concepts, which are slow to compute. If the text has changed, the fingerprint differs anyway.
    settings = replace(source.settings, sentences=None, concepts=None)
    expected = fingerprint_fields([text or "" for _, _, text in batch], settings)
    stale = []
    for (id, document, text), values in zip(batch, expected, strict=True):
        stored = read_fingerprint_value(document, field)
        if text is None:
            is_stale = stored is not None
        elif isinstance(stored, Mapping) and id not in faults_by_id:
            names = ["tokens", *(["passages", "text_hash"] if values["tokens"] else [])]
            is_stale = any(_split_tokens(stored.get(name)) != _split_tokens(values.get(name)) for name in names)
        else:
            is_stale = True
        stale += [id] if is_stale else []
    return stale


def _split_tokens(tokens: Any) -> set[str]:
    return set(tokens.split()) if isinstance(tokens, str) else set()
