"""Watched documents: the engine is asked of which of them a new one is a copy, and says how many tokens are equal."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from simdoc_search import open_store
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.documents import Place
from simdoc_search.errors import (
    FormatMismatchError,
    NoFingerprintError,
    QuerySyntaxError,
    StoreError,
    UnknownDocumentError,
)
from simdoc_search.search.watches import Watcher
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.base import Store
from simdoc_search.stores.remote.schema import component_template
from simdoc_search.stores.remote.store import RemoteStore
from tests.support.backfill import load, to
from tests.support.cli import words
from tests.support.engines import PREFIX, call, own_name
from tests.support.http_server import Indices, indices
from tests.support.installing import install_search_templates

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


@pytest.fixture
def made(opensearch_url: str) -> Iterator[Indices]:
    """Indices of a test's own."""
    with indices(opensearch_url) as them:
        yield them


def articles(made: Indices, texts: dict[str, str], settings: Settings | None = None, **place: str) -> str:
    """An index of an application with fingerprints."""
    settings = settings or Settings()
    fields = component_template(settings)["template"]["mappings"]["properties"]
    index = made.make({"properties": {"body": {"type": "text"}, **fields}})
    sources = {id: {"body": body, "simdoc": fingerprint_field(body, settings)} for id, body in texts.items()}
    with to(made.engine) as engine:
        load(engine, index, sources, **place)
    return index


@pytest.fixture
def index(made: Indices) -> str:
    """One with TEXTS."""
    return articles(made, TEXTS)


@pytest.fixture
def store(made: Indices, index: str) -> Iterator[Store]:
    """It as a store."""
    with open_store(f"{made.engine}/{index}") as opened:
        yield opened


@pytest.fixture
def watching(made: Indices, store: Store) -> Watcher:
    """Watches in an index of the test's own."""
    return Watcher(store, made.name())


def ids(watching: Watcher, new: str) -> dict[str, float]:
    """Of what a document is a copy, and of how many equal tokens."""
    return {each.watch.place.id: float(each.matched) for each in watching.copied_by(new)}


def by_template(made: Indices, watching: Watcher, **params: Any) -> dict[str, float]:
    """The same as an application is told that speaks JSON alone."""
    with to(made.engine) as engine:
        install_search_templates(engine, force=True)
        asked = {"id": "simdoc-new-copies", "params": params}
        hits = engine.call("POST", [watching.name, "_search", "template"], asked)["hits"]["hits"]
    assert [set()] * len(hits) == [hit["_source"].keys() - {"watched"} for hit in hits]
    return {hit["_source"]["watched"]["id"]: hit["_score"] for hit in hits}


def test_what_is_watched_is_found_by_its_copies(made: Indices, store: Store, watching: Watcher, index: str) -> None:
    """And by nothing else; with the overlap that `similar` shows, and its number of equal tokens as the score."""
    for each in ("doc_50", "half_90", "other_80", "short_20", "long_50"):
        watching.set(each)
    expected: dict[str, set[str]] = {
        "copy": {"doc"},
        "doc": set(),
        "half": {"doc"},
        "long": set(),
        "short": set(),
        "other": set(),
        HOSTILE: {"doc"},
    }
    found = {id: ids(watching, id) for id in expected}
    copied = watching.copied_by("half")[0]

    assert expected == {id: set(each) for id, each in found.items()}
    assert found == {id: by_template(made, watching, index=index, id=id) for id in expected}
    assert pytest.approx(0.53, abs=0.04) == copied.overlap
    assert {"doc": 0.5, "half": 0.9, "other": 0.8, "short": 0.2, "long": 0.5} == {
        each.place.id: float(each.overlap) for each in watching.all()
    }


