"""The one way to write to an engine: actions in requests that it takes, sent again while it is busy or away.

That the index is there is part of a write: engines make one that is missing, without our mapping, and one that took its
name would get documents of another. So every request is sent, and what it did is believed, only while the index is the
one that was opened.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from simdoc_search.errors import StoreError, StoreNotFoundError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import CLOSED, RequestError, block_in, is_no_engine
from simdoc_search.stores.remote.retry import RETRYABLE

CHUNK_BYTES = 4_000_000
"""How long a request is, unless one action alone is longer."""

_PLACE_BYTES = 150  # of a first line, about, beside the id

_TOO_LARGE = 413
_NO_INDEX = "index_not_found_exception"


class IndexGoneError(StoreNotFoundError):
    """The index that was opened is there no more.

    Attributes:
        how: what became of it, such as "was removed meanwhile".
    """

    def __init__(self, index: str, how: str) -> None:
        super().__init__(f"the index {index} {how}; run it again to write it anew")
        self.how = how
        self._index = index

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._index, self.how)


@dataclass(frozen=True, slots=True)
class Action:
    """One write.

    Attributes:
        kind: `index`, `delete` or `update`.
        place: where it goes, and on which condition: what its first line says.
        document: what is written, as a line of JSON; empty for a deletion.
    """

    kind: str
    place: Mapping[str, Any]
    document: bytes = b""

    @classmethod
    def make(cls, kind: str, id: str, document: Mapping[str, Any] | None = None, **place: Any) -> Action:
        """An action for the document `id`; `place` has `_index`, and what else stands in the first line."""
        line = "" if document is None else json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"
        return cls(kind, {"_id": id, **place}, line.encode())

    @property
    def id(self) -> str:
        """The document's id."""
        return str(self.place["_id"])

    @property
    def size(self) -> int:
        """About how many bytes are sent."""
        return len(self.document) + len(self.id) + _PLACE_BYTES

    @property
    def lines(self) -> bytes:
        """What is sent."""
        return json.dumps({self.kind: self.place}).encode() + b"\n" + self.document

    def at(self, **place: Any) -> Action:
        """The same in another place, or on another condition."""
        return replace(self, place={**self.place, **place})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an action.

    Attributes:
        index: the index that it reached; behind an alias, the one in which the document lies.
        status: as HTTP has it; 404 without an error is a deletion of what was not there.
        result: what was done, in the engine's words, such as `created` or `noop`; empty if nothing was.
        error: the engine's name of what it refused for; empty if it did not.
        reason: the same in one line for people.
    """

    index: str
    status: int
    result: str = ""
    error: str = ""
    reason: str = ""

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> Outcome:
        """What an item of the engine's answer says."""
        index, status, error = str(item.get("_index", "")), int(item["status"]), item.get("error")
        if not error:
            return cls(index, status, str(item.get("result", "")))
        kind = error.get("type") if isinstance(error, Mapping) else None
        return cls(index, status, error=str(kind or "error"), reason=reason_of(error))


