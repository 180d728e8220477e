"""Counts the documents of an index by the state of their fingerprints, with one search."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from simdoc_search.attach.indices import IndexDescription
from simdoc_search.display import printable
from simdoc_search.sketch.token_kinds import token_kind_names, token_kinds
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.queries import all_kinds_query, exists_clause, missing_kinds_query

_MAX_READ_REASONS, _MAX_RETURNED_REASONS = 100, 5
_MAX_EXAMPLES = 5
_NUMBER = re.compile(r"\d[\d,.]*")

_Query = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of documents in each state.

    Attributes:
        document_count: all documents.
        fingerprinted_count: documents with a fingerprint, with any settings. Empty fingerprints are included.
        missing_count: documents with a text but no fingerprint. If queries cannot find the documents without a text,
            these are included.
        wordless_count: documents with an empty fingerprint, because their text has no words.
        current_count: documents whose fingerprint is complete and has the settings of the mapping; 0 if the mapping has
            no settings.
        lacking_by_kind: maps `passages`, `sentences` and `concepts`, if the index has them, to the number of documents
            whose fingerprint lacks them.
        incomplete_count: documents whose fingerprint lacks at least one of these kinds of tokens.
        failed_count: documents that the pipeline could not fingerprint; None if the mapping has no field for
            the reason.
        failure_reasons: the most frequent reasons why the pipeline failed, and the number of documents for each. `N`
            replaces numbers that differ.
        without_text_count: documents without a text and without a fingerprint; None if queries cannot find them.
        text_gone_count: documents without a text that still have a fingerprint; None if queries cannot find them.
        missing_ids: ids of some of the documents that `missing_count` counts.
        failed_ids: ids of some of the documents that the pipeline could not fingerprint.
    """

    document_count: int
    fingerprinted_count: int = 0
    missing_count: int = 0
    wordless_count: int = 0
    current_count: int = 0
    lacking_by_kind: Mapping[str, int] = field(default_factory=dict)
    incomplete_count: int = 0
    failed_count: int | None = None
    failure_reasons: Mapping[str, int] = field(default_factory=dict)
    without_text_count: int | None = None
    text_gone_count: int | None = None
    missing_ids: Sequence[str] = ()
    failed_ids: Sequence[str] = ()

    @property
    def other_settings_count(self) -> int:
        """Documents whose fingerprint has settings that differ from the mapping."""
        return self.fingerprinted_count - self.current_count - self.incomplete_count


def count_documents(engine: Engine, index: IndexDescription, text_query: _Query | None) -> Counts:
    """Count the documents of an index in each state. Documents that the alias excludes are not counted.

    `text_query` finds the documents with a text; None if no query can find them.
    """
    has_reasons = index.subfields.get("error", {}).get("type") == "keyword"
    queries = _build_queries(index, text_query)
    aggregations: dict[str, Any] = {"states": {"filters": {"filters": queries}}}
    for name in {"missing", "errors"} & queries.keys():
        examples = {"ids": {"top_hits": {"size": _MAX_EXAMPLES, "_source": False}}}
        aggregations[name] = {"filter": queries[name], "aggs": examples}
    if has_reasons:
        aggregations["reasons"] = {"terms": {"field": f"{index.field}.error", "size": _MAX_READ_REASONS}}
    # The total is an aggregation too. With `track_total_hits`, an engine that collects no hits sets `terminated_early`,
    # and `check_response` would raise an error.
    body = {"query": {"bool": {"filter": [*index.filters]}}, "size": 0, "track_total_hits": False, "aggs": aggregations}
    aggregates = engine.search(index.name, body)["aggregations"]
    counts = {name: bucket["doc_count"] for name, bucket in aggregates["states"]["buckets"].items()}
    reasons = {bucket["key"]: bucket["doc_count"] for bucket in aggregates["reasons"]["buckets"]} if has_reasons else {}
    return Counts(
        counts["documents"],
        counts["fingerprinted"],
        counts["missing"],
        counts["wordless"],
        counts.get("current", 0),
        {kind.name: counts[kind.name] for kind in (token_kinds(index.settings) if index.settings else ())},
        counts.get("incomplete", 0),
        counts["errors"] if has_reasons else None,
        _merge_reasons(reasons),
        counts.get("without_text"),
        counts.get("text_gone"),
        _read_ids(aggregates["missing"]),
        _read_ids(aggregates["errors"]) if "errors" in queries else (),
    )


def _build_queries(index: IndexDescription, text_query: _Query | None) -> dict[str, _Query]:
    field, settings = index.field, index.settings
    fingerprinted = exists_clause(f"{field}.format")
    without_tokens = {"filter": [fingerprinted], "must_not": [exists_clause(f"{field}.tokens")]}
    queries: dict[str, _Query] = {"documents": {"match_all": {}}, "fingerprinted": fingerprinted}
    queries["wordless"] = {"bool": without_tokens}
    queries["missing"] = {"bool": {"filter": [text_query] if text_query else [], "must_not": [fingerprinted]}}
    if settings is not None:
        queries["current"] = all_kinds_query(settings, field)
        queries |= {kind.name: missing_kinds_query(settings, field, kind.name) for kind in token_kinds(settings)}
        if names := token_kind_names(settings):
            queries["incomplete"] = missing_kinds_query(settings, field, *names)
    if "error" in index.subfields:
        queries["errors"] = exists_clause(f"{field}.error")
    if text_query:
        queries["without_text"] = {"bool": {"must_not": [text_query, fingerprinted]}}
        queries["text_gone"] = {"bool": {"filter": [fingerprinted], "must_not": [text_query]}}
    return queries


def _read_ids(aggregate: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(hit["_id"] for hit in aggregate["ids"]["hits"]["hits"])


def _merge_reasons(reasons: Mapping[str, int]) -> dict[str, int]:
    """Merge reasons that differ only in numbers, such as a length, and return the most frequent ones."""
    similar: dict[str, dict[str, int]] = {}
    for reason, count in reasons.items():
        similar.setdefault(_NUMBER.sub("N", reason), {})[reason] = count
    merged = Counter({printable(_mask_differing_numbers([*group])): sum(group.values()) for group in similar.values()})
    return dict(merged.most_common(_MAX_RETURNED_REASONS))


def _mask_differing_numbers(reasons: Sequence[str]) -> str:
    """Return the reasons, which differ only in numbers, as one reason. Numbers that differ become `N`."""
    numbers = zip(*map(_NUMBER.findall, reasons), strict=True)
    common = iter([same[0] if len({*same}) == 1 else "N" for same in numbers])
    return _NUMBER.sub(lambda _: next(common), reasons[0])
