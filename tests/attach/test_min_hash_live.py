"""A field that the engine fills with its `min_hash` filter has the terms that we compute."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from simdoc_search import MinHash, fingerprint
from simdoc_search.attach.min_hash import build_min_hash_index, check_min_hash, choose_min_hash_settings
from simdoc_search.errors import StoreError
from simdoc_search.query import similar_query
from simdoc_search.stores.remote.engine import Engine
from tests.support.cli import answer, run, usage_error
from tests.support.engines import call, own_name
from tests.support.texts import text
from tests.support.vectors import reference_texts


@pytest.fixture
def index(opensearch_url: str) -> Iterator[str]:
    """The name of an index."""
    name = own_name()
    yield name
    call(opensearch_url, "DELETE", f"/{name}?ignore_unavailable=true")


def indexed(term: str) -> str:
    """Return a term as the index stores it, with U+FFFD for a lone surrogate."""
    return term.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@pytest.mark.parametrize(
    "minhash", [None, MinHash(with_rotation=False), MinHash(hash_count=2, bucket_count=32, hash_set_size=3)], ids=str
)
def test_the_engine_makes_our_terms(minhash: MinHash | None, engine: Engine, index: str) -> None:
    """The texts are in many scripts, or mix their words."""
    engine.call("PUT", [index], build_min_hash_index("body", minhash))
    check_min_hash(engine, index, minhash=minhash)
    rng, references = random.Random(5), list(reference_texts().values())
    words = " ".join(references).split()
    for content in [*references, *(" ".join(rng.choices(words, k=rng.randint(1, 60))) for _ in range(80))]:
        body = {"field": "body.fingerprint", "text": content}
        terms = {indexed(token["token"]) for token in engine.call("POST", [index, "_analyze"], body)["tokens"]}
        assert terms == {
            indexed(term) for term in fingerprint(content, *choose_min_hash_settings(minhash)).tokens("lucene")
        }


def test_an_engine_that_ignores_an_option_is_an_error(engine: Engine, index: str) -> None:
    """Some versions ignore `bucket_count`. Here the filter is created without it."""
    body = build_min_hash_index("body", MinHash(bucket_count=100, with_rotation=True))
    options = body["settings"]["analysis"]["filter"]["simdoc_min_hash"]
    del options["bucket_count"], options["bucketCount"]
    engine.call("PUT", [index], body)

    with pytest.raises(
        StoreError,
        match=r"same terms as simdoc-search with MinHash\(.*bucket_count=100.*\) \([0-9]+ terms instead of [0-9]+\)",
    ):
        check_min_hash(engine, index, minhash=MinHash(bucket_count=100, with_rotation=True))


def test_queries_find_similar_documents(engine: Engine, index: str) -> None:
    """The words of a user's search match no term."""
    rng = random.Random(1)
    base, other = text(rng, 400), text(rng, 400)
    half = " ".join(base.split()[:300]) + " " + " ".join(other.split()[:100])
    engine.call("PUT", [index], build_min_hash_index("body"))
    for id, body in {"base": base, "half": half, "other": other}.items():
        engine.call("PUT", [index, "_doc", id], {"body": body}, refresh=True)
    terms = list(dict.fromkeys(fingerprint(base, *choose_min_hash_settings()).tokens("lucene")))

    def hits(**options: float) -> list[str]:
        query = similar_query(terms, field="body.fingerprint", kind="terms", **options)  # type: ignore[arg-type]
        return [hit["_id"] for hit in engine.search(index, {"query": query})["hits"]["hits"]]

    assert ["base", "half"] == hits(overlap=0.3)
    assert ["base", "half"] == hits(overlap=0.3, probability=0.95)
    assert ["base"] == hits(overlap=0.95)
    assert [] == engine.search(index, {"query": {"query_string": {"query": "zzzz", "fields": ["*"]}}})["hits"]["hits"]


def test_the_command_prints_the_body_of_an_index(engine: Engine, index: str) -> None:
    command = ["template", "show", "--bucket-count", "100"]
    engine.call("PUT", [index], answer(*command, "--min-hash", "text"))

    check_min_hash(engine, index, "text.fingerprint", MinHash(bucket_count=100, with_rotation=True))
    assert "--bucket-count needs --min-hash; add --min-hash" == usage_error(run(*command))
