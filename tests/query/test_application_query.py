"""Similarity within an application's own request: the clause, and the refined hits."""

from __future__ import annotations

import logging
import random
from typing import Any

import pytest

from simdoc_search import Document, MinHash, Settings, SimilaritySearch, fingerprint, open_store
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query import Similar, SimilarHit, similar_query
from simdoc_search.query.planner import Planner
from tests.support.texts import overlapping, text

RNG = random.Random(20)
SOURCE = text(RNG, 300)
TEXTS = {"source": SOURCE, "long": SOURCE + text(RNG, 2_000)}
TEXTS |= {f"{share}": overlapping(random.Random(share), 400, share / 10)[1] for share in range(1, 10)}
TEXTS |= {f"near{count}": " ".join(SOURCE.split()[:count]) for count in range(10, 300, 10)}
TOKENS = fingerprint(SOURCE).tokens()


def hit(id: str, tokens: Any) -> dict[str, Any]:
    """A hit as an engine returns it."""
    return {"_index": "articles", "_id": id, "_score": 1.0, "_source": {"title": id, "simdoc": {"tokens": tokens}}}


def ids(hits: list[SimilarHit]) -> list[str]:
    return [similar.hit["_id"] for similar in hits]


HITS = [hit(id, " ".join(fingerprint(content).tokens())) for id, content in TEXTS.items()]


@pytest.fixture(scope="module")
def search() -> SimilaritySearch:
    """A search over the same documents."""
    made = SimilaritySearch(open_store(":memory:"))
    made.index(Document(id, content) for id, content in TEXTS.items())
    return made


@pytest.mark.parametrize(
    ("overlap", "probability"), [(None, None), (0.07, None), (0.5, None), (1, None), (0.2, 0.8), (0.8, 0.8)]
)
def test_hits_are_refined_as_the_search_refines_them(
    search: SimilaritySearch, overlap: float | None, probability: float | None
) -> None:
    """They have the same ids, overlaps and matching tokens, whatever other hits the request has."""
    refined = Similar(TOKENS, overlap, probability).refine(HITS)
    found = {similar.hit["_id"]: (similar.overlap, similar.matched_token_count) for similar in refined}
    result = search.similar(text=SOURCE, overlap=overlap, probability=probability, size=100, verify=False)
    expected = {similar.id: (similar.overlap, similar.matched_token_count) for similar in result.hits}

    assert expected.items() <= found.items()
    assert found.keys() == expected.keys() or probability  # bands select fewer candidates
    assert overlap is None or len(found) < len(HITS)


def test_hits_below_the_overlap_are_dropped_and_the_order_is_kept() -> None:
    """Long documents are dropped despite many matching tokens. The objects of the application are returned."""
    found = Similar(TOKENS, 0.5).refine(reversed(HITS))

    assert "near160" in ids(found)
    assert "long" not in ids(found)
    assert min(similar.overlap for similar in found) >= 0.5
    assert [hit for hit in reversed(HITS) if hit["_id"] in ids(found)] == [similar.hit for similar in found]
    assert found[-1].hit is HITS[0]
    assert (1.0, len(TOKENS)) == (found[-1].overlap, found[-1].matched_token_count)


@pytest.mark.parametrize("planner", ["enough", "all"])
@pytest.mark.parametrize("numbers", [(), (0.5,), ("0.5", "0.8")])
def test_the_clause_is_that_of_the_query_builder(numbers: Any, planner: Planner) -> None:
    """The tokens may be a list or a string, or come from a text."""
    options: dict[str, Any] = {"filters": [{"term": {"language": "de"}}], "exclude_id": "source"}
    field: dict[str, Any] = {"field": "fp.tokens", "fingerprint_size_field": "fp.buckets", "planner": planner}
    expected = similar_query(TOKENS, *numbers, **(options | field | {"score": "tokens"}))

    assert ["fp.tokens"] == Similar(TOKENS, *numbers, **field).source_fields
    for similar in (Similar(TOKENS, *numbers, **field), Similar(" ".join(TOKENS), *numbers, **field)):
        assert expected == similar.clause(**options)
    assert expected == Similar.from_text(SOURCE, *numbers, **field).clause(**options)
    assert similar_query(TOKENS, *numbers) == Similar(TOKENS, *numbers).clause(score="bands")


