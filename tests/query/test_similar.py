"""An application's own request: the clause that chooses, and which of its hits are similar. Nothing is sent."""

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


def hit(id: str, tokens: Any) -> dict[str, Any]:
    """A hit as an engine gives it."""
    return {"_index": "articles", "_id": id, "_score": 1.0, "_source": {"title": id, "simdoc": {"tokens": tokens}}}


def ids(found: list[SimilarHit]) -> list[str]:
    return [each.hit["_id"] for each in found]


HITS = [hit(id, " ".join(fingerprint(each).tokens())) for id, each in TEXTS.items()]


@pytest.fixture(scope="module")
def search() -> SimilaritySearch:
    """A search over the same documents."""
    made = SimilaritySearch(open_store(":memory:"))
    made.index(Document(id, each) for id, each in TEXTS.items())
    return made


@pytest.mark.parametrize("probability", [None, 0.8])
@pytest.mark.parametrize("overlap", [None, 0.07, 0.2, 0.5, 0.8, 1])
def test_hits_are_refined_as_the_search_refines_them(
    search: SimilaritySearch, overlap: float | None, probability: float | None
) -> None:
    """The same documents, overlaps and equal tokens, whatever else the application's request has found."""
    if overlap is None and probability:
        return
    asked = Similar(fingerprint(SOURCE).tokens(), overlap, probability)
    found = {each.hit["_id"]: (each.overlap, each.matched) for each in asked.refine(HITS)}
    expected = search.similar_to_text(SOURCE, overlap=overlap, probability=probability, size=100, verify=False)
    chosen = {each.id: (each.overlap, each.matched) for each in expected.hits}

    assert chosen.items() <= found.items()
    assert {} == {id: found[id] for id in found.keys() - chosen.keys()} or probability  # bands chose fewer
    assert overlap is None or len(found) < len(HITS)


def test_hits_below_the_overlap_are_dropped() -> None:
    """Of what was asked without a probability none is left, however many equal tokens it has."""
    found = Similar(fingerprint(SOURCE).tokens(), 0.5).refine(HITS)

    assert "source" in ids(found)
    assert "long" not in ids(found)
    assert min(each.overlap for each in found) >= 0.5
    assert "near160" in ids(found)


def test_hits_stay_as_they_came() -> None:
    """In the application's order, each the very object that it gave."""
    found = Similar(fingerprint(SOURCE).tokens(), 0.2).refine(reversed(HITS))

    assert [each for each in reversed(HITS) if each["_id"] in ids(found)] == [each.hit for each in found]
    assert found[-1].hit is HITS[0]
    assert (1.0, len(fingerprint(SOURCE).tokens())) == (found[-1].overlap, found[-1].matched)


@pytest.mark.parametrize("planner", ["enough", "all", 3])
@pytest.mark.parametrize("asked", [(), (0.5,), (0.5, 0.8), ("0.5", "0.8")])
def test_the_clause_is_that_of_the_query_builder(asked: Any, planner: Planner) -> None:
    """With tokens as the field holds them or as a list; of a text the same."""
    tokens = fingerprint(SOURCE).tokens()
    beside: dict[str, Any] = {"filters": [{"term": {"language": "de"}}], "exclude_id": "source"}
    field: dict[str, Any] = {"field": "fp.tokens", "buckets_field": "fp.buckets", "planner": planner}
    expected = similar_query(tokens, *asked, **(beside | field | {"score": "tokens"}))

    for similar in (Similar(tokens, *asked, **field), Similar(" ".join(tokens), *asked, **field)):
        assert expected == similar.clause(**beside)
    assert expected == Similar.of_text(SOURCE, *asked, **field).clause(**beside)
    assert ["fp.tokens"] == Similar(tokens, *asked, **field).parts
    assert similar_query(tokens, *asked) == Similar(tokens, *asked).clause(score="bands")


@pytest.mark.parametrize(
    "source",
    [
        {"simdoc": {"tokens": "TOKENS"}},
        {"simdoc.tokens": "TOKENS"},
        {"simdoc": {"tokens": ["TOKENS"]}},
        {"simdoc": [{"tokens": "TOKENS"}]},
        {"simdoc": {"tokens": "SPLIT"}},
    ],
)
def test_tokens_are_read_wherever_they_stand(source: dict[str, Any]) -> None:
    """In objects, at a key with a dot, in lists; of a field of terms one by one."""
    tokens = fingerprint(SOURCE).tokens()

    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: filled(each) for key, each in value.items()}
        if isinstance(value, list):
            return [filled(each) for each in value]
        return tokens if value == "SPLIT" else " ".join(tokens)

    (found,) = Similar(tokens, 1).refine([{"_id": "a", "_source": filled(source)}])

    assert (1.0, len(tokens)) == (found.overlap, found.matched)


