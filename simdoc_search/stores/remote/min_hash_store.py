"""A store whose fingerprints are made by the engine's own `min_hash` filter, in a field beside the text.

The terms are in the inverted index alone. They equal ours, which is checked when the store is opened, so those of a
document are computed from its text. The engine finds and counts, and what is found is compared by the texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeVar

import numpy as np

from simdoc_search.cancellation import Stop
from simdoc_search.documents import Place, is_in_several
from simdoc_search.errors import DocumentError, FormatMismatchError, LocationError, StoreError
from simdoc_search.query.dsl import MAX_CLAUSES, can_count_tokens, clause_count, to_dsl
from simdoc_search.query.plans import Plan, Threshold
from simdoc_search.sketch.fingerprint import fingerprint
from simdoc_search.stores.base import StoreInfo
from simdoc_search.stores.excluded_indices import LeftOutIndex
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Record
from simdoc_search.stores.remote.candidates import FIRST_PAGE
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.lookups import Lookups, find_by_id
from simdoc_search.stores.remote.mapping_check import is_closed
from simdoc_search.stores.remote.mappings import mappings_of
from simdoc_search.stores.remote.marks import Markable
from simdoc_search.stores.remote.min_hash import (
    TermSettings,
    check_terms,
    is_text,
    min_hash_analyzer,
    settings_of_index,
    text_field_of,
)
from simdoc_search.stores.remote.min_hash_candidates import TEXTS_AT_ONCE, TermCandidates
from simdoc_search.stores.remote.queries import Ids
from simdoc_search.stores.remote.texts import check_text_fields, source_paths, text_field_names, text_of
from simdoc_search.stores.remote.watches import WATCHES, Watchable

Self = TypeVar("Self", bound="MinHashStore")


@dataclass(frozen=True, slots=True)
class _Indices:
    """The indices behind the name of a store, as they were when it was opened.

    Attributes:
        name: of the store: an index, an alias, a data stream, or a pattern.
        field: the field of the terms.
        mappings: of those that have it.
        lacking: the names of those that do not have it.
        closed: the names of those that are closed.
    """

    name: str
    field: str
    mappings: Mapping[str, Mapping[str, Any]]
    lacking: Sequence[str]
    closed: Sequence[str]

    def left_out(self, engine: Engine) -> tuple[LeftOutIndex, ...]:
        """Those whose documents no answer finds."""
        counts = {each: engine.count(self.name, {"term": {"_index": each}}) for each in self.lacking}
        lacking = [
            LeftOutIndex(each, count, f"it has no field {self.field} that a min_hash filter fills; index it again")
            for each, count in counts.items()
        ]
        closed = [LeftOutIndex(each, None, f"it is closed; open it with POST /{each}/_open") for each in self.closed]
        return (*lacking, *closed)


class MinHashStore(Lookups, Markable, Watchable):
    """The documents of an application's index whose engine fills a field with its `min_hash` filter.

    It answers what asks with a fingerprint: `similar` and `versions`, of a stored document, a file or a text. What asks
    with other tokens, or reads all documents, ends in a sentence.

    Attributes:
        location: the address of the engine and the name of the index, without secrets.
        index: the name of the index or alias.
        field: the path of the field that has the terms.
        settings: how the engine makes them.
        own: False, as the application writes its documents.
        store_texts: True, as the terms are computed from them.
    """

    def __init__(
        self, engine: Engine, indices: _Indices, settings: TermSettings, ids: Ids, text_fields: Sequence[str]
    ) -> None:
        self.location: str = f"{engine.name}/{indices.name}"
        self.index: str = indices.name
        self.field: str = indices.field
        self.settings = settings
        self.own = False
        self.store_texts = True
        self.finds_phrases = False
        self._engine = engine.without_closed_indices()
        self._indices: Any = indices
        self._ids = ids
        self._text_fields = text_fields

    @classmethod
    def at(
        cls,
        engine: Engine,
        index: str,
        field: str,
        *,
        id_field: str | None = None,
        text_field: str | Sequence[str] | None = None,
    ) -> MinHashStore | None:
        """The store of an index; None if no index behind the name has such a field.

        Raises:
            StoreError: the engine ignores an option, or its terms are not ours for another reason; or it does not show
                the options.
            FormatMismatchError: the indices behind the name have different options.
            LocationError: no text can be read from `text_field`, or no ids from `id_field`.
        """
        mappings = mappings_of(engine, index) or {}
        if not any(is_text(each, field) for each in mappings.values()):
            return None
        found = engine.call("GET", [index, "_settings"], expand_wildcards="open,closed", allow=(403,))
        if found is None:
            raise StoreError(
                f"{engine.name} does not show the settings of {index}, which say how the field {field} is filled; "
                "allow indices:monitor/settings/get"
            )
        settings = {name: each["settings"].get("index", {}) for name, each in found.items()}
        closed = [name for name, each in settings.items() if is_closed(each)]
        known = {name: each for name, each in mappings.items() if name not in closed}
        analyzers = {name: min_hash_analyzer(each, settings.get(name, {}), field) for name, each in known.items()}
        having = {name: settings_of_index(settings[name], analyzer) for name, analyzer in analyzers.items() if analyzer}
        if not having:
            return None
        location = f"{engine.name}/{index}"
        first, made = min(having.items())
        if other := next((name for name, each in sorted(having.items()) if each != made), None):
            raise FormatMismatchError(
                f"the field {field} has other options in the index {other} of {location} than in {first}; "
                "name one of them",
                found=having[other].to_dict(),
                expected=made.to_dict(),
            )
        if made.options.hash_count > 1:
            raise StoreError(
                f"the field {field} of {location} has hash_count {made.options.hash_count}, whose functions draw the "
                "same shingles again, so that equal terms do not say how much texts overlap; index with hash_count 1 "
                "and more buckets"
            )
        for name in having:
            check_terms(engine, name, field, made)
        texts = text_field_names(text_field or text_field_of(known[first], field))
        check_text_fields(texts, known, field, own=False)
        if field.rpartition(".")[0] == text_field_of(known[first], field) not in texts:
            raise LocationError(f"{field} is made of the field {field.rpartition('.')[0]}; leave out --text-field")
        lacking = sorted(known.keys() - having.keys())
        indices = _Indices(index, field, {name: known[name] for name in having}, lacking, sorted(closed))
        return cls(engine, indices, made, Ids.by(id_field, known.values()), texts)

    def get(self, id: str, *, text: bool = False, passages: bool = False, sketches: bool = False) -> Record | None:
        """The record of a document, or None. Raises StoreError if several documents have this id."""
        found = list(self.records([id], text=text, passages=passages, sketches=sketches))
        if len(found) > 1:
            raise StoreError(is_in_several(each.place for each in found))
        return found[0] if found else None

    def records(
        self,
        ids: Iterable[str],
        *,
        text: bool = False,
        passages: bool = False,
        sketches: bool = False,
        filters: Filters | None = None,
    ) -> Iterator[Record]:
        """The records of the documents with these ids that filters keep, with their texts, of which they are made."""
        del text, passages, sketches
        parts, beside = [*self._text_fields, *self._ids.parts], self._beside(filters)
        how: dict[str, Any] = {"parts": parts, "at_once": TEXTS_AT_ONCE, "beside": beside}
        return map(self._record, find_by_id(self._engine, self.index, self._ids, ids, **how))

    def candidates(
        self, plan: Plan, *, filters: Filters | None = None, exclude: Place | None = None, fields: Sequence[str] = ()
    ) -> TermCandidates:
        """The documents that a plan finds, without the one at the place `exclude`, with these fields of theirs."""
        return self.candidates_of_many([(plan, exclude)], filters=filters, fields=fields)[0]

    def candidates_of_many(
        self, plans: Sequence[tuple[Plan, Place | None]], *, filters: Filters | None = None, fields: Sequence[str] = ()
    ) -> list[TermCandidates]:
        """The same for many plans, each with the place to leave out."""
        beside = self._beside(filters)
        asked = [self._search_for(plan, beside, exclude, fields) for plan, exclude in plans]
        several = self._engine.search_many(self.index, asked) if len(asked) > 1 else None
        answers = several or [self._engine.search(self.index, each) for each in asked]
        how: dict[str, Any] = {"records": self.records, "ids": self._ids, "fields": fields}
        return [
            TermCandidates(self.engine, self.index, plan, body, answer, **how)
            for (plan, _), body, answer in zip(plans, asked, answers, strict=True)
        ]

    def clause(self, plan: Plan, exclude: Place | None = None) -> dict[str, Any]:
        """What finds the documents of a plan in a request of an application's own, without the one at a place."""
        without = [] if exclude is None else [self._ids.at(exclude)]
        return to_dsl(plan, self.field, kind="terms", without=without)

    def info(self) -> StoreInfo:
        """Number of documents, size, settings."""
        documents = self._engine.count(self.index)
        stats = self._engine.call("GET", [self.index, "_stats", "store"], allow=(403,)) or {}
        size = stats.get("_all", {}).get("primaries", {}).get("store", {}).get("size_in_bytes")
        return StoreInfo(self.location, documents, size, None, self.settings, text_compressed=False)

    def until(self: Self, stop: Stop) -> Self:
        """The same store for one who may stop waiting for it; see `Store`."""
        other = copy(self)
        other._engine = self._engine.until(stop)
        return other

    def close(self) -> None:
        """Close the connections; what waits for the engine ends."""
        self._engine.close()

    def _unsupported(self, *_: Any, **__: Any) -> NoReturn:
        """What such a field does not answer.

        Raises:
            FormatMismatchError: always; the message says what does.
        """
        raise FormatMismatchError(
            f"{self.location} has only what the engine's min_hash filter makes of {self.field}, which answers similar "
            "without --measure, versions, compare, show and explain; for all else run simdoc-search backfill URL "
            f"--text-field {self._text_fields[0]}, and leave out --field"
        )

    writer: Final = _unsupported
    remove: Final = _unsupported
    digests: Final = _unsupported
    sharing: Final = _unsupported
    having_phrases: Final = _unsupported
    frequencies: Final = _unsupported
    scan: Final = _unsupported
    count: Final = _unsupported

    def marks(self) -> NoReturn:
        """It has none; see `_unsupported`."""
        self._unsupported()

    def watches(self, name: str = WATCHES) -> NoReturn:
        """It has none; see `_unsupported`."""
        self._unsupported(name)

    def _search_for(
        self, plan: Plan, beside: Sequence[dict[str, Any]], exclude: Place | None, fields: Sequence[str]
    ) -> dict[str, Any]:
        """The search for the first page of candidates: scored by equal terms where the engine's limit allows it."""
        without = [] if exclude is None else [self._ids.at(exclude)]
        taken = clause_count([*beside, *without])
        limit = self._engine.max_clauses() if plan.clauses + len(plan.tokens) + taken > MAX_CLAUSES else MAX_CLAUSES
        scored = isinstance(plan, Threshold) or can_count_tokens(plan, taken, limit)
        score: Any = "tokens" if scored else "nothing"
        how: dict[str, Any] = {"filters": beside, "without": without, "score": score, "max_clauses": limit}
        return {
            "query": to_dsl(plan, self.field, kind="terms", **how),
            "size": FIRST_PAGE,
            "track_total_hits": True,
            "track_scores": scored,
            "sort": ["_score"] if scored else ["_doc"],
            "_source": [*self._ids.parts, *source_paths(fields, own=False)] or False,
        }

    def _record(self, hit: Mapping[str, Any]) -> Record:
        place, names = self._ids.place_of(hit), ", ".join(self._text_fields)
        nothing = np.zeros(0, np.uint32)
        where: dict[str, Any] = {"index": place.index, "routing": place.routing}
        try:
            text = text_of(hit.get("_source") or {}, self._text_fields)
        except DocumentError as error:
            return Record(place.id, nothing, 0, "", fault=f"has no text that can be read ({error})", **where)
        if text is None:
            return Record(place.id, nothing, 0, "", fault=f"has no text in {names}", **where)
        made = fingerprint(text, self.settings.analysis, self.settings.minhash)
        codes, terms = self.settings.codes_and_terms(made)
        size = self.settings.analysis.shingle_size
        fault = "" if len(codes) else f"has fewer than {size} words in {names}"
        return Record(place.id, codes, made.shingles, "", text=text, fault=fault, terms=terms, **where)
