"""How is an engine asked by the id of a document, and for as much as a plan asks for?"""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query import Threshold, plan, similar_by_id

FILTERS: list[dict[str, Any]] = [{"term": {"language": "de"}}, {"bool": {"should": [{"match": {"title": "x y"}}]}}]


def by_id(least: str, **source: str) -> dict[str, Any]:
    """A more_like_this on our field, by the id of a document; only this document is left out."""
    routing = [{"term": {"_routing": source["routing"]}}] if "routing" in source else []
    itself = [{"term": {"_index": source["_index"]}}, {"ids": {"values": [source["_id"]]}}, *routing]
    clause = {
        "more_like_this": {
            "fields": ["simdoc.tokens"],
            "like": [source],
            "include": True,
            "max_query_terms": 512,
            "min_term_freq": 1,
            "min_doc_freq": 1,
            "minimum_should_match": least,
        }
    }
    return {"bool": {"must": [clause], "must_not": [{"bool": {"filter": itself}}]}}


def like_this(query: dict[str, Any]) -> dict[str, Any]:
    """The more_like_this of a query."""
    clause: dict[str, Any] = query["bool"]["must"][0]["more_like_this"]
    return clause


def test_a_document_is_named_by_its_id_alone() -> None:
    """Its tokens are read by the engine; routing is named where the document has one."""
    assert by_id("1<-99% 300<4", _index="i", _id="a/b c") == similar_by_id("i", "a/b c")
    assert by_id("-80%", _index="i", _id="7", routing="r") == similar_by_id("i", "7", 0.2, routing="r")
    assert ["f.t"] == like_this(similar_by_id("i", "7", field="f.t"))["fields"]


def test_filters_stand_beside_the_id() -> None:
    """The caller's filters are kept as they are, and left alone."""
    filters = copy.deepcopy(FILTERS)
    query = similar_by_id("i", "7", 0.2, filters=filters)
    query["bool"]["filter"].append("more")

    assert FILTERS == filters
    assert {"bool": {**by_id("-80%", _index="i", _id="7")["bool"], "filter": [*FILTERS, "more"]}} == query


def least_of(spec: str, terms: int) -> int:
    """How many of so many terms an engine wants for a minimum_should_match: what it multiplies it rounds to zero."""
    number = int(spec.removesuffix("%"))
    if spec.endswith("%"):
        number = int(np.float32(terms * number) * (np.float32(1) / np.float32(100)))
    return max(0, min(terms, number if spec[0] != "-" else terms + number))


def least_of_any(terms: int) -> int:
    """The same of a spec with conditions: the last whose number is less than the terms counts; all terms if none is."""
    conditions = [each.split("<") for each in like_this(similar_by_id("i", "7"))["minimum_should_match"].split()]
    held = [spec for more_than, spec in conditions if terms > int(more_than)]
    return least_of(held[-1], terms) if held else terms


@pytest.mark.parametrize("percent", range(1, 101))
def test_a_whole_percent_asks_for_what_the_plan_does(percent: int) -> None:
    """Of any number of tokens as many must be equal as for the same overlap with the tokens at hand."""
    overlap = Fraction(percent, 100)
    spec = like_this(similar_by_id("i", "7", overlap))["minimum_should_match"]

    assert [] == [count for count in range(1, 4097) if least_of(spec, count) != -(-count * percent // 100)]


def test_other_overlaps_are_rounded_down_to_a_whole_percent() -> None:
    """So none is missed; below one percent what is asked for is what no overlap asks for."""
    asked: list[float | str | None] = ["0.07", "0.0799", 0.125, 0.29, "0.999", 1, 0.005, 0, None]
    specs = [like_this(similar_by_id("i", "7", overlap))["minimum_should_match"] for overlap in asked]

    assert ["-93%", "-93%", "-88%", "-71%", "-1%", "100%", *["1<-99% 300<4"] * 3] == specs


def test_no_overlap_asks_for_what_the_plan_does() -> None:
    """Of any number of tokens 1 % must be equal, from 1 to 4; an engine takes 0 for 1 where nothing else must hold."""
    tokens = tuple(map(str, range(4096)))

    assert [] == [
        count
        for count in range(1, 4097)
        if plan(tokens[:count]) != Threshold(tokens[:count], max(1, least_of_any(count)))
    ]


def test_an_overlap_out_of_range_is_refused_by_id_too() -> None:
    """With the same error as by tokens."""
    with pytest.raises(QuerySyntaxError, match=r"from 0 to 1, not 20; 20 % is 0\.2"):
        similar_by_id("i", "7", 20)
