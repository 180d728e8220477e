"""Which documents have a text? By a query, where the mapping lets one tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simdoc_search.errors import DocumentError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.queries import at_random
from simdoc_search.stores.remote.texts import text_of

_LOOKED_AT = 100
"""Documents that an engine finds no text in, of which we see whether they have one."""

Query = dict[str, Any]


def with_text(
    engine: Engine, index: str, mappings: Mapping[str, Any], text_fields: Sequence[str], chosen: Sequence[Query] = ()
) -> Query | None:
    """The query of documents that have a text in one of these fields; None: no query of this index tells it.

    An engine finds a value by `exists` where it is indexed as text: an empty string, but not null or an empty list.
    It does not where the field is in a nested or disabled object, is a keyword or is not mapped. Nor does it find the
    text of a document that is older than the mapping of the field, so some documents without a text are looked at.

    Raises:
        StoreError: the engine does not answer.
    """
    if not text_fields or not all(_is_indexed_text(mappings, name) for name in text_fields):
        return None
    there: Query = {
        "bool": {"should": [{"exists": {"field": name}} for name in text_fields], "minimum_should_match": 1}
    }
    without = {"bool": {"filter": [*chosen], "must_not": [there]}}
    hits = engine.search(index, {"query": at_random(without), "size": _LOOKED_AT, "_source": [*text_fields]})["hits"][
        "hits"
    ]
    return None if any(has_text(hit.get("_source") or {}, text_fields) for hit in hits) else there


def _is_indexed_text(mappings: Mapping[str, Any], name: str) -> bool:
    if mappings.get("_field_names", {}).get("enabled") is False:
        return False
    place: Mapping[str, Any] = mappings
    for part in name.split("."):
        place = place.get("properties", {}).get(part, {})
        if place.get("type") == "nested" or place.get("enabled") is False:
            return False
    return place.get("type") == "text" and place.get("index", True) is not False


def has_text(source: Mapping[str, Any], text_fields: str | Sequence[str]) -> bool:
    """Whether a document has a text in these fields, or what is no text and is to be refused."""
    try:
        return text_of(source, text_fields) is not None
    except DocumentError:
        return True
