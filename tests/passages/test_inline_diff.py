"""Both texts of a place in one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.analysis.words import locate_words
from simdoc_search.passages.align import AlignmentSettings
from simdoc_search.passages.compare import compare
from simdoc_search.passages.inline_diff import DiffPart, InlineDiff
from simdoc_search.passages.passage import Difference
from tests.support import strategies

FINE = AlignmentSettings(min_run=2, max_gap=3)
BRACKETS = {"kept": "{}", "removed": "[-{}-]", "inserted": "{{+{}+}}"}

pieces = st.sampled_from(
    [
        "a",
        "b",
        "c",
        "d",
        "E",
        "e",
        "7",
        "-7",
        " ",
        " ",
        "\n",
        "\n- [ ] ",
        "\n- [x] ",
        ". ",
        ", ",
        "(",
        ")",
        "*",
        "\t",
        "€",
    ]
)
marked_up = st.lists(pieces, max_size=40).map("".join)


def quoted(a: str, b: str) -> list[str]:
    """Return the quotation of each difference."""
    found = compare(a, b)
    diff = InlineDiff((a, b), (locate_words(a), locate_words(b)), found.differences)
    return [
        "".join(BRACKETS[kind].format(text) for kind, text in diff.quote([difference], 3))
        for difference in found.differences
    ]


def side(parts: list[DiffPart], changed: str) -> str:
    """Return the text of one side of a quotation, without whitespace."""
    text = "".join(text for kind, text in parts if kind in ("kept", changed))
    return "".join(text.removeprefix("…").removesuffix("…").split())


def check(a: str, b: str) -> None:
    """Check the quotations of each difference, and of each two neighbours with equal words between them."""
    differences = compare(a, b, preset=FINE).differences
    diff = InlineDiff((a, b), (locate_words(a), locate_words(b)), differences)
    groups: list[list[Difference]] = [[each] for each in differences if each.kind != "moved"]
    groups += [
        [one, next_one]
        for one, next_one in pairwise(differences)
        if "moved" not in (one.kind, next_one.kind) and diff.have_equal_words_between(one, next_one)
    ]
    for group in groups:
        parts = diff.quote(group, 3)
        assert side(parts, "removed") in "".join(a.split())
        assert side(parts, "inserted") in "".join(b.split())
        for difference in group:
            assert "".join(a[slice(*difference.a)].split()) in side(parts, "removed")
            assert "".join(b[slice(*difference.b)].split()) in side(parts, "inserted")


@given(marked_up, marked_up)
def test_a_quotation_reads_as_each_text(a: str, b: str) -> None:
    """Without the inserted parts it is in the first text, and without the removed parts in the second text."""
    check(a, b)


@given(marked_up, st.data())
def test_a_quotation_of_a_small_change_reads_as_each_text(a: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(a)))
    end = data.draw(st.integers(start, len(a)))
    b = a[:start] + data.draw(marked_up) + a[end:]

    check(a, b)


@given(strategies.texts(), strategies.texts())
def test_any_texts_are_quoted(a: str, b: str) -> None:
    differences = compare(a, b, preset=FINE).differences
    diff = InlineDiff((a, b), (locate_words(a), locate_words(b)), differences)
    for difference in differences:
        parts = diff.quote([difference], 3)
        assert all(text for _, text in parts)


@pytest.mark.parametrize(
    ("a", "b", "quotation"),
    [
        ("- [ ] one two\n- [ ] six ten\n", "- [ ] one two\n- [x] six ten\n", "- [ ] one two\n- [{+x+}] six ten\n"),
        ("- [ ] one two\n- [x] six ten\n", "- [ ] one two\n- [ ] six ten\n", "- [ ] one two\n- [[-x-]] six ten\n"),
        ("you may copy us", "you may not copy us", "you may {+not+} copy us"),
        ("to us, if it rains", "to us, and you if it rains", "to us, {+and you+} if it rains"),
        ("One. Two.", "One. (New) here. Two.", "One. {+(New) here.+} Two."),
        ("- [ ] a b\n- [ ] c d", "- [ ] a b\n- [x] new\n- [ ] c d", "- [ ] a b\n{+- [x] new+} \n- [ ] c d"),
        ("pay (850) now or", "pay 890 now or", "pay [-(850)-] {+890+} now or"),
        ("pay (850) now or", "pay (890) now or", "pay ([-850-] {+890+}) now or"),
        ("Bill may copy it", "bill, may not copy it", "[-Bill-] {+bill,+} may {+not+} copy it"),
    ],
)
def test_a_change_is_shown_where_it_is(a: str, b: str, quotation: str) -> None:
    """Brackets and other symbols are those of the same place. A whole line is inserted, not the ends of two lines."""
    assert [" ".join(quotation.split())] == [" ".join(each.split()) for each in quoted(a, b)]


@pytest.mark.parametrize(
    ("a", "b", "places"),
    [
        ("- [ ] one two\n- [ ] six ten\n", "- [ ] one two\n- [x] six ten\n", (" ] six", "x] six")),
        ("one two\nsix ten\n", "one two\nnew line\nsix ten\n", ("six", "new")),
        ("one two\n\fsix ten\n", "one two\nnew line\n\fsix ten\n", ("\fsix", "new")),
        ("one two\n\fsix ten\n", "one two\n\fnew line\nsix ten\n", ("six", "new")),
        ("one two six ten", "one two new line six ten", (" six", "new")),
        ("one two\r\nsix ten\n", "one two\nnew line\nsix ten\n", ("six", "new")),
    ],
)
def test_inserted_words_have_their_place_in_the_first_text(a: str, b: str, places: tuple[str, str]) -> None:
    """An inserted line is at the beginning of the next line, on its own page. The same is true of a removed line."""
    (inserted,), (removed,) = compare(a, b).differences, compare(b, a).differences
    position = a.index(places[0])

    assert (position, b.index(places[1])) == (inserted.a[0], inserted.b[0])
    assert (position, b.index(places[1])) == (removed.b[0], removed.a[0])
