"""What differs between two texts."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simdoc_search.analysis.words import placed_words
from simdoc_search.passages.align import Alignment, align_words
from simdoc_search.passages.differences import differences
from simdoc_search.passages.passage import Difference, Span
from tests.support import strategies, texts

repetitive = st.lists(st.sampled_from(["a", "b", "c", "d.", "E!", "f,"]), max_size=40).map(" ".join)
FINE = Alignment(least=3, gap=3)
CONTRACT = (
    "The tenant may pay the rent on the first day of each month, and shall keep the rooms clean. "
    "The landlord repairs what is broken within three weeks after he was told so in writing."
)


def found(a: str, b: str, preset: Alignment | None = None) -> list[Difference]:
    """What differs between two texts."""
    first, second = placed_words(a), placed_words(b)
    return differences(first, second, align_words(first, second, preset or "edited"))


def said(a: str, b: str) -> list[tuple[str, str, str]]:
    """The same as words."""
    return [(each.kind, a[slice(*each.a)], b[slice(*each.b)]) for each in found(a, b)]


def inside(text: str, spans: list[Span]) -> list[list[str]]:
    """The words in each span."""
    placed = placed_words(text)
    places = list(zip(placed.words, placed.starts.tolist(), placed.ends.tolist(), strict=True))
    return [[word for word, start, end in places if span[0] <= start and end <= span[1]] for span in spans]


def outside(text: str, spans: list[Span]) -> list[str]:
    """The words in no span; each must be in one of them at most."""
    words = placed_words(text)
    starts = [start for span in spans for start in words.starts.tolist() if span[0] <= start < span[1]]
    assert len(starts) == len(set(starts))
    return [word for word, start in zip(words.words, words.starts.tolist(), strict=True) if start not in starts]


@given(repetitive | strategies.texts(), repetitive | strategies.texts())
def test_what_does_not_differ_is_equal(a: str, b: str) -> None:
    """The words in no difference are the same, in the same order; what moved is the same in both places."""
    differ = found(a, b, FINE)

    assert outside(a, [each.a for each in differ]) == outside(b, [each.b for each in differ])
    for each, mine, theirs in zip(
        differ, inside(a, [each.a for each in differ]), inside(b, [each.b for each in differ]), strict=True
    ):
        assert each.words == max(len(mine), len(theirs))
        assert (each.kind in {"inserted"}, each.kind == "removed") == (not mine, not theirs)
        assert each.kind != "moved" or mine == theirs
    assert differ == sorted(differ, key=lambda each: (each.a, each.b))


@settings(max_examples=25)
@given(repetitive | strategies.texts())
def test_equal_texts_do_not_differ(text: str) -> None:
    """In no word, whatever their case and signs are."""
    assert [] == found(text, text)
    assert [] == found(text, text, FINE)


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
def test_a_change_of_some_words_is_said(change: tuple[str, str], expected: tuple[str, str, str]) -> None:
    """Nothing but the words that differ, at the beginning, in the middle and at the end."""
    other = CONTRACT.replace(*change)

    assert [expected] == said(CONTRACT, other)


def test_what_was_inserted_stands_after_the_word_before_it() -> None:
    """Both ends of its place in the other text are where that word ends; before the first word: at the beginning."""
    (inserted,) = found(CONTRACT, CONTRACT.replace("may pay", "may not pay"))
    (before,) = found(CONTRACT, f"Note. {CONTRACT}")

    assert (CONTRACT.index(" pay"),) * 2 == inserted.a
    assert (0, 0) == before.a
    assert "Note" == f"Note. {CONTRACT}"[slice(*before.b)]


def paragraphs(count: int) -> list[str]:
    """Paragraphs of their own."""
    return [texts.text(random.Random(f"paragraph {number}"), 40).strip() for number in range(count)]


def test_a_moved_block_is_said_to_have_moved() -> None:
    """The one that moved, not the ones that it passed."""
    one, two, three, four = paragraphs(4)
    a, b = "\n\n".join([one, two, three, four]), "\n\n".join([one, three, four, two])

    assert [("moved", two[:-1], two[:-1])] == said(a, b)
    assert [("moved", two[:-1], two[:-1])] == said(b, a)


def test_a_moved_block_that_was_changed_differs_in_the_change_too() -> None:
    """What lies between two runs that moved together was replaced, not removed here and inserted there."""
    one, two, three, four = paragraphs(4)
    words = two[:-1].split()
    changed = " ".join([*words[:20], "unheard", *words[21:]])
    a, b = "\n\n".join([one, two, three, four]), "\n\n".join([one, three, four, changed])

    assert [
        ("moved", " ".join(words[:20]), " ".join(words[:20])),
        ("replaced", words[20].strip(".,;!?"), "unheard"),
        ("moved", " ".join(words[21:]), " ".join(words[21:])),
    ] == [(kind, " ".join(mine.split()), theirs) for kind, mine, theirs in said(a, b)]


def test_texts_without_anything_in_common_are_one_difference() -> None:
    """All of the one in place of all of the other; a text without words has nothing to be replaced."""
    assert [("replaced", "one two", "three")] == said("one two.", "(three)")
    assert [("removed", "one two", "")] == said("one two.", "...")
    assert [("inserted", "", "one two")] == said("...", "one two.")
    assert [] == said("...", "") == said("", "")


def test_large_stretches_that_differ_are_one_difference() -> None:
    """What is too large to be looked into differs as a whole; what is equal around it does not."""
    same = texts.text(random.Random("same"), 60)
    mine, theirs = " ".join(["mine"] * 3_000), " ".join(["theirs"] * 3_000)

    assert [("replaced", mine, theirs)] == said(f"{same} {mine} {same}", f"{same} {theirs} {same}")


def test_equal_words_amid_larger_differences_differ_with_them() -> None:
    """A sentence that was written anew shares small words with the old one; it is one difference all the same."""
    old = "the owners of such rooms shall not ever lend the keys to strangers"
    new = "whoever rents for a year the whole house gets two sets"
    same = CONTRACT

    assert [("replaced", old, new)] == said(f"{same} Here {old}. {same}", f"{same} Here {new}. {same}")
