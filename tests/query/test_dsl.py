"""Plans as JSON for OpenSearch and Elasticsearch, by tokens and by the id of a document."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query import BandPlan, ThresholdPlan, plan, similar_by_id, similar_query, to_dsl
from simdoc_search.query.dsl import MAX_CLAUSES, MINIMUM_SHOULD_MATCH_BEYOND_CHANCE, FieldKind, count_clauses
from simdoc_search.query.planner import Planner
from simdoc_search.query.plans import Plan
from tests.support.query_plans import satisfies, tokens

Clause = dict[str, Any]

BANDS = BandPlan(("A", "B", "C"), (("A", "B"), ("C", "A")))
FILTERS: list[Clause] = [{"term": {"language": "de"}}, {"bool": {"should": [{"match": {"title": "x y"}}]}}]


def match(query: str, **options: object) -> Clause:
    return {"match": {"t": {"query": query, "analyzer": "whitespace", **options}}}


@pytest.mark.parametrize("kind", ["text", "terms"])
def test_bands_are_scored_by_bands_by_default(kind: FieldKind) -> None:
    """Tokens are counted only on request."""
    query = to_dsl(BANDS, "t", kind=kind)

    assert BANDS.clause_count == count_clauses(query)
    assert ["constant_score"] * len(BANDS.bands) == [key for band in query["bool"]["should"] for key in band]
    assert query == to_dsl(BANDS, "t", kind=kind, score="bands")
    assert {"filter"} == to_dsl(BANDS, "t", kind=kind, score="nothing")["bool"].keys()
    assert {"simdoc.tokens"} == to_dsl(plan("ABCDE"))["match"].keys()


def test_filters_and_excluded_documents_are_combined_with_the_clause() -> None:
    """With a field for the number of tokens, the plan's range is a filter, too. The caller's list is not changed."""
    made = plan("ABCDEFGHIJ", 0.5)
    clause = match("A B C D E F G H I J", minimum_should_match=5)
    within = {"range": {"n": {"gte": 5, "lte": 20}}}
    must_not = [{"ids": {"values": ["a/b c"]}}]
    filters = copy.deepcopy(FILTERS)

    assert clause == to_dsl(made, "t")
    assert {"bool": {"must": [clause], "must_not": must_not}} == to_dsl(made, "t", exclude_id="a/b c")
    query = to_dsl(made, "t", filters=filters, exclude_id="a/b c", fingerprint_size_field="n")
    assert {"bool": {"must": [clause], "filter": [*FILTERS, within], "must_not": must_not}} == query
    query["bool"]["filter"].append("more")
    assert FILTERS == filters
    assert match("A", minimum_should_match=1) == to_dsl(plan("A"), "t", fingerprint_size_field="n")


def wide(overlap: float, probability: float | None = None) -> Plan:
    """Return the plan of planner `all` for 512 tokens."""
    return plan(tokens(512), overlap, probability, planner="all")


@pytest.mark.parametrize("kind", ["text", "terms"])
def test_tokens_are_counted_only_within_the_clause_limit(kind: FieldKind) -> None:
    """`_20_80` has 512 clauses in bands and 512 to count, which is the limit. `_80_90` has 516 in bands, too many."""
    query = to_dsl(wide(0.2, 0.8), kind=kind, score="tokens")
    banded = to_dsl(wide(0.8, 0.9), kind=kind, score="tokens")

    assert MAX_CLAUSES == count_clauses(query)
    assert {"filter", "must"} == query["bool"].keys()
    assert "constant_score" in str(
        to_dsl(wide(0.2, 0.8), score="tokens", max_clauses=MAX_CLAUSES - 1)["bool"]["should"]
    )
    assert 516 == count_clauses(banded)
    assert to_dsl(wide(0.8, 0.9), kind=kind, score="bands") == banded


@pytest.mark.parametrize("made", [wide(0.2, 0.8), wide(0.2)], ids=["bands", "threshold"])
@pytest.mark.parametrize("kind", ["text", "terms"])
def test_a_plan_beyond_the_clause_limit_is_refused(made: Plan, kind: FieldKind) -> None:
    assert 512 == count_clauses(to_dsl(made, kind=kind, max_clauses=512))
    with pytest.raises(QuerySyntaxError, match=r"has 512 .* allows 511; .* indices\.query\.bool\.max_clause_count"):
        to_dsl(made, kind=kind, max_clauses=511)


def test_filters_count_as_clauses() -> None:
    """The engine counts each word of a `match`. If not enough clauses are left, tokens are not counted."""
    filters: list[Clause] = [*FILTERS, {"match": {"title": "x"}}, {"match": {"title": {"query": "x y z"}}}]
    with_filters = [to_dsl(BANDS, filters=filters, score="tokens", max_clauses=limit) for limit in (13, 14)]

    assert [1, 2, 1, 3] == [count_clauses(clause) for clause in filters]
    assert [11, 14] == [count_clauses(query) for query in with_filters]


def test_unknown_kinds_and_scores_are_refused() -> None:
    with pytest.raises(QuerySyntaxError, match="'text' or 'terms', not 'keyword'"):
        to_dsl(plan("AB"), kind="keyword")  # type: ignore[arg-type]
    with pytest.raises(QuerySyntaxError, match="score must be 'bands', 'tokens' or 'nothing', not 'token'"):
        to_dsl(plan("AB"), score="token")  # type: ignore[arg-type]


@pytest.mark.parametrize("numbers", [(), (0.2,), (0.5, 0.8)])
@pytest.mark.parametrize("planner", ["enough", "all"])
def test_similar_query_plans_and_compiles(numbers: tuple[float, ...], planner: Planner) -> None:
    options: dict[str, Any] = {"kind": "terms", "filters": FILTERS, "exclude_id": "x"}
    expected = to_dsl(plan(tokens(40), *numbers, planner=planner), "f", **options)

    assert expected == similar_query(tokens(40), *numbers, field="f", planner=planner, **options)


@dataclass(frozen=True)
class Indexed:
    """A document in an engine, and how the engine scores it."""

    id: str
    tokens: frozenset[str]
    buckets: int

    def score(self, query: Clause) -> float | None:
        """The score, or None if the query does not match."""
        ((name, body),) = query.items()
        return getattr(self, f"_{name}")(body)  # type: ignore[no-any-return]

    def _match_none(self, _: Clause) -> float | None:
        return None

    def _match(self, body: Clause) -> float | None:
        options = body["t"]
        assert options.keys() <= {"query", "analyzer", "operator", "minimum_should_match"}
        assert "whitespace" == options["analyzer"]
        words = options["query"].split()
        equal = sum(word in self.tokens for word in words)  # similarity boolean: each counts as one
        minimum = len(words) if options.get("operator") == "and" else options.get("minimum_should_match", 1)
        return equal if equal >= minimum else None

    def _term(self, body: Clause) -> float | None:
        return 1 if body["t"] in self.tokens else None

    def _constant_score(self, body: Clause) -> float | None:
        return None if self.score(body["filter"]) is None else 1

    def _range(self, body: Clause) -> float | None:
        return 1 if body["n"]["gte"] <= self.buckets <= body["n"]["lte"] else None

    def _ids(self, body: Clause) -> float | None:
        return 1 if self.id in body["values"] else None

    def _bool(self, body: Clause) -> float | None:
        assert body.keys() <= {"must", "filter", "should", "must_not", "minimum_should_match"}
        must, filters, should, must_not = (
            [self.score(clause) for clause in body.get(occur, [])] for occur in ("must", "filter", "should", "must_not")
        )
        optional = [score for score in should if score is not None]
        minimum = body.get("minimum_should_match", 0 if must or filters else 1)
        if None in must + filters or len(optional) < minimum or any(score is not None for score in must_not):
            return None
        return sum(optional) + sum(score for score in must if score is not None)


percents = st.integers(1, 100).map(lambda percent: percent / 100)
planned = st.builds(
    lambda tokens, numbers, planner: plan(tokens, *numbers, planner=planner),
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
def test_an_engine_finds_the_documents_that_satisfy_the_plan(
    made: Plan, kind: FieldKind, exclude_id: str | None, documents: list[Indexed]
) -> None:
    """The score is the number of matching tokens. If the clause limit is too low, it is the number of bands."""
    query = to_dsl(made, "t", kind=kind, fingerprint_size_field="n", exclude_id=exclude_id, score="tokens")
    low, high = getattr(made, "token_range", None) or (0, 99)
    accepted = [
        satisfies(made, document.tokens) and low <= document.buckets <= high and document.id != exclude_id
        for document in documents
    ]
    counts = [len(document.tokens & set(made.tokens)) for document in documents]
    expected = [count if is_accepted else None for count, is_accepted in zip(counts, accepted, strict=True)]

    assert expected == [document.score(query) for document in documents]
    assert query == json.loads(json.dumps(query))
    assert ("'term': " if kind == "text" else "'match': ") not in str(query)
    if isinstance(made, BandPlan):
        short = to_dsl(made, "t", kind=kind, score="tokens", max_clauses=max(1, made.clause_count))
        bands = [sum(document.tokens.issuperset(band) for band in made.bands) or None for document in documents]
        assert len(made.tokens) == 0 or bands == [document.score(short) for document in documents]


# --- by the id of a document ---


def by_id(minimum: str, **source: str) -> Clause:
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
            "minimum_should_match": minimum,
        }
    }
    return {"bool": {"must": [clause], "must_not": [{"bool": {"filter": itself}}]}}


def like_this(query: Clause) -> Clause:
    return query["bool"]["must"][0]["more_like_this"]  # type: ignore[no-any-return]


def test_a_query_by_id_reads_the_tokens_of_the_document() -> None:
    """Only this document is excluded. The caller's list of filters is not changed."""
    filters = copy.deepcopy(FILTERS)
    query = similar_by_id("i", "7", 0.2, filters=filters)

    assert by_id(MINIMUM_SHOULD_MATCH_BEYOND_CHANCE, _index="i", _id="a/b c") == similar_by_id("i", "a/b c")
    assert by_id("-80%", _index="i", _id="7", routing="r") == similar_by_id("i", "7", 0.2, routing="r")
    assert ["f.t"] == like_this(similar_by_id("i", "7", field="f.t"))["fields"]
    assert {"bool": {**by_id("-80%", _index="i", _id="7")["bool"], "filter": FILTERS}} == query
    query["bool"]["filter"].append("more")
    assert FILTERS == filters


