"""The pipeline is put into an engine and used by an index; where something is refused, nothing is left behind."""

from __future__ import annotations

import pytest

from simdoc_search.attach import templates
from simdoc_search.attach.pipeline import pipeline_body
from simdoc_search.attach.pipeline.default_pipeline import final_pipeline
from simdoc_search.errors import StoreError, StoreNotFoundError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import open_store
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import answer, output, run
from tests.support.engines import call, discard, own_name
from tests.support.installing import use_pipeline
from tests.support.pipeline import NEW, OLD, expected, ours


def test_the_command_installs_all_and_says_what_is_left(opensearch_url: str, engine: Engine) -> None:
    """The index gets our mapping and the pipeline; a second time nothing changes; another pipeline is not replaced."""
    name, pipeline = own_name(), own_name()
    call(
        opensearch_url,
        "PUT",
        f"/{name}",
        {"mappings": {"dynamic": "strict", "properties": {"title": {"type": "text"}}}},
    )
    command = ["template", "install", opensearch_url, "--pipeline", "--name", pipeline]
    first = answer(*command, "--text-field", "title", "--index", name, "--force")
    again = answer(*command, "--text-field", "title", "--index", name)
    call(opensearch_url, "PUT", f"/{name}/_doc/1", {"title": OLD})
    other = run(*command, "--text-field", "body")

    assert (True, [name]) == (first["pipeline_installed"], first["indices"])
    assert (False, False) == (again["pipeline_installed"], again["installed"])
    assert expected(OLD) == ours(opensearch_url, name)
    assert f"has another pipeline {pipeline}; compare it with template show, or use --force" in other.stderr
    assert f'"settings": {{"index.final_pipeline": "{pipeline}"}}' in output(*command, "--text-field", "title")
    discard(opensearch_url, name)


def test_what_an_older_version_installed_is_replaced(opensearch_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same pipeline with another script, and a component template with what ours had then."""
    name = own_name()
    monkeypatch.setattr(templates, "COMPONENT", name)
    component, pipeline = component_template(), pipeline_body()
    component["template"]["mappings"]["properties"]["simdoc"]["properties"]["error"]["ignore_above"] = 1024
    pipeline["processors"][0]["script"]["source"] = "ctx.older = true"
    call(opensearch_url, "PUT", f"/_component_template/{name}", component)
    call(opensearch_url, "PUT", f"/_ingest/pipeline/{name}", pipeline)
    command = ["template", "install", opensearch_url, "--pipeline", "--name", name]
    other = run(*command, "--text-field", "title")
    first, second = answer(*command), answer(*command)
    call(opensearch_url, "DELETE", f"/_component_template/{name}")
    call(opensearch_url, "DELETE", f"/_ingest/pipeline/{name}")

    assert f"has another pipeline {name}" in other.stderr
    assert [f"replace the component template {name}", f"replace the pipeline {name}"] == first["changes"]
    assert [] == second["changes"]


def test_another_final_pipeline_stays(opensearch_url: str, engine: Engine) -> None:
    """The sentence says how both run."""
    name = own_name()
    call(opensearch_url, "PUT", f"/_ingest/pipeline/{name}", {"processors": []})
    call(opensearch_url, "PUT", f"/{name}", {"settings": {"index.final_pipeline": name}})

    with pytest.raises(StoreError, match=r'add the processor \{"pipeline": \{"name": "simdoc"\}\} to that'):
        use_pipeline(engine, name)
    with pytest.raises(StoreNotFoundError):
        use_pipeline(engine, f"{name}-none")
    assert [name] == use_pipeline(engine, name, force=True)
    assert "simdoc" == final_pipeline(engine, name)
    discard(opensearch_url, name)


def test_an_index_has_the_pipeline_of_its_settings(opensearch_url: str) -> None:
    """Those of its mapping; what no script can make is said before anything is changed."""
    name = own_name()
    call(opensearch_url, "PUT", f"/{name}/_doc/1?refresh=true", {"body": OLD})
    output("backfill", f"{opensearch_url}/{name}", "--text-field", "body", "--no-passages")
    output("template", "install", opensearch_url, "--pipeline", "--name", name, "--index", name)
    call(opensearch_url, "PUT", f"/{name}/_doc/1?refresh=true", {"body": NEW})

    assert expected(NEW, Settings(passages=None)) == ours(opensearch_url, name)
    with open_store(f"{opensearch_url}/{name}") as store:
        assert Settings(passages=None) == store.settings
    refused = run("template", "install", opensearch_url, "--pipeline", SIMDOC_HASH_KEY="0123456789abcdef")
    assert "cannot make fingerprints with a secret hash key; use simdoc-search backfill" in refused.stderr
    discard(opensearch_url, name)
