"""The sentences and concepts of all documents, as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from simdoc_search.analysis.distinct import distinct
from simdoc_search.cancellation import check_stopped
from simdoc_search.documents import Place
from simdoc_search.errors import StoreError
from simdoc_search.groups.components import Ints, Progress
from simdoc_search.sketch.concepts import Paragraphs, paragraphs_of
from simdoc_search.sketch.sentences import sentences_of_codes
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Record
from simdoc_search.stores.sketching import sentences_in

_REPORTED = 256


@dataclass(slots=True, eq=False)
class AllDocuments:
    """Documents by number, in the order of their ids.

    Attributes:
        places: where each is.
        sentences: the distinct simhashes of the sentences of the first, then those of the second, and so on; uint64.
        begins: where those of each document begin; int64, shape (documents,).
        counts: how many it has; int64, shape (documents,).
        concepts: the concepts of each; empty if they were not read.
        left_out: place to reason, of those that cannot be compared.
    """

    places: list[Place]
    sentences: Simhashes
    begins: Ints
    counts: Ints
    concepts: list[Paragraphs] = field(default_factory=list)
    left_out: dict[Place, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.places)


def read_all(store: Store, filters: Filters | None, progress: Progress, *, concepts: bool = False) -> AllDocuments:
    """The documents that filters keep, with their sentences, and with their concepts if these are asked for.

    Sentences are those that the store has, else those of the texts. With concepts, those of a store without sentences
    are not looked for, as in `related`.

    Raises:
        StoreError: the store has neither sentences nor texts, or cannot be read.
        MissingExtraError: sentencex is not installed, and the store has no sentences.
    """
    from_texts = store.settings.sentences is None and not concepts
    if from_texts and not store.store_texts:
        raise StoreError(
            "the index keeps no texts, so their sentences cannot be compared; "
            "run simdoc-search index again with --with versions"
        )
    found: list[tuple[Place, Simhashes, Paragraphs | None]] = []
    left_out: dict[Place, str] = {}
    for record in _counted(store, filters, progress, text=from_texts):
        values = _sentences(store, record) if from_texts else distinct(sentences_of_codes(record.sentences))
        its = paragraphs_of(record.concepts) if concepts else None
        if its.count if its is not None else len(values):
            found.append((record.place, values, its))
        else:
            left_out[record.place] = record.fault or ("has no concepts" if concepts else "has no sentences")
    found.sort(key=lambda each: (each[0].id, each[0].index or "", each[0].routing or ""))
    counts = np.array([len(values) for _, values, _ in found], np.int64)
    return AllDocuments(
        [place for place, _, _ in found],
        np.concatenate([np.zeros(0, np.uint64), *(values for _, values, _ in found)]),
        np.cumsum(counts) - counts,
        counts,
        [its for *_, its in found if its is not None],
        left_out,
    )


def _counted(store: Store, filters: Filters | None, progress: Progress, *, text: bool) -> Iterator[Record]:
    total = max(1, store.info().documents)
    records = store.scan(text=text, sketches=not text, filters=filters)
    for number, record in enumerate(records, 1):
        yield record
        if not number % _REPORTED:
            check_stopped()
            progress("reading", min(1.0, number / total))
    progress("reading", 1.0)


def _sentences(store: Store, record: Record) -> Simhashes:
    if record.text is None:
        return np.zeros(0, np.uint64)
    return distinct(sentences_in(record.text, store.settings.analysis))
