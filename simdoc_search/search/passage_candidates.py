"""Finds the candidates of `passages`: documents that share passage tokens, phrases or fingerprint tokens."""

from __future__ import annotations

from dataclasses import dataclass

from simdoc_search.documents import DocumentKey
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.passages.align import (
    EDITED,
    LONG_TEXT_MIN_RUN,
    MAX_SHORT_TEXT_WORDS,
    SHORT_TEXT_MIN_RUN,
    AlignmentSettings,
)
from simdoc_search.passages.word_spans import Mask
from simdoc_search.query.plans import ThresholdPlan, min_matches_beyond_chance
from simdoc_search.search.query_document import QueryDocument
from simdoc_search.search.stored_texts import AnalysedText
from simdoc_search.sketch.tokens import encode, unite_token_ids
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Phrase, PhraseMatches
from simdoc_search.stores.shared_tokens import TokenMatch

MAX_PHRASES = 50_000
"""Maximum number of phrases (a few consecutive words) that are queried for a text.

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
    token_ids = document.passage_tokens_to_query
    if document.disguised_words:
        token_ids = unite_token_ids(token_ids, document.as_written.passage_tokens_to_query)
    token_matches = store.documents_sharing_tokens(token_ids, filters=filters, exclude=exclude, size=size)
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
        len(phrase_matches.incomplete_phrase_indices),
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
    """Return the phrases of a text, with its disguised words both as they are written and as they look."""
    if document.analysed_text is None:
        return []
    phrases = choose_phrases(document.analysed_text, document.ignored_word_mask, alignment)
    written = document.as_written
    if not document.disguised_words or written.analysed_text is None:
        return phrases
    as_written = choose_phrases(written.analysed_text, written.ignored_word_mask, alignment)
    known = {phrase.words for phrase in as_written}
    return [
        *as_written,
        *(Phrase(phrase.words, " ".join(phrase.words)) for phrase in phrases if phrase.words not in known),
    ]


def choose_phrases(text: AnalysedText, is_ignored: Mask, alignment: AlignmentSettings) -> list[Phrase]:
    """Return distinct phrases of a text. Each run of the guaranteed length contains at least one of them.

    Phrases with ignored words are omitted. A text that is shorter than a phrase is a single phrase.
    """
    words, count = text.words.words, len(text.words.words)
    if not count:
        return []
    length, step = _choose_phrase_length(count, alignment)
    starts = {
        tuple(words[start : start + length]): start
        for start in range(count - length, -1, -step)
        if not is_ignored[start : start + length].any()
    }
    return [Phrase(phrase, _cut_text(text, start, start + length)) for phrase, start in starts.items()]


def _choose_phrase_length(word_count: int, alignment: AlignmentSettings) -> tuple[int, int]:
    """Return the number of words of a phrase, and the number of words from the start of one phrase to the next one.

    Each run of words that counts as shared contains a phrase, unless the text needs too many phrases.
    """
    min_run = min(word_count, alignment.min_run_for(word_count), AlignmentSettings().min_run_for(word_count))
    length = min(min_run, SHORT_TEXT_MIN_RUN)
    return length, max(min_run - length + 1, -(-word_count // MAX_PHRASES))


def _cut_text(text: AnalysedText, first: int, end: int) -> str:
    return text.text[int(text.words.starts[first]) : int(text.words.ends[end - 1])]


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
