"""A field that the engine fills with its own `min_hash` filter has the very terms that we compute."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from opensearchpy import OpenSearch

from simdoc_search import MinHash, fingerprint
from simdoc_search.attach.min_hash import check_min_hash, min_hash_index, settings_of_engine
from simdoc_search.errors import StoreError
from simdoc_search.query import similar_query
from simdoc_search.stores.remote.engine import Engine
from tests.support.cli import answer, run, usage_error
from tests.support.engines import call, own_name
from tests.support.texts import text
from tests.support.vectors import reference_texts

CONFIGURATIONS = [
    None,
    MinHash(with_rotation=False),
    MinHash(bucket_count=100, with_rotation=True),
    MinHash(hash_count=2, bucket_count=32, hash_set_size=3),
]


@pytest.fixture
def index(opensearch_url: str) -> Iterator[str]:
    """The name of an index that is removed."""
    name = own_name()
    yield name
    call(opensearch_url, "DELETE", f"/{name}?ignore_unavailable=true")


@pytest.fixture
def engine(opensearch_url: str) -> Iterator[Engine]:
    """The engine."""
    with OpenSearch(opensearch_url) as client:
        yield Engine(client, opensearch_url)


def indexed(term: str) -> str:
    """A term as the index has it: a lone surrogate is U+FFFD."""
    return term.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def many_texts() -> list[str]:
    """The reference texts in many scripts, and mixtures of their words."""
    rng = random.Random(5)
    references = list(reference_texts().values())
    words = [word for each in references for word in each.split()]
    return references + [" ".join(rng.choices(words, k=rng.randint(1, 60))) for _ in range(200)]


@pytest.mark.parametrize("minhash", CONFIGURATIONS, ids=str)
def test_its_terms_are_ours(minhash: MinHash | None, engine: Engine, index: str) -> None:
    """Over hundreds of texts in many scripts, for every kind of options."""
    engine.call("PUT", [index], min_hash_index("body", minhash))
    check_min_hash(engine, index, minhash=minhash)
    analysis, made = settings_of_engine(minhash)
    different = []
    for each in many_texts():
        asked = {"field": "body.fingerprint", "text": each}
        found = {indexed(one["token"]) for one in engine.call("POST", [index, "_analyze"], asked)["tokens"]}
        if found != {indexed(one) for one in fingerprint(each, analysis, made).tokens("lucene")}:
            different.append(each)

    assert [] == different


def test_an_engine_that_ignores_an_option_is_found_out(engine: Engine, index: str) -> None:
    """As some versions do with `bucket_count`: here it is not told."""
    body = min_hash_index("body", MinHash(bucket_count=100, with_rotation=True))
    options = body["settings"]["analysis"]["filter"]["simdoc_min_hash"]
    del options["bucket_count"], options["bucketCount"]
    engine.call("PUT", [index], body)

    with pytest.raises(StoreError, match=r"with [0-9]+ terms where MinHash\(.*bucket_count=100.*\) makes [0-9]+; give"):
        check_min_hash(engine, index, minhash=MinHash(bucket_count=100, with_rotation=True))


def test_documents_are_found_by_text_and_counted(engine: Engine, index: str) -> None:
    """The score is the number of equal terms; a threshold and bands find what they should."""
    rng = random.Random(1)
    base, other = text(rng, 400), text(rng, 400)
    half = " ".join(base.split()[:300]) + " " + " ".join(other.split()[:100])
    engine.call("PUT", [index], min_hash_index("body"))
    for id, body in {"base": base, "half": half, "other": other}.items():
        engine.call("PUT", [index, "_doc", id], {"body": body}, refresh=True)
    terms = list(dict.fromkeys(fingerprint(base, *settings_of_engine()).tokens("lucene")))

    def found(**options: float) -> list[str]:
        query = similar_query(terms, field="body.fingerprint", kind="terms", **options)  # type: ignore[arg-type]
        return [hit["_id"] for hit in engine.search(index, {"query": query})["hits"]["hits"]]

    assert ["base", "half"] == found(overlap=0.3)
    assert ["base", "half"] == found(overlap=0.3, probability=0.95)
    assert ["base"] == found(overlap=0.95)
    assert [] == engine.search(index, {"query": {"query_string": {"query": "zzzz", "fields": ["*"]}}})["hits"]["hits"]


def test_the_command_prints_the_body_of_an_index(engine: Engine, index: str) -> None:
    command = ["template", "show", "--bucket-count", "100"]
    engine.call("PUT", [index], answer(*command, "--min-hash", "text"))

    check_min_hash(engine, index, "text.fingerprint", MinHash(bucket_count=100, with_rotation=True))
    assert "--bucket-count needs --min-hash" == usage_error(run(*command))
