"""A web application that shows similar documents, with the rights of the user who asks.

    pip install starlette uvicorn
    cd examples; OPENSEARCH_URL=http://localhost:9200 uvicorn --factory web_app:from_environment

The index is the one that search_app.py made. Starlette runs plain functions in threads, as FastAPI and Django do: one
store serves them all.
"""

from __future__ import annotations

import os
from typing import Any

from opensearchpy import OpenSearch
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from simdoc_search import DocumentKey, SimilaritySearch, open_store
from simdoc_search.errors import QuerySyntaxError, SimdocError, StoreError, UnknownDocumentError
from simdoc_search.query import FingerprintQuery, Similar

SHOWN, ASKED_FOR = 10, 100
"""Hits on a page, and hits of an own request that are looked at for it: some turn out not to be similar."""


class Pages:
    """What the application answers.

    Args:
        client: its own client of the engine.
        index: the name of its index.
    """

    def __init__(self, client: OpenSearch, index: str) -> None:
        self.client = client
        self.index = index
        self.search = SimilaritySearch(open_store(client=client, index=index, text_field="body"))

    def similar(self, request: Request) -> Response:
        """`/documents/ID/similar?overlap=0.2&language=en&offset=10`: a page of hits.

        The same permissions choose who may be asked about, and who may be found.
        """
        mine, wanted = readable_by(request), request.query_params
        result = self.search.similar(
            FingerprintQuery(request.path_params["id"]),  # an id alone, also if it looks like doc123_20
            overlap=number(request, "overlap"),
            size=SHOWN,
            offset=int(number(request, "offset") or 0),
            filters=[mine, {"language": wanted.getlist("language")}] if "language" in wanted else [mine],
            query_document_filters=[mine],
            fields=["title"],
        )
        return JSONResponse([{**as_json(hit.key, hit.fields), "overlap": hit.overlap} for hit in result.hits])

    def words(self, request: Request) -> Response:
        """`/search?q=stove&like=ID&overlap=0.5`: documents with these words, if they are like another one.

        One request of the application's own: its words and its scores, and our clause is one filter more.
        """
        mine, wanted = readable_by(request), request.query_params
        words = {"simple_query_string": {"query": wanted.get("q", ""), "fields": ["title^2", "body"]}}
        asked = self._like(request, mine)
        filters = [mine, asked.clause(exclude_id=wanted["like"])] if asked else [mine]
        parts = asked.source_fields if asked else []
        body = {
            "query": {"bool": {"must": [words], "filter": filters}},
            "_source": ["title", *parts],
            "size": ASKED_FOR if asked else SHOWN,
        }
        hits = self.client.search(index=self.index, body=body)["hits"]["hits"]
        if asked:
            hits = [each.hit for each in asked.refine(hits)]
        return JSONResponse([as_json(DocumentKey(hit["_id"], hit["_index"]), hit["_source"]) for hit in hits[:SHOWN]])

    def shared(self, request: Request) -> Response:
        """`/documents/ID/shared/OTHER`: the other one, with what it shares marked."""
        mine, ids = [readable_by(request)], request.path_params
        hit, source = FingerprintQuery(ids["other"]), FingerprintQuery(ids["id"])
        found = self.search.highlight(hit, source, filters=mine, query_document_filters=mine)
        return HTMLResponse(f"<!doctype html><title>shared</title><pre>{found.hit.html()}</pre>")

    def _like(self, request: Request, mine: dict[str, Any]) -> Similar | None:
        """What is asked of the document that hits shall be like; its tokens are read with the user's rights."""
        if not (id := request.query_params.get("like")):
            return None
        query = {"bool": {"filter": [{"ids": {"values": [id]}}, mine]}}
        body = {"query": query, "_source": ["simdoc.tokens"]}
        found = self.client.search(index=self.index, body=body)["hits"]["hits"]
        if not found:
            raise UnknownDocumentError(id)
        ours = found[0]["_source"].get("simdoc") or {}  # without a text there is none, and without words no tokens
        return Similar(ours.get("tokens"), number(request, "overlap"), buckets_field="simdoc.buckets")


def readable_by(request: Request) -> dict[str, Any]:
    """The clause that every search of this user has. In earnest a session says who it is, not a header."""
    return {"terms": {"readers": [request.headers.get("x-user", "nobody"), "everyone"]}}


def number(request: Request, name: str) -> float | None:
    """A number of the address."""
    try:
        return float(request.query_params[name]) if name in request.query_params else None
    except ValueError:
        raise HTTPException(400, f"{name} must be a number") from None


def as_json(key: DocumentKey, fields: Any) -> dict[str, Any]:
    """A hit without what is the application's own business: tokens tell who shares text with whom."""
    return {"id": key.id, "index": key.index, "title": fields.get("title")}


async def refused(_request: Request, error: Exception) -> Response:
    """One sentence; who may not read a document gets the one for an id that is not there."""
    statuses: dict[type[SimdocError], int] = {UnknownDocumentError: 404, QuerySyntaxError: 400, StoreError: 503}
    status = next((status for kind, status in statuses.items() if isinstance(error, kind)), 422)
    return JSONResponse({"error": str(error)}, status)


def application(client: OpenSearch, index: str = "manuals") -> Starlette:
    """The application, for a server that speaks ASGI."""
    pages = Pages(client, index)
    routes = [
        Route("/search", pages.words),
        Route("/documents/{id}/similar", pages.similar),
        Route("/documents/{id}/shared/{other}", pages.shared),
    ]
    return Starlette(routes=routes, exception_handlers={SimdocError: refused})


def from_environment() -> Starlette:
    """The application that the environment names the engine and the index of."""
    return application(OpenSearch(os.environ["OPENSEARCH_URL"]), os.environ.get("INDEX", "manuals"))
