"""The error for a store with other settings than the requested ones."""

from __future__ import annotations

import pytest

from simdoc_search.analysis import Analysis
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.settings_check import check_settings

PLAIN, STEMMED = Settings(Analysis()), Settings(Analysis(stem="de"))


@pytest.mark.parametrize(
    ("stored", "requested", "difference"),
    [
        (PLAIN, STEMMED, "analysis.stem None, not 'de'"),
        (STEMMED, PLAIN, "analysis.stem 'de', not None"),
        (PLAIN, Settings(Analysis(shingle_size=3)), "analysis.shingle_size 5, not 3"),
    ],
)
def test_each_setting_that_differs_is_named(stored: Settings, requested: Settings, difference: str) -> None:
    """The stored form of the settings contains no defaults of optional settings."""
    with pytest.raises(FormatMismatchError) as caught:
        check_settings(stored, requested, "articles")

    assert str(caught.value) == (
        f"the index articles was created with {difference}; omit the settings that differ, or index into a new index"
    )
