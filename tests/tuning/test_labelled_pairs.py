"""Thresholds are learned from labelled pairs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.errors import CorpusError
from simdoc_search.tuning import ConfusionCounts, LabelledPair, LearnedThreshold, learn_threshold, read_pairs
from simdoc_search.tuning.labelled_pairs import find_best_threshold


def learn(values: list[float], *labels: bool) -> LearnedThreshold[str]:
    pairs = [LabelledPair(f"a{n}", f"b{n}", label) for n, label in enumerate(labels)]
    return learn_threshold({"setting": values}, pairs)


def test_pairs_are_read_with_their_line_numbers() -> None:
    """Comments and empty lines are skipped, and labels may be in capitals."""
    read = read_pairs(["# judged in March\n", "a\tb\tyes\n", "\n", "a\tc d\tNO\r\n"], "p.tsv")

    assert [LabelledPair("a", "b", True, 2), LabelledPair("a", "c d", False, 4)] == read


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a\tb\tyes", "a b no"], "line 2 of p.tsv is not a pair: 'a b no'; write two ids"),
        (["a\tb\tperhaps"], "line 1 of p.tsv is not a pair"),
        (["a\tb\tyes\t1"], "line 1 of p.tsv is not a pair"),
        (["a\ta\tyes"], "line 1 of p.tsv contains the id 'a' twice"),
        (["a\tb\tyes"], "p.tsv must contain at least one pair labelled yes"),
    ],
)
def test_a_malformed_line_is_named(lines: list[str], message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        read_pairs(lines, "p.tsv")


def test_the_threshold_is_in_the_middle_of_the_widest_gap() -> None:
    result = learn([0.2, 0.8, 0.9, 0.4, 0.0], False, True, True, False, False)

    assert (0.6, ConfusionCounts(2, 2, 0, 3), ()) == (result.threshold, result.counts, result.misclassified_pairs)


def test_pairs_that_no_threshold_separates_are_counted() -> None:
    """For example, invoices that differ in one number overlap more than edited copies."""
    result = learn([0.7, 0.8, 0.75, 0.99, 0.1, 0.2], True, True, True, False, False, False)

    assert (ConfusionCounts(3, 3, 1, 3), ["a3"]) == (
        result.counts,
        [pair.first_id for pair in result.misclassified_pairs],
    )
    assert 0.2 < result.threshold < 0.7
    assert result.cross_validated_counts.balanced_error > 0
    assert result.counts.is_useful


def test_a_threshold_no_better_than_guessing_is_not_useful() -> None:
    assert not learn([0.5, 0.6, 0.98, 0.99], True, True, False, False).counts.is_useful


def test_many_pairs_of_one_label_do_not_outvote_the_other() -> None:
    """Classifying all pairs as yes would make the fewest mistakes, but is not the best."""
    result = learn([*(0.5 + n / 100 for n in range(20)), 0.525, 0.535], *[True] * 20, False, False)

    assert ConfusionCounts(16, 20, 0, 2) == result.counts
    assert 0.53 < result.threshold < 0.55


@given(st.lists(st.tuples(st.integers(0, 40).map(lambda number: number / 40), st.booleans()), min_size=1))
def test_a_threshold_is_optimal_and_has_few_digits(values: list[tuple[float, bool]]) -> None:
    yes = sum(label for _, label in values)

    def cost(threshold: float) -> int:
        missed = sum(label and value < threshold for value, label in values)
        taken = sum(not label and value >= threshold for value, label in values)
        return missed * (len(values) - yes) + taken * yes

    threshold = find_best_threshold(values)
    assert cost(threshold) == min(cost(at / 80) for at in range(83))
    assert len(f"{threshold:g}") <= 5
