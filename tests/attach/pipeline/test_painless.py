"""The scripts use only names that all engines allow, and respect the limits of engines."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest

import simdoc_search
from simdoc_search.attach.pipeline import build_pipeline_body
from simdoc_search.sketch.settings import Settings
from tests.support.engines import call
from tests.support.painless import allowed_in, names_in, operators_in, sources_in

DATA = Path(__file__).parents[2] / "data" / "painless_names.json"
KNOWN: dict[str, Any] = json.loads(DATA.read_text("utf-8"))
ENGINES = {"Elasticsearch 7.10", "Elasticsearch 8", "Elasticsearch 9", "OpenSearch 2", "OpenSearch 3"}
ROOT = Path(simdoc_search.__file__).parent


@functools.cache
def source() -> str:
    """The scripts of the pipeline."""
    return "\n".join(sources_in(build_pipeline_body()))


def test_the_table_has_the_names_of_the_scripts() -> None:
    """If this fails, look up the new name in the allow-list of each engine, and add it to the table."""
    assert names_in(source()) == KNOWN["names"].keys()
    assert ENGINES == KNOWN["how_it_is_known"].keys()
    assert [] == [name for name, known in KNOWN["names"].items() if set(known["allowed_in"]) != ENGINES]


@pytest.mark.parametrize("engine", ["opensearch", "elasticsearch_7"])
def test_the_engine_allows_the_names(request: pytest.FixtureRequest, engine: str) -> None:
    url = request.getfixturevalue(f"{engine}_url")
    allowed = allowed_in(call(url, "GET", "/_scripts/painless/_context?context=ingest"))
    names = names_in(source())
    methods = {f"{of}{name}" for name in names for of in KNOWN["names"][name].get("methods_of", ())}

    assert set() == (methods | {name for name in names if not name.startswith(".")}) - allowed


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
def test_names_of_java_are_recognised(source: str, names: set[str]) -> None:
    assert names == names_in(source)


def test_only_two_modules_use_scripts() -> None:
    """The third one, the engine module, only tests whether scripts run."""
    modules = {str(file.relative_to(ROOT)) for file in ROOT.rglob("*.py") if '"painless"' in file.read_text("utf-8")}

    assert {"attach/pipeline/body.py", "attach/search_templates.py", "stores/remote/engine.py"} == modules


def test_a_script_has_no_regular_expression() -> None:
    """Some engines forbid regular expressions, and others limit them."""
    assert set() == operators_in(source()) & {"/", "~", "=~", "==~"}
    assert {"/", "=~", "==~"} <= operators_in("a =~ /b/ || c ==~ d")


def test_an_engine_compiles_the_scripts_once() -> None:
    """Engines compile 75 or 150 scripts in five minutes. The size is limited to `script.max_size_in_bytes`."""
    bodies = [build_pipeline_body(), build_pipeline_body(Settings(passages=None), ["a", "b.c"], "other")]
    scripts = {source for body in bodies for source in sources_in(body)}

    assert 3 == len(scripts)
    assert max(len(source.encode()) for source in scripts) < 65_535
