"""Which tokens, and how many of them, must a document share?"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query import Bands, Threshold, plan
from simdoc_search.query.planner import Planner
from simdoc_search.query.plans import Plan
from tests.support.often import first

Number = float | str | Fraction | None


def tokens(count: int) -> tuple[str, ...]:
    """Distinct tokens, named as in the reference vectors."""
    return tuple(f"h{number:03}" for number in range(count))


def satisfies(plan: Plan, document: Iterable[str]) -> bool:
    """What a plan means, word by word."""
    has = set(document)
    if isinstance(plan, Threshold):
        return len(has & set(plan.tokens)) >= plan.minimum_match
    return any(has.issuperset(band) for band in plan.bands) and len(has & set(plan.tokens)) >= plan.minimum_match


def test_the_last_band_takes_the_first_tokens() -> None:
    """`_80_90` on 512 tokens is 43 bands of 12; the last has the 8 that remain and the first 4."""
    made = plan(tokens(512), 0.8, 0.9, planner="all")

    assert isinstance(made, Bands)
    assert (12, 43, 516) == (made.rows, len(made.bands), made.clauses)
    assert tokens(512)[504:] + tokens(4) == made.bands[-1]


def test_a_document_with_the_last_bands_tokens_only_is_found() -> None:
    """A planted document that no other band finds satisfies the bands; one token less and it does not."""
    made = plan(tokens(512), 0.8, 0.9, planner="all")
    assert isinstance(made, Bands)
    made = Bands(made.tokens, made.bands)
    planted = made.bands[-1]

    assert satisfies(made, planted)
    assert not satisfies(Bands(made.tokens, made.bands[:-1]), planted)
    assert not any(satisfies(made, set(planted) - {token}) for token in planted)


@pytest.mark.parametrize("planner", ["enough", "all"])
@pytest.mark.parametrize("count", [1, 2, 7, 100, 511, 512])
def test_an_identical_document_has_every_band(planner: Planner, count: int) -> None:
    """Bands hold the query's own tokens and nothing else, so the document itself has them all."""
    for overlap, probability in [(0.2, 0.8), (0.5, 0.8), (0.9, 0.9), (1, 0.5)]:
        made = plan(tokens(count), overlap, probability, planner=planner)

        assert isinstance(made, Bands)
        assert tokens(count) == made.tokens
        assert all(set(band) <= set(made.tokens) and len(set(band)) == made.rows for band in made.bands)


@pytest.mark.parametrize(
    ("overlap", "probability", "expected"),
    [(0.8, 0.8, (6, 6)), (0.2, 0.8, (2, 40)), (0.5, 0.8, (5, 51)), (1, 0.8, (5, 1))],
)
def test_planner_enough_asks_for_few_tokens(overlap: float, probability: float, expected: tuple[int, int]) -> None:
    """(rows, bands) on 512 tokens: `_80_80` needs 36 clauses where all tokens are 512."""
    made = plan(tokens(512), overlap, probability)

    assert isinstance(made, Bands)
    assert expected == (made.rows, len(made.bands))
    assert tokens(math.prod(expected)) == sum(made.bands, ())


@pytest.mark.parametrize("planner", ["enough", "all"])
@pytest.mark.parametrize("asked", [(), (0.2,), (0.2, 0.8)])
def test_no_tokens_plan_nothing(asked: tuple[float, ...], planner: Planner) -> None:
    """A text without words is a plan without tokens, whatever is asked: no document satisfies it."""
    made = plan((), *asked, planner=planner)

    assert () == made.tokens
    assert not satisfies(made, tokens(9))


@pytest.mark.parametrize(("count", "expected"), [(1, 1), (3, 1), (100, 1), (101, 2), (300, 3), (301, 4), (512, 4)])
@pytest.mark.parametrize("overlap", [None, 0, "0", Fraction(0)])
def test_any_overlap_is_more_than_chance(count: int, expected: int, overlap: Number) -> None:
    """Without an overlap 1 % of the tokens must be equal, at most 4: by chance so many are in 0.3 % of pairs."""
    one = -math.expm1(count * math.log1p(-(2.0**-15)))  # chance of one equal token, of 15 bits each

    assert Threshold(tokens(count), expected) == plan(tokens(count), overlap)
    assert 0.0031 > one**expected / math.factorial(expected)


@given(
    st.integers(1, 600),
    st.integers(1, 600),
    st.integers(0, 600),
    st.fractions(0, 1),
    st.none() | st.fractions(0, 1).filter(bool),
    st.sampled_from(["enough", "all"]),
)
def test_any_overlap_never_finds_less(  # noqa: PLR0917 - hypothesis gives them
    count: int, shared: int, further: int, overlap: Fraction, probability: Fraction | None, planner: Planner
) -> None:
    """A document that is found and stays for some overlap does so when any overlap is asked for."""
    shared = min(shared, count)
    anything, some = (
        plan(tokens(count)),
        plan(tokens(count), overlap, probability if overlap else None, planner=planner),
    )
    union = count + further
    found = not isinstance(some, Threshold) or shared >= some.minimum_match

    assert isinstance(anything, Threshold)
    if found and some.stays(shared, union, overlap):
        assert shared >= anything.minimum_match
        assert anything.stays(shared, union, None)


@pytest.mark.parametrize("probability", [None, 1, "1", 1.0, Fraction(1)])
@pytest.mark.parametrize("planner", ["enough", "all"])
def test_probability_one_counts_tokens(probability: Number, planner: Planner) -> None:
    """Certainty needs no bands, whichever planner would cut them."""
    assert Threshold(tokens(512), 103, (103, 2560)) == plan(tokens(512), 0.2, probability, planner=planner)


