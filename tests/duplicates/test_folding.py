"""Near-duplicates in a page of hits are folded."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import MinHash, Settings, ShownVersion, fold_near_duplicates, fold_older_versions
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.passages.exact_overlap import jaccard, shingle_set
from simdoc_search.sketch import overlap_of_tokens
from simdoc_search.versions import DateSources

WORDS = [f"word{number}" for number in range(400)]


def text(start: int, words: int = 100) -> str:
    """Return consecutive words. Two texts that begin d words apart share 96 - d of 96 + d shingles."""
    return " ".join(WORDS[start : start + words])


def field(of: str, settings: Settings | None = None) -> dict[str, Any]:
    """Return the fingerprint field of a document."""
    made = fingerprint_field(of, settings)
    assert made
    return made


def hit(id: str, of: str | None) -> dict[str, Any]:
    """Return a hit as an engine does. Without a text, the hit has no fingerprint."""
    source = {"title": id, **({"simdoc": field(of)} if of else {})}
    return {"_index": "articles", "_id": id, "_score": 1.0, "_source": source}


def ids(hits: Sequence[Any], **options: Any) -> list[tuple[str, list[str]]]:
    """Fold hits. Returns the ids of the hits to show, each with the ids of the hits folded under it."""
    folded = fold_near_duplicates(hits, **options)
    return [(each.hit["_id"], [near.hit["_id"] for near in each.folded]) for each in folded]


def test_a_near_duplicate_is_folded_under_the_first_hit_that_it_overlaps() -> None:
    page = [hit("a", text(0)), hit("b", text(200)), hit("c", text(5)), hit("d", text(205)), hit("e", text(0))]
    before = copy.deepcopy(page)
    folded = fold_near_duplicates(page)
    tokens = [each["_source"]["simdoc"]["tokens"] for each in page]

    assert [("a", ["c", "e"]), ("b", ["d"])] == ids(page)
    assert page[0] is folded[0].hit
    assert page[2] is folded[0].folded[0].hit
    assert [overlap_of_tokens(tokens[0], tokens[2]), 1.0] == [near.overlap for near in folded[0].folded]
    assert before == page


def test_hits_without_a_readable_fingerprint_are_not_folded() -> None:
    broken, odd = hit("broken", text(0)), hit("odd", text(0))
    broken["_source"]["simdoc"]["tokens"] = "ABCDE EFG  HIJ"
    odd["_source"]["simdoc"] = "something of the application's"
    page = [hit("a", text(0)), hit("none", None), broken, {"_id": "no source"}, odd, hit("e", text(0))]

    assert [("a", ["e"]), ("none", []), ("broken", []), ("no source", []), ("odd", [])] == ids(page)
    assert [("none", [])] == ids([hit("none", None)])
    assert [] == ids([])


def test_tokens_are_read_in_all_forms_that_engines_take() -> None:
    """The forms are a key with a dot, a list with one string, and several spaces between tokens."""
    tokens = field(text(0))["tokens"]
    forms = [
        {"simdoc": {"tokens": tokens}},
        {"simdoc.tokens": tokens},
        {"simdoc": {"tokens": [tokens]}},
        {"simdoc": {"tokens": tokens.replace(" ", "  ")}},
    ]

    assert [("0", ["1", "2", "3"])] == ids([{"_id": str(n), "_source": source} for n, source in enumerate(forms)])


def test_the_overlap_decides_exactly() -> None:
    page = [hit("a", text(0)), hit("b", text(8))]
    ((_, ((_, overlap),)),) = fold_near_duplicates(page, 0.5)

    assert [("a", ["b"])] == ids(page, overlap=overlap)
    assert [("a", []), ("b", [])] == ids(page, overlap=overlap + 0.001)


@pytest.mark.parametrize("overlap", [0, -0.1, 1.1, 80, "many", float("nan")])
def test_a_wrong_overlap_is_refused(overlap: Any) -> None:
    with pytest.raises(QuerySyntaxError, match="overlap"):
        fold_near_duplicates([], overlap)


def test_tokens_are_read_with_the_given_settings_and_field() -> None:
    settings = Settings(sketch=MinHash(bucket_count=1024))
    page = [{"_id": str(start), "_source": {"prints": field(text(start), settings)}} for start in (0, 3, 200)]

    assert [("0", ["3"]), ("200", [])] == ids(page, settings=settings, field="prints")
    assert [("0", []), ("3", []), ("200", [])] == ids(page)


@given(st.lists(st.integers(0, 30), max_size=12))
def test_folding_agrees_with_comparing_each_hit_to_all_shown_hits(starts: list[int]) -> None:
    page = [hit(str(number), text(start)) for number, start in enumerate(starts)]
    tokens = [each["_source"]["simdoc"]["tokens"] for each in page]
    expected: dict[int, list[str]] = {}
    for number in range(len(page)):
        overlapping = (shown for shown in expected if overlap_of_tokens(tokens[shown], tokens[number]) >= 0.8)
        if (first := next(overlapping, None)) is None:
            expected[number] = []
        else:
            expected[first].append(str(number))

    assert [(str(number), near) for number, near in expected.items()] == ids(page)


# --- texts and objects ---


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 60)), max_size=12), st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_texts_are_folded_by_their_exact_overlaps(spans: list[tuple[int, int]], overlap: float) -> None:
    texts = [text(start, words) for start, words in spans]
    sets = [shingle_set(of) for of in texts]
    expected: dict[int, list[tuple[str, float]]] = {}
    for number, shingles in enumerate(sets):
        overlaps = {shown: jaccard(sets[shown], shingles) for shown in expected}
        if (first := next((shown for shown, share in overlaps.items() if share >= overlap), None)) is None:
            expected[number] = []
        else:
            expected[first].append((texts[number], overlaps[first]))
    folded = fold_near_duplicates(texts, overlap)

    assert [(texts[number], near) for number, near in expected.items()] == [(hit, [*near]) for hit, near in folded]


def test_objects_are_folded_by_the_text_that_key_returns() -> None:
    chunks = [{"page_content": text(start)} for start in (0, 200, 3)]
    folded = fold_near_duplicates(chunks, key=lambda chunk: chunk["page_content"])

    assert [chunks[0], chunks[1]] == [shown.hit for shown in folded]
    assert chunks[2] is folded[0].folded[0].hit


@pytest.mark.parametrize("items", [[object()], [("a", "b")], ["a text", 7]])
def test_items_that_are_neither_texts_nor_hits_need_a_key(items: list[Any]) -> None:
    with pytest.raises(QuerySyntaxError, match="pass 'key'"):
        fold_near_duplicates(items)


# --- versions ---


class Chunk(NamedTuple):
    """A chunk of a document."""

    name: str
    text: str
    metadata: Mapping[str, Any] = MappingProxyType({})


def fold_versions(*chunks: Chunk) -> list[ShownVersion]:
    """Fold older versions by the names and metadata of the documents."""
    return fold_older_versions(
        chunks, lambda chunk: DateSources(chunk.name, chunk.metadata), key=lambda chunk: chunk.text
    )


def fold_chunks(*chunks: Chunk) -> list[tuple[str, list[str], str]]:
    """Fold older versions. Returns the documents of the chunks to show, those folded under them, and the status."""
    folded = fold_versions(*chunks)
    assert len(chunks) == sum(1 + len(shown.folded) for shown in folded)
    assert all(bool(shown.reason) == (shown.status != "only") for shown in folded)
    return [(shown.hit.name, [near.hit.name for near in shown.folded], shown.status) for shown in folded]


def test_the_newest_version_is_shown_and_the_older_ones_are_folded() -> None:
    folded = fold_chunks(
        Chunk("lease_2019.txt", text(0)),
        Chunk("other.txt", text(200)),
        Chunk("lease_2024.txt", text(3)),
        Chunk("lease_2024.txt", text(1)),
        Chunk("lease_2021.txt", text(2)),
    )

    assert [
        ("other.txt", [], "only"),
        ("lease_2024.txt", ["lease_2019.txt", "lease_2024.txt", "lease_2021.txt"], "newest"),
    ] == folded


def test_overlaps_are_those_with_the_shown_version() -> None:
    old, new = Chunk("a_2019", text(0)), Chunk("a_2024", text(3))
    ((_, ((hit, overlap),), _, reason),) = fold_versions(old, new)

    assert old is hit
    assert jaccard(shingle_set(old.text), shingle_set(new.text)) == overlap
    assert reason.startswith("a_2024 is the newest, by the dates in the names")


def test_all_versions_are_shown_if_the_evidence_conflicts_or_is_missing() -> None:
    conflict = [
        Chunk("lease_v1", text(0), {"modified": "2024-05-01"}),
        Chunk("lease_v2", text(1), {"modified": "2020-05-01"}),
        Chunk("lease_v2", text(2), {"modified": "2020-05-01"}),
    ]
    reasons = {shown.reason for shown in fold_versions(*conflict)}

    assert [("lease_v1", [], "undecided"), ("lease_v2", ["lease_v2"], "undecided")] == fold_chunks(*conflict)
    assert [True] == ["the evidence conflicts" in reason and "1 May 2024" in reason for reason in reasons]
    assert [("a", [], "undecided"), ("b", [], "undecided")] == fold_chunks(Chunk("a", text(0)), Chunk("b", text(1)))


def test_an_unordered_version_is_shown_beside_the_newest_of_the_others() -> None:
    chunks = Chunk("lease_2019", text(0)), Chunk("lease_2024", text(1)), Chunk("lease", text(2))

    assert [("lease_2024", ["lease_2019"], "undecided"), ("lease", [], "undecided")] == fold_chunks(*chunks)
    assert {
        "lease_2024 is the newest of the ordered documents, by the dates in the names. lease could not be ordered and "
        "may be newer"
    } == {shown.reason for shown in fold_versions(*chunks)}
