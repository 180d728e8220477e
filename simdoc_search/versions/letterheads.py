"""Decides whether the similar sentences of two documents are too few, or only a letterhead.

All letters and contracts of a company have the same name, address, bank and directors in their first and last lines. In
a short letter, these are half of the sentences. So a pair is not a version if it shares little else. Documents that
share most of their sentences are exempt, because only one sentence of a short document may have changed.

`scripts/versions_truth.py` with the corpus peps_versions finds 789 of the 791 pairs of versions that it finds without
this rule, and 8 instead of 12 false pairs.
"""

from __future__ import annotations

import numpy as np

from simdoc_search.sketch.simhash import Simhashes, hamming_distances

MIN_SHARED_SENTENCES = 2
"""Two versions must share at least this many distinct sentences, unless one of them has fewer.

A single similar sentence, for example in a short note, is weak evidence.
"""

MAX_LETTERHEAD_SENTENCES = 6
"""Maximum number of similar first sentences, and of similar last sentences, that may be a letterhead."""

_MIN_LARGER_SHARE, _MIN_SMALLER_SHARE = 0.8, 0.5
"""If the two shares are at least this, the letterhead counts as any other sentence. The template of a letter has a high
larger share, because it has only a letterhead and a few short lines."""
_END_SENTENCES = 2 * MAX_LETTERHEAD_SENTENCES
"""The number of sentences at each end of a document that may contain a letterhead."""
_MIN_OTHER_SHARE = 0.25
"""Two versions share at least this much of both documents without the letterhead, or `MIN_SHARED_SENTENCES`."""


def has_too_few_matches(
    documents: tuple[Simhashes, Simhashes], similar_counts: tuple[int, int], max_distance: int
) -> bool:
    """Return whether two documents have too few similar sentences to be versions, whatever their shares are.

    Args:
        documents: the distinct sentences of both documents, in the order of their texts.
        similar_counts: number of sentences of each document that have a similar one in the other document.
        max_distance: maximum number of bits in which similar sentences differ.
    """
    counts = len(documents[0]), len(documents[1])
    if min(similar_counts) < min(MIN_SHARED_SENTENCES, *counts):
        return True
    sides = list(zip(similar_counts, counts, strict=True))
    smaller, larger = sorted(similar / max(count, 1) for similar, count in sides)
    if min(counts) < MIN_SHARED_SENTENCES or (larger >= _MIN_LARGER_SHARE and smaller >= _MIN_SMALLER_SHARE):
        return False
    letterhead = _count_letterhead_sentences(*documents, max_distance)
    return min(similar_counts) - letterhead < MIN_SHARED_SENTENCES and any(
        similar - letterhead < _MIN_OTHER_SHARE * (count - letterhead) for similar, count in sides
    )


def _count_letterhead_sentences(a: Simhashes, b: Simhashes, max_distance: int) -> int:
    """Return how many of the first and last sentences of two documents are similar.

    The last sentences of one document may be among the first ones of the other, as a PDF may begin with its footer.
    Sentences may be skipped in one of the documents, but not in both, because such a sentence may have been edited.
    """
    ends_a, ends_b = map(_cut_middle, (a, b))
    are_similar = hamming_distances(ends_a[:, None], ends_b) <= max_distance
    similar_a: list[bool] = np.any(are_similar, axis=1).tolist()
    similar_b: list[bool] = np.any(are_similar, axis=0).tolist()
    return max(
        min(_count_similar_ends(similar_a, skipped), _count_similar_ends(similar_b, 1 - skipped)) for skipped in (0, 1)
    )


def _cut_middle(sentences: Simhashes) -> Simhashes:
    if len(sentences) <= 2 * _END_SENTENCES:
        return sentences
    return np.concatenate([sentences[:_END_SENTENCES], sentences[-_END_SENTENCES:]])


def _count_similar_ends(are_similar: list[bool], max_skipped: int) -> int:
    """Return how many of the first and last sentences are similar to any of the other document."""
    first, used = _count_first_similar(are_similar, max_skipped)
    return first + _count_first_similar(are_similar[used:][::-1], max_skipped)[0]


def _count_first_similar(are_similar: list[bool], max_skipped: int) -> tuple[int, int]:
    """Return how many of the first sentences are similar, and how many sentences these span.

    Between two of them, there may be `max_skipped` others, such as a reference between a name and an address.
    """
    count = used = 0
    for position, is_similar in enumerate(are_similar):
        if is_similar:
            count, used = count + 1, position + 1
        if count == MAX_LETTERHEAD_SENTENCES or position - used >= max_skipped:
            break
    return count, used