def test_a_fingerprint_asks_too(made: Indices, store: Store, watching: Watcher) -> None:
    """Of a text that is not stored, as `_simulate` or `fingerprint_field` makes it."""
    watching.set("doc")
    watching.set("other")
    fingerprint = fingerprint_field(words(0, 180)) or {}

    found = by_template(made, watching, fingerprint=fingerprint)

    assert {"doc"} == found.keys()
    assert 140 < found["doc"] <= fingerprint["buckets"]
    assert {} == by_template(made, watching, fingerprint=fingerprint_field(words(7000, 7100)))


def test_a_document_is_asked_at_once(made: Indices, watching: Watcher, index: str) -> None:
    """Before any search sees it: nothing has to be refreshed."""
    watching.set("doc")
    with to(made.engine) as engine:
        engine.call("PUT", [index, "_settings"], {"index": {"refresh_interval": -1}})
        source = {"simdoc": fingerprint_field(TEXTS["doc"])}
        engine.call("PUT", [index, "_doc", "new"], source)

    assert {"doc": 163.0} == by_template(made, watching, index=index, id="new")


def test_filters_and_pages_of_watches(made: Indices, watching: Watcher, index: str) -> None:
    """Clauses over what is watched; most equal tokens first."""
    for id in ("doc", "half", HOSTILE):
        watching.set(id)
    asked: dict[str, Any] = {"index": index, "id": "copy"}
    every = by_template(made, watching, **asked)

    assert ["doc", HOSTILE, "half"] == list(every)
    assert ["doc", HOSTILE] == list(by_template(made, watching, **asked, size=2))
    assert ["half"] == list(by_template(made, watching, **asked, size=2, **{"from": 2}))
    some = {"term": {"watched.id": HOSTILE}}
    assert [HOSTILE] == list(by_template(made, watching, **asked, filter=[some]))
    assert {} == by_template(made, watching, **asked, filter={"term": {"watched.index": "another"}})


def test_a_watch_stays_when_its_document_changes_or_goes(made: Indices, watching: Watcher, index: str) -> None:
    """It has tokens of its own; to set it again takes those of today, and no second watch."""
    watching.set("doc")
    made.put(index, "doc", {"simdoc": fingerprint_field(TEXTS["other"])})
    assert {"doc": 163.0} == ids(watching, "copy")
    watching.set("doc", overlap=Fraction(9, 10))
    assert ({}, ["doc"]) == (ids(watching, "copy"), [each.place.id for each in watching.all()])
    assert {"doc"} == ids(watching, "other").keys()
    call(made.engine, "DELETE", f"/{index}/_doc/doc?refresh=true")

    assert {"doc"} == ids(watching, "other").keys()
    assert 1 == watching.remove(["doc"])
    assert {} == ids(watching, "other")
    with pytest.raises(StoreError, match="'doc' is not watched; list the watches with: simdoc-search watch --list"):
        watching.remove(["doc"])


def test_documents_of_other_indices_are_copies_too(made: Indices, store: Store, watching: Watcher) -> None:
    """One of the same id there is no less a copy; each index lists and removes its own watches."""
    other = articles(made, {"doc": TEXTS["copy"], "new": TEXTS["copy"]})
    watching.set("doc")
    with open_store(f"{made.engine}/{other}") as there:
        elsewhere = Watcher(there, watching.name)

        assert {"doc": 163.0} == ids(elsewhere, "doc") == by_template(made, watching, index=other, id="doc")
        assert [] == elsewhere.all()
        with pytest.raises(StoreError, match="is not watched"):
            elsewhere.remove(["doc"])
    assert ["doc"] == [each.place.id for each in watching.all()]


