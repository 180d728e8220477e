"""What is wrong with an index that should have our field, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from simdoc_search.errors import FormatMismatchError, StoreError, StoreNotFoundError
from simdoc_search.query.dsl import MAX_CLAUSES
from simdoc_search.stores.remote_mappings import WHOLE_NUMBERS, fields_left, fields_of
from simdoc_search.stores.remote_schema import format_label, settings_of
from simdoc_search.stores.rest import Engine, max_clauses

__all__ = ["Finding", "check_index"]

_ANALYZER = {"analyzer": "whitespace", "search_analyzer": "simple", "similarity": "boolean"}
_FEW_FIELDS_LEFT = 10


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong, or worth knowing.

    Attributes:
        index: the concrete index.
        wrong: whether queries fail or miss documents because of it.
        problem: what it is, and what to do, in one sentence.
    """

    index: str
    wrong: bool
    problem: str


def check_index(engine: Engine, index: str, field: str = "simdoc") -> list[Finding]:
    """Look at an index, or at all behind an alias.

    Raises:
        StoreNotFoundError: there is none.
        StoreUnavailableError: the engine does not answer.
        RequestError: it refuses to tell.
    """
    found = engine.call("GET", [index])
    if not found:
        raise StoreNotFoundError(f"{engine.name} has no index {index}; make it first")
    findings = [
        Finding(name, wrong, problem)
        for name, each in found.items()
        for wrong, problem in _findings(engine, name, each, field)
    ]
    limit = max_clauses(engine)
    if limit < MAX_CLAUSES:
        fewer = f"the engine allows {limit} clauses; raise indices.query.bool.max_clause_count to {MAX_CLAUSES}"
        findings.append(Finding(index, True, fewer))
    return findings


def _findings(engine: Engine, index: str, found: Mapping[str, Any], field: str) -> Iterator[tuple[bool, str]]:
    mappings = found["mappings"]
    settings = found["settings"].get("index", {})
    ours = fields_of(mappings, field)
    yield from _source(mappings, field)
    yield from _field_limit(mappings, settings, needed=0 if ours else 6)
    if "tokens" not in ours:
        yield True, f"no field {field}.tokens; add it with the mapping of simdoc-search template show"
        return
    yield from _tokens(ours["tokens"], field)
    for name in ("shingles", "buckets"):
        if ours.get(name, {}).get("type") not in WHOLE_NUMBERS:
            yield True, f"{field}.{name} is no number; reindex with the mapping of simdoc-search template show"
    if not settings.get("query", {}).get("default_field"):
        yield (
            False,
            f"searches that name no field look into {field} too, where a number can be a count of tokens and 20* the "
            "beginning of one; set index.query.default_field to your own fields",
        )
    yield from _documents(engine, index, ours, field)


def _source(mappings: Mapping[str, Any], field: str) -> Iterator[tuple[bool, str]]:
    source = mappings.get("_source", {})
    if source.get("enabled") is False:
        yield True, "_source is disabled, so no hit can be read; reindex into an index that keeps it"
    elif source.get("excludes") or source.get("includes"):
        yield (
            True,
            f"_source leaves fields out, and the first partial update would lose them; keep all, {field} too",
        )


def _field_limit(mappings: Mapping[str, Any], settings: Mapping[str, Any], needed: int) -> Iterator[tuple[bool, str]]:
    left, limit = fields_left(mappings, settings)
    if left < needed or (needed and left < _FEW_FIELDS_LEFT):
        yield left < needed, f"{max(left, 0)} of {limit} fields are left; raise index.mapping.total_fields.limit"


def _tokens(tokens: Mapping[str, Any], field: str) -> Iterator[tuple[bool, str]]:
    if tokens.get("type") != "text" or tokens.get("analyzer") != "whitespace":
        kind = f"{tokens.get('type')}, analyzer {tokens.get('analyzer', 'standard')}"
        yield (
            True,
            f"{field}.tokens is {kind}, as after a reindex without our mapping; put the template, then reindex",
        )
        return
    for setting, wanted in _ANALYZER.items():
        if (found := tokens.get(setting)) != wanted:
            yield True, f"{field}.tokens has {setting} {found!r}, not {wanted!r}; reindex with our mapping"
    try:
        settings_of(tokens.get("meta", {}))
    except FormatMismatchError as error:
        yield True, str(error)


def _documents(engine: Engine, index: str, ours: Mapping[str, Any], field: str) -> Iterator[tuple[bool, str]]:
    """Documents without a fingerprint, or with one of other settings."""
    if "format" not in ours:
        return
    try:
        label = format_label(settings_of(ours["tokens"].get("meta", {})))
    except FormatMismatchError:
        return  # that is said already
    try:
        all_documents = _number(engine, index, {"match_all": {}})
        of_this_format = _number(engine, index, {"term": {f"{field}.format": label}})
        of_any = _number(engine, index, {"exists": {"field": f"{field}.format"}})
    except StoreError as error:
        yield False, f"its documents could not be counted ({error})"
        return
    if of_any < all_documents:
        yield False, f"{all_documents - of_any:,} of {all_documents:,} documents have no fingerprint"
    if of_this_format < of_any:
        yield True, f"fingerprints with other settings than the mapping: {of_any - of_this_format:,}; make them again"


def _number(engine: Engine, index: str, query: dict[str, Any]) -> int:
    return int(engine.call("POST", [index, "_count"], {"query": query})["count"])
