"""Guesses the order in which documents were written, from their texts alone. The order is a hint, not evidence.

The order is the path through all documents with the fewest changed sentences between consecutive documents. A path has
two directions. The direction that removes fewer sentences is preferred, because versions mostly add text. A direction
with larger changes at the start is also preferred, because new texts change most. If two documents mention
dates, the document with the later date comes later. In a test with 60 families of versions, the whole order was correct
for 42.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.analysis.ragged_arrays import expand_runs
from simdoc_search.batches import split_by_count
from simdoc_search.cancellation import check_stopped
from simdoc_search.passages.dates import Date
from simdoc_search.sketch.hamming_search import HammingIndex
from simdoc_search.sketch.simhash import Simhashes

MAX_UNCHANGED_DISTANCE = 4
"""Maximum number of simhash bits in which unchanged sentences differ. In a test with 60 families, the whole order was
correct for 42 families with 2 or 4 bits, 41 with 0, 37 with 7, and 32 with 12."""

MAX_EXACT_DOCUMENTS = 11
"""Maximum number of documents for which the best path is guaranteed."""

MAX_SAMPLED_DOCUMENTS = 1_000
"""Up to this number of documents, all pairs are compared. If there are more, a sample of this size is ordered."""

_PAIRS_PER_BATCH, _VALUES_PER_BATCH = 1 << 14, 1 << 10
_MAX_ROUNDS = 20

Ints = NDArray[np.int64]
Costs = NDArray[np.float64]


def count_unchanged_sentences(documents: Sequence[Simhashes]) -> Ints:
    """For each pair of documents, count the sentences that are unchanged. Repeated sentences count once.

    Returns:
        The number of sentences of the row's document that are unchanged in the column's document; int64, shape
        (documents, documents).
    """
    values, value_of = np.unique(np.concatenate([*documents, np.zeros(0, np.uint64)]), return_inverse=True)
    owner = np.repeat(np.arange(len(documents)), [len(sentences) for sentences in documents])
    value, document = np.divmod(distinct(value_of * len(documents) + owner), max(1, len(documents)))
    document_begins = np.searchsorted(value, np.arange(len(values) + 1))  # where the documents of each value begin
    document_counts = np.diff(document_begins)
    queried, near = HammingIndex(values, MAX_UNCHANGED_DISTANCE).find_near(values)
    pair_begins = np.searchsorted(queried, np.arange(len(values) + 1))  # where the pairs of each queried value begin
    # Most sentences are in one document and near no other sentence, so they are only counted.
    is_shared = np.bincount(queried, document_counts[near], len(values)) > 1
    counts: Ints = np.diag(np.bincount(document[~is_shared[value]], minlength=len(documents)))
    shared = np.flatnonzero(is_shared)
    for start in range(0, len(shared), _VALUES_PER_BATCH):  # in batches, to limit memory use
        check_stopped()
        batch = shared[start : start + _VALUES_PER_BATCH]
        is_near, is_in_document = np.zeros((2, len(batch), len(documents)), np.float32)
        row, pair = expand_runs(pair_begins[batch], np.diff(pair_begins)[batch])
        for begin in range(0, len(pair), _PAIRS_PER_BATCH):
            part = slice(begin, begin + _PAIRS_PER_BATCH)
            near_values = near[pair[part]]
            of_pair, position = expand_runs(document_begins[near_values], document_counts[near_values])
            is_near[row[part][of_pair], document[position]] = 1
        row, position = expand_runs(document_begins[batch], document_counts[batch])
        is_in_document[row, document[position]] = 1
        counts += (is_in_document.T @ is_near).astype(np.int64)
    return counts


def order_by_texts(documents: Sequence[Simhashes], dates: Sequence[Date | None]) -> list[int]:
    """Return the indices of documents in a likely order, the oldest first; see `propose_order`.

    If there are more than `MAX_SAMPLED_DOCUMENTS`, a sample is ordered. Documents outside the sample follow the most
    similar document in the sample, except that dates come first.

    Args:
        documents: the simhashes of the sentences of each document.
        dates: the latest date that each document mentions, or None.
    """
    if len(documents) <= MAX_SAMPLED_DOCUMENTS:
        return propose_order(count_unchanged_sentences(documents), dates)
    sample = np.linspace(0, len(documents) - 1, MAX_SAMPLED_DOCUMENTS).astype(np.int64).tolist()
    sampled, dates_of_sample = [documents[number] for number in sample], [dates[number] for number in sample]
    unchanged_counts = count_unchanged_sentences(sampled)
    positions = np.argsort(propose_order(unchanged_counts, dates_of_sample))
    dates_of_sample = _fill_dates(_count_changed_sentences(unchanged_counts), dates_of_sample)
    nearest: list[int] = []
    for batch in split_by_count(documents, len(sample)):
        changed_counts = _count_changed_sentences(count_unchanged_sentences([*sampled, *batch]))
        nearest += changed_counts[len(sample) :, : len(sample)].argmin(axis=1).tolist()
    ranks = _rank_dates([date or dates_of_sample[number] for date, number in zip(dates, nearest, strict=True)])
    order: list[int] = np.lexsort((positions[nearest], ranks)).tolist()
    return order


def propose_order(unchanged_counts: Ints, dates: Sequence[Date | None] | None = None) -> list[int]:
    """Return the indices of the documents in the order of the best path, the oldest first.

    `dates` contains the latest date that each document mentions, or None. A document without a date gets the date of
    the most similar document with a date.
    """
    removed = np.diagonal(unchanged_counts)[:, np.newaxis] - unchanged_counts
    changed_counts = _count_changed_sentences(unchanged_counts)
    ranks = _rank_dates(_fill_dates(changed_counts, dates or [None] * len(unchanged_counts)))
    # A step back in time costs more than all changes together.
    backwards = (ranks[:, np.newaxis] > ranks) * (1 + changed_counts.sum())

    def direction_cost(path: Sequence[int]) -> float:
        """Return the cost of a direction. Removed sentences and changes late in the path increase the cost."""
        steps = np.array(path[:-1], np.int64), np.array(path[1:], np.int64)
        late = np.arange(len(path) - 1) / max(1, len(path) - 2)
        return float((backwards + removed)[steps].sum() + (changed_counts[steps] * late).sum())

    if len(unchanged_counts) <= MAX_EXACT_DOCUMENTS:
        return _choose_direction([], _find_best_path(changed_counts / 2 + backwards), direction_cost)
    order: list[int] = []
    for rank in distinct(ranks):
        group = np.flatnonzero(ranks == rank)
        path = group[_find_good_path(changed_counts[np.ix_(group, group)])].tolist()
        order = _choose_direction(order, path, direction_cost)
    return order


def _count_changed_sentences(unchanged_counts: Ints) -> Ints:
    """For each pair of documents, count the sentences that are only in one of them."""
    counts = np.diagonal(unchanged_counts)
    return counts[:, np.newaxis] + counts - unchanged_counts - unchanged_counts.T


def _fill_dates(changed_counts: Ints, dates: Sequence[Date | None]) -> list[Date | None]:
    """Give each document without a date that of the most similar document with a date."""
    known = [number for number, date in enumerate(dates) if date]
    if not known:
        return list(dates)
    nearest = np.array(known)[changed_counts[:, known].argmin(axis=1)].tolist()
    return [date or dates[other] for date, other in zip(dates, nearest, strict=True)]


def _rank_dates(dates: Sequence[Date | None]) -> Ints:
    """Return the rank of each date. All dates are truncated to the precision of the least precise one."""
    parts = min((len(date) for date in dates if date), default=0)
    truncated = [(date or ())[:parts] for date in dates]
    ranks = {date: rank for rank, date in enumerate(sorted(set(truncated)))}
    return np.array([ranks[date] for date in truncated], np.int64)


def _choose_direction(
    earlier_path: list[int], path: list[int], direction_cost: Callable[[Sequence[int]], float]
) -> list[int]:
    """Append a path to `earlier_path` in its better direction. In a tie, the end with the smaller index comes first."""
    forwards = path if path[:1] <= path[-1:] else path[::-1]
    return min([*earlier_path, *forwards], [*earlier_path, *forwards[::-1]], key=direction_cost)


def _find_best_path(cost: Costs) -> list[int]:
    """Return the cheapest path by dynamic programming over sets of documents (Bellman 1962; Held, Karp 1962)."""
    count = len(cost)
    if not count:
        return []
    best = np.full((1 << count, count), np.inf)
    predecessors = np.full((1 << count, count), -1)
    best[1 << np.arange(count), np.arange(count)] = 0
    for visited in range(1, 1 << count):
        reached = best[visited][:, np.newaxis] + cost
        cheapest, previous = reached.min(axis=0), reached.argmin(axis=0)
        for number in range(count):
            larger = visited | 1 << number
            if larger != visited and cheapest[number] < best[larger, number]:
                best[larger, number], predecessors[larger, number] = cheapest[number], previous[number]
    visited, last = (1 << count) - 1, int(best[-1].argmin())
    path = [last]
    while predecessors[visited, last] >= 0:
        visited, last = visited ^ 1 << last, int(predecessors[visited, last])
        path.append(last)
    return path[::-1]


def _find_good_path(changed_counts: Ints) -> list[int]:
    """Return a cheap path. Each document is inserted where it costs least. Documents are then moved to reduce the cost.

    The path need not be the best one.
    """
    path: list[int] = []
    for number in range(len(changed_counts)):
        path.insert(_find_cheapest_position(changed_counts, path, number), number)
    for _ in range(_MAX_ROUNDS):
        check_stopped()
        previous_cost = _path_cost(changed_counts, path)
        for number in list(path):
            path.remove(number)
            path.insert(_find_cheapest_position(changed_counts, path, number), number)
        if _path_cost(changed_counts, path) >= previous_cost:
            break
    return path


def _find_cheapest_position(changed_counts: Ints, path: Sequence[int], number: int) -> int:
    numbers = np.array(path, np.int64)
    added = np.zeros(len(path) + 1)
    added[:-1] += changed_counts[number, numbers]
    added[1:] += changed_counts[numbers, number]
    added[1:-1] -= changed_counts[numbers[:-1], numbers[1:]]
    return int(added.argmin())


def _path_cost(changed_counts: Ints, path: Sequence[int]) -> float:
    numbers = np.array(path, np.int64)
    return float(changed_counts[numbers[:-1], numbers[1:]].sum())
