"""Documents leave an index only as they were seen: who changed one meanwhile keeps it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from simdoc_search.documents import Place
from simdoc_search.stores.record import Record
from simdoc_search.stores.remote.bulk import Action, Delivery
from simdoc_search.stores.remote.by_id import found_by_id
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.queries import Ids
from simdoc_search.stores.remote.updates import LATE
from simdoc_search.stores.removing import NOT_THERE, TEXT_CHANGED

__all__ = ["Removing"]

_AT_ONCE = 500


class Removing:
    """The part of such a store that removes documents at their places."""

    index: str
    field: str
    _working: Engine
    _ids: Ids

    @abstractmethod
    def _record(self, hit: Mapping[str, Any]) -> Record: ...

    def remove(self, wanted: Mapping[Place, str]) -> dict[Place, str]:
        """Remove documents, each if its `text_hash` still is this; place to reason, of those that were not removed."""
        left = dict.fromkeys(wanted, NOT_THERE)
        sent: list[tuple[Place, Action]] = []
        ids, parts = dict.fromkeys(each.id for each in wanted), [f"{self.field}.text_hash", *self._ids.parts]
        for hit in found_by_id(self._working, self.index, self._ids, ids, parts=parts, at_once=_AT_ONCE):
            record = self._record(hit)
            if wanted.get(record.place) == record.text_hash:
                sent.append((record.place, _deletion(hit)))
            elif record.place in wanted:
                left[record.place] = TEXT_CHANGED
        place_of = {id(action): place for place, action in sent}
        for action, outcome in Delivery(self._working, self.index).deliver([action for _, action in sent]):
            if outcome.error:
                left[place_of[id(action)]] = TEXT_CHANGED if outcome.status == LATE else outcome.reason
            else:
                del left[place_of[id(action)]]
        self._working.refresh(self.index, allow=(403,))
        return left


def _deletion(hit: Mapping[str, Any]) -> Action:
    routing = {"routing": hit["_routing"]} if "_routing" in hit else {}
    guard = {"if_seq_no": hit["_seq_no"], "if_primary_term": hit["_primary_term"]}
    return Action.make("delete", hit["_id"], _index=hit["_index"], **guard, **routing)
