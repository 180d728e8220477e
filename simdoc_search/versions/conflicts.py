"""Finds kinds of evidence that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simdoc_search.versions.evidence import EVIDENCE_KINDS, DateEvidence, EvidenceKind
from simdoc_search.versions.newest import compare_by_kind
from simdoc_search.versions.timeline import ConflictingStatement, add_times


def find_conflicts(
    evidence: DateEvidence, order: Sequence[int], order_kind: EvidenceKind, *, is_newest_known: bool
) -> Iterator[ConflictingStatement]:
    """For each kind of evidence that contradicts another kind, yield the two contradicting statements.

    Of all pairs of documents on which the two kinds disagree, the statements are about the last pair in the order. If
    the newest document is unknown, a pair that is the reason for this is preferred.
    """
    for kind in EVIDENCE_KINDS:
        pairs = _find_contradicted_pairs(evidence, order, order_kind, kind)
        first = next(pairs, None)
        if first is None:
            continue
        pair, against = first
        if not (is_newest_known or _hides_newest(evidence, kind, pair)):
            of_last = ((pair, against) for pair, against in pairs if pair[1] == order[-1])
            pair, against = next((found for found in of_last if _hides_newest(evidence, kind, found[0])), first)
        later, earlier = pair
        yield _make_statement(evidence, against, earlier, later)
        yield _make_statement(evidence, kind, later, earlier, hides_newest=_hides_newest(evidence, kind, pair))


def _hides_newest(evidence: DateEvidence, kind: EvidenceKind, pair: tuple[int, int]) -> bool:
    return compare_by_kind(evidence, *pair).get(kind) == 1


def _find_contradicted_pairs(
    evidence: DateEvidence, order: Sequence[int], order_kind: EvidenceKind, kind: EvidenceKind
) -> Iterator[tuple[tuple[int, int], EvidenceKind]]:
    """Yield pairs that are in the wrong order according to `kind`, with another kind that says the opposite.

    Mixed dates only count for pairs that no kind before them distinguishes.
    """
    inversions = list(_find_inversions(evidence, kind, order))
    with_last = [pair for pair in inversions[:1] if pair[1] == order[-1]]
    with_last += [(other, order[-1]) for other in reversed(order[:-1]) if evidence.compare(kind, other, order[-1]) == 1]
    for later, earlier in dict.fromkeys((*with_last, *inversions)):
        if kind == "mixed dates" and not _hides_newest(evidence, kind, (later, earlier)):
            continue
        for other in (order_kind, *EVIDENCE_KINDS):
            if other not in ("texts", kind) and evidence.compare(other, earlier, later) == 1:
                yield (later, earlier), other
                break


def _make_statement(
    evidence: DateEvidence, kind: EvidenceKind, later: int, earlier: int, *, hides_newest: bool = True
) -> ConflictingStatement:
    dates = add_times([evidence.dates_by(kind)[number] for number in (later, earlier)])
    later_label, earlier_label = (dated.label if dated else "" for dated in dates)
    return ConflictingStatement(
        kind,
        evidence.name_of(later),
        evidence.name_of(earlier),
        later_label,
        earlier_label,
        hides_newest,
        evidence.name_dated_copy(kind, later),
        evidence.name_dated_copy(kind, earlier),
    )


def _find_inversions(evidence: DateEvidence, kind: EvidenceKind, order: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of documents that are in the wrong order according to this evidence, the last pairs first.

    The first document of a pair precedes the second in the order, but is later according to this evidence.
    """
    dated = [number for number in order if evidence.dates_by(kind)[number] is not None]
    latest: list[int] = []
    for number in dated:
        latest.append(number if not latest or evidence.compare(kind, number, latest[-1]) == 1 else latest[-1])
    for before, number in zip(reversed(latest[:-1]), reversed(dated[1:]), strict=True):
        if evidence.compare(kind, before, number) == 1:
            yield before, number
