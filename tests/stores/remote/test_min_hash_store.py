"""A store on a field that the engine's own `min_hash` filter fills."""

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
from simdoc_search.attach.min_hash import build_min_hash_index, check_min_hash
from simdoc_search.errors import FormatMismatchError, LocationError, StoreError
from simdoc_search.passages.exact_overlap import measures
from tests.support.cli import answer, output, run, sentence
from tests.support.engines import call, discard, each_engine, own_name
from tests.support.texts import overlapping, text

FIELD = "body.fingerprint"
OPTIONS = {
    "usual": MinHash(with_rotation=True),
    "hundred": MinHash(bucket_count=100),
    "sets": MinHash(bucket_count=128, hash_set_size=4),
}


engine_url = each_engine("opensearch", "elasticsearch_7")


@cache
def texts() -> dict[str, str]:
    """Return pairs of texts with known overlaps, other texts, a short one, and one that is too short for a term."""
    rng = random.Random(7)
    texts = {f"other{number}": text(rng, 300) for number in range(20)}
    for percent in (10, 20, 40, 60, 90):
        texts[f"a{percent}"], texts[f"b{percent}"] = overlapping(rng, 500, percent / 100)
    texts["doc123"] = text(rng, 700)
    words = texts["doc123"].split()
    for share in (20, 50, 80):
        texts[f"copy{share}"] = " ".join(words[: 7 * share] + text(rng, 7 * (100 - share)).split())
    return {**texts, "short": "one two three four five six", "tiny": "one two three"}


def filled_index(engine_url: str, body: dict[str, Any]) -> str:
    """Make an index with the texts, and return its name."""
    index = own_name()
    call(engine_url, "PUT", f"/{index}", body)
    for id, body_text in texts().items():
        document = {"body": body_text, "team": "legal" if id.startswith("b") else "sales"}
        call(engine_url, "PUT", f"/{index}/_doc/{id}", document)
    call(engine_url, "POST", f"/{index}/_refresh")
    return index


@pytest.fixture(params=OPTIONS, scope="module")
def minhash(request: pytest.FixtureRequest) -> MinHash:
    """Options of the filter."""
    return OPTIONS[request.param]


@pytest.fixture(scope="module")
def address(engine_url: str, minhash: MinHash) -> Iterator[str]:
    """The address of an index with the texts and these options."""
    index = filled_index(engine_url, build_min_hash_index("body", minhash))
    yield f"{engine_url}/{index}"
    discard(engine_url, index)


@pytest.fixture(scope="module")
def default_address(engine_url: str) -> Iterator[str]:
    """The address of an index with the texts and the mapping that `template show --min-hash` prints."""
    index = filled_index(engine_url, answer("template", "show", "--min-hash", "body"))
    yield f"{engine_url}/{index}"
    discard(engine_url, index)


@cache
def true_overlaps(id: str) -> dict[str, float]:
    """Return the exact overlap of a text with each other text."""
    analysis = Analysis(profile="lowercase", short_texts=False)
    others = texts().keys() - {id, "tiny"}
    return {other: measures(texts()[id], texts()[other], analysis).jaccard for other in others}


@pytest.mark.parametrize("overlap", [None, 0.15])
def test_hits_have_the_exact_overlaps_of_the_texts(address: str, overlap: float | None) -> None:
    with open_store(address, field=FIELD) as store:
        search = SimilaritySearch(store)
        for id in ("doc123", "a40", "short"):
            by_id = search.similar(id, overlap=overlap, size=50).hits
            by_text = search.similar(text=texts()[id], overlap=overlap, size=50).hits
            expected = {other: share for other, share in true_overlaps(id).items() if share >= (overlap or 0.02)}

            assert expected == pytest.approx({hit.id: hit.overlap for hit in by_id if overlap or hit.overlap >= 0.02})
            assert {"exact"} >= {hit.kind for hit in by_id}
            assert {hit.id: hit.overlap for hit in by_text} == {id: 1.0, **{hit.id: hit.overlap for hit in by_id}}


