"""Folds a list of hits, chunks or texts: hides near-duplicates and older versions under the item that is shown."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.ragged_arrays import positions_in_runs
from simdoc_search.display import printable
from simdoc_search.duplicates.arrays import Floats, Ints, is_run_start
from simdoc_search.duplicates.fingerprint_table import FingerprintTable
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.verification import shingle_hashes
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.planner import parse_fraction
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.records import read_token_ids
from simdoc_search.versions.chronology import build_timeline
from simdoc_search.versions.evidence import DateSources
from simdoc_search.versions.timeline import (
    Timeline,
    describe_evidence_kinds,
)

Item = TypeVar("Item")

_TOLERANCE = 1e-9


class FoldedHit(NamedTuple):
    """A hit that is hidden under another hit that it overlaps.

    `hit` is the hit, chunk or text as it was given. Its overlap with the shown hit is exact for texts, and estimated
    from the tokens of hits.
    """

    hit: Any
    overlap: float


class ShownHit(NamedTuple):
    """A hit that is shown, and the near-duplicates that are folded under it.

    Attributes:
        hit: the hit, chunk or text as it was given.
        folded: the folded hits, in the given order.
    """

    hit: Any
    folded: list[FoldedHit]


class ShownVersion(NamedTuple):
    """A hit that is shown, and the near-duplicates from the same document and from older versions.

    Attributes:
        hit: the hit, chunk or text as it was given.
        folded: the folded hits, in the given order.
        status: `newest`: the evidence shows that the others are older. `only`: no near-duplicate is from another
            document. `undecided`: the evidence does not say which version is the newest, so each is shown.
        reason: the evidence, or the conflicting evidence, as a sentence for display; empty if the status is `only`.
    """

    hit: Any
    folded: list[FoldedHit]
    status: Literal["newest", "only", "undecided"]
    reason: str


def fold_near_duplicates(
    items: Iterable[Item],
    overlap: float | Fraction = Fraction(4, 5),
    *,
    key: Callable[[Item], str] | None = None,
    field: str = "simdoc",
    settings: Settings | None = None,
) -> list[ShownHit]:
    """Fold a list of results: put each near-duplicate under the first shown item that it overlaps enough.

    No request is sent. An item is only compared with shown items, not with folded ones. An item without words, or a hit
    without a readable fingerprint in its `_source`, is always shown.

    Args:
        items: texts; any objects, with `key`; or the hits of an engine, `response["hits"]["hits"]`. The `_source` of
            hits must contain the tokens: request `"_source": [..., "simdoc.tokens"]`.
        overlap: the minimum Jaccard similarity of a folded item, greater than 0 and at most 1. It is exact for texts,
            and estimated from the tokens of hits.
        key: returns the text of an item. None for texts and for hits.
        field: the object field of the fingerprint of a hit.
        settings: the settings of the fingerprints, or of the shingles of texts; None for the default settings.

    Returns:
        The shown items in order, each with the items folded under it. No item is lost or changed.

    Raises:
        QuerySyntaxError: the overlap is out of range, or the items need `key`.
    """
    comparison = _Comparison(list(items), overlap, key, field, settings or Settings())
    return [
        ShownHit(
            comparison.items[shown], [FoldedHit(comparison.items[other], share) for other, share in folded.items()]
        )
        for shown, folded in comparison.groups().items()
    ]


def fold_older_versions(
    items: Iterable[Item],
    evidence: Callable[[Item], DateSources],
    overlap: float | Fraction = Fraction(4, 5),
    *,
    key: Callable[[Item], str] | None = None,
    field: str = "simdoc",
    settings: Settings | None = None,
) -> list[ShownVersion]:
    """Fold a list of results, and show only the newest version of each group of near-duplicates.

    The groups are those of `fold_near_duplicates`. A group is ordered by the dates and names of the documents that its
    items are from. An item is folded only if it is from the same document as a shown item, or if the evidence shows
    that it is older. If the evidence conflicts or is missing, each version is shown with the reason.

    Args:
        items: as for `fold_near_duplicates`.
        evidence: returns the evidence about the document that an item is from. Items whose evidence has the same
            `document_path` are from the same document.
        overlap: as for `fold_near_duplicates`.
        key: as for `fold_near_duplicates`.
        field: as for `fold_near_duplicates`.
        settings: as for `fold_near_duplicates`.

    Returns:
        The shown items in the order of the list, each with the items folded under it. No item is lost or changed.

    Raises:
        QuerySyntaxError: as for `fold_near_duplicates`.
    """
    comparison = _Comparison(page := list(items), overlap, key, field, settings or Settings())
    shown: dict[int, ShownVersion] = {}
    for first, duplicates in comparison.groups().items():
        of_document: dict[str, list[int]] = {}
        sources: dict[str, DateSources] = {}
        for number in (first, *duplicates):
            source = evidence(page[number])
            of_document.setdefault(source.document_path, []).append(number)
            sources.setdefault(source.document_path, source)
        names = list(of_document)
        timeline = build_timeline(list(sources.values()), lambda numbers: numbers)
        last = timeline.newest_in_order
        older = [] if last is None else [names[number] for number in timeline.order if number != last]
        reason = "" if len(names) == 1 else _explain(timeline, names)
        for index, name in enumerate(names):
            if name in older:
                continue
            number, *others = of_document[name]
            status: Literal["newest", "only", "undecided"] = "only" if len(names) == 1 else "undecided"
            if index == last:
                status = "undecided" if timeline.newest is None else "newest"
                others = sorted([*others, *(number for name in older for number in of_document[name])])
            folded = [FoldedHit(page[other], comparison.overlap_of(number, other)) for other in others]
            shown[number] = ShownVersion(page[number], folded, status, reason)
    return [shown[number] for number in sorted(shown)]


def _explain(timeline: Timeline, names: Sequence[str]) -> str:
    """Return the evidence for the newest version, or why it is unknown."""
    if timeline.newest is not None:
        reason = f"by the {describe_evidence_kinds(timeline.newest_evidence_kinds)}"
        return f"{printable(names[timeline.newest])} is the newest, {reason}"
    if timeline.undecided is not None and timeline.evidence_kind != "texts":
        return str(timeline.undecided)
    if timeline.conflicting_statements:
        return f"the evidence conflicts: {'; '.join(map(str, timeline.conflicting_statements))}"
    return "no evidence shows which is newer"


class _Comparison:
    """Compares the items of a list by the tokens of hits, or by the shingles of texts.

    `key` returns the text of an item; None for texts and hits.
    """

    def __init__(
        self,
        items: Sequence[Item],
        overlap: float | Fraction,
        key: Callable[[Item], str] | None,
        field: str,
        settings: Settings,
    ) -> None:
        self.items: Sequence[Any] = items
        self._minimum = Measure("jaccard", parse_fraction(overlap, "overlap")).min_overlap
        sets: list[NDArray[Any]]
        if key is not None or any(isinstance(item, str) for item in items):
            texts = [key(item) if key else cast(str, item) for item in items]
            if not all(isinstance(text, str) for text in texts):
                raise QuerySyntaxError(
                    "not all items are texts; pass 'key', a function that returns the text of an item"
                )
            sets = list(shingle_hashes(texts, settings.analysis, (secrets.randbits(64), secrets.randbits(64))))
            self._table = None
        else:
            if not all(isinstance(item, Mapping) for item in items):
                raise QuerySyntaxError(
                    "the items are not hits; pass 'key', a function that returns the text of an item"
                )
            hits = cast("Sequence[Mapping[str, Any]]", items)
            token_ids = [read_token_ids(hit.get("_source") or {}, field=field) for hit in hits]
            sets = [np.zeros(0, np.uint32) if isinstance(of_hit, str) else of_hit for of_hit in token_ids]
            sizes = np.array([len(of_hit) for of_hit in sets], np.int64)
            self._table = FingerprintTable.from_token_ids(sets, sizes, settings.sketch.slot_count)
        self._sets = sets
        self._sizes: Ints = np.array([len(values) for values in sets], np.int64)

    def overlap_of(self, first: int, second: int) -> float:
        shared = len(np.intersect1d(self._sets[first], self._sets[second], assume_unique=True))
        return float(self._overlaps(first, np.array([second]), np.array([shared]))[0])

    def _overlaps(self, first: int, others: Ints, shared_counts: Ints) -> Floats:
        if self._table is not None:
            return self._table.estimate_jaccard(np.repeat(first, len(others)), others)[0]
        shares: Floats = shared_counts / np.maximum(self._sizes[first] + self._sizes[others] - shared_counts, 1)
        return shares

    def groups(self) -> dict[int, dict[int, float]]:
        """Map the position of each shown item to the positions of the items folded under it, with their overlaps.

        An overlap is at most the number of equal values divided by the larger size. So only items with enough equal
        values are compared. An inverted index, from each value to its items, is used to count the equal values.
        """
        minimum, count = float(self._minimum), len(self.items)
        groups: dict[int, dict[int, float]] = {number: {} for number in range(count)}
        owners = np.repeat(np.arange(count), self._sizes)
        values = np.concatenate(self._sets) if self._sets else np.zeros(0, np.uint64)
        order = np.argsort(values, kind="stable")
        is_start = is_run_start(values[order])
        starts = np.append(np.flatnonzero(is_start), len(values))
        list_of_value = np.empty(len(values), np.int64)
        list_of_value[order] = np.cumsum(is_start) - 1
        lengths = np.diff(starts)
        is_repeated = lengths[list_of_value] > 1
        list_of_value = list_of_value[is_repeated]
        ends = np.cumsum(np.bincount(owners[is_repeated], minlength=count))
        owners = owners[order]
        is_left = self._sizes > 0
        for number in np.flatnonzero(np.diff(ends, prepend=0)).tolist():
            if not is_left[number]:
                continue
            lists = list_of_value[ends[number - 1] if number else 0 : ends[number]]
            shared = np.bincount(owners[positions_in_runs(starts[lists], lengths[lists])], minlength=count)
            is_left[number] = False
            enough = shared >= minimum * np.maximum(self._sizes, self._sizes[number]) - _TOLERANCE
            others = np.flatnonzero(enough & is_left)
            if not len(others):
                continue
            overlaps = self._overlaps(number, others, shared[others])
            is_near = overlaps >= minimum
            groups[number] = dict(zip(others[is_near].tolist(), overlaps[is_near].tolist(), strict=True))
            is_left[others[is_near]] = False
            for other in groups[number]:
                del groups[other]
        return groups
