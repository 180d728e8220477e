"""Each sketch from documents to hits: in every store, and with the recall that plans promise."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.errors import FormatMismatchError
from simdoc_search.passages import jaccard, shingle_set
from simdoc_search.sketch.base import Sketch
from simdoc_search.sketch.schemes import Universal, Xor
from simdoc_search.sketch.settings import Settings
from tests.support.stores import NewStore
from tests.support.texts import overlapping

SKETCHES: list[Sketch] = [Universal(), Xor()]


def named(sketch: Sketch) -> str:
    """What a test is called."""
    return type(sketch).__name__


def drafts() -> Iterator[Document]:
    """Four documents with nothing in common, and a later state of each that shares about two thirds with it."""
    for number in range(4):
        one, other = overlapping(random.Random(f"draft {number}"), 600, 0.65)
        yield Document(f"doc{number}", one)
        yield Document(f"doc{number}-later", other)


@pytest.mark.parametrize("sketch", SKETCHES, ids=named)
def test_a_store_of_any_sketch_answers(new_store: NewStore, sketch: Sketch) -> None:
    """By overlap, with a probability, verified, as Alfresco's strings ask; and passages beside it."""
    with new_store(Settings(minhash=sketch)) as store:
        search = SimilaritySearch(store)
        search.index(drafts())
        (exact,) = search.similar("doc1", overlap=0.5).hits
        texts = {each.id: each.text for each in drafts()}

        assert sketch == store.settings.minhash
        assert ("doc1-later", "exact") == (exact.id, exact.kind)
        assert jaccard(shingle_set(texts["doc1"]), shingle_set(texts["doc1-later"])) == exact.overlap
        for options in ({}, {"probability": 0.99}, {"probability": 0.99, "planner": "all"}):
            (hit,) = search.similar("doc1", overlap=0.5, **options).hits
            assert "doc1-later" == hit.id
            assert exact.overlap == pytest.approx(hit.overlap, abs=0.15)
        assert ["doc1-later"] == [hit.id for hit in search.similar("doc1").hits]
        assert ["doc1-later"] == [hit.id for hit in search.passages("doc1").hits]


@pytest.mark.parametrize("sketch", [Settings().minhash, *SKETCHES], ids=named)
@pytest.mark.slow
def test_a_document_of_the_overlap_is_found_as_often_as_promised(sketch: Sketch) -> None:
    """Of 300 pairs at 50 %, asked for with 80 %: nine tenths of the promise at least, which is over four deviations."""
    search = SimilaritySearch(open_store(":memory:", Settings(minhash=sketch, passages=None)))
    documents, wanted = [], 0
    for number in range(300):
        texts = overlapping(random.Random(f"promise {number}"), 1200, 0.5)
        if jaccard(*map(shingle_set, texts)) >= 0.5:
            documents += [Document(f"{wanted}{end}", each) for end, each in zip("ab", texts, strict=True)]
            wanted += 1
    search.index(documents)
    answers = search.similar_many([f"{number}a" for number in range(wanted)], overlap=0.5, probability=0.8)
    found = [{hit.id for hit in getattr(each, "hits", ())} for each in answers]
    share = sum(f"{number}b" in its for number, its in enumerate(found)) / wanted

    assert wanted > 100
    assert 0.72 <= share


@pytest.mark.parametrize("sketch", SKETCHES, ids=named)
def test_duplicates_are_found_by_numbered_places(sketch: Sketch) -> None:
    """As with the default sketch; short ones too, by fingerprints alone too, and new ones are rejected."""
    search = SimilaritySearch(open_store(":memory:", Settings(minhash=sketch)))
    search.index([*drafts(), Document("short", "three words here"), Document("copy", "Three words, here!")])

    for verify in (True, False):
        found = search.duplicates(overlap=0.5, verify=verify)
        groups = {each.kept.id.removesuffix("-later"): len(each.duplicates) for each in found.groups()}
        assert {"doc0": 1, "doc1": 1, "doc2": 1, "doc3": 1, "short": 1, "copy": 1}.items() >= groups.items()
        assert 5 == found.duplicate_count
    report = search.index([Document("again", next(drafts()).text + " more")], reject_duplicates=0.8)
    assert ["again"] == [each.path for each in report.skipped]


def test_stores_refuse_other_sketches(tmp_path: object) -> None:
    """Another size is another sketch; so is another seed."""
    folder = f"{tmp_path}/store"
    open_store(folder, Settings(minhash=Xor()), create=True).close()

    assert Xor() == open_store(folder).settings.minhash
    for other in (Xor(100), Xor(seed=2), Settings().minhash):
        with pytest.raises(FormatMismatchError):
            open_store(folder, Settings(minhash=other))


@pytest.mark.parametrize("sketch", SKETCHES, ids=named)
def test_an_engine_finds_the_duplicates_that_are_found_in_memory(
    new_opensearch_store: NewStore, sketch: Sketch
) -> None:
    """Of texts of any length, though a short one fills all places too."""
    with new_opensearch_store(Settings(minhash=sketch)) as store:
        search = SimilaritySearch(store)
        search.index([*drafts(), Document("short", "three words here"), Document("copy", "Three words, here!")])
        found = [search.duplicates(overlap=0.5, via=via) for via in ("memory", "engine")]

        assert [5, 5] == [each.duplicate_count for each in found]
