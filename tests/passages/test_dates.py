"""Dates in names, texts and metadata."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.documents import MetadataValue
from simdoc_search.passages.dates import (
    Date,
    date_from_nanoseconds,
    find_dates,
    find_latest_day,
    format_date,
    format_iso,
    parse_date,
)

IN_TEXTS: dict[str, Date | None] = {
    "2021-03-12": (2021, 3, 12),
    "20210312": (2021, 3, 12),
    "scan20210312b": (2021, 3, 12),
    "Report 12 Mar 2021 final": (2021, 3, 12),
    "12Mar2021": (2021, 3, 12),
    "March 12, 2021": (2021, 3, 12),
    "the 3rd of nothing, 3rd March 2021": (2021, 3, 3),
    "12.03.2021": (2021, 3, 12),
    "25/3/2021": (2021, 3, 25),
    "3-25-2021": (2021, 3, 25),
    "04/04/2021": (2021, 4, 4),
    "2021_03": (2021, 3),
    "Mar-2021": (2021, 3),
    "1. März 2021": (2021, 3, 1),
    "1er août 2021": (2021, 8, 1),
    "12 de marzo de 2021": (2021, 3, 12),
    "15_Dezember_2021": (2021, 12, 15),
    "settembre 2021": (2021, 9),
    "1. Ma\u0308rz 2021": (2021, 3, 1),
    "1.\u00a0März\u00a02021": (2021, 3, 1),
    "1. März\r\n2021": (2021, 3, 1),
    "12 March\n   2021": (2021, 3, 12),
    "March 12,\n2021": (2021, 3, 12),
    "1st day of March, 2021": (2021, 3, 1),
    "1 de marzo del 2021": (2021, 3, 1),
    "1. 3. 2021": (2021, 3, 1),
    "合同2021年3月12日": (2021, 3, 12),
    "2021年3月": (2021, 3),
    "Invoice 3 - March 2021": (2021, 3),
    "3\n\nMarch 2021": (2021, 3),
    "Part 2 of March 2021": (2021, 3),
    "Marketing 2021": (2021,),
    "Decree 5, 2021": (2021,),
    "Novel-2021": (2021,),
    "Report2021": (2021,),
} | dict.fromkeys(
    ["03/04/2021", "2021-02-30", "31.02.2021", "12021", "v1.2021", "2021.5", "20213", "Marvel 12", "1821", ""]
)


@pytest.mark.parametrize(("text", "expected"), IN_TEXTS.items())
def test_a_date_in_a_text_is_read_as_exactly_as_it_is_written(text: str, expected: Date | None) -> None:
    """Ambiguous dates, impossible dates and parts of longer numbers are not read."""
    assert ([] if expected is None else [expected]) == [date for date, _ in find_dates(text)]


IN_METADATA: list[tuple[MetadataValue, Date | None]] = [
    ("2021-03-12T10:15:00Z", (2021, 3, 12, 10, 15, 0)),
    ("2021-03-12T23:30:00-02:00", (2021, 3, 13, 1, 30, 0)),
    ("2023-09-13T14:02:34.367419807", (2023, 9, 13, 14, 2, 34)),
    ("2021-03-12", (2021, 3, 12)),
    ("D:20210312101500Z", (2021, 3, 12)),
    ("Wed, 4 Oct 2023 09:27:45 -0500", (2023, 10, 4, 14, 27, 45)),
    ("Wed Jun 13 00:21:34 +0200 2007", (2007, 6, 12, 22, 21, 34)),
    ("March 2021", (2021, 3)),
    (["2021-03-12", "2022-01-01"], (2021, 3, 12)),
    (1615544100, (2021, 3, 12, 10, 15, 0)),
    (1615544100000, (2021, 3, 12, 10, 15, 0)),
    (2021, (2021,)),
    (True, None),
    (7, None),
    (float("nan"), None),
    ([], None),
    ("yesterday", None),
    ("9999-12-31T23:59:59-10:00", None),
]


@pytest.mark.parametrize(("value", "expected"), IN_METADATA)
def test_a_date_in_metadata_may_have_a_time(value: MetadataValue, expected: Date | None) -> None:
    """The time is converted to UTC."""
    assert expected == parse_date(value)


@given(st.one_of(st.text(), st.integers(), st.floats(), st.lists(st.text())))
def test_any_value_is_a_date_or_none(value: MetadataValue) -> None:
    """Every date can be shown."""
    if (date := parse_date(value)) is not None:
        assert format_date(date)
        assert format_iso(date)


def test_a_date_is_shown_as_exactly_as_it_is_known() -> None:
    """The time is only in the ISO form."""
    dates: list[Date] = [(2021, 3, 12, 10, 0, 5), (2021, 3), (2021,)]

    assert ["12 Mar 2021", "Mar 2021", "2021"] == list(map(format_date, dates))
    assert ["2021-03-12T10:00:05Z", "2021-03", "2021"] == list(map(format_iso, dates))
    assert (1970, 1, 1, 0, 0, 1) == date_from_nanoseconds(10**9)
    assert date_from_nanoseconds(10**30) is None


WRITTEN = st.sampled_from(
    ["2021-03-12", "20210312", "12 Mar 2022", "May 3, 2020", "3.4.2022", "2023", "Jun 2024", "1/2/2025"]
)


@given(st.lists(st.one_of(WRITTEN, st.text("0123456789-./Mar", max_size=8)), max_size=8))
def test_the_latest_day_is_the_latest_whole_date(parts: list[str]) -> None:
    """A month or a year alone does not count as a day."""
    text = " and also ".join(parts)

    assert max((date for date, _ in find_dates(text) if len(date) == 3), default=None) == find_latest_day(text)
