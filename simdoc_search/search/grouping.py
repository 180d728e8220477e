"""What is asked of all documents: which are versions of each other, and which are on one topic?"""

from __future__ import annotations

from dataclasses import dataclass

from simdoc_search.concepts import Extractor, Synonyms
from simdoc_search.errors import SimdocError
from simdoc_search.groups import Families, FamilyMembers, Progress, Topic, Topics, find_families, find_topics
from simdoc_search.search.filtering import unknown_field
from simdoc_search.search.options import asked_limits
from simdoc_search.search.related_source import source_of_record
from simdoc_search.search.texts import read_records, whole_record
from simdoc_search.search.version_source import known_of, with_dates
from simdoc_search.search.versions_result import Contradiction, InOrder, VersionEntry
from simdoc_search.sketch.winnow import no_passages
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters, conditions
from simdoc_search.tracing import span
from simdoc_search.versions import By, timeline

__all__ = ["Grouping", "VersionFamily"]


@dataclass(frozen=True, slots=True)
class VersionFamily(InOrder):
    """A family of versions in its order.

    Attributes:
        timeline: its dated documents, the oldest first; by id where nothing orders them.
        undated: those that have no evidence while the others do.
        newest: the newest of the timeline; None: the evidence does not say, or contradicts itself.
        by: what orders them, see `versions.By`; `texts`: nothing does, as the texts are not asked here.
        certain: whether the evidence says the place of each in the timeline, and does not contradict itself.
        conflict: the evidence that contradicts each other, two statements for each contradiction.
        reason: what orders them, and why nothing better does, for people.
        pairs: how many pairs of them were found to be versions of each other.
        least: the smallest score of these pairs.
    """

    timeline: tuple[VersionEntry, ...]
    undated: tuple[VersionEntry, ...]
    newest: VersionEntry | None
    by: By
    certain: bool
    conflict: tuple[Contradiction, ...]
    reason: str
    pairs: int
    least: float


class Grouping:
    """The part of a search that groups all documents."""

    store: Store

    @span("simdoc_search.version_families")
    def version_families(
        self,
        *,
        bits: int | None = None,
        enough: float | None = None,
        least: float | None = None,
        min_score: float | None = None,
        filters: Filters | None = None,
        progress: Progress = lambda _stage, _share: None,
    ) -> Families:
        """The families of versions of the whole collection, in linear time.

        Two documents are versions as for `versions`. They are in one family if a chain of versions connects them. The
        sentences are those of the index, or of the texts, which takes longer.

        Args:
            bits: what makes versions, as for `versions`; what is not given is what the index stores.
            enough: likewise.
            least: likewise.
            min_score: likewise.
            filters: only documents with these fields, as for `similar`.
            progress: called with what is done now, and the share of it, 0..1.

        Returns:
            The counts, and what was left out; `families()` and `edges()` are iterators, `ordered` puts a family in its
            order.

        Raises:
            QuerySyntaxError: an argument or the filters are not what they can be.
            UnknownFieldError: there are no documents, and none has the field of a filter.
            StoreError: the store has neither sentences nor texts, or cannot be read.
            MissingExtraError: what finds sentences is not installed, and is needed.
        """
        conditions(filters)
        stored = self.store.settings.limits
        limits = asked_limits(stored, bits=bits, enough=enough, least=least, min_score=min_score)
        found = find_families(self.store, limits, filters, progress)
        self._check_field(found.documents, filters)
        return found

    @span("simdoc_search.topics")
    def topics(
        self,
        *,
        bits: int | None = None,
        enough: float | None = None,
        least: float | None = None,
        min_score: float | None = None,
        filters: Filters | None = None,
        progress: Progress = lambda _stage, _share: None,
    ) -> Topics:
        """The groups of related documents of the whole collection, in linear time.

        Two documents are related as for `related`. All documents of a group are related to one of them, its centre.

        Args:
            bits: what makes versions, as for `versions`; what is not given is what the index stores.
            enough: likewise.
            least: likewise.
            min_score: the score that a pair must have, 0..1.
            filters: only documents with these fields, as for `similar`.
            progress: called with what is done now, and the share of it, 0..1.

        Returns:
            The counts, and what was left out; `topics()` and `edges()` are iterators, `named` says what a topic is.

        Raises:
            QuerySyntaxError: an argument or the filters are not what they can be.
            UnknownFieldError: there are no documents, and none has the field of a filter.
            FormatMismatchError: the store was made without concepts.
            StoreError: the store cannot be read.
        """
        conditions(filters)
        if self.store.settings.concepts is None:
            self.store.frequencies(no_passages())  # says so
        stored = self.store.settings.limits
        limits = asked_limits(stored, bits=bits, enough=enough, least=least, min_score=min_score)
        found = find_topics(self.store, limits, filters, progress)
        self._check_field(found.documents, filters)
        return found

    def ordered(self, family: FamilyMembers, *, version_control: bool = True) -> VersionFamily:
        """A family in the order that its evidence says, see `versions`. Its texts are not compared.

        Args:
            family: one of `version_families().families()`.
            version_control: as for `versions`.
        """
        found = read_records(self.store, family.places, text=False)
        records = with_dates(self.store, [found[each] for each in family.places if each in found])
        line = timeline([known_of(each, version_control=version_control) for each in records], list)
        entries = [
            VersionEntry(each.id, each.place, False, dated) for each, dated in zip(records, line.dates, strict=True)
        ]
        conflict = [
            Contradiction(each.by, records[each.later].id, records[each.earlier].id, *each.shown, each.counts)
            for each in line.conflict
        ]
        return VersionFamily(
            tuple(entries[each] for each in line.order),
            tuple(entries[each] for each in line.undated),
            None if line.newest is None else entries[line.newest],
            line.by,
            line.certain,
            tuple(conflict),
            line.reason,
            family.edges,
            family.least,
        )

    def named(
        self, topic: Topic, *, extractor: Extractor | None = None, synonyms: Synonyms | None = None
    ) -> tuple[str, ...]:
        """What the documents of a topic are about: the concepts of its centre that most others share.

        Args:
            topic: one of `topics().topics()`.
            extractor: what found the concepts; None: the shipped one that the store was made with.
            synonyms: those that the store was made with.

        Returns:
            The most telling ones first; none if the text of the centre is not stored, or what finds concepts is not
            installed.

        Raises:
            FormatMismatchError: an extractor, or synonyms, were given and are not those of the store.
        """
        found = read_records(self.store, [topic.centre]).get(topic.centre)
        if found is None:
            return ()
        source = source_of_record(whole_record(self.store, found), self.store.settings, extractor, synonyms)
        try:
            names = source.names()
        except SimdocError:
            return ()
        return names.shared(set(topic.concepts), topic.concepts)

    def _check_field(self, documents: int, filters: Filters | None) -> None:
        if not documents and (error := unknown_field(self.store, filters)):
            raise error
