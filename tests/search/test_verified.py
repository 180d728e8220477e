"""Overlaps that are computed from the texts: exact in every store, and whatever the measure."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from simdoc_search import Document, SimilaritySearch
from simdoc_search.duplicates.measures import MEASURES, MeasureName
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.passages import containment, jaccard, shingle_set
from simdoc_search.stores.record import Record
from tests.support.stores import NewStore

SOURCES = ["family0/0", "family1/3", "family2/7"]


def prose(count: int, seed: int) -> list[str]:
    """Words of which few runs repeat."""
    return random.Random(seed).choices([f"w{number}" for number in range(2_000)], k=count)


def families() -> dict[str, str]:
    """Versions of three texts of 60, 400 and 900 words, of every overlap, and parts of them."""
    texts = {}
    for family, count in enumerate((60, 400, 900)):
        first, other = prose(count, family), prose(count, 10 + family)
        for version in range(12):
            kept = count - count * version // 12
            texts[f"family{family}/{version}"] = " ".join(first[:kept] + other[kept:])
        texts[f"family{family}/part"] = " ".join(first[: count // 3])
    return texts


TEXTS = families()


@pytest.fixture
def search(new_store: NewStore) -> Iterator[SimilaritySearch]:
    """A search over the families."""
    with new_store() as store:
        made = SimilaritySearch(store)
        made.index(Document(id, text) for id, text in TEXTS.items())
        yield made


def expected(source: str, measure: MeasureName, least: float) -> dict[str, float]:
    """What reaches a value, from the plain sets of shingles."""
    sets = {id: shingle_set(text) for id, text in TEXTS.items()}
    mine = sets.pop(source)
    how = {
        "jaccard": lambda theirs: jaccard(mine, theirs),
        "containment": lambda theirs: containment(mine, theirs),
        "contained": lambda theirs: containment(theirs, mine),
    }
    values: dict[str, float] = {id: how[measure](theirs) for id, theirs in sets.items()}
    return {id: value for id, value in values.items() if value >= least and value}


@pytest.mark.slow
def test_verified_hits_are_those_of_brute_force(search: SimilaritySearch) -> None:
    """By each measure, above any overlap: none is missed, none is too many, and every value is the exact one."""
    for source in SOURCES:
        for least in (0.2, 0.5, 0.8):
            for measure in MEASURES:
                result = search.similar(source, overlap=least, measure=measure, size=100)

                assert expected(source, measure, least) == {hit.id: hit.overlap for hit in result.hits}
                assert {"exact"} >= {hit.kind for hit in result.hits}
                assert sorted((hit.overlap for hit in result.hits), reverse=True) == [h.overlap for h in result.hits]
                assert measure == result.measure


def test_verified_bands_are_exact_and_miss_what_bands_miss(search: SimilaritySearch) -> None:
    """A hit that does not reach the overlap is none; one that no band has is not found."""
    for source in SOURCES:
        reached = expected(source, "jaccard", 0.5)
        hits = search.similar(f"{source}_50_80", size=100).hits

        assert {hit.id: hit.overlap for hit in hits}.items() <= reached.items()
        assert len(hits) >= len(reached) - 2


def test_a_hit_has_all_measures(search: SimilaritySearch) -> None:
    """Both directions, whichever was asked for; an estimate has none."""
    hit = search.similar("family1/0", measure="contained", size=1, overlap=1).hits[0]

    assert hit.measures is not None
    assert ("family1/part", 1.0, 1.0) == (hit.id, hit.overlap, hit.measures.contained)
    assert 0.3 < hit.measures.jaccard < 0.34
    assert hit.measures.containment == hit.measures.jaccard
    assert {None} == {each.measures for each in search.similar("family1/0", verify=False).hits}


def test_a_short_text_in_a_long_one_is_found_by_containment(search: SimilaritySearch) -> None:
    """The overlap of whole documents is too small to be seen."""
    quote = " ".join(TEXTS["family2/0"].split()[100:136])

    assert [] == search.similar_to_text(quote, overlap=0.2).hits
    found = search.similar_to_text(quote, overlap=1, measure="containment", size=20).hits
    assert {f"family2/{version}" for version in range(12) if 900 - 75 * version >= 136} | {"family2/part"} == {
        hit.id for hit in found
    }


def test_how_many_were_compared_is_said(search: SimilaritySearch, monkeypatch: pytest.MonkeyPatch) -> None:
    """By another measure than the overlap those that share most: ten times as many as are wanted, or 2,000."""
    all_of_them = search.similar("family2/0", measure="contained", size=1)
    monkeypatch.setattr("simdoc_search.search.similar_containment.MAX_COMPARED", 3)
    some = search.similar("family2/0", measure="contained", size=1)

    assert 10 < some.candidates == all_of_them.candidates == all_of_them.compared
    assert 10 == some.compared
    compared = f"10 documents compared of {some.candidates} that have something in common with it"
    said = f"showing 1 of at least 10 hits, {compared}"
    assert str(some).split(": ")[1].startswith(said)


def test_without_texts_it_is_said(new_store: NewStore) -> None:
    """Hits are estimated, of a stored source too, and say so."""
    with new_store(store_texts=False) as store:
        search = SimilaritySearch(store)
        search.index(Document(id, text) for id, text in TEXTS.items())
        stored = search.similar("family1/0", overlap=0.5).hits
        hits = search.similar_to_text(TEXTS["family1/0"], overlap=0.5).hits
        parts = search.similar("family1/0", overlap=0.9, measure="contained").hits

    assert {"estimated"} == {hit.kind for hit in [*stored, *hits, *parts]}
    assert abs(hits[1].overlap - jaccard(*(shingle_set(TEXTS[f"family1/{n}"]) for n in (0, 1)))) < 0.1
    assert "family1/part" in {hit.id for hit in parts}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"measure": "overlap"}, "measure must be one of jaccard, containment, contained, not 'overlap'"),
        ({"measure": "contained", "overlap": 0.5, "probability": 0.8}, "contained takes no probability"),
        ({"measure": "containment", "fields": "year"}, "fields must be a list of names"),
    ],
)
def test_what_no_measure_takes_is_refused(search: SimilaritySearch, options: dict[str, object], said: str) -> None:
    """At the call, with what to do."""
    with pytest.raises(QuerySyntaxError, match=said):
        search.similar("family1/0", **options)  # type: ignore[arg-type]


def test_of_a_flood_a_page_of_texts_is_read(new_store: NewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten hits among 200 equal documents do not take 200 texts."""
    with new_store() as store:
        search = SimilaritySearch(store)
        search.index(Document(f"{number}", TEXTS["family0/0"]) for number in range(200))
        read: list[Record] = []
        records = store.records

        def spied(*args: object, **options: object) -> Iterator[Record]:
            found = list(records(*args, **options))  # type: ignore[arg-type]
            read.extend(each for each in found if each.text is not None)
            return iter(found)

        monkeypatch.setattr(store, "records", spied)
        result = search.similar("7", overlap=0.5)

    assert [1.0] * 10 == [hit.overlap for hit in result.hits]
    assert len(read) < 40
