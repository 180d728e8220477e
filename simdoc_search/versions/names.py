"""Finds dates and versions in document names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import PurePosixPath
from unicodedata import normalize

from simdoc_search.corpus.member_names import find_archive
from simdoc_search.passages.dates import Date, find_dates

_NUMBER = r"(?P<{}>\d{{1,9}}(?:[._]\d{{1,9}}){{0,3}})"
_WORD_START, _WORD_END = r"(?<![^\W_])", r"(?![^\W_])"
_VERSION_WORD = r"ver|vers|version|versión|versione|rev|rév|revision|révision|revisión|revisione|fassung|release"
_CAPITAL_FOLLOWS = r"(?-i:(?<=[a-z])(?=[A-Z]))"  # so `revA` is a version, but `very` and `Vera` are not
_VERSION = re.compile(
    rf"{_WORD_START}(?:{_VERSION_WORD}|v|r)[ ._-]{{0,2}}{_NUMBER.format('one')}{_WORD_END}"
    rf"|{_WORD_START}(?:{_VERSION_WORD})(?:[ ._-]{{1,2}}|{_CAPITAL_FOLLOWS})(?P<letter>[a-z]){_WORD_END}"
    rf"|(?<=[A-Za-z0-9)])[ _-]{_NUMBER.format('two').replace('{0,3}', '{1,3}')}$",
    re.IGNORECASE,
)
_BARE_NUMBER = re.compile(r"(?<=[A-Za-z0-9)])[ _-](?P<bare>\d{1,3})$")
"""A number that does not follow a word such as `v`. It may be a version (`contract-3`) or not (`covid-19`)."""

_STAGES = {
    -1: r"draft|wip|entwurf|vorläufige?r?|brouillon|provisoire|borrador|provisional|bozza",
    1: r"final|finale[rns]?|finalised|finalized|approved|endfassung|endversion|schlussfassung|endgültige?r?|"
    r"freigegeben|genehmigt|d[ée]finitif|d[ée]finitive|approuvée?|definitiv[oa]|aprobad[oa]",
    2: r"signed|unterschrieben|unterzeichnet|signiert|signée?|firmad[oa]|firmat[oa]",
    3: r"executed|countersigned|gegengezeichnet|ausgefertigt|contresignée?",
}
"""Words for the stage of a document, in English, German, French, Spanish and Italian."""

_DRAFT, _FINAL = -1, 1
_STAGE = re.compile(
    rf"{_WORD_START}(?:(?P<draft>{_STAGES[_DRAFT]})|(?P<final>{_STAGES[_FINAL]})|(?P<signed>{_STAGES[2]})"
    rf"|(?P<executed>{_STAGES[3]}))(?:[ ._-]?(?P<number>\d{{1,9}}))?{_WORD_END}",
    re.IGNORECASE,
)
_STAGE_BY_GROUP = {"draft": _DRAFT, "final": _FINAL, "signed": 2, "executed": 3}
_FINAL_NUMBER = re.compile(r"[ ._-]{0,2}v(?:er|ersion)?[ ._-]?(?P<number>\d{1,9})(?![^\W_])", re.IGNORECASE)
"""The number in `final_v2` counts final versions. The number in `draft v2` is the version number."""

_AGES = {
    -2: r"old|older|outdated|obsolete|superseded|previous|alte?[rsnm]?|veraltet|überholt|vorherige?[rsn]?|"
    r"ancien(?:ne)?|vieux|vieille|précédente?|antigu[oa]|viej[oa]|anterior|vecchi[oa]|precedente",
    0: r"new|newer|newest|latest|updated|neue?[rsnm]?|neueste?[rsn]?|aktuell|aktualisiert|nouveau|nouvel(?:le)?|"
    r"nuev[oa]|actualizad[oa]|nuov[oa]|aggiornat[oa]",
}
"""Words for the age of a document, in the same languages, by the stage in its key."""

_OLD = -2
_AGE = re.compile(
    rf"^(?:(?:the|der|die|das)[ _-])?(?:(?P<old>{_AGES[_OLD]})|{_AGES[0]})(?=[ _-])"
    rf"|(?<=[^\W_])[ _-]+\(?(?:(?P<old_end>{_AGES[_OLD]})|{_AGES[0]})(?:[ ._-]?(?P<number>\d{{1,3}}))?\)?$",
    re.IGNORECASE,
)
"""A word for the age counts only at the start or the end of a name without a version or stage."""

_OLD_WORD = re.compile(rf"{_WORD_START}(?:{_AGES[_OLD]}|archiv(?:es?|os?|io)?){_WORD_END}", re.IGNORECASE)

_EMPHASIS = re.compile(rf"{_WORD_START}(?:really|actually|truly|wirklich|vraiment|realmente){_WORD_END}", re.IGNORECASE)
_COPY_WORD = "(?:copy|kopie|copie|c[oó]pia|kopia|kopya|копия|副本|コピー|복사본|สำเนา)"
_COPY_NUMBER = r"(?:[ _-]?\d{1,9}|[ _]?\(\d{1,9}\))?"
_COPY_MARK = re.compile(
    rf"^{_COPY_WORD}{_COPY_NUMBER}[ _]+(?:of|von|de|di)[ _]+|(?:[ _–—-]+|の){_COPY_WORD}{_COPY_NUMBER}$"
    r"|[ _-]*\((?:\d{1,3}|"
    rf"(?:another |\d{{1,3}}[a-z]{{2}} |[^()]{{0,60}}conflicted )?{_COPY_WORD}(?: [\d -]{{0,20}})?)\)$",
    re.IGNORECASE,
)
"""Marks of file copies of Windows, macOS, Linux, Google Drive and Dropbox. They do not affect the order, because a copy
may be older or newer than its original."""

_PADDED_NUMBER = re.compile(r"(?<!\d)0\d")
_MAX_DAY, _MAX_MONTH = 31, 12
_PUNCTUATION = re.compile(r"[\W_]+")
_LATEST_NUMBER = 1 << 62
_LAST_DRAFT_NUMBER = 1 << 40

VersionKey = tuple[tuple[int, ...], int, int]


@dataclass(frozen=True, slots=True)
class NamedVersion:
    """The version in a name.

    Attributes:
        key: sort key: the version number, then the stage (old, draft, none or new, final, signed, executed) and its
            number. New names have a number.
        label: the version as spelled in the name, such as `v1.10`; empty if there is none.
        stem: the rest of the name in lower case, without date, copy mark and punctuation. Only versions with equal
            stems can be compared.
        is_bare: whether the version is a number that does not follow a word such as `v`.
        is_age: whether the version is only a word for its age, such as `old` or `new`.
    """

    key: VersionKey
    label: str
    stem: str
    is_bare: bool = False
    is_age: bool = False

    @property
    def is_numbered(self) -> bool:
        """Whether the version has a number, not only a stage."""
        return self.key[0] not in ((), (_LATEST_NUMBER,))


def remove_copy_marks(name: str) -> str:
    """Return a name, without its extension, without the marks of a file copy, such as `(1)` or `Kopie von`."""
    while copy := _COPY_MARK.search(name):
        name = name[: copy.start()] + name[copy.end() :]
    return name


def is_named_old(path: str) -> bool:
    """Return whether a file or one of its folders has a name such as `lease old` or `Archive 2019`."""
    return any(map(_OLD_WORD.search, _split_path(normalize("NFC", path))))


def find_date_in_name(path: str) -> Date | None:
    """Return the date in the name of a file, or of the innermost folder with a date; None if there is no date.

    If a name has several dates, the latest one of the most precise dates is returned. A year alone is not a
    date if it is later than the next year: `IMG_2040`.
    """
    latest_year = datetime.now(timezone.utc).year + 1
    for part in _split_path(normalize("NFC", path)):
        dates = [date for date, _ in find_dates(part) if len(date) > 1 or date[0] <= latest_year]
        if dates:
            parts = max(map(len, dates))
            return max(date for date in dates if len(date) == parts)
    return None


def find_version_in_name(path: str) -> NamedVersion:
    """Return the version in the name of a file or its folder, such as `v1.10`, `rev B`, `spec-2.0` or `final 2`."""
    file, *folders = map(_parse_version, _split_path(path))
    folder = next((version for version in folders if version.label), None)
    if file.label or folder is None:
        return file
    return replace(folder, stem=f"{folder.stem}/{file.stem}")


def find_versions_in_names(names: Sequence[str]) -> list[NamedVersion | None]:
    """Return the version in each name.

    A name without a version may have the same stem as names with versions. If those names have stages but no numbers,
    the name is ordered between draft and final. If they have numbers, such as `v1` and `v2`, the result for the name is
    None, because it may be the first or the latest version.

    A word such as `old` or `new` is a version only if no name with the same stem has a number or a stage, because
    `offer new` may be older or newer than `offer final`. A name without such a word is between old and new.

    A number that does not follow a word such as `v`, as in `GPL-2`, is a version only if another name differs just in
    the number, such as `GPL-3` or `GPL-2.1`. The numbers in `pep-0101` and `ISO-9001` are not versions. `28.02.21` and
    `01.03.21` are not versions either, because they would be sorted differently as dates.
    """
    versions = [find_version_in_name(name) for name in names]
    with_bare = [_parse_version(next(_split_path(name)), allow_bare=True) for name in names]
    numbers: dict[str, set[tuple[int, ...]]] = {}
    for version in {*versions, *with_bare}:
        numbers.setdefault(version.stem, set()).add(version.key[0])
    versions = [
        other if other.is_bare and not version.is_numbered and len(numbers[other.stem]) > 1 else version
        for version, other in zip(versions, with_bare, strict=True)
    ]
    numbered = {version.stem for version in versions if version.is_numbered}
    staged = {version.stem for version in versions if version.label and not version.is_age} - numbered
    aged = {version.stem for version in versions if version.is_age} - numbered - staged
    possible_dates: dict[str, set[tuple[str, tuple[int, ...]]]] = {}
    for version in versions:
        if version.is_bare and version.is_numbered:
            possible_dates.setdefault(version.stem, set()).add((version.label, version.key[0]))
    ambiguous = {
        stem for stem, labels_and_numbers in possible_dates.items() if _sort_differently_as_dates(labels_and_numbers)
    }

    def is_known(version: NamedVersion) -> bool:
        if version.is_age or not version.label:
            return version.stem in aged or (version.stem in staged and not version.is_age)
        return not (version.is_bare and version.stem in ambiguous)

    return [version if is_known(version) else None for version in versions]


def _sort_differently_as_dates(labels_and_numbers: Collection[tuple[str, tuple[int, ...]]]) -> bool:
    """Return whether all version numbers may be dates, such as `28.02.21`, and would be sorted differently as dates.

    Labels with two numbers, such as `2.1`, may be dates only if one of them has a leading zero, as in `01.03`, or
    begins with a number above 12.
    """
    numbers = sorted({number for _, number in labels_and_numbers})
    looks_like_day = any(_PADDED_NUMBER.search(label) or number[0] > _MAX_MONTH for label, number in labels_and_numbers)
    for day, month in ((0, 1), (1, 0)):
        are_days = all(
            (number[2] > 9 if len(number) == 3 else len(number) == 2 and looks_like_day)
            and 1 <= number[day] <= _MAX_DAY
            and 1 <= number[month] <= _MAX_MONTH
            for number in numbers
        )
        if are_days and numbers != sorted(numbers, key=lambda number: (number[2:], number[month], number[day])):
            return True
    return False


def _split_path(path: str) -> Iterator[str]:
    """Yield the name of a file without its extension, then the names of its folders, the innermost first.

    An archive or an e-mail counts as a folder.
    """
    while archive := find_archive(path):
        path = f"{archive}/{path[len(archive) + 1 :]}"
    *folders, last = path.rsplit("/", 3) if "/" in path else [path]
    suffix = PurePosixPath(last).suffix
    yield last.removesuffix(suffix) if re.fullmatch(r"\.[A-Za-z][A-Za-z0-9]{0,7}", suffix) else last
    yield from (part for folder in reversed(folders) for part in reversed(folder.split("/")))


def _parse_version(name: str, *, allow_bare: bool = False) -> NamedVersion:
    name = normalize("NFC", name)
    for _, (begin, end) in sorted(find_dates(name), key=lambda dated: -dated[1][0]):
        name = f"{name[:begin]} {name[end:]}".strip()
    name = remove_copy_marks(name)
    name, stage, stage_number, spellings = _remove_stages(name)
    number: tuple[int, ...] = ()
    if version := _VERSION.search(name) or (_BARE_NUMBER.search(name) if allow_bare else None):
        number = _parse_number(version[version.lastgroup or 0])
        name = f"{name[: version.start()]} {name[version.end() :]}"
        spellings.insert(0, version[0])
    is_age = False
    if not spellings and (age := _AGE.search(name)):
        is_age = True
        is_old = age["old"] or age["old_end"]
        stage, stage_number = (_OLD, 0) if is_old else (0, 1 + int(age["number"] or 0))
        name = f"{name[: age.start()]} {name[age.end() :]}"
        spellings = [age[0].strip(" _-()")]
    if stage >= _FINAL and not number:
        number = (_LATEST_NUMBER,)  # `final` is newer than any number, such as `v3`
    label = " ".join(spelling.strip(" _-") for spelling in spellings)
    is_bare = version is not None and version.lastgroup in ("two", "bare")
    stem = _PUNCTUATION.sub(" ", name).strip().lower()
    return NamedVersion((number, stage, stage_number), label, stem, is_bare, is_age)


def _parse_number(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.split("[._]", text))) if text[0].isdigit() else (ord(text.lower()) - 96,)


def _remove_stages(name: str) -> tuple[str, int, int, list[str]]:
    """Return a name without its stages, the latest stage, its number, and the spellings of the stages."""
    stages: list[int] = []
    spellings: list[str] = []
    numbers = [0]
    while match := _STAGE.search(name):
        stage = next(level for group, level in _STAGE_BY_GROUP.items() if match[group])
        end = match.end()
        numbers.append(int(match["number"] or 0))
        if stage == _FINAL and not match["number"] and (more := _FINAL_NUMBER.match(name, end)):
            end = more.end()
            numbers.append(int(more["number"]))
        stages.append(stage)
        spellings.append(name[match.start() : end])
        name = f"{name[: match.start()]} {name[end:]}".strip()
    if not stages:
        return name, 0, 0, []
    spellings += (emphases := _EMPHASIS.findall(name))
    name = _EMPHASIS.sub(" ", name)
    if set(stages) == {_DRAFT, _FINAL}:  # `final draft` means the last draft, not a final version
        return name, _DRAFT, _LAST_DRAFT_NUMBER, spellings
    finals = stages.count(_FINAL) + len(emphases)
    return name, max(stages), max(*numbers, finals if finals > 1 else 0), spellings
