"""Duplicates in a store, and among documents without a store."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from datetime import datetime
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any, Literal, get_args

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.documents import Document
from simdoc_search.duplicates.checkpoint import Checkpoint
from simdoc_search.duplicates.collection import Documents, collect
from simdoc_search.duplicates.engine_pairs import EnginePairs
from simdoc_search.duplicates.finder import Duplicates, Progress
from simdoc_search.duplicates.keep_order import Keep
from simdoc_search.duplicates.measures import Measure, MeasureName
from simdoc_search.duplicates.verdicts import Widened, check_drop
from simdoc_search.duplicates.verification import ReadTexts
from simdoc_search.errors import QuerySyntaxError, SimdocError, StoreError, UnknownFieldError
from simdoc_search.query.planner import parse_fraction
from simdoc_search.sketch.fingerprint import fingerprints
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.base import Store
from simdoc_search.stores.changed import has_changed
from simdoc_search.stores.excluded_indices import left_out_indices
from simdoc_search.stores.filters import Condition, Filters, conditions
from simdoc_search.stores.point_in_time import Freezable, Frozen, HasFields
from simdoc_search.stores.record import Record

Via = Literal["memory", "engine"]
VIA: tuple[Via, ...] = get_args(Via)

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
    keep_in: Collection[str] = (),
    verify: bool = True,
    via: Via = "memory",
    checkpoint: str | os.PathLike[str] | None = None,
    drop: Widened | None = None,
    progress: Progress = lambda _stage, _share: None,
    ignore: Sequence[str] = (),
) -> Duplicates:
    """The duplicates in a store; see `SimilaritySearch.duplicates`."""
    if ignore and not (verify and store.store_texts):
        raise QuerySyntaxError("words can only be ignored where texts are stored and compared; leave ignore out")
    asked, rule = Measure(measure, parse_fraction(overlap, "overlap")), Keep(keep, measure)
    check_drop(drop)
    total = max(1, store.info().documents)
    read = 0

    def advance(count: int) -> None:
        nonlocal read
        read += count
        progress("reading", min(1.0, read / total))

    def collected(records: Iterator[Record], *, with_tokens: bool = True) -> Documents:
        found = collect(
            records,
            store.settings,
            rule,
            within=within,
            fresh=_freshness(since, new),
            kept_before=kept_before,
            keep_in=keep_in,
            with_tokens=with_tokens,
            progress=advance,
        )
        if since is not None and found and not found.has_date:
            raise StoreError("no document was read from a file, so none has a date; say which are new by their ids")
        if keep_in and found and not found.has_chosen:
            raise QuerySyntaxError(
                f"no id begins with {' or '.join(map(repr, keep_in))}, where documents are to be kept"
            )
        if rule.field and found and not found.has_field:
            raise _no_field(store, rule.field)
        return found

    def texts_of(documents: Documents) -> ReadTexts | None:
        return partial(_texts, store, documents) if verify and store.store_texts else None

    def find(documents: Documents, asking: EnginePairs | None = None) -> Duplicates:
        texts, fields = texts_of(documents), partial(_field_hashes, store, documents)
        found = Duplicates(
            *(documents, asked, store.settings, texts),
            progress=progress,
            asking=asking,
            ignore=ignore,
            drop=drop,
            fields=fields,
        )
        found.left_out_indices = left_out_indices(store)
        return found

    if _is_in_memory(via, checkpoint):
        return find(collected(store.scan(filters=filters)))
    if since is not None or new is not None:
        raise QuerySyntaxError("only new documents are compared in memory; leave via engine out, or since and new")
    with _frozen(store, filters) as frozen:
        bound = _bound(frozen, store.settings, asked, keep=keep, filters=filters, within=within)
        with closing(Checkpoint(checkpoint, bound)) as notes:
            documents = collected(frozen.records(), with_tokens=False)
            asking = EnginePairs(frozen, documents, asked, store.settings.token_length, notes)
            return find(documents, asking)


def _is_in_memory(via: Via, checkpoint: object) -> bool:
    if via not in VIA:
        raise QuerySyntaxError(f"via is one of {', '.join(VIA)}, not {via!r:.60}")
    if via == "memory" and checkpoint is not None:
        raise QuerySyntaxError("a checkpoint is kept only where the engine compares; add via engine, or leave it out")
    return via == "memory"


def _frozen(store: Store, filters: Filters | None) -> AbstractContextManager[Frozen]:
    if not isinstance(store, Freezable):
        raise StoreError("this store is in no engine that could be asked; leave via engine out, it compares in memory")
    return store.frozen(filters=filters)


def _bound(
    frozen: Frozen, settings: Settings, measure: Measure, *, keep: str, filters: Filters | None, within: Collection[str]
) -> dict[str, str]:
    """What the results depend on. A checkpoint is refused if any of it has changed."""
    return {
        "the index": frozen.identity,
        "the settings": json.dumps(settings.to_dict(), sort_keys=True),
        "measure": measure.name,
        "overlap": f"{float(100 * measure.overlap)} %",
        "keep": keep,
        "filters": ", ".join(sorted(map(_said, conditions(filters)))) or "none",
        "folders": ", ".join(sorted(within)) or "all",
    }


def _texts(store: Store, documents: Documents, who: Sequence[int]) -> Iterator[tuple[int, str | None]]:
    numbers = {documents.place(each): each for each in who}
    ids = dict.fromkeys(each.id for each in numbers)
    found = store.records(ids, text=True)
    own = (each for each in found if each.place in numbers)
    return ((numbers[each.place], None if has_changed(each) else each.text) for each in own)


def _field_hashes(store: Store, documents: Documents, who: Sequence[int]) -> dict[int, str]:
    if not isinstance(store, HasFields):
        return {}
    numbers = {documents.place(each): each for each in who}
    found = store.field_hashes(list(numbers))
    return {numbers[place]: each for place, each in found.items() if place in numbers}


def _said(condition: Condition | dict[str, Any]) -> str:
    if isinstance(condition, dict):
        return json.dumps(condition, sort_keys=True)
    return f"{condition.field}{'!=' if condition.excluded else '='}{'|'.join(map(str, condition.values))}"


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
        documents: ids may repeat.
        overlap: least overlap, as for `SimilaritySearch.duplicates`.
        measure: what overlap means.
        keep: which document of a group is kept.
        verify: compare the texts, which are all held in memory.
        settings: of words, shingles and fingerprints; None: the default.
        progress: see `Progress`.

    Raises:
        QuerySyntaxError: the overlap, the measure or `keep` is not valid.
    """
    settings = settings or Settings()
    asked, rule = Measure(measure, parse_fraction(overlap, "overlap")), Keep(keep, measure)
    kept: list[str] = []
    found = collect(_records(documents, settings, kept if verify else None), settings, rule)

    def texts(who: Sequence[int]) -> Iterator[tuple[int, str | None]]:
        return ((each, kept[found.came_as(each)]) for each in who)

    return Duplicates(found, asked, settings, texts if verify else None, progress=progress)


def _records(documents: Iterable[Document], settings: Settings, texts: list[str] | None) -> Iterator[Record]:
    rest = iter(documents)
    while some := list(islice(rest, _DOCUMENTS_AT_ONCE)):
        made = fingerprints((each.text for each in some), settings.analysis, settings.minhash, words_hash=True)
        for each, fp in zip(some, made, strict=True):
            if texts is not None:
                texts.append(each.text)
            hashes = text_hash(each.text), fp.words_hash
            digest = f"{hashes[0]} {sorted(each.metadata.items())}"
            codes = fp.codes(settings.token_length)
            yield Record(each.id, codes, fp.shingles, digest, each.metadata, None, None, *hashes)
