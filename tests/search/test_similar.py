"""Tests of `similar`: the hits are those of a brute-force comparison of fingerprints."""

from __future__ import annotations

import logging
import math
import random
from collections.abc import Iterable
from contextlib import closing
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import Analysis, Document, MinHash, SimilaritySearch, open_store
from simdoc_search.errors import FormatMismatchError, NoFingerprintError
from simdoc_search.query.planner import Planner
from simdoc_search.query.plans import (
    MIN_OVERLAP_WITHOUT_CHANCE_FILTER,
    BandPlan,
    ThresholdPlan,
    min_matches_beyond_chance,
)
from simdoc_search.search.similar_result import SearchResult
from simdoc_search.sketch.estimate import compare_token_ids
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.sketches import XorSketch
from simdoc_search.sketch.tokens import HASH_BITS
from simdoc_search.stores.local import candidates
from simdoc_search.stores.record import Record
from tests.support.cli import words
from tests.support.slow_cases import examples
from tests.support.texts import overlapping

SMALL = Settings(Analysis(shingle_size=2), MinHash(bucket_count=16))
"""Settings with few buckets, so that overlaps of all sizes occur."""

OVERLAPS = ("0", "0.05", "0.2", "1/3", "0.5", "0.8", "1")

Values = tuple[str, float, int]
"""The id, the overlap and the number of matching tokens of a hit."""


def put(search: SimilaritySearch, token_ids: dict[str, Iterable[int]]) -> None:
    """Store records with these tokens and without texts."""
    with search.store.writer() as writer:
        writer.put(Record(id, np.array(sorted(values), np.uint32), 1, "") for id, values in token_ids.items())


def values_of(result: SearchResult) -> list[Values]:
    return [(hit.id, hit.overlap, hit.matched_token_count) for hit in result.hits]


def expected(
    search: SimilaritySearch, id: str, overlap: str, *, verify: bool = True, minimum: int | None = None
) -> list[Values]:
    """Compare a document with all records, and return those whose estimate reaches the overlap, in order."""
    token_ids = {record.id: record.token_ids for record in search.store.scan()}
    source, hits = token_ids.pop(id), []
    if minimum is None:
        minimum = (
            1
            if verify and Fraction(overlap) >= MIN_OVERLAP_WITHOUT_CHANCE_FILTER
            else min_matches_beyond_chance(len(source))
        )
    for other, other_token_ids in token_ids.items():
        found = compare_token_ids(source, other_token_ids)
        if found.matched_token_count >= minimum and found.shared_count >= float(Fraction(overlap)) * found.union_count:
            hits.append((-found.overlap, -found.matched_token_count, other))
    return [(other, -share, -matched) for share, matched, other in sorted(hits)]


few_words = st.lists(st.sampled_from("abcd"), min_size=1, max_size=24).map(" ".join)


@examples(0.4)
@given(st.lists(few_words, min_size=1, max_size=12), st.sampled_from(OVERLAPS))
def test_hits_are_all_documents_whose_estimate_reaches_the_overlap(texts: list[str], overlap: str) -> None:
    with closing(open_store(":memory:", SMALL)) as store:
        search = SimilaritySearch(store)
        search.index(Document(f"doc{number}", text) for number, text in enumerate(texts))

        assert expected(search, "doc0", overlap, verify=False) == values_of(
            search.similar("doc0", overlap=Fraction(overlap), size=99, verify=False)
        )


@examples(0.2)
@given(st.integers(0, 10**9))
@pytest.mark.slow
def test_the_first_page_has_the_best_hits(seed: int) -> None:
    """All hits of a page are on a larger page too. The store chooses among equal documents."""
    rng = random.Random(seed)
    tokens = [[bucket << HASH_BITS | value for value in range(rng.choice([1, 2, 5]))] for bucket in range(16)]
    with pytest.MonkeyPatch.context() as patch, closing(open_store(":memory:", SMALL)) as store:
        patch.setattr(candidates, "FIRST_PAGE_SIZE", 20)
        search = SimilaritySearch(store)
        count = rng.choice([5, 40, 150])  # fewer and more than a store reads at once
        ids = [f"{number:03}" for number in rng.sample(range(count), count)]
        put(search, {id: map(rng.choice, rng.sample(tokens, rng.randint(1, 16))) for id in ids})
        for overlap in OVERLAPS:
            everything = expected(search, "000", overlap)
            smaller_page: set[Values] = set()
            for size in (1, 2, 3, 10, 33, count):
                hits = values_of(search.similar("000", overlap=Fraction(overlap), size=size))

                assert [hit[1:] for hit in everything[:size]] == [hit[1:] for hit in hits]
                assert smaller_page <= set(hits) <= set(everything)
                assert sorted(hits, key=lambda hit: (-hit[1], -hit[2], hit[0])) == hits
                smaller_page = set(hits)


