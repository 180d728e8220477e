"""Writes to an engine in bulk requests. Splits large requests, and retries them while the engine is busy.

During a run, the index may be deleted, and another index may get its name. An engine creates a missing index, but
without the mapping that fingerprints need. So the unique id of the index is checked before and after each request.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from simdoc_search.errors import StoreError, StoreNotFoundError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import INDEX_CLOSED, RequestError, write_block_message
from simdoc_search.stores.remote.retry import RETRYABLE_STATUSES

MAX_CHUNK_BYTES = 4_000_000
"""Maximum size of a request in bytes, unless a single action is larger."""

_LINE_BYTES = 150  # approximate size of an action's first line, without the id
_STATUS_TOO_LARGE = 413
_INDEX_NOT_FOUND = "index_not_found_exception"


class IndexGoneError(StoreNotFoundError):
    """The index that was opened no longer exists.

    `cause` is what happened to it, such as "was removed".
    """

    def __init__(self, index: str, cause: str) -> None:
        super().__init__(f"the index {index} {cause}; run the command again")
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Action:
    """One write in a bulk request.

    `operation` is `index`, `create`, `delete` or `update`. `target` is the metadata in the first line, such as index,
    id, routing and conditions. `document` is the second line, encoded as JSON. It is empty for a deletion.
    """

    operation: str
    target: Mapping[str, Any]
    document: bytes = b""

    @classmethod
    def make(cls, operation: str, id: str, document: Mapping[str, Any] | None = None, **target: Any) -> Action:
        """Return an action for a document. `target` contains `_index`, and may contain routing and conditions."""
        return cls(operation, {"_id": id, **target}, b"" if document is None else json_line(document))

    @property
    def id(self) -> str:
        """Id of the document."""
        return str(self.target["_id"])

    @property
    def size(self) -> int:
        """Approximate number of bytes of the action in a request."""
        return len(self.document) + len(self.id) + _LINE_BYTES

    @property
    def encoded_lines(self) -> bytes:
        """The one or two lines of the action in the request."""
        return json.dumps({self.operation: self.target}).encode() + b"\n" + self.document

    def with_target(self, **changes: Any) -> Action:
        """Return a copy of this action with changed entries in its target."""
        return replace(self, target={**self.target, **changes})


@dataclass(frozen=True, slots=True)
class ActionOutcome:
    """The engine's response to an action."""

    index: str  # the concrete index of the document
    status: int  # HTTP status. If a document to delete did not exist, it is 404, and `error` is empty.
    result: str = ""  # the effect of the action, such as `created` or `noop`. It is empty after an error.
    error: str = ""  # the error type. It is empty if there is no error.
    reason: str = ""  # the reason for the error, as one line for the user

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> ActionOutcome:
        """Convert an item of the engine's response."""
        index, status, error = str(item.get("_index", "")), int(item["status"]), item.get("error")
        if not error:
            return cls(index, status, str(item.get("result", "")))
        error_type = error.get("type") if isinstance(error, Mapping) else None
        return cls(index, status, error=str(error_type or "error"), reason=error_reason(error))