class Delivery:
    """Gets actions through to one index, or to those behind one alias. Several threads may use it.

    Args:
        engine: where the index is.
        index: its name, or that of an alias.
        uuids: the indices as they were opened; None: as they are now.

    Raises:
        StoreNotFoundError: there is no such index.
    """

    def __init__(self, engine: Engine, index: str, uuids: Mapping[str, str] | None = None) -> None:
        self._engine = engine
        self._index = index
        self._opened = uuids_of(engine, index) if uuids is None else uuids
        self._fits = CHUNK_BYTES  # less once the engine, or what stands before it, found a request too large

    def deliver(self, actions: Iterable[Action]) -> Iterator[tuple[Action, Outcome]]:
        """Send actions until each is done or refused; what became of each, as it becomes known.

        Raises:
            IndexGoneError: the index was removed, or another one has its name.
            StoreUnavailableError: the engine took nothing for too long.
            RequestError: it refused a whole request.
            StoppedError: the run ends; what was answered is done.
        """
        parts = [list(actions)]
        waiting = self._engine.retries()
        while parts:
            sent, rest = self._cut(parts.pop())
            parts += [rest] if rest else []
            try:
                outcomes = self._send(sent) if sent else []
            except StoreError as error:
                if isinstance(error, RequestError) and error.status == _TOO_LARGE:
                    self._fits = min(self._fits, sum(each.size for each in sent) // 2)
                    if len(sent) == 1:
                        yield sent[0], Outcome("", _TOO_LARGE, error="too_large", reason="too large for the engine")
                    else:
                        parts.append(sent)
                    continue
                waiting.pause_after(error)
                parts += _halves(sent)  # smaller requests may get through where large ones do not
                continue
            again = [action for action, outcome in zip(sent, outcomes, strict=True) if outcome.status in RETRYABLE]
            if len(again) < len(sent):
                waiting.reset()
            yield from (each for each in zip(sent, outcomes, strict=True) if each[1].status not in RETRYABLE)
            if again:
                said = next(each.reason for each in outcomes if each.status in RETRYABLE)
                waiting.pause(f"the engine is busy ({said})")
                parts += _halves(again) if len(again) == len(sent) else [again]

    def _cut(self, actions: list[Action]) -> tuple[list[Action], list[Action]]:
        """As many of the first actions as fit into a request, at least one, and the others."""
        size = 0
        for number, action in enumerate(actions):
            size += action.size
            if number and size > self._fits:
                return actions[:number], actions[number:]
        return actions, []

    def _send(self, actions: list[Action]) -> list[Outcome]:
        """Send one request."""
        before = self._now()
        if before is not None:
            self._check(before, actions)
            if self._index not in before and not _is_pattern(
                self._index
            ):  # an alias that vanishes is not made an index
                alias = {"_index": self._index, "require_alias": True}
                actions = [each.at(**alias) if each.place["_index"] == self._index else each for each in actions]
        items = self._engine.call_once("POST", ["_bulk"], b"".join(each.lines for each in actions))["items"]
        if [list(each) for each in items] != [[each.kind] for each in actions]:
            raise is_no_engine(self._engine.name, "it leaves writes out of its answer")
        outcomes = [Outcome.of(item[each.kind]) for each, item in zip(actions, items, strict=True)]
        if any(each.error == _NO_INDEX for each in outcomes):
            raise self._gone()
        reached = {each.index for each in outcomes if not each.error}
        if before is not None and reached:
            after = self._now() or {}
            if any(after.get(each) != before.get(each, after.get(each, "")) for each in reached):
                made = ", ".join(sorted(reached & after.keys()))
                instead = f"; the engine made {made} for it anew, remove that" if made else ""
                raise self._gone(f"was removed while it was written{instead}")
        return outcomes

    def _now(self) -> dict[str, str] | None:
        """The indices as they are; None if we may not know."""
        try:
            return uuids_of(self._engine, self._index)
        except StoreNotFoundError:
            raise self._gone() from None
        except RequestError as error:
            if error.status == 403:
                return None
            raise

    def _check(self, now: Mapping[str, str], actions: list[Action]) -> None:
        there = self._opened.keys() & now.keys()
        if not there or any(self._opened[each] != now[each] for each in there):
            raise self._gone("is another one than was opened")
        if not {each.place["_index"] for each in actions} <= now.keys() | {self._index}:
            raise self._gone()

    def _gone(self, how: str = "was removed meanwhile") -> IndexGoneError:
        return IndexGoneError(f"{self._engine.name}/{self._index}", how)


def uuids_of(engine: Engine, name: str) -> dict[str, str]:
    """The indices behind a name, each with what tells it from another one that takes its name.

    Raises:
        StoreNotFoundError: there is none.
        StoreError: the engine does not tell.
    """
    found = engine.call("GET", [name, "_settings", "index.uuid"])
    return {index: str(each["settings"]["index"]["uuid"]) for index, each in found.items()}


def reason_of(error: Any) -> str:
    """Why an engine refused one action, in one line."""
    if not isinstance(error, dict):
        return str(error)
    if error.get("type") == CLOSED:
        return f"the index {error.get('index', '')} is closed; open it first"
    cause = error.get("caused_by") or {}
    reason = " ".join(f"{error.get('reason', error.get('type', ''))} {cause.get('reason', '')}".split())
    return block_in(reason) or reason[:300]


def _is_pattern(name: str) -> bool:
    return "," in name or "*" in name


def _halves(actions: list[Action]) -> list[list[Action]]:
    """Two halves, the first one last; one action alone."""
    middle = (len(actions) + 1) // 2
    return [half for half in (actions[middle:], actions[:middle]) if half]
