"""Which of several documents stays: by the rule, then by length, size and id, the same each time."""

from __future__ import annotations

import numpy as np
import pytest

from simdoc_search.documents import MetadataValue
from simdoc_search.duplicates.keeping import Keep, Known
from simdoc_search.errors import QuerySyntaxError

IDS = ["d", "c", "b", "a"]
SHINGLES, SIZES, CHANGED = [5, 9, 9, 1], [50, 10, 10, 99], [4, 0, 2, 3]


def order(rule: str, *values: MetadataValue | None) -> str:
    """The ids in the order in which they would be kept."""
    return ordered(rule, *values)


def ordered(rule: str, *values: MetadataValue | None, fresh: str = "", chosen: str = "") -> str:
    """The same, of which some are new, and some were kept before."""
    shingles, sizes, changed = (np.array(each, np.int64) for each in (SHINGLES, SIZES, CHANGED))
    of_new, of_chosen = (np.array([id in some for id in IDS]) for some in (fresh, chosen))
    known = Known(IDS.__getitem__, shingles, sizes, changed, values, of_new, of_chosen)
    return "".join(IDS[each] for each in Keep(rule).order(known))


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
