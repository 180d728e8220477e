"""The words that differ between two texts."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.analysis.words import locate_words
from simdoc_search.passages.align import AlignmentSettings, align_words
from simdoc_search.passages.differences import find_differences
from simdoc_search.passages.passage import Difference, Span
from tests.support import strategies, texts

repetitive = st.lists(st.sampled_from(["a", "b", "c", "d.", "E!", "f,"]), max_size=40).map(" ".join)
FINE = AlignmentSettings(min_run=3, max_gap=3)
CONTRACT = (
    "The tenant may pay the rent on the first day of each month, and shall keep the rooms clean. "
    "The landlord repairs what is broken within three weeks after he was told so in writing."
)


def differences_of(a: str, b: str, preset: AlignmentSettings | None = None) -> list[Difference]:
    """The differences between two texts."""
    first, second = locate_words(a), locate_words(b)
    return find_differences(first, second, align_words(first, second, preset or "edited"))


def quoted(a: str, b: str) -> list[tuple[str, str, str]]:
    """The kind of each difference, and its words in both texts."""
    return [(difference.kind, a[slice(*difference.a)], b[slice(*difference.b)]) for difference in differences_of(a, b)]


def inside(text: str, spans: list[Span]) -> list[list[str]]:
    """The words in each span."""
    placed = locate_words(text)
    places = list(zip(placed.words, placed.starts.tolist(), placed.ends.tolist(), strict=True))
    return [[word for word, start, end in places if span[0] <= start and end <= span[1]] for span in spans]


def outside(text: str, spans: list[Span]) -> list[str]:
    """The words outside all spans. Also checks that no word is in two spans."""
    words = locate_words(text)
    starts = [start for span in spans for start in words.starts.tolist() if span[0] <= start < span[1]]
    assert len(starts) == len(set(starts))
    return [word for word, start in zip(words.words, words.starts.tolist(), strict=True) if start not in starts]


@given(repetitive | strategies.texts(), repetitive | strategies.texts())
def test_the_words_outside_all_differences_are_equal(a: str, b: str) -> None:
    """The words are in the same order. A moved block has equal words in both texts."""
    found_differences = differences_of(a, b, FINE)
    spans_a = [difference.a for difference in found_differences]
    spans_b = [difference.b for difference in found_differences]

    assert outside(a, spans_a) == outside(b, spans_b)
    for difference, mine, theirs in zip(found_differences, inside(a, spans_a), inside(b, spans_b), strict=True):
        assert difference.word_count == max(len(mine), len(theirs))
        assert (difference.kind == "inserted", difference.kind == "removed") == (not mine, not theirs)
        assert difference.kind != "moved" or mine == theirs
    assert found_differences == sorted(found_differences, key=lambda difference: (difference.a, difference.b))


@given(repetitive | strategies.texts())
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert [] == differences_of(text, text) == differences_of(text, text, FINE)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("may pay", "may not pay"), ("inserted", "", "not")),
        (("first", "second"), ("replaced", "first", "second")),
        (("first day of", "end of"), ("replaced", "first day", "end")),
        ((" each", ""), ("removed", "each", "")),
        (("The tenant", "Tenant"), ("removed", "The", "")),
        (("within three weeks after", "within 30 weeks after"), ("replaced", "three", "30")),
        ((" in writing", ""), ("removed", "in writing", "")),
        (("writing.", "writing, if he was there."), ("inserted", "", "if he was there")),
    ],
)
def test_a_change_is_one_difference(change: tuple[str, str], expected: tuple[str, str, str]) -> None:
    """The difference has only the words that differ."""
    assert [expected] == quoted(CONTRACT, CONTRACT.replace(*change))


def paragraphs() -> list[str]:
    """Four random paragraphs."""
    return [texts.text(random.Random(f"paragraph {number}"), 40).strip() for number in range(4)]


def test_a_moved_block_is_one_difference() -> None:
    """The blocks that it passed do not count as moved."""
    one, two, three, four = paragraphs()
    a, b = "\n\n".join([one, two, three, four]), "\n\n".join([one, three, four, two])

    assert [("moved", two[:-1], two[:-1])] == quoted(a, b) == quoted(b, a)


def test_a_moved_block_may_have_a_replaced_word() -> None:
    """The word is replaced at the new position."""
    one, two, three, four = paragraphs()
    words = two[:-1].split()
    changed = " ".join([*words[:20], "unheard", *words[21:]])
    a, b = "\n\n".join([one, two, three, four]), "\n\n".join([one, three, four, changed])

    assert [
        ("moved", " ".join(words[:20]), " ".join(words[:20])),
        ("replaced", words[20].strip(".,;!?"), "unheard"),
        ("moved", " ".join(words[21:]), " ".join(words[21:])),
    ] == [(kind, " ".join(mine.split()), theirs) for kind, mine, theirs in quoted(a, b)]


def test_matched_words_in_another_order_are_moved() -> None:
    """So a matched word is not also a difference."""
    words = texts.distinct_words(60, seed=1)
    copy = [*words[:10], *words[12:40], *words[10:12], *words[40:]]

    assert [("moved", pair := " ".join(words[10:12]), pair)] == quoted(" ".join(words), " ".join(copy))


def test_unrelated_texts_are_one_difference() -> None:
    """If one text has no words, the words of the other are removed or inserted."""
    assert [("replaced", "one two", "three")] == quoted("one two.", "(three)")
    assert [("removed", "one two", "")] == quoted("one two.", "...")
    assert [("inserted", "", "one two")] == quoted("...", "one two.")
    assert [] == quoted("...", "") == quoted("", "")


def test_a_large_stretch_differs_as_a_whole() -> None:
    """The equal words around the stretch are not part of the difference."""
    same = texts.text(random.Random("same"), 60)
    mine, theirs = " ".join(["mine"] * 3_000), " ".join(["theirs"] * 3_000)

    assert [("replaced", mine, theirs)] == quoted(f"{same} {mine} {same}", f"{same} {theirs} {same}")


def test_equal_words_between_larger_differences_belong_to_them() -> None:
    """A rewritten sentence shares common words with the old one."""
    old = "the owners of such rooms shall not ever lend the keys to strangers"
    new = "whoever rents for a year the whole house gets two sets"
    expected = [("replaced", old, new)]

    assert expected == quoted(f"{CONTRACT} Here {old}. {CONTRACT}", f"{CONTRACT} Here {new}. {CONTRACT}")


def test_few_equal_words_after_a_long_difference_belong_to_it() -> None:
    """Texts on other subjects share common words by chance. Between short differences, the same words separate them."""
    mine, theirs = " ".join(["mine"] * 200), " ".join(["theirs"] * 100)

    def count(before: tuple[str, str], equal: str) -> int:
        return len(quoted(f"{before[0]} {equal} see", f"{before[1]} {equal} reduce"))

    assert 1 == count((mine, theirs), "to the one")
    assert 2 == count((mine, theirs), "to the one or two")
    assert 2 == count(("mine", "theirs"), "to the one")