def required(spec: str, terms: int) -> int:
    """The number of terms that an engine requires for a minimum_should_match. Engines round products toward zero."""
    conditions = [condition.split("<") for condition in spec.split()] if "<" in spec else [["-1", spec]]
    holding = [condition for more_than, condition in conditions if terms > int(more_than)]
    if not holding:
        return terms
    number = int(holding[-1].removesuffix("%"))
    if holding[-1].endswith("%"):
        number = int(np.float32(terms * number) * (np.float32(1) / np.float32(100)))
    return max(0, min(terms, terms + number if holding[-1].startswith("-") else number))


def test_a_query_by_id_requires_as_many_tokens_as_the_plan() -> None:
    """This is checked for all whole percentages and many numbers of tokens. An engine treats 0 as 1 here."""
    counts = [*range(1, 200), *range(200, 600, 9), 1023, 1024, 2047, 4095, 4096]
    for percent in range(1, 101):
        spec = like_this(similar_by_id("i", "7", Fraction(percent, 100)))["minimum_should_match"]
        assert [-(-count * percent // 100) for count in counts] == [required(spec, count) for count in counts], percent
    spec = like_this(similar_by_id("i", "7"))["minimum_should_match"]
    for count in counts:
        assert plan(tokens(count)) == ThresholdPlan(tokens(count), max(1, required(spec, count)))


def test_other_overlaps_are_rounded_down_to_a_whole_percentage() -> None:
    """No document is missed. Below 1 %, any overlap is enough. An overlap out of range is refused."""
    overlaps: list[float | str | None] = ["0.07", "0.0799", 0.125, 0.29, "0.999", 1, 0.005, 0, None]
    specs = [like_this(similar_by_id("i", "7", overlap))["minimum_should_match"] for overlap in overlaps]

    assert ["-93%", "-93%", "-88%", "-71%", "-1%", "100%", *[MINIMUM_SHOULD_MATCH_BEYOND_CHANCE] * 3] == specs
    with pytest.raises(QuerySyntaxError, match=r"from 0 to 1, not 20; 20 % is 0\.2"):
        similar_by_id("i", "7", 20)
