"""If nodes are killed, or an engine stops or is overloaded, no document is lost or stored twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest

from simdoc_search import Document, SearchResult, SimilaritySearch, open_store
from simdoc_search.devengine import Cluster, running_cluster
from simdoc_search.errors import SimdocError, StoreUnavailableError
from simdoc_search.stores.remote import bulk, retry, writer
from tests.support.engines import call, need_packages, opensearch_version
from tests.support.texts import documents

COUNT = 800
WORDS = 80


@pytest.fixture(scope="module")
def small_cluster(
    request: pytest.FixtureRequest, engine_home: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """A cluster of one node with little memory."""
    need_packages(request.config)
    with running_cluster(heap="256m", version=opensearch_version(), data=tmp_path_factory.mktemp("engine")) as cluster:
        yield cluster


@pytest.fixture
def index(three_nodes: Cluster) -> str:
    """The address of a new store on all three nodes."""
    hosts = ",".join(url.removeprefix("http://") for url in three_nodes.urls)
    return f"http://{hosts}/{uuid4()}"


def stored(url: str) -> dict[str, str | None]:
    """Return the stored text of each document, and check that each id is stored once."""
    with closing(open_store(url)) as store:
        records = list(store.scan(load={"text"}))
    assert len({record.id for record in records}) == len(records)
    return {record.id: record.text for record in records}


def with_action_halfway(documents: list[Document], action: Callable[[], None]) -> Iterator[Document]:
    """Yield the documents, and run an action halfway through."""
    for number, document in enumerate(documents):
        if number == len(documents) // 2:
            action()
        yield document


def texts_of(documents: list[Document]) -> dict[str, str]:
    """Return the text of each document."""
    return {document.id: document.text for document in documents}


def test_a_node_killed_while_indexing_loses_no_document(three_nodes: Cluster, index: str) -> None:
    written = documents("killed", COUNT, WORDS)
    with closing(open_store(index, create=True)) as store:
        call(three_nodes.url, "GET", f"/_cluster/health/{index.rpartition('/')[2]}?wait_for_status=green&timeout=60s")
        report = SimilaritySearch(store).index(with_action_halfway(written, lambda: three_nodes.kill(3)))
        three_nodes.restart_node(3)

    assert (COUNT, []) == (report.added_count, report.skipped)
    assert texts_of(written) == stored(index)


def test_a_node_killed_while_querying_loses_no_hit(three_nodes: Cluster, index: str) -> None:
    originals = documents("queried", 50, WORDS)
    copies = [Document(f"copy of {document.id}", document.text) for document in originals]
    with closing(open_store(index, create=True)) as store:
        search = SimilaritySearch(store)
        search.index([*originals, *copies])
        call(three_nodes.url, "GET", f"/_cluster/health/{index.rpartition('/')[2]}?wait_for_status=green&timeout=60s")
        killer = threading.Timer(0.5, lambda: three_nodes.kill(2))
        killer.start()
        deadline = time.monotonic() + 60
        for document in originals:
            assert [f"copy of {document.id}"] == [hit.id for hit in similar(search, document.id, deadline).hits]
        killer.join()
        three_nodes.restart_node(2)


def similar(search: SimilaritySearch, id: str, deadline: float) -> SearchResult:
    """Return the result of a query, which is repeated if it fails with an error of ours."""
    while True:
        try:
            return search.similar(f'"{id}"_90_80')
        except SimdocError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def test_an_engine_that_stops_ends_the_run_and_the_next_completes_it(
    small_cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")
    monkeypatch.setattr(retry, "BACKGROUND_RETRY_SECONDS", 2.0)
    monkeypatch.setattr(writer, "MAX_CHUNK_ACTIONS", 100)
    written = documents("stopped", COUNT, WORDS)
    url = f"{small_cluster.url}/{uuid4()}"

    def stop() -> None:
        time.sleep(2)  # requests that were sent arrive
        small_cluster.kill(1)

    with closing(open_store(url, create=True)) as store:
        with pytest.raises(StoreUnavailableError) as error:
            SimilaritySearch(store).index(with_action_halfway(written, stop))
        small_cluster.restart_node(1)
        report = SimilaritySearch(store).index(written)

    assert "run the command again" in str(error.value)
    assert COUNT == report.added_count + report.unchanged_count
    assert 0 < report.unchanged_count < COUNT
    assert texts_of(written) == stored(url)


@pytest.mark.parametrize(("reason", "limit"), [("rejected execution", None), ("Data too large", "3mb")])
def test_writes_that_a_full_engine_refuses_are_sent_again(
    reason: str, limit: str | None, small_cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[str] = []
    pause = retry.Retries.pause

    def noted(self: retry.Retries, reason: str) -> None:
        refused.append(reason)
        pause(self, reason)

    monkeypatch.setattr(retry.Retries, "pause", noted)
    monkeypatch.setattr(writer, "MAX_CONCURRENT_CHUNKS", 8)
    monkeypatch.setattr(bulk, "MAX_CHUNK_BYTES", 8_000_000)
    written = [Document(document.id, 20 * document.text) for document in documents("full", 300, 800)]
    with open_store(":memory:") as prepared:  # computing the records first makes sending faster
        SimilaritySearch(prepared).index(written)
        records = list(prepared.scan(load={"text", "passages"}))
    url = f"{small_cluster.url}/{uuid4()}"
    breaker = "network.breaker.inflight_requests.limit"
    with closing(open_store(url, create=True)) as store:
        call(small_cluster.url, "PUT", "/_cluster/settings", {"transient": {breaker: limit}})
        try:
            with store.writer() as writing:
                writing.put(records)
        finally:
            call(small_cluster.url, "PUT", "/_cluster/settings", {"transient": {breaker: None}})

    assert (len(written), {}) == (len(records), writing.refused)
    assert texts_of(written) == stored(url)
    assert any(reason in message for message in refused)
