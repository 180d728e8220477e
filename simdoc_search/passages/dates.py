"""Dates as people and programs write them, in metadata, in names and in texts.

A date is a tuple, as exact as it was written: (2021,), (2021, 3), (2021, 3, 12), or with hour, minute and second of
UTC. Month names are English. What can be read in two ways, as 03/04/2021, is no date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

from simdoc_search.documents import MetadataValue

Date = tuple[int, ...]

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_MONTH = r"(?P<month>0[1-9]|1[0-2])"
_DAY = r"(?P<day>0[1-9]|[12]\d|3[01])"
_NAMED = rf"(?<![A-Za-z])(?P<named>{'|'.join(_MONTHS)})[a-z]{{0,6}}"
_DAY_ALONE = r"(?<!\d)(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_BETWEEN = r"[-_., /]{1,2}"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<!\d){_YEAR}(?P<sign>[-_./ ]?){_MONTH}(?P=sign){_DAY}(?!\d)",
        rf"{_DAY_ALONE}[-_. ]{{0,2}}{_NAMED}[-_., ]{{0,2}}{_YEAR}(?!\d)",
        rf"{_NAMED}{_BETWEEN}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?{_BETWEEN}{_YEAR}(?!\d)",
        rf"(?<!\d)(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.{_YEAR}(?!\d)",
        rf"(?<!\d)(?P<one>\d{{1,2}})(?P<sign>[-/_])(?P<two>\d{{1,2}})(?P=sign){_YEAR}(?!\d)",
        rf"{_NAMED}[-_., ]{{0,2}}{_YEAR}(?!\d)",
        rf"(?<!\d){_YEAR}[-_.]{_MONTH}(?!\d)",
        rf"(?<![\d.,]){_YEAR}(?![\d%]|[.,]\d)",
    )
)
"""The more exact first: what one has found is no date of a later one."""

_OF_DAYS = 5
"""How many of them find whole days."""

_A_YEAR = re.compile(r"(?=((?:19|20)\d\d))")
_BEFORE, _AFTER = 30, 12
"""Characters around a year in which the whole date is."""

_SECONDS, _MILLISECONDS = (10**8, 10**10), (10**11, 10**13)
"""Numbers that are times since 1970 in such a unit, of the years 1973 to 2286."""

_FRACTION = re.compile(r"(?<=:\d\d)\.\d+")
_LONGEST = 200


def dates_in(text: str, patterns: Sequence[re.Pattern[str]] = _PATTERNS) -> Iterator[tuple[Date, tuple[int, int]]]:
    """The dates in a text or a name, each with its place; the more exact ones first."""
    taken = bytearray(len(text))
    for pattern in patterns:
        for found in pattern.finditer(text):
            begin, end = found.span()
            if not any(taken[begin:end]):
                taken[begin:end] = b"\1" * (end - begin)
                if date := _checked(_parts(found.groupdict())):
                    yield date, (begin, end)


def latest_day(text: str) -> Date | None:
    """The latest day that a text names."""
    years: dict[str, list[int]] = {}
    for found in _A_YEAR.finditer(text):
        years.setdefault(found[1], []).append(found.start())
    for year in sorted(years, reverse=True):
        around = "\n".join(text[max(0, at - _BEFORE) : at + _AFTER] for at in years[year])
        days = [date for date, _ in dates_in(around, _PATTERNS[:_OF_DAYS]) if date[0] == int(year)]
        if days:
            return max(days)
    return None


def date_of(value: MetadataValue) -> Date | None:
    """The date that a value of metadata is: as in ISO 8601, e-mail or PDF, a time since 1970, or as people write.

    Of a list it is the first.
    """
    if isinstance(value, list):
        return date_of(value[0]) if value else None
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _of_number(value)
    return _of_text(value.strip()[:_LONGEST])


def of_nanoseconds(value: int) -> Date | None:
    """A time since 1970; None: there is no such date."""
    with suppress(ValueError, OverflowError, OSError):
        return _utc(datetime.fromtimestamp(value / 1e9, timezone.utc))
    return None


def shown(date: Date) -> str:
    """For people: `12 Mar 2021`, as exact as it is, but without its time."""
    named = [_MONTHS[month - 1] for month in date[1:2]]
    return " ".join([*map(str, date[2:3]), *named, str(date[0])])


def iso(date: Date) -> str:
    """As ISO 8601 has it: `2021-03-12`, `2021-03-12T10:15:00Z`."""
    day = "-".join(f"{part:02}" for part in date[:3])
    return f"{day}T{':'.join(f'{part:02}' for part in date[3:])}Z" if len(date) > 3 else day


def _parts(groups: dict[str, str | None]) -> Date:
    year = int(groups["year"] or 0)
    if one := groups.get("one"):
        first, second = int(one), int(groups["two"] or 0)
        day, month = (first, second) if first > len(_MONTHS) else (second, first)
        return (year, month, day) if day > len(_MONTHS) or day == month else (0,)
    named, day_of = groups.get("named"), groups.get("day")
    month_of = groups.get("month") or (_MONTHS.index(named.title()) + 1 if named else None)
    return tuple(int(each) for each in (year, month_of, day_of) if each is not None)


def _checked(parts: Date) -> Date | None:
    """None for what no calendar has."""
    with suppress(ValueError, OverflowError):
        datetime(*(*parts, 1, 1)[:3])  # type: ignore[arg-type]
        return parts
    return None


def _of_number(value: float) -> Date | None:
    if 1900 <= value < 2100 and value == int(value):
        return (int(value),)
    for (least, most), unit in ((_SECONDS, 1), (_MILLISECONDS, 1000)):
        if least <= value < most:
            return _utc(datetime.fromtimestamp(value / unit, timezone.utc))
    return None


def _of_text(value: str) -> Date | None:
    with suppress(ValueError, OverflowError):
        found = datetime.fromisoformat(_FRACTION.sub("", value).replace("Z", "+00:00"))  # as Python 3.10 takes it
        return _utc(found) if ":" in value or "T" in value.upper() else (found.year, found.month, found.day)
    if value.startswith("D:"):
        value = value[2:10] if value[2:10].isdigit() else value[2:]
    with suppress(ValueError, TypeError, IndexError, OverflowError):
        if ":" in value:
            return _utc(parsedate_to_datetime(value))
    return max((date for date, _ in dates_in(value)), default=None)


def _utc(found: datetime) -> Date:
    """One without a zone is taken for UTC."""
    there = found if found.tzinfo is None else found.astimezone(timezone.utc)
    return there.year, there.month, there.day, there.hour, there.minute, there.second
