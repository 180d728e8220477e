"""The official measure of text alignment, against examples reckoned by hand."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.passages.plagdet import Reuse, Score, score

Span = tuple[int, int]
TEXTS = ("suspicious", "source")


def reuse(a: Span, b: Span, texts: tuple[str, str] = TEXTS) -> Reuse:
    """A passage in the texts."""
    return Reuse(texts, a, b)


PLANTED = reuse((100, 200), (1000, 1100))

spans = st.tuples(st.integers(0, 30), st.integers(1, 20)).map(lambda each: (each[0], sum(each)))
reuses = st.sets(st.builds(reuse, spans, spans, st.sampled_from([TEXTS, ("other", "source")])), max_size=4)


def test_what_is_found_as_it_was_planted_is_perfect() -> None:
    """Recall, precision, granularity and plagdet of the truth itself are 1."""
    result = score([PLANTED], [PLANTED])

    assert Score(1.0, 1.0, 1.0, 1, 1) == result
    assert (1.0, 1.0) == (result.f1, result.plagdet)


def test_recall_is_of_the_characters_of_both_texts() -> None:
    """30 of 100 characters here and 50 of 100 there: recall 80/200; of the detection, 80 of 40 + 50."""
    result = score([PLANTED], [reuse((170, 210), (1050, 1100))])

    assert 80 / 200 == result.recall
    assert pytest.approx(80 / 90) == result.precision
    assert 1.0 == result.granularity
    assert pytest.approx(2 * 0.4 * (8 / 9) / (0.4 + 8 / 9)) == result.plagdet


def test_passages_count_alike_whatever_their_length() -> None:
    """A long passage that is found and a short one that is not: recall 1/2."""
    long, short = reuse((0, 9000), (0, 9000)), reuse((9500, 9510), (9500, 9510))

    assert 0.5 == score([long, short], [long]).recall
    assert 1.0 == score([long, short], [long]).precision
    assert 0.5 == score([long], [long, short]).precision
    assert 1.0 == score([long], [long, short]).recall


def test_a_passage_found_in_parts_costs_granularity() -> None:
    """Two halves: all is found, and nothing else, but twice: 1 / log2(3)."""
    result = score([PLANTED], [reuse((100, 150), (1000, 1050)), reuse((150, 200), (1050, 1100))])

    assert (1.0, 1.0, 2.0) == (result.recall, result.precision, result.granularity)
    assert pytest.approx(1 / math.log2(3)) == result.plagdet
    assert pytest.approx(0.63093, abs=1e-5) == result.plagdet


def test_granularity_is_over_passages_that_were_found() -> None:
    """One in three parts, one whole, one not at all: (3 + 1) / 2."""
    parts = [reuse((start, start + 10), (start, start + 10)) for start in (0, 10, 20)]
    truth = [reuse((0, 30), (0, 30)), reuse((50, 60), (50, 60)), reuse((90, 95), (90, 95))]

    assert 2.0 == score(truth, [*parts, truth[1]]).granularity


def test_characters_found_twice_count_once() -> None:
    """Detections that overlap: recall is of their union, here 60 of 100 in both texts."""
    result = score([PLANTED], [reuse((100, 150), (1000, 1050)), reuse((120, 160), (1020, 1060))])

    assert (0.6, 1.0, 2.0) == (result.recall, result.precision, result.granularity)


def test_both_texts_must_be_met() -> None:
    """A detection that names the right place of one text and a wrong one of the other detects nothing."""
    wrong = [reuse((100, 200), (0, 100)), reuse((300, 400), (1000, 1100)), reuse((100, 200), (1100, 1200))]

    for detection in wrong:
        assert Score(0.0, 0.0, 1.0, 1, 1) == score([PLANTED], [detection])
        assert 0.0 == score([PLANTED], [detection]).plagdet


def test_the_same_places_of_other_texts_are_no_find() -> None:
    """Passages are of their two texts."""
    assert 0.0 == score([PLANTED], [reuse(PLANTED.a, PLANTED.b, ("suspicious", "another"))]).recall


def test_one_detection_of_two_passages_detects_both() -> None:
    """What spans two passages and the gap of as many characters between: recall 1, precision 2/3, granularity 1."""
    truth = [reuse((0, 100), (0, 100)), reuse((200, 300), (200, 300))]
    result = score(truth, [reuse((0, 300), (0, 300))])

    assert (1.0, 1.0) == (result.recall, result.granularity)
    assert pytest.approx(2 / 3) == result.precision


def test_nothing_and_nothing_is_perfect() -> None:
    """A clean pair without an alarm scores 1, one with an alarm 0, and so does silence about what was planted."""
    assert 1.0 == score([], []).plagdet
    assert 0.0 == score([], [PLANTED]).plagdet
    assert 0.0 == score([PLANTED], []).plagdet


@settings(max_examples=40)
@given(reuses, reuses)
def test_recall_and_precision_change_places_with_the_sides(truth: set[Reuse], found: set[Reuse]) -> None:
    """Precision is the recall of the detections by the truth; both lie in 0..1, and repeats count once."""
    one, other = score(truth, found), score(found, truth)

    assert (one.recall, one.precision) == (other.precision, other.recall)
    assert 0 <= min(one.recall, one.precision) <= max(one.recall, one.precision) <= 1
    assert one == score([*truth, *truth], [*found, *found])


@settings(max_examples=40)
@given(reuses, reuses, st.randoms())
def test_the_measure_is_its_definition(truth: set[Reuse], found: set[Reuse], rng: random.Random) -> None:
    """Recall counted character by character, as the paper writes it, is the same."""
    shares, counts = [], []
    for case in truth:
        having = [each for each in found if each.texts == case.texts and meets(each, case)]
        characters = places(case)
        covered = set[tuple[str, int]]().union(*map(places, having))
        shares.append(len(characters & covered) / len(characters))
        counts += [len(having)] if having else []
    expected = sum(shares) / len(shares) if shares else float(not found)

    assert pytest.approx(expected) == score(rng.sample(sorted(truth, key=repr), len(truth)), found).recall
    assert (sum(counts) / len(counts) if counts else 1.0) == score(truth, found).granularity


def meets(one: Reuse, other: Reuse) -> bool:
    """True if they share characters of both texts."""
    return all({each for each in places(one) & places(other) if each[0] == text} for text in "ab")


def places(of: Reuse) -> set[tuple[str, int]]:
    """Its characters."""
    return {("a", at) for at in range(*of.a)} | {("b", at) for at in range(*of.b)}