def test_estimates_are_close_to_the_exact_overlaps(address: str, minhash: MinHash) -> None:
    places = minhash.bucket_count * max(1, minhash.hash_set_size - 1)
    with open_store(address, field=FIELD) as store:
        for id in ("doc123", "a20", "b90"):
            hits = SimilaritySearch(store).similar(id, overlap=0.15, size=50, verify=False).hits
            true = true_overlaps(id)

            assert {"estimated"} == {hit.kind for hit in hits}
            assert all(abs(hit.overlap - true[hit.id]) < 4 * (0.25 / places) ** 0.5 for hit in hits)


@pytest.mark.parametrize("planner", ["enough", "all"])
def test_bands_find_the_near_copies(address: str, planner: Any) -> None:
    with open_store(address, field=FIELD) as store:
        hits = SimilaritySearch(store).similar("doc123", overlap=0.2, probability=0.99, planner=planner).hits

    true = true_overlaps("doc123")
    assert {"copy80", "copy50"} <= {hit.id for hit in hits} <= {id for id, share in true.items() if share >= 0.2}
    assert all(hit.overlap == pytest.approx(true[hit.id]) for hit in hits)


def test_commands_work_with_the_printed_mapping(default_address: str) -> None:
    options = ("--store", default_address, "--field", FIELD)
    filtered = answer("similar", "a60_50", *options, "--filter", "team=legal", "--show", "team")
    info = answer("info", *options)

    assert ["copy80", "copy50"] == [hit["id"] for hit in answer("similar", "doc123_20_80", *options)["hits"]][:2]
    assert [("b60", {"team": "legal"})] == [(hit["id"], hit["show"]) for hit in filtered["hits"]]
    assert [] == answer("similar", "a60_50", *options, "--exclude", "team=legal")["hits"]
    assert [] == answer("similar", "a60_50", *options, "--filter", "team=le*")["hits"]
    assert "copy80" in [hit["id"] for hit in answer("versions", "doc123", *options)["hits"]]
    assert (len(texts()), "min_hash:1 512 1 true") == (info["document_count"], info["settings"]["sketches"][0])


def test_a_query_for_an_application_finds_the_same_documents(engine_url: str, default_address: str) -> None:
    index = default_address.rpartition("/")[2]
    with open_store(default_address, field=FIELD) as store:
        query = SimilaritySearch(store).expand_fingerprints("FINGERPRINT:a60_30 AND team:legal")
    dsl = json.loads(output("explain", "a60_30", "--dsl", "--store", default_address, "--field", FIELD))

    found = call(engine_url, "POST", f"/{index}/_search", {"query": query})["hits"]["hits"]
    assert ["b60"] == [hit["_id"] for hit in found]
    assert {"a60", "b60"} == {
        hit["_id"] for hit in call(engine_url, "POST", f"/{index}/_search", {"query": dsl})["hits"]["hits"]
    }


def test_commands_that_need_more_than_terms_are_errors(default_address: str) -> None:
    expected = (
        f"the field body.fingerprint of {default_address} contains terms of the engine's min_hash filter. A field with "
        "these terms supports only the commands `versions`, `compare`, `show`, `explain`, and `similar` "
        "(without --measure); for other commands, run "
        f"`simdoc-search backfill {default_address} --text-field body`, then omit --field"
    )
    options = ["--store", default_address, "--field", FIELD]
    assert (
        "thresholds cannot be saved in an index whose fingerprints come from the engine's min_hash filter; "
        "pass the thresholds with each query" in sentence(run("defaults", "--max-distance", "3", *options))
    )
    for command in (
        ["passages", "doc123"],
        ["similar", "doc123", "--measure", "containment"],
        ["related", "doc123"],
        ["duplicates"],
        ["watch", "doc123"],
    ):
        assert expected == sentence(run(*command, *options))


def test_texts_without_terms_are_errors(default_address: str) -> None:
    options = ["--store", default_address, "--field", FIELD]
    assert (
        "the document 'tiny' has fewer than 5 words in the field 'body', so nothing can be compared with it"
        == sentence(run("similar", "tiny", *options))
    )
    assert "the text has fewer than 5 words, so nothing can be compared with it" == sentence(
        run("similar", "--text", "a b c", *options)
    )


