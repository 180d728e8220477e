"""Which object field of an index do queries ask? Its mapping's `_meta` names it, so that all of them switch at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.mappings import fields_of, mappings_of
from simdoc_search.stores.remote.schema import DEFAULT_FIELD

_KEY = "simdoc_fields"


def field_in_use(mappings: Mapping[str, Mapping[str, Any]], location: str) -> str:
    """The field that queries to all indices with these mappings ask.

    While one index after the other is switched, that is a field which the documents of all of them have. Indices that
    have none yet, as after a rollover, have no say.

    Raises:
        StoreError: they use different fields, and have none of these all together.
    """
    all_fields = {index: _fields(each) for index, each in mappings.items()}
    filled = [each for index, each in all_fields.items() if _has_some(mappings[index], each)]
    of_each = filled or list(all_fields.values()) or [[DEFAULT_FIELD]]
    used = sorted({fields[0] for fields in of_each})
    of_all = [field for field in used if all(field in fields for fields in of_each)]
    if not of_all:
        how = f"run simdoc-search refingerprint {location}"
        raise StoreError(f"the indices of {location} use the fields {', '.join(used)}; {how} for those that lack one")
    return of_all[0]


def use_field(engine: Engine, index: str, field: str, *, alone: bool = False) -> None:
    """Let queries ask this field of a concrete index from now on; what else its `_meta` says stays.

    Args:
        engine: where the index is.
        index: its name.
        field: which all of its documents have.
        alone: whether documents are to have no other one.

    Raises:
        StoreError: there is no such index any more, or the engine refuses.
    """
    mappings = mappings_of(engine, index) or {}
    if index not in mappings:
        raise StoreError(f"the index {index} is gone")
    meta = mappings[index].get("_meta") or {}
    before = _fields(mappings[index])
    fields = [field, *([] if alone else [each for each in before if each != field])]
    if fields != before:
        engine.call("PUT", [index, "_mapping"], {"_meta": {**meta, _KEY: fields}})


def _has_some(mapping: Mapping[str, Any], fields: list[str]) -> bool:
    return any("tokens" in fields_of(mapping, each) for each in fields)


def _fields(mapping: Mapping[str, Any]) -> list[str]:
    """The fields that all documents of an index have; the first one is asked."""
    meta = mapping.get("_meta")
    fields = meta.get(_KEY) if isinstance(meta, Mapping) else None
    return [str(each) for each in fields] if isinstance(fields, list) and fields else [DEFAULT_FIELD]
