"""Addresses to pages: a request becomes plain values, a page answers in a thread, its answer becomes HTML or JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Collection as Several
from functools import partial
from itertools import islice
from typing import Any

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from simdoc_search.web import duplicates as duplicate_pages
from simdoc_search.web.answer import Answer, Download, Moved, asset, rendered, written
from simdoc_search.web.asked import Asked
from simdoc_search.web.bodies import BodyError, Room, read_body
from simdoc_search.web.collection import Collection
from simdoc_search.web.compare import compare
from simdoc_search.web.document import document
from simdoc_search.web.guard import COOKIE, Guard
from simdoc_search.web.home import home
from simdoc_search.web.openapi import description
from simdoc_search.web.passages import passages
from simdoc_search.web.problems import problem
from simdoc_search.web.similar import similar
from simdoc_search.web.status import status
from simdoc_search.web.versions import related, versions

__all__ = ["make_app"]

AT_ONCE = 4
"""Requests that are answered at once; the others wait."""

Page = Callable[[Asked], Answer | Moved | Download]

READ: dict[str, Page] = {
    "/": home,
    "/similar": similar,
    "/passages": passages,
    "/document": document,
    "/compare": compare,
    "/versions": versions,
    "/related": related,
    "/duplicates": duplicate_pages.duplicates,
    "/duplicates/plan.tsv": duplicate_pages.plan,
    "/status": status,
}
SENT: dict[str, Page] = {
    "/similar": similar,
    "/passages": passages,
    "/compare": compare,
    "/versions": versions,
    "/related": related,
    "/duplicates": duplicate_pages.start,
    "/duplicates/stop": duplicate_pages.stop,
    "/duplicates/decide": duplicate_pages.decide,
}
"""What may come with a body. Nothing of it changes a document, a file or a store."""

_LINES = 500
_LOGIN_BYTES = 10_000


def make_app(
    collection: Collection, *, hosts: Several[str] = (), any_address: bool = False, token: str | None = None
) -> ASGIApp:
    """The pages over a collection, as an ASGI application; see `Guard` for the other arguments."""
    threads, room = anyio.CapacityLimiter(AT_ONCE), Room()
    routes = [Route("/static/{name}", _static), Route("/openapi.json", _openapi),
              Route("/login", _login, methods=["GET", "POST"])]  # fmt: skip
    for path in dict.fromkeys([*READ, *SENT]):
        methods = [*(["GET"] if path in READ else []), *(["POST"] if path in SENT else [])]
        endpoint = partial(_answered, collection, threads, room, path)
        for each in (path, f"{path}.json") if path != "/" else (path,):
            routes.append(Route(each, endpoint, methods=methods))
    app = Starlette(routes=routes, exception_handlers={HTTPException: partial(_no_page, collection)})
    return Guard(app, hosts=hosts, any_address=any_address, token=token)


async def _answered(
    collection: Collection, threads: anyio.CapacityLimiter, room: Room, path: str, request: Request
) -> Response:
    values: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        values.setdefault(name, []).append(value)
    asked = Asked(collection, values, None, path, _wants_json(request), request.method == "POST")
    with room.taken() as take:
        try:
            if asked.posted:
                sent, upload = await read_body(request, take)
                asked = Asked(collection, {**values, **sent}, upload, path, asked.wants_json, True)
        except BodyError as error:
            return _response(problem(error, error.status), asked)
        page = SENT[path] if asked.posted else READ[path]
        return await anyio.to_thread.run_sync(_made, page, asked, limiter=threads)


def _made(page: Page, asked: Asked) -> Response:
    """The answer of a page, or what went wrong; in a thread."""
    try:
        answer = page(asked)
        if isinstance(answer, Download):
            headers = {"Content-Disposition": f'attachment; filename="{answer.name}"'}
            return StreamingResponse(_parts(answer.lines), 200, headers, "text/tab-separated-values")
        if isinstance(answer, Answer):
            return _response(answer, asked)
        if asked.wants_json:
            return Response(written(answer.as_json), 202, media_type="application/json")
        return RedirectResponse(answer.to, 303)
    except Exception as error:
        return _response(problem(error, collection=asked.collection), asked)


def _parts(lines: Iterator[str]) -> Iterator[str]:
    """Lines in parts, each of which is made in a thread."""
    while some := list(islice(lines, _LINES)):
        yield "".join(some)


def _response(answer: Answer, asked: Asked) -> Response:
    if asked.wants_json:
        return Response(written(answer.as_json), answer.status, media_type="application/json")
    headers = {"Refresh": str(answer.refresh)} if answer.refresh else {}
    return HTMLResponse(rendered(answer, asked), answer.status, headers)


def _wants_json(request: Request) -> bool:
    """By the address, or as it is said what is accepted; browsers name HTML."""
    accepted = request.headers.get("accept", "")
    return request.url.path.endswith(".json") or ("application/json" in accepted and "text/html" not in accepted)


async def _no_page(collection: Collection, request: Request, error: Exception) -> Response:
    code = error.status_code if isinstance(error, HTTPException) else 500
    sentence = {404: "there is no such page", 405: "this address does not take that"}.get(code, "that did not work")
    asked = Asked(collection, {}, None, request.url.path, _wants_json(request))
    response = _response(problem(BodyError(code, sentence), code), asked)
    response.headers.update(getattr(error, "headers", None) or {})
    return response


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    data = asset(name)
    if data is None:
        raise HTTPException(404)
    kinds = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
    headers = {"Cache-Control": "max-age=31536000, immutable"} if request.url.query else {}
    return Response(data, 200, headers, kinds[name.rpartition(".")[2]])


async def _openapi(_request: Request) -> Response:
    return Response(written(description()), media_type="application/json")


async def _login(request: Request) -> Response:
    """Take the token, and give a cookie for it."""
    collection = Collection(_nothing)
    then = request.query_params.get("then", "/")
    wrong = False
    if request.method == "POST":
        try:
            with Room().taken() as take:
                values, _ = await read_body(request, take, _LOGIN_BYTES)
        except BodyError as error:
            return _response(problem(error, error.status), Asked(collection, {}, None, "/login"))
        then = values.get("then", ["/"])[-1]
        cookie = request.scope["state"]["guard"].cookie_for(values.get("token", [""])[-1].strip())
        if cookie is not None:
            moved = RedirectResponse(then if _is_of_here(then) else "/", 303)
            moved.set_cookie(COOKIE, cookie, httponly=True, samesite="strict")
            return moved
        await anyio.sleep(0.5)
        wrong = True
    answer = Answer("login.html", {"then": then if _is_of_here(then) else "/", "wrong": wrong}, None,
                    403 if wrong else 200)  # fmt: skip
    return HTMLResponse(rendered(answer, Asked(collection, {}, path="/login")), answer.status)


def _is_of_here(address: str) -> bool:
    """Whether it leads to a page of ours, not to another site."""
    return address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()


def _nothing() -> Any:
    raise NotImplementedError