def lowest_estimate(share: float, filled: int, slots: int) -> float:
    """The lowest estimate of a hit with a probability.

    `filled` slots of `slots` are a sample, without replacement, of the expected number of shingles.
    """
    shingles = -slots * math.log1p(-filled / slots) if filled < slots else math.inf
    variance = share * (1 - share) * (1 / filled - 1 / shingles)
    union = filled * 511 / 512
    return share - 2.33 * math.sqrt(variance) - (1 - share) / union


@examples(0.2)
@given(st.integers(0, 10**9), st.sampled_from(["enough", "all"]), st.sampled_from(["0.3", "0.8", "0.95", "1"]))
def test_bands_find_a_part_of_all_hits(seed: int, planner: Planner, probability: str) -> None:
    rng = random.Random(seed)
    tokens = [[bucket << HASH_BITS | value for value in range(3)] for bucket in range(16)]
    with closing(open_store(":memory:", SMALL)) as store:
        search = SimilaritySearch(store)
        put(search, {f"{n:02}": map(rng.choice, rng.sample(tokens, rng.randint(4, 16))) for n in range(60)})
        buckets = {record.id: {code >> HASH_BITS for code in record.token_ids.tolist()} for record in store.scan()}
        for overlap in ("0.2", "0.5", "0.8"):
            share = float(Fraction(overlap))
            possible = {
                hit
                for hit in expected(search, "00", "0.0001", minimum=1)
                if hit[1] >= lowest_estimate(share, len(buckets["00"] | buckets[hit[0]]), 16)
            }
            options: dict[str, Any] = {"overlap": Fraction(overlap), "probability": Fraction(probability)}
            hits = values_of(search.similar("00", size=100, planner=planner, **options))

            assert set(hits) <= possible
            assert sorted(hits, key=lambda hit: (-hit[1], -hit[2], hit[0])) == hits
            assert {*hits} >= {*values_of(search.similar("00", size=2, planner=planner, **options))}


def test_candidates_are_counted_before_they_are_refined(search: SimilaritySearch) -> None:
    """A document with enough matching tokens, but too many others, is a candidate and not a hit."""
    source = [bucket << HASH_BITS for bucket in range(10)]
    others = [bucket << HASH_BITS for bucket in range(10, 20)]
    put(search, {"source": source, "same": source, "more": source[:5] + others[:5], "few": source[:4] + others})
    result = search.similar("source_50", verify=False)

    assert ThresholdPlan(result.plan.tokens, 5, (5, 20)) == result.plan
    assert 2 == result.candidate_count
    assert [("same", 1.0, 10)] == values_of(result)


@pytest.mark.parametrize(
    ("count", "query", "bands", "rows"),
    [(5, "source_50_40", 3, 2), (101, "source_20_80", 51, 2), (512, "source_80_90", 43, 12)],
)
def test_the_last_band_is_filled_with_the_first_tokens(
    count: int, query: str, bands: int, rows: int, search: SimilaritySearch
) -> None:
    """A document with all tokens of the last band, but not all of any other band, is a candidate."""
    source = [bucket << HASH_BITS | 1 for bucket in range(count)]
    start = (bands - 1) * rows
    last = source[start:] + source[: start + rows - count]
    many = {*source} - {*source[start + rows - count :: rows]} | {*last}
    put(search, {"source": source, "planted": sorted(many), "not all of it": sorted(many - {last[0]})})
    put(search, {"other": [code + 1 for code in source], "few": last[: rows * (count > 5)]})
    result = search.similar(query, planner="all")

    assert isinstance(result.plan, BandPlan)
    assert (bands, rows, rows) == (len(result.plan.bands), result.plan.tokens_per_band, len(result.plan.bands[-1]))
    assert 1 == result.candidate_count


@pytest.mark.parametrize("planner", ["enough", "all"])
def test_every_query_finds_a_copy(planner: Planner, search: SimilaritySearch) -> None:
    text, near = overlapping(random.Random(5), 900, 0.9)
    search.index([Document("source", text), Document("copy", text.upper()), Document("near", near)])
    for overlap in (1, 20, 80, 100):
        for probability in (1, 50, 99, 100):
            hit = search.similar(f"source_{overlap}_{probability}", planner=planner).hits[0]

            assert ("copy", 1.0) == (hit.id, hit.overlap)