def test_an_alias_and_a_routing_are_known_again(made: Indices) -> None:
    """What was watched by the alias is listed by it and by its index; nobody is a copy of itself by either name."""
    index = articles(made, {"doc": TEXTS["doc"], "copy": TEXTS["copy"]}, routing="team-a")
    alias = made.alias(index)
    name = made.name()
    with open_store(f"{made.engine}/{alias}") as by_alias, open_store(f"{made.engine}/{index}") as by_index:
        watching = Watcher(by_alias, name)
        watch = watching.set("doc")

        assert Place("doc", index, "team-a") == watch.place == watching.set(watch.place).place
        assert [watch.place] == [each.place for each in watching.all()]
        assert [watch.place] == [each.place for each in Watcher(by_index, name).all()]
        assert ({}, {"doc": 163.0}) == (ids(watching, "doc"), ids(watching, "copy"))
        for place in (alias, index):
            asked = {"index": place, "routing": "team-a"}
            assert {} == by_template(made, watching, id="doc", **asked)
            assert {"doc": 163.0} == by_template(made, watching, id="copy", **asked)


def test_what_cannot_be_watched_is_said(watching: Watcher) -> None:
    """An unknown document, one without words, no overlap, a probability."""
    with pytest.raises(UnknownDocumentError):
        watching.set("nobody")
    with pytest.raises(UnknownDocumentError):
        watching.copied_by("nobody")
    with pytest.raises(NoFingerprintError):
        watching.set("bare")
    with pytest.raises(NoFingerprintError):
        watching.copied_by("bare")
    with pytest.raises(QuerySyntaxError, match="over 0"):
        watching.set("doc", overlap=0)
    with pytest.raises(QuerySyntaxError, match="leave out the probability"):
        watching.set("doc_50_80")
    assert ([], {}) == (watching.all(), ids(watching, "copy"))


def test_fingerprints_of_other_settings_have_watches_of_their_own(made: Indices, watching: Watcher) -> None:
    """They would never be equal, and that is said."""
    watching.set("doc")
    index = articles(made, {"doc": TEXTS["doc"]}, Settings(token_length=5))
    with open_store(f"{made.engine}/{index}") as other:
        elsewhere = Watcher(other, watching.name)
        for asked in (elsewhere.set, elsewhere.copied_by):
            with pytest.raises(FormatMismatchError, match="other settings; name another index with --wat"):
                asked("doc")
        assert "doc" == Watcher(other, made.name()).set("doc").place.id


def test_passage_tokens_make_no_difference(made: Indices, watching: Watcher) -> None:
    """Watches compare the tokens of whole documents alone."""
    watching.set("doc")
    index = articles(made, {"copy": TEXTS["copy"]}, Settings(passages=None))
    with open_store(f"{made.engine}/{index}") as other:
        assert {"doc": 163.0} == ids(Watcher(other, watching.name), "copy")


def test_another_index_takes_no_watches(made: Indices, store: Store, index: str) -> None:
    """Nothing is written into it."""
    with pytest.raises(StoreError, match=rf"the index {index} of .* is not one of watches; name another one"):
        Watcher(store, index)


def test_a_document_among_the_watches_that_is_none_is_named(made: Indices, watching: Watcher, index: str) -> None:
    """Somebody else wrote it."""
    watching.set("doc")
    made.put(watching.name, "strange", {"query": {"match_all": {}}, "watched": {"index": index}})

    for asked in (watching.all, lambda: watching.copied_by("copy")):
        with pytest.raises(StoreError, match=rf"the document 'strange' in {PREFIX}-.* is not a watch; remove it"):
            asked()


def test_only_an_engine_watches() -> None:
    """A store in a folder or in memory is asked by `index --reject-duplicates`."""
    with open_store(":memory:", create=True) as store, pytest.raises(StoreError, match="only an engine watches"):
        Watcher(store)


def test_an_engine_without_a_percolator_is_named(elasticsearch_url: str) -> None:
    """As one from packages is, which lacks the module."""
    with indices(elasticsearch_url) as made:
        index = articles(made, {"doc": TEXTS["doc"]})
        with open_store(f"{made.engine}/{index}") as store:
            assert isinstance(store, RemoteStore)
            with pytest.raises(StoreError, match="cannot watch, as it has no percolator; ask simdoc-search similar"):
                Watcher(store, own_name()).set("doc")
