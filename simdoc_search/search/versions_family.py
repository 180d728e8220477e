"""A family of versions in the order that its evidence says."""

from __future__ import annotations

from dataclasses import dataclass

from simdoc_search.groups import FamilyMembers
from simdoc_search.search.stored_texts import read_records
from simdoc_search.search.versions_result import Contradiction, InOrder, VersionEntry
from simdoc_search.search.versions_source import known_of, with_dates
from simdoc_search.stores.base import Store
from simdoc_search.versions import By, timeline


@dataclass(frozen=True, slots=True)
class VersionFamily(InOrder):
    """A family of versions in its order.

    Attributes:
        timeline: its dated documents, the oldest first; by id where nothing orders them.
        undated: those that have no evidence while the others do.
        newest: the newest of the timeline; None: the evidence does not say, or contradicts itself.
        by: what orders them, see `versions.By`; `texts`: nothing does, as the texts are not asked here.
        certain: whether the evidence says the place of each in the timeline, and does not contradict itself.
        conflict: the evidence that contradicts each other, two statements for each contradiction.
        reason: what orders them, and why nothing better does, for people.
        pairs: how many pairs of them were found to be versions of each other.
        least: the smallest score of these pairs.
    """

    timeline: tuple[VersionEntry, ...]
    undated: tuple[VersionEntry, ...]
    newest: VersionEntry | None
    by: By
    certain: bool
    conflict: tuple[Contradiction, ...]
    reason: str
    pairs: int
    least: float


def in_order(store: Store, family: FamilyMembers, *, version_control: bool) -> VersionFamily:
    """Put a family in its order; see `SimilaritySearch.ordered`."""
    found = read_records(store, family.places, text=False)
    records = with_dates(store, [found[each] for each in family.places if each in found])
    line = timeline([known_of(each, version_control=version_control) for each in records], list)
    entries = [VersionEntry(each.id, each.place, False, dated) for each, dated in zip(records, line.dates, strict=True)]
    conflict = [
        Contradiction(each.by, records[each.later].id, records[each.earlier].id, *each.shown, each.counts)
        for each in line.conflict
    ]
    return VersionFamily(
        tuple(entries[each] for each in line.order),
        tuple(entries[each] for each in line.undated),
        None if line.newest is None else entries[line.newest],
        line.by,
        line.certain,
        tuple(conflict),
        line.reason,
        family.edges,
        family.least,
    )
