"""What a query finds: against all records, text against id, bands against all, and what is refused."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from contextlib import closing
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import Analysis, Document, MinHash, SimilaritySearch, open_store
from simdoc_search.errors import FormatMismatchError, NoFingerprintError, UnknownDocumentError
from simdoc_search.query.planner import Planner
from simdoc_search.query.plans import Bands, Threshold
from simdoc_search.search import SearchResult
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.local import candidates
from simdoc_search.stores.record import Record
from tests.support.often import examples
from tests.support.texts import overlapping

SMALL = Settings(Analysis(shingle_size=2), MinHash(bucket_count=16))  # few words and buckets: overlaps of all sizes
HASH_BITS = 20  # of a code of these settings
OVERLAPS = ("0", "0.05", "0.2", "1/3", "0.5", "0.8", "1")
EVERYTHING = 10_000


@pytest.fixture(params=["memory", "folder"])
def search(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SimilaritySearch]:
    """A search over an empty store."""
    store = open_store(":memory:" if request.param == "memory" else tmp_path / "store", create=True)
    yield SimilaritySearch(store)
    store.close()


def words(first: int, last: int) -> str:
    return " ".join(f"w{number}" for number in range(first, last + 1))


def put(search: SimilaritySearch, codes: dict[str, Iterable[int]]) -> None:
    """Store records with these tokens, without texts."""
    with search.store.writer() as writer:
        writer.put(Record(id, np.array(sorted(each), np.uint32), 1, "") for id, each in codes.items())


def listed(result: SearchResult) -> list[tuple[str, float, int]]:
    return [(hit.id, hit.overlap, hit.matched) for hit in result.hits]


def expected(search: SimilaritySearch, id: str, overlap: str) -> list[tuple[str, float, int]]:
    """What a query must find, from the plain sets of all records: whose estimate reaches the overlap, in order."""
    codes = {record.id: set(record.codes.tolist()) for record in search.store.scan()}
    source, found = codes.pop(id), []
    for other, theirs in codes.items():
        shared = len(source & theirs)
        union = len({code >> HASH_BITS for code in source | theirs})
        if shared >= 1 if overlap == "0" else shared >= Fraction(overlap) * union:
            found.append((-Fraction(shared, union), -shared, other))
    return [(other, float(-share), -matched) for share, matched, other in sorted(found)]


# --- against all records ---

few_words = st.lists(st.sampled_from("abcd"), min_size=1, max_size=24).map(" ".join)


@examples(0.4)
@given(st.lists(few_words, min_size=1, max_size=12), st.sampled_from(OVERLAPS))
def test_a_query_finds_all_whose_estimate_reaches_the_overlap(texts: list[str], overlap: str) -> None:
    """Hits are exactly the documents with an estimate of at least the overlap, by overlap, equal tokens, then id."""
    with closing(open_store(":memory:", SMALL)) as store:
        search = SimilaritySearch(store)
        search.index(Document(f"doc{number}", text) for number, text in enumerate(texts))

        assert expected(search, "doc0", overlap) == listed(
            search.similar("doc0", overlap=Fraction(overlap), size=99, verify=False)
        )


@examples(0.2)
@given(st.integers(0, 10**9))
@pytest.mark.slow
def test_the_best_hits_are_the_first_of_all(seed: int) -> None:
    """Of any size, no other hits are better, and those of a smaller size are among them; of ties the store chooses."""
    rng = random.Random(seed)
    tokens = [[bucket << HASH_BITS | value for value in range(rng.choice([1, 2, 5]))] for bucket in range(16)]
    with pytest.MonkeyPatch.context() as patch, closing(open_store(":memory:", SMALL)) as store:
        patch.setattr(candidates, "FIRST_PAGE", 20)
        search = SimilaritySearch(store)
        number = rng.choice([5, 40, 150])  # fewer and more than a store reads at once
        ids = [f"{n:03}" for n in rng.sample(range(number), number)]
        put(search, {id: map(rng.choice, rng.sample(tokens, rng.randint(1, 16))) for id in ids})
        for overlap in OVERLAPS:
            everything = expected(search, "000", overlap)
            fewer: set[tuple[str, float, int]] = set()
            for size in (1, 2, 3, 10, 33, number):
                found = listed(search.similar("000", overlap=Fraction(overlap), size=size))

                assert [each[1:] for each in everything[:size]] == [each[1:] for each in found]
                assert fewer <= set(found) <= set(everything)
                assert sorted(found, key=lambda hit: (-hit[1], -hit[2], hit[0])) == found
                fewer = set(found)


@examples(0.2)
@given(st.integers(0, 10**9), st.sampled_from(["enough", "all"]), st.sampled_from(["0.3", "0.8", "0.95", "1"]))
def test_banded_hits_are_some_of_all(seed: int, planner: Planner, probability: str) -> None:
    """Bands find some of the documents that share a token, none that the estimate rules out, ranked like any hits."""
    rng = random.Random(seed)
    tokens = [[bucket << HASH_BITS | value for value in range(3)] for bucket in range(16)]
    with closing(open_store(":memory:", SMALL)) as store:
        search = SimilaritySearch(store)
        put(search, {f"{n:02}": map(rng.choice, rng.sample(tokens, rng.randint(4, 16))) for n in range(60)})
        filled = {record.id: {code >> HASH_BITS for code in record.codes.tolist()} for record in search.store.scan()}
        for overlap in ("0.2", "0.5", "0.8"):
            share = float(Fraction(overlap))
            possible = {
                each
                for each in expected(search, "00", "0.0001")
                if each[1] >= share - 2.33 * (share * (1 - share) / len(filled["00"] | filled[each[0]])) ** 0.5
            }
            options = {"overlap": Fraction(overlap), "probability": Fraction(probability), "planner": planner}
            found = listed(search.similar("00", size=EVERYTHING, **options))  # type: ignore[arg-type]

            assert set() == set(found) - possible
            assert sorted(found, key=lambda hit: (-hit[1], -hit[2], hit[0])) == found
            assert {*found} >= {*listed(search.similar("00", size=2, **options))}  # type: ignore[arg-type]


# --- candidates and bands ---


def test_candidates_are_counted_before_they_are_refined(search: SimilaritySearch) -> None:
    """A document with enough equal tokens, but too many others, is a candidate and no hit."""
    source = [bucket << 15 for bucket in range(10)]
    others = [bucket << 15 for bucket in range(10, 20)]
    put(search, {"source": source, "same": source, "more": source[:5] + others[:5], "few": source[:4] + others})
    result = search.similar("source_50", verify=False)

    assert Threshold(result.plan.tokens, 5, (5, 20)) == result.plan
    assert 2 == result.candidates
    assert [("same", 1.0, 10)] == listed(result)


@pytest.mark.parametrize(
    ("count", "query", "bands", "rows"),
    [(5, "source_50_40", 3, 2), (101, "source_20_80", 51, 2), (512, "source_80_90", 43, 12)],
)
def test_planner_all_wraps_the_last_band_around(
    count: int, query: str, bands: int, rows: int, search: SimilaritySearch
) -> None:
    """A document that has the last tokens and, to fill the last band, the first ones is found by that band alone.

    It has many others too, but of each other band one is missing.
    """
    source = [bucket << 15 | 1 for bucket in range(count)]
    start = (bands - 1) * rows
    last = source[start:] + source[: start + rows - count]
    many = {*source} - {*source[start + rows - count :: rows]} | {*last}
    put(search, {"source": source, "planted": sorted(many), "not all of it": sorted(many - {last[0]})})
    put(search, {"other": [code + 1 for code in source], "few": last[: rows * (count > 5)]})
    result = search.similar(query, planner="all")

    assert isinstance(result.plan, Bands)
    assert (bands, rows, rows) == (len(result.plan.bands), result.plan.rows, len(result.plan.bands[-1]))
    assert 1 == result.candidates


def test_a_document_found_by_the_wrapped_band_is_a_hit(search: SimilaritySearch) -> None:
    """What only the wrapped band finds is listed where its estimate does not rule it out, and else not."""
    source = [bucket << 15 for bucket in range(5)]
    put(search, {"source": source, "planted": [source[0], source[4]], "split": source[1:3]})
    many = [6 << 15 | 1, *(bucket << 15 for bucket in range(7, 500))]
    put(search, {"planted in much": [source[0], source[4], *many]})
    result = search.similar("source_50_40", planner="all")

    assert [("planted", 0.4, 2)] == listed(result)
    assert 2 == result.candidates


@pytest.mark.parametrize("planner", ["enough", "all"])
def test_a_copy_is_found_by_every_query(planner: Planner, search: SimilaritySearch) -> None:
    """An exact copy is found whatever overlap and probability are asked for."""
    text, near = overlapping(random.Random(5), 900, 0.9)
    search.index([Document("source", text), Document("copy", text.upper()), Document("near", near)])
    for overlap in (1, 20, 50, 80, 99, 100):
        for probability in (1, 50, 80, 99, 100):
            hits = search.similar(f"source_{overlap}_{probability}", planner=planner).hits

            assert ("copy", 1.0) == (hits[0].id, hits[0].overlap)


# --- texts ---


@pytest.mark.parametrize("planner", ["enough", "all"])
@pytest.mark.parametrize(("overlap", "probability"), [(None, None), (0.2, None), (0.2, 0.8), (0.8, 0.95), (1, 1)])
def test_a_text_finds_what_its_document_finds(
    overlap: float | None, probability: float | None, planner: Planner, search: SimilaritySearch
) -> None:
    """Asked with a text, a store answers as for a stored document of that text, that document included."""
    pairs = [overlapping(random.Random(seed), 120, 0.2 + seed / 20) for seed in range(14)]
    texts = [pairs[9][0], *(text for pair in pairs for text in pair)]
    search.index(Document(f"doc{number}", text) for number, text in enumerate(texts))
    options = {"overlap": overlap, "probability": probability, "planner": planner}
    by_id = search.similar("doc0", include_self=True, **options)  # type: ignore[arg-type]
    by_text = search.similar_to_text(texts[0], **options)  # type: ignore[arg-type]

    assert ("", by_id.query.overlap) == (by_text.query.id, by_text.query.overlap)
    assert (by_id.plan, by_id.candidates, by_id.hits) == (by_text.plan, by_text.candidates, by_text.hits)
    assert {"doc0", "doc19"} <= {hit.id for hit in by_text.hits}


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_short_texts_find_their_copies(count: int, search: SimilaritySearch) -> None:
    """A text of 1 to 4 words is one shingle: copies of it are found, and nothing else."""
    search.index(Document(str(number), words(1, number)) for number in range(1, 8))

    for options in ({}, {"overlap": 1}, {"overlap": 0.2, "probability": 0.8}):
        assert [(str(count), 1.0, 1)] == listed(search.similar_to_text(words(1, count), **options))
    assert [] == listed(search.similar(str(count)))


@pytest.mark.parametrize("text", ["", " \n ", "... --- !"])
def test_a_text_without_words_is_refused(text: str, search: SimilaritySearch) -> None:
    """A text without words has nothing to compare, and neither has a stored document without tokens."""
    put(search, {"empty": [], "full": [1]})
    with pytest.raises(NoFingerprintError, match="the text has no words"):
        search.similar_to_text(text)
    with pytest.raises(NoFingerprintError, match="'empty' has no fingerprint"):
        search.similar("empty_20_80")


# --- deleting, and other settings ---


def test_deleted_documents_are_found_no_more(search: SimilaritySearch) -> None:
    """delete removes the documents with these ids, says how many there were, and leaves the others."""
    search.index(Document(id, words(1, 9)) for id in ("a", "b_10", 'c "é" 漢', "d"))

    assert 2 == search.delete(["b_10", 'c "é" 漢', "b_10"])
    assert ["d"] == [hit.id for hit in search.similar("a").hits]
    assert 2 == search.info().documents
    assert 0 == search.delete([])


def test_an_unknown_id_deletes_none(search: SimilaritySearch) -> None:
    """If one of the ids is not stored all documents stay, and ids that look like it are named."""
    search.index(Document(id, words(1, 9)) for id in ("letter1", "other"))
    with pytest.raises(UnknownDocumentError) as caught:
        search.delete(["other", "letter2"])

    assert ("letter2", ("letter1",)) == (caught.value.id, caught.value.suggestions)
    assert 2 == search.info().documents


@pytest.mark.parametrize("other", [Settings(Analysis(shingle_size=3)), Settings(token_length=5), SMALL])
def test_other_settings_are_refused(other: Settings, tmp_path: Path) -> None:
    """A store answers with the settings it was made with; asked for others, it shows both, either way round."""
    for made, asked in ((Settings(), other), (other, Settings())):
        place = tmp_path / f"made with {made.token_length} {made.analysis.shingle_size} {made.minhash.places}"
        with closing(open_store(place, made, create=True)) as store:
            SimilaritySearch(store).index([Document("a", words(1, 9)), Document("b", words(1, 8))])
        with pytest.raises(FormatMismatchError, match="was made with") as caught:
            open_store(place, asked, create=True)
        with closing(open_store(place)) as again:
            hits = SimilaritySearch(again).similar_to_text(words(1, 9)).hits
            assert [("a", 1.0), "b"] == [(hits[0].id, hits[0].overlap), hits[1].id]

        assert (made.to_dict(), asked.to_dict()) == (caught.value.found, caught.value.expected)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    """A store that a newer version made is not read with the wrong tokens."""
    open_store(tmp_path / "store", create=True).close()
    written = tmp_path / "store" / "simdoc.json"
    written.write_text(json.dumps({**json.loads(written.read_text()), "version": 99}))
    with pytest.raises(FormatMismatchError, match="version 99"):
        open_store(tmp_path / "store")


@pytest.mark.parametrize("count", [5, 6, 7, 8, 9, 12])
def test_asking_for_any_overlap_finds_what_a_higher_one_does(count: int, search: SimilaritySearch) -> None:
    """A text of 7 words has 3 shingles: one that shares a single shingle with it overlaps it by 20 %."""
    search.index(Document(f"{shift}", words(shift, shift + count - 1)) for shift in range(count))
    found = [
        {hit.id for hit in search.similar(f"0{asked}", size=EVERYTHING).hits}
        for asked in ("", "_1", "_20", "_50", "_100")
    ]

    assert {str(shift) for shift in range(1, max(1, count - 4))} == found[0]
    assert all(fewer <= more for more, fewer in pairwise(found))
