"""What the name of a document says: a date, a version."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from simdoc_search.versions.dates import Date, dates_in

__all__ = ["NamedVersion", "named_date", "named_version"]

_NUMBER = r"(?P<{}>\d{{1,9}}(?:[._]\d{{1,9}}){{0,3}})"
_BEGIN, _END = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_VERSION = re.compile(
    rf"{_BEGIN}(?:v|ver|version|rev|revision|release|r)[ ._-]?{_NUMBER.format('one')}{_END}"
    rf"|(?<=[A-Za-z0-9)])[ _-]{_NUMBER.format('two').replace('{0,3}', '{1,3}')}$",
    re.IGNORECASE,
)
_STAGE = re.compile(rf"{_BEGIN}(?P<stage>draft|final)[ ._-]?(?P<number>\d{{1,9}})?{_END}", re.IGNORECASE)
_A_COPY, _NUMBERED = r"(?:copy|kopie|copie|copia)", r"(?:[ _-]?(?P<{0}>\d{{1,9}})|[ _]?\((?P<{0}_in>\d{{1,9}})\))?"
_COPY = re.compile(
    rf"^{_A_COPY}{_NUMBERED.format('first')}[ _]+(?:of|von|de|di)[ _]+"
    rf"|[ _-]+{_A_COPY}{_NUMBERED.format('other')}$"
    r"|[ _-]*\((?P<number>\d{1,9})\)$",
    re.IGNORECASE,
)
"""As systems and people name the copy of a file, in English, German, French, Italian and Spanish."""

_SIGNS = re.compile(r"[\W_]+")

_STAGES = {"draft": -1, "": 0, "final": 1}
_MOST = 1 << 62

Key = tuple[tuple[int, ...], int, int, int]


@dataclass(frozen=True, slots=True)
class NamedVersion:
    """The version that a name gives.

    Attributes:
        key: greater for a later one: the number, then draft or final and the number of that, then that of a copy.
        shown: as it stands there, as `v1.10`; empty: it names none.
        stem: the rest of the name, in lower case, without date and signs.
    """

    key: Key
    shown: str
    stem: str


def named_date(name: str) -> Date | None:
    """The date in the name of a file, else in that of the folder it is in, and so on; the latest of the most exact.

    Args:
        name: a path with `/`.
    """
    for part in _parts(name):
        found = [date for date, _ in dates_in(part)]
        if found:
            exact = max(map(len, found))
            return max(date for date in found if len(date) == exact)
    return None


def named_version(name: str) -> NamedVersion:
    """The version in the name of a file, else in that of a folder: `v1.10`, `rev 3`, `spec-2.0`, `final 2`, `(2)`."""
    parts = list(_parts(name))
    found = [_version(part) for part in parts]
    return next((each for each in found if each.shown), found[0])


def _parts(name: str) -> Iterator[str]:
    """The name without its ending, then the folders from the inside out."""
    *folders, last = name.rsplit("/", 3) if "/" in name else [name]
    ending = PurePosixPath(last).suffix
    is_ending = re.fullmatch(r"\.[A-Za-z][A-Za-z0-9]{0,7}", ending)
    yield last.removesuffix(ending) if is_ending else last
    yield from (each for folder in reversed(folders) for each in reversed(folder.split("/")))


def _version(part: str) -> NamedVersion:
    for _, (begin, end) in sorted(dates_in(part), key=lambda each: -each[1][0]):
        part = f"{part[:begin]} {part[end:]}".strip()
    said: list[str] = []
    copies, stage_number, stage = 0, 0, ""
    number: tuple[int, ...] = ()
    if copy := _COPY.search(part):
        copies = int(next(filter(None, copy.groups()), 1))
        part = part[: copy.start()] + part[copy.end() :]
        said.append(copy[0])
    if found := _STAGE.search(part):
        stage, stage_number = found["stage"].lower(), int(found["number"] or 0)
        part = f"{part[: found.start()]} {part[found.end() :]}".strip()
        said.append(found[0])
    if version := _VERSION.search(part):
        number = tuple(int(each) for each in re.split("[._]", version["one"] or version["two"]))
        part = f"{part[: version.start()]} {part[version.end() :]}"
        said.append(version[0])
    if stage == "final" and not number:
        number = (_MOST,)  # `final` comes after `v3`
    if copy and not copy.start():
        said.append(said.pop(0))  # it stands in front
    shown = " ".join(each.strip(" _-") for each in reversed(said))
    return NamedVersion((number, _STAGES[stage], stage_number, copies), shown, _SIGNS.sub(" ", part).strip().lower())
