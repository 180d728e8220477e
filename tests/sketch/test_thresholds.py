"""Thresholds for similar sentences, versions and hits."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.thresholds import MAX_DISTANCE_LIMIT, MIN_VERSION_SCORE, SimilarityThresholds

shares = st.integers(0, 1000).map(lambda number: number / 1000)


@given(shares, shares, st.integers(0, MAX_DISTANCE_LIMIT), shares)
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
        *(({"min_share": share}, "min_share must be greater than 0 %") for share in (0.0, 1.1, float("nan"))),
        ({"min_smaller_share": -0.1}, "min_smaller_share must be from 0 % to min_share"),
        (
            {"min_share": 0.3, "min_smaller_share": 0.4},
            "and min_smaller_share must be from 0 % to min_share; they are 30 % and 40 %",
        ),
    ],
)
def test_values_out_of_range_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SimilarityThresholds(**given)


def test_the_score_of_versions_rises_with_the_larger_share() -> None:
    """It does not depend on the order of the documents. A document is not a version if a share is too small."""
    thresholds = SimilarityThresholds(0.6, 0.2)
    scores = [thresholds.score(larger, 0.2) for larger in (0.6, 0.8, 1.0)]

    assert [MIN_VERSION_SCORE, (1 + MIN_VERSION_SCORE) / 2, 1.0] == pytest.approx(scores)
    assert scores == [thresholds.score(0.2, larger) for larger in (0.6, 0.8, 1.0)]
    assert [None] * 3 == [thresholds.score(*shares) for shares in ((0.59, 0.59), (0.8, 0.19), (0.19, 0.8))]
    assert [1.0, None] == [SimilarityThresholds(1.0, 0.0).score(1.0, share) for share in (0.01, 0.0)]


@pytest.mark.parametrize("text", ["", "0.5 0.1 7", "0.5 0.1 7 nan", "0.5 0.1 7.5 0.5", "0.5 0.1 99 0.5", None])
def test_malformed_stored_thresholds_are_refused(text: Any) -> None:
    with pytest.raises(ValueError, match=r"not|must be|convert"):
        SimilarityThresholds.from_text(text)


def test_thresholds_can_change_at_any_time() -> None:
    """Thresholds do not affect the stored data of a document."""
    assert Settings() == Settings(thresholds=SimilarityThresholds(max_distance=3))
    assert "thresholds" not in Settings().to_dict()
