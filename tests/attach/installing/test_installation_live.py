"""`template install` checks everything first, and warns if the next index will lack a part."""

from __future__ import annotations

from typing import Any

import pytest

from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import open_store
from tests.support.applications import Application
from tests.support.cli import answer, output, run, sentence
from tests.support.http_server import Answer, Request, error, forward, serving
from tests.support.pipeline import NEW, OLD, expected, ours


def installed(app: Application) -> list[str]:
    """The parts that are installed in the engine."""
    places = ["_component_template/simdoc", "_ingest/pipeline/NAME"]
    return [place for place in places if not is_missing(app.call("GET", f"/{place}", allowed_statuses=(404,)))]


def is_missing(answer: Any) -> bool:
    """Whether a response says that something is missing."""
    return not answer or answer.get("status") == 404


# --- the component template and the pipeline ---


def test_the_component_template_is_installed_once(app: Application) -> None:
    """A different one is replaced only with `--force`."""
    theirs = {"template": {"mappings": {"properties": {"title": {"type": "text"}}}}}
    first, again = output("template", "install", app.url), output("template", "install", app.url + "/")
    values = answer("template", "install", app.url)
    app.call("PUT", "/_component_template/simdoc", theirs)
    refused = sentence(run("template", "install", app.url))
    kept = app.call("GET", "/_component_template/simdoc")["component_templates"][0]["component_template"]

    assert "the component template simdoc is installed" == first.splitlines()[0]
    assert '"composed_of": ["simdoc"]' in first
    assert "was already installed" in again
    assert {"component_template": "simdoc", "installed": False, "changes": [], "warnings": []} == values
    assert "the component template simdoc on " in refused
    curl = f"curl {app.url}/_component_template/simdoc"
    assert f"; see the installed one with `{curl}`; replace it by running the same command with --force" in refused
    assert theirs["template"]["mappings"] == kept["template"]["mappings"]
    assert answer("template", "install", app.url, "--force")["installed"]


def test_each_fingerprint_field_has_its_component_template(app: Application) -> None:
    """An index can have two fields with different settings."""
    values = answer("template", "install", app.url, "--field", "simdoc_2", "--shingle-size", 4)
    mapping = app.call("GET", "/_component_template/simdoc_2")["component_templates"][0]["component_template"]
    app.call("DELETE", "/_component_template/simdoc_2")

    assert ("simdoc_2", ["simdoc_2"]) == (
        values["component_template"],
        list(mapping["template"]["mappings"]["properties"]),
    )
    assert [] == installed(app)


def test_an_address_with_an_index_is_refused(app: Application) -> None:
    """The message says where the index goes, and does not repeat the command without its other options."""
    index = ["--index", "articles"]
    for arguments, option in (
        (["install"], ""),
        (["install", "--pipeline"], " --index articles"),
        (["install", "--pipeline", *index], ""),
        (["remove"], " --index articles"),
        (["remove", *index], ""),
    ):
        refused = sentence(run("template", *arguments, f"{app.url}/articles"))

        assert refused.endswith(f"; use {app.url}{option}, and keep the other options")


def test_the_pipeline_and_the_index_are_installed_once(app: Application) -> None:
    """Another pipeline with the same name is not replaced."""
    index = f"{app.name}-letters"
    app.call("PUT", f"/{index}", {"mappings": {"dynamic": "strict", "properties": {"title": {"type": "text"}}}})
    command = ["template", "install", app.url, "--pipeline", "--name", app.name]
    first = answer(*command, "--text-field", "title", "--index", index)
    again = answer(*command, "--text-field", "title", "--index", index)
    app.call("PUT", f"/{index}/_doc/1", {"title": OLD})
    other = sentence(run(*command, "--text-field", "body"))
    printed = output(*command, "--text-field", "title")

    assert (True, [index], []) == (first["pipeline_installed"], first["indices"], first["warnings"])
    assert (False, False, []) == (again["pipeline_installed"], again["installed"], again["changes"])
    assert expected(OLD) == ours(app.url, index)
    assert f"the pipeline {app.name} on {app.url} differs from the new one; see the installed one with" in other
    assert "; choose another --name, or replace it by running the same command with --force" in other
    assert f'"settings": {{"index.final_pipeline": "{app.name}"}}' in printed
    assert "to use the pipeline in an existing index, run the command again with --index NAME\n" in printed


