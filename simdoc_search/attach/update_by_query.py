"""Lets an engine rewrite all documents that match a query, through an ingest pipeline.

The engine runs a task on all of its nodes, and no text leaves the engine. This process polls the task, and cancels it
if the process is interrupted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError, error_type_and_reason

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0
"""Seconds between two polls of the task: at first, and at most."""

_BATCH = 500
"""Number of documents that each slice reads and writes at once."""

_UNSUPPORTED = (400, 405)
_CONTINUE = "run the same command again to continue"

Progress = Callable[[int], None]
"""Called with the number of documents written so far."""


@dataclass(frozen=True, slots=True)
class Updated:
    """The result of an update by query.

    Attributes:
        updated: number of documents that the engine wrote.
        conflicts: number of documents that others changed meanwhile, so the engine did not write them.
        failures: the reason for each document that the engine could not write, by id. The engine stops after a failure,
            so other documents may be missing too.
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
    """Let the engine rewrite the documents that match a query. Concurrent writes by others are kept.

    Args:
        engine: the engine.
        index: the name of the index.
        query: selects the documents, among those that searches can see now.
        pipeline: the id of an ingest pipeline; None for the pipeline of the index.
        throttle: maximum number of documents per second; None for no limit.
        progress: called while the task runs.

    Raises:
        StoreError: the engine does not support this, or ended the task.
        StoreUnavailableError: the engine does not answer. It may still complete the task.
        KeyboardInterrupt: the task was cancelled.
    """
    task = _start(engine, index, query, pipeline, throttle)
    try:
        return _follow(engine, task, progress)
    except BaseException:
        engine.release(["_tasks", task, "_cancel"], method="POST")
        raise


def _start(engine: Engine, index: str, query: Any, pipeline: str | None, throttle: float | None) -> str:
    """Start a task and return its id. Waits while the engine is busy."""
    params: dict[str, Any] = {
        "conflicts": "proceed",
        "wait_for_completion": False,
        "slices": "auto",
        "refresh": True,
        "scroll_size": _BATCH if throttle is None else max(1, min(_BATCH, int(throttle / 4))),
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
    """Wait until the task ends."""
    pause = _FIRST_PAUSE
    while True:
        state = engine.call("GET", ["_tasks", task], allow=(404,))
        if state is None or (state["completed"] and not state.keys() & {"error", "response"}):
            raise StoreError(f"{engine.name} lost the task {task}; {_CONTINUE}")
        if state["completed"]:
            return _result(engine, state)
        progress(_count_written(engine, task, state))
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _count_written(engine: Engine, task: str, state: Mapping[str, Any]) -> int:
    """The number of documents that a running task has written. A task itself counts only its completed slices."""
    params: dict[str, Any] = {"parent_task_id": task, "detailed": True, "actions": "*byquery"}
    nodes: Mapping[str, Any] = engine.call("GET", ["_tasks"], **params).get("nodes", {})
    slices = (child.get("status", {}) for node in nodes.values() for child in node.get("tasks", {}).values())
    return _sum_written([state["task"].get("status", {}), *slices])


def _sum_written(statuses: Iterable[Mapping[str, Any]]) -> int:
    return sum(int(status.get("updated", 0)) + int(status.get("noops", 0)) for status in statuses)


def _result(engine: Engine, state: Mapping[str, Any]) -> Updated:
    response = state.get("response", {})
    failures: dict[str, str] = {}
    ended = error_type_and_reason(state["error"])[1] if "error" in state else response.get("canceled")
    for failure in response.get("failures", []):
        _, reason = error_type_and_reason(failure.get("cause") or failure.get("reason"))
        if "id" in failure:
            failures[str(failure["id"])] = reason
        else:  # a shard that could not be read
            ended = ended or reason
    if ended:
        raise StoreError(f"{engine.name} ended the task ({ended}); {_CONTINUE}")
    return Updated(_sum_written([response]), int(response.get("version_conflicts", 0)), failures)
