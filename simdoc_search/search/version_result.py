"""The result of `versions`, and ordered families of versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from simdoc_search.display import format_count, format_percent, printable
from simdoc_search.documents import DocumentKey, HasDocumentKey
from simdoc_search.passages.passage import SignificantChange
from simdoc_search.passages.summary import describe_significant_changes
from simdoc_search.search.results import HitsResult
from simdoc_search.sketch.thresholds import MIN_VERSION_SCORE, SimilarityThresholds
from simdoc_search.stores.record import LeftOutIndex
from simdoc_search.versions import DocumentDate, EvidenceKind, SentenceMatches
from simdoc_search.versions.timeline import describe_evidence_kind

CandidateSource = Literal["sentences", "passages", "fingerprints"]

TEXT_ORDER_HINT = (
    "This order is only a hint, because it is based on the texts alone. "
    "In our test, the last document was the newest in 48 of 60 families."
)

_NOT_DECISIVE_MARK = "?"


@dataclass(frozen=True, slots=True)
class VersionChanges:
    """The changes from one version of the timeline to the next.

    Attributes:
        share: share of the sentences of one version that have a similar sentence in the other version, 0..1. Of the two
            shares, it is the larger one.
        added_word_count: number of words that only the later version has; None if a text is not stored.
        removed_word_count: number of words that only the earlier version has; None if a text is not stored.
        significant_changes: changed negations, numbers, dates and names, in this order.
    """

    share: float
    added_word_count: int | None = None
    removed_word_count: int | None = None
    significant_changes: tuple[SignificantChange, ...] = ()

    @property
    def word_changes_label(self) -> str:
        """The numbers of added and removed words, for display; empty if they are not known."""
        return "" if self.added_word_count is None else f"+{self.added_word_count:,} −{self.removed_word_count:,} words"

    @property
    def key_lines(self) -> list[str]:
        """A line for each significant change. If some are not listed, the last line gives their number."""
        return describe_significant_changes(self.significant_changes)


@dataclass(frozen=True, slots=True)
class ConflictingStatement:
    """A statement about the order of two documents that another kind of evidence contradicts.

    Attributes:
        evidence_kind: the kind of evidence that the statement is based on.
        later: name of the later document.
        earlier: name of the earlier document.
        later_label: date or version of the later document, for display.
        earlier_label: date or version of the earlier document, for display.
        hides_newest: whether the newest version is unknown because of the contradiction.
    """

    evidence_kind: EvidenceKind
    later: str
    earlier: str
    later_label: str
    earlier_label: str
    hides_newest: bool = True

    def __str__(self) -> str:
        later, earlier = (
            f"{printable(name) or 'the text'} ({printable(shown)})"
            for name, shown in ((self.later, self.later_label), (self.earlier, self.earlier_label))
        )
        ignored = "" if self.hides_newest else "; copying a file changes its modification time, so this is ignored"
        return f"by the {describe_evidence_kind(self.evidence_kind)}, {later} is newer than {earlier}{ignored}"


@dataclass(frozen=True, slots=True)
class VersionEntry:
    """A version in the timeline.

    Attributes:
        name: the id of the document, or the name of a text that is not stored.
        key: the key of the document; None for a text.
        is_query: whether this is the query document.
        date: the date and its evidence; None if the version has no date.
        changes: the changes since the previous entry; None for the first entry.
    """

    name: str
    key: DocumentKey | None
    is_query: bool
    date: DocumentDate | None
    changes: VersionChanges | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionOrder:
    """Versions in order, with the evidence. `VersionsResult` describes the attributes."""

    timeline: tuple[VersionEntry, ...]
    undated: tuple[VersionEntry, ...]
    newest: VersionEntry | None
    evidence_kind: EvidenceKind
    is_certain: bool
    conflicting_statements: tuple[ConflictingStatement, ...]
    reason: str

    @property
    def contradictions(self) -> list[tuple[ConflictingStatement, ConflictingStatement]]:
        """The pairs of statements that contradict each other."""
        return list(zip(self.conflicting_statements[::2], self.conflicting_statements[1::2], strict=True))

    @property
    def order_description(self) -> str:
        """A description of the evidence for the order. It explains any question marks in the timeline."""
        has_question_marks = any(self.date_label(entry).endswith(_NOT_DECISIVE_MARK) for entry in self.timeline)
        return (
            f"{self.reason}; dates and versions with {_NOT_DECISIVE_MARK} do not affect the order"
            if has_question_marks
            else self.reason
        )

    @property
    def verdict(self) -> str:
        """A sentence that names the newest version, or says why it is not known."""
        if self.newest is not None:
            name = printable(self.newest.name) or "the text"
            aside = f", not counting {format_count(len(self.undated), 'undated document')}" if self.undated else ""
            return f"newest: {name}, by the {describe_evidence_kind(self.evidence_kind)}{aside}"
        if any(statement.hides_newest for statement in self.conflicting_statements):
            return "newest: not known, as the evidence conflicts"
        if self.evidence_kind == "texts":
            return "newest: not known, as no evidence shows which is newer"
        return "newest: not known, as the latest versions have the same date or no date"

    def date_label(self, entry: VersionEntry) -> str:
        """Return the date or version of an entry, for display. It ends with `?` if the order is not based on it."""
        if entry.date is None or not entry.date.label:
            return ""
        replaces_creation_date = self.evidence_kind == "created" and entry.date.evidence_kind == "modified"
        determines_order = self.evidence_kind in (entry.date.evidence_kind, "mixed dates") or replaces_creation_date
        return entry.date.label if determines_order else f"{entry.date.label}{_NOT_DECISIVE_MARK}"

    def evidence_lines(self) -> Iterator[str]:
        """Yield the verdict, then two lines for each contradiction."""
        yield self.verdict
        yield from self.conflict_lines()

    def conflict_lines(self) -> Iterator[str]:
        """Yield two lines for each contradiction, one for each statement."""
        for statement, contrary in self.contradictions:
            yield f"conflict: {statement}"
            yield f"     but: {contrary}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionFamily(VersionOrder):
    """An ordered family of versions. Their texts are not compared, so the entries have no `changes`.

    If there is no evidence for an order, `evidence_kind` is `texts`.
    `VersionsResult` describes the other inherited attributes.

    Attributes:
        pair_count: number of pairs of documents that are versions of each other.
        lowest_score: the lowest score of all pairs.
    """

    pair_count: int
    lowest_score: float


@dataclass(frozen=True, slots=True, kw_only=True)
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
            `undated` are not included.
        undated: entries without evidence, if other entries have evidence.
        newest: the newest entry of the timeline. None: the evidence is insufficient or contradictory.
        evidence_kind: the kind of evidence that the order is based on; see `versions.EvidenceKind`. `texts` is only
            a hint.
        is_certain: whether the evidence determines the whole timeline without a contradiction.
        conflicting_statements: the contradictory statements, two for each contradiction.
        reason: a description of the evidence for the order.
        total: number of versions on all pages.
        candidate_count: number of documents that share a token with the query document.
        compared_count: number of candidates that were compared. Candidates that share the most are compared first.
        candidate_source: the kind of tokens that found the candidates: `sentences` if the index was created using
            `index --with versions`, otherwise `passages` or `fingerprints`.
        changed: whether the text of the query document has changed since it was indexed.
        left_out_indices: indices behind an alias whose documents were not compared, with the reasons.
        thresholds: the thresholds for similar sentences, versions and hits.
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

    @property
    def min_version_score(self) -> float:
        """The minimum score of a version."""
        return MIN_VERSION_SCORE

    @property
    def entries(self) -> tuple[VersionEntry, ...]:
        """The timeline, then the undated versions."""
        return (*self.timeline, *self.undated)

    def __str__(self) -> str:
        name = printable(self.query_name) or "the text"
        if not self.total:
            return f"{name}: no other version"
        lines = [f"{name}: {format_count(self.total, 'other version')}, {self.order_description}"]
        return "\n".join([*lines, *self.timeline_lines(), *self.evidence_lines()])

    def timeline_lines(self) -> Iterator[str]:
        """Yield the timeline with its significant changes, then the undated versions.

        Each line has the date, the share of similar sentences, the changed words and the name.
        """
        if self.evidence_kind == "texts":
            yield TEXT_ORDER_HINT
        for entry in self.timeline:
            yield self._format_entry(entry)
            yield from (f"{'':>12}  {line}" for line in (entry.changes.key_lines if entry.changes else ()))
        if self.undated:
            yield "undated, so not in this order:"
            yield from (self._format_entry(entry) for entry in self.undated)

    def _format_entry(self, entry: VersionEntry) -> str:
        share, words = (
            (format_percent(entry.changes.share, 0), entry.changes.word_changes_label) if entry.changes else ("", "")
        )
        marks = f"  ({marks})" if (marks := self.format_labels(entry)) else ""
        return f"{printable(self.date_label(entry)):>12}{share:>17}{words:>20}  {self._format_name(entry)}{marks}"

    def format_labels(self, entry: VersionEntry) -> str:
        """Return the labels of an entry: whether it is the newest version, the query document, or both."""
        marks = (("newest", entry is self.newest), ("your document", entry.is_query))
        return ", ".join(name for name, is_marked in marks if is_marked)

    def _format_name(self, entry: VersionEntry) -> str:
        """Return the name, followed by the index if another entry has the same name."""
        name = printable(entry.name) or "the text"
        is_ambiguous = sum(other.name == entry.name for other in self.entries) > 1
        return f"{name} in {printable(str(entry.key.index))}" if is_ambiguous and entry.key else name
