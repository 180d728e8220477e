"""Which documents of an index have a phrase? Its text field says it."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from simdoc_search.documents import Place
from simdoc_search.errors import FormatMismatchError
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.phrases import Phrase, PhraseMatches
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.indices import Indices
from simdoc_search.stores.remote.mappings import mapping_at
from simdoc_search.stores.remote.point_in_time import total_hits
from simdoc_search.stores.remote.queries import Ids, phrase_query

MOST_OF_PHRASE, MOST_OF_FEW = 200, 5_000
"""Documents that are asked for with one phrase at most; and with all of a few phrases together."""

PHRASES_AT_ONCE = 100
"""Searches in one request."""

_SEARCHABLE = frozenset({"text", "match_only_text", "search_as_you_type", "annotated_text"})
_WITH_PLACES = frozenset({"positions", "offsets"})


class PhraseLookups:
    """The part of such a store that finds phrases."""

    location: str
    index: str
    field: str
    own: bool
    _engine: Engine
    _ids: Ids
    _indices: Indices
    _text_fields: list[str] | None

    @abstractmethod
    def _beside(self, filters: Filters | None) -> list[dict[str, Any]]: ...

    @property
    def finds_phrases(self) -> bool:
        """Whether `having_phrases` answers: whether all indices index each of the text fields, with places of words."""
        fields = self._phrase_fields
        return bool(fields) and all(_has_places(each, name) for each in self._indices.asked.values() for name in fields)

    def having_phrases(
        self, phrases: Sequence[Phrase], *, filters: Filters | None = None, exclude: Place | None = None
    ) -> PhraseMatches:
        """The documents that have some of these phrases; see `Store`."""
        fields = self._phrase_fields
        if not self.finds_phrases:
            named = f"field {', '.join(fields)}" if fields else "text field"
            raise FormatMismatchError(f"{self.location} has no {named} in which phrases can be searched")
        size = min(max(MOST_OF_PHRASE, MOST_OF_FEW // max(1, len(phrases))), MOST_OF_FEW)
        beside = [*self._beside(filters), *self._indices.only_asked(self._engine)]
        found: defaultdict[Place, list[int]] = defaultdict(list)
        incomplete = []
        for start in range(0, len(phrases), PHRASES_AT_ONCE):
            some = phrases[start : start + PHRASES_AT_ONCE]
            bodies = [
                {
                    "query": phrase_query(each.text, fields, beside, exclude, self._ids),
                    "size": size,
                    "sort": ["_doc"],
                    "track_total_hits": size + 1,
                    "_source": self._ids.parts or False,
                }
                for each in some
            ]
            for number, answer in enumerate(self._engine.search_many(self.index, bodies), start):
                hits = answer["hits"]["hits"]
                for hit in hits:
                    found[self._ids.place_of(hit)].append(number)
                if total_hits(self._engine, answer) > len(hits):
                    incomplete.append(number)
        return PhraseMatches({place: tuple(numbers) for place, numbers in found.items()}, tuple(incomplete))

    @property
    def _phrase_fields(self) -> Sequence[str]:
        return ["body"] if self._text_fields is None else self._text_fields


def _has_places(mapping: Mapping[str, Any], name: str) -> bool:
    """Whether an index knows where the words of a field stand."""
    there = mapping_at(mapping, name) or {}
    if there.get("type") not in _SEARCHABLE or str(there.get("index", True)).lower() == "false":
        return False
    return there.get("index_options", "positions") in _WITH_PLACES or there["type"] == "match_only_text"
