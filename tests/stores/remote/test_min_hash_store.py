"""A field that the engine's own `min_hash` filter fills is a store: similar answers from it, decided by the texts."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from opensearchpy import OpenSearch

from simdoc_search import MinHash, SimilaritySearch, open_store
from simdoc_search.analysis import Analysis
from simdoc_search.attach.min_hash import check_min_hash, min_hash_index
from simdoc_search.errors import FormatMismatchError, LocationError, StoreError
from simdoc_search.passages.exact import measures
from tests.support.cli import answer, output, run, sentence
from tests.support.engines import call, discard, own_name
from tests.support.texts import overlapping, text

FIELD = "body.fingerprint"
OPTIONS = {
    "usual": MinHash(with_rotation=True),
    "hundred": MinHash(bucket_count=100),
    "sets": MinHash(bucket_count=128, hash_set_size=4),
}


@pytest.fixture(params=["opensearch", "elasticsearch_7"], scope="module")
def engine_url(request: pytest.FixtureRequest) -> str:
    """An OpenSearch 3, and an Elasticsearch 7.10."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@cache
def texts() -> dict[str, str]:
    """Pairs of known overlaps, and others; a short one, and one of which the engine makes nothing."""
    rng = random.Random(7)
    found = {f"other{number}": text(rng, 300) for number in range(20)}
    for percent in (10, 20, 40, 60, 90):
        found[f"a{percent}"], found[f"b{percent}"] = overlapping(rng, 500, percent / 100)
    found["doc123"] = text(rng, 700)
    words = found["doc123"].split()
    for share in (20, 50, 80):
        found[f"copy{share}"] = " ".join(words[: 7 * share] + text(rng, 7 * (100 - share)).split())
    return {**found, "short": "one two three four five six", "tiny": "one two three"}


def filled(engine_url: str, body: dict[str, Any]) -> str:
    """The name of an index that has the texts."""
    index = own_name()
    call(engine_url, "PUT", f"/{index}", body)
    for id, each in texts().items():
        call(
            engine_url, "PUT", f"/{index}/_doc/{id}", {"body": each, "team": "legal" if id.startswith("b") else "sales"}
        )
    call(engine_url, "POST", f"/{index}/_refresh")
    return index


@pytest.fixture(params=OPTIONS, scope="module")
def minhash(request: pytest.FixtureRequest) -> MinHash:
    """Options of the filter."""
    return OPTIONS[request.param]


@pytest.fixture(scope="module")
def address(engine_url: str, minhash: MinHash) -> Iterator[str]:
    """An index with the texts, filled by the engine itself."""
    index = filled(engine_url, min_hash_index("body", minhash))
    yield f"{engine_url}/{index}"
    discard(engine_url, index)


@pytest.fixture(scope="module")
def usual(engine_url: str) -> Iterator[str]:
    """The same, by the body that `template show --min-hash` prints."""
    index = filled(engine_url, answer("template", "show", "--min-hash", "body"))
    yield f"{engine_url}/{index}"
    discard(engine_url, index)


@cache
def true_overlaps(id: str) -> dict[str, float]:
    """The overlap of each text with one, exactly."""
    every, analysis = texts(), Analysis(profile="lowercase", short_texts=False)
    others = every.keys() - {id, "tiny"}
    return {each: measures(every[id], every[each], analysis).jaccard for each in others}


@pytest.mark.parametrize("overlap", [None, 0.15, 0.5])
def test_hits_are_those_of_the_texts(address: str, overlap: float | None) -> None:
    with open_store(address, field=FIELD) as store:
        search = SimilaritySearch(store)
        for id in ("doc123", "a10", "a40", "b90", "short"):
            by_id = search.similar(id, overlap=overlap, size=50).hits
            by_text = search.similar_to_text(texts()[id], overlap=overlap, size=50).hits
            expected = {each: share for each, share in true_overlaps(id).items() if share >= (overlap or 0.02)}

            assert expected == pytest.approx({hit.id: hit.overlap for hit in by_id if overlap or hit.overlap >= 0.02})
            assert {"exact"} >= {hit.kind for hit in by_id}
            assert {hit.id: hit.overlap for hit in by_text} == {id: 1.0, **{hit.id: hit.overlap for hit in by_id}}