@pytest.mark.parametrize(
    "source",
    [
        {"simdoc": {"tokens": " ".join(TOKENS)}},
        {"simdoc.tokens": " ".join(TOKENS)},
        {"simdoc": {"tokens": [" ".join(TOKENS)]}},
        {"simdoc": [{"tokens": " ".join(TOKENS)}]},
        {"simdoc": {"tokens": TOKENS}},
    ],
)
def test_tokens_are_read_in_every_form_of_a_source(source: dict[str, Any]) -> None:
    """Tokens may be in objects, at a key with a dot, in lists, or one by one, as in a field of terms."""
    (found,) = Similar(TOKENS, 1).refine([{"_id": "a", "_source": source}])

    assert (1.0, len(TOKENS)) == (found.overlap, found.matched_token_count)


def test_a_keyword_field_has_a_term_per_token() -> None:
    similar = Similar(TOKENS, 0.5, field="fp", kind="terms")
    hits = [{"_id": hit["_id"], "_source": {"fp": hit["_source"]["simdoc"]["tokens"].split()}} for hit in HITS]

    assert {"constant_score": {"filter": {"term": {"fp": TOKENS[0]}}}} == similar.clause()["bool"]["should"][0]
    assert ids(Similar(TOKENS, 0.5).refine(HITS)) == ids(similar.refine(hits))


def test_hits_with_missing_or_foreign_tokens_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    """Unreadable tokens are logged."""
    missing = [hit("none", ""), hit("null", None), {"_id": "b", "_source": {}}, {"_id": "c"}]
    wrong = {"words": "no tokens at all", "number": 7, "twice": " ".join([*TOKENS, TOKENS[0]])}
    hits = [hit("good", " ".join(TOKENS)), *missing, *(hit(id, tokens) for id, tokens in wrong.items())]
    with caplog.at_level(logging.WARNING, "simdoc_search"):
        found = Similar(TOKENS, 0.5).refine(hits)

    assert ["good"] == ids(found)
    assert list(wrong) == [record.args[0] for record in caplog.records if isinstance(record.args, tuple)]


def test_a_request_without_the_field_of_tokens_is_reported() -> None:
    similar = Similar(TOKENS, 0.5)
    with pytest.raises(
        QuerySyntaxError, match=r"no hit has simdoc\.tokens in its _source; add the field to the _source"
    ):
        similar.refine([{"_id": "a", "_source": {"title": "A"}}, {"_id": "b"}])

    assert [] == similar.refine([])


def test_lucene_terms_can_be_queried_but_not_refined() -> None:
    """Hits do not contain Lucene terms."""
    terms = fingerprint(SOURCE, sketch=MinHash(with_rotation=True)).tokens("lucene")
    similar = Similar(terms, 0.5, field="min_hash", kind="terms")

    assert similar.clause()["bool"]["should"]
    with pytest.raises(QuerySyntaxError, match="the query document does not have tokens of simdoc-search"):
        similar.refine([{"_id": "a", "_source": {"min_hash": ["x"]}}])


def test_nothing_is_similar_to_a_text_without_words() -> None:
    for similar in (Similar([], 0.5), Similar(""), Similar.from_text("...", 0.5, 0.8)):
        assert {"match_none": {}} == similar.clause()
        assert [] == similar.refine(HITS)


def test_settings_are_those_of_the_index() -> None:
    """In this test, there are fewer buckets."""
    settings = Settings(sketch=MinHash(bucket_count=64))
    fingerprints = {id: fingerprint(content, settings.analysis, settings.sketch) for id, content in TEXTS.items()}
    tokens = {id: found.tokens() for id, found in fingerprints.items()}
    hits = [hit(id, " ".join(words)) for id, words in tokens.items()]
    similar = Similar.from_text(SOURCE, 0.5, settings=settings)

    assert tuple(tokens["source"]) == similar.tokens
    assert {"source"} <= set(ids(similar.refine(hits))) < {hit["_id"] for hit in hits}


@pytest.mark.parametrize("options", [{"overlap": 2}, {"overlap": 0.5, "probability": 0}, {"planner": "some"}])
def test_bad_options_are_refused_at_once(options: dict[str, Any]) -> None:
    with pytest.raises(QuerySyntaxError):
        Similar(["ABCD"], **options)
