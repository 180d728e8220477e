"""A short month of an application. scripts/living.py plays longer ones, on other engines and with data streams."""

from __future__ import annotations

import pytest

from tests.living.month import Size, month, play


@pytest.mark.slow
def test_all_answers_are_right_during_a_month(opensearch_url: str) -> None:
    """With rollovers, all ways of writing, a reindexed index and a snapshot."""
    with month(opensearch_url, Size(rollover=12, documents=30, sources=1)) as played:
        play(played, print, checked_steps=4)
