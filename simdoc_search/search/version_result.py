"""The result of `versions`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from simdoc_search.display import format_count, format_percent, printable
from simdoc_search.documents import DocumentKey, HasDocumentKey
from simdoc_search.search.results import HitsResult
from simdoc_search.search.version_order import VersionEntry, VersionOrder
from simdoc_search.sketch.thresholds import SimilarityThresholds
from simdoc_search.stores.record import LeftOutIndex
from simdoc_search.versions import SentenceMatches

CandidateSource = Literal["sentences", "passages", "fingerprints"]


@dataclass(frozen=True, slots=True)
class VersionHit(HasDocumentKey):
    """A version of the query document.

    Attributes:
        key: the key of the version.
        score: the score, `MIN_VERSION_SCORE` to 1.
        share: share of the query document's sentences that have a similar sentence in the hit, 0..1.
        share_of_hit: share of the hit's sentences that have a similar sentence in the query document, 0..1.
        sentence_count: number of sentences of the hit.
        sentence_matches: the similar sentences of the query document (`a`) and the hit (`b`).
        entry: the entry of the version in the timeline, with the changes since the previous entry.
        changed: whether the text has changed since it was indexed. The changes in `entry` are computed from the current
            text.
        fields: values of the requested fields.
    """

    key: DocumentKey
    score: float
    share: float
    share_of_hit: float
    sentence_count: int
    sentence_matches: SentenceMatches = field(repr=False)
    entry: VersionEntry
    changed: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class VersionsResult(VersionOrder, HitsResult[VersionHit]):
    """The versions of a document or text, in order. `print` shows the newest version last.

    Attributes:
        query_name: the id or name of the query document; empty for a text without a name.
        text: the text of the query document; None if it is not stored.
        sentence_count: number of distinct sentences of the query document.
        queried_sentence_count: how many of these sentences were queried.
        hits: the versions on the page, by descending score, then by id. The first page always contains the newest
            version, if necessary as its last hit.
        timeline: the versions on the page, the newest version and the query document, oldest first. The entries of
            `unordered` are not included.
        unordered: entries without a date or version that can be compared, if at least half of the documents have one. A
            file's modification time counts as a date only if fewer than half of the documents have another date or a
            version.
        newest: the newest entry of the timeline. None: the evidence is insufficient or contradictory.
        evidence_kind: the kind of evidence that the order is based on; see `versions.EvidenceKind`. `texts` means
            that the order is guessed from the texts.
        is_certain: whether the evidence determines the whole timeline without a contradiction.
        conflicting_statements: the contradictory statements, two for each contradiction.
        reason: a description of the evidence for the order.
        have_equal_texts: whether the versions differ at most in spaces and line breaks, and no evidence shows which of
            them is newer.
        newest_without_file_times: the entry that would be the newest if the modification times of the files were
            ignored; None if the newest entry would then be unknown.
        newest_evidence_kinds: the kinds of evidence that show that the newest entry is later than the other ones.
        undecided: two versions because of which the newest version is unknown; None if it is known, or unknown because
            the evidence is contradictory.
        total: number of versions on all pages.
        candidate_count: number of documents that share a token (a hash of a sentence, passage or fingerprint) with the
            query document.
        compared_count: number of candidates that were compared. Candidates that share the most are compared first.
        candidate_source: the kind of tokens that found the candidates: `sentences` if the index was created using
            `index --with versions`, otherwise `passages` or `fingerprints`.
        changed: whether the text of the query document has changed since it was indexed.
        left_out_indices: indices behind an alias whose documents were not compared, with the reasons.
        thresholds: the thresholds for similar sentences, versions and hits.
        loosely_similar_count: if there are no hits, the number of compared documents that would be versions with the
            largest `max_distance`. Otherwise 0.
        text_note: a sentence, if the query document is too short to find edited versions of it. Otherwise empty.
    """

    query_name: str
    text: str | None = field(repr=False)
    sentence_count: int
    queried_sentence_count: int
    hits: list[VersionHit]
    total: int
    candidate_count: int
    compared_count: int
    candidate_source: CandidateSource = "sentences"
    changed: bool = False
    left_out_indices: tuple[LeftOutIndex, ...] = ()
    thresholds: SimilarityThresholds = field(default_factory=SimilarityThresholds)
    loosely_similar_count: int = 0
    text_note: str = ""

    @property
    def entries(self) -> tuple[VersionEntry, ...]:
        """The timeline, then the unordered versions."""
        return (*self.timeline, *self.unordered)

    def __str__(self) -> str:
        name = printable(self.query_name) or "the text"
        if not self.total:
            return f"{name}: no other version"
        lines = [f"{name}: {format_count(self.total, 'other version')}, {self.order_description}"]
        return "\n".join([*lines, *self.timeline_lines(), *self.evidence_lines()])

    def timeline_lines(self) -> Iterator[str]:
        """Yield the timeline with its significant changes, then the unordered versions.

        Each line has the date, the share of similar sentences, the changed words and the name.
        """
        if self.order_hint:
            yield self.order_hint
        width = self.date_width
        for entry in self.timeline:
            yield self._format_entry(entry, width)
            yield from (f"{'':>{width}}  {line}" for line in (entry.changes.change_lines if entry.changes else ()))
        if self.unordered:
            yield "documents whose place in the order is unknown:"
            yield from (self._format_entry(entry, width) for entry in self.unordered)

    def _format_entry(self, entry: VersionEntry, date_width: int) -> str:
        share, words = (
            (format_percent(entry.changes.share, 0), entry.changes.word_changes_label) if entry.changes else ("", "")
        )
        marks = ", ".join(filter(None, (self.describe_unknown_place(entry), self.format_labels(entry))))
        marks = f"  ({marks})" if marks else ""
        date = printable(self.date_label(entry))
        return f"{date:>{date_width}}{share:>17}{words:>20}  {self._format_name(entry)}{marks}"

    def format_labels(self, entry: VersionEntry) -> str:
        """Return the labels of an entry: newest version, query document, and the copy that its date comes from."""
        marks = (
            ("newest", entry is self.newest),
            ("your document", entry.is_query),
            (f"dated by its copy {printable(entry.date_copy)}", entry.date_copy),
        )
        return ", ".join(name for name, is_marked in marks if is_marked)

    def _format_name(self, entry: VersionEntry) -> str:
        """Return the name, followed by the index if another entry has the same name."""
        name = printable(entry.name) or "the text"
        is_ambiguous = self._name_counts[entry.name] > 1
        return f"{name} in {printable(str(entry.key.index))}" if is_ambiguous and entry.key else name

    @cached_property
    def _name_counts(self) -> Counter[str]:
        return Counter(entry.name for entry in self.entries)
