"""An index template is extended in one step: what a rollover makes later has the mapping, the pipeline and notes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from simdoc_search.attach import templates
from simdoc_search.attach.index_template import taken_back
from simdoc_search.stores.remote.schema import component_template
from tests.support.applications import Application, application
from tests.support.cli import answer, output, run, sentence, usage_error, words
from tests.support.engines import call, own_name
from tests.support.pipeline import OLD, expected, ours

NOTE = {"simdoc_text_1": "title", "simdoc_text_2": "body"}


@pytest.fixture
def streaming(opensearch_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Application]:
    """An application with a data stream, which Elasticsearch's open part has not."""
    name = f"app-{uuid4()}"
    monkeypatch.setattr(templates, "COMPONENT", name)
    with application(opensearch_url) as made:
        made.make_template(data_stream={})
        made.call("PUT", "/_data_stream/NAME")
        yield made
    call(opensearch_url, "DELETE", f"/_component_template/{name}", allow=(404,))


def text_hash(app: Application, index: str) -> Any:
    """What an index says of its texts."""
    mappings = app.call("GET", f"/{index}/_mapping")[index]["mappings"]
    return mappings["properties"]["simdoc"]["properties"]["text_hash"].get("meta")


def final_pipeline(app: Application, index: str) -> Any:
    """The pipeline of an index."""
    return app.call("GET", f"/{index}/_settings")[index]["settings"]["index"].get("final_pipeline")


def state(app: Application, component: str) -> list[Any]:
    """All that an installation could change."""
    places = ["_index_template/NAME", f"_component_template/{component}", "_ingest/pipeline/NAME", "NAME*"]
    return [app.call("GET", f"/{place}", allow=(404,)) for place in places]


def check_after_rollover(app: Application, text: str) -> None:
    """The new index has all; and every command knows the text fields by itself."""
    index = app.roll_over()
    assert index == app.write("new", {"title": "A title", "body": text})
    assert (app.name, NOTE) == (final_pipeline(app, index), text_hash(app, index))
    assert expected(f"A title\n{text}") == ours(app.url, index, "new")

    place = f"{app.url}/{app.name}"
    status = answer("status", place)
    assert (0, 2) == (status["missing"], status["staleness"]["sampled"])
    assert "simdoc_stale_ratio" in output("status", place, "--prometheus")
    assert 0 == answer("backfill", place)["updated"]
    assert 0 == answer("backfill", place, "--stale")["updated"]
    (hit,) = answer("similar", "--store", place, '"old"_50')["hits"]
    assert ("new", 1.0) == (hit["id"], hit["overlap"])
    (found,) = answer("passages", "old", "--store", place)["hits"]
    assert "new" == found["id"]


def test_what_a_rollover_of_an_alias_makes_has_all(app: Application) -> None:
    """The index that is there gets it by --index, those to come by --index-template."""
    app.make_template()
    first, text = app.make_alias(), words(0, 200)
    done = answer(*app.install("--index", app.name, "--index-template", app.name))
    app.write("old", {"title": "A title", "body": text})

    assert ([first], True, []) == (done["indices"], done["index_template_changed"], done["warnings"])
    check_after_rollover(app, text)


def test_the_note_of_one_index_behind_an_alias_serves_the_next_one(app: Application, component: str) -> None:
    """As where somebody wrote the index template by hand, and left the note out."""
    text = words(0, 200)
    app.make_template()
    app.make_alias()
    answer(*app.install("--index", app.name))
    by_hand = app.template()
    by_hand["composed_of"].append(component)
    by_hand["template"]["settings"]["index"]["final_pipeline"] = app.name
    app.call("PUT", "/_index_template/NAME", by_hand)
    app.write("old", {"title": "A title", "body": text})
    index = app.roll_over()
    app.write("new", {"title": "A title", "body": text})

    assert text_hash(app, index) is None
    assert 2 == answer("status", f"{app.url}/{app.name}")["staleness"]["sampled"]
    assert 0 == answer("backfill", f"{app.url}/{app.name}", "--stale")["updated"]
    assert NOTE == text_hash(app, index)


