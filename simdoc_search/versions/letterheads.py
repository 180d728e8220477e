"""Decides whether the similar sentences of two documents are too few, or only a letterhead.

All letters and contracts of a company have the same name, address, bank and directors in their first and last lines. In
a short letter, these are half of the sentences. So a pair is not a version if it shares little else. Documents that
share four fifths of their sentences are exempt, because only one sentence of a short document may have changed.

`scripts/versions_truth.py` with the corpus peps_versions finds the same 791 pairs of versions with this rule as without
it, and 8 instead of 12 false pairs. Of 864 generated pairs of a contract and a letter with the same letterhead, 217 are
versions without the rule, and one is with it.
"""

from __future__ import annotations

from simdoc_search.sketch.simhash import Simhashes

MIN_SHARED_SENTENCES = 2
"""Two versions must share at least this many distinct sentences, unless one of them has fewer.

A single similar sentence, for example in a short note, is weak evidence.
"""

MAX_LETTERHEAD_SENTENCES = 6
"""Maximum number of similar first sentences, and of similar last sentences, that may be a letterhead."""

MIN_SHARE_WITH_LETTERHEAD = 0.8
"""If the larger share is at least this, the letterhead counts as any other sentence."""

_MIN_OTHER_SHARE = 0.25
"""Two versions share at least this much of both documents without the letterhead, or `MIN_SHARED_SENTENCES`."""

_STEPS = (0, 0), (0, 1), (1, 0)


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
    if any(similar >= MIN_SHARE_WITH_LETTERHEAD * count for similar, count in sides):
        return False
    letterhead = _count_letterhead_sentences(*documents, max_distance)
    return min(similar_counts) - letterhead < MIN_SHARED_SENTENCES and any(
        similar - letterhead < _MIN_OTHER_SHARE * (count - letterhead) for similar, count in sides
    )


def _count_letterhead_sentences(a: Simhashes, b: Simhashes, max_distance: int) -> int:
    """Return how many of the first and last sentences of two documents are similar.

    One document may have one more sentence between two of them, such as a reference between a name and an address.
    """
    window = 2 * MAX_LETTERHEAD_SENTENCES
    head, used_a, used_b = _count_first_similar(a[:window].tolist(), b[:window].tolist(), max_distance)
    last_a, last_b = (values[used:][-window:][::-1].tolist() for values, used in ((a, used_a), (b, used_b)))
    return head + _count_first_similar(last_a, last_b, max_distance)[0]


def _count_first_similar(a: list[int], b: list[int], max_distance: int) -> tuple[int, int, int]:
    """Return how many of the first sentences are similar, and how many sentences of both documents these span."""
    count = first = second = 0
    while count < MAX_LETTERHEAD_SENTENCES:
        for skipped, other_skipped in _STEPS:
            own, other = first + skipped, second + other_skipped
            if own < len(a) and other < len(b) and (a[own] ^ b[other]).bit_count() <= max_distance:
                count, first, second = count + 1, own + 1, other + 1
                break
        else:
            break
    return count, first, second
