"""Finds duplicates in a store, or among documents without a store."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from fractions import Fraction
from functools import partial
from itertools import chain

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.corpus.file_source import FileSource
from simdoc_search.documents import Document
from simdoc_search.duplicates.document_arrays import Documents
from simdoc_search.duplicates.duplicates_result import Duplicates
from simdoc_search.duplicates.equal_files import collect_archives, records_of_equal_files
from simdoc_search.duplicates.finder import Progress, find_duplicates
from simdoc_search.duplicates.fingerprinting import fingerprint_documents
from simdoc_search.duplicates.keep_order import KeepRule
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.paths import is_within
from simdoc_search.duplicates.verdicts import DropScope, check_drop_scope
from simdoc_search.errors import QuerySyntaxError, SimdocError, UnknownFieldError
from simdoc_search.passages.exact_overlap import MeasureName
from simdoc_search.query.planner import parse_fraction
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.application_fields import HasApplicationFields
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Condition, Filters
from simdoc_search.stores.record import Record, has_text_changed
from simdoc_search.workers import ParallelMapper

_DEFAULT_OVERLAP = Fraction(4, 5)
_DOCUMENTS_PER_PROGRESS_CALL = 256


def duplicates_in(
    store: Store,
    *,
    overlap: float | Fraction = _DEFAULT_OVERLAP,
    measure: MeasureName = "jaccard",
    filters: Filters | None = None,
    in_folders: Collection[str] = (),
    since: datetime | None = None,
    new_ids: Collection[str] | None = None,
    keep: str = "longest",
    preferred_ids: Collection[str] = (),
    keep_in: Collection[str] = (),
    files: Iterable[FileSource] | None = None,
    verify: bool = True,
    drop: DropScope | None = None,
    progress: Progress = lambda _stage, _share: None,
    ignore: Sequence[str] = (),
    workers: int = 1,
) -> Duplicates:
    """Find the duplicates in a store; see `SimilaritySearch.duplicates`.

    `files` are files that are not in the store. Their bytes are compared, and those of indexed archives. None: no bytes
    of such files and archives are compared.
    """
    threshold, keep_rule = Measure(measure, parse_fraction(overlap, "overlap")), KeepRule(keep, measure)
    check_drop_scope(drop)
    if ignore and not (verify and store.has_texts):
        reason = "the texts are not compared" if store.has_texts else "the index does not store texts"
        raise QuerySyntaxError(f"cannot ignore words, because {reason}; omit 'ignore'")
    kept_ids = frozenset(preferred_ids)

    records = (
        record
        for record in _with_progress(store, store.scan(filters=filters, fields=keep_rule.fields), progress)
        if not in_folders or is_within(record, in_folders)
    )
    archives: dict[str, FileSource] = {}  # complete when all records have been read
    documents = Documents(
        records if files is None else collect_archives(records, archives),
        store.settings,
        keep_rule,
        is_new=_make_newness_test(since, new_ids),
        is_preferred=_make_preference(kept_ids, keep_in),
        equal_files=()
        if files is None
        else records_of_equal_files(chain(files, archives.values()), partial(progress, "hashing")),
    )
    if keep_in and documents and not documents.has_preferred:
        names, example = " or ".join(map(repr, keep_in)), documents.id(0)
        raise QuerySyntaxError(
            f"no document is in the folder {names}, and no id begins with this text; one of the ids is {example!r:.200}"
        )
    if keep_rule.field and documents and not documents.has_field:
        raise _unknown_field_error(store, keep_rule.field)
    if keep_rule.is_by_date and documents and not documents.has_date:
        raise QuerySyntaxError(
            f"no document has a date in its metadata or its name, so {keep!r} cannot choose; use another keep rule, "
            "such as max:FIELD"
        )
    with ParallelMapper(workers) as mapper:
        duplicates = find_duplicates(
            documents,
            threshold,
            store.settings,
            partial(_read_texts, store, documents) if verify and store.has_texts else None,
            ignore=ignore,
            drop=drop,
            hash_fields=partial(_read_field_hashes, store, documents),
            progress=progress,
            workers=mapper,
        )
    duplicates.left_out_indices = store.left_out_indices()
    return duplicates


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
        measure: `jaccard`, `containment` or `reverse_containment`.
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

    with ParallelMapper(workers) as mapper:
        records = fingerprint_documents(documents, settings, mapper, texts if verify else None)
        collection = Documents(records, settings, keep_rule)
        reader = read_texts if verify else None
        return find_duplicates(collection, threshold, settings, reader, progress=progress, workers=mapper)


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
    for record in store.records(dict.fromkeys(key.id for key in number_by_key), with_text=True):
        if record.key in number_by_key:
            yield number_by_key[record.key], None if has_text_changed(record) else record.text


def _read_field_hashes(store: Store, documents: Documents, document_numbers: Sequence[int]) -> dict[int, str]:
    if not isinstance(store, HasApplicationFields):
        return {}
    number_by_key = {documents.key(number): number for number in document_numbers}
    fields = store.application_fields(list(number_by_key))
    return {
        number_by_key[key]: text_hash(json.dumps(values, sort_keys=True))
        for key, values in fields.items()
        if key in number_by_key
    }


def _make_newness_test(since: datetime | None, new_ids: Collection[str] | None) -> Callable[[Record], bool]:
    """Return a function that decides whether a document is new, by its id or by the modification time of its file."""
    if since is None and new_ids is None:
        return lambda _: True
    ids = frozenset(new_ids or ())
    min_mtime_ns = math.inf if since is None else since.timestamp() * 1e9
    return lambda record: record.id in ids or (record.origin is not None and record.origin.mtime_ns >= min_mtime_ns)


def _make_preference(kept_ids: Collection[str], keep_in: Collection[str]) -> Callable[[Record], bool]:
    """Return a function that decides whether a document is kept even if the rule prefers another one.

    Args:
        kept_ids: ids of such documents.
        keep_in: prefixes of such ids, or folders with the files of such documents.
    """
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
