"""Finds duplicates in a store, or among documents without a store."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from fractions import Fraction
from functools import partial
from typing import Any, Literal, get_args

from simdoc_search.documents import Document
from simdoc_search.duplicates.checkpoint import Checkpoint
from simdoc_search.duplicates.document_arrays import Documents
from simdoc_search.duplicates.duplicates_result import Duplicates
from simdoc_search.duplicates.engine_pairs import MAX_MATCHES, EnginePairs
from simdoc_search.duplicates.finder import FindPairs, Progress, find_duplicates
from simdoc_search.duplicates.fingerprinting import fingerprint_documents
from simdoc_search.duplicates.keep_order import KeepRule
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.paths import is_within
from simdoc_search.duplicates.verdicts import DropScope, check_drop_scope
from simdoc_search.errors import QuerySyntaxError, SimdocError, StoreError, UnknownFieldError
from simdoc_search.passages.exact import MeasureName
from simdoc_search.query.planner import parse_fraction
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Condition, Filters, parse_filters
from simdoc_search.stores.point_in_time import Freezable, HasFields
from simdoc_search.stores.record import Record, has_text_changed
from simdoc_search.workers import WorkerMap

CompareIn = Literal["memory", "engine"]
COMPARE_IN_VALUES: tuple[CompareIn, ...] = get_args(CompareIn)

_DEFAULT_OVERLAP = Fraction(4, 5)
_DOCUMENTS_PER_PROGRESS_CALL = 256


def duplicates_in(
    store: Store,
    *,
    overlap: float | Fraction = _DEFAULT_OVERLAP,
    measure: MeasureName = "jaccard",
    filters: Filters | None = None,
    within: Collection[str] = (),
    since: datetime | None = None,
    new: Collection[str] | None = None,
    keep: str = "longest",
    kept_before: Collection[str] = (),
    keep_in: Collection[str] = (),
    verify: bool = True,
    compare_in: CompareIn = "memory",
    checkpoint: str | os.PathLike[str] | None = None,
    drop: DropScope | None = None,
    progress: Progress = lambda _stage, _share: None,
    ignore: Sequence[str] = (),
    workers: int = 1,
) -> Duplicates:
    """Find the duplicates in a store; see `SimilaritySearch.duplicates`."""
    threshold, keep_rule = Measure(measure, parse_fraction(overlap, "overlap")), KeepRule(keep, measure)
    check_drop_scope(drop)
    if ignore and not (verify and store.has_texts):
        raise QuerySyntaxError("cannot ignore words, because the texts are not stored or not compared; omit 'ignore'")
    if compare_in not in COMPARE_IN_VALUES:
        raise QuerySyntaxError(f"compare_in must be one of {', '.join(COMPARE_IN_VALUES)}, not {compare_in!r:.60}")
    if compare_in == "memory" and checkpoint is not None:
        raise QuerySyntaxError("a checkpoint requires compare_in='engine'; set compare_in, or omit the checkpoint")
    if compare_in == "engine" and (since is not None or new is not None):
        raise QuerySyntaxError(
            "compare_in='engine' compares all documents; omit 'compare_in', or omit 'since' and 'new'"
        )
    kept_ids, prefixes = frozenset(kept_before), tuple(keep_in)

    def read(records: Iterator[Record], *, with_tokens: bool = True) -> Documents:
        documents = Documents(
            (record for record in _with_progress(store, records, progress) if not within or is_within(record, within)),
            store.settings,
            keep_rule,
            is_new=_make_newness_test(since, new),
            is_preferred=lambda record: record.id in kept_ids or record.id.startswith(prefixes),
            with_tokens=with_tokens,
        )
        if prefixes and documents and not documents.has_preferred:
            raise QuerySyntaxError(f"no document id begins with {' or '.join(map(repr, prefixes))}; correct 'keep_in'")
        if keep_rule.field and documents and not documents.has_field:
            raise _unknown_field_error(store, keep_rule.field)
        return documents

    def find_in(documents: Documents, find_pairs: FindPairs | None = None, limit: int | None = None) -> Duplicates:
        with WorkerMap(workers) as worker_map:
            duplicates = find_duplicates(
                documents,
                threshold,
                store.settings,
                partial(_read_texts, store, documents) if verify and store.has_texts else None,
                find_pairs=find_pairs,
                max_set_size=limit,
                ignore=ignore,
                drop=drop,
                hash_fields=partial(_read_field_hashes, store, documents),
                progress=progress,
                workers=worker_map,
            )
        duplicates.left_out_indices = store.left_out_indices()
        return duplicates

    if compare_in == "memory":
        return find_in(read(store.scan(filters=filters)))
    if not isinstance(store, Freezable):
        raise StoreError("compare_in='engine' requires a store in an engine; omit compare_in to compare in memory")
    with store.freeze(filters=filters) as frozen:
        options = {
            "the index": frozen.identity,
            "the settings": json.dumps(store.settings.to_dict(), sort_keys=True),
            "measure": measure,
            "overlap": f"{float(100 * threshold.overlap)} %",
            "keep": keep,
            "filters": ", ".join(sorted(map(_describe_filter, parse_filters(filters)))) or "none",
            "folders": ", ".join(sorted(within)) or "all",
        }
        with closing(Checkpoint(checkpoint, options)) as saved:
            documents = read(frozen.records(), with_tokens=False)
            pairs = EnginePairs(frozen, documents, threshold, saved)
            return find_in(documents, pairs.find, MAX_MATCHES)


def duplicates_among(
    documents: Iterable[Document],
    *,
    overlap: float | Fraction = _DEFAULT_OVERLAP,
    measure: MeasureName = "jaccard",
    keep: str = "longest",
    verify: bool = True,
    settings: Settings | None = None,
    progress: Progress = lambda _stage, _share: None,
    workers: int = 1,
) -> Duplicates:
    """Find the duplicates among documents, without a store.

    Args:
        documents: the documents. Ids may repeat.
        overlap: the minimum overlap, greater than 0 and at most 1.
        measure: `jaccard`, `containment` or `contained`.
        keep: the rule that chooses the kept document of a group.
        verify: whether to compare the texts, which are then all held in memory. Otherwise overlaps are estimated from
            fingerprints.
        settings: settings of the fingerprints; None for the default.
        progress: called with the current stage and the share of this stage that is done, 0..1.
        workers: number of processes that fingerprint and compare texts. If it is 1, or if there are few documents, this
            process does the work. The number does not change the result.

    Raises:
        QuerySyntaxError: the overlap, the measure, `keep` or `workers` is not valid.
    """
    settings = settings or Settings()
    threshold, keep_rule = Measure(measure, parse_fraction(overlap, "overlap")), KeepRule(keep, measure)
    texts: list[str] = []

    def read_texts(document_numbers: Sequence[int]) -> Iterator[tuple[int, str | None]]:
        return ((number, texts[collection.input_position(number)]) for number in document_numbers)

    with WorkerMap(workers) as worker_map:
        records = fingerprint_documents(documents, settings, worker_map, texts if verify else None)
        collection = Documents(records, settings, keep_rule)
        reader = read_texts if verify else None
        return find_duplicates(collection, threshold, settings, reader, progress=progress, workers=worker_map)


def _with_progress(store: Store, records: Iterator[Record], progress: Progress) -> Iterator[Record]:
    """Yield records, and report the share of the store's documents that has been read."""
    total = max(1, store.info().documents)
    for number, record in enumerate(records):
        if not number % _DOCUMENTS_PER_PROGRESS_CALL:
            progress("reading", min(1.0, number / total))
        yield record
    progress("reading", 1.0)


