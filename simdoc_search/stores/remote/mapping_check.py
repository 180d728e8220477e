"""Finds faults of an index that affect its fingerprint field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.kinds import KINDS
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.mappings import WHOLE_NUMBERS, count_fields, fields_left, fields_of
from simdoc_search.stores.remote.schema import component_template, settings_of

_BLOCKS = ("read_only", "read_only_allow_delete", "write", "read", "metadata")
_COMPARED = ("type", "analyzer", "search_analyzer", "similarity", "index")
_QUERIED = ("buckets", "tokens")
_FEW_FIELDS_LEFT = 12
_REINDEX = "apply the mapping of simdoc-search template show, then reindex"


@dataclass(frozen=True, slots=True)
class MappingFault:
    """A fault of an index.

    Attributes:
        problem: what is wrong and what to do, in one sentence.
        blocks_queries: whether queries fail or miss documents because of it.
        blocks_writes: whether it prevents adding fingerprints to documents.
        needs_action: whether something must be changed; False for a note.
        kind: the kind of tokens that cannot be queried because of it, if any.
    """

    problem: str
    blocks_queries: bool = False
    blocks_writes: bool = False
    needs_action: bool = True
    kind: str = ""


def find_faults(mapping: Mapping[str, Any], settings: Mapping[str, Any], field: str) -> Iterator[MappingFault]:
    """Yield the faults of an index, the most serious first. A missing fingerprint field blocks only queries.

    Args:
        mapping: its mapping.
        settings: the `index` part of its settings; empty if unknown.
        field: name of the fingerprint field.
    """
    yield from _block_faults(settings)
    yield from _source_faults(mapping, settings, field)
    ours = mapping.get("properties", {}).get(field)
    if mapping.get("subobjects") is False:
        problem = "the mapping does not allow objects (subobjects is false); reindex without subobjects: false"
        yield MappingFault(problem, blocks_writes=True)
    elif ours is not None and (ours.get("type", "object") != "object" or ours.get("enabled") is False):
        kind = "a disabled object" if ours.get("enabled") is False else ours["type"]
        problem = f"the field {field} is {kind}; choose another name"
        yield MappingFault(problem, blocks_queries=True, blocks_writes=True)
        return
    yield from _field_limit_faults(mapping, settings, field)
    yield from _field_faults(mapping, field)


def is_closed(settings: Mapping[str, Any]) -> bool:
    """Return whether an index is closed, by its settings."""
    return str(settings.get("verified_before_close")) == "true"


def block_message(name: str) -> str:
    """Return the message for an index with a block."""
    cause = " (set when a disk is full)" if name == "read_only_allow_delete" else ""
    return f"it has the block index.blocks.{name}{cause}, so nothing can be written; remove the block first"


def _block_faults(settings: Mapping[str, Any]) -> Iterator[MappingFault]:
    if is_closed(settings):
        yield MappingFault("it is closed; open it first", blocks_queries=True, blocks_writes=True)
    for name in _BLOCKS:
        if str(settings.get("blocks", {}).get(name)) == "true":
            is_read = name == "read"
            yield MappingFault(block_message(name), blocks_queries=is_read, blocks_writes=True, needs_action=is_read)


def _source_faults(mapping: Mapping[str, Any], settings: Mapping[str, Any], field: str) -> Iterator[MappingFault]:
    """Yield faults of `_source`: tokens cannot be read, or a partial update, which rewrites `_source`, loses fields."""
    source = mapping.get("_source", {})
    mode = source.get("mode") or settings.get("mapping", {}).get("source", {}).get("mode")
    if source.get("enabled") is False or mode == "disabled":
        problem = (
            "_source is disabled, so hits cannot be read and documents cannot be updated; reindex with _source enabled"
        )
        yield MappingFault(problem, blocks_queries=True, blocks_writes=True)
        return
    if source.get("excludes") or source.get("includes"):
        is_lost = _is_left_out(source, f"{field}.tokens")
        what = f"{field}.tokens, so hits cannot be read" if is_lost else "fields, which a partial update would destroy"
        problem = f"_source excludes {what}; reindex with a complete _source"
        yield MappingFault(problem, blocks_queries=is_lost, blocks_writes=True)
    # OpenSearch's derived source has only fields that it can derive, so an update loses nothing that can be read.
    if mode == "synthetic" or settings.get("mode") in {"time_series", "logsdb"}:
        problem = "_source is synthetic, so an update would not preserve it; reindex with a stored _source"
        yield MappingFault(problem, blocks_writes=True)


def _is_left_out(source: Mapping[str, Any], path: str) -> bool:
    """Return whether the filters of `_source`, which are patterns of field and object names, omit a field."""
    parents = [path.rsplit(".", number)[0] for number in range(path.count(".") + 1)]

    def matches(patterns: Any) -> bool:
        return any(fnmatchcase(parent, str(pattern)) for pattern in patterns for parent in parents)

    includes, excludes = source.get("includes") or [], source.get("excludes") or []
    return matches(excludes) or (bool(includes) and not matches(includes))


def _field_limit_faults(mapping: Mapping[str, Any], settings: Mapping[str, Any], field: str) -> Iterator[MappingFault]:
    properties = mapping.get("properties", {})
    left, limit = fields_left(mapping, settings)
    existing = {field: properties[field]} if field in properties else {}
    has_tokens = "tokens" in fields_of(mapping, field)
    needed = 0 if has_tokens else count_fields({field: _wanted(mapping, field)}) - count_fields(existing)
    if left < needed or (needed and left < _FEW_FIELDS_LEFT):
        problem = f"{max(left, 0)} of {limit} fields are left; raise index.mapping.total_fields.limit"
        yield MappingFault(problem, blocks_writes=left < needed, needs_action=left < needed)


def _field_faults(mapping: Mapping[str, Any], field: str) -> Iterator[MappingFault]:
    ours = fields_of(mapping, field)
    missing = ["tokens"] if "tokens" not in ours else [name for name in _QUERIED if name not in ours]
    for name in missing:
        how = "" if name == "tokens" else f"; {_REINDEX}"
        yield MappingFault(f"there is no field {field}.{name}{how}", blocks_queries=True)
    for name, wanted in _wanted(mapping, field)["properties"].items():
        kind = name if name in KINDS else ""
        if kind and name not in ours and "tokens" in ours:
            yield MappingFault(f"there is no field {field}.{name}; {_REINDEX}", kind=kind)
        differences = _differences(ours.get(name, wanted), wanted)
        for key in differences:
            problem = f"{field}.{name} has {key} {ours[name].get(key)!r}, not {wanted.get(key)!r}; {_REINDEX}"
            in_queries = key != "search_analyzer"
            blocks = in_queries and name in _QUERIED
            yield MappingFault(problem, blocks, blocks_writes=True, kind=kind if in_queries else "")
        if name == "tokens" and name in ours and not differences:
            yield from _meta_faults(ours[name])
        if name == "tokens" and {"type", "analyzer"} & set(differences):
            return  # the engine has guessed the mappings of all fields


def _meta_faults(tokens: Mapping[str, Any]) -> Iterator[MappingFault]:
    try:
        settings_of(tokens.get("meta", {}))
    except FormatMismatchError as error:
        yield MappingFault(str(error), blocks_queries=True, blocks_writes=True)


def _wanted(mapping: Mapping[str, Any], field: str) -> dict[str, Any]:
    """Return the mapping that our field should have, with the kinds of tokens that the index has."""
    wanted = Settings()
    if tokens := fields_of(mapping, field).get("tokens"):
        with suppress(FormatMismatchError):
            settings = settings_of(tokens.get("meta", {}))
            wanted = replace(wanted, **{name: getattr(settings, name) for name in KINDS})
    ours: dict[str, Any] = component_template(wanted, field)["template"]["mappings"]["properties"][field]
    return ours


def _differences(has: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Return the settings in which a field differs; only the first if its type or analyzer differs."""
    if {has.get("type"), wanted["type"]} <= WHOLE_NUMBERS:
        return [key for key in ("index",) if has.get(key) != wanted.get(key)]
    different = [key for key in _COMPARED if has.get(key) != wanted.get(key)]
    return different[:1] if {"type", "analyzer"} & set(different) else different