class BulkWriter:
    """Writes to one index, or to the indices behind one alias. Several threads can use it.

    `uuids` are the unique ids of the indices when they were opened. If None, they are read now.

    Raises:
        StoreNotFoundError: the index does not exist.
    """

    def __init__(self, engine: Engine, index: str, uuids: Mapping[str, str] | None = None) -> None:
        self._engine = engine
        self._index = index
        self._opened_uuids = read_uuids(engine, index) if uuids is None else uuids
        self._max_bytes = MAX_CHUNK_BYTES  # it is reduced when the engine or a proxy rejects a request as too large

    def write(self, actions: Iterable[Action]) -> Iterator[tuple[Action, ActionOutcome]]:
        """Send actions until each has succeeded or failed permanently. Yield the outcomes as they arrive.

        Raises:
            IndexGoneError: the index was removed, or another index has its name now.
            StoreUnavailableError: the engine accepted nothing before the deadline.
            RequestError: the engine rejected a whole request.
            StoppedError: the engine's `stop_event` is set. The outcomes that were yielded are final.
        """
        batches = [list(actions)]
        retries = self._engine.create_retries()
        while batches:
            batch, rest = self._split(batches.pop())
            batches += [rest] if rest else []
            try:
                outcomes = self._send(batch) if batch else []
            except StoreError as error:
                if isinstance(error, RequestError) and error.status == _STATUS_TOO_LARGE:
                    self._max_bytes = min(self._max_bytes, sum(action.size for action in batch) // 2)
                    if len(batch) == 1:
                        yield (
                            batch[0],
                            ActionOutcome(
                                "",
                                _STATUS_TOO_LARGE,
                                error="too_large",
                                reason="the document is too large for the engine",
                            ),
                        )
                    else:
                        batches.append(batch)
                    continue
                retries.pause_or_raise(error)
                batches += _split_in_halves(batch)  # smaller requests may succeed
                continue
            pairs = list(zip(batch, outcomes, strict=True))
            yield from (pair for pair in pairs if pair[1].status not in RETRYABLE_STATUSES)
            busy = [(action, outcome) for action, outcome in pairs if outcome.status in RETRYABLE_STATUSES]
            if len(busy) < len(batch):
                retries.reset()
            if busy:
                retries.pause(f"the engine is busy ({busy[0][1].reason})")
                again = [action for action, _ in busy]
                batches += _split_in_halves(again) if len(again) == len(batch) else [again]

    def _split(self, actions: list[Action]) -> tuple[list[Action], list[Action]]:
        """Split off the actions that fit into one request, at least one. Return them and the remaining actions."""
        size = 0
        for position, action in enumerate(actions):
            size += action.size
            if position and size > self._max_bytes:
                return actions[:position], actions[position:]
        return actions, []

    def _send(self, actions: list[Action]) -> list[ActionOutcome]:
        names = self._check_index()
        if not {action.target["_index"] for action in actions} <= names | {self._index}:
            raise self._index_gone_error()
        if self._index not in names and not {",", "*"} & set(self._index):
            # Without `require_alias`, the engine would create an index with the name of a removed alias.
            actions = [
                action.with_target(require_alias=True) if action.target["_index"] == self._index else action
                for action in actions
            ]
        items = self._engine.call_once("POST", ["_bulk"], b"".join(action.encoded_lines for action in actions))["items"]
        outcomes = [
            ActionOutcome.from_item(item[action.operation]) for action, item in zip(actions, items, strict=True)
        ]
        if any(outcome.error == _INDEX_NOT_FOUND for outcome in outcomes):
            raise self._index_gone_error()
        if any(not outcome.error for outcome in outcomes):
            self._check_index(
                "was removed during a write (if the engine then created a new index with this name, delete it)"
            )
        return outcomes

    def _check_index(self, cause: str = "was replaced with another index") -> set[str]:
        """Return the names of the indices. Raises IndexGoneError if they are not the indices that were opened."""
        try:
            current = read_uuids(self._engine, self._index)
        except StoreNotFoundError:
            raise self._index_gone_error() from None
        common = self._opened_uuids.keys() & current.keys()
        if not common or any(self._opened_uuids[index] != current[index] for index in common):
            raise self._index_gone_error(cause)
        return set(current)

    def _index_gone_error(self, cause: str = "was removed") -> IndexGoneError:
        return IndexGoneError(f"{self._engine.name}/{self._index}", cause)


def read_uuids(engine: Engine, name: str) -> dict[str, str]:
    """Return the unique id of each index behind a name. A later index with the same name has another id.

    Raises:
        StoreNotFoundError: no index has this name.
        StoreError: see `Engine.call`.
    """
    settings = engine.call("GET", [name, "_settings", "index.uuid"])
    return {index: str(values["settings"]["index"]["uuid"]) for index, values in settings.items()}


def json_line(document: Mapping[str, Any]) -> bytes:
    """Encode a document as a line of a bulk request."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def error_reason(error: Any) -> str:
    """Return, in one line, why the engine rejected an action."""
    if not isinstance(error, dict):
        return str(error)
    if error.get("type") == INDEX_CLOSED:
        return f"the index {error.get('index', '')} is closed; open it with `POST /{error.get('index', '')}/_open`"
    cause = error.get("caused_by") or {}
    reason = " ".join(f"{error.get('reason', error.get('type', ''))} {cause.get('reason', '')}".split())
    return write_block_message(reason) or reason[:300]


def routing_entry(hit: Mapping[str, Any]) -> dict[str, str]:
    """Return the routing of a hit as an entry of an action's target, or of a document in `_mget`."""
    return {"routing": hit["_routing"]} if "_routing" in hit else {}


def version_condition(hit: Mapping[str, Any]) -> dict[str, int]:
    """Return the condition that a hit of a search with `seq_no_primary_term` has not changed since the search."""
    return {"if_seq_no": hit["_seq_no"], "if_primary_term": hit["_primary_term"]}


def _split_in_halves(actions: list[Action]) -> list[list[Action]]:
    """Return the second half of the actions, then the first half. Omit an empty half."""
    middle = (len(actions) + 1) // 2
    return [half for half in (actions[middle:], actions[:middle]) if half]
