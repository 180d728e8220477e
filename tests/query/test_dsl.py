"""How is a plan said to OpenSearch or Elasticsearch?"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query import Bands, Threshold, plan, similar_query, to_dsl
from simdoc_search.query.dsl import MAX_CLAUSES, FieldKind, clause_count
from simdoc_search.query.planner import Planner
from simdoc_search.query.plans import Plan

T1 = {"term": {"t": "A"}}
T2 = {"term": {"t": "B"}}
T3 = {"term": {"t": "C"}}
BANDS = Bands(("A", "B", "C"), (("A", "B"), ("C", "A")))
FILTERS: list[dict[str, Any]] = [{"term": {"language": "de"}}, {"bool": {"should": [{"match": {"title": "x y"}}]}}]


def scored(clause: dict[str, Any]) -> dict[str, Any]:
    """A clause that counts as one."""
    return {"constant_score": {"filter": clause}}


def any_of(clauses: list[dict[str, Any]], least: int = 1) -> dict[str, Any]:
    """At least so many of the clauses."""
    return {"bool": {"should": clauses, "minimum_should_match": least}}


def match(query: str, **options: object) -> dict[str, Any]:
    """A match on field t that names its analyzer."""
    return {"match": {"t": {"query": query, "analyzer": "whitespace", **options}}}


@pytest.mark.parametrize(
    ("made", "kind", "expected"),
    [
        (Threshold(("A", "B", "C"), 2), "text", match("A B C", minimum_should_match=2)),
        (Threshold(("A", "B", "C"), 2), "terms", any_of([scored(T1), scored(T2), scored(T3)], 2)),
        (
            BANDS,
            "text",
            {
                "bool": {
                    "filter": [any_of([match("A B", operator="and"), match("C A", operator="and")])],
                    "must": [match("A B C", minimum_should_match=1)],
                }
            },
        ),
        (
            BANDS,
            "terms",
            {
                "bool": {
                    "filter": [any_of([{"bool": {"filter": [T1, T2]}}, {"bool": {"filter": [T3, T1]}}])],
                    "must": [any_of([scored(T1), scored(T2), scored(T3)])],
                }
            },
        ),
        (plan("ABCDE"), "text", match("A B C D E", minimum_should_match=1)),
        (plan("A"), "terms", any_of([scored(T1)])),
        (plan(""), "text", {"match_none": {}}),
        (plan("", 0.2, 0.8), "terms", {"match_none": {}}),
    ],
    ids=[
        "threshold",
        "threshold terms",
        "bands",
        "bands terms",
        "any overlap",
        "one token",
        "nothing",
        "no bands",
    ],
)
def test_a_plan_compiles_to_this_json(made: Plan, kind: FieldKind, expected: dict[str, Any]) -> None:
    """Exactly these clauses, in this order."""
    assert expected == to_dsl(made, "t", kind=kind, score="tokens")


@pytest.mark.parametrize("kind", ["text", "terms"])
def test_bands_alone_are_the_default(kind: FieldKind) -> None:
    """Nothing is asked for but the bands, and the score is how many match: counting tokens must be asked for."""
    bands = to_dsl(BANDS, "t", kind=kind)["bool"]["should"]

    assert BANDS.clauses == clause_count(to_dsl(BANDS, "t", kind=kind))
    assert len(BANDS.bands) == len(bands)
    assert ["constant_score"] * len(bands) == [key for each in bands for key in each]
    assert to_dsl(BANDS, "t", kind=kind) == to_dsl(BANDS, "t", kind=kind, score="bands")
    assert {"filter"} == to_dsl(BANDS, "t", kind=kind, score="nothing")["bool"].keys()


def test_the_field_of_our_own_index_is_the_default() -> None:
    """simdoc.tokens, a text field."""
    assert {"simdoc.tokens"} == to_dsl(plan("ABCDE"))["match"].keys()


def test_filters_and_the_source_stand_beside_the_clause() -> None:
    """The caller's filters are kept as they are; the source document is left out by its _id."""
    clause = match("A B C", minimum_should_match=2)
    made = Threshold(("A", "B", "C"), 2)
    without = [{"ids": {"values": ["a/b c"]}}]

    assert {"bool": {"must": [clause], "filter": FILTERS}} == to_dsl(made, "t", filters=FILTERS)
    assert {"bool": {"must": [clause], "must_not": without}} == to_dsl(made, "t", exclude_id="a/b c")
    assert {"bool": {"must": [clause], "filter": FILTERS, "must_not": without}} == to_dsl(
        made, "t", filters=FILTERS, exclude_id="a/b c"
    )