def test_the_pipeline_has_the_settings_of_the_index(app: Application) -> None:
    """Settings that no script can make are refused."""
    index = f"{app.name}-letters"
    app.call("PUT", f"/{index}/_doc/1?refresh=true", {"body": OLD})
    output("backfill", f"{app.url}/{index}", "--text-field", "body", "--no-passages")
    command = ["template", "install", app.url, "--pipeline", "--name", app.name]
    output(*command, "--index", index)
    app.call("PUT", f"/{index}/_doc/1?refresh=true", {"body": NEW})
    other = sentence(run(*command, "--index", index, "--shingle-size", 4))
    keyed = run("template", "install", app.url, "--pipeline", SIMDOC_HASH_KEY="0123456789abcdef")

    assert expected(NEW, Settings(passages=None)) == ours(app.url, index)
    with open_store(f"{app.url}/{index}") as store:
        assert Settings(passages=None) == store.settings
    assert f"the index {index} cannot use the pipeline: the field simdoc has the settings 'nfkc_cf word 5" in other
    assert "does not support a secret hash key; use `simdoc-search backfill`" in keyed.stderr


def test_an_index_with_concepts_can_use_the_pipeline(app: Application) -> None:
    """The pipeline makes the other parts of a fingerprint, and `backfill` adds the concepts."""
    index = f"{app.name}-letters"
    app.call("PUT", f"/{index}/_doc/1?refresh=true", {"body": OLD})
    output("backfill", f"{app.url}/{index}", "--text-field", "body", "--with", "related")
    installed = run("template", "install", app.url, "--pipeline", "--name", app.name, "--index", index)
    app.call("PUT", f"/{index}/_doc/2?refresh=true", {"body": NEW})
    shown, command = run("status", f"{app.url}/{index}"), f"`simdoc-search backfill {app.url}/{index}`"

    assert f"the pipeline does not compute concepts; to add them to new documents, run {command} regularly" in (
        installed.stderr
    )
    assert "incomplete     1 document without the data" in shown.stdout
    assert f"{app.name} (index.final_pipeline) computes fingerprints that match the mapping" in shown.stdout
    assert shown.stderr == f"to bring all fingerprints up to date, run {command}\n"
    assert output("backfill", f"{app.url}/{index}").startswith("1 document updated")


# --- the next index ---


def test_the_index_template_of_the_next_index_is_named(app: Application) -> None:
    """The note has the command that extends the template."""
    app.make_template()
    app.make_alias()
    first = run(*app.install("--index", app.name))
    command = first.stderr.rpartition("Extend the index template: simdoc-search ")[2].split()
    answer(*command)
    again = run(*app.install("--index", app.name))
    index = app.roll_over()

    assert (
        f"note: the next rollover of {app.name} will create {app.name}-000002 without the complete mapping and pipeline"
        in first.stderr
    )
    assert app.install("--index-template", app.name) == command
    assert (0, "") == (again.exit_code, again.stderr)
    assert index == app.write("1", {"body": OLD})
    assert expected(OLD) == ours(app.url, index, "1")


def test_an_index_without_the_pipeline_of_the_others_gets_the_pipeline_first(app: Application) -> None:
    """Without it, each new document after a rollover would need another backfill. The printed commands work."""
    app.make_template()
    app.make_alias()
    run(*app.install("--index", app.name))
    app.write("1", {"body": OLD})
    second, url = app.roll_over(), f"{app.url}/{app.name}"
    app.write("2", {"body": OLD})
    checked, status = run("check", url).stdout, run("status", url).stderr
    similar = run("similar", "1", "--store", url).stderr
    install, backfill = (
        f"simdoc-search {' '.join(app.install('--index', app.name))}",
        f"simdoc-search backfill {url} --stale",
    )

    for shown in (checked, status, similar):
        assert f"run `{install}`, so that new documents get fingerprints (add --index-template NAME" in shown
        assert f"then run `{backfill}`" in shown
    for command in (install, backfill):
        output(*command.split()[1:])
    app.write("3", {"body": OLD})
    assert expected(OLD) == ours(app.url, second, "2") == ours(app.url, second, "3")
    assert "backfill" not in run("check", url).stdout + run("status", url).stderr


def test_the_next_index_follows_the_write_index(app: Application) -> None:
    """The last name in alphabetical order does not count."""
    app.make_template()
    app.call("PUT", f"/{app.name}-7", {"aliases": {app.name: {"is_write_index": True}}})
    app.call("PUT", f"/{app.name}-old", {"aliases": {app.name: {}}})

    assert f" will create {app.name}-000008 without" in run(*app.install("--index", app.name)).stderr
    assert f"{app.name}-000008" == app.roll_over()


