"""Queries and requests are recorded as OpenTelemetry spans."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from opensearchpy import OpenSearch
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from simdoc_search import Document, Settings, SimilaritySearch, open_store
from simdoc_search.errors import StoreError, UnknownDocumentError
from simdoc_search.sketch.concepts import ConceptSettings
from simdoc_search.sketch.sentences import SentenceSettings
from simdoc_search.tracing import span
from tests.support.engines import discard, own_name

TEXT = "They met Jason Dufner at Oak Hill, and the secret merger of both companies was signed on the first of May."


@pytest.fixture
def finished(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[ReadableSpan]]]:
    """Record spans as an application does. The function returns the spans that finished since its last call."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)

    def finished() -> list[ReadableSpan]:
        spans = list(exporter.get_finished_spans())
        exporter.clear()
        return spans

    yield finished
    provider.shutdown()


Finished = Callable[[], list[ReadableSpan]]


def test_each_query_is_a_span(finished: Finished) -> None:
    """The span does not contain the query."""
    search = SimilaritySearch(
        open_store(":memory:", Settings(sentences=SentenceSettings(), concepts=ConceptSettings("names")))
    )
    search.index([Document("private/a", TEXT), Document("private/b", TEXT)])
    assert ["simdoc_search.index"] == [span.name for span in finished()]
    search.similar("private/a")
    search.similar(text=TEXT)
    search.passages("private/a")
    search.versions("private/a")
    search.related("private/a")
    search.highlight("private/a", "private/b")
    with pytest.raises(UnknownDocumentError):
        search.similar("private/c")
    spans = finished()

    queries = ["similar", "similar", "passages", "versions", "related", "highlight", "similar"]
    assert [f"simdoc_search.{name}" for name in queries] == [span.name for span in spans]
    assert [True] * 6 + [False] == [span.status.is_unset for span in spans]
    assert {"error.type": "UnknownDocumentError"} == dict(spans[-1].attributes or {})
    assert "private" not in "".join(span.to_json() for span in spans)


def test_each_request_to_an_engine_is_a_span_below_its_query(finished: Finished, opensearch_url: str) -> None:
    index = own_name()
    with OpenSearch(opensearch_url) as client, open_store(client=client, index=index, create=True) as store:
        try:
            search = SimilaritySearch(store)
            search.index([Document("a", TEXT), Document("b", TEXT)])
            assert {"bulk", f"refresh {index}", "simdoc_search.index"} <= {span.name for span in finished()}
            search.similar("a", overlap=0.5)
            *requests, question = finished()
            with pytest.raises(StoreError):
                search.similar("a", filters=[{"no_such_clause": {"x": 1}}])
            refused = finished()[-2]
        finally:
            discard(opensearch_url, index)

    assert question.context is not None
    assert {question.context.span_id} == {span.parent.span_id for span in requests if span.parent}
    assert {f"search {index}"} == {span.name for span in requests}
    assert {trace.SpanKind.CLIENT} == {span.kind for span in requests}
    assert {
        "db.system.name": "opensearch",
        "db.operation.name": "search",
        "db.collection.name": index,
        "http.request.method": "POST",
    } == dict(requests[0].attributes or {})
    assert {"http.response.status_code": 400, "error.type": "400"}.items() <= dict(refused.attributes or {}).items()
    assert not refused.status.is_ok


def test_a_span_has_the_span_of_the_application_as_its_parent(finished: Finished) -> None:
    """This also works in a thread."""

    async def ask() -> None:
        with span("application"):
            await asyncio.to_thread(SimilaritySearch(open_store(":memory:")).similar, text=TEXT)

    asyncio.run(ask())
    inner, outer = finished()

    assert ("simdoc_search.similar", "application") == (inner.name, outer.name)
    assert inner.parent is not None
    assert outer.context is not None
    assert outer.context.trace_id == inner.parent.trace_id


@pytest.mark.slow
def test_opentelemetry_is_not_loaded_by_us(tmp_path: Path) -> None:
    code = (
        "import sys; from simdoc_search import *; search = SimilaritySearch(open_store(':memory:')); "
        "search.index([Document('a', 'one two three')]); search.similar('a'); "
        "print([name for name in sys.modules if 'opentelemetry' in name])"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, check=True, cwd=tmp_path)

    assert b"[]\n" == done.stdout.replace(b"\r", b"")
