"""What is asked of all documents of a store at once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.documents import Place
from simdoc_search.duplicates import Duplicates, Progress, Via, duplicates_in
from simdoc_search.duplicates.judgement import Widened
from simdoc_search.duplicates.measures import MeasureName
from simdoc_search.languages import language_said
from simdoc_search.search.filtering import unknown_field
from simdoc_search.search.nearest import NearestDuplicate, least_overlap, nearest_of
from simdoc_search.sketch.fingerprint import fingerprints
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Record

if TYPE_CHECKING:
    from simdoc_search.duplicates.marking import MarkReport

__all__ = ["OverAll"]


class OverAll:
    """The part of a search that looks at all documents."""

    store: Store

    def languages(self, *, filters: Filters | None = None) -> Counter[str]:
        """How many documents are in each language, as their metadata field `language` says; `""`: it says none.

        `SimilaritySearch.index` fills the field in a store with `Settings.language`. All records are read.

        Args:
            filters: only documents with these fields, see `similar`.
        """
        return Counter(language_said(each.metadata) for each in self.store.scan(filters=filters))

    def duplicates(
        self,
        *,
        overlap: float | Fraction = Fraction(4, 5),
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
        """Which documents could go, each for one that stays and that it overlaps enough by itself.

        Args:
            overlap: least overlap, over 0, up to 1. Two documents of just that are compared with a probability of
                99.9 %, those that overlap more with a greater one.
            measure: `jaccard`; `containment`, the share of a document that is found in the one that stays; or
                `contained`, the share of the one that stays that is found in it. The last two look at documents of
                which one is at most four times as long as the other.
            filters: only documents with these fields, see `similar`.
            within: only documents whose files lie in one of these folders; absolute paths.
            since: only documents whose files changed then or later are compared, with all; the others stay.
            new: the same for the documents with these ids.
            keep: which one stays: `longest` (by `jaccard`, before that what most documents have word for word), `first`
                (by id), `newest`, `oldest`, `max:FIELD` or `min:FIELD`. Of equal ones it is the one whose name is not
                that of a copy, then that of the shorter id.
            kept_before: ids of documents that stay rather than others, say those that an earlier call kept.
            keep_in: what the ids of such documents begin with, say `originals/`; whatever `keep` says.
            verify: compare the texts, where the store has them; otherwise the fingerprints decide.
            via: who compares: `memory`, where all fingerprints are read, over 1 GB into a temporary file; or the
                `engine` that has them, which is asked about each document while no more than its id, its hashes and
                some numbers are held here. Then two documents of just the overlap are compared with 99 %.
            checkpoint: a file of what the engine was asked, so that another run goes on from there, or asks only about
                what is new or changed. It is made for one index, and for one overlap, measure, rule and filter.
            drop: what a plan drops besides identical documents: `same-text` or `same-words`, which includes the former.
            progress: called with what is done now, `reading`, `comparing`, `verifying` or `hashing`, and the share of
                it, 0..1.
            ignore: texts whose words are not compared, such as templates or licence headers, also where they are
                slightly edited. Documents that share only such words are not duplicates. The fingerprints of the whole
                texts still decide which documents are compared.

        Returns:
            The counts; `groups()` and `pairs()` are iterators.

        Raises:
            QuerySyntaxError: the overlap, the measure, `keep`, `via`, `drop` or the filters are not what they can be,
                or no id begins with one of `keep_in`.
            UnknownFieldError: nothing was compared, and no document has the field of a filter.
            StoreError: the store cannot be read, has no dates of files to compare with `since`, or is in no engine that
                could compare; or the checkpoint cannot be used, or was made for something else.
        """
        found = duplicates_in(
            self.store,
            overlap=overlap,
            measure=measure,
            filters=filters,
            within=within,
            since=since,
            new=new,
            keep=keep,
            kept_before=kept_before,
            keep_in=keep_in,
            verify=verify,
            via=via,
            checkpoint=checkpoint,
            drop=drop,
            progress=progress,
            ignore=ignore,
        )
        if not found.documents and (error := unknown_field(self.store, filters)):
            raise error
        return found

    def mark_duplicates(self, found: Duplicates, *, progress: Progress = lambda _stage, _share: None) -> MarkReport:
        """Write into the documents of an engine's index which of them duplicates which, as `duplicates` found it.

        A duplicate gets `simdoc.duplicate_of`, the id of the document that is kept for it; all of a group get the same
        `simdoc.cluster`. Of the documents that were looked at, those that are in no group any more lose their marks. No
        write of others is lost, and no other field is changed; a document whose text was replaced since it was compared
        has no mark until the next time. Broken off, it is completed by doing it again.

        Args:
            found: what `duplicates` gave, of this store.
            progress: called with `marking` and the share of it that is done, 0..1.

        Raises:
            StoreError: the store is no engine's; its index cannot have the marks, or takes no updates; or not all were
                compared.
        """
        from simdoc_search.duplicates.marking import mark_duplicates  # noqa: PLC0415 - not for the local store

        return mark_duplicates(self.store, found, progress=progress)

    def kept_by_marks(self) -> list[str]:
        """The ids of the documents that marks say are kept, so that `duplicates(kept_before=...)` keeps them again.

        Raises:
            StoreError: as `mark_duplicates`.
        """
        from simdoc_search.duplicates.marking import kept_by_marks  # noqa: PLC0415 - not for the local store

        return list(kept_by_marks(self.store))

    def nearest_duplicate(
        self,
        text: str,
        overlap: float | Fraction = Fraction(4, 5),
        *,
        filters: Filters | None = None,
        exclude: Place | None = None,
    ) -> NearestDuplicate | None:
        """The stored document that a text is a duplicate of, for a warning at upload; None: there is none.

        Args:
            text: what is about to be stored.
            overlap: least Jaccard similarity, over 0, up to 1. It is computed from the texts where the store has them,
                else estimated from the fingerprints.
            filters: only documents with these fields, see `similar`: those that who uploads may know of.
            exclude: where a document is that does not count, as the text is a new version of it.

        Returns:
            The one with the same text, else one with the same words, else the one of the greatest overlap.

        Raises:
            QuerySyntaxError: the overlap or the filters are not what they can be.
            UnknownFieldError: nothing is found, and no document has the field of a filter.
            NoFingerprintError: the text has no words.
            StoreError: the store cannot be read.
        """
        least, settings = least_overlap(overlap), self.store.settings
        (fp,) = fingerprints([text], settings.analysis, settings.minhash, words_hash=True)
        codes, hashes = fp.codes(settings.token_length), (text_hash(text), fp.words_hash)
        source = Record("", codes, fp.shingles, "", {}, text, None, *hashes)
        (found,) = nearest_of(self.store, [source], least, filters=filters, exclude=exclude)
        return found
