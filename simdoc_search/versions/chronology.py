"""Orders documents by evidence of their dates, and determines the newest document if the evidence agrees.

The order is based on the first kind of evidence that all dated documents have. A document is the newest only if there
is evidence that every other document is older, and no evidence to the contrary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise

from simdoc_search.corpus.member_names import find_archive
from simdoc_search.versions.conflicts import find_conflicts
from simdoc_search.versions.date_order import (
    ProposeOrder,
    find_date_of_order,
    find_order_kinds,
    group_by_date,
    order_groups,
    sort_by_best_date,
    sort_by_date,
)
from simdoc_search.versions.evidence import (
    EVIDENCE_KINDS,
    KINDS_WITHOUT_MTIME,
    METADATA_KINDS,
    DateEvidence,
    DateSources,
    EvidenceKind,
)
from simdoc_search.versions.newest import (
    compare_by_kind,
    describe_maybe_newer,
    find_maybe_newer,
    find_newest,
    find_newest_kinds,
    find_undecided,
)
from simdoc_search.versions.timeline import Timeline, add_times, describe_order


def build_timeline(documents: Sequence[DateSources], propose_order: ProposeOrder | None = None) -> Timeline:
    """Order documents, separate the unordered ones, and determine the newest document if the evidence agrees.

    Documents with the same date are ordered by the next kind of evidence that all of them have. If no evidence
    distinguishes them, they are in the order that `propose_order` returns, or else sorted by their best dates.

    Args:
        documents: the sources of evidence of each document.
        propose_order: returns document indices in a guessed order, the oldest first. If None, the documents are sorted
            by their best dates, which are of different kinds, so this order is not evidence either.
    """
    evidence = DateEvidence(documents)
    propose_order = propose_order or partial(sort_by_best_date, evidence)
    evidence.copy_dates(_find_exports(evidence, documents), METADATA_KINDS)
    dated_copies = _find_dated_copies(evidence, documents)
    evidence.copy_dates(dated_copies, EVIDENCE_KINDS)
    unordered = _find_unordered(evidence, len(documents))
    dated = [number for number in range(len(documents)) if number not in unordered]
    kind, groups = group_by_date(evidence, dated)
    order, guessed = order_groups(evidence, kind, groups, propose_order)
    order_kinds = find_order_kinds(evidence, kind, groups)
    copies = _find_tied_copies(evidence, documents, order, dated_copies)
    order = [*order[: len(order) - len(copies)], *copies]
    newest = newest_in_order = find_newest(evidence, order, len(copies))
    newest_kinds: tuple[EvidenceKind, ...] = ()
    conflicting_statements = tuple(find_conflicts(evidence, order, kind, is_newest_known=newest is not None))
    if newest is None:
        undecided = find_undecided(evidence, order, len(copies))
    else:
        maybe_newer = find_maybe_newer(evidence, newest, unordered)
        older = {*order, *unordered}.difference(copies, maybe_newer)
        newest_kinds = tuple(find_newest_kinds(evidence, newest, older, kind))
        undecided = describe_maybe_newer(evidence, newest, maybe_newer, newest_kinds) if maybe_newer else None
        newest = None if maybe_newer else newest
    have_equal_texts = (
        kind == "texts" and len({document.text_hash or number for number, document in enumerate(documents)}) == 1
    )
    with_own_times = set(range(len(documents))) if have_equal_texts else unordered
    dates = tuple(
        find_date_of_order(evidence, number, order_kinds)
        or evidence.best_date(number, with_own_time=number in with_own_times)
        for number in range(len(documents))
    )
    date_copies = {
        number: name
        for number, date in enumerate(dates)
        # `best_date` may return the time of the document's own file, although a copy is older
        if date and date == evidence.dates_by(date.evidence_kind)[number]
        if (name := evidence.name_dated_copy(date.evidence_kind, number))
    }
    return Timeline(
        tuple(order),
        tuple(sort_by_date(sorted(unordered), dates)),
        kind,
        len(dated) < 2 or not (guessed or conflicting_statements or newest is None),
        newest,
        conflicting_statements,
        describe_order(kind, [dates[number] for number in guessed], have_equal_texts=have_equal_texts),
        add_times(dates),
        have_equal_texts,
        None if unordered else find_newest(evidence, order, len(copies), ignored_kind="modification time"),
        () if newest is None else newest_kinds,
        frozenset(number for number in dated if find_date_of_order(evidence, number, order_kinds)),
        undecided,
        date_copies,
        newest_in_order,
    )


def _find_exports(evidence: DateEvidence, documents: Sequence[DateSources]) -> dict[int, int]:
    """Map each PDF to the document of another format with the same text and the earliest date.

    A PDF is often exported from an old version. Its metadata then has the date of the export. If the PDF has the
    earlier date, it is omitted.
    """
    sources: dict[str, int] = {}
    exports: list[int] = []
    for number, document in enumerate(documents):
        if document.document_path.lower().endswith(".pdf"):
            exports.append(number)
        elif document.text_hash and (date := evidence.stated_date(number)):
            source = sources.setdefault(document.text_hash, number)
            if date.key < evidence.stated_date(source).key:  # type: ignore[union-attr]
                sources[document.text_hash] = number
    return {
        number: source
        for number in exports
        for source in [sources.get(documents[number].text_hash)]
        if source is not None
        and (date := evidence.stated_date(number, METADATA_KINDS))
        and date.key > evidence.stated_date(source).key  # type: ignore[union-attr]
    }


def _find_dated_copies(evidence: DateEvidence, documents: Sequence[DateSources]) -> dict[int, int]:
    """Map each document without its own date or version to a dated document with the same text.

    If no such document is dated, use one whose name has no version but a place in the order, such as `lease` next to
    `lease draft`. If there are several, use the one with the oldest file, then the one with the shortest name.
    """
    has_label: dict[int, bool] = {}
    for kind in KINDS_WITHOUT_MTIME:
        for number in _find_comparable_documents(evidence, kind):
            date = evidence.dates_by(kind)[number]
            has_label[number] = has_label.get(number, False) or bool(date and date.label)
    by_text: dict[str, int] = {}
    for number in sorted(has_label, key=lambda number: (not has_label[number], _rank_copy(documents[number]))):
        by_text.setdefault(documents[number].text_hash, number)
    return {
        number: source
        for number, document in enumerate(documents)
        if document.text_hash and (source := by_text.get(document.text_hash)) is not None
        # a document without a label keeps its own place, unless its source has a label
        if not has_label.get(number) and (number not in has_label or has_label[source])
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


def _find_tied_copies(
    evidence: DateEvidence, documents: Sequence[DateSources], order: Sequence[int], dated_copies: Mapping[int, int]
) -> list[int]:
    """Return the last documents in the order that have the same text, if no evidence shows which of them is newer.

    The document with the oldest file is the last. If file times are equal, the shortest name is the last. Documents
    with their own dates come after `dated_copies`, and files come after attachments and members of archives.
    """
    copies = list(order[-1:])
    for number in reversed(order[:-1]):
        text_hash = documents[number].text_hash
        if not text_hash or text_hash != documents[copies[0]].text_hash or compare_by_kind(evidence, copies[0], number):
            break
        copies.append(number)

    def rank(number: int) -> tuple[bool, bool, tuple[int, int, str]]:
        is_member = find_archive(documents[number].document_path) is not None
        return is_member, number in dated_copies, _rank_copy(documents[number])

    return sorted(copies, key=rank, reverse=True)
