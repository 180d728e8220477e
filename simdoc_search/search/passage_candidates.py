"""Finds the candidates of `passages`: documents that share passage tokens, phrases or fingerprint tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from simdoc_search.analysis.words import WordPositions
from simdoc_search.documents import DocumentKey
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.passages.align import (
    EDITED,
    LONG_TEXT_MIN_RUN,
    MAX_SHORT_TEXT_WORDS,
    SHORT_TEXT_MIN_RUN,
    AlignmentSettings,
)
from simdoc_search.passages.typography import locate_unified_words
from simdoc_search.passages.word_spans import Mask, find_overlapping_words
from simdoc_search.query.plans import ThresholdPlan, min_matches_beyond_chance
from simdoc_search.search.query_document import QueryDocument
from simdoc_search.search.stored_texts import AnalysedText
from simdoc_search.sketch.tokens import encode
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Phrase, PhraseMatches
from simdoc_search.stores.shared_tokens import TokenMatch

MAX_PHRASES = 50_000
"""Maximum number of phrases (a few consecutive words) that are queried for each variant of a text.

If a text needs more phrases, fewer phrases per word are queried, so that only longer runs are certain to contain one.
By default, this is a text of over 350,000 words.
"""

MAX_FINGERPRINT_CANDIDATES = 200
"""Maximum number of candidates that are found by fingerprint tokens."""

_MAX_FINGERPRINT_TOKENS = 512
"""Maximum number of fingerprint tokens per query."""


@dataclass(frozen=True, slots=True)
class PassageCandidates:
    """Documents that may share a passage with the query document."""

    documents: list[TokenMatch]  # by descending number of shared passage tokens and phrases, then by id and index
    total: int  # lower bound of the number of candidates
    guaranteed_run_length: int  # in words: shared runs of this length are always found
    too_common_run_count: int  # runs whose words are in too many documents to search all of them


def find_passage_candidates(
    store: Store,
    document: QueryDocument,
    *,
    filters: Filters | None,
    exclude: DocumentKey | None,
    size: int,
    alignment: AlignmentSettings = EDITED,
) -> PassageCandidates:
    """Return at most `size` documents that may share a passage with the query document.

    Raises:
        FormatMismatchError: the store has no passage tokens.
    """
    guaranteed_run_length = compute_guaranteed_run(store, document, alignment)
    if not len(document.passage_tokens_to_query):  # all words of the document are ignored
        return PassageCandidates([], 0, guaranteed_run_length, 0)
    token_matches = store.documents_sharing_tokens(
        document.passage_tokens_to_query, filters=filters, exclude=exclude, size=size
    )
    phrases: list[Phrase] = []
    phrase_matches = PhraseMatches({})
    if store.can_find_phrases and document.analysed_text is not None:
        phrases = choose_document_phrases(document, alignment)
        phrase_matches = store.documents_with_phrases(phrases, filters=filters, exclude=exclude)
    token_counts = {candidate.key: candidate.shared_count for candidate in token_matches.documents}
    similar = _find_by_fingerprint(store, document, filters, exclude)
    shared_counts = {key: token_counts.get(key, 0) for key in (*token_counts, *phrase_matches.documents, *similar)}
    evidence = {key: count + len(phrase_matches.documents.get(key, ())) for key, count in shared_counts.items()}
    order = sorted(shared_counts, key=lambda key: (-evidence[key], -similar.get(key, 0), key.id, key.index or ""))
    return PassageCandidates(
        [TokenMatch(key, shared_counts[key]) for key in order[:size]],
        max(len(shared_counts), token_matches.total),
        guaranteed_run_length,
        len({phrases[index].position for index in phrase_matches.incomplete_phrase_indices}),
    )


def compute_guaranteed_run(store: Store, document: QueryDocument, alignment: AlignmentSettings) -> int:
    """Return the minimum length, in words, of the shared runs that are always found.

    Runs whose words are too common may be missed; see `PassageCandidates.too_common_run_count`.
    """
    settings = store.settings
    by_tokens = settings.passages.guaranteed_run_length(settings.analysis.shingle_size) if settings.passages else 0
    if document.analysed_text is None or not store.can_find_phrases:
        return by_tokens
    words = len(document.analysed_text.words.words)
    length, step = _choose_phrase_length(words, alignment)
    by_phrases = length + step - 1
    return min(by_phrases, by_tokens) if by_tokens and settings.analysis.unit == "word" else by_phrases


def describe_guarantee(store: Store) -> str:
    """Say which shared runs of words are always found in a store."""
    settings = store.settings
    if settings.passages is None:
        return "the data for `passages` is not stored, so a few shared passages of long documents may be missed"
    if store.can_find_phrases:
        long_text = f"{LONG_TEXT_MIN_RUN} words in a text of over {MAX_SHORT_TEXT_WORDS:,} words"
        return f"every shared run of {SHORT_TEXT_MIN_RUN} words is found ({long_text})"
    size = settings.analysis.shingle_size
    return f"every shared run of {settings.passages.guaranteed_run_length(size)} {settings.analysis.unit}s is found"


def choose_document_phrases(document: QueryDocument, alignment: AlignmentSettings) -> list[Phrase]:
    """Return the phrases of a text in all of its variants."""
    source = document.analysed_text
    if source is None:
        return []
    analysis, shown = document.settings.analysis, source.words
    variants = document.list_variants(source.text)
    if source.text != variants[0]:  # it has disguised words, so the words of the other variants are at other positions
        shown = locate_unified_words(variants[0], analysis)
    return choose_phrases(
        [
            Variant.from_text(AnalysedText.from_text(text, analysis), source.words if text == source.text else shown)
            for text in variants
        ],
        document.ignored_word_mask,
        alignment,
    )


class Variant(NamedTuple):
    """A way to write a text. `text` has the words of Lucene, which may contain several compared words or only spaces.

    For each compared word, `firsts` and `ends` have the index of the first word in it, and the index after the last.
    """

    text: AnalysedText
    firsts: Sequence[int]
    ends: Sequence[int]

    @classmethod
    def from_text(cls, text: AnalysedText, compared: WordPositions) -> Variant:
        """Return a variant. `compared` are the compared words, with their positions in the text of the variant."""
        return cls(text, *find_overlapping_words(text.words, compared))

    def make_phrase(self, start: int, end: int) -> Phrase:
        """Return the phrase with the compared words from `start` up to, but not including, `end`."""
        first, last = self.firsts[start], self.ends[end - 1] - 1
        words = self.text.words
        text = self.text.text[int(words.starts[first]) : int(words.ends[last])]
        return Phrase(tuple(words.words[first : last + 1]), text, start)


def choose_phrases(variants: Sequence[Variant], is_ignored: Mask, alignment: AlignmentSettings) -> list[Phrase]:
    """Return distinct phrases of a text. Each run of the guaranteed length contains at least one of them.

    Phrases are omitted if all of their words are ignored. A passage may go on over ignored words, such as a quotation,
    with too few words on each side for a phrase. A text that is shorter than a phrase is a single phrase.
    """
    count = len(is_ignored)
    if not count:
        return []
    length, step = _choose_phrase_length(count, alignment)
    starts = [start for start in range(count - length, -1, -step) if not is_ignored[start : start + length].all()]
    phrases = (variant.make_phrase(start, start + length) for variant in variants for start in starts)
    return list({phrase.words: phrase for phrase in phrases}.values())


def _choose_phrase_length(word_count: int, alignment: AlignmentSettings) -> tuple[int, int]:
    """Return the number of words of a phrase, and the number of words from the start of one phrase to the next one.

    Each run of words that counts as shared contains a phrase, unless the text needs too many phrases.
    """
    min_run = min(word_count, alignment.min_run_for(word_count), AlignmentSettings().min_run_for(word_count))
    length = min(min_run, SHORT_TEXT_MIN_RUN)
    return length, max(min_run - length + 1, -(-word_count // MAX_PHRASES))


def _find_by_fingerprint(
    store: Store, document: QueryDocument, filters: Filters | None, exclude: DocumentKey | None
) -> dict[DocumentKey, int]:
    """Return the number of shared fingerprint tokens of each document that shares more than expected by chance."""
    token_ids = document.fingerprint_record.token_ids[:_MAX_FINGERPRINT_TOKENS]
    if not len(token_ids):
        return {}
    plan = ThresholdPlan(tuple(encode(token_ids)), min_matches_beyond_chance(len(token_ids)))
    try:
        candidates = store.candidates(plan, filters=filters, exclude=exclude)
    except QuerySyntaxError:  # this error means that the query with its filters is too large for the engine
        return {}
    return {
        candidate.key: candidate.matched_token_count
        for candidate, _ in zip(candidates, range(MAX_FINGERPRINT_CANDIDATES), strict=False)
    }
