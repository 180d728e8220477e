"""The limits of an index, see `sketch.limits`: a note in the `meta` of our field `words_hash`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from simdoc_search.errors import StoreError
from simdoc_search.sketch.limits import Limits
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.mappings import add_fields, fields_of

_PLACE, _NOTE = "words_hash", "simdoc_limits"


def with_limits(ours: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    """The mapping of the field that has the note, with a note of these limits, among the fields below ours."""
    place = ours.get(_PLACE, {"type": "keyword"})
    return {_PLACE: {**place, "meta": {**place.get("meta", {}), _NOTE: limits.to_text()}}}


def noted_limits(mappings: Iterable[Mapping[str, Any]], field: str) -> Limits:
    """The limits that the indices behind a name note; the defaults where none does, or where they differ."""
    found = set()
    for each in mappings:
        note = fields_of(each, field).get(_PLACE, {}).get("meta", {}).get(_NOTE)
        with suppress(ValueError):
            found |= {Limits.from_text(note)} if note else set()
    return found.pop() if len(found) == 1 else Limits()


def write_limits(engine: Engine, mappings: Mapping[str, Mapping[str, Any]], field: str, limits: Limits) -> None:
    """Note limits in each of some indices.

    Raises:
        StoreError: the engine does not take the note.
    """
    for index, mapping in mappings.items():
        if fault := add_fields(engine, index, field, with_limits(fields_of(mapping, field), limits)):
            raise StoreError(f"{engine.name}/{index} cannot store the limits: {fault}")
