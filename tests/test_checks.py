"""Is an index fit for our queries? Each fault is made for real, and an index as it should be has none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from uuid import uuid4

import pytest

from simdoc_search import Analysis, open_store
from simdoc_search.actions import fingerprint_field
from simdoc_search.errors import StoreError, StoreNotFoundError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import templates
from simdoc_search.stores.checks import Finding, check_index
from simdoc_search.stores.connecting import connect
from simdoc_search.stores.rest import Engine
from simdoc_search.stores.templates import component_template, install_component
from tests.cli import answer, output, run, sentence
from tests.engines import call
from tests.http_server import Answer, Indices, Request, forward, indices, serving
from tests.stores import put, record

NAMED = {"index.query.default_field": ["title"]}
"""A setting of indices whose owner knows what searches without a field look into."""


@pytest.fixture
def made(opensearch_url: str) -> Iterator[Indices]:
    """Indices of an application's own."""
    with indices(opensearch_url) as them:
        yield them


@pytest.fixture
def engine(opensearch_url: str) -> Iterator[Engine]:
    """The way to the engine."""
    opened, _ = connect(opensearch_url, index=False)
    with closing(opened):
        yield opened


def mapping(**changes: Any) -> dict[str, Any]:
    """The mapping of the component template, with changes to our fields; None takes one out."""
    made: dict[str, Any] = component_template()["template"]["mappings"]
    ours = made["properties"]["simdoc"]["properties"]
    for name, change in changes.items():
        ours[name] = None if change is None else {**ours.get(name, {}), **change}
        ours[name] = ours[name] and {key: value for key, value in ours[name].items() if value is not None}
    made["properties"]["simdoc"]["properties"] = {name: value for name, value in ours.items() if value}
    return made


def found(made: Indices, engine: Engine, mappings: object, settings: Any = None, **documents: object) -> list[Any]:
    """What is said of an index with these mappings and documents: whether it is wrong, and what."""
    name = made.make(mappings, NAMED if settings is None else settings)
    for id, document in documents.items():
        made.put(name, id, document)
    findings = check_index(engine, name)
    assert {name} >= {each.index for each in findings}
    return [(each.wrong, each.problem) for each in findings]


# --- fit ---


def test_an_index_of_simdoc_search_is_fit(made: Indices, engine: Engine) -> None:
    """As it is made, with documents and without, under whatever name of the field."""
    for field, store_texts in (("simdoc", True), ("fp", False)):
        name = made.name()
        with closing(open_store(f"{made.engine}/{name}", create=True, field=field, store_texts=store_texts)) as store:
            assert [] == check_index(engine, name, field)
            put(store, record("a", text="words"), record("b"))

        assert [] == check_index(engine, name, field)


def test_an_index_with_the_component_template_is_fit(made: Indices, engine: Engine) -> None:
    """Beside the fields of its owner, also if other settings made the fingerprints and the mapping says so."""
    other = component_template(Settings(token_length=5))["template"]["mappings"]

    assert [] == found(made, engine, mapping(), one={"simdoc": fingerprint_field("some words of a text")})
    assert [] == found(made, engine, other, one={"simdoc": fingerprint_field("words", Settings(token_length=5))})


# --- each fault ---


WITHOUT_SOURCE = {**mapping(), "_source": {"enabled": False}}


@pytest.mark.parametrize(
    ("mappings", "problem"),
    [
        ({"properties": {"title": {"type": "text"}}}, "no field simdoc.tokens; add it"),
        ({"properties": {"simdoc": {"type": "keyword"}}}, "no field simdoc.tokens; add it"),
        (WITHOUT_SOURCE, "_source is disabled, so no hit can be read"),
        ({**mapping(), "_source": {"excludes": ["simdoc"]}}, "_source leaves fields out"),
        ({**mapping(), "_source": {"includes": ["simdoc"]}}, "_source leaves fields out"),
        (mapping(tokens={"analyzer": "standard"}), "simdoc.tokens is text, analyzer standard"),
        (mapping(tokens={"search_analyzer": None}), "simdoc.tokens has search_analyzer None, not 'simple'"),
        (mapping(tokens={"search_analyzer": "standard"}), "simdoc.tokens has search_analyzer 'standard', not 'simple'"),
        (mapping(tokens={"similarity": None}), "simdoc.tokens has similarity None, not 'boolean'"),
        (mapping(tokens={"similarity": "BM25"}), "simdoc.tokens has similarity 'BM25', not 'boolean'"),
        (mapping(tokens={"meta": None}), "meta has no settings of simdoc-search"),
        (mapping(tokens={"meta": {"simdoc_version": "2"}}), "format version 2"),
        (mapping(buckets={"type": "keyword"}), "simdoc.buckets is no number"),
        (mapping(buckets=None), "simdoc.buckets is no number"),
        (mapping(shingles={"type": "text"}), "simdoc.shingles is no number"),
    ],
)
def test_a_mapping_that_does_not_fit_is_wrong(made: Indices, engine: Engine, mappings: Any, problem: str) -> None:
    """One sentence says what, and what to do about it; nothing else is said of it."""
    ((wrong, said),) = found(made, engine, mappings)

    assert (True, True) == (wrong, problem in said)
    assert "\n" not in said
    assert "; " in said or ", so " in said


