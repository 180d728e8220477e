"""Changes the recorded settings of an index: adds kinds of tokens, and records limits.

To add kinds of tokens, the mapping is extended first. Then each document without the new tokens is written again. If an
upgrade is interrupted, the next run continues with the remaining documents.
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
from simdoc_search.stores.remote.schema import field_mappings, limits_mapping
from simdoc_search.stores.remote.store import RemoteStore
from simdoc_search.stores.sketching import missing_kinds

_AT_ONCE = 64

Sketch = Callable[[Sequence[Record]], list[Record]]


def upgrade_index(store: RemoteStore, wanted: Settings, sketch: Sketch, progress: Callable[[int], None]) -> None:
    """Add kinds of tokens to our own index.

    Args:
        store: the index.
        wanted: its settings with the new kinds.
        sketch: returns records, which have texts, with the new tokens.
        progress: called with the number of documents finished since the last call.

    Raises:
        StoreError: the index belongs to an application, or cannot be written to.
    """
    if not store.own:
        raise StoreError(
            f"{store.location} belongs to an application; add the tokens with simdoc-search backfill --with"
        )
    ours = field_mappings(wanted, store.field)
    missing = {name: ours[name] for name in ("tokens", *names_of_kinds(wanted))}
    if fault := add_fields(store.engine, store.index, store.field, missing):
        raise StoreError(f"{store.location} cannot be upgraded: {fault}")
    options: dict[str, Any] = {"create": False, "store_texts": None, "key": store.settings.minhash.key}
    upgraded = RemoteStore.in_index(store.engine, store.index, None, field=store.field, **options)
    records = (record for record in upgraded.scan(sketches=True) if len(record.codes) and missing_kinds(wanted, record))
    with upgraded.writer() as writer:
        while page := list(islice(records, _AT_ONCE)):
            complete = upgraded.records([record.id for record in page], text=True, passages=True)
            writer.put(sketch(list(complete)))
            progress(len(page))


def write_limits(engine: Engine, mappings: Mapping[str, Mapping[str, Any]], field: str, limits: Limits) -> None:
    """Record limits in each index. Raises StoreError if the engine refuses."""
    for index, mapping in mappings.items():
        if fault := add_fields(engine, index, field, limits_mapping(fields_of(mapping, field), limits)):
            raise StoreError(f"{engine.name}/{index} cannot store the limits: {fault}")
