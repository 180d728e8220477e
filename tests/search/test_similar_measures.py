"""Tests of exact overlaps and of the measures of `similar`, in every store."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator

import pytest

from simdoc_search import Document, SimilaritySearch
from simdoc_search.passages import containment, jaccard, shingle_set
from simdoc_search.passages.exact_overlap import MEASURES, MeasureName
from simdoc_search.stores.record import Record
from tests.support.stores import NewStore

SOURCES = ["family0/0", "family1/3", "family2/7"]
VALUES: dict[MeasureName, Callable[..., float]] = {
    "jaccard": jaccard,
    "containment": containment,
    "reverse_containment": lambda a, b: containment(b, a),
}


def prose(count: int, seed: int) -> list[str]:
    """Return words in which few runs repeat."""
    return random.Random(seed).choices([f"w{number}" for number in range(2_000)], k=count)


def families() -> dict[str, str]:
    """Return versions of three texts of 60, 400 and 900 words with overlaps of all sizes, and parts of the texts."""
    texts = {}
    for family, count in enumerate((60, 400, 900)):
        first, other = prose(count, family), prose(count, 10 + family)
        for version in range(12):
            kept = count - count * version // 12
            texts[f"family{family}/{version}"] = " ".join(first[:kept] + other[kept:])
        texts[f"family{family}/part"] = " ".join(first[: count // 3])
    return texts


TEXTS = families()


@pytest.fixture(scope="module")
def search(shared_store: NewStore) -> SimilaritySearch:
    """A search over the families."""
    search = SimilaritySearch(shared_store())
    search.index(Document(id, text) for id, text in TEXTS.items())
    return search


@functools.cache
def shingles_of(id: str) -> frozenset[str]:
    """Return the shingles of a text."""
    return shingle_set(TEXTS[id])


def expected(source: str, measure: MeasureName, least: float) -> dict[str, float]:
    """Return the values that reach `least`, from a comparison of all shingles."""
    shingles = {id: shingles_of(id) for id in TEXTS}
    own = shingles.pop(source)
    values = {id: VALUES[measure](own, other) for id, other in shingles.items()}
    return {id: value for id, value in values.items() if value >= least}


@pytest.mark.slow
def test_verified_hits_are_those_of_brute_force(search: SimilaritySearch) -> None:
    for source in SOURCES:
        for least in (0.2, 0.8):
            for measure in MEASURES:
                result = search.similar(source, overlap=least, measure=measure, size=100)
                overlaps = [hit.overlap for hit in result]

                assert expected(source, measure, least) == {hit.id: hit.overlap for hit in result}
                assert {"exact"} >= {hit.kind for hit in result}
                assert sorted(overlaps, reverse=True) == overlaps
                assert measure == result.measure


def test_overlaps_of_bands_are_exact(search: SimilaritySearch) -> None:
    for source in SOURCES:
        reached = expected(source, "jaccard", 0.5)
        hits = search.similar(f"{source}_50_80", size=100).hits

        assert {hit.id: hit.overlap for hit in hits}.items() <= reached.items()
        assert len(hits) >= len(reached) - 2


def test_an_exact_hit_has_all_measures(search: SimilaritySearch) -> None:
    (hit,) = search.similar("family1/0", measure="reverse_containment", size=1, overlap=1)

    assert hit.measures is not None
    assert ("family1/part", 1.0, 1.0) == (hit.id, hit.overlap, hit.measures.reverse_containment)
    assert 0.3 < hit.measures.jaccard < 0.34
    assert hit.measures.containment == hit.measures.jaccard
    assert {None} == {estimate.measures for estimate in search.similar("family1/0", verify=False)}


def test_containment_finds_a_short_text_in_long_ones(search: SimilaritySearch) -> None:
    quote = " ".join(TEXTS["family2/0"].split()[100:136])
    long_enough = {f"family2/{version}" for version in range(12) if 900 - 75 * version >= 136}

    assert [] == search.similar(text=quote, overlap=0.2).hits
    hits = search.similar(text=quote, overlap=1, measure="containment", size=20)
    assert long_enough | {"family2/part"} == {hit.id for hit in hits}


def test_containment_compares_the_best_candidates(search: SimilaritySearch, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = search.similar("family2/0", measure="reverse_containment", size=1)
    monkeypatch.setattr("simdoc_search.search.similar_ranking.DEFAULT_MAX_COMPARED_DOCUMENTS", 3)
    partial = search.similar("family2/0", measure="reverse_containment", size=1)

    assert 10 < partial.candidate_count == whole.candidate_count == whole.compared_count
    assert 10 == partial.compared_count
    compared = f"10 of {partial.candidate_count} candidates compared"
    assert f": showing 1 of at least 10 hits, {compared}" in str(partial)


def test_a_document_with_many_near_duplicates_is_compared_with_the_best_candidates(
    search: SimilaritySearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = search.similar("family2/0", overlap=0.3, size=20)
    monkeypatch.setattr("simdoc_search.search.similar_ranking.DEFAULT_MAX_COMPARED_DOCUMENTS", 3)
    monkeypatch.setattr("simdoc_search.search.similar_ranking._MAX_COMPARED_PER_HIT", 3)
    partial = search.similar("family2/0", overlap=0.3, size=1)

    assert 3 < whole.compared_count == whole.candidate_count
    assert whole.is_total_exact
    assert (3, False) == (partial.compared_count, partial.is_total_exact)
    assert whole.hits[:1] == partial.hits
    assert f"at least 3 hits, 3 of {whole.candidate_count} candidates compared" in str(partial)


def test_overlaps_are_estimated_without_texts(new_store: NewStore) -> None:
    with new_store(store_texts=False) as store:
        search = SimilaritySearch(store)
        search.index(Document(id, text) for id, text in TEXTS.items())
        stored = search.similar("family1/0", overlap=0.5).hits
        hits = search.similar(text=TEXTS["family1/0"], overlap=0.5).hits
        parts = search.similar("family1/0", overlap=0.9, measure="reverse_containment").hits

    assert {"estimated"} == {hit.kind for hit in [*stored, *hits, *parts]}
    assert hits[1].overlap == pytest.approx(expected("family1/0", "jaccard", 0)["family1/1"], abs=0.1)
    assert "family1/part" in {hit.id for hit in parts}


def test_few_texts_are_read_if_many_documents_are_equal(new_store: NewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    with new_store() as store:
        search = SimilaritySearch(store)
        search.index(Document(f"{number}", TEXTS["family0/0"]) for number in range(200))
        texts: list[str] = []
        records = store.records

        def counting_records(*args: object, **options: object) -> Iterator[Record]:
            for record in records(*args, **options):  # type: ignore[arg-type]
                texts.extend(() if record.text is None else (record.text,))
                yield record

        monkeypatch.setattr(store, "records", counting_records)
        result = search.similar("7", overlap=0.5)

    assert [1.0] * 10 == [hit.overlap for hit in result]
    assert len(texts) < 40