def test_the_range_keeps_out_documents_that_are_too_short_or_too_long() -> None:
    """Where the field of the token counts is named, the plan's range is a filter after the caller's."""
    made = plan("ABCDEFGHIJ", 0.5)
    clause = match("A B C D E F G H I J", minimum_should_match=5)
    within = {"range": {"n": {"gte": 5, "lte": 20}}}

    assert {"bool": {"must": [clause], "filter": [*FILTERS, within]}} == to_dsl(
        made, "t", buckets_field="n", filters=FILTERS
    )
    assert clause == to_dsl(made, "t")
    assert match("A", minimum_should_match=1) == to_dsl(plan("A"), "t", buckets_field="n")


def test_the_input_is_left_alone() -> None:
    """Compiling changes no filter, and a result that is changed by its owner changes no other."""
    filters = copy.deepcopy(FILTERS)
    to_dsl(plan("AB", 0.5), filters=filters, exclude_id="x", buckets_field="n")["bool"]["filter"].append("more")
    to_dsl(plan(""))["match_none"]["boost"] = 2

    assert FILTERS == filters
    assert {"match_none": {}} == to_dsl(plan(""))


def wide(overlap: float, probability: float | None = None) -> Plan:
    """What planner `all` makes of 512 tokens."""
    return plan([f"{number:04}" for number in range(512)], overlap, probability, planner="all")


@pytest.mark.parametrize("kind", ["text", "terms"])
def test_bands_that_fit_beside_the_tokens_are_scored_by_tokens(kind: FieldKind) -> None:
    """`_20_80` of planner `all`: 512 clauses in bands and 512 that score are just the engine's 1,024."""
    query = to_dsl(wide(0.2, 0.8), kind=kind, score="tokens")
    short = to_dsl(wide(0.2, 0.8), score="tokens", max_clauses=MAX_CLAUSES - 1)

    assert MAX_CLAUSES == clause_count(query)
    assert {"filter", "must"} == query["bool"].keys()
    assert "constant_score" in str(short["bool"]["should"][0])


@pytest.mark.parametrize("kind", ["text", "terms"])
def test_bands_that_do_not_fit_beside_the_tokens_are_scored_by_bands(kind: FieldKind) -> None:
    """`_80_90` of planner `all`: 516 clauses and 512 more are too many; each band counts as one."""
    made = wide(0.8, 0.9)
    query = to_dsl(made, kind=kind, score="tokens")
    bands = query["bool"]["should"]

    assert 516 == clause_count(query)
    assert isinstance(made, Bands)
    assert {"bool": {"should": bands, "minimum_should_match": 1}} == query
    assert [to_dsl(Bands(band, (band,)), kind=kind, score="tokens")["bool"]["filter"] for band in made.bands] == [
        [any_of([each["constant_score"]["filter"]])] for each in bands
    ]


@pytest.mark.parametrize("made", [wide(0.2, 0.8), wide(0.2)], ids=["bands", "threshold"])
@pytest.mark.parametrize("kind", ["text", "terms"])
def test_a_plan_beyond_the_clause_limit_is_refused(made: Plan, kind: FieldKind) -> None:
    """The error names both numbers and the engine's setting; exactly as many as allowed compile."""
    assert 512 == clause_count(to_dsl(made, kind=kind, max_clauses=512))
    with pytest.raises(QuerySyntaxError, match=r"has 512 .* allows 511; .* indices\.query\.bool\.max_clause_count"):
        to_dsl(made, kind=kind, max_clauses=511)


def test_an_unknown_kind_of_field_is_refused() -> None:
    """Its message names both kinds."""
    with pytest.raises(QuerySyntaxError, match="'text' or 'terms', not 'keyword'"):
        to_dsl(plan("AB"), kind="keyword")  # type: ignore[arg-type] # a person may


def test_an_unknown_score_is_refused() -> None:
    """Also where it would not be used."""
    with pytest.raises(QuerySyntaxError, match="score must be 'bands', 'tokens' or 'nothing', not 'token'"):
        to_dsl(plan("AB"), score="token")  # type: ignore[arg-type] # a person may


@pytest.mark.parametrize("asked", [(), (0.2,), (0.5, 0.8)])
@pytest.mark.parametrize("kind", ["text", "terms"])
@pytest.mark.parametrize("planner", ["enough", "all"])
def test_similar_query_plans_and_compiles(asked: tuple[float, ...], kind: FieldKind, planner: Planner) -> None:
    """The same as plan() and to_dsl() one after the other."""
    tokens = [f"{number:02}" for number in range(40)]
    expected = to_dsl(plan(tokens, *asked, planner=planner), "f", kind=kind, filters=FILTERS, exclude_id="x")

    assert expected == similar_query(
        tokens, *asked, field="f", kind=kind, planner=planner, filters=FILTERS, exclude_id="x"
    )


