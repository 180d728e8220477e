"""Orders documents by the first kind of evidence that all of them have, and ties by the next kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from simdoc_search.versions.evidence import (
    EVIDENCE_KINDS,
    MIN_MTIME_DIFFERENCE_SECONDS,
    DateEvidence,
    DocumentDate,
    EvidenceKind,
)

ProposeOrder = Callable[[Sequence[int]], Sequence[int]]


def order_groups(
    evidence: DateEvidence, kind: EvidenceKind, groups: Sequence[list[int]], propose_order: ProposeOrder
) -> tuple[list[int], set[int]]:
    """Return all documents in order, and the documents whose position is only a guess.

    The order of documents with the same text does not matter, so it is not a guess.
    """
    order: list[int] = []
    guessed: set[int] = set()
    for group in groups:
        if len(group) == 1 or (kind == "texts" and evidence.have_equal_texts(group)):
            ordered, proposed = group, set()
        elif kind == "texts":
            ordered, proposed = list(propose_order(group)), set(group)
        else:
            ordered, proposed = order_groups(evidence, *group_by_date(evidence, group), propose_order)
        order += ordered
        guessed |= proposed
    return order, guessed


def find_order_kinds(
    evidence: DateEvidence, kind: EvidenceKind, groups: Sequence[list[int]]
) -> dict[int, list[EvidenceKind]]:
    """Map each document to the kinds of evidence that its place in the order is based on, the first kind first."""
    kinds: dict[int, list[EvidenceKind]] = {}
    for group in groups if kind != "texts" else ():
        of_ties = find_order_kinds(evidence, *group_by_date(evidence, group)) if len(group) > 1 else {}
        kinds |= {number: [kind, *of_ties.get(number, ())] for number in group}
    return kinds


def find_date_of_order(
    evidence: DateEvidence, number: int, order_kinds: Mapping[int, Sequence[EvidenceKind]]
) -> DocumentDate | None:
    """Return the date or version that the place of a document in the order is based on.

    A name without a version, such as `lease` next to `lease draft`, has an empty label. The next kind is then returned.
    """
    dates = (evidence.dates_by(kind)[number] for kind in order_kinds.get(number, ()))
    return next((dated for dated in dates if dated and dated.label), None)


def group_by_date(evidence: DateEvidence, numbers: list[int]) -> tuple[EvidenceKind, list[list[int]]]:
    """Return the kind of evidence that the order is based on, and the documents of each date, the oldest date first.

    It is the first kind that all documents have and that distinguishes some of them. If there is no such kind, all
    documents are in one group.
    """
    for kind in EVIDENCE_KINDS:
        dates_of_kind = [date for number in numbers if (date := evidence.dates_by(kind)[number])]
        if len(dates_of_kind) < len(numbers):
            continue
        if kind == "mixed dates" and len({date.evidence_kind for date in dates_of_kind}) == 1:
            continue
        if kind == "version" and not evidence.are_versions_comparable(numbers):
            continue
        keys = _make_keys_comparable(kind, [date.key for date in dates_of_kind])
        groups: dict[tuple[object, ...], list[int]] = {}
        for number, key in zip(numbers, keys, strict=True):
            groups.setdefault(key, []).append(number)
        if len(groups) > 1:
            return kind, [groups[key] for key in sorted(groups)]
    return "texts", [numbers]


def _make_keys_comparable(kind: EvidenceKind, keys: Sequence[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Return sort keys that can be compared with each other.

    Dates are truncated to the precision of the least precise date. File times that are close together get the same key.
    """
    if kind == "version":
        return list(keys)
    if kind != "modification time":
        parts = min(map(len, keys), default=0)
        return [key[:parts] for key in keys]
    groups: dict[tuple[object, ...], tuple[object, ...]] = {}
    last: tuple[object, ...] | None = None
    for key in sorted(set(keys)):
        is_near = last is not None and key[0] - last[0] < MIN_MTIME_DIFFERENCE_SECONDS * 10**9  # type: ignore[operator]
        groups[key] = groups[last] if is_near and last is not None else key
        last = key
    return [groups[key] for key in keys]


def sort_by_best_date(evidence: DateEvidence, numbers: Sequence[int]) -> list[int]:
    """Sort documents by their best dates, although dates of different kinds are not evidence for an order."""
    return sort_by_date(numbers, {number: evidence.best_date(number, with_own_time=False) for number in numbers})


def sort_by_date(
    numbers: Sequence[int], dates: Mapping[int, DocumentDate | None] | Sequence[DocumentDate | None]
) -> list[int]:
    """Sort documents by their dates. Documents with a version instead of a date, and those without both, are first."""

    def read_date(number: int) -> str:
        date = dates[number]
        return (date and date.iso) or ""

    return sorted(numbers, key=read_date)
