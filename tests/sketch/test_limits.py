"""Limits for similar sentences, versions and hits."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.sketch.limits import MAX_SENTENCE_DISTANCE, Limits
from simdoc_search.sketch.settings import Settings

shares = st.integers(0, 1000).map(lambda number: number / 1000)


@given(shares, shares, st.integers(0, MAX_SENTENCE_DISTANCE), shares)
def test_stored_limits_are_read_back(one: float, other: float, bits: int, min_score: float) -> None:
    limits = Limits(max(one, other, 0.001), min(one, other), bits, min_score)

    assert limits == Limits.from_text(limits.to_text())
    assert limits == Settings.from_dict(Settings(limits=limits).to_dict()).limits


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"max_distance": 17}, "max_distance must be a whole number from 0 to 16, not 17"),
        ({"max_distance": 7.0}, "max_distance must be"),
        ({"min_score": 1.1}, "min_score must be from 0 to 1, not 1.1"),
        ({"min_score": float("nan")}, "min_score must be"),
        ({"min_share": 0.0}, "min_share must be greater than 0 %"),
        (
            {"min_share": 0.3, "min_smaller_share": 0.4},
            "and min_smaller_share must be from 0 % to min_share; they are 30 % and 40 %",
        ),
    ],
)
def test_values_out_of_range_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Limits(**given)


@pytest.mark.parametrize("text", ["", "0.5 0.1 7", "0.5 0.1 7 nan", "0.5 0.1 7.5 0.5", "0.5 0.1 99 0.5", None])
def test_malformed_stored_limits_are_refused(text: Any) -> None:
    with pytest.raises(ValueError, match=r"not|must be|convert"):
        Limits.from_text(text)


def test_limits_can_change_at_any_time() -> None:
    """Limits do not affect the stored data of a document."""
    assert Settings() == Settings(limits=Limits(max_distance=3))
    assert "limits" not in Settings().to_dict()
