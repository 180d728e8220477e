"""Finds the candidates of `passages`: documents that share passage tokens, phrases or fingerprint tokens."""

from __future__ import annotations

from dataclasses import dataclass

from simdoc_search.documents import DocumentKey
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.passages.align import LONG_RUN, SHORT_RUN, SHORT_TEXT
from simdoc_search.passages.word_spans import Mask
from simdoc_search.query.plans import Threshold, min_beyond_chance
from simdoc_search.search.query_document import QueryDocument
from simdoc_search.search.stored_texts import AnalysedText
from simdoc_search.sketch.tokens import encode
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Phrase, PhraseMatches
from simdoc_search.stores.shared_tokens import TokenMatch

MAX_PHRASES = 50_000
"""Maximum number of phrases per query. In a text of over 350,000 words, the phrases are further apart than usual.

A shared run of `LONG_RUN` words may then contain no phrase, so only longer runs are always found.
"""

MAX_SIMILAR = 200
"""Maximum number of candidates that are found by fingerprint tokens."""

_MAX_TOKENS = 512
"""Maximum number of fingerprint tokens per query."""


@dataclass(frozen=True, slots=True)
class PassageCandidates:
    """Documents that may share a passage with the query document.

    Attributes:
        documents: the documents, by descending number of shared passage tokens and phrases, then by id and index. A
            document that is found only by phrases or fingerprint tokens has 0 shared tokens.
        total: lower bound of the number of candidates.
        guaranteed_run: minimum length, in words, of the shared runs that are always found.
        too_common_phrases: number of phrases whose words are too common to search all documents for them.
    """

    documents: list[TokenMatch]
    total: int
    guaranteed_run: int
    too_common_phrases: int


def passage_candidates(
    store: Store,
    document: QueryDocument,
    *,
    filters: Filters | None,
    exclude: DocumentKey | None,
    size: int,
) -> PassageCandidates:
    """Return the documents that may share a passage with the query document.

    Args:
        store: the store to search.
        document: the query document.
        filters: only documents that match can be candidates.
        exclude: the key of a document that cannot be a candidate.
        size: maximum number of documents.

    Raises:
        FormatMismatchError: the store has no passage tokens.
    """
    run = guaranteed_run(store, document)
    if not len(document.query_tokens):  # all words of the document are ignored
        return PassageCandidates([], 0, run, 0)
    sharing = store.documents_sharing(document.query_tokens, filters=filters, exclude=exclude, size=size)
    matches = PhraseMatches({})
    if store.can_find_phrases and document.analysed is not None:
        phrases = phrases_of(document.analysed, document.ignored)
        matches = store.documents_with_phrases(phrases, filters=filters, exclude=exclude)
    tokens = {candidate.key: candidate.shared for candidate in sharing.documents}
    similar = _by_fingerprint(store, document, filters, exclude)
    shared = {key: tokens.get(key, 0) for key in (*tokens, *matches.documents, *similar)}
    evidence = {key: count + len(matches.documents.get(key, ())) for key, count in shared.items()}
    order = sorted(shared, key=lambda key: (-evidence[key], -similar.get(key, 0), key.id, key.index or ""))
    return PassageCandidates(
        [TokenMatch(key, shared[key]) for key in order[:size]],
        max(len(shared), sharing.total),
        run,
        len(matches.incomplete),
    )


def guaranteed_run(store: Store, document: QueryDocument) -> int:
    """Return the minimum length, in words, of the shared runs that are always found.

    Runs whose words are too common may be missed; see `PassageCandidates.too_common_phrases`.
    """
    settings = store.settings
    by_tokens = settings.passages.guaranteed_run(settings.analysis.shingle_size) if settings.passages else 0
    if document.analysed is None or not store.can_find_phrases:
        return by_tokens
    words = len(document.analysed.words.words)
    by_phrases = min(words, SHORT_RUN) + _phrase_distance(words) - 1
    return min(by_phrases, by_tokens) if by_tokens and settings.analysis.unit == "word" else by_phrases


def phrases_of(text: AnalysedText, ignored: Mask) -> list[Phrase]:
    """Return distinct phrases of a text. Each run of the guaranteed length contains at least one of them.

    Phrases with ignored words are omitted. A text that is shorter than a phrase is a single phrase.
    """
    words, count = text.words.words, len(text.words.words)
    if not count:
        return []
    length = min(count, SHORT_RUN)
    starts = {
        tuple(words[start : start + length]): start
        for start in range(count - length, -1, -_phrase_distance(count))
        if not ignored[start : start + length].any()
    }
    return [Phrase(phrase, _text_between(text, start, start + length)) for phrase, start in starts.items()]


def _phrase_distance(words: int) -> int:
    """Return the number of words from the start of one phrase to the start of the next phrase."""
    return 1 if words <= SHORT_TEXT else max(LONG_RUN - SHORT_RUN + 1, -(-words // MAX_PHRASES))


def _text_between(text: AnalysedText, first: int, end: int) -> str:
    return text.text[int(text.words.starts[first]) : int(text.words.ends[end - 1])]


def _by_fingerprint(
    store: Store, document: QueryDocument, filters: Filters | None, exclude: DocumentKey | None
) -> dict[DocumentKey, int]:
    """Return the documents that share more fingerprint tokens than by chance, and the numbers of these tokens."""
    codes = document.fingerprint_record.codes[:_MAX_TOKENS]
    if not len(codes):
        return {}
    plan = Threshold(tuple(encode(codes)), min_beyond_chance(len(codes)))
    try:
        candidates = store.candidates(plan, filters=filters, exclude=exclude)
    except QuerySyntaxError:  # the query and its filters are too large for the engine
        return {}
    return {candidate.key: candidate.matched for candidate, _ in zip(candidates, range(MAX_SIMILAR), strict=False)}
