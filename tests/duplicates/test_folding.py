"""A page of hits folded: each near-duplicate under the first hit that is shown and that it resembles."""

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
    """Some words in a row: two that begin d apart share 96 - d shingles of 96 + d."""
    return " ".join(WORDS[start : start + words])


def hit(id: str, of: str | None, **others: Any) -> dict[str, Any]:
    """As an engine gives it; None: a document without a fingerprint."""
    source = {"title": id, **others}
    return {"_index": "articles", "_id": id, "_score": 1.0, "_source": source | ({"simdoc": field(of)} if of else {})}


def field(of: str, settings: Settings | None = None) -> dict[str, Any]:
    """What a document has at our field."""
    made = fingerprint_field(of, settings)
    assert made
    return made


def ids(hits: Sequence[Any], **options: Any) -> list[tuple[str, list[str]]]:
    """The ids that are shown, each with those under it."""
    folded = fold_near_duplicates(hits, **options)
    return [(each.hit["_id"], [near.hit["_id"] for near in each.near]) for each in folded]


def test_a_near_duplicate_goes_under_the_first_that_it_resembles() -> None:
    """In order, with the hits themselves and the overlap that their tokens estimate."""
    page = [hit("a", text(0)), hit("b", text(200)), hit("c", text(5)), hit("d", text(205)), hit("e", text(0))]
    before = copy.deepcopy(page)
    folded = fold_near_duplicates(page)

    assert [("a", ["c", "e"]), ("b", ["d"])] == ids(page)
    assert page[0] is folded[0].hit
    assert page[2] is folded[0].near[0].hit
    tokens = [each["_source"]["simdoc"]["tokens"] for each in page]
    assert overlap_of_tokens(tokens[0], tokens[2]) == folded[0].near[0].overlap
    assert 1.0 == folded[0].near[1].overlap
    assert before == page


def test_there_are_no_chains() -> None:
    """B is like A, and C like B but not like A: C stays, as B is not shown."""
    page = [hit("a", text(0)), hit("b", text(8)), hit("c", text(16))]

    assert [("b", ["c"])] == ids(page[1:])
    assert [("a", ["b"]), ("c", [])] == ids(page)


def test_hits_without_a_readable_fingerprint_stay() -> None:
    """None, without `_source`, malformed, of a text without words; the others are folded all the same."""
    broken = hit("broken", text(0))
    broken["_source"]["simdoc"]["tokens"] = "ABCD EFG  HIJK"
    odd = hit("odd", text(0))
    odd["_source"]["simdoc"] = "something of the application's"
    page = [hit("a", text(0)), hit("none", None), broken, {"_id": "no source"}, odd, hit("e", text(0))]

    assert [("a", ["e"]), ("none", []), ("broken", []), ("no source", []), ("odd", [])] == ids(page)
    assert [("none", [])] == ids([hit("none", None)])
    assert [] == ids([])


def test_tokens_are_read_as_an_engine_takes_them() -> None:
    """Keys with dots, a list of one text, uncommon spaces: the same document."""
    tokens = field(text(0))["tokens"]
    shapes = [
        {"simdoc": {"tokens": tokens}},
        {"simdoc.tokens": tokens},
        {"simdoc": {"tokens": [tokens]}},
        {"simdoc": {"tokens": tokens.replace(" ", "  ")}},
        {"simdoc": {"tokens": tokens.replace(" ", 6 * " ", 1)}},
    ]
    page = [{"_id": str(number), "_source": each} for number, each in enumerate(shapes)]

    assert [("0", ["1", "2", "3", "4"])] == ids(page)


def test_the_overlap_decides_exactly() -> None:
    """What the tokens share by just that much is folded; a greater overlap leaves it."""
    page = [hit("a", text(0)), hit("b", text(8))]
    ((_, ((_, overlap),)),) = fold_near_duplicates(page, 0.5)

    assert [("a", ["b"])] == ids(page, overlap=overlap)
    assert [("a", []), ("b", [])] == ids(page, overlap=overlap + 0.001)


@pytest.mark.parametrize("overlap", [0, -0.1, 1.1, 80, "many", float("nan")])
def test_a_wrong_overlap_is_refused(overlap: Any) -> None:
    """Percents too: one clear sentence."""
    with pytest.raises(QuerySyntaxError, match="overlap"):
        fold_near_duplicates([], overlap)


def test_other_settings_and_another_field() -> None:
    """As the mapping has them."""
    settings = Settings(minhash=MinHash(bucket_count=1024), token_length=5)
    page = [{"_id": str(each), "_source": {"prints": field(text(each), settings)}} for each in (0, 3, 200)]

    assert [("0", ["3"]), ("200", [])] == ids(page, settings=settings, field="prints")
    assert [("0", []), ("3", []), ("200", [])] == ids(page)


@given(st.lists(st.integers(0, 30), max_size=12))
def test_nothing_is_lost_and_all_is_as_one_by_one(starts: list[int]) -> None:
    """Like the plain way: each hit under the first one shown whose estimate reaches the overlap."""
    page = [hit(str(number), text(start)) for number, start in enumerate(starts)]
    tokens = [each["_source"]["simdoc"]["tokens"] for each in page]
    expected: dict[int, list[str]] = {}
    for number in range(len(page)):
        shown = (each for each in expected if overlap_of_tokens(tokens[each], tokens[number]) >= 0.8)
        if (first := next(shown, None)) is None:
            expected[number] = []
        else:
            expected[first].append(str(number))

    assert [(str(number), near) for number, near in expected.items()] == ids(page)
