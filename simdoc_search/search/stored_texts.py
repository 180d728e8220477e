"""Stored texts beside the one that is asked about: read a page at a time, compared exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import PlacedWords, placed_words
from simdoc_search.cancellation import check_stopped
from simdoc_search.documents import Place
from simdoc_search.passages.exact import Measures, measures
from simdoc_search.search.passages_result import PassageHit
from simdoc_search.search.related_result import RelatedHit
from simdoc_search.search.resolver import Question, Resolver
from simdoc_search.search.similar_ranking import Hit
from simdoc_search.search.versions_result import VersionHit
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Record

TEXTS_AT_ONCE = 16

Item = TypeVar("Item")
AnyHit = TypeVar("AnyHit", Hit, PassageHit, RelatedHit, VersionHit)


@dataclass(frozen=True, slots=True)
class ReadText:
    """A text and its words, found once for all that it is compared with."""

    text: str
    words: PlacedWords

    @classmethod
    def of(cls, text: str, analysis: Analysis) -> ReadText:
        """Find the words."""
        check_stopped()
        return cls(text, placed_words(text, analysis))


def exactly(a: ReadText, b: ReadText, analysis: Analysis) -> Measures:
    """The exact measures of two texts; see `measures`."""
    return measures(a.text, b.text, analysis, words=(a.words, b.words))


def read_records(
    store: Store, places: Sequence[Place], *, text: bool = True, passages: bool = False, sketches: bool = False
) -> dict[Place, Record]:
    """The records at some places, with their texts where the store has them; what is gone is left out."""
    wanted = set(places)
    ids = dict.fromkeys(place.id for place in places)
    found = store.records(ids, text=text, passages=passages, sketches=sketches)
    return {record.place: record for record in found if record.place in wanted}


def asked_record(store: Store, query: Question, filters: Filters | None = None) -> Record:
    """The document that a query means, whole; of those that filters keep.

    Errors as for `Resolver.resolve` and `Resolver.record`.
    """
    resolver = Resolver(store, filters)
    place = query if isinstance(query, Place) else None
    return whole_record(store, resolver.record(resolver.resolve(query).id, place))


def whole_record(store: Store, record: Record) -> Record:
    """The same record with its text, its passage tokens and its sentences, as it is now."""
    return read_records(store, [record.place], passages=True, sketches=True).get(record.place, record)


def with_fields(store: Store, hits: list[AnyHit], fields: Sequence[str]) -> list[AnyHit]:
    """Hits with what they have in some fields, which is read now."""
    if not fields or not hits:
        return hits
    found = store.fields_at([each.place for each in hits], fields)
    return [replace(each, fields=found.get(each.place, {})) for each in hits]


def pages(items: Iterator[Item]) -> Iterator[list[Item]]:
    """As many items as are read at once, and again."""
    while page := list(islice(items, TEXTS_AT_ONCE)):
        check_stopped()
        yield page
