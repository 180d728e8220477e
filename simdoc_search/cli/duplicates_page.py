"""The page of `simdoc-search duplicates --html`: the groups, and near duplicates beside their kept document."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from simdoc_search.cli.common import write_file
from simdoc_search.cli.duplicates_output import columns_of, notes, summary
from simdoc_search.display import counted

if TYPE_CHECKING:
    from simdoc_search.analysis.settings import Analysis
    from simdoc_search.duplicates import Duplicates, Group, GroupedDocument
    from simdoc_search.duplicates.verdicts import Kind
    from simdoc_search.passages.passage import Comparison
    from simdoc_search.passages.report import GroupMember, MemberGroup

_MAX_PAIRS, _MAX_CHARACTERS, _MAX_PAIRS_OF_GROUP = 100, 4_000_000, 10
"""What a browser shows fluently side by side. Beyond it, pairs of the first groups and smaller pairs are shown."""

_MAX_GROUPS, _MAX_MEMBERS = 1_000, 100

_KINDS: dict[Kind, str] = {
    "identical": "identical",
    "hard link": "hard links",
    "same text": "with the same text",
    "same words": "with the same words",
    "near": "near",
}
_Pairs = dict[int, tuple["Comparison", tuple[str, str]]]
"""The pairs side by side, by the number of the duplicate."""


@dataclass(slots=True)
class _Room:
    """How many pairs and characters the page can still show, and how many pairs it left out."""

    pairs: int = _MAX_PAIRS
    characters: int = _MAX_CHARACTERS
    left_out: int = 0


def write_page(
    path: Path, found: Duplicates, analysis: Analysis, *, limit: int | None, estimated_by_option: bool
) -> None:
    """Write the page. What it shows is held in memory.

    Raises:
        ClickException: it cannot be written.
    """
    from simdoc_search.passages.report import groups_page

    room = _Room(_MAX_PAIRS, _MAX_CHARACTERS)
    shown = [_group(found, group, room) for group in found.groups(min(limit or _MAX_GROUPS, _MAX_GROUPS))]
    counts = ", ".join(f"{found.kinds[kind]:,} {name}" for kind, name in _KINDS.items() if found.kinds[kind])
    remarks = [*([counts] if counts else []), *notes(found, estimated_by_option=estimated_by_option)]
    if found.group_count > len(shown):
        more = counted(found.group_count - len(shown), "more group")
        remarks.append(f"{more} not shown, which free less space: --json lists all")
    if room.left_out:
        near = counted(room.left_out, "near duplicate is", "near duplicates are")
        remarks.append(f"{near} not shown side by side with the kept document: simdoc-search compare shows each pair")
    write_file(path, groups_page(summary(found), shown, remarks, analysis))


def _group(found: Duplicates, group: Group, room: _Room) -> MemberGroup:
    from simdoc_search.passages.report import MemberGroup

    members = group.duplicates[:_MAX_MEMBERS]
    near = tuple(member for member in members if member.kind == "near")[: min(_MAX_PAIRS_OF_GROUP, room.pairs)]
    pairs: _Pairs = {}
    for duplicate, comparison, texts in found.compared(replace(group, duplicates=near)) if near else ():
        size = sum(map(len, texts))
        if size <= room.characters:
            room.pairs, room.characters = room.pairs - 1, room.characters - size
            pairs[duplicate.number] = comparison, texts
    if found.verified:
        room.left_out += sum(duplicate.kind == "near" for duplicate in group.duplicates) - len(pairs)
    shown = [_member(member, f"{member.action}: {member.reason}", pairs) for member in members]
    return MemberGroup(_member(group.kept), shown, len(group.duplicates) - len(members))


def _member(document: GroupedDocument, verdict: str = "", pairs: _Pairs | None = None) -> GroupMember:
    from simdoc_search.passages.report import GroupMember

    size, date, name = columns_of(document)
    comparison, texts = (pairs or {}).get(document.number, (None, None))
    return GroupMember(name, verdict, size, date, comparison, texts)
