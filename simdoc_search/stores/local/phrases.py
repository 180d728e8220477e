"""Finds phrases in a local store. The index of pairs of words selects documents, and their texts are then searched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, islice
from operator import mul
from typing import NamedTuple, TypeVar

import numpy as np
from tantivy import Occur, Query

from simdoc_search.analysis.native import kernel
from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import call_kernel_method, without_surrogates, word_batch
from simdoc_search.batches import split_by_size
from simdoc_search.cancellation import check_stopped
from simdoc_search.documents import DocumentKey
from simdoc_search.sketch.hash_functions import murmur3_x64_128
from simdoc_search.sketch.tokens import encode
from simdoc_search.sketch.word_pairs import hash_word_pairs
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.local.queries import restrict, term_query
from simdoc_search.stores.local.schema import WORD_PAIRS_FIELD
from simdoc_search.stores.local.snapshot import Address, Snapshot
from simdoc_search.stores.record import Phrase, PhraseMatches

MAX_QUERY_PAIRS = 8
"""Maximum number of pairs of a phrase that are looked up. The rarest pairs are chosen."""

MAX_EXPECTED_FALSE_MATCHES = 0.01
"""A query combines the rarest pairs of a phrase until at most this number of documents is expected to have all of them
by chance. The estimate assumes that pairs are independent."""

MAX_COMBINED_QUERIES = 2_000
"""Maximum number of phrases that are searched for with one query."""

MIN_LIMIT_PER_PHRASE = 1_000
"""Maximum number of documents that are read for each phrase, if there are at least five phrases.

With fewer phrases, the maximum is higher: `BASE_DOCUMENTS_READ` divided by the number of phrases.
"""

BASE_DOCUMENTS_READ, DOCUMENTS_READ_PER_PHRASE, MAX_DOCUMENTS_READ = 5_000, 20, 50_000
"""At most BASE_DOCUMENTS_READ documents are read, plus DOCUMENTS_READ_PER_PHRASE for each phrase. The sum is limited to
MAX_DOCUMENTS_READ.

