"""Reads dates in metadata, file names and texts, in the formats that people and programs use.

A date is a tuple: (2021,), (2021, 3), (2021, 3, 12), or year, month, day, hour, minute and second in UTC. Month names
are English, German, French, Spanish or Italian. Chinese, Japanese and Korean dates have numbers: 2021年3月12日. An
ambiguous date, such as 03/04/2021, is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from unicodedata import normalize

from simdoc_search.documents import MetadataValue

Date = tuple[int, ...]

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH_WORDS = (
    "jan january januar janvier enero gennaio",
    "feb february februar février fevrier febrero febbraio",
    "mar march märz maerz mrz mars marzo",
    "apr april avril abril aprile",
    "may mai mayo maggio",
    "jun june juni juin junio giugno",
    "jul july juli juillet julio luglio",
    "aug august août aout agosto",
    "sep sept september septembre septiembre setiembre settembre",
    "oct october oktober okt octobre octubre ottobre",
    "nov november novembre noviembre",
    "dec december dezember dez décembre decembre diciembre dicembre",
)
"""The names of each month in English, German, French, Spanish and Italian, in lower case."""
_MONTH_NUMBERS = {
    normalize(form, word): month
    for month, words in enumerate(_MONTH_WORDS, 1)
    for word in words.split()
    for form in ("NFC", "NFD")
}
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_MONTH = r"(?P<month>0[1-9]|1[0-2])"
_DAY = r"(?P<day>0[1-9]|[12]\d|3[01])"
_MONTH_NAME = rf"(?<![^\W\d_])(?P<named>{'|'.join(sorted(_MONTH_NUMBERS, reverse=True))})(?![^\W\d_])"
_SPACE = r"(?:[^\S\r\n]{1,3}|[^\S\r\n]{0,3}\r?\n[^\S\r\n]{0,9})"
"""Spaces or one line break, because a date may be at the end of a line."""
_GAP = rf"(?:[-_., ]{{0,2}}|[.,]?{_SPACE}|(?:_|{_SPACE})del?(?:_|{_SPACE}))"
_DAY_OF = rf"(?:st|nd|rd|th){_SPACE}(?:day{_SPACE})?of{_SPACE}"
_DAY_BEFORE_MONTH = rf"(?<!\d)(?P<day>\d{{1,2}})(?:{_DAY_OF}|(?:st|nd|rd|th|er)?{_GAP})"
_SEPARATOR = rf"(?:[-_., /]{{1,2}}|,?{_SPACE})"
_DAY_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<!\d){_YEAR}(?P<separator>[-_./ ]?){_MONTH}(?P=separator){_DAY}(?!\d)",
        rf"{_DAY_BEFORE_MONTH}{_MONTH_NAME}{_GAP}{_YEAR}(?!\d)",
        rf"{_MONTH_NAME}{_SEPARATOR}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?{_SEPARATOR}{_YEAR}(?!\d)",
        rf"(?<!\d)(?P<day>\d{{1,2}})\. ?(?P<month>\d{{1,2}})\. ?{_YEAR}(?!\d)",
        rf"(?<!\d){_YEAR}\s?[年년]\s?(?P<month>\d{{1,2}})\s?[月월]\s?(?P<day>\d{{1,2}})\s?[日号號일]",
        rf"(?<!\d)(?P<first>\d{{1,2}})(?P<separator>[-/_])(?P<second>\d{{1,2}})(?P=separator){_YEAR}(?!\d)",
    )
)
_DATE_PATTERNS = _DAY_PATTERNS + tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_MONTH_NAME}{_GAP}{_YEAR}(?!\d)",
        rf"(?<!\d){_YEAR}[-_.]{_MONTH}(?!\d)",
        rf"(?<!\d){_YEAR}\s?[年년]\s?(?P<month>\d{{1,2}})\s?[月월]",
        rf"(?<![\d.,]){_YEAR}(?![\d%]|[.,]\d)",
    )
)
"""The most precise patterns come first. Later patterns do not match inside the matches of earlier ones."""

_ANY_YEAR = re.compile(r"(?=((?:19|20)\d\d))")
_MAX_CHARACTERS_BEFORE_YEAR, _MAX_CHARACTERS_AFTER_YEAR = 30, 12
"""The whole date is between 30 characters before and 12 characters after the start of its year."""

_SECONDS_RANGE, _MILLISECONDS_RANGE = (10**8, 10**10), (10**11, 10**13)
"""Numbers in these ranges are read as seconds or milliseconds since 1970. The ranges cover the years 1973 to 2286."""

_SECOND_FRACTION = re.compile(r"(?<=:\d\d)\.\d+")
_MAX_DATE_CHARACTERS = 200


def find_dates(
    text: str, patterns: Sequence[re.Pattern[str]] = _DATE_PATTERNS
) -> Iterator[tuple[Date, tuple[int, int]]]:
    """Yield each date in a text or a name with its start and end. The most precise dates come first."""
    if not _ANY_YEAR.search(text):  # each pattern has a year; most texts have none, and the patterns are slow
        return
    taken = bytearray(len(text))
    for pattern in patterns:
        for match in pattern.finditer(text):
            begin, end = match.span()
            if not any(taken[begin:end]):
                taken[begin:end] = b"\1" * (end - begin)
                if date := _date_from_groups(match.groupdict()):
                    yield date, (begin, end)


def find_latest_day(text: str) -> Date | None:
    """Return the latest date with a day, not just a month or a year, in a text; None if there is none."""
    years: dict[str, list[int]] = {}
    for match in _ANY_YEAR.finditer(text):
        years.setdefault(match[1], []).append(match.start())
    for year in sorted(years, reverse=True):
        around = "\n".join(
            text[max(0, start - _MAX_CHARACTERS_BEFORE_YEAR) : start + _MAX_CHARACTERS_AFTER_YEAR]
            for start in years[year]
        )
        dates = [date for date, _ in find_dates(around, _DAY_PATTERNS) if date[0] == int(year)]
        if dates:
            return max(dates)
    return None


def parse_date(value: MetadataValue) -> Date | None:
    """Return the date in a metadata value, or None if the value is not a date.

    The value may be a date in ISO 8601, in the format of e-mail or PDF, or as people write it. A number is a year, or
    the number of seconds or milliseconds since 1970. Only the first value of a list counts.
    """
    if isinstance(value, list):
        return parse_date(value[0]) if value else None
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _date_from_number(value)
    # An application's field can also contain an object.
    return _parse_date_text(value.strip()[:_MAX_DATE_CHARACTERS]) if isinstance(value, str) else None


def date_from_nanoseconds(value: int) -> Date | None:
    """Convert nanoseconds since 1970 to a date. Return None if the time is out of range."""
    with suppress(ValueError, OverflowError, OSError):
        return _to_utc(datetime.fromtimestamp(value / 1e9, timezone.utc))
    return None


def format_date(date: Date) -> str:
    """Format a date without its time for display: `12 Mar 2021`."""
    month_names = [_MONTHS[month - 1] for month in date[1:2]]
    return " ".join([*map(str, date[2:3]), *month_names, str(date[0])])


def format_iso(date: Date) -> str:
    """Format a date in ISO 8601: `2021-03-12`, `2021-03-12T10:15:00Z`."""
    day = "-".join(f"{part:02}" for part in date[:3])
    return f"{day}T{':'.join(f'{part:02}' for part in date[3:])}Z" if len(date) > 3 else day


def format_day(value: int, part_count: int = 3) -> str:
    """Format nanoseconds since 1970 as `2021-03-12`, or as `2021` or `2021-03` for a `part_count` of 1 or 2.

    The result is empty if the time is out of range.
    """
    date = date_from_nanoseconds(value)
    return "" if date is None else format_iso(date[: min(part_count, 3)])


def _date_from_groups(groups: dict[str, str | None]) -> Date | None:
    """Return the date of a match, or None if the date is ambiguous or does not exist in the calendar."""
    year = int(groups["year"] or 0)
    if groups.get("first"):
        first, second = int(groups["first"] or 0), int(groups["second"] or 0)
        day, month = (first, second) if first > len(_MONTHS) else (second, first)
        if day <= len(_MONTHS) and day != month:
            return None
        date: Date = (year, month, day)
    else:
        named = groups.get("named")
        month_text = groups.get("month") or (_MONTH_NUMBERS[named.lower()] if named else None)
        date = tuple(int(part) for part in (year, month_text, groups.get("day")) if part is not None)
    with suppress(ValueError, OverflowError):
        datetime(*(*date, 1, 1)[:3])  # type: ignore[arg-type]
        return date
    return None


def _date_from_number(value: float) -> Date | None:
    if 1900 <= value < 2100 and value == int(value):
        return (int(value),)
    for (minimum, maximum), unit in ((_SECONDS_RANGE, 1), (_MILLISECONDS_RANGE, 1000)):
        if minimum <= value < maximum:
            return _to_utc(datetime.fromtimestamp(value / unit, timezone.utc))
    return None


def _parse_date_text(value: str) -> Date | None:
    with suppress(ValueError, OverflowError):
        # Python 3.10 does not accept `Z`, and accepts only 3 or 6 decimals.
        time = datetime.fromisoformat(_SECOND_FRACTION.sub("", value).replace("Z", "+00:00"))
        return _to_utc(time) if ":" in value or "T" in value.upper() else (time.year, time.month, time.day)
    if value.startswith("D:"):
        value = value[2:10] if value[2:10].isdigit() else value[2:]
    with suppress(ValueError, TypeError, IndexError, OverflowError):
        if ":" in value:
            return _to_utc(parsedate_to_datetime(value))
    return max((date for date, _ in find_dates(value)), default=None)


def _to_utc(time: datetime) -> Date:
    """Convert a time to a date in UTC. A time without a time zone is assumed to be in UTC."""
    utc = time if time.tzinfo is None else time.astimezone(timezone.utc)
    return utc.year, utc.month, utc.day, utc.hour, utc.minute, utc.second
