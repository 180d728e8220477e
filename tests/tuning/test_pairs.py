"""What yes and no of a person teach."""

from __future__ import annotations

import pytest

from simdoc_search.errors import CorpusError
from simdoc_search.tuning import LabelledPair, learned, read_pairs


def judged(*same: bool) -> list[LabelledPair]:
    """Pairs of documents of which nothing else matters."""
    return [LabelledPair(f"a{n}", f"b{n}", each) for n, each in enumerate(same)]


def test_pairs_are_read_with_their_lines() -> None:
    """Comments and empty lines are none; the answer may be in capitals."""
    read = read_pairs(["# judged in March\n", "a\tb\tyes\n", "\n", "a\tc d\tNO\r\n"], "p.tsv")

    assert [LabelledPair("a", "b", True, 2), LabelledPair("a", "c d", False, 4)] == read


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["a\tb\tyes", "a b no"], "line 2 of p.tsv is no pair: 'a b no'; write two ids"),
        (["a\tb\tperhaps"], "line 1 of p.tsv is no pair"),
        (["a\t\tyes"], "line 1 of p.tsv is no pair"),
        (["a\tb\tyes\t1"], "line 1 of p.tsv is no pair"),
        (["a\ta\tyes"], "line 1 of p.tsv names 'a' twice"),
        (["a\tb\tyes"], "p.tsv needs pairs with yes and pairs with no"),
        ([], "p.tsv needs pairs with yes and pairs with no"),
    ],
)
def test_a_bad_line_is_named(lines: list[str], why: str) -> None:
    """With its number, and what is right."""
    with pytest.raises(CorpusError, match=why):
        read_pairs(lines, "p.tsv")


def test_the_overlap_lies_in_the_middle_between_no_and_yes() -> None:
    """However many others there are."""
    found = learned(judged(False, True, True, False, False), [0.2, 0.8, 0.9, 0.4, 0.0])

    assert (0, (0, 0), (2, 3), (0.4, 0.8)) == (found.wrong, found.missed, found.judged, found.gap)
    assert found.separable
    assert pytest.approx(0.6) == found.overlap
    assert "a3" == found.worst.a


def test_what_no_overlap_separates_is_said() -> None:
    """Invoices that differ in one number overlap more than copies do: the fewest mistakes remain, and are counted."""
    answers = (True, True, True, False, False, False)
    found = learned(judged(*answers), [0.7, 0.8, 0.75, 0.99, 0.1, 0.2])

    assert ((0, 1), False, (0.99, 0.7)) == (found.missed, found.separable, found.gap)
    assert 0.2 < found.overlap < 0.7
    assert "a3" == found.worst.a
    assert found.unseen < 1
    same = learned(judged(True, False), [1.0, 1.0])
    assert (0.5, False) == (same.wrong, same.separable)


def test_what_overlap_does_not_decide_teaches_nothing() -> None:
    """Every invoice with another number overlaps more than every copy: the best overlap is no better than a guess."""
    invoices = learned(judged(True, True, False, False), [0.5, 0.6, 0.98, 0.99])
    mostly = learned(judged(True, True, True, True, False), [0.7, 0.8, 0.9, 0.2, 0.3])

    assert (False, True) == (invoices.teaches, mostly.teaches)
    assert 0.5 == invoices.wrong


def test_many_of_one_kind_do_not_outvote_the_other() -> None:
    """Twenty yes and two no: an overlap that calls all of them yes makes the fewest mistakes, and is not taken."""
    yes = [0.5 + n / 100 for n in range(20)]
    found = learned(judged(*[True] * 20, False, False), [*yes, 0.525, 0.535])

    assert ((4, 0), (20, 2)) == (found.missed, found.judged)
    assert 0.53 < found.overlap < 0.55
