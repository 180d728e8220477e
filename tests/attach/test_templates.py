"""The component template and its shipped file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import fingerprint
from simdoc_search.query import similar_query
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.winnow import PassageSettings
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import output

ROOT = Path(__file__).parents[2]


def fields(settings: Settings | None = None) -> Any:
    """Return the mappings below the fingerprint field."""
    return component_template(settings)["template"]["mappings"]["properties"]["simdoc"]["properties"]


def test_the_shipped_template_is_current() -> None:
    """Each call returns a new copy."""
    shipped = json.loads((ROOT / "index_templates/simdoc.component.json").read_text("utf-8"))
    component_template().clear()

    assert shipped == component_template()


def test_the_template_has_only_the_fingerprint_field() -> None:
    """It has no settings and no dynamic rules, which belong to the owner of the index template."""
    template = component_template()

    assert {"template", "_meta"} == template.keys()
    assert {"mappings"} == template["template"].keys()
    assert {"properties": {"simdoc": {"dynamic": "false", "properties": fields()}}} == template["template"]["mappings"]


def test_fields_have_their_types() -> None:
    """Token fields score the number of matching tokens. Hashes can be aggregated."""
    tokens = {
        "type": "text",
        "analyzer": "whitespace",
        "search_analyzer": "simple",
        "similarity": "boolean",
        "norms": False,
        "index_options": "docs",
    }
    keywords = ("text_hash", "words_hash", "format", "error", "duplicate_of", "cluster")
    others = {"shingles": "integer", "buckets": "short", **dict.fromkeys(keywords, "keyword")}

    assert {"tokens", "passages", *others} == fields().keys()
    for name in ("tokens", "passages"):
        assert tokens == {option: value for option, value in fields()[name].items() if option != "meta"}
    assert others == {name: fields()[name]["type"] for name in others}
    assert [{"type": "keyword"}] * 2 == [fields()[name] for name in ("text_hash", "words_hash")]


def test_every_field_can_be_derived() -> None:
    """OpenSearch refuses derived source for a field with one of these options."""
    options = {"ignore_above", "normalizer", "copy_to", "doc_values", "store", "enabled"}

    assert [] == [name for name, field in fields().items() if options & field.keys()]


def test_the_settings_are_in_the_metadata_of_the_tokens() -> None:
    """Engines allow 5 entries, with 20 characters per key and 50 per value."""
    meta = fields()["tokens"]["meta"]

    assert {
        "simdoc_version": "1",
        "simdoc_analysis": "nfkc_cf word 5 short_texts",
        "simdoc_sketches": "bucketed:1 512 1 false 9; passages:1 32 5",
    } == meta
    assert max(map(len, meta)) <= 20
    assert max(map(len, meta.values())) <= 50
    without = fields(Settings(passages=None))
    assert {"passages"} == fields().keys() - without.keys()
    assert "bucketed:1 512 1 false 9" == without["tokens"]["meta"]["simdoc_sketches"]


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ([], Settings()),
        (["--no-passages"], Settings(passages=None)),
        (["--passage-run", "20"], Settings(passages=PassageSettings(16))),
    ],
    ids=["default", "none", "shorter"],
)
def test_the_command_prints_the_template(options: list[str], settings: Settings) -> None:
    assert component_template(settings) == json.loads(output("template", "show", *options))


def test_the_query_builder_uses_the_mapped_field() -> None:
    tokens = fingerprint("one two three four five six seven eight nine").tokens()
    ((path, query),) = similar_query(tokens)["match"].items()

    assert "simdoc.tokens" == path
    assert fields()["tokens"]["analyzer"] == query["analyzer"]
    assert tokens == query["query"].split(" ")
