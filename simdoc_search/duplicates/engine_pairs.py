"""Finds candidate pairs by querying the engine, so that the tokens of all documents need not fit into memory.

Of several documents with equal words, only one is used as a query. A match must contain all tokens of a band of the
query document or, if the query document is short, a minimum number of its tokens. A match has at least as many shingles
as the query document, so no pair is found twice. Two documents with exactly the minimum overlap are found with a
probability of 99 %.

If a query has more than MAX_MATCHES matches, only the matches with the most shingles are compared. The query document
and those matches that may overlap it enough are then partly compared. When the groups are formed, partly compared
documents that are not in a group are compared with each other in memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice

import numpy as np

from simdoc_search.duplicates.arrays import Bools, Ints
from simdoc_search.duplicates.bands import MAX_SHORT_DOCUMENT_TOKENS
from simdoc_search.duplicates.checkpoint import Checkpoint
from simdoc_search.duplicates.document_arrays import Documents, TokenBuffer, words_key
from simdoc_search.duplicates.fingerprint_table import FingerprintTable
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.pairs import JoinedPairs, join
from simdoc_search.query.planner import choose_rows_and_bands, plan
from simdoc_search.query.plans import Plan
from simdoc_search.sketch.tokens import encode
from simdoc_search.stores.point_in_time import FoundRecords, FrozenStore, SizedPlan
from simdoc_search.stores.record import Record

RECALL = Fraction(99, 100)
"""Probability that two documents with exactly the minimum overlap are found. 99.9 % would need 1.5 times as many bands.
"""

MAX_MATCHES = 64
"""Maximum number of compared matches per query."""

_QUERIES_AT_ONCE = 32

_NumberedRecord = tuple[int, Record]
"""The number of a document, and its record."""


class EnginePairs:
    """Finds candidate pairs among documents whose tokens are not held in memory."""

    def __init__(self, frozen: FrozenStore, documents: Documents, measure: Measure, checkpoint: Checkpoint) -> None:
        self._frozen = frozen
        self._documents = documents
        self._table = documents.table
        self._measure = measure
        self._checkpoint = checkpoint
        self._keys = self._numbers = np.zeros(0, np.int64)  # keys and numbers of the documents to query, sorted by key
        self._table_with_tokens: FingerprintTable | None = None

    def find(
        self, documents: Ints, *, known_pairs: tuple[Ints, Ints], progress: Callable[[float], None]
    ) -> JoinedPairs:
        """Find pairs, as `join` does.

        The first call queries the engine. Later calls compare the partly compared documents with each other in memory.
        """
        if len(self._keys):
            return self._join_in_memory(documents, known_pairs, progress)
        keys = self._documents.words_keys[documents]
        order = np.argsort(keys)
        self._keys, self._numbers = keys[order], documents[order]
        compared = self._query_all(documents, progress)
        first, second, estimates = self._checkpoint.read_pairs()
        a, b = self._numbers[self._positions(first)], self._numbers[self._positions(second)]
        first, second = np.minimum(a, b), np.maximum(a, b)
        order = np.lexsort((second, first))
        skipped = self._checkpoint.read_skipped_match_counts()
        partly = np.array(sorted(self._find_number(key) for key in skipped), np.int64)
        return JoinedPairs(first[order], second[order], estimates[order], compared, partly, sum(skipped.values()))

    def _query_all(self, documents: Ints, progress: Callable[[float], None]) -> int:
        """Query the documents that no earlier run has queried. Returns the number of pairs compared."""
        is_done = np.ones(len(self._table.counts), bool)
        is_done[documents] = self._checkpoint.prune(self._documents.words_keys[documents])
        has_tokens = documents[self._table.counts[documents] > 0]
        queried = int(is_done[has_tokens].sum())
        is_resumed = queried > 0
        compared = 0
        to_query = self._records_to_query(is_done)
        while batch := list(islice(to_query, _QUERIES_AT_ONCE)):
            plans = [self._make_plan(number, record, is_resumed=is_resumed) for number, record in batch]
            has_hashes = self._documents.has_all_word_hashes
            results = self._frozen.search(plans, size=MAX_MATCHES + 1, distinct_words=has_hashes)
            compared += self._save_batch(batch, results, is_resumed=is_resumed)
            queried += len(batch)
            progress(queried / max(1, len(has_tokens)))
        progress(1.0)
        return compared

    def _records_to_query(self, is_done: Bools) -> Iterator[_NumberedRecord]:
        for record in self._frozen.records():
            number = self._find_number(words_key(record)) if len(record.codes) else -1
            if number >= 0 and not is_done[number]:
                is_done[number] = True
                yield number, record

    def _make_plan(self, number: int, record: Record, *, is_resumed: bool) -> SizedPlan:
        min_jaccard, shingles = self._measure.min_jaccard, int(self._table.shingle_counts[number])
        # A shorter document may have been queried before this one was added. So a resumed run matches shorter ones too.
        min_shingles = math.ceil(shingles * min_jaccard) if is_resumed else shingles
        sizes = (min_shingles, math.floor(shingles / min_jaccard)) if self._documents.has_all_shingle_counts else None
        return SizedPlan(_plan_query(encode(record.codes), min_jaccard), sizes)

    def _save_batch(
        self, batch: Sequence[_NumberedRecord], results: Sequence[FoundRecords], *, is_resumed: bool
    ) -> int:
        """Save the results of a batch of queries in the checkpoint. Returns the number of pairs compared."""
        numbers, records = [number for number, _ in batch], [record for _, record in batch]
        query_positions, match_positions = [], []  # positions in `numbers` and `records`
        for query, result in enumerate(results):
            seen = {-1, numbers[query]}
            for record in result.records:
                number = self._find_number(words_key(record)) if len(record.codes) else -1
                if number not in seen and (is_resumed or self._is_longer(number, numbers[query])):
                    query_positions.append(query)
                    match_positions.append(len(numbers))
                    numbers.append(number)
                    records.append(record)
                seen.add(number)
        queries, matches = np.array(query_positions, np.int64), np.array(match_positions, np.int64)
        number_of = np.array(numbers, np.int64)
        is_swapped = number_of[queries] > number_of[matches]
        first, second = np.where(is_swapped, matches, queries), np.where(is_swapped, queries, matches)
        codes, shingles = [record.codes for record in records], self._table.shingle_counts[number_of]
        table = FingerprintTable.from_codes(codes, shingles, self._table.buckets)
        fit = self._measure.sizes_fit(table, first, second)
        estimates, is_possible = self._measure.estimate(table, first[fit], second[fit])
        queries, matches = queries[fit][is_possible], matches[fit][is_possible]
        keys = self._documents.words_keys[number_of]
        skipped_match_counts: dict[int, int] = {}
        for query, result in enumerate(results):
            if result.max_omitted_count:
                near = matches[queries == query].tolist()
                skipped = 0 if near else result.max_omitted_count
                for position in (query, *near):
                    key = int(keys[position])
                    skipped_match_counts[key] = max(skipped, skipped_match_counts.get(key, 0))
        self._checkpoint.save(
            keys[: len(batch)].tolist(),
            zip(keys[queries].tolist(), keys[matches].tolist(), estimates[is_possible].tolist(), strict=True),
            skipped_match_counts,
        )
        return int(fit.sum())

    def _is_longer(self, number: int, other: int) -> bool:
        """Return whether a document has more shingles than another. In a tie, their keys are compared."""
        shingles, keys = self._table.shingle_counts, self._documents.words_keys
        return bool((shingles[number], keys[number]) > (shingles[other], keys[other]))

    def _join_in_memory(
        self, documents: Ints, known_pairs: tuple[Ints, Ints], progress: Callable[[float], None]
    ) -> JoinedPairs:
        skipped = {self._find_number(key): count for key, count in self._checkpoint.read_skipped_match_counts().items()}
        if self._table_with_tokens is None:
            self._table_with_tokens = self._read_tokens(skipped.keys())
        joined = join(self._table_with_tokens, documents, self._measure, known_pairs=known_pairs, progress=progress)
        total = sum(skipped.get(number, 0) for number in documents.tolist())
        return replace(joined, skipped_comparisons=joined.skipped_comparisons + total)

    def _read_tokens(self, numbers: Collection[int]) -> FingerprintTable:
        """Read the tokens of these documents again."""
        tokens, end = TokenBuffer(), 0
        counts, begins = (np.zeros(len(self._table.counts), np.int64) for _ in range(2))
        for record in self._frozen.records():
            number = self._find_number(words_key(record)) if len(record.codes) else -1
            if number in numbers and not counts[number]:
                tokens.append(record.codes)
                begins[number], counts[number] = end, len(record.codes)
                end += len(record.codes)
        return replace(self._table, codes=tokens.read(), begins=begins, counts=counts)

    def _positions(self, keys: Ints) -> Ints:
        return np.searchsorted(self._keys, keys)

    def _find_number(self, key: int) -> int:
        """Return the number of the document with this key; -1 if there is none."""
        index = int(np.searchsorted(self._keys, key))
        return int(self._numbers[index]) if index < len(self._keys) and self._keys[index] == key else -1


def _plan_query(tokens: list[str], overlap: Fraction) -> Plan:
    """Plan a query that finds a document with this overlap with a probability of 99 %.

    The query uses bands. If there are few tokens, or a band would have only one row, it counts shared tokens instead.
    """
    rows, _ = choose_rows_and_bands(len(tokens), overlap, RECALL)
    if rows > 1 and len(tokens) > MAX_SHORT_DOCUMENT_TOKENS:
        return plan(tokens, overlap, RECALL)
    return plan(tokens, overlap, verified=True)
