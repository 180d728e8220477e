"""Orders documents by evidence of their dates, and determines the newest document if the evidence agrees.

The order is based on the first kind of evidence that all dated documents have. A document is the newest only if there
is evidence that every other document is older, and no evidence to the contrary.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from simdoc_search.versions.date_order import (
    ProposeOrder,
    find_date_of_order,
    find_order_kinds,
    group_by_date,
    order_groups,
)
from simdoc_search.versions.evidence import (
    EVIDENCE_KINDS,
    KINDS_WITHOUT_MTIME,
    DateEvidence,
    DateSources,
    EvidenceKind,
)
from simdoc_search.versions.timeline import OrderStatement, Timeline, describe_order

_MORE_RELIABLE_THAN_FILE_TIMES: tuple[EvidenceKind, ...] = ("modified", "version control")
"""These dates change when the text changes. If a file time contradicts them, the file was probably copied."""


def build_timeline(documents: Sequence[DateSources], propose_order: ProposeOrder) -> Timeline:
    """Order documents, separate the unordered ones, and determine the newest document if the evidence agrees.

    Documents with the same date are ordered by the next kind of evidence that all of them have. If no evidence
    distinguishes them, they are in the order that `propose_order` returns.

    Args:
        documents: the sources of evidence of each document.
        propose_order: returns document indices in a guessed order, the oldest first.
    """
    evidence = DateEvidence(documents)
    dated_copies = _find_dated_copies(evidence, documents)
    evidence.copy_dates(dated_copies)
    unordered = _find_unordered(evidence, len(documents))
    dated = [number for number in range(len(documents)) if number not in unordered]
    kind, groups = group_by_date(evidence, dated)
    order, guessed = order_groups(evidence, kind, groups, propose_order)
    order_kinds = find_order_kinds(evidence, kind, groups)
    copies = _find_tied_copies(evidence, documents, order, dated_copies)
    order = [*order[: len(order) - len(copies)], *copies]
    newest = _find_newest(evidence, order, len(copies))
    conflicting_statements = tuple(_find_conflicts(evidence, order, kind))
    have_equal_texts = (
        kind == "texts" and len({document.text_hash or number for number, document in enumerate(documents)}) == 1
    )
    dates = tuple(
        find_date_of_order(evidence, number, order_kinds) or evidence.best_date(number)
        for number in range(len(documents))
    )
    return Timeline(
        tuple(order),
        tuple(sorted(unordered)),
        kind,
        len(dated) < 2 or not (guessed or conflicting_statements or newest is None),
        newest,
        conflicting_statements,
        describe_order(kind, [dates[number] for number in guessed], have_equal_texts=have_equal_texts),
        dates,
        have_equal_texts,
        _find_newest(evidence, order, len(copies), ignored_kind="modification time"),
        () if newest is None else tuple(_find_newest_kinds(evidence, order, len(copies), kind)),
        frozenset(number for number in dated if find_date_of_order(evidence, number, order_kinds)),
    )


def _find_dated_copies(evidence: DateEvidence, documents: Sequence[DateSources]) -> dict[int, int]:
    """Map each document without its own date or version to a dated document with the same text.

    Of several dated documents, it is the one with the oldest file, then the one with the shortest name.
    """
    dated = {number for kind in KINDS_WITHOUT_MTIME for number in _find_comparable_documents(evidence, kind)}
    by_text: dict[str, int] = {}
    for number in sorted(dated, key=lambda number: _rank_copy(documents[number])):
        by_text.setdefault(documents[number].text_hash, number)
    return {
        number: by_text[document.text_hash]
        for number, document in enumerate(documents)
        if number not in dated and document.text_hash and document.text_hash in by_text
    }


def _rank_copy(document: DateSources) -> tuple[int, int, str]:
    return document.mtime_ns or 0, len(document.document_path), document.document_path


def _find_unordered(evidence: DateEvidence, count: int) -> set[int]:
    """Return the unordered documents.

    If at least half of the documents have comparable evidence other than a modification time, these are the documents
    without it. Otherwise, if at least half have any comparable evidence, these are the documents without it. Otherwise,
    the result is empty.
    """
    for kinds in (KINDS_WITHOUT_MTIME, EVIDENCE_KINDS):
        dated = {number for kind in kinds for number in _find_comparable_documents(evidence, kind)}
        if 2 * len(dated) >= count and dated:
            return set(range(count)) - dated
    return set()


def _find_comparable_documents(evidence: DateEvidence, kind: EvidenceKind) -> set[int]:
    """Return the documents that can be compared by a kind of evidence, if it distinguishes at least two of them."""
    groups: dict[object, list[int]] = {}
    for number, dated in enumerate(evidence.dates_by(kind)):
        if dated is not None:
            groups.setdefault(dated.key[0] if kind == "version" else None, []).append(number)
    compared: set[int] = set()
    for group in groups.values():
        group.sort(key=lambda number: evidence.dates_by(kind)[number].key)  # type: ignore[union-attr]
        if any(evidence.compare(kind, number, before) for before, number in pairwise(group)):
            compared.update(group)
    return compared


# --- finding the newest version ---


def _find_newest(
    evidence: DateEvidence, order: Sequence[int], copy_count: int, *, ignored_kind: EvidenceKind | None = None
) -> int | None:
    """Return the last document if undisputed evidence shows that it is later than every other document.

    The last `copy_count` documents in `order` have the same text as the last one, so they are not compared with it.
    Evidence of the kind `ignored_kind` does not count.
    """
    others = order[: len(order) - copy_count]
    is_newest = bool(others) and all(_is_later(evidence, order[-1], earlier, ignored_kind) for earlier in others)
    return order[-1] if is_newest else None


def _find_newest_kinds(
    evidence: DateEvidence, order: Sequence[int], copy_count: int, order_kind: EvidenceKind
) -> list[EvidenceKind]:
    """Return the kinds of evidence that show that the last document is later than the other documents.

    For each other document, this is `order_kind` if it shows which of the two is later, otherwise the first kind that
    shows it.
    """
    by_document = [_compare_by_kind(evidence, order[-1], other) for other in order[: len(order) - copy_count]]
    kinds = {order_kind if order_kind in verdicts else next(iter(verdicts)) for verdicts in by_document}
    return sorted(kinds, key=lambda kind: (kind != order_kind, EVIDENCE_KINDS.index(kind)))


def _find_tied_copies(
    evidence: DateEvidence, documents: Sequence[DateSources], order: Sequence[int], dated_copies: Mapping[int, int]
) -> list[int]:
    """Return the last documents in the order that have the same text, if no evidence shows which of them is newer.

    The document with the oldest file is the last. If file times are equal, the shortest name is the last. Documents
    with their own dates come after `dated_copies`.
    """
    copies = list(order[-1:])
    for number in reversed(order[:-1]):
        text_hash = documents[number].text_hash
        if (
            not text_hash
            or text_hash != documents[copies[0]].text_hash
            or _compare_by_kind(evidence, copies[0], number)
        ):
            break
        copies.append(number)
    return sorted(copies, key=lambda number: (number in dated_copies, _rank_copy(documents[number])), reverse=True)


def _is_later(evidence: DateEvidence, first: int, second: int, ignored_kind: EvidenceKind | None) -> bool:
    verdicts = [verdict for kind, verdict in _compare_by_kind(evidence, first, second).items() if kind != ignored_kind]
    return bool(verdicts) and min(verdicts) > 0


def _compare_by_kind(evidence: DateEvidence, first: int, second: int) -> dict[EvidenceKind, int]:
    """Compare two documents by each kind of evidence: 1 if the first is later, -1 if the second is later.

    Kinds that do not show which one is later are omitted.
    """
    verdicts: dict[EvidenceKind, int] = {}
    for kind in EVIDENCE_KINDS:
        if kind == "mixed dates" and verdicts:
            continue
        if verdict := evidence.compare(kind, first, second):
            verdicts[kind] = verdict
    if verdicts.keys() == {"modification time"} and evidence.has_strong_date(first) != evidence.has_strong_date(second):
        return {}  # the unordered file may be a new copy of an old document
    by_file = verdicts.get("modification time", 0)
    if by_file and any(verdicts.get(kind) == -by_file for kind in _MORE_RELIABLE_THAN_FILE_TIMES):
        del verdicts["modification time"]
    return verdicts


def _find_conflicts(evidence: DateEvidence, order: Sequence[int], order_kind: EvidenceKind) -> Iterator[OrderStatement]:
    """For each kind of evidence that contradicts another kind, yield the two contradicting statements.

    Of all pairs of documents on which the two kinds disagree, the statements are about the last pair in the order.
    """
    for kind in EVIDENCE_KINDS:
        for later, earlier in _find_inversions(evidence, kind, order) if kind != "mixed dates" else ():
            against = next(
                (
                    other
                    for other in (order_kind, *EVIDENCE_KINDS)
                    if other not in ("texts", kind) and evidence.compare(other, earlier, later) == 1
                ),
                None,
            )
            if against is None:
                continue
            hides_newest = _compare_by_kind(evidence, earlier, later).get(kind) == -1
            yield _make_statement(evidence, against, earlier, later)
            yield _make_statement(evidence, kind, later, earlier, hides_newest=hides_newest)
            break


def _make_statement(
    evidence: DateEvidence, kind: EvidenceKind, later: int, earlier: int, *, hides_newest: bool = True
) -> OrderStatement:
    a, b = (dated.label if (dated := evidence.dates_by(kind)[number]) else "" for number in (later, earlier))
    sources = evidence.find_date_source(kind, later), evidence.find_date_source(kind, earlier)
    return OrderStatement(kind, later, earlier, (a, b), sources, hides_newest)


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
