"""Nodes that die, an engine that stops, an engine that is full: no document is lost or doubled."""

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

COUNT = 1500
WORDS = 120


@pytest.fixture(scope="module")
def small(
    request: pytest.FixtureRequest, engine_home: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """One node that has hardly any memory."""
    need_packages(request.config)
    with running_cluster(heap="256m", version=opensearch_version(), data=tmp_path_factory.mktemp("engine")) as cluster:
        yield cluster


@pytest.fixture
def index(three_nodes: Cluster) -> str:
    """A store on all three nodes, with an index of its own."""
    hosts = ",".join(url.removeprefix("http://") for url in three_nodes.urls)
    return f"http://{hosts}/{uuid4()}"


def stored(url: str) -> dict[str, str | None]:
    """All ids and texts; fails if an id is there twice."""
    with closing(open_store(url)) as store:
        records = list(store.scan(text=True))
    assert len({record.id for record in records}) == len(records)
    return {record.id: record.text for record in records}


def during(made: list[Document], action: Callable[[], None]) -> Iterator[Document]:
    """The documents; half-way through them something happens."""
    for number, document in enumerate(made):
        if number == len(made) // 2:
            action()
        yield document


def test_a_node_killed_while_indexing_costs_no_document(three_nodes: Cluster, index: str) -> None:
    made = documents("killed", COUNT, WORDS)
    with closing(open_store(index, create=True)) as store:
        call(three_nodes.url, "GET", f"/_cluster/health/{index.rpartition('/')[2]}?wait_for_status=green&timeout=60s")
        report = SimilaritySearch(store).index(during(made, lambda: three_nodes.kill(3)))
        three_nodes.restart_node(3)

    assert (COUNT, []) == (report.indexed, report.skipped)
    assert {each.id: each.text for each in made} == stored(index)


def test_a_node_killed_while_querying_costs_no_hit(three_nodes: Cluster, index: str) -> None:
    made = documents("asked", 100, WORDS)
    made += [Document(f"copy of {each.id}", each.text) for each in made]
    with closing(open_store(index, create=True)) as store:
        search = SimilaritySearch(store)
        search.index(made)
        call(three_nodes.url, "GET", f"/_cluster/health/{index.rpartition('/')[2]}?wait_for_status=green&timeout=60s")
        killer = threading.Timer(0.5, lambda: three_nodes.kill(2))
        killer.start()
        deadline = time.monotonic() + 60
        for each in made[:100]:
            assert [f"copy of {each.id}"] == [hit.id for hit in asked(search, each.id, deadline).hits]
        killer.join()
        three_nodes.restart_node(2)


def asked(search: SimilaritySearch, id: str, deadline: float) -> SearchResult:
    """The answer to a query, asked again where it fails with a sentence."""
    while True:
        try:
            return search.similar(f'"{id}"_90_80')
        except SimdocError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def test_an_engine_that_stops_ends_the_run_and_the_next_completes_it(
    small: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")
    monkeypatch.setattr(retry, "BACKGROUND_SECONDS", 2.0)
    monkeypatch.setattr(writer, "CHUNK_ACTIONS", 100)
    made = documents("stopped", COUNT, WORDS)
    url = f"{small.url}/{uuid4()}"

    def stop() -> None:
        time.sleep(2)  # what was sent arrives
        small.kill(1)

    with closing(open_store(url, create=True)) as store:
        with pytest.raises(StoreUnavailableError) as error:
            SimilaritySearch(store).index(during(made, stop))
        small.restart_node(1)
        report = SimilaritySearch(store).index(made)

    assert "run it again" in str(error.value)
    assert COUNT == report.indexed + report.unchanged
    assert 0 < report.unchanged < COUNT
    assert {each.id: each.text for each in made} == stored(url)


@pytest.mark.parametrize(("reason", "limit"), [("rejected execution", None), ("Data too large", "3mb")])
def test_what_a_full_engine_refuses_arrives_later(
    reason: str, limit: str | None, small: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[str] = []
    wait = retry.Retries.pause

    def noticed(self: retry.Retries, why: str) -> None:
        refused.append(why)
        wait(self, why)

    monkeypatch.setattr(retry.Retries, "pause", noticed)
    monkeypatch.setattr(writer, "THREADS", 8)
    monkeypatch.setattr(bulk, "CHUNK_BYTES", 8_000_000)
    made = [Document(each.id, 20 * each.text) for each in documents("full", 600, 800)]
    with open_store(":memory:") as prepared:  # so that nothing slows the sending down
        SimilaritySearch(prepared).index(made)
        records = list(prepared.scan(text=True, passages=True))
    url = f"{small.url}/{uuid4()}"
    breaker = "network.breaker.inflight_requests.limit"
    with closing(open_store(url, create=True)) as store:
        call(small.url, "PUT", "/_cluster/settings", {"transient": {breaker: limit}})
        try:
            with store.writer() as writing:
                writing.put(records)
        finally:
            call(small.url, "PUT", "/_cluster/settings", {"transient": {breaker: None}})

    assert (len(made), {}) == (len(records), writing.failed)
    assert {each.id: each.text for each in made} == stored(url)
    assert any(reason in why for why in refused)