def test_an_alias_that_cannot_roll_over_has_no_next_index(app: Application) -> None:
    """Its index has no number, so the engine refuses a rollover."""
    app.call("PUT", f"/{app.name}_v1", {"aliases": {app.name: {"is_write_index": True}}})
    installed = answer(*app.install("--index", app.name))

    assert [] == installed["warnings"]
    assert "error" in app.call("POST", "/NAME/_rollover?dry_run", allowed_statuses=(400,))


def test_without_an_index_template_one_is_proposed(app: Application) -> None:
    app.make_alias()
    note = run(*app.install("--index", app.name)).stderr

    advice = "Create an index template, then run: simdoc-search template install"
    assert f", because no index template applies to the new index. {advice}" in note


@pytest.mark.parametrize("engine_url", ["opensearch"], indirect=True)
def test_the_next_index_of_a_data_stream_is_checked_too(app: Application) -> None:
    app.make_template(data_stream={})
    app.call("PUT", "/_data_stream/NAME")
    first = answer(*app.install("--index", app.name))
    answer(*app.install("--index-template", app.name))

    assert (
        f" will create .ds-{app.name}-000002 without the complete mapping and pipeline for fingerprints. Extend the "
        "index template:" in first["warnings"][0]
    )
    assert [] == answer(*app.install("--index", app.name))["warnings"]


# --- failed installations ---


@pytest.mark.parametrize(
    ("index", "reason"),
    [
        (None, "has no such index"),
        ({"settings": {"index.final_pipeline": "other"}}, "already has the final pipeline other; add the processor"),
        ({"mappings": {"_source": {"enabled": False}}}, "_source is disabled"),
        ({"mappings": {"properties": {"body": {"type": "date"}}}}, "body has the type date; choose a text field"),
    ],
)
def test_a_refused_index_leaves_everything_as_it_was(
    app: Application, index: dict[str, Any] | None, reason: str
) -> None:
    """An index that was checked before does not change either."""
    app.make_template()
    fit = f"{app.name}-fit"
    app.call("PUT", f"/{fit}")
    if index:
        app.call("PUT", "/NAME-unfit", index)
    before = app.call("GET", f"/{fit}/_mapping")

    assert reason in sentence(run(*app.install("--index", f"{fit},{app.name}-unfit", "--index-template", app.name)))
    assert [] == installed(app)
    assert before == app.call("GET", f"/{fit}/_mapping")
    assert [app.component] == app.template()["composed_of"]


def test_the_steps_before_a_refused_step_are_listed(app: Application) -> None:
    """The message says how to undo them."""
    app.make_alias()
    engine = forward(app.url)

    def forbid_settings(request: Request) -> Answer | None:
        if request.method == "PUT" and request.path.endswith("/_settings"):
            return error(403, "security_exception", "no permission")
        return engine(request)

    with serving(forbid_settings) as server:
        _, _, _, *rest = app.install("--index", app.name)
        refused = sentence(run("template", "install", server.url, *rest, "--pipeline"))

    assert f"cannot set index.final_pipeline of {app.name}-000001 to {app.name}: " in refused
    undo = "(undo: DELETE /_component_template/simdoc)"
    assert f"Changes already made: install the component template simdoc {undo}" in refused
    assert f"install the pipeline {app.name} (undo: DELETE /_ingest/pipeline/{app.name})" in refused
    assert "no permission" in refused


def test_other_text_fields_than_those_of_the_fingerprints_need_force(app: Application) -> None:
    """The fingerprints are in the index itself, or in the other indices behind its alias."""
    app.make_template()
    first = app.make_alias()
    answer(*app.install("--index", app.name))
    bare = app.roll_over()
    other = ["template", "install", app.url, "--pipeline", "--name", f"{app.name}-2", "--text-field", "body"]
    own, beside = (sentence(run(*other, "--index", name)) for name in (first, bare))
    answer(*other, "--index", bare, "--force")
    app.call("PUT", f"/{first},{bare}/_settings", {"index.final_pipeline": "_none"})
    app.call("DELETE", "/_ingest/pipeline/NAME-2")

    fields = "title and body, not body; give --text-field title --text-field body, or --force to use body"
    assert own.endswith(f"the fingerprints of the index were computed from {fields}")
    assert beside.endswith(f"the fingerprints of the other indices behind the alias were computed from {fields}")