def test_a_text_finds_what_its_document_finds(search: SimilaritySearch) -> None:
    pairs = [overlapping(random.Random(seed), 120, 0.2 + seed / 20) for seed in range(14)]
    texts = [pairs[9][0], *(text for pair in pairs for text in pair)]
    search.index(Document(f"doc{number}", text) for number, text in enumerate(texts))
    planners: list[Planner] = ["enough", "all"]
    for overlap, probability in ((None, None), (0.2, None), (0.2, 0.8), (0.8, 0.95), (1, 1)):
        for planner in planners:
            options: dict[str, Any] = {"overlap": overlap, "probability": probability, "planner": planner}
            by_id = search.similar("doc0", include_self=True, **options)
            by_text = search.similar(text=texts[0], **options)

            assert ("", by_id.query.overlap) == (by_text.query.id, by_text.query.overlap)
            assert (by_id.plan, by_id.candidate_count, by_id.hits) == (
                by_text.plan,
                by_text.candidate_count,
                by_text.hits,
            )
            assert {"doc0", "doc19"} <= {hit.id for hit in by_text.hits}


def test_a_text_of_up_to_four_words_finds_only_its_copies(search: SimilaritySearch) -> None:
    search.index(Document(str(count), words(0, count)) for count in range(1, 8))
    for count in range(1, 5):
        for options in ({}, {"overlap": 1}, {"overlap": 0.2, "probability": 0.8}):
            assert [(str(count), 1.0, 1)] == values_of(search.similar(text=words(0, count), **options))
        assert [] == search.similar(str(count)).hits


def test_a_text_without_words_is_refused(search: SimilaritySearch) -> None:
    put(search, {"empty": [], "full": [1]})
    for text in ("", " \n ", "... --- !"):
        with pytest.raises(NoFingerprintError, match="the text has no words"):
            search.similar(text=text)
    with pytest.raises(NoFingerprintError, match="'empty' has no fingerprint"):
        search.similar("empty_20_80")


@pytest.mark.parametrize("count", [5, 6, 7, 8, 9, 12])
def test_a_lower_overlap_finds_all_hits_of_a_higher_one(count: int, search: SimilaritySearch) -> None:
    search.index(Document(f"{shift}", words(shift, shift + count)) for shift in range(count))
    ids = [{hit.id for hit in search.similar(f"0{end}", size=100)} for end in ("", "_1", "_20", "_50", "_100")]

    assert {str(shift) for shift in range(1, max(1, count - 4))} == ids[0]
    assert all(fewer <= more for more, fewer in pairwise(ids))


OTHER_SETTINGS = [
    Settings(Analysis(shingle_size=3)),
    Settings(sketch=MinHash(bucket_count=256)),
    Settings(sketch=XorSketch()),
    SMALL,
]


@pytest.mark.parametrize("settings", OTHER_SETTINGS)
def test_a_store_keeps_its_settings_and_refuses_others(settings: Settings, tmp_path: Path) -> None:
    for number, (own, other) in enumerate([(Settings(), settings), (settings, Settings())]):
        folder = tmp_path / str(number)
        with closing(open_store(folder, own, create=True)) as store:
            SimilaritySearch(store).index([Document("a", words(1, 10)), Document("b", words(1, 9))])
        with pytest.raises(FormatMismatchError, match="was created with") as caught:
            open_store(folder, other, create=True)
        with closing(open_store(folder)) as store:
            assert ["a", "b"] == [hit.id for hit in SimilaritySearch(store).similar(text=words(1, 10))]

        assert (own.to_dict(), other.to_dict()) == (caught.value.found, caught.value.expected)


@pytest.mark.parametrize("verify", [True, False])
def test_a_result_states_how_many_candidates_were_compared(
    search: SimilaritySearch, caplog: pytest.LogCaptureFixture, *, verify: bool
) -> None:
    """A search stops comparing when the hits on the page are known."""
    search.index(Document(f"doc{number:02}", words(0, 200) + (" more" if number > 1 else "")) for number in range(100))
    with caplog.at_level(logging.INFO, "simdoc_search"):
        page = search.similar("doc00_50", size=1, verify=verify)
    everything = search.similar("doc00_50", size=100, verify=verify)

    assert ["doc01"] == [hit.id for hit in page]
    assert 99 == page.candidate_count == everything.candidate_count == everything.compared_count
    assert 1 <= page.compared_count < 99
    assert page.page_description.endswith(f" hits, {page.compared_count} of 99 candidates compared")
    assert everything.page_description == "99 hits, 99 documents compared"
    assert f'"doc00"_50: {page.page_description}' in caplog.messages