def test_what_a_rollover_of_a_data_stream_makes_has_all(streaming: Application) -> None:
    """Its index template stays one of data streams."""
    text = words(0, 200)
    done = answer(*streaming.install("--index", streaming.name, "--index-template", streaming.name))
    streaming.write("old", {"title": "A title", "body": text})

    assert [] == done["warnings"]
    assert "data_stream" in streaming.template()
    check_after_rollover(streaming, text)


def test_what_the_application_has_is_kept(app: Application, component: str) -> None:
    """Only the component, the pipeline and the notes are new, and the second time nothing is."""
    app.make_template()
    before = app.template()
    said = output(*app.install("--index-template", app.name))
    after = app.template()
    again = answer(*app.install("--index-template", app.name))

    assert f"the index template {app.name} has the pipeline and the text fields, for indices to come" in said
    assert ([], False) == (again["changes"], again["index_template_changed"])
    assert app.template() == after
    assert [app.component, component] == after.pop("composed_of")
    template = after["template"]
    assert app.name == template["settings"]["index"].pop("final_pipeline")
    ours = template["mappings"]["properties"].pop("simdoc")["properties"]
    assert {"text_hash": {"type": "keyword", "meta": NOTE}} == ours
    assert {**before, "composed_of": None} == {**after, "composed_of": None}


def test_a_dry_run_shows_what_would_be_put_and_changes_nothing(app: Application, component: str) -> None:
    """The requests are complete: sent by hand they do the same."""
    app.make_template()
    app.make_alias()
    before = state(app, component)
    command = app.install("--index", app.name, "--index-template", app.name, "--dry-run")
    said, told = output(*command), answer(*command)
    assert before == state(app, component)

    assert f"  install the component template {component}\n" in said
    assert f"extend the index template {app.name}: add {component} to composed_of, set index.final_pipeline" in said
    shown = json.loads(said.partition(f"PUT /_index_template/{app.name}\n")[2])
    for each in told["requests"]:
        app.call(each["method"], each["path"], each["body"])
    assert [] == answer(*command)["changes"]
    assert "nothing would be changed" in output(*command)
    assert shown["composed_of"] == app.template()["composed_of"]


def test_without_the_pipeline_it_gets_the_component_alone(app: Application, component: str) -> None:
    """For a loader that makes the fingerprints; what asks for the text fields finds them all the same."""
    app.make_template()
    told = answer("template", "install", app.url, "--text-field", "title", "--index-template", app.name)
    index = app.make_alias()

    assert {"simdoc_text_1": "title"} == text_hash(app, index)
    assert [app.component, component] == app.template()["composed_of"]
    assert "final_pipeline" not in app.template()["template"]["settings"]["index"]
    assert told["index_template_changed"]


