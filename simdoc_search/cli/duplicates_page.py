"""The page of `simdoc-search duplicates --html`: the groups, a histogram of overlaps, and near pairs side by side."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from simdoc_search.cli.common import write_file
from simdoc_search.cli.duplicates_report import notes, parts, summary
from simdoc_search.display import counted

if TYPE_CHECKING:
    from simdoc_search.analysis.settings import Analysis
    from simdoc_search.duplicates import Duplicate, Duplicates, Group, Kept
    from simdoc_search.duplicates.verdicts import Kind
    from simdoc_search.passages.passage import Comparison
    from simdoc_search.passages.report import Bar, GroupMember, MemberGroup

_MOST_PAIRS, _MOST_CHARACTERS, _PAIRS_OF_GROUP = 100, 4_000_000, 10
"""What a browser shows fluently side by side: of more pairs those of the first groups, and the smaller ones."""

_MOST_GROUPS, _MOST_MEMBERS = 1_000, 100
_MOST_BARS, _WIDTHS = 20, (1, 2, 5)
"""Of the histogram: bars, and of how many percent each can be."""

_Pairs = dict[int, tuple["Comparison", tuple[str, str]]]
"""What is shown side by side, by the number of the document that could go."""


@dataclass(slots=True)
class _Left:
    """What a page has room for yet, and what it leaves out."""

    pairs: int
    characters: int
    without: int = 0

    def takes(self, texts: tuple[str, str]) -> bool:
        size = len(texts[0]) + len(texts[1])
        if size > self.characters:
            return False
        self.pairs, self.characters = self.pairs - 1, self.characters - size
        return True


def write_page(
    path: Path, found: Duplicates, analysis: Analysis, *, limit: int | None, asked_to_estimate: bool
) -> None:
    """Write the page.

    In memory are what it shows of up to 1,000 groups and 100 pairs, which have 4 million characters at most, and the
    texts of a group's first near pairs.

    Raises:
        ClickException: it cannot be written.
    """
    from simdoc_search.passages.report import groups_page

    most = min(limit or _MOST_GROUPS, _MOST_GROUPS)
    left = _Left(_MOST_PAIRS, _MOST_CHARACTERS)
    shown = [_group(found, group, left) for group in found.groups(most)]
    overlaps = found.near_overlaps()
    said = [f"{found.kinds[kind]:,} {name}" for kind, name in _KINDS.items() if found.kinds[kind]]
    remarks = [", ".join(said)] if said else []
    remarks += notes(found, asked_to_estimate)
    if found.group_count > len(shown):
        more = counted(found.group_count - len(shown), "more group")
        remarks.append(f"{more} not shown, those with less to save: --json lists all")
    if left.without:
        near = counted(left.without, "near one")
        remarks.append(f"{near} not shown side by side with the one that stays: simdoc-search compare shows each pair")
    bars = _bars(math.floor(100 * found.measure.overlap), overlaps) if found.kinds["near"] else []
    write_file(path, groups_page(summary(found), bars, shown, remarks, analysis))


_KINDS: dict[Kind, str] = {
    "identical": "identical",
    "hard link": "hard links",
    "same text": "with the same text",
    "same words": "with the same words",
    "near": "near",
}


def _group(found: Duplicates, group: Group, left: _Left) -> MemberGroup:
    from simdoc_search.passages.report import MemberGroup

    some = group.duplicates[:_MOST_MEMBERS]
    pairs = _side_by_side(found, group, left)
    if found.verified:
        left.without += sum(each.kind == "near" for each in group.duplicates) - len(pairs)
    more = len(group.duplicates) - len(some)
    return MemberGroup(_member(group.kept), [_member(each, pairs) for each in some], more)


def _side_by_side(found: Duplicates, group: Group, left: _Left) -> _Pairs:
    """What is shown of the first near ones of a group."""
    near = [each for each in group.duplicates[:_MOST_MEMBERS] if each.kind == "near"]
    some = replace(group, duplicates=tuple(near[: min(_PAIRS_OF_GROUP, left.pairs)]))
    return {
        each.number: (comparison, texts)
        for each, comparison, texts in (found.compared(some) if some.duplicates else ())
        if left.takes(texts)
    }


def _member(each: Duplicate | Kept, pairs: _Pairs | None = None) -> GroupMember:
    from simdoc_search.duplicates import Duplicate
    from simdoc_search.passages.report import GroupMember

    size, date, name = parts(each)
    comparison, texts = (pairs or {}).get(each.number, (None, None))
    how = f"{each.action}: {each.reason}" if isinstance(each, Duplicate) else ""
    return GroupMember(name, how, size, date, comparison, texts)


def _bars(least: int, overlaps: Iterable[float]) -> list[Bar]:
    """How many near ones overlap the one that stays by how much, from the least percent to 100."""
    from simdoc_search.passages.report import Bar

    width = next(each for each in _WIDTHS if 100 - least <= each * _MOST_BARS)
    begins = range(least // width * width, max(100, least + 1), width)
    counts = Counter(_place(each, begins) for each in overlaps)
    step = max(1, math.ceil(len(begins) / 4))
    return [
        Bar(f"{begin} %" if at % step == 0 else "", f"{begin} to {min(begin + width, 100)} %", counts[at])
        for at, begin in enumerate(begins)
    ]


def _place(overlap: float, begins: range) -> int:
    """In which bar an overlap counts; an estimate may lie below the first."""
    at = math.floor((100 * overlap - begins[0] + 1e-9) / begins.step)
    return min(max(at, 0), len(begins) - 1)
