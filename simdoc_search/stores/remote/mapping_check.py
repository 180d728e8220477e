"""What is wrong with an index for our field: one judgement for opening, check and backfill."""

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
_ASKED = frozenset({"tokens", "buckets"})
"""Those of our fields that queries look into."""

_FEW_FIELDS_LEFT = 12


@dataclass(frozen=True, slots=True)
class MappingFault:
    """Something that is wrong with an index.

    Attributes:
        problem: what it is and what to do, in one sentence.
        blocks_queries: whether queries fail or miss documents because of it.
        blocks_writes: whether its documents cannot be given fingerprints.
        is_wrong: whether it is more than worth knowing.
        kind: the kind of tokens that cannot be asked for because of it; empty: none.
    """

    problem: str
    blocks_queries: bool = False
    blocks_writes: bool = False
    is_wrong: bool = True
    kind: str = ""


def find_faults(mappings: Mapping[str, Any], settings: Mapping[str, Any], field: str) -> Iterator[MappingFault]:
    """The faults of an index, the worst first; that our field is missing is one for asking only.

    Args:
        mappings: of the index.
        settings: its settings, below `index`; empty if they are not known.
        field: the object field that has, or is to have, the fingerprints.
    """
    yield from _blocks(settings)
    yield from _source(mappings, settings, field)
    there = mappings.get("properties", {}).get(field)
    if mappings.get("subobjects") is False:
        yield MappingFault(
            "the mapping takes no objects (subobjects is false); reindex without that", blocks_writes=True
        )
    elif there is not None and (there.get("type", "object") != "object" or there.get("enabled") is False):
        kind = "a disabled object" if there.get("enabled") is False else there["type"]
        yield MappingFault(f"the field {field} is {kind}; choose another name", blocks_queries=True, blocks_writes=True)
        return
    yield from _field_limit(mappings, settings, field)
    yield from _our_fields(mappings, field)


def _blocks(settings: Mapping[str, Any]) -> Iterator[MappingFault]:
    if is_closed(settings):
        yield MappingFault("it is closed; open it first", blocks_queries=True, blocks_writes=True)
    for name in _BLOCKS:
        if str(settings.get("blocks", {}).get(name)) == "true":
            yield MappingFault(
                block_message(name), blocks_queries=name == "read", blocks_writes=True, is_wrong=name == "read"
            )


def is_closed(settings: Mapping[str, Any]) -> bool:
    """Whether an index is closed, by its settings."""
    return str(settings.get("verified_before_close")) == "true"


def block_message(name: str) -> str:
    """What is said of an index with a block."""
    full = ", which a full disk sets," if name == "read_only_allow_delete" else ""
    return f"it has the block index.blocks.{name}{full} so nothing can be written; remove the block first"


def _source(mappings: Mapping[str, Any], settings: Mapping[str, Any], field: str) -> Iterator[MappingFault]:
    """Whether tokens can be read, and whether a partial update, which writes anew what is there, loses something."""
    source = mappings.get("_source", {})
    mode = source.get("mode") or settings.get("mapping", {}).get("source", {}).get("mode")
    if source.get("enabled") is False or mode == "disabled":
        problem = "_source is disabled, so no hit can be read and nothing updated; reindex into an index that keeps it"
        yield MappingFault(problem, blocks_queries=True, blocks_writes=True)
        return
    if source.get("excludes") or source.get("includes"):
        lost = _is_left_out(source, f"{field}.tokens")
        what = f"{field}.tokens, so no hit can be read" if lost else "fields, which a partial update would destroy"
        problem = f"_source leaves out {what}; reindex into an index that keeps all"
        yield MappingFault(problem, blocks_queries=lost, blocks_writes=True)
    # OpenSearch's derived source takes only fields that it can derive, so an update keeps all that can be read.
    if mode == "synthetic" or settings.get("mode") in {"time_series", "logsdb"}:
        problem = "_source is put together from fields, and an update would not keep it as it is; reindex with _source"
        yield MappingFault(problem, blocks_writes=True)


