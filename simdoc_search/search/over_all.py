"""What is asked of all documents of a store at once."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.documents import Place
from simdoc_search.duplicates import Duplicates, Progress, duplicates_in
from simdoc_search.duplicates.measures import MeasureName
from simdoc_search.search.filtering import unknown_field
from simdoc_search.search.nearest import NearestDuplicate, least_overlap, nearest_of
from simdoc_search.sketch.fingerprint import fingerprints
from simdoc_search.stores.base import Record, Store
from simdoc_search.stores.filters import Filters

__all__ = ["OverAll"]


class OverAll:
    """The part of a search that compares all with all."""

    store: Store

    def duplicates(
        self,
        *,
        overlap: float | Fraction = Fraction(4, 5),
        measure: MeasureName = "jaccard",
        filters: Filters | None = None,
        within: Collection[str] = (),
        keep: str = "longest",
        verify: bool = True,
        progress: Progress = lambda _stage, _share: None,
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
            keep: which one stays: `longest`, `first` (by id), `newest`, `oldest`, `max:FIELD` or `min:FIELD`.
            verify: compare the texts, where the store has them; otherwise the fingerprints decide.
            progress: called with what is done now, `reading`, `comparing` or `verifying`, and the share of it, 0..1.

        Returns:
            The counts; `groups()` and `pairs()` are iterators.

        Raises:
            QuerySyntaxError: the overlap, the measure, `keep` or the filters are not what they can be.
            UnknownFieldError: nothing was compared, and no document has the field of a filter.
            StoreError: the store cannot be read.
        """
        found = duplicates_in(
            self.store,
            overlap=overlap,
            measure=measure,
            filters=filters,
            within=within,
            keep=keep,
            verify=verify,
            progress=progress,
        )
        if not found.documents and (error := unknown_field(self.store, filters)):
            raise error
        return found

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
            The identical one, else one with the same words, else the one of the greatest overlap.

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
