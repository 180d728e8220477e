"""Languages are identified when documents are indexed."""

from __future__ import annotations

from pathlib import Path

import pytest

from simdoc_search import Document, SimilaritySearch
from simdoc_search.indexing import preparation
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.base import Store
from tests.support.stores import NewStore
from tests.support.translations import PROSE

DOCUMENTS = [
    Document("en", PROSE["en"]),
    Document("de", PROSE["de"], {"year": 2021}),
    Document("both", f"{PROSE['en']}\n\n{PROSE['de']}"),
    Document("short", "just three words"),
    Document("said", PROSE["de"], {"language": "gsw"}),
]


@pytest.fixture
def store(new_store: NewStore) -> Store:
    """An empty store of each kind."""
    return new_store(Settings(identifies_language=True))


def test_each_document_gets_its_language_and_is_found_by_it(store: Store) -> None:
    search = SimilaritySearch(store)
    search.index(DOCUMENTS)
    found = {record.id: record.metadata["language"] for record in store.scan()}

    assert {"en": "en", "de": "de", "both": "mixed", "short": "unknown", "said": "gsw"} == found
    assert ["de"] == [record.id for record in store.scan(filters={"language": "de"})]
    assert ["said"] == [hit.id for hit in search.similar("de", filters={"language": "gsw"}).hits]
    assert {"en": 1, "de": 1, "mixed": 1, "unknown": 1, "gsw": 1} == search.languages()
    assert {"de": 1} == search.languages(filters={"year": 2021})


def test_a_new_identifier_changes_no_unchanged_document(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    search = SimilaritySearch(store)
    search.index(DOCUMENTS)
    monkeypatch.setattr(preparation, "language_of", lambda _: "new")
    report = search.index([*DOCUMENTS[:-1], Document("en", PROSE["en"] + " More.")])

    assert (1, 3) == (report.replaced_count, report.unchanged_count)
    assert {"new": 1, "de": 1, "mixed": 1, "unknown": 1, "gsw": 1} == search.languages()


def test_a_store_without_the_setting_identifies_nothing(new_memory_store: NewStore) -> None:
    search = SimilaritySearch(new_memory_store())
    search.index(DOCUMENTS)

    assert {"": 4, "gsw": 1} == search.languages()


@pytest.mark.slow
def test_workers_identify_the_same_languages(new_memory_store: NewStore, tmp_path: Path) -> None:
    texts = [PROSE[code] + f" {number}" for number in range(60) for code in PROSE]
    documents = [Document(str(number), text) for number, text in enumerate(texts * 3)]
    counts = []
    for workers in (1, 2):
        search = SimilaritySearch(new_memory_store(Settings(identifies_language=True)))
        search.index(documents, workers=workers)
        counts.append(search.languages())

    assert [dict.fromkeys(PROSE, 180)] * 2 == counts