Documents with the rarest phrases are read first. Reading a few thousand documents takes 0.1 s. If the only phrase is a
single word, which has no pair, up to `MAX_DOCUMENTS_READ` documents are read.
"""

STOP_CHECK_INTERVAL = 256

BATCH_CHARACTERS = 100_000
"""Texts are searched in batches of about this number of characters."""

Item = TypeVar("Item")

_HASH_TABLE_SIZE = np.uint64(1 << 20)
"""Size of the table of phrase hashes. A hash is reduced modulo this number."""

_SPACE = ord(" ")


def find_phrases(
    snapshot: Snapshot, phrases: Sequence[Phrase], filters: Filters | None, exclude: DocumentKey | None
) -> PhraseMatches:
    """Return the documents that contain at least one of these phrases; see `Store.documents_with_phrases`."""
    read_limit = _ReadLimit.for_phrases(phrases)
    pairs_by_phrase = _choose_pairs(snapshot, phrases)
    addresses: Collection[Address] | None
    incomplete: tuple[int, ...]
    if (addresses := _find_all_at_once(snapshot, pairs_by_phrase, filters, exclude, read_limit.per_phrase)) is not None:
        incomplete = ()
    else:
        candidates = {
            index: snapshot.find_addresses(
                restrict(snapshot.schema, pairs.all_pairs_query, filters, exclude), read_limit.per_phrase + 1
            )
            for index, pairs in _iterate_until_stopped(pairs_by_phrase)
        }
        addresses, incomplete = _select_documents_to_read(candidates, read_limit)
    find = _make_finder(phrases, snapshot.settings.analysis)
    documents: dict[DocumentKey, tuple[int, ...]] = {}
    for batch in split_by_size(snapshot.read_texts(sorted(addresses)), lambda text: len(text.text), BATCH_CHARACTERS):
        check_stopped()
        found = find([text.text for text in batch])
        documents |= {text.key: tuple(indices) for text, indices in zip(batch, found, strict=True) if indices}
    return PhraseMatches(documents, incomplete)


class _PhrasePairs(NamedTuple):
    """The word pairs of a phrase as index terms, the rarest first."""

    clauses: Sequence[tuple[Occur, Query]]  # one clause per term, at most `MAX_QUERY_PAIRS`. A single word has no pair.
    selective_count: int  # how many first terms `selective_pairs_query` combines; see `MAX_EXPECTED_FALSE_MATCHES`
    max_document_count: int  # upper bound of the number of documents with all pairs

    @property
    def all_pairs_query(self) -> Query:
        """The query for documents with all pairs."""
        return Query.boolean_query(self.clauses) if self.clauses else Query.all_query()

    @property
    def selective_pairs_query(self) -> Query:
        """The query for documents with the first `selective_count` pairs. It is faster, but finds more documents."""
        return Query.boolean_query(self.clauses[: self.selective_count]) if self.clauses else Query.all_query()


def _choose_pairs(snapshot: Snapshot, phrases: Sequence[Phrase]) -> dict[int, _PhrasePairs]:
    """Map the index of each phrase to its pairs. Phrases with a pair that no document has are omitted."""
    document_count = max(1, snapshot.document_count)
    frequencies: dict[str, int] = {}
    terms: dict[str, tuple[Occur, Query]] = {}
    chosen: dict[int, _PhrasePairs] = {}
    token_ids, counts = hash_word_pairs([" ".join(phrase.words) for phrase in phrases])
    tokens = iter(encode(token_ids))
    for index, count in _iterate_until_stopped(dict(enumerate(counts.tolist()))):
        pairs = dict.fromkeys(islice(tokens, count))
        for pair in pairs:
            if pair not in terms:
                frequencies[pair] = snapshot.document_frequency(WORD_PAIRS_FIELD, pair)
                terms[pair] = Occur.Must, term_query(snapshot.schema, WORD_PAIRS_FIELD, pair)
        rarest = sorted(pairs, key=frequencies.__getitem__)[:MAX_QUERY_PAIRS]
        expected_matches = accumulate(
            (frequencies[pair] / document_count for pair in rarest), mul, initial=document_count
        )
        selective_count = sum(documents > MAX_EXPECTED_FALSE_MATCHES for documents in expected_matches)
        if not rarest or frequencies[rarest[0]]:
            max_document_count = frequencies[rarest[0]] if rarest else document_count
            chosen[index] = _PhrasePairs([terms[pair] for pair in rarest], selective_count, max_document_count)
    return chosen


def _find_all_at_once(
    snapshot: Snapshot,
    pairs_by_phrase: Mapping[int, _PhrasePairs],
    filters: Filters | None,
    exclude: DocumentKey | None,
    limit: int,
) -> list[Address] | None:
    """Return the documents that may contain any of the phrases, or None if they are too many to be read."""
    if not pairs_by_phrase:
        return []
    if len(pairs_by_phrase) > MAX_COMBINED_QUERIES:
        return None
    most_common = max(pairs_by_phrase.values(), key=lambda pairs: pairs.max_document_count)
    if most_common.max_document_count > limit:  # if this phrase alone has too many documents, so have all together
        query = restrict(snapshot.schema, Query.const_score_query(most_common.all_pairs_query, 0.0), filters, exclude)
        if len(snapshot.find_addresses(query, limit + 1)) > limit:
            return None
    any_query = Query.boolean_query([(Occur.Should, pairs.selective_pairs_query) for pairs in pairs_by_phrase.values()])
    query = restrict(snapshot.schema, Query.const_score_query(any_query, 0.0), filters, exclude)
    addresses = snapshot.find_addresses(query, limit + 1)
    return addresses if len(addresses) <= limit else None


def _iterate_until_stopped(items: Mapping[int, Item]) -> Iterator[tuple[int, Item]]:
    """Yield the items. Raise StoppedError if the computation is cancelled."""
    for count, item in enumerate(items.items()):
        if count % STOP_CHECK_INTERVAL == 0:
            check_stopped()
        yield item


def _make_finder(phrases: Sequence[Phrase], analysis: Analysis) -> Callable[[Sequence[str]], list[list[int]]]:
    """Return a function that returns the indices of the phrases that each text contains, in ascending order."""
    joined = [" ".join(phrase.words) for phrase in phrases]
    native = kernel()
    if native is None:
        return _PhraseFinder(joined, analysis).find
    finder = native.phrase_finder(list(map(without_surrogates, joined)), analysis.profile)
    return partial(call_kernel_method, finder.find)


class _PhraseFinder:
    """Finds phrases in texts, without the native kernel. The words of a phrase are separated by one space.

    A window of words is compared with the phrases only if its hash, modulo `_HASH_TABLE_SIZE`, equals that of a phrase.
    """

    def __init__(self, phrases: Sequence[str], analysis: Analysis) -> None:
        self._analysis = analysis
        # maps each phrase in UTF-16 to its indices in `phrases`
        self._indices: defaultdict[bytes, list[int]] = defaultdict(list)
        for index, phrase in enumerate(phrases):
            self._indices[phrase.encode("utf-16-le", "surrogatepass")].append(index)
        joined = list(self._indices)
        sizes = np.array(list(map(len, joined))) // 2
        ends = np.cumsum(sizes)
        hashes, _ = murmur3_x64_128(np.frombuffer(b"".join(joined), "<u2"), ends - sizes, ends)
        self._has_hash = np.zeros(_HASH_TABLE_SIZE, bool)
        self._has_hash[hashes % _HASH_TABLE_SIZE] = True
        # Lengths in words. A normalised word that contains a space counts as two, as in the index of word pairs.
        self._lengths = {phrase.decode("utf-16-le", "surrogatepass").count(" ") + 1 for phrase in joined}

    def find(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the indices of the phrases that each text contains, in ascending order."""
        batch = word_batch(texts, self._analysis)
        units, data = batch.units, batch.units.astype("<u2", copy=False).tobytes()
        ends = np.flatnonzero(units == _SPACE)  # a space follows each word
        starts = np.concatenate(([0], ends[:-1] + 1))[: len(ends)]
        text_ends = np.concatenate(([0], batch.ends + 1))[np.cumsum(batch.counts)]
        owners = np.searchsorted(text_ends, starts, side="right")
        found: list[set[int]] = [set() for _ in texts]
        for length in self._lengths:
            count = max(0, len(starts) - length + 1)
            is_window = owners[:count] == owners[len(owners) - count :]
            first, last, owner = (
                positions[is_window] for positions in (starts[:count], ends[len(ends) - count :], owners[:count])
            )
            hashes, _ = murmur3_x64_128(units, first, last)
            hits = np.flatnonzero(self._has_hash[hashes % _HASH_TABLE_SIZE])
            for start, end, text in zip(first[hits].tolist(), last[hits].tolist(), owner[hits].tolist(), strict=True):
                found[text].update(self._indices.get(data[2 * start : 2 * end], ()))
        return list(map(sorted, found))


