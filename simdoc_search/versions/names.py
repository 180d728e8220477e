"""What the name of a document says: a date, a version."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from simdoc_search.versions.dates import Date, dates_in

__all__ = ["NamedVersion", "named_date", "named_version", "named_versions"]

_NUMBER = r"(?P<{}>\d{{1,9}}(?:[._]\d{{1,9}}){{0,3}})"
_BEGIN, _END = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_VERSION = re.compile(
    rf"{_BEGIN}(?:v|ver|version|rev|revision|release|r)[ ._-]?{_NUMBER.format('one')}{_END}"
    rf"|(?<=[A-Za-z0-9)])[ _-]{_NUMBER.format('two').replace('{0,3}', '{1,3}')}$",
    re.IGNORECASE,
)
_BARE = re.compile(r"(?<=[A-Za-z0-9)])[ _-](?P<bare>\d{1,3})$")
"""A number that may be anything: `contract-3`, and `covid-19`."""

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
        bare: whether it is a number with neither a `v` nor the like, which means something only beside equal stems.
    """

    key: Key
    shown: str
    stem: str
    bare: bool = False


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


def named_versions(names: Sequence[str]) -> list[NamedVersion | None]:
    """The version in each of several names; None: it has none.

    A name without one is the first of those that are called the same but for theirs. A number alone, as in `GPL-2`, is
    one if another name differs in its number only: `GPL-3`, `GPL-2.1`, `GPL`; that in `pep-0101` or `ISO-9001` is not.
    """
    found = [named_version(each) for each in names]
    numbers: dict[str, set[tuple[int, ...]]] = {}
    bare = [_version(next(_parts(each)), bare=True) for each in names]
    for each in {*found, *bare}:
        numbers.setdefault(each.stem, set()).add(each.key[0])
    found = [
        other if other.bare and not _is_numbered(each) and len(numbers[other.stem]) > 1 else each
        for each, other in zip(found, bare, strict=True)
    ]
    stems = {each.stem for each in found if each.shown}
    return [each if each.shown or each.stem in stems else None for each in found]


def _is_numbered(version: NamedVersion) -> bool:
    return version.key[0] not in ((), (_MOST,))


def _parts(name: str) -> Iterator[str]:
    """The name without its ending, then the folders from the inside out."""
    *folders, last = name.rsplit("/", 3) if "/" in name else [name]
    ending = PurePosixPath(last).suffix
    is_ending = re.fullmatch(r"\.[A-Za-z][A-Za-z0-9]{0,7}", ending)
    yield last.removesuffix(ending) if is_ending else last
    yield from (each for folder in reversed(folders) for each in reversed(folder.split("/")))


def _version(part: str, *, bare: bool = False) -> NamedVersion:
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
    if version := _VERSION.search(part) or (_BARE.search(part) if bare else None):
        number = tuple(int(each) for each in re.split("[._]", version[version.lastgroup or 0]))
        part = f"{part[: version.start()]} {part[version.end() :]}"
        said.append(version[0])
    if stage == "final" and not number:
        number = (_MOST,)  # `final` comes after `v3`
    if copy and not copy.start():
        said.append(said.pop(0))  # it stands in front
    shown = " ".join(each.strip(" _-") for each in reversed(said))
    key = number, _STAGES[stage], stage_number, copies
    is_bare = version is not None and version.lastgroup != "one"
    return NamedVersion(key, shown, _SIGNS.sub(" ", part).strip().lower(), is_bare)
