"""What `template install` refuses leaves nothing behind, and what it does not cover it names."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from simdoc_search.attach import templates
from tests.support.applications import Application, application
from tests.support.cli import answer, run, sentence
from tests.support.engines import call
from tests.support.http_server import Answer, Request, error, forward, serving
from tests.support.pipeline import OLD, expected, ours


def installed(app: Application, component: str) -> list[str]:
    """What of ours is in the engine."""
    places = [f"_component_template/{component}", "_ingest/pipeline/NAME"]
    return [place for place in places if not is_missing(app.call("GET", f"/{place}", allow=(404,)))]


def is_missing(found: Any) -> bool:
    """Whether an engine says that something is not there."""
    return not found or found.get("status") == 404


# --- the next index ---


def test_the_index_template_of_the_next_index_is_named(app: Application) -> None:
    """With the command that extends it; nothing is said after that."""
    app.make_template()
    app.make_alias()
    first = run(*app.install("--index", app.name))
    command = first.stderr.rpartition("Extend its index template: simdoc-search ")[2].split()
    answer(*command)
    again = run(*app.install("--index", app.name))

    assert (
        f"note: the next index behind {app.name} ({app.name}-000002) does not get all of this. Extend" in first.stderr
    )
    assert app.install("--index-template", app.name) == command
    assert (0, "") == (again.exit_code, again.stderr)
    index = app.roll_over()
    assert index == app.write("1", {"body": OLD})
    assert expected(OLD) == ours(app.url, index, "1")


def test_the_write_index_is_the_one_that_is_followed(app: Application) -> None:
    """Not the last one of the alphabet; and a number grows as the engine lets it grow."""
    app.make_template()
    app.call("PUT", f"/{app.name}-7", {"aliases": {app.name: {"is_write_index": True}}})
    app.call("PUT", f"/{app.name}-old", {"aliases": {app.name: {}}})
    said = run(*app.install("--index", app.name)).stderr

    assert f"({app.name}-000008)" in said
    assert f"{app.name}-000008" == app.roll_over()


def test_where_no_index_template_applies_one_is_proposed(app: Application) -> None:
    """With a pattern of the names that a rollover makes."""
    app.make_alias()
    first = run(*app.install("--index", app.name))
    command = first.stderr.rpartition("Make one: simdoc-search ")[2].replace("'", "").split()
    answer(*command)

    assert "as no index template applies to it" in first.stderr
    assert app.install("--index-template", app.name, "--index-pattern", f"{app.name}-*") == command
    assert expected(OLD) == ours(app.url, app.roll_over() and app.write("1", {"body": OLD}), "1")


def test_a_legacy_template_of_the_next_index_is_named(app: Application) -> None:
    """It would no longer apply if there were an index template."""
    app.call("PUT", "/_template/NAME", {"index_patterns": [f"{app.name}*"]})
    app.make_alias()

    assert f"as it has the legacy template {app.name}; make an index" in run(*app.install("--index", app.name)).stderr


def test_the_next_index_of_a_data_stream_is_looked_at_too(opensearch_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index template is the one that the engine names."""
    monkeypatch.setattr(templates, "COMPONENT", f"app-{uuid4()}")
    with application(opensearch_url) as app:
        app.make_template(data_stream={})
        app.call("PUT", "/_data_stream/NAME")
        told = answer(*app.install("--index", app.name))
        answer(*app.install("--index-template", app.name))
        again = answer(*app.install("--index", app.name))

        assert f"(.ds-{app.name}-000002) does not get all of this. Extend its index template:" in told["warnings"][0]
        assert [] == again["warnings"]
    call(opensearch_url, "DELETE", f"/_component_template/{templates.COMPONENT}")


def test_a_concrete_index_has_no_next_one(app: Application) -> None:
    """Nothing is said where nothing is missing."""
    app.call("PUT", f"/{app.name}-letters", {"mappings": {"properties": {"body": {"type": "text"}}}})

    assert [] == answer(*app.install("--index", f"{app.name}-letters"))["warnings"]


# --- nothing is left, and no write is refused ---


