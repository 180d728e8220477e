"""How many documents of an index have which fingerprint, by one search without hits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from simdoc_search.display import printable
from simdoc_search.sketch.kinds import kinds_of, names_of_kinds
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.queries import complete_query, lacking_kinds_query

_REASONS_READ, _REASONS = 100, 5
_NUMBER = re.compile(r"\d[\d,.]*")

_Query = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Counts:
    """How many documents of an index have what.

    Attributes:
        documents: all.
        fingerprinted: those with a fingerprint, of whatever settings, or the mark of a text without words.
        wordless: those of them with that mark.
        without_text: those that have no text, and no fingerprint; None: no query tells which these are.
        text_gone: those that have a fingerprint, but no text any more; None: likewise.
        current: those with a fingerprint of the settings that the mapping says; 0 where it says none.
        lacking: of fingerprints of these settings, how many lack tokens of a kind: its name to the number.
        incomplete: how many of them lack tokens of any kind.
        errors: those for which the engine's pipeline could make none; None: the mapping has no field that says so.
        reasons: why, the most frequent first, with `N` for numbers: to how many.
    """

    documents: int
    fingerprinted: int = 0
    wordless: int = 0
    current: int = 0
    lacking: Mapping[str, int] = field(default_factory=dict)
    incomplete: int = 0
    errors: int | None = None
    reasons: Mapping[str, int] = field(default_factory=dict)
    without_text: int | None = None
    text_gone: int | None = None

    @property
    def missing(self) -> int:
        """Those without a fingerprint that have a text; all without a fingerprint where no query tells which do."""
        return self.documents - self.fingerprinted - (self.without_text or 0)

    @property
    def of_other_settings(self) -> int:
        """Those with a fingerprint of other settings than the mapping says."""
        return self.fingerprinted - self.current - self.incomplete


def count_documents(
    engine: Engine,
    index: str,
    ours: Mapping[str, Any],
    settings: Settings | None,
    *,
    field: str,
    chosen: Sequence[_Query] = (),
    has_text: _Query | None = None,
) -> Counts:
    """Count the documents of an index.

    Args:
        engine: where it is.
        index: its name.
        ours: the mapping of what is below our field.
        settings: those that it says; None: it says none.
        field: the name of our field.
        chosen: what the alias lets through by which it was named.
        has_text: finds the documents that have a text; None: no query does.

    Raises:
        StoreError: the engine does not answer, or not of all shards.
    """
    has_reasons = ours.get("error", {}).get("type") == "keyword"
    queries = _queries(ours, settings, field)
    if has_text:
        queries["without_text"] = {"bool": {"must_not": [has_text, _exists(f"{field}.format")]}}
        queries["text_gone"] = {"bool": {"filter": [_exists(f"{field}.format")], "must_not": [has_text]}}
    aggregations: dict[str, Any] = {"of": {"filters": {"filters": queries}}}
    if has_reasons:
        aggregations["reasons"] = {"terms": {"field": f"{field}.error", "size": _REASONS_READ}}
    query = {"bool": {"filter": [*chosen]}}
    # The total is counted beside the rest: an engine that need not collect hits says that it ended early.
    answer = engine.search(index, {"query": query, "size": 0, "track_total_hits": False, "aggs": aggregations})
    found = answer["aggregations"]
    number = {name: each["doc_count"] for name, each in found["of"]["buckets"].items()}
    reasons = {each["key"]: each["doc_count"] for each in found["reasons"]["buckets"]} if has_reasons else {}
    return Counts(
        number["documents"],
        number["fingerprinted"],
        number["wordless"],
        number.get("current", 0),
        {each.name: number[each.name] for each in (kinds_of(settings) if settings else ())},
        number.get("incomplete", 0),
        number["errors"] if has_reasons else None,
        _shown(reasons),
        number.get("without_text"),
        number.get("text_gone"),
    )


def _queries(ours: Mapping[str, Any], settings: Settings | None, field: str) -> dict[str, _Query]:
    fingerprinted = _exists(f"{field}.format")
    without_tokens = {"filter": [fingerprinted], "must_not": [_exists(f"{field}.tokens")]}
    queries: dict[str, _Query] = {"documents": {"match_all": {}}, "fingerprinted": fingerprinted}
    queries["wordless"] = {"bool": without_tokens}
    if settings is not None:
        queries["current"] = complete_query(settings, field)
        queries |= {each.name: lacking_kinds_query(settings, field, each.name) for each in kinds_of(settings)}
        if names := names_of_kinds(settings):
            queries["incomplete"] = lacking_kinds_query(settings, field, *names)
    if "error" in ours:
        queries["errors"] = _exists(f"{field}.error")
    return queries


def _exists(path: str) -> _Query:
    return {"exists": {"field": path}}


def _shown(reasons: Mapping[str, int]) -> dict[str, int]:
    """The most frequent reasons; those that differ in a number only, as in a length, are one."""
    alike: Counter[str] = Counter()
    for reason, count in reasons.items():
        alike[printable(_NUMBER.sub("N", reason))] += count
    return dict(alike.most_common(_REASONS))
