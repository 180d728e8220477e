"""The body of the pipeline is complete, and unsupported settings are refused."""

from __future__ import annotations

import json

import pytest

from simdoc_search.analysis.settings import Analysis
from simdoc_search.attach.pipeline import build_pipeline_body
from simdoc_search.errors import StoreError
from simdoc_search.sketch.concepts import ConceptSettings
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.sentences import SentenceSettings
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import output, run, usage_error
from tests.support.pipeline import expected


def test_the_component_template_maps_all_values_of_the_pipeline() -> None:
    """Otherwise a strict mapping would refuse documents."""
    filled = {*expected("some words"), *build_pipeline_body()["processors"][0]["script"]["params"]["marks"], "error"}
    mapping = component_template()["template"]["mappings"]["properties"]["simdoc"]["properties"]

    assert filled == mapping.keys()


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        (Settings().with_key(HashKey("0123456789abcdef")), "a secret hash key"),
        (Settings(sketch=MinHash(with_rotation=True)), "the sketch bucketed:1 512 1 true 9"),
        (Settings(Analysis(stem="en")), "stemming"),
        (Settings(Analysis(frequencies=True)), "frequencies"),
        (Settings(sentences=SentenceSettings()), "sentences"),
        (Settings(concepts=ConceptSettings("names")), "concepts"),
        (Settings(identifies_language=True), "language identification"),
    ],
)
def test_settings_that_need_python_are_refused(settings: Settings, what: str) -> None:
    with pytest.raises(StoreError, match=f"does not support {what}; use `simdoc-search backfill`"):
        build_pipeline_body(settings)


@pytest.mark.parametrize("field", ["", "a.b", "_id"])
def test_only_a_top_level_field_can_be_filled(field: str) -> None:
    with pytest.raises(StoreError, match="choose a name without dots and without"):
        build_pipeline_body(field=field)


def test_the_command_prints_the_body_in_ascii() -> None:
    """It works in any shell, with any encoding."""
    shown = output(
        "template", "show", "--pipeline", "--text-field", "title", "--text-field", "body", "--field", "prints"
    )

    assert build_pipeline_body(text_field=["title", "body"], field="prints") == json.loads(shown)
    assert shown.isascii()


def test_the_printed_mapping_has_the_named_field() -> None:
    shown = json.loads(output("template", "show", "--field", "prints"))
    assert ["prints"] == list(shown["template"]["mappings"]["properties"])
    refused = usage_error(run("template", "show", "--text-field", "title"))
    assert "--text-field needs --pipeline; add --pipeline" == refused
