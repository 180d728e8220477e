"""Which stored ids look like one that is not stored."""

from __future__ import annotations

from collections.abc import Iterator

from tantivy import Query, Schema, Searcher

from simdoc_search.documents import MAX_ID_BYTES, spellings
from simdoc_search.stores.fields import indexable, most_alike, names_of
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.local.queries import kept

LOOKED_AT = 20
"""Ids that each query gives to the ranking."""


def suggestions(searcher: Searcher, schema: Schema, id: str, filters: Filters | None = None) -> list[str]:
    """Up to three stored ids that look like this one, best first, of those that filters keep.

    Ids with a name at most two edits away, or with the same beginning, are ranked by their likeness.
    """
    if len(id) > MAX_ID_BYTES:
        return []  # no stored id is that long
    found: set[str] = set()
    for query in _queries(schema, [indexable(each) for each in spellings(id)]):
        hits = searcher.search(kept(schema, query, filters), limit=LOOKED_AT, count=False).hits
        found.update(str(searcher.doc(address).get_first("id")) for _, address in hits)
    return most_alike(id, found)


def _queries(schema: Schema, ids: list[str]) -> Iterator[Query]:
    others = dict.fromkeys(name for id in ids for name in names_of(id))
    names = [*(("id", id) for id in ids), *(("names", each) for each in others)]
    for distance in (1, 2):
        for field, name in names:
            yield Query.fuzzy_term_query(schema, field, name, distance)
    for field, name in names:
        yield Query.fuzzy_term_query(schema, field, name[: len(name) * 2 // 3], distance=0, prefix=True)