@pytest.mark.parametrize(
    ("index", "said"),
    [
        (None, "has no such index"),
        ({"settings": {"index.final_pipeline": "other"}}, "has the final pipeline other already"),
        ({"mappings": {"_source": {"enabled": False}}}, "_source is disabled"),
        ({"mappings": {"properties": {"body": {"type": "date"}}}}, "body is date, not text"),
    ],
)
def test_nothing_is_installed_where_an_index_is_refused(
    app: Application, component: str, index: dict[str, Any] | None, said: str
) -> None:
    """Neither the component template nor the pipeline, nor the mapping of an index that came first."""
    app.make_template()
    fit = f"{app.name}-fit"
    app.call("PUT", f"/{fit}")
    if index:
        app.call("PUT", "/NAME-unfit", index)
    before = app.call("GET", f"/{fit}/_mapping")

    assert said in sentence(run(*app.install("--index", f"{fit},{app.name}-unfit", "--index-template", app.name)))
    assert [] == installed(app, component)
    assert before == app.call("GET", f"/{fit}/_mapping")
    assert [app.component] == app.template()["composed_of"]


def test_what_was_done_before_the_engine_refused_is_said(app: Application, component: str) -> None:
    """With the request that takes it back."""
    app.make_alias()
    engine = forward(app.url)

    def forbid_settings(request: Request) -> Answer | None:
        if request.method == "PUT" and request.path.endswith("/_settings"):
            return error(403, "security_exception", "no permission")
        return engine(request)

    with serving(forbid_settings) as server:
        _, _, _, *rest = app.install("--index", app.name)
        said = sentence(run("template", "install", server.url, *rest, "--pipeline"))

    assert f"Done before that: install the component template {component} (undo: DELETE /_component_template/" in said
    assert f"install the pipeline {app.name} (undo: DELETE /_ingest/pipeline/{app.name})" in said
    assert "no permission" in said


def test_an_index_with_strict_mapping_takes_each_write(app: Application) -> None:
    """It has our mapping before it runs the pipeline."""
    app.make_template()
    first = app.make_alias()
    answer(*app.install("--index", app.name))

    sent: list[dict[str, Any]] = [{"body": OLD}, {"body": ""}, {"body": None}, {}]
    for number, document in enumerate(sent, 1):
        app.write(str(number), document)
    assert expected(OLD) == ours(app.url, first, "1")


def test_no_pipeline_is_installed_that_an_index_without_the_field_runs(app: Application, component: str) -> None:
    """With `dynamic: strict` each of its writes would be refused: first it gets the mapping."""
    app.make_template()
    strict = f"{app.name}-strict"
    app.call("PUT", f"/{strict}", {"settings": {"index.final_pipeline": app.name}})
    said = sentence(run(*app.install()))
    left = installed(app, component)
    answer(*app.install("--index", strict))
    app.call("PUT", f"/{strict}/_doc/1", {"body": OLD})

    assert f"{strict} runs the pipeline {app.name} and has no field simdoc, so it may refuse each write" in said
    assert ([], expected(OLD)) == (left, ours(app.url, strict, "1"))


def test_an_index_template_with_the_pipeline_alone_is_named(app: Application) -> None:
    """Somebody forgot the component; its indices would refuse each write."""
    app.make_template(template={"settings": {"index.final_pipeline": app.name}, "mappings": {"dynamic": "strict"}})
    first = answer(*app.install())["warnings"]
    answer(*app.install("--index-template", app.name))

    assert [f"the index template {app.name} names the pipeline {app.name} and maps no field simdoc"] == [
        each.partition(",")[0] for each in first
    ]
    assert [] == answer(*app.install())["warnings"]


def test_other_text_fields_are_not_noted_in_the_place_of_those_that_are_there(app: Application) -> None:
    """The fingerprints that are there would no longer be those of the texts."""
    app.make_template()
    app.make_alias()
    answer(*app.install("--index", app.name))
    other = ["template", "install", app.url, "--pipeline", "--name", f"{app.name}-2", "--text-field", "body"]
    said = sentence(run(*other, "--index", app.name))

    assert "are of title and body; give --text-field title --text-field body, or replace it with --force" in said


def test_the_text_fields_of_the_other_indices_behind_an_alias_are_taken(app: Application) -> None:
    """A pipeline of others would make fingerprints that do not fit those beside them; `force` takes them."""
    app.make_template()
    first = app.make_alias()
    answer(*app.install("--index", app.name))
    bare = app.roll_over()
    other = ["template", "install", app.url, "--pipeline", "--name", f"{app.name}-2", "--text-field", "body"]
    said = sentence(run(*other, "--index", app.name))
    beside = sentence(run(*other, "--index", bare))
    answer(*other, "--index", bare, "--force")
    app.call("PUT", f"/{first},{bare}/_settings", {"index.final_pipeline": "_none"})
    app.call("DELETE", "/_ingest/pipeline/NAME-2")

    assert f"the fingerprints of {first} are of title and body; give --text-field title --text-field body" in said
    assert f"the fingerprints beside {bare} are of other text fields; give their --text-field, or" in beside
