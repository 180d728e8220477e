"""Finds problems with the mapping and the settings of an index that affect its fingerprint field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from simdoc_search.display import format_count
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.token_kinds import TOKEN_KINDS
from simdoc_search.stores.remote.mappings import INTEGER_TYPES, count_fields, count_remaining_fields, mapped_fields
from simdoc_search.stores.remote.schema import field_mappings, parse_meta

_INDEX_BLOCKS = ("read_only", "read_only_allow_delete", "write", "read", "metadata")
_CHECKED_SETTINGS = ("type", "analyzer", "search_analyzer", "similarity", "index")
_QUERIED_FIELDS = ("buckets", "tokens")
_MIN_FREE_FIELDS = 12
_REINDEX_ADVICE = (
    "a mapping cannot be changed, so create a new index, add the field with `simdoc-search backfill`, and copy the "
    "documents with `_reindex`"
)


@dataclass(frozen=True, slots=True)
class MappingFault:
    """A problem with the mapping or the settings of an index."""

    problem: str  # the problem and how to fix it, in one sentence
    blocks_queries: bool = False  # whether queries fail or miss documents
    blocks_writes: bool = False  # whether adding fingerprints to documents fails
    needs_action: bool = True  # whether the user must change something. Otherwise, the problem is only a note.
    blocked_token_kind: str = ""  # `passages`, `sentences` or `concepts` if these cannot be queried; otherwise empty
    lacks_tokens: bool = False  # whether the problem is that the index has no fingerprint field


def find_faults(mapping: Mapping[str, Any], settings: Mapping[str, Any], field: str) -> Iterator[MappingFault]:
    """Yield the problems of an index, the most serious ones first. A missing fingerprint field blocks only queries.

    `settings` is the `index` part of the settings of the index. It is empty if they cannot be read.
    """
    yield from _find_block_faults(settings)
    yield from _find_source_faults(mapping, settings, field)
    field_mapping = mapping.get("properties", {}).get(field)
    if mapping.get("subobjects") is False:
        problem = "the mapping does not allow objects (subobjects is false); remove this setting, then reindex"
        yield MappingFault(problem, blocks_writes=True)
    elif field_mapping is not None and (
        field_mapping.get("type", "object") != "object" or field_mapping.get("enabled") is False
    ):
        is_disabled = field_mapping.get("enabled") is False
        actual = "is a disabled object" if is_disabled else f"has the type {field_mapping['type']}"
        problem = f"the field {field} {actual}; choose another field name with --field"
        yield MappingFault(problem, blocks_queries=True, blocks_writes=True)
        return
    yield from _find_field_limit_faults(mapping, settings, field)
    yield from _find_field_faults(mapping, field)


def is_closed(settings: Mapping[str, Any]) -> bool:
    """Return whether the settings of an index show that it is closed."""
    return str(settings.get("verified_before_close")) == "true"


def block_message(block: str) -> str:
    """Return the message for an index that has this block, such as `write`."""
    cause = ", usually because the disk is full" if block == "read_only_allow_delete" else ""
    return f"the index has the block index.blocks.{block}{cause}; remove the block before you write to the index"


def field_limit_message(left: int, limit: int) -> str:
    """Return the message for an index to which only `left` more fields can be added."""
    more_fields = format_count(max(left, 0), "more field")
    return f"the index can have only {more_fields} (limit {limit}); increase index.mapping.total_fields.limit"


def _find_block_faults(settings: Mapping[str, Any]) -> Iterator[MappingFault]:
    if is_closed(settings):
        yield MappingFault("the index is closed; open the index first", blocks_queries=True, blocks_writes=True)
    for name in _INDEX_BLOCKS:
        if str(settings.get("blocks", {}).get(name)) == "true":
            is_read = name == "read"
            yield MappingFault(block_message(name), blocks_queries=is_read, blocks_writes=True, needs_action=is_read)


def _find_source_faults(mapping: Mapping[str, Any], settings: Mapping[str, Any], field: str) -> Iterator[MappingFault]:
    """Yield the settings of `_source` that prevent reading tokens, or that would make an update lose fields."""
    source = mapping.get("_source", {})
    mode = source.get("mode") or settings.get("mapping", {}).get("source", {}).get("mode")
    if source.get("enabled") is False or mode == "disabled":
        problem = "_source is disabled, so documents cannot be read or updated; enable _source, then reindex"
        yield MappingFault(problem, blocks_queries=True, blocks_writes=True)
        return
    if source.get("excludes") or source.get("includes"):
        excludes_tokens = _is_excluded(source, f"{field}.tokens")
        problem = (
            f"_source excludes {field}.tokens, so hits cannot be read"
            if excludes_tokens
            else "_source excludes fields, so an update would lose their values"
        )
        problem = f"{problem}; include all fields in _source, then reindex"
        yield MappingFault(problem, blocks_queries=excludes_tokens, blocks_writes=True)
    # OpenSearch's derived source is allowed: no request can read a value that it omits, so an update does not lose any
    # value.
    if mode == "synthetic" or settings.get("mode") in {"time_series", "logsdb"}:
        problem = (
            "_source is synthetic, so an update would not keep the original form of the other fields; choose a stored "
            "_source, then reindex"
        )
        yield MappingFault(problem, blocks_writes=True)


def _is_excluded(source: Mapping[str, Any], path: str) -> bool:
    """Return whether the filters of `_source`, which are patterns of paths, exclude a field."""
    parents = [path.rsplit(".", number)[0] for number in range(path.count(".") + 1)]

    def matches(patterns: Any) -> bool:
        return any(fnmatchcase(parent, str(pattern)) for pattern in patterns for parent in parents)

    includes, excludes = source.get("includes") or [], source.get("excludes") or []
    return matches(excludes) or (bool(includes) and not matches(includes))


def _find_field_limit_faults(
    mapping: Mapping[str, Any], settings: Mapping[str, Any], field: str
) -> Iterator[MappingFault]:
    properties = mapping.get("properties", {})
    left, limit = count_remaining_fields(mapping, settings)
    existing = {field: properties[field]} if field in properties else {}
    has_tokens = "tokens" in mapped_fields(mapping, field)
    needed = 0 if has_tokens else 1 + count_fields(_expected_mappings(mapping, field)) - count_fields(existing)
    if left < needed or (needed and left < _MIN_FREE_FIELDS):
        yield MappingFault(field_limit_message(left, limit), blocks_writes=left < needed, needs_action=left < needed)


def _find_field_faults(mapping: Mapping[str, Any], field: str) -> Iterator[MappingFault]:
    existing = mapped_fields(mapping, field)
    missing = ["tokens"] if "tokens" not in existing else [name for name in _QUERIED_FIELDS if name not in existing]
    for name in missing:
        lacks_tokens = name == "tokens"
        how = "" if lacks_tokens else f"; {_REINDEX_ADVICE}"
        yield MappingFault(f"there is no field {field}.{name}{how}", blocks_queries=True, lacks_tokens=lacks_tokens)
    for name, expected in _expected_mappings(mapping, field).items():
        kind = name if name in TOKEN_KINDS else ""
        if kind and name not in existing and "tokens" in existing:
            yield MappingFault(f"there is no field {field}.{name}; {_REINDEX_ADVICE}", blocked_token_kind=kind)
        differences = _find_differences(existing.get(name, expected), expected)
        for key in differences:
            actual = existing[name].get(key)
            problem = f"{field}.{name} has {key} {actual!r}, not {expected.get(key)!r}; {_REINDEX_ADVICE}"
            affects_queries = key != "search_analyzer"
            blocks_queries = affects_queries and name in _QUERIED_FIELDS
            blocked_kind = kind if affects_queries else ""
            yield MappingFault(problem, blocks_queries, blocks_writes=True, blocked_token_kind=blocked_kind)
        if name == "tokens" and name in existing and not differences:
            yield from _find_meta_faults(existing[name])
        if name == "tokens" and {"type", "analyzer"} & set(differences):
            return  # dynamic mapping has created all fields, so report only this fault, not one per field


def _find_meta_faults(tokens: Mapping[str, Any]) -> Iterator[MappingFault]:
    try:
        parse_meta(tokens.get("meta", {}))
    except FormatMismatchError as error:
        yield MappingFault(str(error), blocks_queries=True, blocks_writes=True)


def _expected_mappings(mapping: Mapping[str, Any], field: str) -> dict[str, Any]:
    """Return the mappings that the subfields should have, with the kinds of tokens that the index has."""
    expected_settings = Settings()
    if tokens := mapped_fields(mapping, field).get("tokens"):
        with suppress(FormatMismatchError):
            settings = parse_meta(tokens.get("meta", {}))
            expected_settings = replace(expected_settings, **{name: getattr(settings, name) for name in TOKEN_KINDS})
    return field_mappings(expected_settings, field)


def _find_differences(actual: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    """Return the names of the settings that differ.

    If the type differs, return only `type`. Otherwise, if the analyzer differs, return only `analyzer`.
    """
    if {actual.get("type"), expected["type"]} <= INTEGER_TYPES:
        return [key for key in ("index",) if actual.get(key) != expected.get(key)]
    different = [key for key in _CHECKED_SETTINGS if actual.get(key) != expected.get(key)]
    return different[:1] if {"type", "analyzer"} & set(different) else different
