"""Updates that an engine does itself: all documents that a query finds, by an ingest pipeline or a script of its own.

The engine does it as a task, on all its nodes at once, and no text leaves it. It is followed here, and ends with us.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError, reason_in

FIRST_LOOK, LATEST_LOOK = 0.05, 2.0
"""Seconds between two looks at a task: at first, and when it takes long."""

AT_ONCE = 500
"""Documents that the engine reads and writes at once, in each slice."""

_NO_SUCH_REQUEST = (400, 405)
_NO_SUCH_TASK = 404

Progress = Callable[[int], None]
"""Called with the number of documents that were written so far."""


@dataclass(frozen=True, slots=True)
class Updated:
    """What an engine did.

    Attributes:
        updated: documents that it wrote.
        conflicts: documents that others changed at that moment, and that are as these left them.
        failures: why documents were not written, by their ids. The engine ended with them, and others may be left.
    """

    updated: int
    conflicts: int
    failures: dict[str, str]


def update_by_query(
    engine: Engine,
    index: str,
    query: Mapping[str, Any],
    *,
    pipeline: str | None = None,
    script: str | None = None,
    throttle: float | None = None,
    progress: Progress = lambda _: None,
) -> Updated:
    """Let the engine write anew what a query finds.

    A write of the application's at the same moment counts, and ours of that document is left out; so it is asked for
    again until the query finds nothing.

    Args:
        engine: where the index is.
        index: its name.
        query: which documents, as searches see them now.
        pipeline: the id of the ingest pipeline that they go through.
        script: what is done to each, in Painless.
        throttle: documents a second at most; None: as fast as it goes.
        progress: told what is done.

    Raises:
        StoreError: the engine cannot do this, or ended it.
        StoreUnavailableError: it does not answer; what it has begun it goes on with.
        KeyboardInterrupt: the task was told to end.
    """
    body: dict[str, Any] = {"query": query}
    if script is not None:
        body["script"] = {"lang": "painless", "source": script}
    task = _started(engine, index, body, {} if pipeline is None else {"pipeline": pipeline}, throttle)
    try:
        return _ended(engine, task, progress)
    except BaseException:
        engine.release(["_tasks", task, "_cancel"], method="POST")
        raise


def _started(engine: Engine, index: str, body: Any, way: Mapping[str, str], throttle: float | None) -> str:
    """The id of a new task; while the engine refuses to begin one, we wait."""
    params: dict[str, Any] = {
        **way,
        "conflicts": "proceed",
        "wait_for_completion": False,
        "slices": "auto",
        "refresh": True,
    }
    params["scroll_size"] = AT_ONCE if throttle is None else max(1, min(AT_ONCE, int(throttle / 4)))
    params |= {} if throttle is None else {"requests_per_second": throttle}
    retries = engine.retries()
    while True:
        try:
            return str(engine.call_once("POST", [index, "_update_by_query"], body, **params)["task"])
        except RequestError as error:
            if error.status in _NO_SUCH_REQUEST:
                raise StoreError(f"{engine.name} cannot update documents by a query of its own ({error})") from error
            retries.pause_after(error)


def _ended(engine: Engine, task: str, progress: Progress) -> Updated:
    """What a task did, once it has ended."""
    pause = FIRST_LOOK
    while True:
        found = engine.call("GET", ["_tasks", task], allow=(_NO_SUCH_TASK,))
        if found is None or (found["completed"] and not found.keys() & {"error", "response"}):
            raise StoreError(f"{engine.name} no longer knows what it was doing; run the same command to go on")
        if found["completed"]:
            return _result(engine, found)
        progress(_written(engine, task, found))
        time.sleep(pause)
        pause = min(2 * pause, LATEST_LOOK)


def _written(engine: Engine, task: str, found: Mapping[str, Any]) -> int:
    """How many documents a running task has written; a task in slices says it of those that ended alone."""
    asked: dict[str, Any] = {"parent_task_id": task, "detailed": True, "actions": "*byquery"}
    children: Mapping[str, Any] = engine.call("GET", ["_tasks"], **asked).get("nodes", {})
    slices = (each.get("status", {}) for node in children.values() for each in node.get("tasks", {}).values())
    return _count([found["task"].get("status", {}), *slices])


def _count(statuses: Iterable[Mapping[str, Any]]) -> int:
    return sum(int(each.get("updated", 0)) + int(each.get("noops", 0)) for each in statuses)


def _result(engine: Engine, found: Mapping[str, Any]) -> Updated:
    if error := found.get("error"):
        _, reason = reason_in(error)
        raise StoreError(f"{engine.name} ended it: {reason}; run the same command to go on")
    response = found["response"]
    if canceled := response.get("canceled"):
        raise StoreError(f"{engine.name} was told to end it ({canceled}); run the same command to go on")
    failures: dict[str, str] = {}
    for each in response.get("failures", []):
        _, reason = reason_in(each.get("cause") or each.get("reason"))
        if "id" not in each:  # a shard that could not be read
            raise StoreError(f"{engine.name} ended it: {reason}; run the same command to go on")
        failures[str(each["id"])] = reason
    return Updated(_count([response]), int(response.get("version_conflicts", 0)), failures)
