"""A comparison in a terminal: measures, what is shared, what differs; within the width, and harmless."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings

from simdoc_search.passages.compare import compare
from simdoc_search.passages.passage import Comparison, Difference
from simdoc_search.passages.report import measure_lines, terminal_lines
from simdoc_search.passages.report.summary import difference_said, excerpt, words_differing
from simdoc_search.passages.report.wrapping import width_of, wrapped
from tests.support.cli import words
from tests.support.passages.pages import comparison, replaced, same
from tests.support.strategies import texts

NAMES = "a.txt", "b.txt"


def shown(a: str, b: str, found: Comparison | None = None, *, width: int = 80, colour: bool = False) -> str:
    """What a terminal shows of two texts."""
    return "\n".join(terminal_lines(found or compare(a, b), (a, b), NAMES, width=width, colour=colour))


def test_the_measures_come_first() -> None:
    """How many words are matched, and which share of each text they are."""
    lines = list(measure_lines(comparison([same(0, 0, 9)], [replaced((0, 1), (0, 1), 3)]), NAMES))

    assert [
        "a.txt and b.txt",
        "  in common                 9 words in 1 passage",
        "  share of the first text   90.0 %, 9 of 10 words",
        "  share of the second text  75.0 %, 9 of 12 words",
        "  different                 3 words differ",
    ] == lines


def test_what_differs_is_quoted_with_its_words_around() -> None:
    """Removed and inserted words in brackets; what is alike between two places is counted."""
    a = "\n".join([words(0, 40), "you may copy it", *(words(at, at + 5) for at in range(100, 200, 5)), words(300, 340)])
    b = a.replace("may", "may not").replace("word333 ", "")
    found = shown(a, b)

    assert "line 2: 1 word inserted: 'not'\n    … word30 " in found
    assert "you may {+not+} copy it word100" in " ".join(found.split())
    assert "\n  … 20 lines alike …\nline 23: 1 word removed: 'word333'\n" in found
    assert "word332 [-word333-] word334" in " ".join(found.split())


def test_three_words_differ() -> None:
    """The sentence of a difference has its number, its kind, and the words."""
    a, b = "you may copy", "you may not copy"
    kinds = (
        (Difference("replaced", (4, 7), (4, 11), 2), "2 words differ: 'may' → 'may not'"),
        (Difference("replaced", (4, 7), (4, 7), 1), "1 word differs: 'may' → 'may'"),
        (Difference("inserted", (7, 7), (8, 11), 1), "1 word inserted: 'not'"),
        (Difference("removed", (4, 7), (4, 4), 1), "1 word removed: 'may'"),
        (Difference("moved", (0, 7), (0, 7), 2), "2 words moved: 'you may'"),
    )

    for each, said in kinds:
        assert said == difference_said(each, a, b)


def test_differences_that_stand_near_are_shown_together() -> None:
    """The words between them once."""
    a, b = (
        f"{words(0, 30)} x1 {words(30, 40)} x2 {words(40, 90)}",
        f"{words(0, 30)} y1 {words(30, 40)} y2 {words(40, 90)}",
    )
    found = " ".join(shown(a, b).split())

    assert "line 1: 2 words in 2 differences" in found
    assert f"[-x1-] {{+y1+}} {words(30, 40)} [-x2-] {{+y2+}} word40" in found


def test_a_sign_after_a_word_stays_with_it() -> None:
    """What is inserted after `us,` stands after the comma; `us{+and you+},` would be read wrongly."""
    a, b = f"{words(0, 30)} us, {words(30, 60)}", f"{words(0, 30)} us, and you {words(30, 60)}"

    assert "us, {+and you+} word30" in " ".join(shown(a, b).split())


def test_a_moved_block_is_named_with_both_places() -> None:
    """It is not printed as removed here and inserted there."""
    a = f"{words(0, 60)}\n\n{words(100, 300)}\n"
    b = f"{words(100, 300)}\n\n{words(0, 60)}\n"
    first, second = len(words(0, 60)), len(words(100, 300))
    moved = Difference("moved", (0, first), (second + 2, second + 2 + first), 60)
    found = shown(a, b, comparison([], [moved]))

    assert "line 1 → line 3: 60 words moved: 'word0 word1 " in found
    assert "[-" not in found


def test_long_stretches_are_shortened() -> None:
    """Their beginning and end are shown, and how much is between; texts without spaces too."""
    found = shown(words(0, 5000), words(6000, 9000))

    assert "word29 … 4,960 words … word4990" in " ".join(found.split())
    assert 60 > len(found.splitlines())
    assert 60 > len(shown("漢" * 5000, "字" * 5000).splitlines())
    assert 125 > len(excerpt("x" * 10_000))


def test_texts_that_are_the_same_say_so() -> None:
    """Nothing is listed as different."""
    assert shown(words(0, 50), words(0, 50)).endswith("No word differs.")
    assert "no word differs" == words_differing(comparison())


def test_many_passages_are_cut_to_the_longest() -> None:
    """Twenty, in the order of the first text; how many more there are is said."""
    passages = [same(10 * at, 10 * at, 9, words=30 + at) for at in range(50)]
    found = shown("x" * 600, "x" * 600, comparison(passages)).splitlines()
    listed = [line for line in found if re.match(r"  \d+ words, line", line)]

    assert [f"  {number} words" for number in range(60, 80)] == [line.partition(",")[0] for line in listed]
    assert "  … 30 shorter passages …" in found


def test_colour_takes_the_place_of_brackets() -> None:
    """Each line ends in the colour in which it began."""
    a, b = f"{words(0, 40)} old {words(40, 80)}", f"{words(0, 40)} new {words(40, 80)}"
    found = shown(a, b, colour=True)

    assert "\x1b[31;9mold\x1b[0m \x1b[32;4mnew\x1b[0m" in found
    assert "{+" not in found
    assert shown(a, b).replace("[-old-] {+new+}", "old new").split() == re.sub("\x1b\\[[0-9;]*m", "", found).split()
    assert all(line.count("\x1b[0m") * 2 == line.count("\x1b") for line in found.splitlines())


@given(texts(), texts())
@settings(max_examples=20)
def test_no_text_steers_the_terminal_or_passes_its_width(a: str, b: str) -> None:
    """Whatever it holds; names too."""
    where = [replaced((0, len(a)), (0, len(b)), 5), Difference("moved", (0, len(a)), (0, len(b)), 5)]
    found = comparison([same(0, 0, min(len(a), len(b)))], where)
    for line in terminal_lines(found, (a, b), (a[:80], b[:80]), width=50):
        assert width_of(line) <= 50
        assert line.isprintable()


@pytest.mark.parametrize(
    ("width", "lines"),
    [(9, ["one two", "three"]), (13, ["one two three"]), (3, ["one", "two", "thr", "ee"])],
)
def test_lines_are_cut_between_words(width: int, lines: list[str]) -> None:
    """Or where the line ends, in a word that is longer."""
    assert lines == ["".join(text for _, text in line) for line in wrapped([("", "one  two\nthree")], width)]


def test_styles_go_on_over_a_line_end() -> None:
    """A space between two words of one style has it; where words of two styles touch, they stay together."""
    runs = [("", "a "), ("removed", "b c"), ("inserted", "d"), ("", ".")]

    assert [[("", "a "), ("removed", "b c"), ("inserted", "d"), ("", ".")]] == list(wrapped(runs, 9))
    assert [[("", "a "), ("removed", "b")], [("removed", "c"), ("inserted", "d"), ("", ".")]] == list(wrapped(runs, 4))


def test_wide_characters_take_two_columns() -> None:
    """And marks none."""
    assert [4, 1, 5] == [width_of(each) for each in ("漢字", "e\u0301", "abcde")]
    assert ["漢字", "漢"] == ["".join(text for _, text in line) for line in wrapped([("", "漢字漢")], 5)]