def test_the_engine_s_own_dates_are_not_sent_back(elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elasticsearch gives them since 9.2, and refuses a template that has them."""
    name = own_name()
    monkeypatch.setattr(templates, "COMPONENT", name)
    with application(elasticsearch_url, own_name("app")) as app:
        app.make_template()
        answer("template", "install", app.url, "--index-template", app.name)
        assert [app.component, name] == app.template()["composed_of"]
    call(elasticsearch_url, "DELETE", f"/_component_template/{name}")

    dates = {"created_date_millis": 1, "modified_date_millis": 1, "created_date": "2026", "modified_date": "2026"}
    assert {"priority": 1} == taken_back({"priority": 1, **dates})


def test_an_index_template_is_made_for_a_pattern(app: Application, component: str) -> None:
    """Only where no other one applies to such names, as that would no longer apply."""
    missing = sentence(run(*app.install("--index-template", app.name)))
    answer(*app.install("--index-template", app.name, "--index-pattern", f"{app.name}-*"))
    made = app.template()
    other = sentence(run(*app.install("--index-template", "another", "--index-pattern", f"{app.name}-00*")))
    differs = sentence(run(*app.install("--index-template", app.name, "--index-pattern", "letters*")))
    alone = usage_error(run(*app.install("--index-pattern", "letters*")))

    assert f"has no index template {app.name}; name one that is there, or make it with --index-pattern" in missing
    assert ([f"{app.name}-*"], [component]) == (made["index_patterns"], made["composed_of"])
    assert f"applies to an index, so extend that one: --index-template {app.name}" in other
    assert f"is there already, for {app.name}-*; leave out --index-pattern" in differs
    assert "add --index-template" in alone
    app.make_alias()
    assert expected(OLD) == ours(app.url, app.write("1", {"body": OLD}), "1")


def test_a_legacy_template_is_named(app: Application) -> None:
    """It has no component templates, and one with our pattern would take its place."""
    app.call("PUT", "/_template/NAME", {"index_patterns": [f"{app.name}*"]})
    there = sentence(run(*app.install("--index-template", app.name)))
    shadowed = sentence(run(*app.install("--index-template", "another", "--index-pattern", f"{app.name}-*")))

    assert f"{app.name} is a legacy template (_template), which has no component templates" in there
    assert f"the legacy template {app.name} matches {app.name}-* already" in shadowed


def test_another_final_pipeline_is_not_replaced(app: Application, component: str) -> None:
    """Wherever it is set, in the template or in a component of it; nothing is installed then."""
    other = f"{app.name}-other"
    app.make_template()
    settings = {"template": {"settings": {"index.final_pipeline": other}}}
    app.call("PUT", f"/_component_template/{app.component}", settings)
    before = state(app, component)
    said = sentence(run(*app.install("--index-template", app.name)))

    assert f"the index template {app.name} has the final pipeline {other} already; add the processor" in said
    assert before == state(app, component)
    answer(*app.install("--index-template", app.name, "--force"))
    assert app.name == app.template()["template"]["settings"]["index"]["final_pipeline"]


@pytest.mark.parametrize(
    ("mappings", "said"),
    [
        ({"_source": {"excludes": ["body"]}}, "_source leaves out fields"),
        ({"properties": {"simdoc": {"type": "keyword"}}}, "the field simdoc is keyword; choose another name"),
        ({"properties": {"body": {"type": "date"}}}, "body is date, not text"),
    ],
)
def test_indices_that_could_have_no_fingerprints_are_not_promised_any(
    app: Application, component: str, mappings: Any, said: str
) -> None:
    """What is said of an index is said of the template that would make it, before anything is changed."""
    app.make_template(template={"mappings": mappings})
    before = state(app, component)

    refused = sentence(run(*app.install("--index-template", app.name)))
    assert f"{app.name} makes indices that cannot have fingerprints: {said}" in refused
    assert before == state(app, component)


def test_a_text_field_that_the_template_does_not_map_is_named(app: Application) -> None:
    """It may come by itself, or be misspelt."""
    app.make_template()
    command = ["template", "install", app.url, "--pipeline", "--name", app.name, "--text-field", "titel"]
    result = run(*command, "--index-template", app.name)

    assert 0 == result.exit_code
    assert f"note: the index template {app.name} maps no field titel; it maps body, title\n" == result.stderr


def test_more_text_fields_than_a_mapping_notes_are_named(app: Application) -> None:
    """A field's `meta` has five entries."""
    app.make_template(template={})
    texts = [part for number in range(6) for part in ("--text-field", f"text_{number}")]
    command = ["template", "install", app.url, "--pipeline", "--name", app.name, *texts]
    told = answer(*command, "--index-template", app.name)

    assert ["the mapping has no room to note the text fields"] == [each.partition(";")[0] for each in told["warnings"]]
    assert "mappings" not in app.template()["template"]
    assert [] == answer(*command, "--index-template", app.name)["changes"]


def test_the_mapping_of_an_index_template_is_that_of_component_templates(app: Application, component: str) -> None:
    """A new index is mapped as if it had the component alone, but for the notes."""
    app.make_template()
    answer(*app.install("--index-template", app.name))
    index = app.make_alias()
    mapping = app.call("GET", f"/{index}/_mapping")[index]["mappings"]["properties"]["simdoc"]
    assert NOTE == mapping["properties"]["text_hash"].pop("meta")

    assert component_template()["template"]["mappings"]["properties"]["simdoc"] == mapping
