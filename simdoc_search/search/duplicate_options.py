"""Options of `SimilaritySearch.duplicates`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING

from simdoc_search.documents import SkippedFile
from simdoc_search.passages.exact_overlap import MeasureName
from simdoc_search.stores.filters import Filters

if TYPE_CHECKING:
    from simdoc_search.duplicates import Progress
    from simdoc_search.duplicates.verdicts import DropScope


@dataclass(frozen=True, kw_only=True)
class DuplicateOptions:
    """Options of `duplicates`.

    Attributes:
        overlap: minimum overlap, greater than 0 and at most 1. Two documents with exactly this overlap are found
            with a probability of 99.9 %. If their overlap is greater, so is the probability.
        measure: how the overlap is measured. `jaccard`: Jaccard similarity. `containment`: share of the duplicate
            that is also in the kept document. `reverse_containment`: share of the kept document that is also in the
            duplicate. With the last two, documents are found reliably only if neither is more than four times as
            long as the other.
        filters: compare only documents with these fields, as for `similar`.
        in_folders: compare only documents whose files are in one of these folders. The paths are absolute.
        since: the documents whose files changed at or after this time are new. Each new document is compared with
            all documents. Other documents are kept, and are not compared with each other. None: all are new.
        new_ids: ids of further new documents; see `since`.
        keep: which document is kept: `longest` (with `jaccard`, the text that most copies share verbatim takes
            precedence), `first` (by id), `newest`, `oldest`, `max:FIELD` or `min:FIELD`. If documents are equal by
            this rule, names that do not look like names of copies or backups are preferred, then older files,
            then shorter ids.
        preferred_ids: ids of documents that are preferred, such as those that an earlier run kept.
        keep_in: folders, or prefixes of ids, such as `originals/`. Documents in these folders, or with these
            prefixes, take precedence over the rule `keep`.
        skipped: files that `index` skipped, such as `IndexReport.skipped`. If their bytes are equal, they are
            duplicates too, and so are indexed archives. The members of a duplicate archive are not compared. None:
            only documents are compared. So it is with `filters`, because such files have no metadata.
        verify: whether to compare texts if the store has them. Otherwise, overlaps are estimated from fingerprints.
        drop: which documents a plan drops in addition to identical documents: `same-text`, or `same-words`, which
            includes `same-text`.
        progress: called with the current stage (`reading`, `comparing`, `verifying`, `hashing`) and its completed
            share, 0..1.
        ignore: texts such as templates or licence headers. Copies of them in the documents are not compared, even
            if they were slightly edited. Documents that share only such copies are not duplicates. The
            fingerprints that find the candidates still include these copies.
        workers: number of processes that compare texts. If it is 1, or if there are few candidates, this process
            does the work. The result does not depend on it.
    """

    overlap: float | Fraction = Fraction(4, 5)
    measure: MeasureName = "jaccard"
    filters: Filters | None = None
    in_folders: Collection[str] = ()
    since: datetime | None = None
    new_ids: Collection[str] | None = None
    keep: str = "longest"
    preferred_ids: Collection[str] = ()
    keep_in: Collection[str] = ()
    skipped: Iterable[SkippedFile] | None = None
    verify: bool = True
    drop: DropScope | None = None
    progress: Progress = field(default=lambda _stage, _share: None)
    ignore: Sequence[str] = ()
    workers: int = 1
