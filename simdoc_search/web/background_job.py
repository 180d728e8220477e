"""Runs jobs that may take minutes in the background, such as searches over all documents, and renders their pages."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock, Thread
from typing import Any, Generic, TypeVar

from simdoc_search.cancellation import POLL_SECONDS, StoppedError, check_stopped
from simdoc_search.errors import QuerySyntaxError, SimdocError
from simdoc_search.web.request import PageRequest
from simdoc_search.web.response import Page, Redirect

Result = TypeVar("Result")
Progress = Callable[[str, float], None]
"""Reports the stage of a job, and the completed share of this stage, 0..1."""

_MAX_GROUPS = 100
_REFRESH_SECONDS = 2


class BackgroundJob(Generic[Result]):
    """A job, usually a search, that runs in a thread, at most once at a time. The last result is kept.

    Args:
        name: The path of the page, without the leading slash.
        title: The name of the job in messages, such as "the search for topics". By default, it is made from `name`.

    Attributes:
        result: The last result, or None if the job has not finished yet.
        problem: The reason why the last run failed or was stopped; empty if it succeeded.
        state: The current stage and the completed share of this stage, 0..1. None if the job is not running.
    """

    def __init__(self, name: str, title: str | None = None) -> None:
        self._name = name
        self._title = title or f"the search for {name}"
        self._is_stop_requested = False
        self._lock = Lock()
        self._thread: Thread | None = None
        self.result: Result | None = None
        self.problem: str = ""
        self.state: tuple[str, float] | None = None

    def start(self, compute: Callable[[Progress], Result]) -> Redirect:
        """Start the job."""
        with self._lock:
            if self.state is not None:
                raise QuerySyntaxError(f"{self._title} is already running; wait until it has finished, or stop it")
            self.state, self._is_stop_requested, self.problem = ("reading", 0.0), False, ""
        self._thread = Thread(target=self._run, args=(compute,), name=self._name, daemon=True)
        self._thread.start()
        return Redirect(f"/{self._name}", {"state": "running", "stage": "reading", "share": 0.0})

    def stop(self) -> Redirect:
        """Stop the job at its next progress report."""
        self._is_stop_requested = True
        return Redirect(f"/{self._name}", {"state": "stopping"})

    def wait(self, seconds: float) -> None:
        """Wait until the job has finished, for at most this number of seconds."""
        deadline = time.monotonic() + seconds
        while self._thread is not None and self._thread.is_alive() and (left := deadline - time.monotonic()) > 0:
            check_stopped()
            self._thread.join(min(POLL_SECONDS, left))

    def _report(self, stage: str, share: float) -> None:
        if self._is_stop_requested:
            raise StoppedError
        self.state = stage, share

    def _run(self, compute: Callable[[Progress], Result]) -> None:
        problem = f"{self._title} failed; see the server's log for details"
        try:
            self.result = compute(self._report)
            problem = ""
        except StoppedError:
            problem = f"{self._title} was stopped"
        except SimdocError as error:
            problem = str(error)
        finally:
            self.problem, self.state = problem, None

    def make_running_page(self, request: PageRequest, template: str, values: dict[str, Any]) -> Page | None:
        """Return the page with the progress; None if the job is not running. `values` are further template values."""
        if self.state is None:
            return None
        stage, share = self.state
        progress = {"stage": stage, "share": share}
        status = 202 if request.wants_json else 200
        return Page(template, {**values, **progress}, {"state": "running", **progress}, status, _REFRESH_SECONDS)

    def make_page(
        self,
        request: PageRequest,
        template: str,
        default_limit: int,
        show_groups: Callable[[Result, int, int], tuple[int, dict[str, Any], dict[str, Any]]],
    ) -> Page:
        """Return the page of the job. It shows the progress, the reason for a failure, or one page of groups.

        Args:
            request: The request. `start` is the index of the first group, `limit` the maximum number of groups.
            template: The template of the page.
            default_limit: The default of `limit`.
            show_groups: Takes the result, `start` and `limit`. Returns the total number of groups, the values for the
                template and the values for the JSON response.
        """
        values: dict[str, Any] = {"stage": "", "share": 0.0, "result": None, "problem": ""}
        if page := self.make_running_page(request, template, values):
            return page
        if self.result is None or self.problem:
            values["problem"] = request.served_store.hide_location(self.problem)
            return Page(template, values, {"state": "none", "problem": values["problem"] or None})
        start = request.integer("start", 0, 0, 10**9)
        limit = request.integer("limit", default_limit, 1, _MAX_GROUPS)
        total, template_values, as_json = show_groups(self.result, start, limit)
        next_start = start + limit if start + limit < total else None
        previous_start = max(start - limit, 0) if start else None
        values |= {"result": self.result, "start": start, "limit": limit, **template_values}
        values |= {"previous_start": previous_start, "next_start": next_start}
        return Page(template, values, {"state": "done", **as_json, "next": next_start})
