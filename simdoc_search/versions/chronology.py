"""Orders documents by evidence of their dates, and determines the newest document if the evidence agrees.

The order is based on the first kind of evidence that all dated documents have. A document is the newest only if there
is evidence that every other document is older, and no evidence to the contrary.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, permutations

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
    METADATA_KINDS,
    DateEvidence,
    DateSources,
    EvidenceKind,
)
from simdoc_search.versions.timeline import OrderStatement, Timeline, UndecidedPair, describe_order

_MORE_RELIABLE_THAN_FILE_TIMES: tuple[EvidenceKind, ...] = ("modified", "version control")
"""These dates change when the text changes. If a file time contradicts them, the file was probably copied."""

_MAX_LAST_DOCUMENTS = 50
"""The number of last documents in the order that are compared to say why the newest document is unknown."""


def build_timeline(documents: Sequence[DateSources], propose_order: ProposeOrder) -> Timeline:
    """Order documents, separate the unordered ones, and determine the newest document if the evidence agrees.

    Documents with the same date are ordered by the next kind of evidence that all of them have. If no evidence
    distinguishes them, they are in the order that `propose_order` returns.

    Args:
        documents: the sources of evidence of each document.
        propose_order: returns document indices in a guessed order, the oldest first.
    """
    evidence = DateEvidence(documents)
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
    newest = _find_newest(evidence, order, len(copies))
    conflicting_statements = tuple(_find_conflicts(evidence, order, kind, is_newest_known=newest is not None))
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
        _find_undecided(evidence, order, len(copies)) if newest is None else None,
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


def _find_undecided(evidence: DateEvidence, order: Sequence[int], copy_count: int) -> UndecidedPair | None:
    """Return two of the last documents in the order that may be the newest, if no evidence shows which is newer.

    Return None if the evidence about the documents that may be the newest is contradictory.
    """
    others = order[: len(order) - copy_count]
    last = [*order[-1:], *reversed(others[-_MAX_LAST_DOCUMENTS:])]
    verdicts = {(first, second): _compare_by_kind(evidence, first, second) for first, second in permutations(last, 2)}
    is_older = {second for (_, second), of_kinds in verdicts.items() if of_kinds and min(of_kinds.values()) > 0}
    maybe_newest = [number for number in last if number not in is_older]
    pairs = [pair for pair in verdicts if set(pair) <= set(maybe_newest)]
    if any(verdicts[pair] for pair in pairs):
        return None
    pairs = pairs or [pair for pair in verdicts if pair[0] in maybe_newest and not verdicts[pair]]
    if not pairs:
        return None
    first, second = pairs[0]
    by_file = evidence.compare("modification time", first, second)
    later, earlier = (second, first) if by_file == -1 else (first, second)
    return UndecidedPair(
        later, earlier, next(filter(evidence.has_strong_date, (later, earlier)), None) if by_file else None
    )


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
        dated, other = (first, second) if evidence.has_strong_date(first) else (second, first)
        is_dated_later = (verdicts["modification time"] > 0) == (dated == first)
        if not (is_dated_later and evidence.is_after_file_time(dated, other)):
            return {}  # the later file may be a new copy of an old document
    by_file = verdicts.get("modification time", 0)
    if by_file and any(verdicts.get(kind) == -by_file for kind in _MORE_RELIABLE_THAN_FILE_TIMES):
        del verdicts["modification time"]
    return verdicts


def _find_conflicts(
    evidence: DateEvidence, order: Sequence[int], order_kind: EvidenceKind, *, is_newest_known: bool
) -> Iterator[OrderStatement]:
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
    return _compare_by_kind(evidence, *pair).get(kind) == 1


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
