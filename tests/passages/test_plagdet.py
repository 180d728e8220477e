"""plagdet, the official measure of text alignment."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.passages.plagdet import Reuse, Score, score
from tests.support.slow_cases import examples

Span = tuple[int, int]
TEXTS = ("suspicious", "source")


def reuse(a: Span, b: Span, texts: tuple[str, str] = TEXTS) -> Reuse:
    return Reuse(texts, a, b)


PLANTED = reuse((100, 200), (1000, 1100))

spans = st.tuples(st.integers(0, 30), st.integers(1, 20)).map(lambda span: (span[0], sum(span)))
reuses = st.sets(st.builds(reuse, spans, spans, st.sampled_from([TEXTS, ("other", "source")])), max_size=4)


def test_a_detection_that_equals_the_passage_is_perfect() -> None:
    """If nothing was planted, finding nothing is also perfect."""
    result = score([PLANTED], [PLANTED])

    assert Score(1.0, 1.0, 1.0, 1, 1) == result
    assert (1.0, 1.0) == (result.f1, result.plagdet)
    assert (1.0, 0.0, 0.0) == (score([], []).plagdet, score([], [PLANTED]).plagdet, score([PLANTED], []).plagdet)


def test_recall_and_precision_count_the_characters_of_both_texts() -> None:
    """A passage that is found in two parts has a granularity of 2."""
    result = score([PLANTED], [reuse((170, 210), (1050, 1100))])
    parts = score([PLANTED], [reuse((100, 150), (1000, 1050)), reuse((150, 200), (1050, 1100))])

    assert (80 / 200, 1.0) == (result.recall, result.granularity)
    assert pytest.approx(80 / 90) == result.precision
    assert pytest.approx(2 * 0.4 * (8 / 9) / (0.4 + 8 / 9)) == result.plagdet
    assert (1.0, 1.0, 2.0) == (parts.recall, parts.precision, parts.granularity)
    assert pytest.approx(1 / math.log2(3)) == parts.plagdet


def test_a_detection_must_meet_the_passage_in_both_texts() -> None:
    """The detection must also be in the same two texts."""
    wrong = [reuse((100, 200), (0, 100)), reuse((300, 400), (1000, 1100)), reuse((100, 200), (1100, 1200))]
    for detection in [*wrong, reuse(PLANTED.a, PLANTED.b, ("suspicious", "another"))]:
        assert Score(0.0, 0.0, 1.0, 1, 1) == score([PLANTED], [detection])


@examples(1.2)
@given(reuses, reuses)
def test_the_measure_follows_its_definition(truth: set[Reuse], found: set[Reuse]) -> None:
    """Recall is computed here from single characters. Precision is the recall of the swapped sets."""

    def places(passage: Reuse) -> set[tuple[str, int]]:
        return {("a", index) for index in range(*passage.a)} | {("b", index) for index in range(*passage.b)}

    def meets(one: Reuse, other: Reuse) -> bool:
        return all({place for place in places(one) & places(other) if place[0] == text} for text in "ab")

    shares, counts = [], []
    for passage in truth:
        detecting = [detection for detection in found if detection.texts == passage.texts and meets(detection, passage)]
        covered = set[tuple[str, int]]().union(*map(places, detecting))
        shares.append(len(places(passage) & covered) / len(places(passage)))
        counts += [len(detecting)] if detecting else []
    result, swapped = score(truth, found), score(found, truth)

    assert pytest.approx(sum(shares) / len(shares) if shares else float(not found)) == result.recall
    assert (sum(counts) / len(counts) if counts else 1.0) == result.granularity
    assert (result.recall, result.precision) == (swapped.precision, swapped.recall)
    assert result == score([*truth, *truth], [*found, *found])