@dataclass(frozen=True)
class Indexed:
    """A document as an engine holds it."""

    id: str
    tokens: frozenset[str]
    buckets: int

    def score(self, query: dict[str, Any]) -> float | None:
        """What an engine makes of the query: the score, or None where it does not match."""
        ((name, body),) = query.items()
        return getattr(self, f"_{name}")(body)  # type: ignore[no-any-return]

    def _match_none(self, _: dict[str, Any]) -> float | None:
        return None

    def _match(self, body: dict[str, Any]) -> float | None:
        asked = body["t"]
        assert asked.keys() <= {"query", "analyzer", "operator", "minimum_should_match"}
        assert "whitespace" == asked["analyzer"]
        words = asked["query"].split()
        equal = sum(word in self.tokens for word in words)  # similarity boolean: each counts as one
        least = len(words) if asked.get("operator") == "and" else asked.get("minimum_should_match", 1)
        return equal if equal >= least else None

    def _term(self, body: dict[str, Any]) -> float | None:
        return 1 if body["t"] in self.tokens else None

    def _constant_score(self, body: dict[str, Any]) -> float | None:
        return None if self.score(body["filter"]) is None else 1

    def _range(self, body: dict[str, Any]) -> float | None:
        return 1 if body["n"]["gte"] <= self.buckets <= body["n"]["lte"] else None

    def _ids(self, body: dict[str, Any]) -> float | None:
        return 1 if self.id in body["values"] else None

    def _bool(self, body: dict[str, Any]) -> float | None:
        assert body.keys() <= {"must", "filter", "should", "must_not", "minimum_should_match"}
        must, kept, should, without = (
            [self.score(each) for each in body.get(occur, [])] for occur in ("must", "filter", "should", "must_not")
        )
        optional = [each for each in should if each is not None]
        least = body.get("minimum_should_match", 0 if must or kept else 1)
        if None in must + kept or len(optional) < least or any(each is not None for each in without):
            return None
        return sum(optional) + sum(each for each in must if each is not None)


def asks_for(plan: Plan, document: Indexed) -> bool:
    """What a plan means, word by word."""
    if isinstance(plan, Bands):
        return any(document.tokens.issuperset(band) for band in plan.bands)
    low, high = plan.buckets or (0, 99)
    return len(document.tokens & set(plan.tokens)) >= plan.minimum_match and low <= document.buckets <= high


percents = st.integers(1, 100).map(lambda percent: percent / 100)
planned = st.builds(
    lambda tokens, asked, planner: plan(tokens, *asked, planner=planner),
    st.lists(st.sampled_from("ABCDEFGHIJ"), unique=True),
    st.just(()) | st.tuples(percents) | st.tuples(percents, percents),
    st.sampled_from(["enough", "all"]),
)
documents = st.lists(
    st.builds(
        Indexed, st.sampled_from("xy"), st.frozensets(st.sampled_from("ABCDEFGHIJ"), min_size=3), st.integers(1, 12)
    ),
    min_size=1,
    max_size=20,
)


@given(planned, st.sampled_from(["text", "terms"]), st.none() | st.just("x"), documents)
def test_the_json_accepts_what_the_plan_asks_for(
    made: Plan, kind: FieldKind, exclude_id: str | None, documents: list[Indexed]
) -> None:
    """An engine finds just the documents that satisfy the plan, each scored by its number of equal tokens."""
    query = to_dsl(made, "t", kind=kind, buckets_field="n", exclude_id=exclude_id, score="tokens")
    expected = [
        len(each.tokens & set(made.tokens)) if asks_for(made, each) and each.id != exclude_id else None
        for each in documents
    ]

    assert expected == [each.score(query) for each in documents]
    assert query == json.loads(json.dumps(query))


@given(st.lists(st.sampled_from("ABCDEFGHIJ"), unique=True, min_size=2), percents, percents, documents)
def test_the_json_accepts_the_same_where_bands_score(
    tokens: list[str], overlap: float, probability: float, documents: list[Indexed]
) -> None:
    """Short of clauses it finds the same documents, scored by the number of their bands."""
    made = plan(tokens, overlap, min(probability, 0.99))
    assert isinstance(made, Bands)
    expected = [sum(each.tokens.issuperset(band) for band in made.bands) or None for each in documents]

    for kind in ("text", "terms"):
        query = to_dsl(made, "t", kind=kind, max_clauses=made.clauses)

        assert made.clauses == clause_count(query)
        assert expected == [each.score(query) for each in documents]
