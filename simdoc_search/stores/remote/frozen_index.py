"""All documents of an index as they are at one moment: to be read, and to be asked about each of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from copy import copy
from typing import Any, TypeVar

from simdoc_search.cancellation import Stop
from simdoc_search.query.dsl import MAX_CLAUSES, clause_count, to_dsl
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.point_in_time import Found, Question
from simdoc_search.stores.record import Record
from simdoc_search.stores.remote.bulk import uuids_of
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError, TooLargeError
from simdoc_search.stores.remote.indices import Indices
from simdoc_search.stores.remote.mappings import mapping_at
from simdoc_search.stores.remote.point_in_time import PointInTime, all_hits, all_hits_at, open_point_in_time, total_hits
from simdoc_search.stores.remote.queries import of_root

Self = TypeVar("Self", bound="Scans")

_COUNT_ALL = 2**31 - 1
_Clauses = list[dict[str, Any]]


class Scans:
    """The part of such a store that reads all of it."""

    location: str
    index: str
    field: str
    own: bool
    _engine: Engine
    _working: Engine
    _indices: Indices

    @property
    @abstractmethod
    def _max_clauses(self) -> int: ...

    @abstractmethod
    def _parts(self, *, text: bool = False, passages: bool = False, sketches: bool = False) -> dict[str, Any]: ...

    @abstractmethod
    def _beside(self, filters: Filters | None) -> _Clauses: ...

    @abstractmethod
    def _record(self, hit: Mapping[str, Any]) -> Record: ...

    def until(self: Self, stop: Stop) -> Self:
        """The same store for one who may stop waiting for it; see `Store`."""
        other = copy(self)
        other._engine = self._engine.until(stop)
        other._working = other._engine.in_background()
        return other

    def scan(
        self,
        *,
        text: bool = False,
        passages: bool = False,
        sketches: bool = False,
        root: str | None = None,
        below: bool = False,
        filters: Filters | None = None,
    ) -> Iterator[Record]:
        """All records, or those with this root, or with one below it, as they are when the iteration begins."""
        query = {"bool": {"filter": [of_root(root, below, field=self.field), *self._beside(filters)]}}
        body = {
            "query": query,
            "sort": ["_doc"],
            "_source": self._parts(text=text, passages=passages, sketches=sketches),
        }
        for hit in all_hits(self._working, self.index, body):
            yield self._record(hit)

    @contextmanager
    def frozen(self, *, filters: Filters | None = None) -> Iterator[FrozenIndex]:
        """The index as it is now; see `Freezable`. Where an engine keeps no moment, it is asked as it is then."""
        beside = self._beside(filters)
        asked = [*beside, *self._indices.only_asked(self._engine)]
        body = {"query": {"bool": {"filter": beside}}, "sort": ["_doc"], "_source": self._parts()}
        with closing(open_point_in_time(self._working, self.index, body)) as moment:
            yield FrozenIndex(self, moment, asked, self._identity())

    def _identity(self) -> str:
        """The unique ids of the indices; where we may not know them, the name."""
        try:
            return " ".join(sorted(uuids_of(self._working, self.index).values()))
        except RequestError as error:
            if error.status != 403:
                raise
            return self.location


class FrozenIndex:
    """What `Scans.frozen` gives.

    Attributes:
        identity: the unique ids of its indices.
    """

    def __init__(self, store: Scans, moment: PointInTime, beside: _Clauses, identity: str) -> None:
        self.identity = identity
        self._store = store
        self._moment = moment
        self._beside = beside
        self._sized, self._hashed = self._has("shingles", "integer"), self._has("words_hash", "keyword")

    def records(self) -> Iterator[Record]:
        """All of them; see `Frozen`."""
        self._moment.rewind()
        return map(self._store._record, all_hits_at(self._moment))

    def ask(self, questions: Sequence[Question], *, size: int, once: bool) -> list[Found]:
        """The documents that each question finds; see `Frozen`."""
        bodies = [self._search(each, size, once and self._hashed) for each in questions]
        try:
            answers = self._moment.ask(bodies)
        except TooLargeError:
            if len(questions) < 2:
                raise
            half = len(questions) // 2
            return [
                *self.ask(questions[:half], size=size, once=once),
                *self.ask(questions[half:], size=size, once=once),
            ]
        return [self._found(each, size) for each in answers]

    def _found(self, answer: Mapping[str, Any], size: int) -> Found:
        hits = answer["hits"]["hits"]
        total = total_hits(self._store._working, answer)
        return Found([self._store._record(hit) for hit in hits], total - len(hits) if len(hits) >= size else 0)

    def _search(self, question: Question, size: int, once: bool) -> dict[str, Any]:
        """A search that scores nothing: what it finds is compared by us."""
        field, beside = self._store.field, [*self._beside]
        if question.sizes and self._sized:
            least, most = question.sizes
            beside.append({"range": {f"{field}.shingles": {"gte": least, "lte": most}}})
        many = question.plan.clauses + clause_count(beside) > MAX_CLAUSES
        query = to_dsl(
            question.plan,
            f"{field}.tokens",
            buckets_field=f"{field}.buckets",
            filters=beside,
            score="nothing",
            max_clauses=self._store._max_clauses if many else MAX_CLAUSES,
        )
        return {
            "query": {"bool": {"filter": [query]}},
            "size": size,
            "track_total_hits": _COUNT_ALL,
            "sort": [{f"{field}.shingles": "desc"}] if self._sized else ["_doc"],
            "_source": self._store._parts(),
            **({"collapse": {"field": f"{field}.words_hash"}} if once else {}),
        }

    def _has(self, name: str, kind: str) -> bool:
        """Whether each index knows a part of our field, as our template says."""
        places = (mapping_at(each, f"{self._store.field}.{name}") for each in self._store._indices.mappings.values())
        return all((each or {}).get("type") == kind and (each or {}).get("doc_values", True) for each in places)
