"""Which indices stand behind a name, and what do their mappings say of our field?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simdoc_search.attach.backfill.task import SkippedIndex
from simdoc_search.attach.backfill.text_fields import noted_by_others
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.mapping_check import block_message
from simdoc_search.stores.remote.schema import only_fingerprint_field
from simdoc_search.stores.remote.texts import require_text_fields


def field_behind(engine: Engine, name: str) -> str:
    """The field that queries to the indices behind a name ask, as far as these may be looked at.

    Raises:
        StoreNotFoundError: there is none.
        StoreError: they use different fields; or the engine does not tell.
    """
    found, _ = indices_behind(engine, name)
    return only_fingerprint_field({index: each["mappings"] for index, each in found.items()}, f"{engine.name}/{name}")


def text_fields_behind(engine: Engine, name: str, field: str) -> tuple[str, ...]:
    """Where the texts are, as an earlier backfill noted it in the indices behind a name, or beside them.

    Raises:
        StoreError: none is noted, or not the same of all; or the engine does not tell.
    """
    found, _ = indices_behind(engine, name)
    if noted := noted_by_others(engine, found, field):
        return tuple(noted)
    return require_text_fields((each["mappings"] for each in found.values()), field, f"{engine.name}/{name}")


def indices_behind(engine: Engine, name: str) -> tuple[dict[str, Any], list[SkippedIndex]]:
    """What the engine says of each index behind a name, closed ones too, and those of which it may say nothing."""
    try:
        return dict(engine.call("GET", [name], expand_wildcards="open,closed")), []
    except RequestError as error:
        if error.kind != "cluster_block_exception":
            raise
    found: dict[str, Any] = {}
    skipped = []
    for index in _names(engine.call("GET", ["_resolve", "index", name], expand_wildcards="open,closed")):
        try:
            found |= engine.call("GET", [index])
        except RequestError as error:
            if error.kind != "cluster_block_exception":
                raise
            skipped.append(SkippedIndex(index, block_message("metadata")))
    return found, skipped


def _names(resolved: Mapping[str, Any]) -> list[str]:
    """The concrete indices in an answer of `_resolve/index`."""
    names = [each["name"] for each in resolved.get("indices", ())]
    for kind, key in (("aliases", "indices"), ("data_streams", "backing_indices")):
        for each in resolved.get(kind, ()):
            names += [each[key]] if isinstance(each[key], str) else each[key]
    return sorted(set(names))
