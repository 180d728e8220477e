"""Duplicates in a store, and among texts that need no store."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from fractions import Fraction
from itertools import islice

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.documents import Document
from simdoc_search.duplicates.collecting import collect
from simdoc_search.duplicates.finding import Duplicates, Progress
from simdoc_search.duplicates.keeping import Keep
from simdoc_search.duplicates.measures import Measure, MeasureName
from simdoc_search.errors import SimdocError, StoreError, UnknownFieldError
from simdoc_search.query.planner import exact
from simdoc_search.sketch.fingerprint import fingerprints
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.base import Record, Store
from simdoc_search.stores.filters import Condition, Filters

__all__ = ["duplicates_among", "duplicates_in"]

_OVERLAP = Fraction(4, 5)
_DOCUMENTS_AT_ONCE = 1 << 10


def duplicates_in(
    store: Store,
    *,
    overlap: float | Fraction = _OVERLAP,
    measure: MeasureName = "jaccard",
    filters: Filters | None = None,
    within: Collection[str] = (),
    since: datetime | None = None,
    new: Collection[str] | None = None,
    keep: str = "longest",
    kept_before: Collection[str] = (),
    verify: bool = True,
    progress: Progress = lambda _stage, _share: None,
) -> Duplicates:
    """The duplicates in a store; see `SimilaritySearch.duplicates`."""
    asked, rule = Measure(measure, exact(overlap, "overlap")), Keep(keep)
    total = max(1, store.info().documents)
    read = 0

    def advance(count: int) -> None:
        nonlocal read
        read += count
        progress("reading", min(1.0, read / total))

    documents = collect(
        store.scan(filters=filters),
        store.settings,
        rule,
        within=within,
        fresh=_freshness(since, new),
        kept_before=kept_before,
        progress=advance,
    )
    if since is not None and documents and not documents.has_date:
        raise StoreError("no document was read from a file, so none has a date; say which are new by their ids")
    if rule.field and documents and not documents.has_field:
        raise _no_field(store, rule.field)

    def texts(who: Sequence[int]) -> Iterator[tuple[int, str | None]]:
        numbers = {documents.place(each): each for each in who}
        ids = dict.fromkeys(each.id for each in numbers)
        found = store.records(ids, text=True)
        return ((numbers[each.place], each.text) for each in found if each.place in numbers)

    can_verify = verify and store.store_texts
    return Duplicates(documents, asked, store.settings, texts if can_verify else None, progress)


def _freshness(since: datetime | None, new: Collection[str] | None) -> Callable[[Record], bool]:
    """Whether a document is new: by the date of its file, or by its id."""
    if since is None and new is None:
        return lambda _: True
    ids = frozenset(new or ())
    least = math.inf if since is None else since.timestamp() * 1e9
    return lambda record: record.id in ids or (record.origin is not None and record.origin.mtime_ns >= least)


def _no_field(store: Store, field: str) -> SimdocError:
    known = store.alternatives(Condition(field, ()))
    if known is None:
        return StoreError(
            f"the field {field!r} belongs to an application's index, and is not read; keep by another rule"
        )
    return UnknownFieldError(field, known)


def duplicates_among(
    documents: Iterable[Document],
    *,
    overlap: float | Fraction = _OVERLAP,
    measure: MeasureName = "jaccard",
    keep: str = "longest",
    verify: bool = True,
    settings: Settings | None = None,
    progress: Progress = lambda _stage, _share: None,
) -> Duplicates:
    """The duplicates among some documents, without a store.

    Args:
        documents: they need not have different ids.
        overlap: as for `SimilaritySearch.duplicates`; the same holds for `measure`, `keep` and `progress`.
        measure: what overlap means.
        keep: which one stays.
        verify: compare the texts, which are then all held in memory.
        settings: what words, shingles and fingerprints are; None: the default.
        progress: called with what is done now.

    Raises:
        QuerySyntaxError: the overlap, the measure or `keep` is not what it can be.
    """
    settings = settings or Settings()
    asked, rule = Measure(measure, exact(overlap, "overlap")), Keep(keep)
    kept: list[str] = []
    found = collect(_records(documents, settings, kept if verify else None), settings, rule)

    def texts(who: Sequence[int]) -> Iterator[tuple[int, str | None]]:
        return ((each, kept[found.came_as(each)]) for each in who)

    return Duplicates(found, asked, settings, texts if verify else None, progress)


def _records(documents: Iterable[Document], settings: Settings, texts: list[str] | None) -> Iterator[Record]:
    rest = iter(documents)
    while some := list(islice(rest, _DOCUMENTS_AT_ONCE)):
        made = fingerprints((each.text for each in some), settings.analysis, settings.minhash, words_hash=True)
        for each, fp in zip(some, made, strict=True):
            if texts is not None:
                texts.append(each.text)
            hashes = text_hash(each.text), fp.words_hash
            yield Record(each.id, fp.codes(settings.token_length), fp.shingles, "", each.metadata, None, None, *hashes)
