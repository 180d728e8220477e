"""Finds phrases in a local store. The index of words selects documents, and their texts are then searched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from tantivy import Occur, Query

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.word_grammar import MAX_WORD_UNITS
from simdoc_search.analysis.words import joined_words
from simdoc_search.cancellation import check_stopped
from simdoc_search.documents import Place
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.local.queries import restricted, term_query
from simdoc_search.stores.local.schema import WORDS, id_of, indexed_words, text_of
from simdoc_search.stores.local.snapshot import Address, Snapshot
from simdoc_search.stores.record import Phrase, PhraseMatches

WORDS_OF_PHRASE = 8
"""Maximum number of words of a phrase that are looked up. The rarest words are chosen."""

MAX_READ_FOR_ONE = 1_000
"""Maximum number of documents that are read for one of many phrases."""

BASE_READ, READ_PER_PHRASE, MAX_READ = 5_000, 20, 50_000
"""Maximum number of documents that are read for all phrases: `BASE_READ`, plus `READ_PER_PHRASE` for each phrase, but
at most `MAX_READ`. The documents of the rarest phrases are read first. Reading a few thousand documents takes 0.1 s.
"""

CHECK_EVERY = 256

_MAX_SINGLE_PHRASES = 50
"""If a text is compared with more phrases, it is compared with all of them at once."""

_LETTERS_AND_DIGITS = bytes(code if chr(code).isalnum() else 32 for code in range(128)).ljust(256).lower()


def find_phrases(
    snapshot: Snapshot, phrases: Sequence[Phrase], filters: Filters | None, exclude: Place | None
) -> PhraseMatches:
    """Return the documents that contain some of these phrases; see `Store.documents_with_phrases`."""
    candidates = _candidates(snapshot, phrases, filters, exclude)
    phrases_of, incomplete = _documents_to_read(candidates, len(phrases))
    matcher = _Matcher(phrases, snapshot.settings.analysis)
    documents = {}
    for count, (address, numbers) in enumerate(sorted(phrases_of.items())):
        if count % CHECK_EVERY == 0:
            check_stopped()
        document = snapshot.document(address)
        if matches := matcher.phrases_in(text_of(document) or "", numbers):
            documents[Place(id_of(document))] = matches
    return PhraseMatches(documents, incomplete)


def _candidates(
    snapshot: Snapshot, phrases: Sequence[Phrase], filters: Filters | None, exclude: Place | None
) -> dict[int, list[Address]]:
    """Return the documents with all words of each phrase, by its number. At most one more than will be read."""
    frequencies: dict[str, int] = {}
    candidates: dict[int, list[Address]] = {}
    limit = _limit(len(phrases)) + 1
    for number, phrase in enumerate(phrases):
        if number % CHECK_EVERY == 0:
            check_stopped()
        words = indexed_words(phrase.words)
        for word in words:
            if word not in frequencies:
                frequencies[word] = snapshot.frequency(WORDS, word)
        rarest = sorted(words, key=frequencies.__getitem__)[:WORDS_OF_PHRASE]
        if frequencies[rarest[0]]:
            terms = [(Occur.Must, term_query(snapshot.schema, WORDS, word)) for word in rarest]
            query = restricted(snapshot.schema, Query.boolean_query(terms), filters, exclude)
            candidates[number] = snapshot.addresses(query, limit)
    return candidates


class _Matcher:
    """Decides which phrases a text contains."""

    def __init__(self, phrases: Sequence[Phrase], analysis: Analysis) -> None:
        self._analysis = analysis
        self._joined = [f" {' '.join(phrase.words)} " for phrase in phrases]
        self._words = [tuple(joined[1:-1].split(" ")) for joined in self._joined]  # a normalised word may have spaces
        self._plain = [_plain(joined) or b"" for joined in self._joined]

    def phrases_in(self, text: str, numbers: Sequence[int]) -> tuple[int, ...]:
        """Return which of the phrases with these numbers a text contains, in ascending order."""
        if len(numbers) > _MAX_SINGLE_PHRASES:
            return self._among_windows(text, numbers)
        if (plain := _plain(text)) is not None:
            numbers = [number for number in numbers if self._plain[number] in plain]
        if not numbers:
            return ()
        words = f" {joined_words(text, self._analysis)} "
        return tuple(number for number in sorted(numbers) if self._joined[number] in words)

    def _among_windows(self, text: str, numbers: Sequence[int]) -> tuple[int, ...]:
        """Compare each window of words of the text with all phrases of its length, so that the words are found once."""
        words, matching = joined_words(text, self._analysis).split(" "), set[tuple[str, ...]]()
        wanted = {self._words[number] for number in numbers}
        for length in {len(phrase) for phrase in wanted}:
            matching |= wanted.intersection(zip(*(words[start:] for start in range(length)), strict=False))
        return tuple(number for number in sorted(numbers) if self._words[number] in matching)


def _plain(text: str) -> bytes | None:
    """Return the letters and digits of a text, with one space for everything between them.

    Most texts without a phrase can be excluded by them, which is much faster than finding their words. None if they
    prove nothing, because the text is not ASCII or may have a word that is cut at the maximum length.
    """
    if not text.isascii() or max(map(len, text.split()), default=0) >= MAX_WORD_UNITS:
        return None
    return b" %b " % b" ".join(text.encode("ascii").translate(_LETTERS_AND_DIGITS).split())


def _limit(phrases: int) -> int:
    """Return the maximum number of documents that are read for each phrase, given the number of phrases."""
    return max(MAX_READ_FOR_ONE, BASE_READ // max(1, phrases))


def _documents_to_read(
    candidates: Mapping[int, Sequence[Address]], phrases: int
) -> tuple[dict[Address, list[int]], tuple[int, ...]]:
    """Return the documents to read, each with its phrases, and the phrases that are also in other documents."""
    phrases_of: defaultdict[Address, list[int]] = defaultdict(list)
    incomplete = []
    limit, maximum = _limit(phrases), min(BASE_READ + READ_PER_PHRASE * phrases, MAX_READ)
    for number in sorted(candidates, key=lambda number: len(candidates[number])):
        addresses = candidates[number]
        is_whole = len(addresses) <= limit
        for address in addresses[:limit]:
            if address in phrases_of or len(phrases_of) < maximum:
                phrases_of[address].append(number)
            else:
                is_whole = False
        if not is_whole:
            incomplete.append(number)
    return phrases_of, tuple(sorted(incomplete))
