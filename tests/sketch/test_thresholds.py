"""Thresholds for similar sentences, versions and hits."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.thresholds import MAX_SENTENCE_DISTANCE, SimilarityThresholds

shares = st.integers(0, 1000).map(lambda number: number / 1000)


@given(shares, shares, st.integers(0, MAX_SENTENCE_DISTANCE), shares)
def test_stored_thresholds_are_read_back(one: float, other: float, bits: int, min_score: float) -> None:
    thresholds = SimilarityThresholds(max(one, other, 0.001), min(one, other), bits, min_score)

    assert thresholds == SimilarityThresholds.from_text(thresholds.to_text())
    assert thresholds == Settings.from_dict(Settings(thresholds=thresholds).to_dict()).thresholds


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"max_distance": 17}, "max_distance must be a whole number from 0 to 16, not 17"),
        ({"max_distance": 7.0}, "max_distance must be"),
        ({"min_score": 1.1}, "min_score must be from 0 to 1, not 1.1"),
        ({"min_score": float("nan")}, "min_score must be"),
        ({"min_share": 0.0}, "min_share must be greater than 0 %"),
        (
            {"min_share": 0.3, "min_share_of_other": 0.4},
            "and min_share_of_other must be from 0 % to min_share; they are 30 % and 40 %",
        ),
    ],
)
def test_values_out_of_range_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SimilarityThresholds(**given)


@pytest.mark.parametrize("text", ["", "0.5 0.1 7", "0.5 0.1 7 nan", "0.5 0.1 7.5 0.5", "0.5 0.1 99 0.5", None])
def test_malformed_stored_thresholds_are_refused(text: Any) -> None:
    with pytest.raises(ValueError, match=r"not|must be|convert"):
        SimilarityThresholds.from_text(text)


def test_thresholds_can_change_at_any_time() -> None:
    """Thresholds do not affect the stored data of a document."""
    assert Settings() == Settings(thresholds=SimilarityThresholds(max_distance=3))
    assert "thresholds" not in Settings().to_dict()