def test_a_field_that_the_engine_guessed_is_wrong(made: Indices, engine: Engine) -> None:
    """After a reindex without the mapping there is a field of that name, which finds nothing."""
    (first, *_) = found(made, engine, {}, one={"simdoc": fingerprint_field("some words")})

    assert (True, True) == (first[0], "as after a reindex without our mapping; put the template" in first[1])


@pytest.mark.parametrize(("limit", "wrong"), [(3, True), (9, False), (12, False)])
def test_room_for_our_fields_is_looked_for(made: Indices, engine: Engine, limit: int, wrong: bool) -> None:
    """An index that has not our field yet needs six more; there it is a fault, and soon after it a note."""
    title = {"properties": {"title": {"type": "text", "fields": {"raw": {"type": "keyword"}}}}}
    findings = found(made, engine, title, {**NAMED, "index.mapping.total_fields.limit": limit})
    about_room = [each for each in findings if "fields are left" in each[1]]
    said = f"{limit - 2} of {limit} fields are left; raise index.mapping.total_fields.limit"

    assert ([(wrong, said)] if limit < 12 else []) == about_room


def test_an_index_that_has_our_field_needs_no_more_room(made: Indices, engine: Engine) -> None:
    """A mapping that is full is none of our business."""
    assert [] == found(made, engine, mapping(), {**NAMED, "index.mapping.total_fields.limit": 6})


def test_searches_of_all_fields_are_worth_a_note(made: Indices, engine: Engine) -> None:
    """Where the owner has not named the fields that they look into, they look into ours."""
    ((wrong, said),) = found(made, engine, mapping(), {})

    assert (False, True) == (wrong, "set index.query.default_field to your own fields" in said)


def test_documents_without_fingerprint_are_counted(made: Indices, engine: Engine) -> None:
    """A note: they are not found, and perhaps have no words."""
    documents = {"a": {"title": "a"}, "b": {"simdoc": None}, "c": {"simdoc": fingerprint_field("words")}}

    assert [(False, "2 of 3 documents have no fingerprint")] == found(made, engine, mapping(), **documents)


def test_fingerprints_of_other_settings_are_counted(made: Indices, engine: Engine) -> None:
    """They are compared with what they cannot be compared with."""
    kinds = {"a": Settings(token_length=5), "b": Settings(Analysis(shingle_size=3)), "c": Settings()}
    documents = {id: {"simdoc": fingerprint_field("words", settings)} for id, settings in kinds.items()}
    said = "fingerprints with other settings than the mapping: 2; make them again"

    assert [(True, said)] == found(made, engine, mapping(), **documents)


def test_an_index_that_cannot_be_searched_is_worth_a_note(made: Indices, engine: Engine) -> None:
    """A closed one shows its mapping only."""
    name = made.make(mapping(), NAMED)
    call(made.engine, "POST", f"/{name}/_close")
    (finding,) = check_index(engine, name)

    assert (False, True) == (finding.wrong, finding.problem.startswith("its documents could not be counted ("))


def test_a_low_clause_limit_is_wrong(made: Indices) -> None:
    """It is the engine's, and the sentence says which setting it is."""
    name, real = made.make(mapping(), NAMED), forward(made.engine)

    def limited(request: Request) -> Answer | None:
        given = real(request)
        if given is None or not request.path.startswith("/_cluster/settings"):
            return given
        settings = {**json.loads(given.body), "persistent": {"indices.query.bool.max_clause_count": "512"}}
        return Answer(200, json.dumps(settings).encode())

    with serving(limited) as server:
        opened, _ = connect(server.url, index=False)
        with closing(opened):
            findings = check_index(opened, name)

    said = "the engine allows 512 clauses; raise indices.query.bool.max_clause_count to 1024"
    assert [Finding(name, True, said)] == findings


def test_faults_are_found_together(made: Indices, engine: Engine) -> None:
    """One look shows all of them."""
    bad = mapping(tokens={"search_analyzer": None, "similarity": None}, buckets=None)

    assert [True] * 3 + [False] == [wrong for wrong, _ in found(made, engine, bad, {})]


def test_all_indices_behind_an_alias_are_looked_at(made: Indices, engine: Engine) -> None:
    """Each finding names the index that it is about."""
    good, bad = made.make(mapping(), NAMED), made.make({"properties": {}}, NAMED)

    assert [(bad, True)] == [(each.index, each.wrong) for each in check_index(engine, made.alias(good, bad))]


