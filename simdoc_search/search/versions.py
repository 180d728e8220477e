"""Implements `versions`: compares candidates by their sentences, and orders the versions by evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.display import format_count
from simdoc_search.documents import DocumentKey
from simdoc_search.errors import NoFingerprintError
from simdoc_search.groups import FamilyMembers
from simdoc_search.indexing.input_paths import absolute_path
from simdoc_search.search.filter_check import find_filter_error
from simdoc_search.search.options import VersionQuery
from simdoc_search.search.query_document import QueryDocument
from simdoc_search.search.results import add_fields
from simdoc_search.search.stored_texts import (
    add_metadata,
    read_records,
    resolve_record,
)
from simdoc_search.search.version_candidates import VersionCandidates, find_version_candidates
from simdoc_search.search.version_entries import FoundVersion, QueryFamily, make_date_attributes
from simdoc_search.search.version_order import (
    VersionEntry,
    VersionFamily,
)
from simdoc_search.search.version_result import VersionsResult
from simdoc_search.sketch.fingerprint import fingerprints
from simdoc_search.sketch.thresholds import MAX_DISTANCE_LIMIT
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record, has_text_changed
from simdoc_search.versions import (
    DateSources,
    SentenceMatches,
    SimilarityThresholds,
    Timeline,
    build_timeline,
)
from simdoc_search.versions.equal_texts import TextHashes, hash_normalised_text, hash_words_and_punctuation
from simdoc_search.versions.metadata_dates import DATE_FIELDS


def find_versions(store: Store, query: VersionQuery) -> VersionsResult:
    """Find and order the versions of a document or text; see `SimilaritySearch.versions`."""
    thresholds = query.choose_thresholds(store.settings.thresholds)
    document, dates = _make_query_document(store, query)
    if not len(document.sentence_simhashes) and (document.text is not None or store.settings.sentences is not None):
        missing_unit = "sentences" if document.is_stored else "words"
        raise NoFingerprintError(f"{document.description} has no {missing_unit}, so nothing can be a version of it")
    candidates = find_version_candidates(store, document, query, thresholds.max_distance)
    if not candidates.total and (error := find_filter_error(store, query.filters)):
        raise error
    versions = _select_versions(store, document, candidates, thresholds)
    loosest = replace(thresholds, max_distance=MAX_DISTANCE_LIMIT)
    loosely_similar = {} if versions else _score_versions(store, document, candidates, loosest)
    family = QueryFamily(store, document, versions, thresholds.max_distance)
    hashes = hash_words_and_punctuation(
        store, map(TextHashes.from_record, [document.record, *(version.record for version in versions)])
    )
    if not document.is_stored and document.text is not None:
        hashes[document.record.text_hash] = hash_normalised_text(document.text, str(query.file or ""))
    version_dates = (_read_record_dates(version.record, query.use_git) for version in versions)
    timeline = build_timeline(_replace_text_hashes([dates, *version_dates], hashes), family.propose_order)
    page = _select_page(len(versions), timeline, query)
    shown_numbers = {0, timeline.order[-1] if timeline.order else 0, *page}
    records = read_records(
        store, [versions[number - 1].record.key for number in shown_numbers if number], load={"text"}
    )
    entries = family.make_entries(timeline, shown_numbers, records)
    hits = [family.make_hit(number, entries[number], records) for number in page]
    return VersionsResult(
        **_make_order_attributes(timeline, entries),
        query_name=document.name,
        text=document.text,
        sentence_count=len(set(document.sentence_simhashes.tolist())),
        queried_sentence_count=candidates.queried_sentence_count,
        hits=add_fields(store, hits, query.fields),
        total=len(versions),
        candidate_count=candidates.total,
        compared_count=len(candidates.simhashes),
        candidate_source=candidates.candidate_source,
        changed=document.is_stored and has_text_changed(document.record),
        left_out_indices=store.left_out_indices(),
        thresholds=thresholds,
        loosely_similar_count=len(loosely_similar),
        text_note=_describe_short_text(document),
    )


def order_family(store: Store, family: FamilyMembers, *, use_git: bool) -> VersionFamily:
    """Order the documents of a family; see `SimilaritySearch.order_family`."""
    stored = read_records(store, family.document_keys)
    records = add_metadata(store, [stored[key] for key in family.document_keys if key in stored], DATE_FIELDS)
    dates = [_read_record_dates(record, use_git) for record in records]
    hashes = hash_words_and_punctuation(store, map(TextHashes.from_record, records))
    timeline = build_timeline(_replace_text_hashes(dates, hashes))
    entries = {
        number: VersionEntry(record.id, record.key, False, **make_date_attributes(timeline, number))
        for number, record in enumerate(records)
    }
    order = _make_order_attributes(timeline, entries)
    return VersionFamily(**order, pair_count=family.pair_count, lowest_score=family.lowest_score)


def _make_query_document(store: Store, query: VersionQuery) -> tuple[QueryDocument, DateSources]:
    if query.text is not None:
        name = str(query.file or "")
        document = QueryDocument.from_text(query.text, store.settings, name, query.metadata)
        settings = store.settings
        (hashed,) = fingerprints([query.text], settings.analysis, settings.sketch, with_words_hash=True)
        record = replace(
            document.record,
            text_hash=text_hash(query.text),
            words_hash=hashed.words_hash,
            shingle_count=hashed.shingle_count,
        )
        return replace(document, record=record), replace(_read_text_dates(query), text_hash=record.text_hash)
    record = resolve_record(store, query.query or "", query.query_document_filters)
    (dated,) = add_metadata(store, [record], DATE_FIELDS)
    return QueryDocument(record, store.settings), _read_record_dates(dated, query.use_git)


def _describe_short_text(document: QueryDocument) -> str:
    if not TextHashes.from_record(document.record).is_short:
        return ""
    unit, size = document.settings.analysis.unit, document.settings.analysis.shingle_size
    count = document.word_count if document.text is not None else size
    return (
        f"a text of {format_count(count, unit)} is too short to find edited versions. Only documents with exactly the "
        "same words are listed"
    )


def _read_record_dates(record: Record, use_git: bool) -> DateSources:
    path = Path(record.origin.path_of(record.id)) if record.origin and use_git else None
    return DateSources.from_record(record, path)


def _replace_text_hashes(documents: Sequence[DateSources], hashes: Mapping[str, str]) -> list[DateSources]:
    return [replace(document, text_hash=hashes.get(document.text_hash, document.text_hash)) for document in documents]


def _read_text_dates(query: VersionQuery) -> DateSources:
    """Return the sources of dates for a text that need not be stored."""
    metadata = query.metadata or {}
    if not query.file:
        return DateSources("", metadata)
    path = Path(absolute_path(query.file))
    name = "/".join(path.parts[-2:])  # dates in the names of folders further up do not apply to the file
    sources = DateSources(name, metadata, name=str(query.file))
    try:
        mtime_ns = path.stat().st_mtime_ns
    except OSError:
        return sources
    return replace(sources, mtime_ns=mtime_ns, file_path=path if query.use_git else None)


def _select_versions(
    store: Store, document: QueryDocument, candidates: VersionCandidates, thresholds: SimilarityThresholds
) -> list[FoundVersion]:
    """Return the candidates that are versions, by descending score."""
    scored = _score_versions(store, document, candidates, thresholds)
    records = add_metadata(store, [record for record, _, _ in scored.values()], DATE_FIELDS)
    versions = [FoundVersion(record, candidates.simhashes[record.key], *scored[record.key][1:]) for record in records]
    return sorted(versions, key=lambda version: (-version.score, version.record.id, str(version.record.index)))


def _score_versions(
    store: Store, document: QueryDocument, candidates: VersionCandidates, thresholds: SimilarityThresholds
) -> dict[DocumentKey, tuple[Record, SentenceMatches, float]]:
    """Return the record, the similar sentences and the score of each candidate that is a version."""
    scored = candidates.select_versions(document, thresholds)
    hashes = TextHashes.from_record(document.record)
    return {
        key: (record, *scored[key])
        for key, record in read_records(store, list(scored)).items()
        if hashes.may_be_version_of(TextHashes.from_record(record))
    }


def _select_page(count: int, timeline: Timeline, query: VersionQuery) -> list[int]:
    """Return the indices, from 1, of the versions on the page. The first page always contains the newest version."""
    best, newest = list(range(1, 1 + count)), timeline.order[-1] if timeline.order else 0
    if newest > query.size:
        best.insert(query.size - 1, best.pop(newest - 1))
    return best[query.offset : query.offset + query.size]


def _make_order_attributes(timeline: Timeline, entries: dict[int, VersionEntry]) -> dict[str, Any]:
    """Return the attributes of `VersionOrder`."""

    def find_entry(number: int | None) -> VersionEntry | None:
        return None if number is None else entries[number]

    return {
        "timeline": tuple(entries[number] for number in timeline.order if number in entries),
        "unordered": tuple(entries[number] for number in timeline.unordered if number in entries),
        "newest": find_entry(timeline.newest),
        "newest_without_file_times": find_entry(timeline.newest_without_file_times),
        "newest_evidence_kinds": timeline.newest_evidence_kinds,
        "undecided": timeline.undecided,
        "evidence_kind": timeline.evidence_kind,
        "is_certain": timeline.is_certain,
        "conflicting_statements": timeline.conflicting_statements,
        "reason": timeline.reason,
        "have_equal_texts": timeline.have_equal_texts,
    }