def test_a_keyword_field_is_asked_and_refined() -> None:
    """Its tokens are terms, one by one, in the clause and in the hits."""
    tokens = fingerprint(SOURCE).tokens()
    asked = Similar(tokens, 0.5, field="fp", kind="terms")
    hits = [{"_id": each["_id"], "_source": {"fp": each["_source"]["simdoc"]["tokens"].split()}} for each in HITS]

    assert {"constant_score": {"filter": {"term": {"fp": tokens[0]}}}} == asked.clause()["bool"]["should"][0]
    assert ids(Similar(tokens, 0.5).refine(HITS)) == ids(asked.refine(hits))


def test_what_others_wrote_is_left_out_and_said(caplog: pytest.LogCaptureFixture) -> None:
    """No fingerprint, none that can be read, tokens that are there twice: none is a hit, and none spoils others."""
    tokens = fingerprint(SOURCE).tokens()
    wrong = {
        "none": "",
        "null": None,
        "words": "no tokens at all",
        "number": 7,
        "twice": " ".join([*tokens, tokens[0]]),
    }
    hits = [
        hit("good", " ".join(tokens)),
        *(hit(*each) for each in wrong.items()),
        {"_id": "b", "_source": {}},
        {"_id": "c"},
    ]
    with caplog.at_level(logging.WARNING, "simdoc_search"):
        found = Similar(tokens, 0.5).refine(hits)

    assert ["good"] == ids(found)
    assert ["words", "number", "twice"] == [
        record.args[0] for record in caplog.records if isinstance(record.args, tuple)
    ]


def test_a_request_that_forgot_the_tokens_is_told_so() -> None:
    """Not that nothing is similar; an answer without hits is one."""
    asked = Similar(fingerprint(SOURCE).tokens(), 0.5)
    with pytest.raises(QuerySyntaxError, match=r"no hit has simdoc\.tokens in its _source; name it in the _source"):
        asked.refine([{"_id": "a", "_source": {"title": "A"}}, {"_id": "b"}])

    assert [] == asked.refine([])


def test_terms_of_lucene_can_be_asked_for_and_not_refined() -> None:
    """They stand in no hit; the error says so."""
    made = fingerprint(SOURCE, minhash=MinHash(with_rotation=True)).tokens("lucene")
    asked = Similar(made, 0.5, field="min_hash", kind="terms")

    assert asked.clause()["bool"]["should"]
    with pytest.raises(QuerySyntaxError, match="tokens that are none of ours"):
        asked.refine([{"_id": "a", "_source": {"min_hash": ["x"]}}])


def test_nothing_is_similar_to_a_text_without_words() -> None:
    """No document is asked for, and no hit stays."""
    for asked in (Similar([], 0.5), Similar(""), Similar.of_text("...", 0.5, 0.8)):
        assert {"match_none": {}} == asked.clause()
        assert [] == asked.refine(HITS)


def test_settings_are_those_of_the_index() -> None:
    """Longer tokens, fewer buckets: as the fingerprints were made."""
    settings = Settings(minhash=MinHash(bucket_count=64), token_length=5)
    tokens = {id: fingerprint(each, settings.analysis, settings.minhash).tokens(length=5) for id, each in TEXTS.items()}
    hits = [hit(id, " ".join(each)) for id, each in tokens.items()]
    asked = Similar.of_text(SOURCE, 0.5, settings=settings)

    assert tuple(tokens["source"]) == asked.tokens
    assert {"source"} <= set(ids(asked.refine(hits))) < {each["_id"] for each in hits}


@pytest.mark.parametrize("options", [{"overlap": 2}, {"overlap": 0.5, "probability": 0}, {"planner": "some"}])
def test_what_cannot_be_asked_is_refused_at_once(options: dict[str, Any]) -> None:
    """Before a request is made of it."""
    with pytest.raises(QuerySyntaxError):
        Similar(["ABCD"], **options)
