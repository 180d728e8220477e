"""Which of several documents stays: by the rule, then by length, name and id, the same each time."""

from __future__ import annotations

import numpy as np
import pytest

from simdoc_search.documents import MetadataValue
from simdoc_search.duplicates.keep_order import Keep, KeepCriteria
from simdoc_search.duplicates.measures import MeasureName
from simdoc_search.errors import QuerySyntaxError

IDS = ["d", "c", "b", "a"]
SHINGLES, CHANGED = [5, 9, 9, 1], [4, 0, 2, 3]


def order(rule: str, *values: MetadataValue | None) -> str:
    """The ids in the order in which they would be kept."""
    return ordered(rule, *values)


def ordered(
    rule: str, *values: MetadataValue | None, fresh: str = "", chosen: str = "", measure: MeasureName = "jaccard",
    copies: tuple[int, ...] = (1, 1, 1, 1),
) -> str:  # fmt: skip
    """The same, of which some are new, some were kept before, and some are there more than once."""
    shingles, count, changed = (np.array(each, np.int64) for each in (SHINGLES, copies, CHANGED))
    of_new, of_chosen = (np.array([id in some for id in IDS]) for some in (fresh, chosen))
    known = KeepCriteria(IDS.__getitem__, shingles, count, count, changed, values, of_new, of_chosen)
    return "".join(IDS[each] for each in Keep(rule, measure).order(known))


@pytest.mark.parametrize(
    ("rule", "expected"), [("longest", "bcda"), ("first", "abcd"), ("newest", "dabc"), ("oldest", "badc")]
)
def test_a_rule_decides_who_stays(rule: str, expected: str) -> None:
    """b and c are of one length; c has no date."""
    assert expected == order(rule)


@pytest.mark.parametrize(
    ("rule", "values", "expected"),
    [
        ("max:year", (2001, 2020, None, 1999), "cdab"),
        ("min:year", (2001, 2020, None, 1999), "adcb"),
        ("max:year", ("b", "a", 3, True), "dcba"),
        ("min:year", (float("nan"), ["2"], [], "1"), "acbd"),
    ],
)
def test_a_field_decides_who_stays(rule: str, values: tuple[MetadataValue, ...], expected: str) -> None:
    """Numbers are less than texts, of a list the first counts, and those without a value come last, by length."""
    assert expected == order(rule, *values)


def test_what_most_documents_have_stays_before_what_is_longer() -> None:
    """Only by the rule of length, and by no measure of containment, which finds the shorter one in the longer."""
    copies = (2, 1, 1, 2)

    assert "dabc" == ordered("longest", copies=copies)
    assert "bcda" == ordered("longest", copies=copies, measure="containment")
    assert "badc" == ordered("oldest", copies=copies)


@pytest.mark.parametrize(
    "names",
    [
        ("orig.txt", "a (1).txt"),
        ("orig.txt", "orig (1).txt", "Lizenzen/orig (1).txt"),
        ("Lizenzen/GPL-3.txt", "Downloads/GPL-3 (1).txt"),
        ("Report (2021).txt", "Report - Copy.txt"),
        ("Copying/b.txt", "a copy 2.txt"),
        ("b.tar.gz", "Kopie von b.tar.gz"),
        ("b.tar.gz", "b_copy.tar.gz"),
        ("b.txt", "a~"),
        ("longer.txt", "a.bak"),
        ("old.zip!b.txt", "a.zip!b (1).txt"),
        ("b.txt", "x/a.txt", "copy.txt", "Kopie1.txt"),
    ],
)
def test_of_equal_ones_a_name_decides(names: tuple[str, ...]) -> None:
    """The name of a copy comes last, then the shorter one comes first, and of these the first by id."""
    same = np.ones(len(names), np.int64)
    backwards = names[::-1]
    known = KeepCriteria(backwards.__getitem__, same, same, same, same, (), same > 0, same > 1)

    for rule in ("longest", "newest", "oldest"):
        assert list(names) == [backwards[each] for each in Keep(rule).order(known)]


@pytest.mark.parametrize("rule", ["", "longer", "max:", "max", "mean:year"])
def test_another_rule_is_an_error(rule: str) -> None:
    """It names those there are."""
    with pytest.raises(QuerySyntaxError, match="keep is one of longest, first, newest, oldest, max:FIELD or min:FIELD"):
        Keep(rule)


def test_those_that_were_kept_before_stay_and_new_ones_come_last() -> None:
    """Among equals the rule decides."""
    assert "abcd" == ordered("first")
    assert "bdac" == ordered("first", chosen="bd")
    assert "cdab" == ordered("first", fresh="ab")
    assert "dcba" == ordered("first", fresh="ab", chosen="bd")
