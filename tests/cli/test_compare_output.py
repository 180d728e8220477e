"""Terminal output of `compare`."""

from __future__ import annotations

import re

from hypothesis import given
from rich.cells import cell_len

from simdoc_search.cli.compare_output import comparison_lines, measure_lines
from simdoc_search.passages.compare import compare
from simdoc_search.passages.passage import Comparison, Difference
from tests.support.cli import words
from tests.support.passages.pages import comparison, replaced, same
from tests.support.slow_cases import examples
from tests.support.strategies import texts

NAMES = "a.txt", "b.txt"


def printed(a: str, b: str, comparison: Comparison | None = None, *, is_coloured: bool = False) -> str:
    """Return the output for two texts."""
    lines = comparison_lines(comparison or compare(a, b), (a, b), NAMES, is_coloured=is_coloured)
    return "\n".join(line.plain for line in lines)


def joined(text: str) -> str:
    """Return a text as one line."""
    return " ".join(text.split())


def test_the_measures_come_first() -> None:
    """The measures are the matched words and their shares."""
    lines = measure_lines(comparison([same(0, 0, 9)], [replaced((0, 1), (0, 1), 3)]), NAMES)

    assert [
        "a.txt and b.txt",
        "  in common                 9 words in 1 passage",
        "  share of the first text   90.0 %, 9 of 10 words",
        "  share of the second text  75.0 %, 9 of 12 words",
        "  different                 +3 −3 words in 1 place",
    ] == [line.plain for line in lines]


def test_a_difference_has_the_words_around_it() -> None:
    """Removed and inserted words are in brackets. Equal lines are only counted."""
    a = "\n".join([words(0, 40), "you may copy it", *(words(at, at + 5) for at in range(100, 200, 5)), words(300, 340)])
    b = a.replace("may", "may not").replace("word333 ", "")
    text = printed(a, b)

    assert "line 2: 1 word inserted: “not”\n    … word30 " in text
    assert "you may {+not+} copy it word100" in joined(text)
    assert "\n  … 20 equal lines …\nline 23: 1 word removed: “word333”\n" in text
    assert "word332 [-word333-] word334" in joined(text)


def test_near_differences_are_one_group() -> None:
    """The words between them are shown once."""
    a, b = (f"{words(0, 30)} {x}1 {words(30, 40)} {x}2 {words(40, 90)}" for x in "xy")
    found = joined(printed(a, b))

    assert "line 1: +2 −2 words in 2 differences" in found
    assert f"[-x1-] {{+y1+}} {words(30, 40)} [-x2-] {{+y2+}} word40" in found


def test_a_long_difference_is_a_group_by_itself() -> None:
    """Otherwise, a changed word of a shared passage would be lost in the text before it."""
    a, b = (f"{words(at, at + 70)} {words(0, 20)} {x} {words(20, 60)}" for at, x in ((1000, "x"), (2000, "y")))
    found = joined(printed(a, b))

    assert "line 1: 70 words replaced: " in found
    assert "line 1: 1 word replaced: “x” → “y”" in found


def test_an_insertion_is_after_the_comma_before_it() -> None:
    """The comma belongs to the word."""
    a, b = f"{words(0, 30)} us, {words(30, 60)}", f"{words(0, 30)} us, and you {words(30, 60)}"

    assert "us, {+and you+} word30" in joined(printed(a, b))


def test_a_ticked_box_is_quoted_at_its_line() -> None:
    """The number of the line is the same in both texts."""
    a = f"- [ ] {words(0, 8)}\n- [ ] {words(8, 16)}\n"
    text = printed(a, a.replace("[ ] word8", "[x] word8"))

    assert "\nline 2: 1 word inserted: “x”\n" in text
    assert f"- [ ] {words(0, 8)} - [{{+x+}}] {words(8, 16)}" in joined(text)


def test_a_moved_block_has_both_positions() -> None:
    """The block is not shown as removed and inserted."""
    a = f"{words(0, 60)}\n\n{words(100, 300)}\n"
    b = f"{words(100, 300)}\n\n{words(0, 60)}\n"
    first, second = len(words(0, 60)), len(words(100, 300))
    text = printed(a, b, comparison([], [Difference("moved", (0, first), (second + 2, second + 2 + first), 60, 60)]))

    assert "line 1 ↔ line 3: 60 words moved: “word0 word1 " in text
    assert "[-" not in text


def test_a_long_difference_is_shortened_in_the_middle() -> None:
    text = printed(words(0, 5000), words(6000, 9000))

    assert "word29 … 4,960 words … word4990" in joined(text)
    assert 60 > len(text.splitlines())
    assert 60 > len(printed("漢" * 5000, "字" * 5000).splitlines())


def test_the_20_longest_passages_are_shown() -> None:
    """They are shown in the order of the first text."""
    passages = [same(10 * at, 10 * at, 9, words=30 + at) for at in range(50)]
    text = printed("x" * 600, "x" * 600, comparison(passages)).splitlines()
    listed = [line.partition(",")[0] for line in text if re.match(r"  \d+ words, line", line)]

    assert [f"  {number} words" for number in range(60, 80)] == listed
    assert "  … 30 shorter passages …" in text


def test_colours_replace_brackets() -> None:
    """Otherwise the text is the same."""
    a, b = f"{words(0, 40)} old {words(40, 80)}", f"{words(0, 40)} new {words(40, 80)}"
    lines = list(comparison_lines(compare(a, b), (a, b), NAMES, is_coloured=True))
    styled = {(line.plain[span.start : span.end], str(span.style)) for line in lines for span in line.spans}

    assert {("old", "red strike"), ("new", "green underline")} < styled
    assert joined(printed(a, b)).replace("[-old-] {+new+}", "old new") == joined(printed(a, b, is_coloured=True))


@given(texts(), texts())
@examples(0.8)
def test_no_text_or_name_controls_the_terminal_or_is_too_wide(a: str, b: str) -> None:
    where = [replaced((0, len(a)), (0, len(b)), 5), Difference("moved", (0, len(a)), (0, len(b)), 5, 5)]
    found = comparison([same(0, 0, min(len(a), len(b)))], where)
    for line in comparison_lines(found, (a, b), (a[:80], b[:80]), width=50):
        assert cell_len(line.plain) <= 50
        assert line.plain.isprintable()
