"""The commands that say whether an index is fit, and that install the component template."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing

import pytest

from simdoc_search.attach import templates
from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import answer, output, run, sentence, usage_error
from tests.support.engines import call, own_name
from tests.support.fitness import NAMED, check, mapping
from tests.support.http_server import Indices, indices
from tests.support.installing import install_component


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


def test_check_says_that_an_index_is_fit(made: Indices) -> None:
    """The exit code is 0; notes do not change that."""
    name, noted = made.make(mapping(), NAMED), made.make(mapping(), {})
    address = made.engine.replace("://", "://name@")

    printed = output("check", f"{address}/{name}").splitlines()

    assert printed[0].startswith(f"note: {name}: answers that show _source are longer by simdoc")
    assert [f"{name} is fit for FINGERPRINT queries"] == printed[1:]
    assert [False] == [each["wrong"] for each in answer("check", f"{address}/{name}")["findings"]]
    assert output("check", f"{address}/{noted}").startswith(f"note: {noted}: searches that name no field")
    assert answer("check", f"{address}/{noted}")["fit"]


def test_check_fails_where_something_is_wrong(made: Indices) -> None:
    """The exit code is 1, and what is wrong is the answer: it stands on stdout."""
    name = made.make(mapping(), NAMED)
    result = run("check", f"{made.engine}/{name}", "--field", "fp")
    as_json = run("check", f"{made.engine}/{name}", "--field", "fp", "--json")
    backfill = f"run simdoc-search backfill {made.engine}/{name} --text-field FIELD --field fp"
    said = f"there is no field fp.tokens; {backfill}, or put the mapping of simdoc-search template show"

    last = f"{name} is not fit: 1 problem, see above"
    assert (1, "", f"wrong: {name}: {said}\n{last}\n") == (result.exit_code, result.stderr, result.stdout)
    assert (1, "") == (as_json.exit_code, as_json.stderr)
    assert {
        "url": f"{made.engine}/{name}",
        "fit": False,
        "findings": [{"index": name, "wrong": True, "problem": said}],
    } == json.loads(as_json.stdout)


def test_check_needs_an_index_that_is_there(made: Indices) -> None:
    """Otherwise it fails with one sentence; what is no address of an index is called wrongly."""
    for url in (f"{made.engine}/test-nothing", "http://127.0.0.1:1/index", "no/url"):
        assert sentence(run("check", url))
    for url in (made.engine, "localhost:9200/docs"):
        assert "write http://" in usage_error(run("check", url))


def test_check_needs_an_address_with_an_index(made: Indices) -> None:
    """Without one it is a wrong call."""
    assert "names no index" in usage_error(run("check", made.engine))


def test_the_template_is_shown(made: Indices, engine: Engine) -> None:
    """What is printed can be put into an engine as it is: here as the mapping of an index."""
    shown, other = json.loads(output("template", "show")), answer("template", "show", "--field", "fp")

    assert component_template() == shown
    assert ["fp"] == list(other["template"]["mappings"]["properties"])
    assert [] == check(engine, made.make(other["template"]["mappings"], NAMED), "fp")


@pytest.fixture
def component(opensearch_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name under which the component template is installed, as an engine has one of a name only."""
    name = own_name()
    monkeypatch.setattr(templates, "COMPONENT", name)
    yield name
    call(opensearch_url, "DELETE", f"/_component_template/{name}")


def test_the_template_is_installed_once(opensearch_url: str, component: str) -> None:
    """The second time nothing is done; the JSON says which it was."""
    said = output("template", "install", opensearch_url)

    assert f"the component template {component} is installed" == said.splitlines()[0]
    assert f'"composed_of": ["{component}"]' in said
    assert "was there already" in output("template", "install", opensearch_url + "/")
    told = {"component_template": component, "installed": False, "changes": [], "warnings": []}
    assert told == answer("template", "install", opensearch_url)


def test_a_template_is_not_installed_into_an_index(opensearch_url: str) -> None:
    """It is the engine's: an address with an index is answered with the one to type."""
    said = sentence(run("template", "install", f"{opensearch_url}/articles"))

    assert f"; leave out /articles: simdoc-search template install {opensearch_url}" in said


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
    assert answer("template", "install", opensearch_url, "--force")["installed"]
    assert not install_component(engine)


def test_an_index_composed_of_the_template_is_fit(made: Indices, component: str, engine: Engine) -> None:
    """The way of an application: its index template names ours, and its new indices have the field."""
    install_component(engine)
    name = made.name()
    template = {"index_patterns": [name], "composed_of": [component], "priority": 500, "template": {"settings": NAMED}}
    call(made.engine, "PUT", f"/_index_template/{component}", template)
    try:
        call(made.engine, "PUT", f"/{name}", {"mappings": {"properties": {"title": {"type": "text"}}}})
        findings = check(engine, name)
    finally:
        call(made.engine, "DELETE", f"/_index_template/{component}")

    assert [] == findings
