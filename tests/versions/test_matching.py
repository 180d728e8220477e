"""Which sentences match, and is that enough?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.sketch.limits import BITS, ENOUGH, LEAST, MOST_BITS, THETA, Limits
from simdoc_search.versions.matching import Matched, matched, matched_with_many, shares_by_bits

CENTRES = [0x0123456789ABCDEF, 0xFEDCBA9876543210, 0x5555AAAA3333CCCC, 0xFFFFFFFFFFFFFFFF]


@st.composite
def documents(draw: st.DrawFn) -> list[int]:
    """Sentences around few centres, so that many are near, some just so, and some equal."""
    found = []
    for _ in range(draw(st.integers(0, 12))):
        flipped = draw(st.sets(st.integers(0, 63), max_size=BITS + 2))
        found.append(draw(st.sampled_from(CENTRES)) ^ sum(1 << bit for bit in flipped))
        found += found[-1:] * draw(st.integers(0, 2))
    return draw(st.permutations(found))


def brute_force(a: Sequence[int], b: Sequence[int]) -> tuple[list[tuple[int, int, int]], float, float]:
    """All with all: the pairs with their bits, and both shares."""
    pairs = []
    for at, value in enumerate(a):
        near = [((value ^ other).bit_count(), place) for place, other in enumerate(b)]
        bits, first = min(near, default=(64, 0))
        if bits <= BITS:
            equal = [place for place, other in enumerate(b) if other == b[first]]
            pairs.append((at, equal[min(list(a[:at]).count(value), len(equal) - 1)], bits))

    def share(some: Sequence[int], others: Sequence[int]) -> float:
        near = {one for one in some if any((one ^ other).bit_count() <= BITS for other in others)}
        return len(near) / max(1, len(set(some)))

    return pairs, share(a, b), share(b, a)


def plain(found: Matched) -> tuple[list[tuple[int, int, int]], float, float]:
    """The same form."""
    pairs = zip(found.a.tolist(), found.b.tolist(), found.bits.tolist(), strict=True)
    return list(pairs), found.share, found.share_of_other


@given(documents(), st.lists(documents(), max_size=5))
@pytest.mark.slow
def test_all_are_matched_as_by_brute_force(a: list[int], others: list[list[int]]) -> None:
    """With many at once: which sentence has which, in how many bits, and the share of either."""
    found = matched_with_many(np.array(a, np.uint64), [np.array(each, np.uint64) for each in others])

    assert [brute_force(a, each) for each in others] == [plain(each) for each in found]


@given(documents(), documents(), st.integers(0, MOST_BITS))
def test_the_shares_of_each_number_of_bits_are_those_of_matching(a: list[int], b: list[int], bits: int) -> None:
    """All are computed at once; where nothing is near, it does not matter whether that is few."""
    both = np.array(a, np.uint64), np.array(b, np.uint64)
    one, other = matched(*both, bits), shares_by_bits(*both, MOST_BITS)[bits]

    assert (one.share, one.share_of_other) == (other.share, other.share_of_other)
    assert one.too_few == other.too_few or not other.share


def test_equal_sentences_are_matched_in_order() -> None:
    """A refrain: the first has the first, the second the second; one more has the last."""
    refrain, other = CENTRES[:2]
    found = matched(np.array([refrain] * 3, np.uint64), np.array([other, refrain, other, refrain], np.uint64))

    assert ([(0, 1, 0), (1, 3, 0), (2, 3, 0)], 1.0, 0.5) == plain(found)


def test_the_score_says_how_much_of_one_is_in_the_other() -> None:
    """Just enough is THETA, all of one is 1; a note in a book is no version of the book."""
    limits = Limits()

    assert THETA == limits.score(ENOUGH, LEAST) == limits.score(LEAST, ENOUGH)
    assert limits.score(1.0, LEAST) == 1.0
    assert limits.score(0.25, 0.75) == pytest.approx(THETA + (1 - THETA) / 2)
    assert limits.score(1.0, LEAST - 0.01) is None
    assert limits.score(ENOUGH - 0.01, ENOUGH - 0.01) is None
    assert Limits(1.0, 0.0).score(1.0, 0.001) == 1.0
    assert Limits(0.3, 0.0).score(0.0, 0.0) is None


@pytest.mark.parametrize(("enough", "least"), [(0.0, 0.0), (1.1, 0.1), (0.5, 0.6), (0.5, -0.1), (float("nan"), 0.1)])
def test_limits_that_mean_nothing_are_refused(enough: float, least: float) -> None:
    """Before anything is asked."""
    with pytest.raises(ValueError, match="enough must be over 0"):
        Limits(enough, least)


def test_one_sentence_in_common_makes_no_versions_of_documents_of_several() -> None:
    """Half of a note of two sentences is one; a document of one sentence has no more."""
    one, two, *_ = CENTRES
    far, farther = one ^ 0xFFFFF, two ^ 0xFFFFF << 20
    book = np.array([one, far, farther], np.uint64)

    assert Limits().score_of(matched(np.array([one, two], np.uint64), book)) is None
    assert Limits().score_of(matched(np.array([one, far], np.uint64), book)) is not None
    assert Limits().score_of(matched(np.array([one], np.uint64), book)) is not None
