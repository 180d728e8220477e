"""Finds duplicates among documents without a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from simdoc_search.documents import Document
from simdoc_search.duplicates.document_arrays import Documents
from simdoc_search.duplicates.duplicates_result import Duplicates
from simdoc_search.duplicates.finder import Progress, find_duplicates
from simdoc_search.duplicates.fingerprinting import fingerprint_documents
from simdoc_search.duplicates.keep_order import KeepRule
from simdoc_search.duplicates.measures import Measure
from simdoc_search.passages.exact_overlap import MeasureName
from simdoc_search.query.planner import parse_fraction
from simdoc_search.sketch.settings import Settings
from simdoc_search.workers import ParallelMapper


def duplicates_among(
    documents: Iterable[Document],
    *,
    overlap: float | Fraction = Fraction(4, 5),
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
