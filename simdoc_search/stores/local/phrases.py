"""Finds phrases in a local store. The word index selects documents, and their texts are then searched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from tantivy import Occur, Query

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.word_grammar import MAX_WORD_UNITS
from simdoc_search.analysis.words import joined_words
from simdoc_search.cancellation import check_stopped
from simdoc_search.documents import DocumentKey
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.local.queries import restrict, term_query
from simdoc_search.stores.local.schema import WORDS_FIELD, read_id, read_text, split_into_terms
from simdoc_search.stores.local.snapshot import Address, Snapshot
from simdoc_search.stores.record import Phrase, PhraseMatches

MAX_QUERY_WORDS = 8
"""Maximum number of words of a phrase that are looked up. The rarest words are chosen."""

MAX_DOCUMENTS_PER_PHRASE = 1_000
"""Maximum number of documents that are read for each phrase, if there are at least five phrases."""

BASE_DOCUMENTS_READ, DOCUMENTS_READ_PER_PHRASE, MAX_DOCUMENTS_READ = 5_000, 20, 50_000
"""Maximum number of documents that are read: a base, the number added for each phrase, and the maximum of the sum.

Documents with the rarest phrases are read first. Reading a few thousand documents takes 0.1 s.
"""

STOP_CHECK_INTERVAL = 256

_MAX_PHRASES_ONE_BY_ONE = 50
"""If a text may contain more phrases than this, one scan of its words compares all of them."""

_SPACE = 32
_LETTERS_AND_DIGITS = bytes(code if chr(code).isalnum() else 32 for code in range(128)).ljust(256).lower()


def find_phrases(
    snapshot: Snapshot, phrases: Sequence[Phrase], filters: Filters | None, exclude: DocumentKey | None
) -> PhraseMatches:
    """Return the documents that contain at least one of these phrases; see `Store.documents_with_phrases`."""
    candidates = _find_candidates(snapshot, phrases, filters, exclude)
    indices_by_address, incomplete = _documents_to_read(candidates, len(phrases))
    matcher = _Matcher(phrases, snapshot.settings.analysis)
    documents = {}
    for count, (address, phrase_indices) in enumerate(sorted(indices_by_address.items())):
        if count % STOP_CHECK_INTERVAL == 0:
            check_stopped()
        document = snapshot.read_document(address, keep=False)
        if matches := matcher.matching_phrases(read_text(document) or "", phrase_indices):
            documents[DocumentKey(read_id(document))] = matches
    return PhraseMatches(documents, incomplete)


def _find_candidates(
    snapshot: Snapshot, phrases: Sequence[Phrase], filters: Filters | None, exclude: DocumentKey | None
) -> dict[int, list[Address]]:
    """Map the index of each phrase to documents that contain all its words, at most one more than are read."""
    frequencies: dict[str, int] = {}
    candidates: dict[int, list[Address]] = {}
    limit = _max_read_per_phrase(len(phrases)) + 1
    for index, phrase in enumerate(phrases):
        if index % STOP_CHECK_INTERVAL == 0:
            check_stopped()
        words = split_into_terms(phrase.words)
        for word in words:
            if word not in frequencies:
                frequencies[word] = snapshot.document_frequency(WORDS_FIELD, word)
        rarest = sorted(words, key=frequencies.__getitem__)[:MAX_QUERY_WORDS]
        if frequencies[rarest[0]]:
            terms = [(Occur.Must, term_query(snapshot.schema, WORDS_FIELD, word)) for word in rarest]
            query = restrict(snapshot.schema, Query.boolean_query(terms), filters, exclude)
            candidates[index] = snapshot.find_addresses(query, limit)
    return candidates


class _Matcher:
    """Decides which phrases a text contains."""

    def __init__(self, phrases: Sequence[Phrase], analysis: Analysis) -> None:
        self._analysis = analysis
        self._joined = [f" {' '.join(phrase.words)} " for phrase in phrases]
        # `phrase.words` are split again, because a normalised word may contain spaces.
        self._words = [tuple(joined[1:-1].split(" ")) for joined in self._joined]
        self._plain = [_letters_and_digits(joined) or b"" for joined in self._joined]

    def matching_phrases(self, text: str, indices: Sequence[int]) -> tuple[int, ...]:
        """Return the indices of the given phrases that a text contains, in ascending order."""
        if len(indices) > _MAX_PHRASES_ONE_BY_ONE:
            return self._match_windows(text, indices)
        if (plain := _letters_and_digits(text)) is not None:
            indices = [index for index in indices if self._plain[index] in plain]
        if not indices:
            return ()
        words = f" {joined_words(text, self._analysis)} "
        return tuple(index for index in sorted(indices) if self._joined[index] in words)

    def _match_windows(self, text: str, indices: Sequence[int]) -> tuple[int, ...]:
        """Compare each window of words with all phrases of its length. The text is scanned once per length."""
        words, matching = joined_words(text, self._analysis).split(" "), set[tuple[str, ...]]()
        phrases = {self._words[index] for index in indices}
        for length in {len(phrase) for phrase in phrases}:
            matching |= phrases.intersection(zip(*(words[start:] for start in range(length)), strict=False))
        return tuple(index for index in sorted(indices) if self._words[index] in matching)


def _letters_and_digits(text: str) -> bytes | None:
    """Return the letters and digits of a text in lower case, with one space between sequences of them.

    Comparing these bytes excludes most texts that do not contain a phrase, and is much faster than finding their words.
    The result is None if the comparison is not reliable, because the text is not ASCII or may contain a word that is
    cut at the maximum length.
    """
    if not text.isascii():
        return None
    data = text.encode("ascii")
    spaces = np.flatnonzero(np.frombuffer(b" %b " % data, np.uint8) <= _SPACE)
    if np.diff(spaces).max() > MAX_WORD_UNITS:
        return None
    letters = np.frombuffer(b" %b " % data.translate(_LETTERS_AND_DIGITS), np.uint8)
    is_space = letters == _SPACE
    is_kept = ~is_space
    is_kept[0] = True
    is_kept[1:] |= ~is_space[:-1]  # of several spaces, keep only the first one
    return bytes(letters[is_kept])


def _max_read_per_phrase(phrase_count: int) -> int:
    """Return the maximum number of documents that are read for each phrase."""
    return max(MAX_DOCUMENTS_PER_PHRASE, BASE_DOCUMENTS_READ // max(1, phrase_count))


def _documents_to_read(
    candidates: Mapping[int, Sequence[Address]], phrase_count: int
) -> tuple[dict[Address, list[int]], tuple[int, ...]]:
    """Return the documents to read, with the indices of their phrases. Also return `PhraseMatches.incomplete`."""
    indices_by_address: defaultdict[Address, list[int]] = defaultdict(list)
    incomplete = []
    limit, total_limit = (
        _max_read_per_phrase(phrase_count),
        min(BASE_DOCUMENTS_READ + DOCUMENTS_READ_PER_PHRASE * phrase_count, MAX_DOCUMENTS_READ),
    )
    for index in sorted(candidates, key=lambda index: len(candidates[index])):
        addresses = candidates[index]
        is_complete = len(addresses) <= limit
        for address in addresses[:limit]:
            if address in indices_by_address or len(indices_by_address) < total_limit:
                indices_by_address[address].append(index)
            else:
                is_complete = False
        if not is_complete:
            incomplete.append(index)
    return indices_by_address, tuple(sorted(incomplete))