def test_estimates_are_near_the_overlaps(address: str, minhash: MinHash) -> None:
    places = minhash.bucket_count * max(1, minhash.hash_set_size - 1)
    with open_store(address, field=FIELD) as store:
        for id in ("doc123", "a20", "a60", "b90"):
            found = SimilaritySearch(store).similar(id, overlap=0.15, size=50, verify=False)
            true = true_overlaps(id)

            assert found.hits
            assert all(hit.kind == "estimated" for hit in found.hits)
            assert all(abs(hit.overlap - true[hit.id]) < 4 * (0.25 / places) ** 0.5 for hit in found.hits)


@pytest.mark.parametrize("planner", ["enough", "all"])
def test_bands_find_what_they_promise(address: str, planner: Any) -> None:
    with open_store(address, field=FIELD) as store:
        found = SimilaritySearch(store).similar("doc123", overlap=0.2, probability=0.99, planner=planner)

    true = true_overlaps("doc123")
    assert {"copy80", "copy50"} <= {hit.id for hit in found.hits} <= {id for id, share in true.items() if share >= 0.2}
    assert all(hit.overlap == pytest.approx(true[hit.id]) for hit in found.hits)


def test_the_command_answers_from_the_printed_mapping(usual: str) -> None:
    found = answer("similar", "doc123_20_80", "--store", usual, "--field", FIELD)
    filtered = answer(
        "similar", "a60_50", "--store", usual, "--field", FIELD, "--filter", "team=legal", "--show", "team"
    )

    assert ["copy80", "copy50"] == [hit["id"] for hit in found["hits"]][:2]
    assert [("b60", {"team": "legal"})] == [(hit["id"], hit["show"]) for hit in filtered["hits"]]
    assert [] == answer("similar", "a60_50", "--store", usual, "--field", FIELD, "--exclude", "team=legal")["hits"]


def test_a_query_of_an_application_finds_the_same(engine_url: str, usual: str) -> None:
    index = usual.rpartition("/")[2]
    with open_store(usual, field=FIELD) as store:
        query = SimilaritySearch(store).expand_fingerprints("FINGERPRINT:a60_30 AND team:legal")
    dsl = json.loads(output("explain", "a60_30", "--dsl", "--store", usual, "--field", FIELD))

    found = call(engine_url, "POST", f"/{index}/_search", {"query": query})["hits"]["hits"]
    assert ["b60"] == [hit["_id"] for hit in found]
    assert {"a60", "b60"} == {
        hit["_id"] for hit in call(engine_url, "POST", f"/{index}/_search", {"query": dsl})["hits"]["hits"]
    }


def test_what_it_cannot_answer_is_one_sentence(usual: str) -> None:
    expected = (
        f"{usual} has only what the engine's min_hash filter makes of body.fingerprint, which answers similar without "
        "--measure, versions, compare, show and explain; for all else run simdoc-search backfill URL "
        "--text-field body, and leave out --field"
    )
    options = ["--store", usual, "--field", FIELD]
    assert "stores no limits; give them with each question" in sentence(run("defaults", "--bits", "3", *options))
    for command in (
        ["passages", "doc123"],
        ["similar", "doc123", "--measure", "containment"],
        ["related", "doc123"],
        ["duplicates"],
        ["watch", "doc123"],
    ):
        assert expected == sentence(run(*command, *options))


def test_documents_without_terms_are_said(usual: str) -> None:
    options = ["--store", usual, "--field", FIELD]
    assert "the document 'tiny' has fewer than 5 words in body, so nothing can be compared with it" == sentence(
        run("similar", "tiny", *options)
    )
    assert "the text has fewer than 5 words, so nothing can be compared with it" == sentence(
        run("similar", "--text", "a b c", *options)
    )


def test_other_commands_answer_too(usual: str) -> None:
    versions = answer("versions", "doc123", "--store", usual, "--field", FIELD)
    assert "copy80" in [hit["id"] for hit in versions["hits"]]
    found = answer("info", "--store", usual, "--field", FIELD)

    assert (len(texts()), "min_hash:1 512 1 true") == (found["documents"], found["settings"]["sketches"][0])


