"""The engine computes the bands of a query, and a search template uses them."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.query import plan
from simdoc_search.query.plans import MIN_OVERLAP_WITHOUT_CHANCE_FILTER, BandPlan, min_matches
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import decode_text
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import component_template
from tests.support.backfill import load, to
from tests.support.http_server import indices
from tests.support.pipeline_installation import install_search_templates
from tests.support.texts import overlapping, text

OVERLAPS = (
    1,
    float(100 * MIN_OVERLAP_WITHOUT_CHANCE_FILTER) - 0.1,
    float(100 * MIN_OVERLAP_WITHOUT_CHANCE_FILTER),
    12.5,
    20,
    50,
    80,
    100,
)


@pytest.fixture(params=["opensearch", "elasticsearch_7"], scope="module")
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Each engine that has scripts, with our search templates."""
    with to(str(request.getfixturevalue(f"{request.param}_url"))) as opened:
        install_search_templates(opened, force=True)
        yield opened


def bands_of(engine: Engine, fields: list[dict[str, Any]], **params: Any) -> list[Any]:
    """The bands that the engine computes from each fingerprint, or an error."""
    script = {"script": {"id": "simdoc-bands", "params": {"into": "simdoc", **params}}}
    docs = [{"_source": {"simdoc": field}} for field in fields]
    body = {"pipeline": {"processors": [script]}, "docs": docs}
    answer = engine.call("POST", ["_ingest", "pipeline", "_simulate"], body)["docs"]
    return [result["doc"]["_source"]["bands"] if "doc" in result else result["error"] for result in answer]


def scores(engine: Engine, params: dict[str, Any], bands: dict[str, Any]) -> dict[str, int]:
    """The scores of the hits of `simdoc-similar-to-text`, by id."""
    request = {"id": "simdoc-similar-to-text", "params": {**params, "bands": bands}}
    hits = engine.call("POST", [params["index"], "_search", "template"], request)["hits"]["hits"]
    return {hit["_id"]: hit["_score"] for hit in hits}


@pytest.mark.parametrize("probability", [10, 80, 99.9])
def test_the_engine_makes_the_bands_of_the_planner(engine: Engine, probability: float) -> None:
    """This holds for any number of tokens, any overlap and any probability."""
    counts = [1, 2, 7, 60, 265, 512, 4096]
    fields = [{"tokens": " ".join(f"T{number}" for number in range(count))} for count in counts]
    for percent in OVERLAPS:
        share, chance = Fraction(str(percent)) / 100, Fraction(str(probability)) / 100
        for field, bands in zip(
            fields, bands_of(engine, fields, overlap=percent, probability=probability), strict=True
        ):
            planned = plan(field["tokens"].split(), share, chance)
            assert isinstance(planned, BandPlan)
            assert [" ".join(band) for band in planned.bands] == bands["any_of"]
            count, mean = len(planned.tokens), float(share)
            least = math.ceil(count * (mean - 2.33 * math.sqrt(mean * (1 - mean) / count)))
            assert max(min_matches(count, share), least) == bands["min_tokens"]
            assert (percent, count) == (bands["overlap"], bands["buckets"])


def test_wrong_parameters_are_an_error(engine: Engine) -> None:
    field = fingerprint_field("one two three four five six")
    for fields, params, message in (
        ({}, {"overlap": 20, "probability": 80}, "the document has no simdoc.tokens; a text without words has none"),
        (field, {"overlap": 20}, "overlap and probability must be numbers, in percent"),
        (
            field,
            {"overlap": 20, "probability": 100},
            "overlap must be greater than 0 and at most 100, probability greater than 0 and less than 100",
        ),
        (field, {"overlap": 0, "probability": 80}, "overlap must be greater than 0"),
        (field, {"overlap": "20", "probability": 80}, "overlap and probability must be numbers, in percent"),
    ):
        (bands,) = bands_of(engine, [fields], **params)
        assert message in str(bands)


def test_hits_match_a_band_and_have_about_the_overlap(engine: Engine) -> None:
    """The score is the number of matching tokens. The source is not a hit. A fingerprint needs only its tokens.

    The estimates of the package differ a little, because they know which buckets are filled in both documents.
    """
    rng = random.Random("bands")
    texts = {f"alone{number}": text(rng, 300) for number in range(10)}
    for size, percent in itertools.product((60, 700), (10, 15, 20, 30, 50, 80, 95)):
        texts[f"{size}-{percent}-a"], texts[f"{size}-{percent}-b"] = overlapping(rng, size, percent / 100)
    texts["long"] = f"{texts['60-95-a']} {text(rng, 400)}"  # it has the bands of a short text, but little overlap
    ours = component_template()["template"]["mappings"]["properties"]
    with indices(engine.name) as made:
        index = made.make({"properties": {"body": {"type": "text"}, **ours}}, {})
        load(engine, index, {id: {"body": body, "simdoc": fingerprint_field(body)} for id, body in texts.items()})
        token_ids = {id: decode_text(fingerprint_field(body)["tokens"]) for id, body in texts.items()}
        tokens = {id: set(fingerprint_field(body)["tokens"].split()) for id, body in texts.items()}
        counts = [0, 0]
        for (id, body), (overlap, probability) in itertools.product(texts.items(), ((20, 80), (50, 99))):
            field = {name: fingerprint_field(body)[name] for name in ("tokens", "format")}
            (bands,) = bands_of(engine, [field], overlap=overlap, probability=probability)

            params = {"fingerprint": field, "index": index, "id": id, "size": 50}
            matched = {other: len(tokens[id] & mine) for other, mine in tokens.items() if other != id}
            candidates = {
                other: count
                for other, count in matched.items()
                if count >= bands["min_tokens"]
                and any(tokens[other].issuperset(band.split()) for band in bands["any_of"])
            }
            share = Fraction(overlap, 100)
            compared = {other: Settings().compare_tokens(token_ids[id], token_ids[other]) for other in candidates}
            low, high = (
                {other for other, tokens in compared.items() if BandPlan(("a",), ()).is_hit(tokens, share + difference)}
                for difference in (Fraction(2, 100), Fraction(-2, 100))
            )
            found, strict = scores(engine, params, bands), scores(engine, {**params, "overlap": overlap}, bands)

            assert candidates == scores(engine, params, {name: bands[name] for name in ("any_of", "min_tokens")})
            assert found.items() <= candidates.items()
            assert low <= found.keys() <= high
            assert strict.items() <= found.items()
            assert {
                other for other, tokens in compared.items() if tokens.overlap >= share + Fraction(4, 100)
            } <= strict.keys()
            counts = [counts[0] + len(found), counts[1] + len(candidates)]
        assert 20 < counts[0] < counts[1]
