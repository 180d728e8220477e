"""Tests of watches, which find copies of documents among new documents."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from simdoc_search import MinHash, open_store
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.documents import DocumentKey
from simdoc_search.errors import (
    FormatMismatchError,
    NoFingerprintError,
    QuerySyntaxError,
    StoreError,
    UnknownDocumentError,
)
from simdoc_search.search.watches import CopyWatches
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.base import Store
from simdoc_search.stores.remote.schema import component_template
from simdoc_search.stores.remote.store import RemoteStore
from tests.support.backfill import load, to
from tests.support.cli import words
from tests.support.engines import PREFIX, call, own_name
from tests.support.http_server import TempIndices, indices
from tests.support.pipeline_installation import install_search_templates

HOSTILE = 'a"b\\c/{{id}}\u2028 é日本'
TEXTS = {
    "doc": words(0, 200),
    "copy": words(0, 200),
    "half": words(0, 140) + " " + words(1000, 1060),
    "long": words(0, 3000),
    "short": words(0, 20),
    "other": words(9000, 9200),
    HOSTILE: words(0, 190),
    "bare": "...",
}


def articles(temp_indices: TempIndices, texts: dict[str, str], settings: Settings | None = None, **place: str) -> str:
    """Create an index with fingerprints."""
    settings = settings or Settings()
    fields = component_template(settings)["template"]["mappings"]["properties"]
    index = temp_indices.make({"properties": {"body": {"type": "text"}, **fields}})
    sources = {id: {"body": body, "simdoc": fingerprint_field(body, settings)} for id, body in texts.items()}
    with to(temp_indices.engine) as engine:
        load(engine, index, sources, **place)
    return index


@pytest.fixture
def index(temp_indices: TempIndices) -> str:
    """An index with TEXTS."""
    return articles(temp_indices, TEXTS)


@pytest.fixture
def store(temp_indices: TempIndices, index: str) -> Iterator[Store]:
    """The index as a store."""
    with open_store(f"{temp_indices.engine}/{index}") as opened:
        yield opened


@pytest.fixture
def copy_watches(temp_indices: TempIndices, store: Store) -> CopyWatches:
    """`CopyWatches` with a new index of watches."""
    return CopyWatches(store, temp_indices.name())


def ids(copy_watches: CopyWatches, new: str) -> dict[str, float]:
    """Return the watched documents of which a document is a copy, with the numbers of matching tokens."""
    return {match.watch.key.id: float(match.matched_token_count) for match in copy_watches.find_matches(new)}


def by_template(temp_indices: TempIndices, copy_watches: CopyWatches, **params: Any) -> dict[str, float]:
    """Return the watched documents and scores that the search template returns."""
    with to(temp_indices.engine) as engine:
        install_search_templates(engine, force=True)
        body = {"id": "simdoc-new-copies", "params": params}
        hits = engine.call("POST", [copy_watches.name, "_search", "template"], body)["hits"]["hits"]
    assert [set()] * len(hits) == [hit["_source"].keys() - {"watched"} for hit in hits]
    return {hit["_source"]["watched"]["id"]: hit["_score"] for hit in hits}


def test_a_watch_matches_copies_of_its_document(
    temp_indices: TempIndices, copy_watches: CopyWatches, index: str
) -> None:
    """A copy has the overlap of `similar`. The score of the template is the number of matching tokens."""
    for query in ("doc_50", "half_90", "other_80", "short_20", "long_50"):
        copy_watches.set(query)
    expected: dict[str, set[str]] = {
        "copy": {"doc"},
        "doc": set(),
        "half": {"doc"},
        "long": set(),
        "short": set(),
        "other": set(),
        HOSTILE: {"doc"},
    }
    matches = {id: ids(copy_watches, id) for id in expected}
    copied = copy_watches.find_matches("half")[0]

    assert expected == {id: set(watched) for id, watched in matches.items()}
    assert matches == {id: by_template(temp_indices, copy_watches, index=index, id=id) for id in expected}
    assert pytest.approx(0.53, abs=0.04) == copied.overlap
    assert {"doc": 0.5, "half": 0.9, "other": 0.8, "short": 0.2, "long": 0.5} == {
        watch.key.id: float(watch.overlap) for watch in copy_watches.all()
    }


def test_the_template_takes_the_fingerprint_of_a_text(temp_indices: TempIndices, copy_watches: CopyWatches) -> None:
    copy_watches.set("doc")
    copy_watches.set("other")
    fingerprint = fingerprint_field(words(0, 180))
    matches = by_template(temp_indices, copy_watches, fingerprint=fingerprint)

    assert {"doc"} == matches.keys()
    assert 140 < matches["doc"] <= fingerprint["buckets"]
    assert {} == by_template(temp_indices, copy_watches, fingerprint=fingerprint_field(words(7000, 7100)))


def test_a_new_document_needs_no_refresh(temp_indices: TempIndices, copy_watches: CopyWatches, index: str) -> None:
    copy_watches.set("doc")
    with to(temp_indices.engine) as engine:
        engine.call("PUT", [index, "_settings"], {"index": {"refresh_interval": -1}})
        source = {"simdoc": fingerprint_field(TEXTS["doc"])}
        engine.call("PUT", [index, "_doc", "new"], source)

    assert {"doc": 163.0} == by_template(temp_indices, copy_watches, index=index, id="new")


def test_the_template_takes_filters_and_pages(temp_indices: TempIndices, copy_watches: CopyWatches, index: str) -> None:
    """Filters are on the watched documents. The greatest number of matching tokens is first."""
    for id in ("doc", "half", HOSTILE):
        copy_watches.set(id)
    source: dict[str, Any] = {"index": index, "id": "copy"}
    scores = by_template(temp_indices, copy_watches, **source)

    assert ["doc", HOSTILE, "half"] == list(scores)
    assert ["doc", HOSTILE] == list(by_template(temp_indices, copy_watches, **source, size=2))
    assert ["half"] == list(by_template(temp_indices, copy_watches, **source, size=2, **{"from": 2}))
    only_hostile = {"term": {"watched.id": HOSTILE}}
    assert [HOSTILE] == list(by_template(temp_indices, copy_watches, **source, filter=[only_hostile]))
    assert {} == by_template(temp_indices, copy_watches, **source, filter={"term": {"watched.index": "another"}})


def test_a_watch_is_kept_if_its_document_changes_or_is_deleted(
    temp_indices: TempIndices, copy_watches: CopyWatches, index: str
) -> None:
    """A watch that is set again has the current tokens."""
    copy_watches.set("doc")
    temp_indices.put(index, "doc", {"simdoc": fingerprint_field(TEXTS["other"])})
    assert {"doc": 163.0} == ids(copy_watches, "copy")
    copy_watches.set("doc", overlap=Fraction(9, 10))
    assert ({}, ["doc"]) == (ids(copy_watches, "copy"), [watch.key.id for watch in copy_watches.all()])
    assert {"doc"} == ids(copy_watches, "other").keys()
    call(temp_indices.engine, "DELETE", f"/{index}/_doc/doc?refresh=true")

    assert {"doc"} == ids(copy_watches, "other").keys()
    assert 1 == copy_watches.remove(["doc"])
    assert {} == ids(copy_watches, "other")
    with pytest.raises(StoreError, match="'doc' is not watched; list the watches with: simdoc-search watch --list"):
        copy_watches.remove(["doc"])


def test_documents_of_other_indices_are_copies(temp_indices: TempIndices, copy_watches: CopyWatches) -> None:
    """A copy can have the same id in another index. Each index lists and removes only its own watches."""
    other = articles(temp_indices, {"doc": TEXTS["copy"], "new": TEXTS["copy"]})
    copy_watches.set("doc")
    with open_store(f"{temp_indices.engine}/{other}") as store:
        elsewhere = CopyWatches(store, copy_watches.name)
        assert {"doc": 163.0} == ids(elsewhere, "doc") == by_template(temp_indices, copy_watches, index=other, id="doc")
        assert [] == elsewhere.all()
        with pytest.raises(StoreError, match="is not watched"):
            elsewhere.remove(["doc"])
    assert ["doc"] == [watch.key.id for watch in copy_watches.all()]


def test_a_watch_over_an_alias_knows_the_index_and_the_routing(temp_indices: TempIndices) -> None:
    """The alias and the index list the watch. By neither name is a document a copy of itself."""
    index = articles(temp_indices, {"doc": TEXTS["doc"], "copy": TEXTS["copy"]}, routing="team-a")
    alias = temp_indices.alias(index)
    name = temp_indices.name()
    with (
        open_store(f"{temp_indices.engine}/{alias}") as by_alias,
        open_store(f"{temp_indices.engine}/{index}") as by_index,
    ):
        copy_watches = CopyWatches(by_alias, name)
        watch = copy_watches.set("doc")

        assert DocumentKey("doc", index, "team-a") == watch.key == copy_watches.set(watch.key).key
        assert [watch.key] == [watch.key for watch in copy_watches.all()]
        assert [watch.key] == [watch.key for watch in CopyWatches(by_index, name).all()]
        assert ({}, {"doc": 163.0}) == (ids(copy_watches, "doc"), ids(copy_watches, "copy"))
        for place in (alias, index):
            source = {"index": place, "routing": "team-a"}
            assert {} == by_template(temp_indices, copy_watches, id="doc", **source)
            assert {"doc": 163.0} == by_template(temp_indices, copy_watches, id="copy", **source)


def test_a_document_that_cannot_be_watched_is_an_error(copy_watches: CopyWatches) -> None:
    for watch in (copy_watches.set, copy_watches.find_matches):
        with pytest.raises(UnknownDocumentError):
            watch("nobody")
        with pytest.raises(NoFingerprintError):
            watch("bare")
    with pytest.raises(QuerySyntaxError, match="greater than 0"):
        copy_watches.set("doc", overlap=0)
    with pytest.raises(QuerySyntaxError, match="omit the probability"):
        copy_watches.set("doc_50_80")
    assert ([], {}) == (copy_watches.all(), ids(copy_watches, "copy"))


def test_other_settings_need_another_index_of_watches(temp_indices: TempIndices, copy_watches: CopyWatches) -> None:
    """Settings of passages do not matter, as watches compare whole documents."""
    copy_watches.set("doc")
    index = articles(temp_indices, {"doc": TEXTS["doc"]}, Settings(sketch=MinHash(bucket_count=256)))
    with open_store(f"{temp_indices.engine}/{index}") as other:
        elsewhere = CopyWatches(other, copy_watches.name)
        for watch in (elsewhere.set, elsewhere.find_matches):
            with pytest.raises(
                FormatMismatchError, match=r"have other fingerprint settings than .*; choose another index with"
            ):
                watch("doc")
        assert "doc" == CopyWatches(other, temp_indices.name()).set("doc").key.id

    index = articles(temp_indices, {"copy": TEXTS["copy"]}, Settings(passages=None))
    with open_store(f"{temp_indices.engine}/{index}") as other:
        assert {"doc": 163.0} == ids(CopyWatches(other, copy_watches.name), "copy")


def test_an_index_of_documents_cannot_be_an_index_of_watches(store: Store, index: str) -> None:
    with pytest.raises(StoreError, match=rf"/{index} is not an index of watches; choose another index with --watches"):
        CopyWatches(store, index)


def test_a_document_that_is_not_a_watch_is_an_error(
    temp_indices: TempIndices, copy_watches: CopyWatches, index: str
) -> None:
    copy_watches.set("doc")
    temp_indices.put(copy_watches.name, "strange", {"query": {"match_all": {}}, "watched": {"index": index}})

    for query in (copy_watches.all, lambda: copy_watches.find_matches("copy")):
        with pytest.raises(StoreError, match=rf"the document 'strange' in the index {PREFIX}-.* is not a stored query"):
            query()


def test_a_local_store_has_no_watches() -> None:
    """For a local store, use `index --reject-duplicates`."""
    with (
        open_store(":memory:", create=True) as store,
        pytest.raises(StoreError, match="only documents in an index"),
    ):
        CopyWatches(store)


def test_an_engine_without_a_percolator_is_an_error(elasticsearch_url: str) -> None:
    """The Elasticsearch that is built from packages does not have the module."""
    with indices(elasticsearch_url) as temp_indices:
        index = articles(temp_indices, {"doc": TEXTS["doc"]})
        with open_store(f"{temp_indices.engine}/{index}") as store:
            assert isinstance(store, RemoteStore)
            with pytest.raises(
                StoreError, match="has no percolator, so it cannot watch for similar documents; run `simdoc-search"
            ):
                CopyWatches(store, own_name()).set("doc")
