"""Near-duplicates in a page of hits are folded."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import MinHash, Settings, fold_near_duplicates
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.sketch import overlap_of_tokens

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
    settings = Settings(minhash=MinHash(bucket_count=1024))
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
