"""Lets an engine rewrite all documents that match a query, through an ingest pipeline or with a script.

The engine runs a task on all of its nodes, and no text leaves the engine. This process polls the task, and cancels it
if interrupted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.engine import Engine, UrlParams
from simdoc_search.stores.remote.errors import RequestError, error_type_and_reason

_FIRST_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 0.05, 2.0
"""First and maximum number of seconds between two polls of the task."""

_BATCH_SIZE = 500
"""Number of documents that each slice of the task reads and writes at once."""

NO_PIPELINE = "_none"
"""With this name, the engine does not run the default pipeline of the index. It always runs the final pipeline."""

_UNSUPPORTED_STATUSES = (400, 405)
_RESUME_ADVICE = "run the same command again to resume"

WrittenCallback = Callable[[int], None]
"""Called with the number of documents written so far."""


@dataclass(frozen=True, slots=True)
class UpdateResult:
    """The result of an update by query.

    Attributes:
        updated_count: number of documents that the engine wrote.
        skipped_count: number of documents that the script did not change.
        conflict_count: number of documents that the engine did not write, because another writer changed them
            meanwhile.
        failures: maps the id of each document that the engine could not write to the reason. The engine stops after a
            failure, so other documents may not be written either.
    """

    updated_count: int
    skipped_count: int
    conflict_count: int
    failures: dict[str, str]


def update_by_query(
    engine: Engine,
    index: str,
    query: Mapping[str, Any],
    *,
    pipeline: str = NO_PIPELINE,
    script: Mapping[str, Any] | None = None,
    throttle: float | None = None,
    progress: WrittenCallback = lambda _: None,
    **search_params: Any,
) -> UpdateResult:
    """Let the engine rewrite the documents that match a query. Concurrent changes by other writers are kept.

    The query does not find documents written since the last refresh. `pipeline` is the id of an ingest pipeline, which
    runs instead of the default pipeline of the index. `throttle` is the maximum number of documents per second.
    `search_params` are URL parameters of the search, such as `preference`.

    Raises:
        StoreError: the engine does not support updates by query, or ended the task early.
        StoreUnavailableError: the engine does not respond, but may still complete the task.
        KeyboardInterrupt: the task was cancelled.
    """
    body = {"query": query, "script": script} if script else {"query": query}
    params: UrlParams = {
        **search_params,
        "conflicts": "proceed",
        "wait_for_completion": False,
        "slices": "auto",
        "pipeline": pipeline,
        "refresh": True,
        "scroll_size": _BATCH_SIZE if throttle is None else max(1, min(_BATCH_SIZE, int(throttle / 4))),
    }
    if throttle:
        params["requests_per_second"] = throttle
    task = _start_task(engine, index, body, params)
    try:
        return _wait_for_task(engine, task, progress)
    except BaseException:
        engine.release(["_tasks", task, "_cancel"], method="POST")
        raise


def _start_task(engine: Engine, index: str, body: Any, params: UrlParams) -> str:
    """Start a task and return its id. While the engine is busy, wait and try again."""
    retries = engine.create_retries()
    while True:
        try:
            return str(engine.call_once("POST", [index, "_update_by_query"], body, **params)["task"])
        except RequestError as error:
            if error.status in _UNSUPPORTED_STATUSES:
                advice = "" if "script" in body and params["pipeline"] == NO_PIPELINE else "; omit --in-engine"
                raise StoreError(f"{engine.name} cannot update documents by query ({error}){advice}") from error
            retries.pause_or_raise(error)


def _wait_for_task(engine: Engine, task: str, progress: WrittenCallback) -> UpdateResult:
    pause_seconds = _FIRST_PAUSE_SECONDS
    written = 0
    while True:
        state = engine.call("GET", ["_tasks", task], allowed_statuses=(404,))
        if state is None or (state["completed"] and not state.keys() & {"error", "response"}):
            raise StoreError(f"{engine.name} lost the task {task}; {_RESUME_ADVICE}")
        if state["completed"]:
            return _read_result(engine, state)
        # A slice that ends between the two requests is in neither response, so the sum can be too small.
        written = max(written, _count_written(engine, task, state))
        progress(written)
        time.sleep(pause_seconds)
        pause_seconds = min(2 * pause_seconds, _MAX_PAUSE_SECONDS)


def _count_written(engine: Engine, task: str, state: Mapping[str, Any]) -> int:
    """Return the number of documents that a running task has written, including documents of unfinished slices."""
    tasks = engine.call("GET", ["_tasks"], parent_task_id=task, detailed=True, actions="*byquery")
    nodes: Mapping[str, Any] = tasks.get("nodes", {})
    slices = (child.get("status", {}) for node in nodes.values() for child in node.get("tasks", {}).values())
    return _sum_written([state["task"].get("status", {}), *slices])


def _sum_written(statuses: Iterable[Mapping[str, Any]]) -> int:
    return sum(int(status.get("updated", 0)) + int(status.get("noops", 0)) for status in statuses)


def _read_result(engine: Engine, state: Mapping[str, Any]) -> UpdateResult:
    response = state.get("response", {})
    failures: dict[str, str] = {}
    end_reason = error_type_and_reason(state["error"])[1] if "error" in state else response.get("canceled")
    for failure in response.get("failures", []):
        _, reason = error_type_and_reason(failure.get("cause") or failure.get("reason"))
        if "id" in failure:
            failures[str(failure["id"])] = reason
        else:  # a failure without a document id means that a shard could not be read
            end_reason = end_reason or reason
    if end_reason:
        raise StoreError(f"{engine.name} ended the task early ({end_reason}); {_RESUME_ADVICE}")
    updated_count, skipped_count, conflict_count = (
        int(response.get(name, 0)) for name in ("updated", "noops", "version_conflicts")
    )
    return UpdateResult(updated_count, skipped_count, conflict_count, failures)
