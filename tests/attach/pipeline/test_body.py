"""The body of the pipeline is one that engines take, and settings that it cannot have are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simdoc_search.analysis.settings import Analysis
from simdoc_search.attach.pipeline import pipeline_body
from simdoc_search.errors import StoreError
from simdoc_search.sketch.concepts import Concepts
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.sentences import Sentences
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import output, run, usage_error
from tests.support.pipeline import expected

MAX_SCRIPT = 65_535
"""An engine's script.max_size_in_bytes."""


def script(body: dict[str, Any]) -> dict[str, Any]:
    """Its one processor."""
    (processor,) = body["processors"]
    return dict(processor["script"])


def test_the_scripts_fit_into_an_engine() -> None:
    """Joined, without comments."""
    source = script(pipeline_body())["source"]

    assert len(source.encode()) < MAX_SCRIPT
    assert "//" not in source


def test_the_script_is_the_same_for_all_settings() -> None:
    """What differs are its parameters, so that an engine compiles it once."""
    other = Settings(Analysis("lowercase", 3), MinHash(bucket_count=64), 5, None)

    assert script(pipeline_body())["source"] == script(pipeline_body(other, ["title"], "prints"))["source"]


def test_the_component_template_has_all_that_the_pipeline_fills() -> None:
    """The reason of a failure too, so that a strict mapping refuses no document."""
    filled = {*expected("some words"), *script(pipeline_body())["params"]["marks"], "error"}
    mapping = component_template()["template"]["mappings"]["properties"]["simdoc"]["properties"]

    assert filled == mapping.keys()


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        (Settings().with_key(HashKey("0123456789abcdef")), "a secret hash key"),
        (Settings(minhash=MinHash(with_rotation=True)), "the sketch bucketed:1 512 1 true 4"),
        (Settings(Analysis(stem="en")), "stems"),
        (Settings(Analysis(frequencies=True)), "frequencies"),
        (Settings(sentences=Sentences()), "sentences"),
        (Settings(concepts=Concepts("yake")), "concepts"),
        (Settings(language=True), "languages"),
    ],
)
def test_settings_that_no_script_has_are_refused(settings: Settings, what: str) -> None:
    """The sentence names them, and what can make such fingerprints."""
    with pytest.raises(StoreError, match=f"with {what}; use simdoc-search backfill"):
        pipeline_body(settings)


@pytest.mark.parametrize("field", ["", "a.b", "_id"])
def test_a_field_that_is_not_at_the_top_is_refused(field: str) -> None:
    """It would lie elsewhere in a document than in a query."""
    with pytest.raises(StoreError, match="name a top-level field, such as simdoc"):
        pipeline_body(field=field)


def test_the_command_prints_the_body_in_ascii() -> None:
    """For curl, through any shell."""
    shown = output(
        "template", "show", "--pipeline", "--text-field", "title", "--text-field", "body", "--field", "prints"
    )

    assert pipeline_body(text_field=["title", "body"], field="prints") == json.loads(shown)
    assert shown.isascii()


def test_without_pipeline_the_mapping_has_the_object_field() -> None:
    """It has no text field, so none can be named."""
    shown = json.loads(output("template", "show", "--field", "prints"))
    assert ["prints"] == list(shown["template"]["mappings"]["properties"])
    refused = usage_error(run("template", "show", "--text-field", "title"))
    assert "--text-field needs --pipeline or --index-template" == refused