def test_an_alias_is_asked_as_a_whole(engine_url: str, usual: str) -> None:
    other, alias, bare = own_name(), own_name(), own_name()
    call(engine_url, "PUT", f"/{other}", min_hash_index("body"))
    call(engine_url, "PUT", f"/{other}/_doc/late?refresh=true", {"body": texts()["doc123"]})
    call(engine_url, "PUT", f"/{bare}/_doc/x?refresh=true", {"body": texts()["doc123"]})
    index = usual.rpartition("/")[2]
    adds = [{"add": {"index": each, "alias": alias}} for each in (index, other, bare)]
    call(engine_url, "POST", "/_aliases", {"actions": adds})
    found = answer("similar", "doc123_20", "--store", f"{engine_url}/{alias}", "--field", FIELD)
    changed = own_name()
    call(engine_url, "PUT", f"/{changed}", min_hash_index("body", MinHash(bucket_count=100)))
    call(engine_url, "POST", "/_aliases", {"actions": [{"add": {"index": changed, "alias": alias}}]})

    assert ["late", "copy80"] == [hit["id"] for hit in found["hits"]][:2]
    assert [(bare, 1)] == [(each["index"], each["documents"]) for each in found["left_out_indices"]]
    with pytest.raises(FormatMismatchError, match=r"body.fingerprint has other options in the index"):
        open_store(f"{engine_url}/{alias}", field=FIELD)
    discard(engine_url, other, bare, changed)


def test_wrong_fields_are_refused(engine_url: str, usual: str) -> None:
    with pytest.raises(LocationError, match=r"body.fingerprint is made of the field body; leave out --text-field"):
        open_store(usual, field=FIELD, text_field="team")
    several = own_name()
    call(engine_url, "PUT", f"/{several}", min_hash_index("body", MinHash(hash_count=2, bucket_count=64)))
    with pytest.raises(StoreError, match="has hash_count 2, whose functions draw the same shingles again"):
        open_store(f"{engine_url}/{several}", field=FIELD)
    discard(engine_url, several)


def test_the_client_of_an_application_checks_a_field(engine_url: str, usual: str) -> None:
    index = usual.rpartition("/")[2]
    with OpenSearch(engine_url) as client:
        check_min_hash(client, index)
        with open_store(client=client, index=index, field=FIELD) as store:
            assert "copy80" == SimilaritySearch(store).similar("doc123_50").hits[0].id
        with pytest.raises(StoreError, match="give the options of min_hash in both spellings"):
            check_min_hash(client, index, minhash=MinHash(bucket_count=100))


def test_texts_of_several_values_and_fields_are_found(engine_url: str) -> None:
    body, every = min_hash_index("all"), texts()
    filled = body["mappings"]["properties"]["all"]["fields"]["fingerprint"]
    body["mappings"]["properties"] = {
        "title": {"type": "text", "copy_to": "all"},
        "body": {"type": "text", "copy_to": "all"},
        "all": filled,
    }
    index, words = own_name(), every["doc123"].split()
    call(engine_url, "PUT", f"/{index}", body)
    parts = [" ".join(words[at : at + 100]) for at in range(0, 700, 100)]
    for id, document in {
        "whole": {"body": every["doc123"]},
        "parts": {"title": parts[0], "body": parts[1:]},
        "other": {"title": "None of these", "body": every["other1"]},
        "none": {"title": None},
    }.items():
        call(engine_url, "PUT", f"/{index}/_doc/{id}?refresh=true", document)
    options = ["--store", f"{engine_url}/{index}", "--field", "all", "--text-field", "title", "--text-field", "body"]
    found = {id: answer("similar", f"{id}_90", *options)["hits"] for id in ("whole", "parts")}

    assert {"whole": [("parts", 1.0)], "parts": [("whole", 1.0)]} == {
        id: [(hit["id"], hit["overlap"]) for hit in hits] for id, hits in found.items()
    }
    assert "the document 'none' has no text in title, body, so nothing can be compared with it" == sentence(
        run("similar", "none", *options)
    )
    discard(engine_url, index)
