"""A web application that shows similar documents, as far as the user may read them.

    pip install starlette uvicorn
    cd examples; OPENSEARCH_URL=http://localhost:9200 uvicorn --factory web_app:from_environment

search_app.py creates the index. Starlette runs plain functions in threads, as FastAPI and Django do. All threads use
one store.
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

PAGE_SIZE, CANDIDATE_COUNT = 10, 100
"""Number of hits on a page, and number of hits to request. `refine` drops those that are not similar enough."""


class Pages:
    """The pages of the application.

    Args:
        client: the client of the application.
        index: name of the index.
    """

    def __init__(self, client: OpenSearch, index: str) -> None:
        self.client = client
        self.index = index
        self.search = SimilaritySearch(open_store(client=client, index=index, text_field="body"))

    def similar(self, request: Request) -> Response:
        """`/documents/ID/similar?overlap=0.2&language=en&offset=10`: a page of hits.

        The same filter restricts the query document and the hits.
        """
        readable, params = readable_by(request), request.query_params
        result = self.search.similar(
            FingerprintQuery(request.path_params["id"]),  # only an id, even if it looks like doc123_20
            overlap=number(request, "overlap"),
            size=PAGE_SIZE,
            offset=int(number(request, "offset") or 0),
            filters=[readable, {"language": params.getlist("language")}] if "language" in params else [readable],
            query_document_filters=[readable],
            fields=["title"],
        )
        return JSONResponse([{**as_json(hit.key, hit.fields), "overlap": hit.overlap} for hit in result.hits])

    def words(self, request: Request) -> Response:
        """`/search?q=stove&like=ID&overlap=0.5`: documents with these words that are similar to a document.

        It is a request of the application, with its own words and scores. The clause for similar documents is a filter.
        """
        readable, params = readable_by(request), request.query_params
        words = {"simple_query_string": {"query": params.get("q", ""), "fields": ["title^2", "body"]}}
        similar = self._make_similar(request, readable)
        filters = [readable, similar.clause(exclude_id=params["like"])] if similar else [readable]
        source_fields = similar.source_fields if similar else []
        body = {
            "query": {"bool": {"must": [words], "filter": filters}},
            "_source": ["title", *source_fields],
            "size": CANDIDATE_COUNT if similar else PAGE_SIZE,
        }
        hits = self.client.search(index=self.index, body=body)["hits"]["hits"]
        if similar:
            hits = [refined.hit for refined in similar.refine(hits)]
        page = hits[:PAGE_SIZE]
        return JSONResponse([as_json(DocumentKey(hit["_id"], hit["_index"]), hit["_source"]) for hit in page])

    def shared(self, request: Request) -> Response:
        """`/documents/ID/shared/OTHER`: the other document, with the shared text marked."""
        filters, ids = [readable_by(request)], request.path_params
        hit, source = FingerprintQuery(ids["other"]), FingerprintQuery(ids["id"])
        found = self.search.highlight(hit, source, filters=filters, query_document_filters=filters)
        return HTMLResponse(f"<!doctype html><title>shared</title><pre>{found.hit.html()}</pre>")

    def _make_similar(self, request: Request, readable: dict[str, Any]) -> Similar | None:
        """Return the query for documents similar to the document `like`, which the user must be allowed to read."""
        if not (id := request.query_params.get("like")):
            return None
        query = {"bool": {"filter": [{"ids": {"values": [id]}}, readable]}}
        body = {"query": query, "_source": ["simdoc.tokens"]}
        found = self.client.search(index=self.index, body=body)["hits"]["hits"]
        if not found:
            raise UnknownDocumentError(id)
        fingerprint = found[0]["_source"].get("simdoc") or {}  # empty without a text; without words, it has no tokens
        return Similar(fingerprint.get("tokens"), number(request, "overlap"), fingerprint_size_field="simdoc.buckets")


def readable_by(request: Request) -> dict[str, Any]:
    """Return the filter of every search of this user. In a real application, the session names the user."""
    return {"terms": {"readers": [request.headers.get("x-user", "nobody"), "everyone"]}}


def number(request: Request, name: str) -> float | None:
    """Return a number of the query string."""
    try:
        return float(request.query_params[name]) if name in request.query_params else None
    except ValueError:
        raise HTTPException(400, f"{name} must be a number") from None


def as_json(key: DocumentKey, fields: Any) -> dict[str, Any]:
    """Return the values of a hit for the user. Tokens are omitted, because they show which documents share text."""
    return {"id": key.id, "index": key.index, "title": fields.get("title")}


async def refused(_request: Request, error: Exception) -> Response:
    """Return the error as one sentence. A document that the user may not read is reported as unknown."""
    statuses: dict[type[SimdocError], int] = {UnknownDocumentError: 404, QuerySyntaxError: 400, StoreError: 503}
    status = next((status for kind, status in statuses.items() if isinstance(error, kind)), 422)
    return JSONResponse({"error": str(error)}, status)


def application(client: OpenSearch, index: str = "manuals") -> Starlette:
    """Return the application, for an ASGI server."""
    pages = Pages(client, index)
    routes = [
        Route("/search", pages.words),
        Route("/documents/{id}/similar", pages.similar),
        Route("/documents/{id}/shared/{other}", pages.shared),
    ]
    return Starlette(routes=routes, exception_handlers={SimdocError: refused})


def from_environment() -> Starlette:
    """Return the application for the engine and the index that environment variables name."""
    return application(OpenSearch(os.environ["OPENSEARCH_URL"]), os.environ.get("INDEX", "manuals"))
