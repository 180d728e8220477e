"""An Elasticsearch without Painless: what needs scripts ends in one sentence and changes nothing, all else works."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from simdoc_search.errors import StoreError
from tests.support.backfill import TEXTS, bodies, load, stored, to
from tests.support.cli import answer, output, run, sentence
from tests.support.elasticsearch_engine import elasticsearch_lacks
from tests.support.http_server import Indices, indices, serving
from tests.support.http_server import answer as reply

LACKS = "cannot run scripts, as it lacks the module lang-painless; "


@pytest.fixture
def made(elasticsearch_url: str) -> Iterator[Indices]:
    """Indices of an application's own, in the core of an Elasticsearch."""
    if "scripts" not in elasticsearch_lacks():
        pytest.skip("it has scripts")
    with indices(elasticsearch_url) as them:
        yield them


@pytest.fixture
def index(made: Indices) -> str:
    """An index with documents."""
    name = made.make({"properties": {"body": {"type": "text"}}})
    with to(made.engine) as engine:
        load(engine, name, bodies())
    return name


def form(made: Indices, index: str) -> Any:
    """The mapping and the settings of an index."""
    with to(made.engine) as engine:
        return engine.call("GET", [index])


def test_a_pipeline_is_not_installed(made: Indices, index: str) -> None:
    """The index is as it was before."""
    before = form(made, index)
    for more in ([], ["--index", index]):
        said = sentence(run("template", "install", made.engine, "--pipeline", "--text-field", "body", *more))

        assert LACKS + "use simdoc-search backfill without --in-engine, or fingerprint_actions in your loader" in said
    assert before == form(made, index)


def test_the_engine_cannot_backfill_itself(made: Indices, index: str) -> None:
    """Without the option the documents get their fingerprints."""
    before = form(made, index)

    assert LACKS in sentence(run("backfill", f"{made.engine}/{index}", "--text-field", "body", "--in-engine"))
    assert before == form(made, index)
    output("backfill", f"{made.engine}/{index}", "--text-field", "body")
    told = answer("status", f"{made.engine}/{index}")
    assert (len(TEXTS), 0) == (told["documents"], told["missing"])


def test_what_needs_no_scripts_works(made: Indices, index: str) -> None:
    """Queries, duplicates and their marks, checks."""
    url, [first, *_] = f"{made.engine}/{index}", TEXTS
    made.put(index, "copy", {"body": TEXTS[first]})
    output("backfill", url, "--text-field", "body")

    assert "is fit for FINGERPRINT queries" in output("check", url)
    assert "copy" in [hit["id"] for hit in answer("similar", first, "--store", url)["hits"]]
    output("duplicates", "--store", url, "--mark")
    with to(made.engine) as engine:
        marked = {id for id, source in stored(engine, index).items() if "duplicate_of" in source["simdoc"]}
    assert {first, "copy"} == marked


def test_scripts_that_are_not_allowed_are_told_from_such_that_are_missing() -> None:
    """By the settings of the engine; one that may not be asked is believed."""
    languages = [{"language": "painless", "contexts": ["update"]}]
    told = [
        reply({"types_allowed": types, "language_contexts": languages}) for types in (["inline", "stored"], ["stored"])
    ]
    with serving(lambda _: told[0]) as server, to(server.url) as engine:
        engine.require_scripts("update", "do without")
        with pytest.raises(StoreError, match=r"does not allow scripts for ingest \(see its .*\); do without"):
            engine.require_scripts("ingest", "do without")
        server.handle = lambda _: told[1]
        with pytest.raises(StoreError, match="does not allow scripts for update"):
            engine.require_scripts("update", "do without")
        server.handle = lambda _: reply({"error": "no permission"}, 403)
        engine.require_scripts("update", "do without")
