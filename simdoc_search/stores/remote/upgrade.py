"""Adds sentences or concepts to an index that `simdoc-search index` made in an engine, from the texts in it.

First the mapping gets what it lacks, then each document that lacks the new tokens is written again. If that is
interrupted, the next run goes on with the documents that still lack them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from simdoc_search.errors import StoreError
from simdoc_search.sketch.kinds import names_of_kinds
from simdoc_search.sketch.limits import Limits
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.record import Record
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.mappings import add_fields, fields_of
from simdoc_search.stores.remote.schema import component_template, limits_mapping
from simdoc_search.stores.remote.store import RemoteStore
from simdoc_search.stores.sketching import lacking

AT_ONCE = 64

Sketch = Callable[[Sequence[Record]], list[Record]]


def upgrade_index(store: RemoteStore, wanted: Settings, sketch: Sketch, progress: Callable[[int], None]) -> None:
    """Give an index other settings.

    Args:
        store: the index.
        wanted: its settings, with further kinds of tokens.
        sketch: makes the tokens of records that have their texts.
        progress: called with numbers of documents that are done.

    Raises:
        StoreError: the index belongs to an application, or cannot be written.
    """
    if not store.own:
        raise StoreError(
            f"{store.location} belongs to an application; give its documents tokens with simdoc-search backfill --with"
        )
    upgraded = _with_fields(store, wanted)
    records = (each for each in upgraded.scan(sketches=True) if len(each.codes) and lacking(wanted, each))
    with upgraded.writer() as writer:
        while page := list(islice(records, AT_ONCE)):
            whole = upgraded.records([each.id for each in page], text=True, passages=True)
            writer.put(sketch(list(whole)))
            progress(len(page))


def _with_fields(store: RemoteStore, wanted: Settings) -> RemoteStore:
    """The same index, after its mapping got what it lacks."""
    ours = component_template(wanted, store.field)["template"]["mappings"]["properties"][store.field]["properties"]
    missing = {name: ours[name] for name in ("tokens", *names_of_kinds(wanted))}
    if fault := add_fields(store.engine, store.index, store.field, missing):
        raise StoreError(f"{store.location} cannot be upgraded: {fault}")
    how: dict[str, Any] = {"create": False, "store_texts": None, "key": store.settings.minhash.key}
    return RemoteStore.in_index(store.engine, store.index, None, field=store.field, **how)


def write_limits(engine: Engine, mappings: Mapping[str, Mapping[str, Any]], field: str, limits: Limits) -> None:
    """Note limits in each of some indices.

    Raises:
        StoreError: the engine does not take the note.
    """
    for index, mapping in mappings.items():
        if fault := add_fields(engine, index, field, limits_mapping(fields_of(mapping, field), limits)):
            raise StoreError(f"{engine.name}/{index} cannot store the limits: {fault}")