def test_percents_are_exact() -> None:
    """7 % of 100 tokens is 7, as a float too; floats alone would ask for 8."""
    assert 8 == math.ceil(100 * 0.07)
    assert [Threshold(tokens(100), 7, (7, 1428))] * 3 == [
        plan(tokens(100), s) for s in (0.07, "0.07", Fraction(7, 100))
    ]


@pytest.mark.parametrize("count", first(12, [*range(1, 10), 67, 100, 512, *range(10, 67), *range(68, 100), 511, 1000]))
def test_the_threshold_is_that_of_whole_numbers(count: int) -> None:
    """For every whole percent: least match and least buckets round up, most buckets round down."""
    made = [plan(tokens(count), percent / 100) for percent in range(1, 101)]
    expected = [(-(-count * percent // 100), 100 * count // percent) for percent in range(1, 101)]

    assert [Threshold(tokens(count), least, (least, most)) for least, most in expected] == made


fingerprints = st.dictionaries(st.integers(0, 15), st.integers(0, 1), min_size=1)


@given(fingerprints, fingerprints, st.fractions(0, 1))
def test_threshold_and_range_lose_nothing(query: dict[int, int], document: dict[int, int], lower: Fraction) -> None:
    """Whatever reaches the overlap by estimate, equal buckets / buckets filled in either, passes both."""
    estimate = Fraction(len(query.items() & document.items()), len(query.keys() | document.keys()))
    document_tokens = [f"{bucket}:{value}" for bucket, value in document.items()]
    query_tokens = [f"{bucket}:{value}" for bucket, value in query.items()]

    for overlap in {estimate, estimate * lower} - {0}:
        made = plan(query_tokens, overlap)

        assert isinstance(made, Threshold)
        assert made.buckets
        assert made.buckets[0] <= len(document) <= made.buckets[1]
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
        ("", None, "overlap must be a number"),
        ("1/0", None, "overlap must be a number"),
        (0.2, 80, "probability must be a fraction from 0 to 1, not 80"),
        (0.2, math.nan, "probability must be a number"),
        (0.2, "nan", "probability must be a number"),
        (0.2, "9" * 5000, "probability must be a number"),
        (0.2, 0, "probability 0 would find nothing"),
        (None, 0.8, "a probability needs an overlap"),
        (0, 0.8, "a probability needs an overlap"),
    ],
)
def test_what_is_no_fraction_is_refused(overlap: Number, probability: Number, message: str) -> None:
    """Percents, NaN, rubbish, and a probability of nothing are QuerySyntaxErrors, with or without tokens."""
    with pytest.raises(QuerySyntaxError, match="'enough', 'all' or the rows of a band, not 'some'"):
        plan(tokens(8), planner="some")  # type: ignore[arg-type] # a person may
    for count in (0, 8):
        with pytest.raises(QuerySyntaxError) as caught:
            plan(tokens(count), overlap, probability)

        assert message in str(caught.value)


@pytest.mark.parametrize("planner", ["enough", "all"])
@pytest.mark.parametrize(("overlap", "probability"), [("1e-30", 0.5), ("0." + "9" * 30, 0.5)])
def test_fractions_beyond_floating_point_are_planned(planner: Planner, overlap: Number, probability: Number) -> None:
    """Just below 1 and just above 0 are no different from other fractions."""
    made = plan(tokens(8), overlap, probability, planner=planner)

    assert isinstance(made, Bands)
    assert satisfies(made, tokens(8))


def test_a_probability_next_to_1_is_certainty() -> None:
    """A probability that floating point cannot tell from 1 asks for all documents."""
    assert plan(tokens(8), 0.5) == plan(tokens(8), 0.5, "0." + "9" * 30)


@pytest.mark.parametrize("overlap", ["1e-400", "1e9000000", "0." + "5" * 5000])
def test_numbers_of_unreasonable_length_are_refused(overlap: str) -> None:
    """Exact arithmetic on them would not end, so they are QuerySyntaxErrors at once."""
    with pytest.raises(QuerySyntaxError, match="must be a number from 0 to 1"):
        plan(tokens(8), overlap)


def test_rows_of_a_band_can_be_given() -> None:
    """As the seeds do it: 100 values in rows of 20 are 5 bands; fewer bands where these keep the promise."""
    tokens = [str(number) for number in range(100)]
    five, few = plan(tokens, 0.8, 0.5, planner=20), plan(tokens, 0.8, 0.8, planner=3)
    cut = plan(tokens, 0.8, 0.8, planner=3, banded=7)

    assert isinstance(five, Bands)
    assert isinstance(few, Bands)
    assert (5, 20) == (len(five.bands), five.rows)
    assert (3, 3) == (len(few.bands), few.rows)
    assert few.probability_of_finding(0.8) >= 0.8
    assert isinstance(cut, Bands)
    assert (("0", "1", "2"), ("3", "4", "5")) == cut.bands
    with pytest.raises(QuerySyntaxError, match="a band of 101 rows needs 101 tokens, and there are 100; give fewer"):
        plan(tokens, 0.8, 0.8, planner=101)
    for wrong in (0, -1, True, 2.5):
        with pytest.raises(QuerySyntaxError, match="or the rows of a band, not"):
            plan(tokens, 0.8, 0.8, planner=wrong)  # type: ignore[arg-type]
