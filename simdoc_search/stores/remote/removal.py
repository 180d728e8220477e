"""Documents leave an index only as they were seen: who changed one meanwhile keeps it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping
from typing import Any

from simdoc_search.documents import Place
from simdoc_search.stores.record import Record
from simdoc_search.stores.remote.bulk import Action, Delivery
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.lookups import find_by_id
from simdoc_search.stores.remote.point_in_time import RawHit
from simdoc_search.stores.remote.queries import Ids
from simdoc_search.stores.remote.updates import CONFLICT
from simdoc_search.stores.removal import KEPT_GONE, NOT_THERE, TEXT_CHANGED, Removal

_AT_ONCE = 100  # whole documents are in memory meanwhile, so that they could be written again


class Removing:
    """The part of such a store that removes documents at their places."""

    index: str
    field: str
    _working: Engine
    _ids: Ids

    @abstractmethod
    def _record(self, hit: Mapping[str, Any]) -> Record: ...

    def remove(self, wanted: Mapping[Place, Removal]) -> dict[Place, str]:
        """Remove documents under conditions; place to reason, of those that were not removed.

        An index has no locks, and two runs may each want to remove the document that the other one keeps. So the kept
        document is looked for once the removal is visible to searches. If it is gone, the removed one is written again:
        of two such runs, at least one sees what the other did.
        """
        left: dict[Place, str] = {}
        places = list(wanted)
        for start in range(0, len(places), _AT_ONCE):
            some = {each: wanted[each] for each in places[start : start + _AT_ONCE]}
            removed = self._remove(some, left)
            self._working.refresh(self.index, allow=(403,))
            kept = {some[each].kept for each in removed} - {None}
            there = self._hits({each[0] for each in kept if each}, parts=[f"{self.field}.text_hash"])
            gone = kept - {(place, self._record(hit).text_hash) for place, hit in there.items()}
            if lost := {place: hit for place, hit in removed.items() if some[place].kept in gone}:
                self._write_again(lost, left)
        return left

    def _remove(self, some: Mapping[Place, Removal], left: dict[Place, str]) -> dict[Place, RawHit]:
        """Remove documents with the text that they should have; what they were."""
        hits = self._hits(some, parts={})
        actions: dict[int, Place] = {}
        sent: list[Action] = []
        for place, each in some.items():
            if place not in hits:
                left[place] = NOT_THERE
            elif self._record(hits[place]).text_hash != each.text_hash:
                left[place] = TEXT_CHANGED
            else:
                sent.append(_deletion(hits[place]))
                actions[id(sent[-1])] = place
        removed = {}
        for action, outcome in Delivery(self._working, self.index).deliver(sent):
            place = actions[id(action)]
            if outcome.error:
                left[place] = TEXT_CHANGED if outcome.status == CONFLICT else outcome.reason
            else:
                removed[place] = hits[place]
        return removed

    def _write_again(self, lost: Mapping[Place, RawHit], left: dict[Place, str]) -> None:
        """Undo removals."""
        creations = {place: _creation(hit) for place, hit in lost.items()}
        place_of = {id(action): place for place, action in creations.items()}
        for action, outcome in Delivery(self._working, self.index).deliver(creations.values()):
            exists = outcome.status == CONFLICT  # the application wrote it anew
            failure = f"; it is removed and could not be written again: {outcome.reason}" if outcome.error else ""
            left[place_of[id(action)]] = KEPT_GONE + failure * (not exists)
        self._working.refresh(self.index, allow=(403,))

    def _hits(self, places: Collection[Place], *, parts: dict[str, Any] | list[str]) -> dict[Place, RawHit]:
        """The documents at some places, of those that are there."""
        if isinstance(parts, list):
            parts = [*parts, *self._ids.parts]
        ids = dict.fromkeys(each.id for each in places)
        found = find_by_id(self._working, self.index, self._ids, ids, parts=parts, at_once=_AT_ONCE)
        return {place: hit for hit in found if (place := self._record(hit).place) in places}


def _deletion(hit: Mapping[str, Any]) -> Action:
    routing = {"routing": hit["_routing"]} if "_routing" in hit else {}
    guard = {"if_seq_no": hit["_seq_no"], "if_primary_term": hit["_primary_term"]}
    return Action.make("delete", hit["_id"], _index=hit["_index"], **guard, **routing)


def _creation(hit: Mapping[str, Any]) -> Action:
    routing = {"routing": hit["_routing"]} if "_routing" in hit else {}
    return Action.make("create", hit["_id"], hit["_source"], _index=hit["_index"], pipeline="_none", **routing)
