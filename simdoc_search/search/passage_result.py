"""The result of `passages`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from simdoc_search.display import describe_shown_hits, format_count, format_estimate, format_percent, printable
from simdoc_search.documents import DocumentKey, HasDocumentKey
from simdoc_search.passages.disguise import DisguisedWord, describe_disguised_words, find_disguised_words
from simdoc_search.passages.passage import Passage, Span
from simdoc_search.passages.unsplit_text import UNSPLIT_PASSAGES_NOTE, has_unsplit_words
from simdoc_search.search.results import HitsResult
from simdoc_search.stores.record import LeftOutIndex

_PRINTED_HITS = 10
_MIN_NEAR_COPY_SHARE = 0.9


class Coverage(NamedTuple):
    """The part of a text that the passages of all matches cover. Each word is counted once.

    Attributes:
        word_count: number of covered words.
        share: `word_count` as a share of all words that are not ignored, 0..1.
        quoted_word_count: number of covered words that are in quotations. 0 if quotations are ignored.
    """

    word_count: int
    share: float
    quoted_word_count: int = 0


@dataclass(frozen=True, slots=True)
class PassageHit(HasDocumentKey):
    """A document that shares passages with the query document.

    Attributes:
        key: the key of the document.
        word_count: number of words of the query document that are matched in the hit. Each of them is counted, even if
            the query document repeats a passage that occurs once in the hit.
        share: `word_count` as a share of the query document's words that are not ignored, 0..1.
        added_word_count: number of words of the query document that this hit covers and no earlier hit covers.
        kind: `exact` if the values are computed from both texts. If a text is not stored, the values are `estimated`
            from the passage tokens, and `passages` is empty.
        passages: the shared passages, in the order of the query document. In each, `a` is the span in the query
            document, and `b` is the span in the hit.
        containment: share of the query document's shingles that are also in the hit, 0..1.
        reverse_containment: share of the hit's shingles that are also in the query document, 0..1.
        jaccard: Jaccard similarity of the shingles of the two documents, 0..1.
        changed: whether the text has changed since it was indexed. All values are computed from the current
            text.
        fields: values of the requested fields.
    """

    key: DocumentKey
    word_count: int
    share: float
    added_word_count: int
    kind: Literal["estimated", "exact"]
    passages: tuple[Passage, ...] = ()
    containment: float = 0.0
    reverse_containment: float = 0.0
    jaccard: float = 0.0
    changed: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    @property
    def longest(self) -> Passage | None:
        """The passage with the most words; None if `passages` is empty."""
        return max(self.passages, key=lambda passage: passage.word_count, default=None)

    @property
    def words_label(self) -> str:
        """The number of words in common, for display, with a tilde if it is an estimate."""
        return f"{'' if self.kind == 'exact' else '~'}{self.word_count:,}"

    @property
    def share_label(self) -> str:
        """The share of the query document, for display, with a tilde if it is an estimate."""
        return format_percent(self.share, 0) if self.kind == "exact" else format_estimate(self.share)


@dataclass(frozen=True, slots=True)
class PassageResult(HitsResult[PassageHit]):
    """The documents that share passages with a document or text. `print` shows the best hits.

    Attributes:
        query_name: the id or name of the query document; empty for a text without a name.
        text: the text of the query document; None if it is not stored.
        hits: the hits on the page. The first hit covers the most words. Each further hit adds the most words that no
            earlier hit covers.
        coverage: the words that all matches cover, including matches on other pages.
        total: number of matches on all pages.
        word_count: number of words of the query document that are not ignored.
        ignored_word_count: number of ignored words.
        candidate_count: number of documents that share a token or phrase with the query document.
        compared_count: number of candidates that were compared. Candidates that share the most are compared first.
        guaranteed_run_length: minimum length, in words, of the shared runs that are always found, unless all their
            words are too common.
        too_common_run_count: number of runs whose words are in too many documents, so that only some of these
            documents were searched. A match that shares only such runs can be missing.
        spans: the ranges of covered characters in the text.
        ignored_spans: the ranges of ignored characters in the text.
        quotations: the spans of the quotations in the text. Empty if they are ignored, or if there are no matches.
        bibliography_note: a sentence that says where the ignored bibliography is, or that there is none. It is empty if
            bibliographies are not ignored.
        offset: number of matches before the first of `hits`.
        is_estimated: whether some word counts are estimated, because a text is not stored.
        left_out_indices: indices behind an alias whose documents were not compared, with the reasons.
    """

    query_name: str
    text: str | None
    hits: list[PassageHit]
    coverage: Coverage
    total: int
    word_count: int
    ignored_word_count: int
    candidate_count: int
    compared_count: int
    guaranteed_run_length: int = 0
    too_common_run_count: int = 0
    spans: list[Span] = field(default_factory=list, repr=False)
    ignored_spans: list[Span] = field(default_factory=list, repr=False)
    quotations: list[Span] = field(default_factory=list, repr=False)
    bibliography_note: str = ""
    offset: int = 0
    is_estimated: bool = False
    left_out_indices: tuple[LeftOutIndex, ...] = ()

    @property
    def is_partial(self) -> bool:
        """Whether some candidates were not compared. If so, more documents may match."""
        return self.compared_count < self.candidate_count

    @property
    def near_copy(self) -> PassageHit | None:
        """The best match if it covers at least 90 % of the query document, so other matches add few words.

        None if there is no such match, if there are no other matches, or if this is not the first page.
        """
        first = self.hits[0] if self.hits and not self.offset and self.total > 1 else None
        return first if first and first.kind == "exact" and first.share >= _MIN_NEAR_COPY_SHARE else None

    @property
    def notes(self) -> list[str]:
        """Sentences for display: the ignored bibliography, quoted words, and words that are disguised or not split."""
        unsplit_note = UNSPLIT_PASSAGES_NOTE if has_unsplit_words(self.text or "") else ""
        quoted = self.coverage.quoted_word_count
        quoted_note = f"{quoted:,} of the {self.coverage.word_count:,} words {'is' if quoted == 1 else 'are'} quoted."
        notes = self.bibliography_note, quoted_note if quoted else "", self._describe_disguise(), unsplit_note
        return [note for note in notes if note]

    @property
    def disguised_words(self) -> list[DisguisedWord]:
        """The words of the text with invisible characters, or with letters that look like those of another alphabet.

        They are compared as the words that they look like.
        """
        return find_disguised_words(self.text or "")

    def _describe_disguise(self) -> str:
        words = self.disguised_words
        if not words:
            return ""
        count = sum(map(self._covers, words))
        verb = "is" if count == 1 else "are"
        result = f"They are read as the words that they look like, and {count:,} of them {verb} in shared passages."
        return f"{describe_disguised_words(words)} {result}"

    def _covers(self, word: DisguisedWord) -> bool:
        """Whether a word of the text is in `spans`."""
        index = bisect_right(self.spans, word.span[0], key=lambda span: span[0]) - 1
        return index >= 0 and word.span[0] < self.spans[index][1]

    def headline(self, name: str | None = None) -> str:
        """Return a summary for display: the covered share of the text, and the number of matches.

        Args:
            name: the name to show for the query document. None: `query_name`.
        """
        title = printable(self.query_name if name is None else name) or "the text"
        if self.total:
            at_least = "at least " if self.is_partial else ""
            about = "about " if self.is_estimated else ""
            share = f"{at_least}{about}{format_percent(self.coverage.share, 0)} of {title}"
            words = f"{self.coverage.word_count:,} of {format_count(self.word_count, 'word')}"
            appears = f"appears in {format_count(self.total, 'indexed document')}"
            sentences = [f"{share[0].upper()}{share[1:]} ({words}) {appears}."]
        else:
            sentences = [
                f"No indexed document shares a passage with {title} ({format_count(self.word_count, 'word')})."
            ]
        if self.ignored_word_count:
            sentences.append(f"{format_count(self.ignored_word_count, 'word is', 'words are')} ignored.")
        if self.is_partial:
            left = self.candidate_count - self.compared_count
            verb = "was" if left == 1 else "were"
            sentences.append(f"{left:,} of {format_count(self.candidate_count, 'candidate')} {verb} not compared.")
        return " ".join(sentences)

    @property
    def page_description(self) -> str:
        """The numbers of matches on this page and on all pages, for display: `Showing 10 of 81 matches`."""
        return describe_shown_hits(len(self.hits), self.total, self.offset, is_lower_bound=self.is_partial)

    def __str__(self) -> str:
        lines = [self.headline()]
        for hit in self.hits[:_PRINTED_HITS]:
            lines.append(f"{hit.words_label:>7} words  {printable(hit.id)}")
        count = min(len(self.hits), _PRINTED_HITS)
        return "\n".join([*lines, describe_shown_hits(count, self.total, self.offset, is_lower_bound=self.is_partial)])