def test_all_suitable_indices_behind_an_alias_are_searched(engine_url: str, default_address: str) -> None:
    other, alias, bare = own_name(), own_name(), own_name()
    call(engine_url, "PUT", f"/{other}", build_min_hash_index("body"))
    call(engine_url, "PUT", f"/{other}/_doc/late?refresh=true", {"body": texts()["doc123"]})
    call(engine_url, "PUT", f"/{bare}/_doc/x?refresh=true", {"body": texts()["doc123"]})
    index = default_address.rpartition("/")[2]
    adds = [{"add": {"index": name, "alias": alias}} for name in (index, other, bare)]
    call(engine_url, "POST", "/_aliases", {"actions": adds})
    result = answer("similar", "doc123_20", "--store", f"{engine_url}/{alias}", "--field", FIELD)
    changed = own_name()
    call(engine_url, "PUT", f"/{changed}", build_min_hash_index("body", MinHash(bucket_count=100)))
    call(engine_url, "POST", "/_aliases", {"actions": [{"add": {"index": changed, "alias": alias}}]})

    assert ["late", "copy80"] == [hit["id"] for hit in result["hits"]][:2]
    assert [(bare, 1)] == [(index["index"], index["document_count"]) for index in result["left_out_indices"]]
    with pytest.raises(FormatMismatchError, match=r"body.fingerprint has different options in the indices"):
        open_store(f"{engine_url}/{alias}", field=FIELD)
    discard(engine_url, other, bare, changed)


def test_fields_that_cannot_be_used_are_refused(engine_url: str, default_address: str) -> None:
    with pytest.raises(
        LocationError, match=r"body.fingerprint are computed from the text field body, not from the one in --text-field"
    ):
        open_store(default_address, field=FIELD, text_field="team")
    several = own_name()
    call(engine_url, "PUT", f"/{several}", build_min_hash_index("body", MinHash(hash_count=2, bucket_count=64)))
    with pytest.raises(StoreError, match="because its hash_count is 2; create the index"):
        open_store(f"{engine_url}/{several}", field=FIELD)
    discard(engine_url, several)


def test_an_application_can_check_the_field_with_its_client(engine_url: str, default_address: str) -> None:
    index = default_address.rpartition("/")[2]
    with OpenSearch(engine_url) as client:
        check_min_hash(client, index)
        with open_store(client=client, index=index, field=FIELD) as store:
            assert "copy80" == SimilaritySearch(store).similar("doc123_50").hits[0].id
        with pytest.raises(StoreError, match="each option must have both spellings"):
            check_min_hash(client, index, minhash=MinHash(bucket_count=100))


def test_a_text_may_be_in_several_values_and_fields(engine_url: str) -> None:
    body, text = build_min_hash_index("all"), texts()["doc123"]
    filled = body["mappings"]["properties"]["all"]["fields"]["fingerprint"]
    body["mappings"]["properties"] = {
        "title": {"type": "text", "copy_to": "all"},
        "body": {"type": "text", "copy_to": "all"},
        "all": filled,
    }
    index, words = own_name(), text.split()
    call(engine_url, "PUT", f"/{index}", body)
    parts = [" ".join(words[start : start + 100]) for start in range(0, 700, 100)]
    for id, document in {
        "whole": {"body": text},
        "parts": {"title": parts[0], "body": parts[1:]},
        "other": {"title": "None of these", "body": texts()["other1"]},
        "none": {"title": None},
    }.items():
        call(engine_url, "PUT", f"/{index}/_doc/{id}?refresh=true", document)
    options = ["--store", f"{engine_url}/{index}", "--field", "all", "--text-field", "title", "--text-field", "body"]
    hits = {id: answer("similar", f"{id}_90", *options)["hits"] for id in ("whole", "parts")}

    assert {"whole": [("parts", 1.0)], "parts": [("whole", 1.0)]} == {
        id: [(hit["id"], hit["overlap"]) for hit in found] for id, found in hits.items()
    }
    assert (
        "the document 'none' has no text in the fields 'title' and 'body', so nothing can be compared with it"
        == sentence(run("similar", "none", *options))
    )
    discard(engine_url, index)
