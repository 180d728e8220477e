"""Finds the duplicates in a store."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import chain

from simdoc_search.corpus.file_source import FileSource
from simdoc_search.duplicates import Duplicates, Progress
from simdoc_search.duplicates.arrays import slices
from simdoc_search.duplicates.clusters import find_copies
from simdoc_search.duplicates.document_arrays import Documents
from simdoc_search.duplicates.equal_files import collect_archives, records_of_equal_files
from simdoc_search.duplicates.finder import find_duplicates
from simdoc_search.duplicates.keep_order import KeepRule
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.paths import is_within
from simdoc_search.duplicates.verdicts import check_drop_scope
from simdoc_search.errors import QuerySyntaxError, SimdocError, UnknownFieldError
from simdoc_search.indexing.skipped_files import locate_skipped_files
from simdoc_search.query.planner import parse_fraction
from simdoc_search.search.duplicate_options import DuplicateOptions
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Condition
from simdoc_search.stores.record import Record, has_text_changed
from simdoc_search.workers import ParallelMapper

_DOCUMENTS_PER_PROGRESS_CALL = 256
_COPIES_AT_ONCE = 500


def find_duplicates_in(store: Store, options: DuplicateOptions) -> Duplicates:
    """Find the duplicates in a store; see `SimilaritySearch.duplicates`."""
    measure = Measure(options.measure, parse_fraction(options.overlap, "overlap"))
    keep_rule = KeepRule(options.keep, options.measure)
    check_drop_scope(options.drop)
    compares_texts = options.verify and store.has_texts
    if options.ignore and not compares_texts:
        reason = "the texts are not compared" if store.has_texts else "the index does not store texts"
        raise QuerySyntaxError(f"cannot ignore words, because {reason}; omit 'ignore'")
    scanned = store.scan(filters=options.filters, fields=keep_rule.fields)
    records: Iterator[Record] = (
        record
        for record in _with_progress(store, scanned, options.progress)
        if not options.in_folders or is_within(record, options.in_folders)
    )
    equal_files: Iterable[Record] = ()
    textless_files: list[FileSource] = []
    if options.skipped is not None and not options.filters:
        archives: dict[str, FileSource] = {}  # complete when all records have been read
        records = collect_archives(records, archives)
        textless_files += locate_skipped_files(store, options.skipped)
        files = chain(textless_files, archives.values())
        equal_files = records_of_equal_files(files, partial(options.progress, "hashing"))
    documents = Documents(
        records,
        store.settings,
        keep_rule,
        is_new=_make_newness_test(options.since, options.new_ids),
        is_preferred=_make_preference(frozenset(options.preferred_ids), options.keep_in),
        equal_files=equal_files,
    )
    if options.keep_in and documents and not documents.has_preferred:
        names, example = " or ".join(map(repr, options.keep_in)), documents.id(0)
        raise QuerySyntaxError(
            f"no document is in the folder {names}, and no id begins with this text; one of the ids is {example!r:.200}"
        )
    if keep_rule.field and documents and not documents.has_field:
        raise _unknown_field_error(store, keep_rule.field)
    if keep_rule.is_by_date and documents and not documents.has_date:
        raise QuerySyntaxError(
            f"no document has a date in its metadata or its name, so {options.keep!r} cannot choose; use another keep "
            "rule, such as max:FIELD"
        )
    if compares_texts and not store.is_simdoc_index:
        _leave_out_changed_copies(store, documents, options.progress)
    with ParallelMapper(options.workers) as mapper:
        duplicates = find_duplicates(
            documents,
            measure,
            store.settings,
            partial(_read_texts, store, documents) if compares_texts else None,
            ignore=options.ignore,
            drop=options.drop,
            hash_fields=partial(_read_field_hashes, store, documents),
            progress=options.progress,
            workers=mapper,
        )
    duplicates.left_out_indices = store.left_out_indices()
    duplicates.textless_file_count = len(textless_files)
    return duplicates


def _with_progress(store: Store, records: Iterator[Record], progress: Progress) -> Iterator[Record]:
    """Yield records, and report the share of the store's documents that has been read."""
    total = max(1, store.info().document_count)
    for number, record in enumerate(records):
        if not number % _DOCUMENTS_PER_PROGRESS_CALL:
            progress("reading", min(1.0, number / total))
        yield record
    progress("reading", 1.0)


def _read_texts(
    store: Store, documents: Documents, document_numbers: Sequence[int]
) -> Iterator[tuple[int, str | None]]:
    number_by_key = {documents.key(number): number for number in document_numbers}
    for record in store.records(dict.fromkeys(key.id for key in number_by_key), load={"text"}):
        if record.key in number_by_key:
            number, text = number_by_key[record.key], record.text
            if has_text_changed(record):
                documents.leave_out_changed(number)
                text = ""
            yield number, text


def _leave_out_changed_copies(store: Store, documents: Documents, progress: Progress) -> None:
    """Leave out the documents whose texts have changed, among those that had the same words as another document.

    Documents with the same words become duplicates without a comparison, so nothing else reads their texts first.
    """
    copies = find_copies(documents.same_words_labels, documents.first_new_index)
    for part in slices(len(copies), _COPIES_AT_ONCE):
        deque(_read_texts(store, documents, copies[part].tolist()), maxlen=0)
        progress("verifying", min(1.0, part.stop / len(copies)))


def _read_field_hashes(store: Store, documents: Documents, document_numbers: Sequence[int]) -> dict[int, str]:
    number_by_key = {documents.key(number): number for number in document_numbers}
    hashes = {} if store.is_simdoc_index else store.current_hashes(number_by_key.keys())
    return {number_by_key[key]: current.content for key, current in hashes.items()}


def _make_newness_test(since: datetime | None, new_ids: Collection[str] | None) -> Callable[[Record], bool]:
    """Return a function that decides whether a document is new, by its id or by the modification time of its file."""
    if since is None and new_ids is None:
        return lambda _: True
    ids = frozenset(new_ids or ())
    min_mtime_ns = math.inf if since is None else since.timestamp() * 1e9
    return lambda record: record.id in ids or (record.origin is not None and record.origin.mtime_ns >= min_mtime_ns)


def _make_preference(kept_ids: Collection[str], keep_in: Collection[str]) -> Callable[[Record], bool]:
    """Return a function that decides whether a document is kept even if the rule prefers another one."""
    prefixes = tuple(keep_in)
    folders = [os.path.abspath(folder) for folder in keep_in if os.path.isdir(folder)]  # noqa: PTH100, PTH112 - Path.resolve would follow links
    return lambda record: (
        record.id in kept_ids or record.id.startswith(prefixes) or (bool(folders) and is_within(record, folders))
    )


def _unknown_field_error(store: Store, field: str) -> SimdocError:
    known = store.suggest_filter_names(Condition(field, ()))
    if known is None:
        return QuerySyntaxError(
            f"none of the compared documents has a value in the field {field!r}; use another keep rule"
        )
    return UnknownFieldError(field, known)
