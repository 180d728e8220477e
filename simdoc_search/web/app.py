"""The application of `serve`: its routes, and the threads that render its pages."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from simdoc_search.cancellation import StopEvent, StoppedError, cancellable_by
from simdoc_search.web import apply, duplicates, groups, skipped
from simdoc_search.web.compare import compare
from simdoc_search.web.document import document
from simdoc_search.web.documents import documents
from simdoc_search.web.guard import COOKIE_NAME, Guard
from simdoc_search.web.home import home, status
from simdoc_search.web.local_access import is_local
from simdoc_search.web.original_file import original_file
from simdoc_search.web.passages import passages
from simdoc_search.web.problem import make_error_page
from simdoc_search.web.request import PageRequest, read_values
from simdoc_search.web.request_limits import MAX_CONCURRENT_COMPARISONS, MAX_LOGIN_BYTES, MAX_REQUEST_SECONDS
from simdoc_search.web.response import OriginalFile, Page, Redirect, TsvDownload, to_response
from simdoc_search.web.served_store import ServedStore
from simdoc_search.web.similar import similar
from simdoc_search.web.versions import concepts, related, versions

PageFunction = Callable[[PageRequest], Page | Redirect | TsvDownload | OriginalFile]

GET_PAGES: dict[str, PageFunction] = {
    "/": home,
    "/similar": similar,
    "/passages": passages,
    "/document": document,
    "/documents": documents,
    "/documents/skipped": skipped.skipped,
    "/file": original_file,
    "/compare": compare,
    "/versions": versions,
    "/related": related,
    "/concepts": concepts,
    "/families": groups.families,
    "/topics": groups.topics,
    "/duplicates": duplicates.duplicates,
    "/duplicates/plan": duplicates.plan_summary,
    "/duplicates/plan.tsv": duplicates.plan,
    "/duplicates/apply": apply.show_changes,
    "/status": status,
}
POST_PAGES: dict[str, PageFunction] = {
    "/similar": similar,
    "/passages": passages,
    "/compare": compare,
    "/versions": versions,
    "/related": related,
    "/families": groups.start_families,
    "/families/stop": lambda request: request.served_store.families.stop(),
    "/topics": groups.start_topics,
    "/topics/stop": lambda request: request.served_store.topics.stop(),
    "/duplicates": duplicates.start_duplicates,
    "/duplicates/stop": lambda request: request.served_store.duplicates.stop(),
    "/duplicates/decide": duplicates.save_decisions,
    "/duplicates/apply": apply.move_files,
    "/duplicates/undo": apply.undo_changes,
    "/documents/skipped": skipped.start_search,
    "/documents/skipped/stop": skipped.stop_search,
}
"""The pages that accept POST requests. Only those of `apply` change files and the store, if the server allows it."""

_COMPARISON_PATHS = frozenset(
    {"/similar", "/passages", "/compare", "/versions", "/related", "/concepts", "/families", "/topics", "/documents"}
)
"""The pages that compare texts or read all documents. At most MAX_CONCURRENT_COMPARISONS are rendered at a time."""
_STATIC_FILES: list[str | tuple[str, str]] = [
    ("simdoc_search.web", "static"),
    ("simdoc_search.passages.report", "static"),
]
_WRONG_TOKEN_DELAY_SECONDS = 0.5
"""The delay of the response to a wrong access token, in seconds."""


def make_app(
    served_store: ServedStore,
    *,
    hosts: Collection[str] = (),
    allows_any_address: bool = False,
    token: str | None = None,
) -> ASGIApp:
    """Return the ASGI application that serves a store. `Guard` describes the other arguments."""
    routes: list[Route | Mount] = [
        Mount("/static", StaticFiles(packages=_STATIC_FILES)),
        Route("/login", partial(_respond_to_login, served_store), methods=["GET", "POST"]),
    ]
    comparisons = anyio.CapacityLimiter(MAX_CONCURRENT_COMPARISONS)
    for path in dict.fromkeys([*GET_PAGES, *POST_PAGES]):
        methods = [*(["GET"] if path in GET_PAGES else []), *(["POST"] if path in POST_PAGES else [])]
        endpoint = partial(_respond, served_store, path, comparisons if path in _COMPARISON_PATHS else None)
        for route_path in (path, f"{path}.json") if path != "/" else (path,):
            routes.append(Route(route_path, endpoint, methods=methods))
    app = Starlette(routes=routes, exception_handlers={HTTPException: partial(_respond_to_http_error, served_store)})
    return Guard(app, hosts=hosts, allows_any_address=allows_any_address, token=token)


async def _respond(
    served_store: ServedStore, path: str, limiter: anyio.CapacityLimiter | None, request: Request
) -> Response:
    """Render a page in a thread. Stop the thread at the deadline, or when the client closes the connection."""
    make_page = POST_PAGES[path] if request.method == "POST" else GET_PAGES[path]
    local = served_store.local if is_local(request) else None
    page_request = PageRequest(served_store, path, _wants_json(request), local=local)
    response: Response | None = None
    stop = served_store.stop.make_child()

    async def stop_on_disconnect(scope: anyio.CancelScope) -> None:
        try:
            while (await request.receive())["type"] != "http.disconnect":
                pass
        finally:
            if response is None:
                stop.set()
                scope.cancel()

    try:
        with anyio.move_on_after(MAX_REQUEST_SECONDS):
            values, uploads = await read_values(request)
            page_request = replace(page_request, values=values, uploads=uploads)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(stop_on_disconnect, tasks.cancel_scope)
                make_response = partial(render, make_page, page_request, stop)
                response = await anyio.to_thread.run_sync(make_response, limiter=limiter)
                tasks.cancel_scope.cancel()
    except ClientDisconnect:
        return Response(status_code=400)
    return response or to_response(make_error_page(StoppedError(), page_request), page_request)


def render(make_page: PageFunction, page_request: PageRequest, stop: StopEvent) -> Response:
    """Return the response of a page, or of its error. Setting `stop` ends the computation within about a second."""
    try:
        with cancellable_by(stop):
            return to_response(make_page(page_request), page_request)
    except Exception as error:
        return to_response(make_error_page(error, page_request), page_request)


async def _respond_to_http_error(served_store: ServedStore, request: Request, error: Exception) -> Response:
    page_request = PageRequest(served_store, request.url.path, _wants_json(request))
    response = to_response(make_error_page(error, page_request), page_request)
    response.headers.update(getattr(error, "headers", None) or {})
    return response


def _wants_json(request: Request) -> bool:
    """Return whether the path ends in `.json`, or the client accepts JSON and not HTML."""
    accepted = request.headers.get("accept", "")
    return request.url.path.endswith(".json") or ("application/json" in accepted and "text/html" not in accepted)


async def _respond_to_login(served_store: ServedStore, request: Request) -> Response:
    """Return the login page. If the access token is correct, set a cookie and redirect."""
    values, _ = await read_values(request, max_bytes=MAX_LOGIN_BYTES)
    page_request = PageRequest(served_store, "/login", values=values)
    next_url = page_request.value("then", "/")
    next_url = next_url if _is_local_url(next_url) else "/"
    is_post = request.method == "POST"
    if is_post:
        cookie = request.scope["state"]["guard"].make_cookie(page_request.value("token").strip())
        if cookie is not None:
            response = RedirectResponse(next_url, 303)
            response.set_cookie(COOKIE_NAME, cookie, httponly=True, samesite="strict")
            return response
        await anyio.sleep(_WRONG_TOKEN_DELAY_SECONDS)
    page = Page("login.html", {"then": next_url, "is_wrong": is_post}, status=403 if is_post else 200)
    return to_response(page, page_request)


def _is_local_url(url: str) -> bool:
    """Return whether a URL is a path on this server."""
    return url.startswith("/") and not url.startswith(("//", "/\\")) and url.isprintable()