@pytest.mark.parametrize("ending", ["", "*"])
def test_no_index_is_an_error(engine: Engine, ending: str) -> None:
    """So is a wildcard that fits none."""
    with pytest.raises(StoreNotFoundError):
        check_index(engine, f"test-{uuid4()}{ending}")


# --- the commands ---


def test_check_says_that_an_index_is_fit(made: Indices) -> None:
    """The exit code is 0; notes do not change that."""
    name, noted = made.make(mapping(), NAMED), made.make(mapping(), {})
    address = made.engine.replace("://", "://name@")

    assert f"{name} is fit for FINGERPRINT queries\n" == output("check", f"{address}/{name}")
    assert {"url": f"{made.engine}/{name}", "fit": True, "findings": []} == answer("check", f"{address}/{name}")
    assert output("check", f"{address}/{noted}").startswith(f"note: {noted}: searches that name no field")
    assert answer("check", f"{address}/{noted}")["fit"]


def test_check_fails_where_something_is_wrong(made: Indices) -> None:
    """The exit code is 1, and what is wrong is the answer: it stands on stdout."""
    name = made.make(mapping(), NAMED)
    result = run("check", f"{made.engine}/{name}", "--field", "fp")
    as_json = run("check", f"{made.engine}/{name}", "--field", "fp", "--json")
    said = "no field fp.tokens; add it with the mapping of simdoc-search template show"

    assert (1, "", f"wrong: {name}: {said}\n") == (result.exit_code, result.stderr, result.stdout)
    assert (1, "") == (as_json.exit_code, as_json.stderr)
    assert {
        "url": f"{made.engine}/{name}",
        "fit": False,
        "findings": [{"index": name, "wrong": True, "problem": said}],
    } == json.loads(as_json.stdout)


@pytest.mark.parametrize("url", ["ENGINE/test-nothing", "ENGINE", "http://127.0.0.1:1/index", "no/url"])
def test_check_needs_an_index_that_is_there(made: Indices, url: str) -> None:
    """Otherwise it fails with one sentence."""
    assert sentence(run("check", url.replace("ENGINE", made.engine)))


def test_the_template_is_shown(made: Indices, engine: Engine) -> None:
    """What is printed can be put into an engine as it is: here as the mapping of an index."""
    shown, other = json.loads(output("template", "show")), answer("template", "show", "--field", "fp")

    assert component_template() == shown
    assert ["fp"] == list(other["template"]["mappings"]["properties"])
    assert [] == check_index(engine, made.make(other["template"]["mappings"], NAMED), "fp")


@pytest.fixture
def component(opensearch_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name under which the component template is installed, as an engine has one of a name only."""
    name = f"test-{uuid4()}"
    monkeypatch.setattr(templates, "COMPONENT", name)
    yield name
    call(opensearch_url, "DELETE", f"/_component_template/{name}")


def test_the_template_is_installed_once(opensearch_url: str, component: str) -> None:
    """The second time nothing is done; the JSON says which it was."""
    said = output("template", "install", opensearch_url)

    assert f"the component template {component} is installed" == said.splitlines()[0]
    assert f'"composed_of": ["{component}"]' in said
    assert "was there already" in output("template", "install", opensearch_url + "/")
    assert {"component_template": component, "installed": False} == answer("template", "install", opensearch_url)


def test_another_template_of_that_name_is_not_replaced(opensearch_url: str, component: str, engine: Engine) -> None:
    """Unless it is told to; then it is ours."""
    theirs = {"template": {"mappings": {"properties": {"title": {"type": "text"}}}}}
    call(opensearch_url, "PUT", f"/_component_template/{component}", theirs)
    message = sentence(run("template", "install", opensearch_url))
    there = call(opensearch_url, "GET", f"/_component_template/{component}")["component_templates"][0]
    with pytest.raises(StoreError, match="has another component template"):
        install_component(engine)

    assert "compare it with template show, or use --force" in message
    assert theirs["template"]["mappings"] == there["component_template"]["template"]["mappings"]
    assert {"component_template": component, "installed": True} == answer(
        "template", "install", opensearch_url, "--force"
    )
    assert not install_component(engine)


def test_an_index_composed_of_the_template_is_fit(made: Indices, component: str, engine: Engine) -> None:
    """The way of an application: its index template names ours, and its new indices have the field."""
    install_component(engine)
    name = made.name()
    template = {"index_patterns": [name], "composed_of": [component], "priority": 500, "template": {"settings": NAMED}}
    call(made.engine, "PUT", f"/_index_template/{component}", template)
    try:
        call(made.engine, "PUT", f"/{name}", {"mappings": {"properties": {"title": {"type": "text"}}}})
        findings = check_index(engine, name)
    finally:
        call(made.engine, "DELETE", f"/_index_template/{component}")

    assert [] == findings