def _describe_filter(condition: Condition | dict[str, Any]) -> str:
    if isinstance(condition, dict):
        return json.dumps(condition, sort_keys=True)
    return f"{condition.field}{'!=' if condition.is_negated else '='}{'|'.join(map(str, condition.values))}"


def _read_texts(
    store: Store, documents: Documents, document_numbers: Sequence[int]
) -> Iterator[tuple[int, str | None]]:
    number_by_key = {documents.key(number): number for number in document_numbers}
    for record in store.records(dict.fromkeys(key.id for key in number_by_key), text=True):
        if record.key in number_by_key:
            yield number_by_key[record.key], None if has_text_changed(record) else record.text


def _read_field_hashes(store: Store, documents: Documents, document_numbers: Sequence[int]) -> dict[int, str]:
    if not isinstance(store, HasFields):
        return {}
    number_by_key = {documents.key(number): number for number in document_numbers}
    hashes = store.field_hashes(list(number_by_key))
    return {number_by_key[key]: fields_hash for key, fields_hash in hashes.items() if key in number_by_key}


def _make_newness_test(since: datetime | None, new: Collection[str] | None) -> Callable[[Record], bool]:
    """Return a function that decides whether a document is new, by its id or by the modification time of its file."""
    if since is None and new is None:
        return lambda _: True
    ids = frozenset(new or ())
    min_mtime_ns = math.inf if since is None else since.timestamp() * 1e9
    return lambda record: record.id in ids or (record.origin is not None and record.origin.mtime_ns >= min_mtime_ns)


def _unknown_field_error(store: Store, field: str) -> SimdocError:
    known = store.filter_suggestions(Condition(field, ()))
    if known is None:
        return StoreError(
            f"cannot order documents by the field {field!r}, because simdoc-search did not create the index; use "
            "another keep rule"
        )
    return UnknownFieldError(field, known)
