"""Addresses to pages: a request becomes plain values, a page answers, its answer becomes HTML or JSON."""

from __future__ import annotations

from collections.abc import Collection as Several
from functools import partial
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from simdoc_search.web import duplicates as duplicate_pages
from simdoc_search.web import groups as group_pages
from simdoc_search.web.collection import Collection
from simdoc_search.web.compare import compare
from simdoc_search.web.dispatch import Answering, Page, response_of, wants_json
from simdoc_search.web.document import document
from simdoc_search.web.errors import problem
from simdoc_search.web.forms import values_of
from simdoc_search.web.guard import COOKIE, Guard
from simdoc_search.web.home import home
from simdoc_search.web.openapi import description
from simdoc_search.web.passages import passages
from simdoc_search.web.request import Asked
from simdoc_search.web.request_body import BodyError, Memory, read_body
from simdoc_search.web.response import Answer, asset, rendered, written
from simdoc_search.web.similar import similar
from simdoc_search.web.status import status
from simdoc_search.web.versions import concepts, related, versions

READ: dict[str, Page] = {
    "/": home,
    "/similar": similar,
    "/passages": passages,
    "/document": document,
    "/compare": compare,
    "/versions": versions,
    "/related": related,
    "/concepts": concepts,
    "/families": group_pages.families,
    "/topics": group_pages.topics,
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
    "/families": group_pages.find_families,
    "/families/stop": group_pages.stop_families,
    "/topics": group_pages.find_topics,
    "/topics/stop": group_pages.stop_topics,
    "/duplicates": duplicate_pages.start,
    "/duplicates/stop": duplicate_pages.stop,
    "/duplicates/decide": duplicate_pages.decide,
}
"""What may come with a body. Nothing of it changes a document, a file or a store."""

_LOGIN_BYTES = 10_000


def make_app(
    collection: Collection, *, hosts: Several[str] = (), any_address: bool = False, token: str | None = None
) -> ASGIApp:
    """The pages over a collection, as an ASGI application; see `Guard` for the other arguments."""
    answering = Answering(collection)
    routes = [Route("/static/{name}", _static), Route("/openapi.json", _openapi),
              Route("/login", _login, methods=["GET", "POST"])]  # fmt: skip
    for path in dict.fromkeys([*READ, *SENT]):
        methods = [*(["GET"] if path in READ else []), *(["POST"] if path in SENT else [])]
        endpoint = partial(_answered, answering, path)
        for each in (path, f"{path}.json") if path != "/" else (path,):
            routes.append(Route(each, endpoint, methods=methods))
    app = Starlette(routes=routes, exception_handlers={HTTPException: partial(_no_page, collection)})
    return Guard(app, hosts=hosts, any_address=any_address, token=token)


async def _answered(answering: Answering, path: str, request: Request) -> Any:
    page = SENT[path] if request.method == "POST" else READ[path]
    return await answering.answer(page, path, request)


async def _no_page(collection: Collection, request: Request, error: Exception) -> Response:
    code = error.status_code if isinstance(error, HTTPException) else 500
    sentence = {404: "there is no such page", 405: "this address does not take that"}.get(code, "that did not work")
    asked = Asked(collection, {}, None, request.url.path, wants_json(request))
    response = response_of(problem(BodyError(code, sentence)), asked)
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
            values, _ = values_of(await read_body(request, Memory(_LOGIN_BYTES).take, _LOGIN_BYTES))
        except BodyError as error:
            return response_of(problem(error), Asked(collection, {}, None, "/login"))
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
