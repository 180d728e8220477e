"""What the name of a document says: a date, a version."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from unicodedata import normalize

from simdoc_search.passages.dates import Date, dates_in

_NUMBER = r"(?P<{}>\d{{1,9}}(?:[._]\d{{1,9}}){{0,3}})"
_BEGIN, _END = r"(?<![^\W_])", r"(?![^\W_])"
_LONG_NOUN = r"ver|vers|version|versión|versione|rev|rév|revision|révision|revisión|revisione|fassung|release"
_VERSION = re.compile(
    rf"{_BEGIN}(?:{_LONG_NOUN}|v|r)[ ._-]{{0,2}}{_NUMBER.format('one')}{_END}"
    rf"|{_BEGIN}(?:{_LONG_NOUN})[ ._-]{{0,2}}(?P<letter>[a-z]){_END}"
    rf"|(?<=[A-Za-z0-9)])[ _-]{_NUMBER.format('two').replace('{0,3}', '{1,3}')}$",
    re.IGNORECASE,
)
_BARE = re.compile(r"(?<=[A-Za-z0-9)])[ _-](?P<bare>\d{1,3})$")
"""A number that may be anything: `contract-3`, and `covid-19`."""

_STAGES = {
    -1: r"draft|wip|entwurf|vorläufige?r?|brouillon|provisoire|borrador|provisional|bozza",
    1: r"final|finale[rns]?|finalised|finalized|approved|endfassung|endversion|schlussfassung|endgültige?r?|"
    r"freigegeben|genehmigt|d[ée]finitif|d[ée]finitive|approuvée?|definitiv[oa]|aprobad[oa]",
    2: r"signed|unterschrieben|unterzeichnet|signiert|signée?|firmad[oa]|firmat[oa]",
    3: r"executed|countersigned|gegengezeichnet|ausgefertigt|contresignée?",
}
"""The words by which people name the stage of a document, in English, German, French, Spanish and Italian."""

_DRAFT, _FINAL = -1, 1
_STAGE = re.compile(
    rf"{_BEGIN}(?:(?P<draft>{_STAGES[_DRAFT]})|(?P<final>{_STAGES[_FINAL]})|(?P<signed>{_STAGES[2]})"
    rf"|(?P<executed>{_STAGES[3]}))(?:[ ._-]?(?P<number>\d{{1,9}}))?{_END}",
    re.IGNORECASE,
)
_STAGE_OF = {"draft": _DRAFT, "final": _FINAL, "signed": 2, "executed": 3}
_OF_FINAL = re.compile(r"[ ._-]{0,2}v(?:er|ersion)?[ ._-]?(?P<number>\d{1,9})(?![^\W_])", re.IGNORECASE)
"""In `final_v2` the number counts the final versions; in `draft v2` it is the version that is a draft."""

_REALLY = re.compile(rf"{_BEGIN}(?:really|actually|truly|wirklich|vraiment|realmente){_END}", re.IGNORECASE)
_A_COPY, _NUMBERED = r"(?:copy|kopie|copie|copia)", r"(?:[ _-]?\d{1,9}|[ _]?\(\d{1,9}\))?"
_COPY = re.compile(
    rf"^{_A_COPY}{_NUMBERED}[ _]+(?:of|von|de|di)[ _]+|[ _-]+{_A_COPY}{_NUMBERED}$|[ _-]*\(\d{{1,9}}\)$",
    re.IGNORECASE,
)
"""As systems and people name the copy of a file, in English, German, French, Italian and Spanish. A copy may be older
or newer than its original, so this orders nothing."""

_SIGNS = re.compile(r"[\W_]+")
_MOST = 1 << 62
_ALMOST = 1 << 40

Key = tuple[tuple[int, ...], int, int]


@dataclass(frozen=True, slots=True)
class NamedVersion:
    """The version that a name gives.

    Attributes:
        key: greater for a later one: the number, then the stage (draft, none, final, signed, executed) and its number.
        shown: the version as the name spells it, such as `v1.10`; empty if there is none.
        stem: the rest of the name, in lower case, without date, copy mark and signs. Only keys of equal stems compare.
        bare: whether it is a number without a `v` or a similar word, which is a version only if other names have one.
    """

    key: Key
    shown: str
    stem: str
    bare: bool = False

    @property
    def is_numbered(self) -> bool:
        """Whether it has a number of its own, not only a stage."""
        return self.key[0] not in ((), (_MOST,))


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
    """The version in the name of a file, else in that of a folder: `v1.10`, `rev B`, `spec-2.0`, `final 2`."""
    file, *folders = map(_version, _parts(name))
    found = next((each for each in folders if each.shown), None)
    if file.shown or found is None:
        return file
    return replace(found, stem=f"{found.stem}/{file.stem}")


def named_versions(names: Sequence[str]) -> list[NamedVersion | None]:
    """The version in each of several names; None: it has none.

    A name without one comes between draft and final among names that have stages and no numbers; beside `v1` and `v2`
    it may be the first or the latest, so it has none. A number alone, as in `GPL-2`, is one if another name differs in
    its number only: `GPL-3`, `GPL-2.1`; that in `pep-0101` or `ISO-9001` is not.
    """
    found = [named_version(each) for each in names]
    numbers: dict[str, set[tuple[int, ...]]] = {}
    bare = [_version(next(_parts(each)), bare=True) for each in names]
    for each in {*found, *bare}:
        numbers.setdefault(each.stem, set()).add(each.key[0])
    found = [
        other if other.bare and not each.is_numbered and len(numbers[other.stem]) > 1 else each
        for each, other in zip(found, bare, strict=True)
    ]
    staged = {each.stem for each in found if each.shown} - {each.stem for each in found if each.is_numbered}
    return [each if each.shown or each.stem in staged else None for each in found]


def _parts(name: str) -> Iterator[str]:
    """The name without its extension, then the folders from the inside out."""
    *folders, last = name.rsplit("/", 3) if "/" in name else [name]
    ending = PurePosixPath(last).suffix
    is_ending = re.fullmatch(r"\.[A-Za-z][A-Za-z0-9]{0,7}", ending)
    yield last.removesuffix(ending) if is_ending else last
    yield from (each for folder in reversed(folders) for each in reversed(folder.split("/")))


def _version(part: str, *, bare: bool = False) -> NamedVersion:
    part = normalize("NFC", part)
    for _, (begin, end) in sorted(dates_in(part), key=lambda each: -each[1][0]):
        part = f"{part[:begin]} {part[end:]}".strip()
    if copy := _COPY.search(part):
        part = part[: copy.start()] + part[copy.end() :]
    part, stage, stage_number, said = _without_stage(part)
    number: tuple[int, ...] = ()
    if version := _VERSION.search(part) or (_BARE.search(part) if bare else None):
        number = _number(version[version.lastgroup or 0])
        part = f"{part[: version.start()]} {part[version.end() :]}"
        said.insert(0, version[0])
    if stage >= _FINAL and not number:
        number = (_MOST,)  # `final` comes after `v3`
    shown = " ".join(each.strip(" _-") for each in said)
    is_bare = version is not None and version.lastgroup in ("two", "bare")
    return NamedVersion((number, stage, stage_number), shown, _SIGNS.sub(" ", part).strip().lower(), is_bare)


def _number(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in re.split("[._]", text)) if text[0].isdigit() else (ord(text.lower()) - 96,)


def _without_stage(part: str) -> tuple[str, int, int, list[str]]:
    """A part of a name without its stage, the stage, its number, and how both are spelled there."""
    stages: list[int] = []
    said: list[str] = []
    numbers = [0]
    while found := _STAGE.search(part):
        stage = next(level for name, level in _STAGE_OF.items() if found[name])
        end = found.end()
        numbers.append(int(found["number"] or 0))
        if stage == _FINAL and not found["number"] and (more := _OF_FINAL.match(part, end)):
            end = more.end()
            numbers.append(int(more["number"]))
        stages.append(stage)
        said.append(part[found.start() : end])
        part = f"{part[: found.start()]} {part[end:]}".strip()
    if not stages:
        return part, 0, 0, []
    said += (words := _REALLY.findall(part))
    part = _REALLY.sub(" ", part)
    if set(stages) == {_DRAFT, _FINAL}:  # a final draft is a draft, the last one
        return part, _DRAFT, _ALMOST, said
    emphasis = stages.count(_FINAL) + len(words)
    return part, max(stages), max(*numbers, emphasis if emphasis > 1 else 0), said
