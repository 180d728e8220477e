"""The way to an engine: the application's own client, what is asked, and which engine it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from simdoc_search.errors import StoreNotFoundError, StoreUnavailableError
from simdoc_search.query.dsl import MAX_CLAUSES
from simdoc_search.stores import open_store
from simdoc_search.stores.location import ENGINES, EngineKind
from simdoc_search.stores.remote.connection import connect
from tests.support.cli import run, usage_error
from tests.support.http_server import Server, answer, error, unused_url
from tests.support.sentences import MAPPING

pytestmark = pytest.mark.usefixtures("no_credentials")


def test_a_client_needs_an_index_and_no_location(server: Server) -> None:
    """One of the two ways, wholly."""
    client = OpenSearch([server.url])
    for given in ({}, {"client": client}, {"index": "i"}, {"location": server.url, "client": client, "index": "i"}):
        with pytest.raises(TypeError, match="give a location, or a client and an index"):
            open_store(**given)
    client.close()

    assert [] == server.requests


# --- what is asked ---


def test_a_request_is_sent_as_it_is_meant(server: Server) -> None:
    """Parts of the path are quoted, booleans written as JSON does, and what is allowed is no error."""
    engine, _ = connect(f"{server.url}/index")

    assert engine.call("POST", ["a/b", "_x"], {"é": 1}, flag=True, off=False, n=3, allow=(404,)) is None
    request = server.requests[-1]
    assert ("POST", "/a%2Fb/_x?flag=true&off=false&n=3") == (request.method, request.path)
    assert [{"é": 1}] == request.lines()
    with pytest.raises(
        StoreNotFoundError,
        match=r"has no such index \[index\]; correct its name, or index",
    ):
        engine.call("GET", ["index"])
    engine.close()


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        ({"defaults": {"indices.query.bool.max_clause_count": "512"}}, 512),
        ({"persistent": {"indices.query.bool.max_clause_count": "4096"}, "defaults": {}}, 4096),
        ({"transient": {"indices.query.bool.max_clause_count": "9"}, "persistent": {}}, 9),
        ({"transient": {}, "persistent": {}}, MAX_CLAUSES),
        (None, MAX_CLAUSES),
    ],
)
def test_the_clause_limit_is_the_engine_s(server: Server, given: Any, limit: int) -> None:
    """As it is set, or by default; who may not ask takes the default of all engines."""
    server.handle = lambda _: error(403, "security_exception", "no") if given is None else answer(given)
    engine, _ = connect(f"{server.url}/index")

    assert limit == engine.max_clauses()
    engine.close()


def test_a_refusal_of_the_limit_for_another_reason_is_an_error() -> None:
    """An engine that is away is not taken for one with the default."""
    engine, _ = connect(f"{unused_url()}/index", engine="opensearch")
    with pytest.raises(StoreUnavailableError):
        engine.max_clauses()
    engine.close()


@pytest.mark.parametrize("kind", ENGINES)
def test_the_engine_can_be_named(server: Server, kind: EngineKind) -> None:
    """Nobody is asked which one it is."""
    server.handle = lambda _: replace(MAPPING, product="Elasticsearch")
    with open_store(f"{server.url}/docs", engine=kind) as store:
        client: Any = store.engine._transport.client  # type: ignore[attr-defined] # of a store on an engine

    assert type(client).__name__.lower() == kind
    assert "/" not in [each.path for each in server.requests]


def test_no_other_engine_can_be_named(server: Server) -> None:
    """By the library as on the command line."""
    with pytest.raises(ValueError, match="engine must be one of opensearch, elasticsearch, not 'solr'"):
        open_store(f"{server.url}/docs", engine="solr")  # type: ignore[arg-type] # a person may

    assert "'solr' is not one of" in usage_error(run("info", "--store", f"{server.url}/docs", "--engine", "solr"))


@pytest.mark.parametrize(
    "command",
    [
        ["info", "--store", "URL/docs"],
        ["similar", "doc", "--store", "URL/docs"],
        ["explain", "doc", "--store", "URL/docs"],
        ["delete", "doc", "--store", "URL/docs"],
        ["index", "FILE", "--store", "URL/docs", "--unit", "word"],
        ["check", "URL/docs"],
        ["backfill", "URL/docs", "--text-field", "body", "--dry-run"],
        ["template", "install", "URL"],
    ],
)
def test_every_command_with_an_address_can_name_the_engine(server: Server, command: list[str], tmp_path: Path) -> None:
    """With --engine the first request is the command's own."""
    server.handle = lambda _: error(400, "refused", "not today")
    (tmp_path / "a.txt").write_text("some words")
    typed = [each.replace("URL", server.url).replace("FILE", str(tmp_path / "a.txt")) for each in command]
    run(*typed)
    run(*typed, "--engine", "opensearch")
    first, *others = [each.path for each in server.requests]

    assert "/" == first
    assert others
    assert "/" not in others