def _is_left_out(source: Mapping[str, Any], path: str) -> bool:
    """Whether filters of `_source`, which name fields or objects and may have wildcards, leave a field out."""
    above = [path.rsplit(".", number)[0] for number in range(path.count(".") + 1)]

    def is_named(patterns: Any) -> bool:
        return any(fnmatchcase(each, str(pattern)) for pattern in patterns for each in above)

    includes, excludes = source.get("includes") or [], source.get("excludes") or []
    return is_named(excludes) or (bool(includes) and not is_named(includes))


def _field_limit(mappings: Mapping[str, Any], settings: Mapping[str, Any], field: str) -> Iterator[MappingFault]:
    properties = mappings.get("properties", {})
    wanted = _wanted(mappings, field)
    left, limit = fields_left(mappings, settings)
    there = {field: properties[field]} if field in properties else {}
    needed = 0 if "tokens" in fields_of(mappings, field) else count_fields({field: wanted}) - count_fields(there)
    if left < needed or (needed and left < _FEW_FIELDS_LEFT):
        problem = f"{max(left, 0)} of {limit} fields are left; raise index.mapping.total_fields.limit"
        yield MappingFault(problem, blocks_writes=left < needed, is_wrong=left < needed)


def _our_fields(mappings: Mapping[str, Any], field: str) -> Iterator[MappingFault]:
    ours = fields_of(mappings, field)
    if "tokens" not in ours:
        yield MappingFault(f"there is no field {field}.tokens", blocks_queries=True)
    else:
        yield from (
            MappingFault(f"there is no field {field}.{each}; {_REINDEX}", blocks_queries=True)
            for each in _ASKED - ours.keys()
        )
    for name, needs in _wanted(mappings, field)["properties"].items():
        kind = name if name in KINDS else ""
        if kind and name not in ours and "tokens" in ours:
            yield MappingFault(f"there is no field {field}.{name}; {_REINDEX}", kind=kind)
        different = _differences(ours.get(name, needs), needs)
        for key in different:
            problem = f"{field}.{name} has {key} {ours[name].get(key)!r}, not {needs.get(key)!r}; {_REINDEX}"
            is_asked = key != "search_analyzer"
            yield MappingFault(problem, name in _ASKED and is_asked, blocks_writes=True, kind=kind if is_asked else "")
        if name == "tokens" and not different and name in ours:
            yield from _meta(ours[name])
        if name == "tokens" and {"type", "analyzer"} & set(different):
            return  # the engine guessed all of it


def _meta(tokens: Mapping[str, Any]) -> Iterator[MappingFault]:
    try:
        settings_of(tokens.get("meta", {}))
    except FormatMismatchError as error:
        yield MappingFault(str(error), blocks_queries=True, blocks_writes=True)


_REINDEX = "put the mapping of simdoc-search template show, then reindex"


def _wanted(mappings: Mapping[str, Any], field: str) -> dict[str, Any]:
    """Our mapping as it should be, with the kinds of tokens that the index says it has."""
    tokens = fields_of(mappings, field).get("tokens")
    wanted = Settings()
    with suppress(FormatMismatchError):
        if tokens:
            there = settings_of(tokens.get("meta", {}))
            wanted = replace(wanted, **{name: getattr(there, name) for name in KINDS})
    mapping: dict[str, Any] = component_template(wanted, field)["template"]["mappings"]["properties"][field]
    return mapping


def _differences(has: Mapping[str, Any], needs: Mapping[str, Any]) -> list[str]:
    """The settings by which a field is not what we need; only the first if it is another kind of field."""
    if {has.get("type"), needs["type"]} <= WHOLE_NUMBERS:
        return [key for key in ("index",) if has.get(key) != needs.get(key)]
    different = [key for key in _COMPARED if has.get(key) != needs.get(key)]
    return different[:1] if {"type", "analyzer"} & set(different) else different