class _ReadLimit(NamedTuple):
    """The maximum numbers of documents that are read, for each phrase and in total."""

    per_phrase: int
    total: int

    @classmethod
    def for_phrases(cls, phrases: Sequence[Phrase]) -> _ReadLimit:
        count = len(phrases)
        if count == 1 and len(" ".join(phrases[0].words).split(" ")) == 1:
            return cls(MAX_DOCUMENTS_READ, MAX_DOCUMENTS_READ)
        per_phrase = max(MIN_LIMIT_PER_PHRASE, BASE_DOCUMENTS_READ // max(1, count))
        return cls(per_phrase, min(BASE_DOCUMENTS_READ + DOCUMENTS_READ_PER_PHRASE * count, MAX_DOCUMENTS_READ))


def _select_documents_to_read(
    candidates: Mapping[int, Sequence[Address]], read_limit: _ReadLimit
) -> tuple[set[Address], tuple[int, ...]]:
    """Return the documents to read, and the value for `PhraseMatches.incomplete_phrase_indices`."""
    chosen: set[Address] = set()
    incomplete = []
    for index in sorted(candidates, key=lambda index: len(candidates[index])):
        addresses = candidates[index]
        is_complete = len(addresses) <= read_limit.per_phrase
        for address in addresses[: read_limit.per_phrase]:
            if address in chosen or len(chosen) < read_limit.total:
                chosen.add(address)
            else:
                is_complete = False
        if not is_complete:
            incomplete.append(index)
    return chosen, tuple(sorted(incomplete))
