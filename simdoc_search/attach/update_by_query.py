"""Lets an engine write all documents that a query finds again, through an ingest pipeline.

The engine does it as a task, on all of its nodes, and no text leaves it. We follow the task, and cancel it if we end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError, reason_in

FIRST_POLL, LAST_POLL = 0.05, 2.0
"""Seconds between two looks at the task: at first, and at most."""

BATCH = 500
"""Documents that the engine reads and writes at once in each slice."""

_UNSUPPORTED = (400, 405)
_CONTINUE = "run the same command to continue"

Progress = Callable[[int], None]
"""Called with the number of documents that were written so far."""


@dataclass(frozen=True, slots=True)
class Updated:
    """What the engine did.

    Attributes:
        updated: number of documents that it wrote.
        conflicts: number of documents that others changed at the same time. The engine left them as they are.
        failures: for each document that it could not write, the reason. It stops at these, so others may be left.
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
    throttle: float | None = None,
    progress: Progress = lambda _: None,
) -> Updated:
    """Let the engine write again what a query finds. The writes of others at the same time are kept.

    Args:
        engine: the engine.
        index: the name of the index.
        query: the documents, as searches see them now.
        pipeline: the id of an ingest pipeline; None for the one of the index.
        throttle: maximum of documents per second; None for no limit.
        progress: called while the task runs.

    Raises:
        StoreError: the engine cannot do this, or ended it.
        StoreUnavailableError: it does not answer. It completes what it has begun.
        KeyboardInterrupt: the task was cancelled.
    """
    task = _start(engine, index, query, pipeline, throttle)
    try:
        return _follow(engine, task, progress)
    except BaseException:
        engine.release(["_tasks", task, "_cancel"], method="POST")
        raise


def _start(engine: Engine, index: str, query: Any, pipeline: str | None, throttle: float | None) -> str:
    """Start a task, and return its id. While the engine is busy, wait."""
    params: dict[str, Any] = {
        "conflicts": "proceed",
        "wait_for_completion": False,
        "slices": "auto",
        "refresh": True,
        "scroll_size": BATCH if throttle is None else max(1, min(BATCH, int(throttle / 4))),
    }
    params |= {"pipeline": pipeline} if pipeline else {}
    params |= {"requests_per_second": throttle} if throttle else {}
    retries = engine.retries()
    while True:
        try:
            return str(engine.call_once("POST", [index, "_update_by_query"], {"query": query}, **params)["task"])
        except RequestError as error:
            if error.status in _UNSUPPORTED:
                raise StoreError(f"{engine.name} cannot update documents by query ({error})") from error
            retries.pause_after(error)


def _follow(engine: Engine, task: str, progress: Progress) -> Updated:
    """Wait for the end of a task."""
    pause = FIRST_POLL
    while True:
        state = engine.call("GET", ["_tasks", task], allow=(404,))
        if state is None or (state["completed"] and not state.keys() & {"error", "response"}):
            raise StoreError(f"{engine.name} lost the task {task}; {_CONTINUE}")
        if state["completed"]:
            return _result(engine, state)
        progress(_count_written(engine, task, state))
        time.sleep(pause)
        pause = min(2 * pause, LAST_POLL)


def _count_written(engine: Engine, task: str, state: Mapping[str, Any]) -> int:
    """The documents that a running task has written. A task with slices reports only those of completed slices."""
    params: dict[str, Any] = {"parent_task_id": task, "detailed": True, "actions": "*byquery"}
    nodes: Mapping[str, Any] = engine.call("GET", ["_tasks"], **params).get("nodes", {})
    slices = (child.get("status", {}) for node in nodes.values() for child in node.get("tasks", {}).values())
    return _sum_written([state["task"].get("status", {}), *slices])


def _sum_written(statuses: Iterable[Mapping[str, Any]]) -> int:
    return sum(int(status.get("updated", 0)) + int(status.get("noops", 0)) for status in statuses)


def _result(engine: Engine, state: Mapping[str, Any]) -> Updated:
    response = state.get("response", {})
    failures: dict[str, str] = {}
    ended = reason_in(state["error"])[1] if "error" in state else response.get("canceled")
    for failure in response.get("failures", []):
        _, reason = reason_in(failure.get("cause") or failure.get("reason"))
        if "id" in failure:
            failures[str(failure["id"])] = reason
        else:  # a shard that could not be read
            ended = ended or reason
    if ended:
        raise StoreError(f"{engine.name} ended the task ({ended}); {_CONTINUE}")
    return Updated(_sum_written([response]), int(response.get("version_conflicts", 0)), failures)
