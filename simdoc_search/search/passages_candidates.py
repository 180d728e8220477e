"""Which documents may share a passage with a source? Passage tokens, phrases and the fingerprint choose together."""

from __future__ import annotations

from dataclasses import dataclass

from simdoc_search.documents import Place
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.passages.align import LONG_RUN, SHORT_RUN, SHORT_TEXT
from simdoc_search.passages.coverage import Mask
from simdoc_search.query.plans import Threshold
from simdoc_search.search.passages_source import PassageSource
from simdoc_search.search.stored_texts import ReadText
from simdoc_search.sketch.tokens import encode
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Phrase, PhraseMatches
from simdoc_search.stores.shared_tokens import Shared

MOST_PHRASES = 50_000
"""Phrases that are looked up at most. A text of over 350,000 words has fewer in proportion, so `LONG_RUN` grows."""

MOST_SIMILAR = 200
"""Documents that the fingerprint adds at most: those that share most of its tokens."""

_MOST_TOKENS = 512


@dataclass(frozen=True, slots=True)
class PassageCandidates:
    """The documents that may share a passage.

    Attributes:
        documents: those that share most passage tokens and phrases, most first, ties by id and index. One that was
            found by phrases or by its fingerprint alone shares 0 tokens.
        total: how many there are at least.
        run: the words of the shortest shared run that is always found.
        too_common: how many phrases were not looked up in all documents, as their words are too common.
    """

    documents: list[Shared]
    total: int
    run: int
    too_common: int


def gather(
    store: Store, source: PassageSource, *, filters: Filters | None, exclude: Place | None, size: int, equal: int = 1
) -> PassageCandidates:
    """The documents that may share a passage with a source, by everything that the store has.

    Args:
        store: where they are.
        source: the document or the text.
        filters: which documents are looked at.
        exclude: one that is not.
        size: how many documents to give at most.
        equal: tokens of the fingerprint that a document has at least that shares nothing else.

    Raises:
        FormatMismatchError: the store has no passage tokens.
    """
    if not len(source.codes):  # all words are ignored
        return PassageCandidates([], 0, guaranteed_run(store, source), 0)
    by_tokens = store.sharing(source.codes, filters=filters, exclude=exclude, size=size)
    matches = PhraseMatches({})
    if store.finds_phrases and source.text is not None:
        asked = phrases_of(source.text, source.ignored)
        matches = store.having_phrases(asked, filters=filters, exclude=exclude)
    tokens = {each.place: each.shared for each in by_tokens.documents}
    phrases = {place: len(numbers) for place, numbers in matches.documents.items()}
    similar = _similar(store, source, filters, exclude, equal)
    places = {**tokens, **phrases, **similar}
    evidence = {each: tokens.get(each, 0) + phrases.get(each, 0) for each in places}
    order = sorted(places, key=lambda each: (-evidence[each], -similar.get(each, 0), each.id, each.index or ""))
    return PassageCandidates(
        [Shared(each, tokens.get(each, 0)) for each in order[:size]],
        max(len(places), by_tokens.total),
        guaranteed_run(store, source),
        len(matches.incomplete),
    )


def guaranteed_run(store: Store, source: PassageSource) -> int:
    """The words of the shortest shared run that is always found, unless its words are too common."""
    settings = store.settings
    by_tokens = settings.passages.run(settings.analysis.shingle_size) if settings.passages else 0
    if source.text is None or not store.finds_phrases:
        return by_tokens
    count = len(source.text.words.words)
    by_phrases = min(count, SHORT_RUN) + _step(count) - 1
    return min(by_phrases, by_tokens) if by_tokens and settings.analysis.unit == "word" else by_phrases


def phrases_of(text: ReadText, ignored: Mask) -> list[Phrase]:
    """Phrases of a text of which every run of the guaranteed length has at least one; none twice.

    None has a word that is ignored. A text of fewer words than a phrase is one phrase.
    """
    words, count = text.words.words, len(text.words.words)
    if not count:
        return []
    length = min(count, SHORT_RUN)
    firsts = {
        tuple(words[at : at + length]): at
        for at in range(count - length, -1, -_step(count))
        if not ignored[at : at + length].any()
    }
    return [Phrase(each, _text_of(text, at, at + length)) for each, at in firsts.items()]


def _step(count: int) -> int:
    """Words from one phrase of a text to the next."""
    return 1 if count <= SHORT_TEXT else max(LONG_RUN - SHORT_RUN + 1, -(-count // MOST_PHRASES))


def _text_of(text: ReadText, first: int, end: int) -> str:
    """Some words as they stand in the text."""
    return text.text[int(text.words.starts[first]) : int(text.words.ends[end - 1])]


def _similar(
    store: Store, source: PassageSource, filters: Filters | None, exclude: Place | None, equal: int
) -> dict[Place, int]:
    """The documents that share most tokens of the fingerprint, with how many they share: at least `equal`."""
    chosen = source.tokens[:_MOST_TOKENS]
    if not len(chosen):
        return {}
    plan = Threshold(tuple(encode(chosen, store.settings.token_length)), equal)
    try:
        found = store.candidates(plan, filters=filters, exclude=exclude)
    except QuerySyntaxError:  # with its filters it is more than the engine takes
        return {}
    return {each.place: each.matched for each, _ in zip(found, range(MOST_SIMILAR), strict=False)}
