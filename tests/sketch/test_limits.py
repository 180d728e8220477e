"""What makes sentences alike, documents versions, and hits worth showing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.sketch.limits import MOST_BITS, Limits
from simdoc_search.sketch.settings import Settings

shares = st.integers(0, 1000).map(lambda number: number / 1000)


@given(shares, shares, st.integers(0, MOST_BITS), shares)
def test_what_is_stored_is_what_was_given(one: float, other: float, bits: int, min_score: float) -> None:
    """In the settings of a folder; three digits are kept, up to six are."""
    limits = Limits(max(one, other, 0.001), min(one, other), bits, min_score)
    assert limits == Limits.from_text(limits.to_text())
    assert limits == Settings.from_dict(Settings(limits=limits).to_dict()).limits


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"bits": 17}, "bits must be a whole number from 0 to 16, not 17"),
        ({"bits": -1}, "bits must be"),
        ({"bits": True}, "bits must be"),
        ({"bits": 7.0}, "bits must be"),
        ({"min_score": 1.1}, "the minimum score must be from 0 to 1, not 1.1"),
        ({"min_score": float("nan")}, "the minimum score must be"),
        ({"enough": 0.0}, "enough must be over 0 %"),
        ({"enough": 0.3, "least": 0.4}, "enough must be over 0 %, up to 100 %, and least no more than that"),
    ],
)
def test_values_out_of_range_are_refused(given: dict[str, Any], said: str) -> None:
    """With the value, and the range."""
    with pytest.raises(ValueError, match=said):
        Limits(**given)


@pytest.mark.parametrize(
    "text", ["", "0.5 0.1 7", "0.5 0.1 7 nan", "0.5 0.1 7.5 0.5", "0.5 0.1 99 0.5", "a b c d", None]
)
def test_what_nobody_stores_is_refused(text: Any) -> None:
    """Others can write where an index has it."""
    with pytest.raises(ValueError, match=r"not|must be|convert"):
        Limits.from_text(text)


def test_limits_make_no_difference_to_what_is_stored_of_a_document() -> None:
    """So that they can change at any time; an index that has none says nothing of them."""
    assert Settings() == Settings(limits=Limits(bits=3))
    assert "limits" not in Settings().to_dict()
