"""Our scripts use only what the allow-lists of all engines have, and keep to the limits that engines set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import simdoc_search
from simdoc_search.attach.pipeline import pipeline_body
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.schema import MARK_FIELDS
from tests.support.engines import call
from tests.support.painless import allowed_in, names_in, operators_in, our_scripts, properties_in, sources_in
from tests.support.pipeline import expected

DATA = Path(__file__).parents[2] / "data" / "painless_names.json"
KNOWN: dict[str, Any] = json.loads(DATA.read_text("utf-8"))
ENGINES = {"Elasticsearch 7.10", "Elasticsearch 8", "Elasticsearch 9", "OpenSearch 2", "OpenSearch 3"}
ROOT = Path(simdoc_search.__file__).parent


def used() -> set[str]:
    """What our scripts use of Java."""
    return {name for source in our_scripts().values() for name in names_in(source)}


# --- names ---


def test_a_script_uses_no_name_of_which_it_is_not_known_that_all_engines_allow_it() -> None:
    """See for a new one in the allow-lists of each engine, or ask the engine, and add it to the table."""
    assert set() == used() - KNOWN["names"].keys()
    assert set() == KNOWN["names"].keys() - used()


def test_all_engines_allow_them() -> None:
    """Each name in each of them."""
    assert ENGINES == KNOWN["how_it_is_known"].keys()
    assert [] == [name for name, each in KNOWN["names"].items() if set(each["allowed_in"]) != ENGINES]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("Map a = new HashMap(); a.put('x(', b.get(c));", {"Map", "HashMap", "new HashMap/0", ".put/2", ".get/1"}),
        ("int f(int a) { return Long.MAX_VALUE; } f(1); // Nothing.real()", {"Long", "Long.MAX_VALUE"}),
        ("Normalizer.Form.NFC", {"Normalizer.Form", "Normalizer.Form.NFC"}),
        ("a.b.c(d(e, f), [g, h]).i()", {".c/2", "call of d", ".i/0"}),
        ("List[] a = new List[2]; a instanceof Set ? (String) b : null", {"List", "Set", "String"}),
    ],
)
def test_a_new_name_is_seen(source: str, names: set[str]) -> None:
    """A type, a constructor, a method, a constant, and a function that the script has not."""
    assert names == names_in(source)


def test_what_is_read_without_a_call_are_keys_of_maps() -> None:
    """The parameters, what a fingerprint has, and the length of an array: no property of a class."""
    params = pipeline_body()["processors"][0]["script"]["params"]
    keys = {*params, *params["tables"], *expected("some words"), *MARK_FIELDS, "error", "length", "_source"}

    assert set() == {name for each in our_scripts().values() for name in properties_in(each)} - keys


@pytest.mark.parametrize("engine", ["opensearch", "elasticsearch_7"])
def test_the_engine_says_so_itself(request: pytest.FixtureRequest, engine: str) -> None:
    """In the context in which the script runs."""
    url = request.getfixturevalue(f"{engine}_url")
    allowed = allowed_in(call(url, "GET", "/_scripts/painless/_context?context=ingest"))
    names = names_in(our_scripts()["ingest"])
    methods = {f"{of}{name}" for name in names for of in KNOWN["names"][name].get("methods_of", ())}

    assert set() == (methods | {name for name in names if not name.startswith(".")}) - allowed


def test_no_other_module_has_scripts() -> None:
    """Those that name the language are known."""
    naming = {str(file.relative_to(ROOT)) for file in ROOT.rglob("*.py") if '"painless"' in file.read_text("utf-8")}

    known = {
        "attach/pipeline/body.py",
        "attach/search_templates.py",
        "stores/remote/engine.py",
    }
    assert known == naming


# --- limits; test_body.py: the size; test_equal.py: the longest texts, a million steps of a loop ---


def test_a_script_has_no_regular_expression() -> None:
    """Some engines forbid them as they come, others limit them: we have no sign of one."""
    signs = {sign for each in our_scripts().values() for sign in operators_in(each)}

    assert set() == signs & {"/", "~", "=~", "==~"}
    assert {"/", "=~", "==~"} <= operators_in("a =~ /b/ || c ==~ d")


def test_an_engine_compiles_the_pipeline_once() -> None:
    """Whatever its settings, fields and name are; engines compile 75 or 150 scripts in five minutes."""
    bodies = [pipeline_body(), pipeline_body(Settings(passages=None), ["a", "b.c"], "other")]

    assert 3 == len({source for body in bodies for source in sources_in(body)})
