"""`template install --index-template` extends an index template for the fingerprint field and the pipeline."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simdoc_search.attach.index_template import remove_dates
from simdoc_search.stores.remote.schema import component_template
from tests.support.applications import Application, application
from tests.support.cli import answer, output, run, sentence, words
from tests.support.engines import own_name
from tests.support.pipeline import expected, ours

RECORD = {"simdoc_text_1": "title", "simdoc_text_2": "body"}


def text_hash(app: Application, index: str) -> Any:
    """The text fields that the mapping records."""
    mappings = app.call("GET", f"/{index}/_mapping")[index]["mappings"]
    return mappings["properties"]["simdoc"]["properties"]["text_hash"].get("meta")


def final_pipeline(app: Application, index: str) -> Any:
    """The pipeline of an index."""
    return app.call("GET", f"/{index}/_settings")[index]["settings"]["index"].get("final_pipeline")


def state(app: Application) -> list[Any]:
    """Everything that an installation could change."""
    places = ["_index_template/NAME", "_component_template/simdoc", "_ingest/pipeline/NAME", "NAME*"]
    return [app.call("GET", f"/{place}", allowed_statuses=(404,)) for place in places]


@pytest.mark.parametrize(
    ("engine_url", "kind"),
    [("opensearch", "alias"), ("elasticsearch_7", "alias"), ("opensearch", "data stream")],
    indirect=["engine_url"],
)
def test_an_index_after_a_rollover_has_the_field_and_the_pipeline(app: Application, kind: str) -> None:
    """All commands know its text fields."""
    if kind == "alias":
        app.make_template()
        app.make_alias()
    else:
        app.make_template(data_stream={})
        app.call("PUT", "/_data_stream/NAME")
    installed = answer(*app.install("--index", app.name, "--index-template", app.name))
    text = words(0, 200)
    app.write("old", {"title": "A title", "body": text})
    index = app.roll_over()

    assert ([], True) == (installed["warnings"], installed["index_template_changed"])
    assert index == app.write("new", {"title": "A title", "body": text})
    assert (app.name, RECORD) == (final_pipeline(app, index), text_hash(app, index))
    assert expected(f"A title\n{text}") == ours(app.url, index, "new")
    place = f"{app.url}/{app.name}"
    status = answer("status", place)
    assert (0, 2) == (status["missing_count"], status["staleness"]["sampled_count"])
    assert [0, 0] == [answer("backfill", place, *options)["updated_count"] for options in ([], ["--stale"])]
    (hit,) = answer("similar", "--store", place, '"old"_50')["hits"]
    (found,) = answer("passages", "old", "--store", place)["hits"]
    assert ("new", 1.0, "new") == (hit["id"], hit["overlap"], found["id"])


def test_the_next_index_uses_the_text_fields_of_the_others_behind_its_alias(app: Application) -> None:
    """Here the index template was written by hand, without text fields."""
    text = words(0, 200)
    app.make_template()
    app.make_alias()
    answer(*app.install("--index", app.name))
    by_hand = app.template()
    by_hand["composed_of"].append("simdoc")
    by_hand["template"]["settings"]["index"]["final_pipeline"] = app.name
    app.call("PUT", "/_index_template/NAME", by_hand)
    app.write("old", {"title": "A title", "body": text})
    index = app.roll_over()
    app.write("new", {"title": "A title", "body": text})

    assert text_hash(app, index) is None
    assert 2 == answer("status", f"{app.url}/{app.name}")["staleness"]["sampled_count"]
    assert 0 == answer("backfill", f"{app.url}/{app.name}", "--stale")["updated_count"]
    assert RECORD == text_hash(app, index)


def test_everything_else_in_the_template_is_kept(app: Application) -> None:
    """A new index has the mapping of the component and the text fields. A second installation changes nothing."""
    app.make_template()
    before = app.template()
    printed = output(*app.install("--index-template", app.name))
    after = app.template()
    again = answer(*app.install("--index-template", app.name))
    index = app.make_alias()
    mapping = app.call("GET", f"/{index}/_mapping")[index]["mappings"]["properties"]["simdoc"]

    assert f"the index template {app.name} now includes the pipeline and the text fields, for new indices" in printed
    assert ([], False) == (again["changes"], again["index_template_changed"])
    assert app.template() == after
    assert [app.component, "simdoc"] == after.pop("composed_of")
    template = after["template"]
    assert app.name == template["settings"]["index"].pop("final_pipeline")
    added = template["mappings"]["properties"].pop("simdoc")["properties"]
    assert {"text_hash": {"type": "keyword", "meta": RECORD}} == added
    assert {**before, "composed_of": None} == {**after, "composed_of": None}
    assert RECORD == mapping["properties"]["text_hash"].pop("meta")
    assert component_template()["template"]["mappings"]["properties"]["simdoc"] == mapping


def test_a_dry_run_shows_the_requests_and_changes_nothing(app: Application) -> None:
    """The requests can be sent by hand."""
    app.make_template()
    app.make_alias()
    before = state(app)
    command = app.install("--index", app.name, "--index-template", app.name, "--dry-run")
    printed, values = output(*command), answer(*command)
    assert before == state(app)

    assert "  install the component template simdoc\n" in printed
    assert f"extend the index template {app.name}: add simdoc to composed_of, set index.final_pipeline" in printed
    shown = json.loads(printed.partition(f"PUT /_index_template/{app.name}\n")[2])
    for request in values["requests"]:
        app.call(request["method"], request["path"], request["body"])
    assert [] == answer(*command)["changes"]
    assert "nothing would be changed" in output(*command)
    assert shown["composed_of"] == app.template()["composed_of"]


def test_without_the_pipeline_the_template_gets_the_component(app: Application) -> None:
    """This is for a loader that makes the fingerprints. The text fields are recorded."""
    app.make_template()
    values = answer("template", "install", app.url, "--text-field", "title", "--index-template", app.name)
    index = app.make_alias()

    assert {"simdoc_text_1": "title"} == text_hash(app, index)
    assert [app.component, "simdoc"] == app.template()["composed_of"]
    assert "final_pipeline" not in app.template()["template"]["settings"]["index"]
    assert values["index_template_changed"]


def test_the_dates_of_the_engine_are_not_sent_back(elasticsearch_url: str) -> None:
    """Elasticsearch 9.2 and newer return dates, but do not accept them."""
    with application(elasticsearch_url, own_name("app")) as app:
        app.make_template()
        answer("template", "install", app.url, "--index-template", app.name)
        assert [app.component, "simdoc"] == app.template()["composed_of"]

    dates = {"created_date_millis": 1, "modified_date_millis": 1, "created_date": "2026", "modified_date": "2026"}
    assert {"priority": 1} == remove_dates({"priority": 1, **dates})


def test_a_missing_or_legacy_template_is_refused(app: Application) -> None:
    """A legacy template has no component templates."""
    missing = sentence(run(*app.install("--index-template", app.name)))
    app.call("PUT", "/_template/NAME", {"index_patterns": [f"{app.name}*"]})
    legacy = sentence(run(*app.install("--index-template", app.name)))

    assert f"has no index template {app.name}; create the template" in missing
    assert f"has no index template {app.name}; replace the legacy template {app.name} (in _template)" in legacy


def test_another_final_pipeline_is_replaced_only_with_force(app: Application) -> None:
    """A component of the template may set it."""
    other = f"{app.name}-other"
    app.make_template()
    settings = {"template": {"settings": {"index.final_pipeline": other}}}
    app.call("PUT", f"/_component_template/{app.component}", settings)
    before = state(app)
    refused = sentence(run(*app.install("--index-template", app.name)))

    assert f"the index template {app.name} already has the final pipeline {other}; add the processor" in refused
    assert before == state(app)
    answer(*app.install("--index-template", app.name, "--force"))
    assert app.name == app.template()["template"]["settings"]["index"]["final_pipeline"]


@pytest.mark.parametrize(
    ("mappings", "reason"),
    [
        ({"_source": {"excludes": ["body"]}}, "_source excludes fields"),
        (
            {"properties": {"simdoc": {"type": "keyword"}}},
            "the field simdoc has the type keyword; choose another field name with --field",
        ),
        ({"properties": {"body": {"type": "date"}}}, "body has the type date; choose a text field"),
    ],
)
def test_a_template_whose_indices_cannot_have_fingerprints_is_refused(
    app: Application, mappings: Any, reason: str
) -> None:
    app.make_template(template={"mappings": mappings})
    before = state(app)

    refused = sentence(run(*app.install("--index-template", app.name)))
    assert f"cannot add fingerprints to the indices of the index template {app.name}: {reason}" in refused
    assert before == state(app)


def test_text_fields_that_are_not_mapped_or_recorded_are_named(app: Application) -> None:
    """A field may be misspelt, and a mapping records at most five."""
    app.make_template()
    command = ["template", "install", app.url, "--pipeline", "--name", app.name, "--index-template", app.name]
    result = run(*command, "--text-field", "titel")
    app.make_template(template={})
    texts = [part for number in range(6) for part in ("--text-field", f"text_{number}")]
    values = answer(*command, *texts, "--force")

    advice = "the template has these text fields: body, title"
    note = f"note: the index template {app.name} does not map the field titel; {advice}\n"
    assert (0, note) == (result.exit_code, result.stderr)
    (warning,) = values["warnings"]
    assert warning.startswith("the mapping cannot record the names of the text fields, because there are too many")
    assert "mappings" not in app.template()["template"]
