"""The component template is the field that DESIGN decides on, and what is shipped beside it is safe to start."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import fingerprint
from simdoc_search.query import similar_query
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.winnow import Passages
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import output

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "docker-compose.yml"


def fields() -> Any:
    """The fields of the object `simdoc`."""
    return component_template()["template"]["mappings"]["properties"]["simdoc"]["properties"]


def metas(mapping: Any) -> Iterator[dict[str, str]]:
    """The `meta` of every field, however deep."""
    if isinstance(mapping, dict):
        for key, value in mapping.items():
            if key == "meta":
                yield value
            yield from metas(value)


def test_the_template_is_the_file_in_index_templates() -> None:
    """People without Python read it there; each call gives a copy of its own."""
    shipped = json.loads((ROOT / "index_templates/simdoc.component.json").read_text("utf-8"))
    component_template().clear()

    assert shipped == component_template()


@pytest.mark.parametrize("field", ["tokens", "passages"])
def test_tokens_are_one_string_whose_score_is_the_number_of_equal_tokens(field: str) -> None:
    """Built-in parts only, so that the field can be added to a live index."""
    settings = {name: value for name, value in fields()[field].items() if name != "meta"}

    assert {
        "type": "text",
        "analyzer": "whitespace",
        "search_analyzer": "simple",
        "similarity": "boolean",
        "norms": False,
        "index_options": "docs",
    } == settings


def test_the_other_fields_are_numbers_and_keywords() -> None:
    """Counts must be comparable: plans have ranges over them."""
    kinds = {name: field["type"] for name, field in fields().items()}

    assert {
        "tokens": "text",
        "passages": "text",
        "shingles": "integer",
        "buckets": "short",
        "text_hash": "keyword",
        "words_hash": "keyword",
        "format": "keyword",
        "error": "keyword",
        "duplicate_of": "keyword",
        "cluster": "keyword",
    } == kinds


def test_an_engine_can_group_identical_texts() -> None:
    """Both hashes have doc values, which aggregations and collapsing need."""
    assert [{"type": "keyword"}] * 2 == [fields()[name] for name in ("text_hash", "words_hash")]


def test_every_field_can_be_derived() -> None:
    """OpenSearch refuses an index with derived source that has a field with one of these options."""
    options = {"ignore_above", "normalizer", "copy_to", "doc_values", "store", "enabled"}

    assert [] == [name for name, each in fields().items() if options & each.keys()]


def test_nothing_but_the_object_is_mapped() -> None:
    """Another owner's template stands beside it: no settings, no dynamic rules, no field of another name."""
    template = component_template()

    assert {"template", "_meta"} == set(template)
    assert {"mappings"} == set(template["template"])
    assert {"properties"} == set(template["template"]["mappings"])
    assert {"simdoc"} == set(template["template"]["mappings"]["properties"])


def test_meta_keeps_within_the_limits_of_the_engines() -> None:
    """At most 5 entries; keys of at most 20 characters, values strings of at most 50."""
    found = list(metas(component_template()["template"]))

    assert [fields()["tokens"]["meta"]] == found
    for meta in found:
        assert 1 <= len(meta) <= 5
        assert [] == [key for key in meta if len(key) > 20]
        assert [] == [value for value in meta.values() if not isinstance(value, str) or len(value) > 50]


def test_meta_names_the_default_settings() -> None:
    """The tokens that `fingerprint(text).tokens()` gives belong into this field."""
    default = Settings()
    analysis, minhash = default.analysis, MinHash()
    short_texts = " short_texts" if analysis.short_texts else ""
    numbers = f"{minhash.bucket_count} {minhash.hash_set_size} {str(minhash.with_rotation).lower()}"

    assert {
        "simdoc_version": str(Settings().layout),
        "simdoc_analysis": f"{analysis.profile} {analysis.unit} {analysis.shingle_size}{short_texts}",
        "simdoc_sketches": f"bucketed:1 {numbers} {default.token_length}; passages:1 32 5",
    } == fields()["tokens"]["meta"]


def test_without_passage_tokens_there_is_no_field_for_them() -> None:
    """The mapping is that of before there were any."""
    none = component_template(Settings(passages=None))["template"]["mappings"]["properties"]["simdoc"]["properties"]

    assert {"passages"} == fields().keys() - none.keys()
    assert "bucketed:1 512 1 false 4" == none["tokens"]["meta"]["simdoc_sketches"]


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ([], Settings()),
        (["--no-passages"], Settings(passages=None)),
        (["--passage-run", "20"], Settings(passages=Passages(16))),
    ],
)
def test_the_command_shows_what_is_asked_for(options: list[str], settings: Settings) -> None:
    """With passage tokens, without, or with those of shorter runs."""
    assert component_template(settings) == json.loads(output("template", "show", *options))


def test_the_query_builder_asks_the_mapped_field() -> None:
    """Its default field is a path into the template, its analyzer the one that splits at spaces."""
    tokens = fingerprint("one two three four five six seven eight nine").tokens()
    ((field, asked),) = similar_query(tokens)["match"].items()
    mapped = component_template()["template"]["mappings"]
    for part in field.split("."):
        mapped = mapped["properties"][part]

    assert mapped["analyzer"] == asked["analyzer"]
    assert tokens == asked["query"].split(" ")


@pytest.mark.parametrize("path", sorted((ROOT / "index_templates").glob("*.json")), ids=lambda path: path.name)
def test_every_template_is_json_and_says_what_it_is(path: Path) -> None:
    """For those who find it in their cluster."""
    whole = json.loads(path.read_text("utf-8"))

    assert "FINGERPRINT" in whole.get("_meta", whole)["description"]


# --- docker-compose.yml ---


def compose() -> list[str]:
    """Its lines without comments."""
    return [line for line in COMPOSE.read_text("utf-8").splitlines() if not line.lstrip().startswith("#")]


def test_images_are_pinned() -> None:
    """The same version comes next year: three numbers, no `latest`."""
    images = [line.partition("image:")[2].strip() for line in compose() if "image:" in line]

    assert [] != images
    assert [] == [image for image in images if not re.fullmatch(r"[\w./-]+:\d+\.\d+\.\d+", image)]


def test_ports_are_open_to_this_machine_only() -> None:
    """Security is switched off there, so nobody else may reach it."""
    lines = compose()
    ports: list[str] = []
    for number, line in enumerate(lines):
        if line.strip() == "ports:":
            for entry in lines[number + 1 :]:
                if not entry.strip().startswith("- "):
                    break
                ports.append(entry.strip().removeprefix("- ").strip("'\""))

    assert [] != ports
    assert [] == [port for port in ports if not re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port)]
    assert [] == [line for line in lines if "network_mode" in line]
