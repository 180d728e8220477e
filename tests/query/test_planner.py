"""Plans: which tokens, and how many of them, a document must share."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query import BandPlan, ThresholdPlan, plan
from simdoc_search.query.planner import Planner
from simdoc_search.query.s_curve import probability_of_matches
from simdoc_search.sketch.estimate import TokenOverlap
from tests.support.query_plans import satisfies, tokens

Number = float | str | Fraction | None


def test_the_last_band_takes_the_first_tokens() -> None:
    """For 512 tokens, `_80_90` has 43 bands of 12. The last band has the 8 remaining tokens and the first 4."""
    made = plan(tokens(512), 0.8, 0.9, planner="all")

    assert isinstance(made, BandPlan)
    assert (12, 43, 516) == (made.tokens_per_band, len(made.bands), made.clause_count)
    assert tokens(512)[504:] + tokens(4) == made.bands[-1]
    assert satisfies(BandPlan(made.tokens, made.bands), made.bands[-1])
    assert not satisfies(BandPlan(made.tokens, made.bands[:-1]), made.bands[-1])


@pytest.mark.parametrize("planner", ["enough", "all"])
def test_an_identical_document_has_every_band(planner: Planner) -> None:
    """Bands contain only tokens of the query."""
    for count in (1, 2, 7, 100, 511, 512):
        for overlap, probability in [(0.2, 0.8), (0.5, 0.8), (0.9, 0.9), (1, 0.5)]:
            made = plan(tokens(count), overlap, probability, planner=planner)

            assert isinstance(made, BandPlan)
            assert tokens(count) == made.tokens
            assert all(set(band) <= set(made.tokens) and len(set(band)) == made.tokens_per_band for band in made.bands)


@pytest.mark.parametrize(
    ("overlap", "probability", "expected"),
    [(0.8, 0.8, (6, 6)), (0.2, 0.8, (2, 40)), (0.5, 0.8, (5, 51)), (1, 0.8, (5, 1))],
)
def test_planner_enough_uses_few_tokens(overlap: float, probability: float, expected: tuple[int, int]) -> None:
    """The test compares rows and bands for 512 tokens. `_80_80` needs 36 clauses."""
    made = plan(tokens(512), overlap, probability)

    assert isinstance(made, BandPlan)
    assert expected == (made.tokens_per_band, len(made.bands))
    assert tokens(math.prod(expected)) == sum(made.bands, ())


@pytest.mark.parametrize("planner", ["enough", "all"])
@pytest.mark.parametrize("numbers", [(), (0.2,), (0.2, 0.8)])
def test_no_document_satisfies_a_plan_without_tokens(numbers: tuple[float, ...], planner: Planner) -> None:
    made = plan((), *numbers, planner=planner)

    assert () == made.tokens
    assert not satisfies(made, tokens(9))


@pytest.mark.parametrize(
    ("count", "expected"), [(1, 1), (10, 1), (11, 2), (23, 2), (24, 3), (98, 3), (264, 5), (512, 6), (4096, 19)]
)
def test_any_overlap_is_more_than_chance(count: int, expected: int) -> None:
    """An unrelated document has this many matching tokens in at most 1 of 1,000 cases, and one token less in more.

    For up to 10 tokens, one matching token is enough, which 1 of 50 unrelated documents have.
    """
    for overlap in (None, 0, "0", Fraction(0)):
        assert ThresholdPlan(tokens(count), expected) == plan(tokens(count), overlap)
    assert probability_of_matches(count, expected, 1 / 512) <= (0.001 if count > 10 else 0.02)
    assert expected == 1 or probability_of_matches(count, expected - 1, 1 / 512) > 0.001


@given(
    st.integers(1, 600),
    st.integers(1, 600),
    st.integers(0, 600),
    st.fractions(0, 1),
)
def test_any_overlap_finds_all_hits_of_a_certain_query(
    count: int, matched: int, others: int, overlap: Fraction
) -> None:
    """This holds for queries without a probability, whose hits are not verified by texts."""
    compared = TokenOverlap(min(matched, count), min(matched, count), count + others)
    any_overlap, some_overlap = plan(tokens(count)), plan(tokens(count), overlap)

    if some_overlap.is_hit(compared, overlap):
        assert any_overlap.is_hit(compared, None)


@pytest.mark.parametrize("planner", ["enough", "all"])
def test_certainty_needs_no_bands(planner: Planner) -> None:
    """A probability that equals 1 in floating point is treated as certainty, too."""
    for probability in (None, 1, "1", Fraction(1), "0." + "9" * 30):
        assert ThresholdPlan(tokens(512), 103, (103, 2560)) == plan(tokens(512), 0.2, probability, planner=planner)


def test_thresholds_are_exact() -> None:
    """The minimum is rounded up, and the maximum down. 7 % of 100 tokens is 7, but 8 in floating point."""
    assert 8 == math.ceil(100 * 0.07)
    assert [ThresholdPlan(tokens(100), 7, (7, 1428))] * 3 == [
        plan(tokens(100), share) for share in (0.07, "0.07", Fraction(7, 100))
    ]
    for count in (1, 7, 50, 99, 100, 511, 512):
        made = [plan(tokens(count), percent / 100) for percent in range(10, 101)]
        expected = [(-(-count * percent // 100), 100 * count // percent) for percent in range(10, 101)]
        assert [ThresholdPlan(tokens(count), least, (least, most)) for least, most in expected] == made


fingerprints = st.dictionaries(st.integers(0, 15), st.integers(0, 1), min_size=1)


@given(fingerprints, fingerprints, st.fractions(0, 1))
def test_threshold_and_range_lose_nothing(query: dict[int, int], document: dict[int, int], lower: Fraction) -> None:
    """A document passes both if its estimate (equal buckets / buckets filled in either) reaches 10 % or more."""
    estimate = Fraction(len(query.items() & document.items()), len(query.keys() | document.keys()))
    document_tokens = [f"{bucket}:{value}" for bucket, value in document.items()]
    query_tokens = [f"{bucket}:{value}" for bucket, value in query.items()]

    for overlap in {max(estimate * share, Fraction(1, 10)) for share in (1, lower) if estimate >= Fraction(1, 10)}:
        made = plan(query_tokens, overlap)

        assert isinstance(made, ThresholdPlan)
        assert made.token_range
        assert made.token_range[0] <= len(document) <= made.token_range[1]
        assert satisfies(made, document_tokens)


@pytest.mark.parametrize(
    ("overlap", "probability", "message"),
    [
        (20, None, "overlap must be a fraction from 0 to 1, not 20; 20 % is 0.2"),
        (-0.1, None, "overlap must be"),
        ("1.0000001", None, "overlap must be"),
        (math.nan, None, "overlap must be a number"),
        (math.inf, None, "overlap must be a number"),
        ("a fifth", None, "overlap must be a number from 0 to 1, not 'a fifth'"),
        ("1/0", None, "overlap must be a number"),
        ("1e-400", None, "overlap must be a number"),
        ("1e9000000", None, "overlap must be a number"),
        (0.2, 80, "probability must be a fraction from 0 to 1, not 80"),
        (0.2, "9" * 5000, "probability must be a number"),
        (0.2, 0, "probability 0 would find nothing"),
        (None, 0.8, "a probability requires an overlap"),
        (0, 0.8, "a probability requires an overlap"),
    ],
)
def test_bad_numbers_are_refused(overlap: Number, probability: Number, message: str) -> None:
    """They are refused with and without tokens."""
    for count in (0, 8):
        with pytest.raises(QuerySyntaxError) as caught:
            plan(tokens(count), overlap, probability)

        assert message in str(caught.value)


@pytest.mark.parametrize("planner", ["enough", "all"])
@pytest.mark.parametrize("overlap", ["1e-30", "0." + "9" * 30])
def test_fractions_beyond_floating_point_are_planned(planner: Planner, overlap: Number) -> None:
    made = plan(tokens(8), overlap, 0.5, planner=planner)

    assert isinstance(made, BandPlan)
    assert satisfies(made, tokens(8))


def test_an_unknown_planner_is_refused() -> None:
    with pytest.raises(
        QuerySyntaxError, match=r"planner must be 'enough' .* or 'all' \(bands of all tokens\), not 'some'"
    ):
        plan(tokens(8), planner="some")  # type: ignore[arg-type]
