"""In Elasticsearch without Painless, commands that need scripts fail with one sentence. All others work."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simdoc_search.errors import StoreError
from tests.support.backfill import TEXTS, bodies, load, stored, to
from tests.support.cli import answer, output, run, sentence
from tests.support.elasticsearch_engine import elasticsearch_lacks
from tests.support.http_server import TempIndices, indices, serving
from tests.support.http_server import answer as reply

LACKS = "cannot run scripts, because the module lang-painless is not installed; "


@pytest.fixture
def temp_indices(elasticsearch_url: str) -> Iterator[TempIndices]:
    """TempIndices in an Elasticsearch without modules."""
    if "scripts" not in elasticsearch_lacks():
        pytest.skip("it has scripts")
    with indices(elasticsearch_url) as owned:
        yield owned


def test_commands_that_need_scripts_change_nothing(temp_indices: TempIndices) -> None:
    """Queries, duplicates, marks and checks work anyway."""
    index = temp_indices.make({"properties": {"body": {"type": "text"}}})
    url, [first, *_] = f"{temp_indices.engine}/{index}", TEXTS
    with to(temp_indices.engine) as engine:
        load(engine, index, {**bodies(), "copy": {"body": TEXTS[first]}})
        before = engine.call("GET", [index])
        install = ["template", "install", temp_indices.engine, "--pipeline", "--text-field", "body"]
        fill = ["backfill", url, "--text-field", "body", "--in-engine"]
        for command in (install, [*install, "--index", index], fill):
            reason = sentence(run(*command))
            assert f"{LACKS}use `simdoc-search backfill` without --in-engine, or the Python function" in reason
        assert before == engine.call("GET", [index])

        output("backfill", url, "--text-field", "body")
        status = answer("status", url)
        assert (len(TEXTS) + 1, 0) == (status["document_count"], status["missing_count"])
        assert "is ready for FINGERPRINT queries" in output("check", url)
        assert "copy" in [hit["id"] for hit in answer("similar", first, "--store", url)["hits"]]
        output("duplicates", "--store", url, "--mark")
        marked = {id for id, source in stored(engine, index).items() if "duplicate_of" in source["simdoc"]}
        assert {first, "copy"} == marked

        engine.call("POST", [index, "_update", "copy"], {"doc": {"body": None}}, refresh=True)
        assert 1 == answer("backfill", url, "--stale")["removed_count"]
        removed = stored(engine, index)["copy"]
        assert (None, None) == (removed["body"], removed["simdoc"])  # only a script can remove the field


def test_forbidden_scripts_are_an_error() -> None:
    """The settings of the engine show it. If this user may not read the settings, scripts are tried."""
    languages = [{"language": "painless", "contexts": ["update"]}]
    allowed, stored_only = (
        reply({"types_allowed": types, "language_contexts": languages}) for types in (["inline", "stored"], ["stored"])
    )
    with serving(lambda _: allowed) as server, to(server.url) as engine:
        engine.require_scripts("update", "do without")
        with pytest.raises(StoreError, match=r"does not allow ingest scripts \(see its .*\); do without"):
            engine.require_scripts("ingest", "do without")
        server.handle = lambda _: stored_only
        with pytest.raises(StoreError, match="does not allow update scripts"):
            engine.require_scripts("update", "do without")
        server.handle = lambda _: reply({"error": "no permission"}, 403)
        engine.require_scripts("update", "do without")
