"""Finds phrases in a local store. The index of pairs of words selects documents, and their texts are then searched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

import numpy as np
from tantivy import Occur, Query

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.word_grammar import MAX_WORD_UNITS
from simdoc_search.analysis.words import joined_words
from simdoc_search.cancellation import check_stopped
from simdoc_search.documents import DocumentKey
from simdoc_search.sketch.tokens import encode
from simdoc_search.sketch.winnow import empty_codes
from simdoc_search.sketch.word_pairs import word_pair_codes
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.local.queries import restrict, term_query
from simdoc_search.stores.local.schema import WORD_PAIRS_FIELD, read_id, read_text
from simdoc_search.stores.local.snapshot import Address, Snapshot
from simdoc_search.stores.record import Phrase, PhraseMatches

MAX_QUERY_PAIRS = 8
"""Maximum number of pairs of a phrase that are looked up. The rarest pairs are chosen."""

MAX_COMBINED_QUERIES = 2_000
"""Maximum number of phrases that are searched for with one query."""

MAX_DOCUMENTS_PER_PHRASE = 1_000
"""Maximum number of documents that are read for each phrase, if there are at least five phrases."""

BASE_DOCUMENTS_READ, DOCUMENTS_READ_PER_PHRASE, MAX_DOCUMENTS_READ = 5_000, 20, 50_000
"""Maximum number of documents that are read: a base, the number added for each phrase, and the maximum of the sum.

Documents with the rarest phrases are read first. Reading a few thousand documents takes 0.1 s. If the only phrase is a
single word, which has no pair, up to `MAX_DOCUMENTS_READ` documents are read.
"""

STOP_CHECK_INTERVAL = 256

Item = TypeVar("Item")

_MAX_PHRASES_ONE_BY_ONE = 50
"""If a text may contain more phrases than this, one scan of its words compares all of them."""

_SPACE = 32
_LETTERS_AND_DIGITS = bytes(code if chr(code).isalnum() else 32 for code in range(128)).ljust(256).lower()


def find_phrases(
    snapshot: Snapshot, phrases: Sequence[Phrase], filters: Filters | None, exclude: DocumentKey | None
) -> PhraseMatches:
    """Return the documents that contain at least one of these phrases; see `Store.documents_with_phrases`."""
    read_limit = _ReadLimit.of(phrases)
    queries = _make_queries(snapshot, phrases)
    incomplete: tuple[int, ...]
    if (addresses := _find_all_at_once(snapshot, queries, filters, exclude, read_limit.per_phrase)) is not None:
        indices_by_address, incomplete = {address: list(queries) for address in addresses}, ()
    else:
        candidates = {
            index: snapshot.find_addresses(
                restrict(snapshot.schema, query, filters, exclude), read_limit.per_phrase + 1
            )
            for index, query in _check_stopped_for_each(queries)
        }
        indices_by_address, incomplete = _documents_to_read(candidates, read_limit)
    matcher = _Matcher(phrases, snapshot.settings.analysis)
    documents = {}
    for count, (address, phrase_indices) in enumerate(sorted(indices_by_address.items())):
        if count % STOP_CHECK_INTERVAL == 0:
            check_stopped()
        document = snapshot.read_document(address, keep=False)
        if matches := matcher.matching_phrases(read_text(document) or "", phrase_indices):
            documents[DocumentKey(read_id(document))] = matches
    return PhraseMatches(documents, incomplete)


def _make_queries(snapshot: Snapshot, phrases: Sequence[Phrase]) -> dict[int, Query]:
    """Map the index of each phrase to the query for documents with all of its pairs of words.

    A phrase of one word has no pair, so its query finds all documents.
    """
    frequencies: dict[str, int] = {}
    queries: dict[int, Query] = {}
    codes = word_pair_codes([" ".join(phrase.words) for phrase in phrases])
    tokens = iter(encode(np.concatenate([empty_codes(), *codes])))
    for index, codes_of_phrase in _check_stopped_for_each(dict(enumerate(codes))):
        pairs = list(islice(tokens, len(codes_of_phrase)))
        for pair in pairs:
            if pair not in frequencies:
                frequencies[pair] = snapshot.document_frequency(WORD_PAIRS_FIELD, pair)
        rarest = sorted(pairs, key=frequencies.__getitem__)[:MAX_QUERY_PAIRS]
        if not rarest:
            queries[index] = Query.all_query()
        elif frequencies[rarest[0]]:
            terms = [(Occur.Must, term_query(snapshot.schema, WORD_PAIRS_FIELD, pair)) for pair in rarest]
            queries[index] = Query.boolean_query(terms)
    return queries


def _find_all_at_once(
    snapshot: Snapshot,
    queries: Mapping[int, Query],
    filters: Filters | None,
    exclude: DocumentKey | None,
    limit: int,
) -> list[Address] | None:
    """Return the documents that any of the queries finds, or None if they are too many to be read."""
    if not queries:
        return []
    if len(queries) > MAX_COMBINED_QUERIES:
        return None
    any_query = Query.boolean_query([(Occur.Should, query) for query in queries.values()])
    query = restrict(snapshot.schema, Query.const_score_query(any_query, 0.0), filters, exclude)
    addresses = snapshot.find_addresses(query, limit + 1)
    return addresses if len(addresses) <= limit else None


def _check_stopped_for_each(items: Mapping[int, Item]) -> Iterator[tuple[int, Item]]:
    for count, item in enumerate(items.items()):
        if count % STOP_CHECK_INTERVAL == 0:
            check_stopped()
        yield item


class _Matcher:
    """Decides which phrases a text contains."""

    def __init__(self, phrases: Sequence[Phrase], analysis: Analysis) -> None:
        self._analysis = analysis
        self._joined = [f" {' '.join(phrase.words)} " for phrase in phrases]
        # `phrase.words` are split again, because a normalised word may contain spaces.
        self._words = [tuple(joined[1:-1].split(" ")) for joined in self._joined]
        self._phrases_by_length: defaultdict[int, set[tuple[str, ...]]] = defaultdict(set)
        for words in self._words:
            self._phrases_by_length[len(words)].add(words)
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
        for length, phrases in self._phrases_by_length.items():
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


class _ReadLimit(NamedTuple):
    """The maximum numbers of documents that are read, for each phrase and in total."""

    per_phrase: int
    total: int

    @classmethod
    def of(cls, phrases: Sequence[Phrase]) -> _ReadLimit:
        count = len(phrases)
        if count == 1 and len(" ".join(phrases[0].words).split(" ")) == 1:
            return cls(MAX_DOCUMENTS_READ, MAX_DOCUMENTS_READ)
        per_phrase = max(MAX_DOCUMENTS_PER_PHRASE, BASE_DOCUMENTS_READ // max(1, count))
        return cls(per_phrase, min(BASE_DOCUMENTS_READ + DOCUMENTS_READ_PER_PHRASE * count, MAX_DOCUMENTS_READ))


def _documents_to_read(
    candidates: Mapping[int, Sequence[Address]], read_limit: _ReadLimit
) -> tuple[dict[Address, list[int]], tuple[int, ...]]:
    """Return the documents to read, with the indices of their phrases; and the value for `PhraseMatches.incomplete`."""
    indices_by_address: defaultdict[Address, list[int]] = defaultdict(list)
    incomplete = []
    limit, total_limit = read_limit
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
