"""How requests are answered: in a few threads, each for a limited time, and while the client waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import partial
from itertools import islice

import anyio
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from simdoc_search.cancellation import Stop, StoppedError
from simdoc_search.errors import StoreError
from simdoc_search.search.threads import Threads
from simdoc_search.web.collection import Collection
from simdoc_search.web.errors import problem
from simdoc_search.web.forms import Values, check_values, values_of
from simdoc_search.web.limits import ANSWER_SECONDS, ANSWERS_BYTES, BODIES_BYTES, COMPARING, OTHERS
from simdoc_search.web.request import Asked, is_yes
from simdoc_search.web.request_body import Body, BodyError, Memory, read_body
from simdoc_search.web.response import Answer, Download, Moved, rendered, written

Page = Callable[[Asked], Answer | Moved | Download]

_LINES = 500
_PIECE = 1 << 16
_QUICK = ("/", "/document", "/duplicates", "/duplicates/decide", "/duplicates/plan.tsv", "/duplicates/stop", "/status")
"""Pages that read no long text; the search for duplicates has a thread of its own."""


class Answering:
    """Answers requests about a collection."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._comparing, self._others = Threads(COMPARING), Threads(OTHERS)
        self._bodies, self._answers = Memory(BODIES_BYTES), Memory(ANSWERS_BYTES)

    async def answer(self, page: Page, path: str, request: Request) -> ASGIApp:
        """The answer of a page to a request, or what went wrong."""
        asked = Asked(self._collection, {}, None, path, wants_json(request), request.method == "POST")
        stop = self._collection.stop.below()
        try:
            with self._bodies.reserved() as take:
                body = await read_body(request, take) if asked.posted else None
                made = await self._made(partial(_made_by, page, asked, request, body), stop, asked, request)
            if isinstance(made, Download):
                lines = self._others.each(_parts(made.lines), stop)
                headers = {"Content-Disposition": f'attachment; filename="{made.name}"'}
                return StreamingResponse(lines, 200, headers, "text/tab-separated-values")
            return _InPieces(made, self._answers) if len(made.body) > _PIECE else made
        except BodyError as error:
            return response_of(problem(error), asked)

    async def _made(
        self, make: Callable[[], Response | Download], stop: Stop, asked: Asked, request: Request
    ) -> Response | Download:
        """What is made in a thread, while the client waits for it.

        A thread cannot be killed. It ends at the next check of what it computes, and takes its place until then.

        Raises:
            BodyError: that takes too long.
        """
        threads = self._others if _is_quick(asked, request) else self._comparing
        begun = False

        def begin() -> Response | Download:
            nonlocal begun
            begun = True
            return make()

        made: Response | Download = Response(status_code=503)  # nobody reads that
        async with anyio.create_task_group() as both:
            both.start_soon(_cancel_when_gone, request, both.cancel_scope)
            with anyio.move_on_after(ANSWER_SECONDS) as waiting:
                try:
                    made = await threads.run(begin, stop)
                except StoreError:  # it was stopped before it began
                    made = response_of(problem(StoppedError()), asked)
            both.cancel_scope.cancel()
        if waiting.cancelled_caught:
            raise _too_long() if begun else BodyError(503, "too many requests at once; try again in a moment")
        return made


def _too_long() -> BodyError:
    seconds = f"{ANSWER_SECONDS:.0f} seconds"
    return BodyError(504, f"this takes longer than {seconds}; send a shorter text, or use the command line")


async def _cancel_when_gone(request: Request, scope: anyio.CancelScope) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


def _is_quick(asked: Asked, request: Request) -> bool:
    """Whether a request reads no long text: it does not wait for those that do."""
    if asked.path == "/similar":
        given = request.query_params
        return not asked.posted and is_yes(given.get("estimate", "")) and "measure" not in given
    return asked.path in _QUICK


def _made_by(page: Page, asked: Asked, request: Request, body: Body | None) -> Response | Download:
    """The answer of a page, or what went wrong; in a thread."""
    try:
        values: Values = {}
        for name, value in request.query_params.multi_items():
            values.setdefault(name, []).append(value)
        sent, upload = values_of(body) if body else ({}, None)
        values |= sent
        check_values(values)
        asked = Asked(asked.collection, values, upload, asked.path, asked.wants_json, asked.posted)
        answer = page(asked)
        if isinstance(answer, Download):
            return answer
        if isinstance(answer, Answer):
            return response_of(_with_left_out(answer, asked.collection), asked)
        if asked.wants_json:
            return Response(written(answer.as_json), 202, media_type="application/json")
        return RedirectResponse(answer.to, 303)
    except Exception as error:
        return response_of(problem(error, collection=asked.collection), asked)


def _with_left_out(answer: Answer, collection: Collection) -> Answer:
    """An answer with the indices behind an alias that it leaves out."""
    found = collection.left_out()
    if not found or not isinstance(answer.as_json, dict):
        return answer
    said = [{**asdict(each), "reason": collection.shown(each.reason)} for each in found]
    notes = [collection.shown(each) for each in found]
    return replace(answer, as_json={**answer.as_json, "left_out_indices": said}, notes=notes)


def _parts(lines: Iterator[str]) -> Iterator[str]:
    while some := list(islice(lines, _LINES)):
        yield "".join(some)


class _InPieces:
    """A long response, sent piece by piece: it takes memory until the client has read it.

    Args:
        response: the response.
        memory: what all of them may take.

    Raises:
        BodyError: there is no memory for it now.
    """

    def __init__(self, response: Response, memory: Memory) -> None:
        self._response, self._memory = response, memory
        memory.take(len(response.body))

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Send it."""
        body = self._response.body
        try:
            headers = self._response.raw_headers
            await send({"type": "http.response.start", "status": self._response.status_code, "headers": headers})
            for start in range(0, len(body), _PIECE):
                end = start + _PIECE
                await send({"type": "http.response.body", "body": body[start:end], "more_body": end < len(body)})
        finally:
            self._memory.give_back(len(body))


def response_of(answer: Answer, asked: Asked) -> Response:
    """An answer as HTML or JSON."""
    if asked.wants_json:
        return Response(written(answer.as_json), answer.status, media_type="application/json")
    headers = {"Refresh": str(answer.refresh)} if answer.refresh else {}
    return HTMLResponse(rendered(answer, asked), answer.status, headers)


def wants_json(request: Request) -> bool:
    """Whether the address or the header `Accept` asks for JSON; browsers name HTML."""
    accepted = request.headers.get("accept", "")
    return request.url.path.endswith(".json") or ("application/json" in accepted and "text/html" not in accepted)
