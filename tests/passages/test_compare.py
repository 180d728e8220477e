"""Comparisons of two texts."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import Analysis, Settings, compare, fingerprint
from simdoc_search.analysis.words import locate_words
from simdoc_search.passages.align import align
from simdoc_search.passages.differences import find_differences
from simdoc_search.passages.exact_overlap import measures
from simdoc_search.passages.ignored_words import remove_ignored_words
from simdoc_search.passages.inline_diff import place_empty_spans
from simdoc_search.passages.passage import SignificantChange
from simdoc_search.passages.summary import describe_significant_changes, describe_word_measures
from tests.support import strategies, texts

repetitive = st.lists(st.sampled_from(["a", "b", "c", "d.", "E!", "f,"]), max_size=40).map(" ".join)
OTHER = Settings(analysis=Analysis(profile="lowercase", shingle_size=3))


def pair() -> tuple[str, str]:
    """Two texts that share a passage with one change."""
    rng = random.Random("pair")
    passage = texts.text(rng, 80)
    words = passage.split()
    changed = " ".join([*words[:40], "not", *words[40:]])
    return f"{texts.text(rng, 120)} {passage}", f"{changed} {texts.text(rng, 60)}"


@pytest.mark.parametrize("settings", [None, OTHER])
def test_a_comparison_has_all_parts(settings: Settings | None) -> None:
    """All parts follow the given settings."""
    a, b = pair()
    analysis = (settings or Settings()).analysis
    result = compare(a, b, settings=settings)
    exact = measures(a, b, analysis)
    first, second = fingerprint(a, analysis), fingerprint(b, analysis)
    words = locate_words(a, analysis), locate_words(b, analysis)

    assert (exact.jaccard, exact.containment, exact.reverse_containment) == (
        result.jaccard,
        result.containment,
        result.reverse_containment,
    )
    assert exact.multiset == result.multiset
    assert (first.overlap(second), first.interval(second)) == (result.estimate, result.interval)
    assert tuple(align(a, b, analysis=analysis)) == result.passages
    assert tuple(place_empty_spans((a, b), words, find_differences(*words, result.passages))) == result.differences
    assert (200, 141) == result.word_counts


def test_the_share_is_that_of_the_matched_words() -> None:
    """The inserted word is not matched."""
    a, b = pair()
    result = compare(a, b, preset="verbatim")

    assert (80, 80) == result.matched_word_counts
    assert (80 / 200, 80 / 141) == result.covered_shares
    assert ["inserted"] == [difference.kind for difference in result.differences if b[slice(*difference.b)] == "not"]


@given(strategies.texts())
def test_a_text_shares_all_words_with_itself(text: str) -> None:
    """A text without words shares nothing."""
    result = compare(text, text)
    whole = 1.0 if locate_words(text).words else 0.0

    assert (whole, whole, whole) == (result.jaccard, result.containment, result.reverse_containment) == result.multiset
    assert (whole, (whole, whole), ()) == (result.estimate, result.covered_shares, result.differences)
    assert int(whole) == len(result.passages)


@given(repetitive | strategies.texts(), repetitive | strategies.texts(), repetitive)
def test_the_counts_add_up_to_all_words(a: str, b: str, template: str) -> None:
    """Words that are neither matched nor different are counted, and so are those that are both. Some are ignored."""
    whole = compare(a, b)
    remaining, ignored = remove_ignored_words(whole, (a, b), [template], None, min_words=3)

    assert tuple(len(locate_words(text).words) for text in (a, b)) == whole.word_counts
    assert whole.word_counts == tuple(map(sum, zip(remaining.word_counts, ignored, strict=True)))
    for result in (whole, remaining):
        changed = [difference for difference in result.differences if difference.kind != "moved"]
        assert result.word_counts == (
            result.matched_word_counts[0]
            + sum(difference.removed_word_count for difference in changed)
            + result.equal_unmatched_word_counts[0]
            - result.matched_different_word_counts[0],
            result.matched_word_counts[1]
            + sum(difference.added_word_count for difference in changed)
            + result.equal_unmatched_word_counts[1]
            - result.matched_different_word_counts[1],
        )


def test_words_that_are_counted_twice_or_not_at_all_have_a_row() -> None:
    """The first text repeats a sentence. Its last words are too few in a row to be matched."""
    sentence = "The landlord repairs what is broken within three weeks."
    own, other = (" ".join(texts.distinct_words(30, seed)) for seed in (1, 2))
    comparison = compare(f"{sentence} {sentence} {own} ends it here", f"{sentence} {other} ends it here")
    rows = {name: (value, remark) for name, value, remark in describe_word_measures(comparison)}

    assert "3 words of each text" == rows["equal, not matched"][0]
    assert ("9 words of the first text", "which are repeated") == rows["in common and different"]
    assert 4 == len(describe_word_measures(compare(sentence, sentence)))


def test_a_common_word_between_two_changes_of_a_passage_has_a_row() -> None:
    """It is frequent, so it may be equal by chance and is not matched. It is in no difference."""
    own, other = (" and ".join([" ".join(texts.distinct_words(15, seed))] * 10) for seed in (1, 2))
    before, after = (
        "the parish of Saint Olave reported how the totals stood at",
        "Of the dead many drew water from the pump",
    )
    a, b = f"{own}. {before} 212 and 97. {after}", f"{other}. {before} 238 and 104. {after}"
    comparison = compare(a, b)
    rows = {row.name: row.value for row in describe_word_measures(comparison)}

    assert "20 words in 1 passage" == rows["in common"]
    assert "1 word of each text" == rows["equal, not matched"]


# --- significant changes ---

BEGIN = "The tenant pays the landlord a monthly rent for the flat on the second floor. "


def significant_changes(old: str, new: str) -> list[SignificantChange]:
    """The significant changes between two texts with the same beginning."""
    return list(compare(BEGIN + old, BEGIN + new).significant_changes)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("The rent is 850 euros.", "The rent is 890 euros.", SignificantChange("number", "The rent is", "850", "890")),
        ("It is 500 euros.", "It is -500 euros.", SignificantChange("number", "It is", "500", "-500")),
        ("It may be let.", "It may not be let.", SignificantChange("negation", "It may", "", "not")),
        ("Er darf keine Hunde halten.", "Er darf Hunde halten.", SignificantChange("negation", "Er darf", "keine", "")),
        ("It is let to Mr Smith.", "It is let to Mr Jones.", SignificantChange("name", "to Mr", "Smith", "Jones")),
        ("It ends on 12 March 2021 at noon.", "It ends on 14 March 2021 at noon.",
         SignificantChange("date", "ends on", "12 March 2021", "14 March 2021")),
        ("It ends on 12 March 2021 at noon.", "It ends on 12 April 2021 at noon.",
         SignificantChange("date", "ends on", "12 March 2021", "12 April 2021")),
        ("It ends on 2024-05-03 at noon.", "It ends on 2024-03-05 at noon.",
         SignificantChange("date", "ends on", "2024-05-03", "2024-03-05")),
        ("As of: 1. März\n2023 or so.", "As of: 15. Juni 2023 or so.",
         SignificantChange("date", "As of:", "1. März 2023", "15. Juni 2023")),
        ("It is -5 degrees.", "It is 6 degrees.", SignificantChange("number", "It is", "-5", "6")),
        ("It is 5 degrees.", "It is -6 degrees.", SignificantChange("number", "It is", "5", "-6")),
        ("Pay €5 now.", "Pay $6 now.", SignificantChange("number", "Pay", "€5", "$6")),
        ("Pay 5 % now.", "Pay 6 ‰ now.", SignificantChange("number", "Pay", "5 %", "6 ‰")),
        ("Pay 5½ now.", "Pay 6¼ now.", SignificantChange("number", "Pay", "5½", "6¼")),
        ("Pay 3/4 now.", "Pay 4/3 now.", SignificantChange("number", "Pay", "3/4", "4/3")),
        ("Pay €5 now.", "Pay $5 now.", SignificantChange("number", "Pay", "€5", "$5")),
        ("Pay 5 % now.", "Pay 5 now.", SignificantChange("number", "Pay", "5 %", "5")),
        ("Take 5 mg now.", "Take 5 g now.", SignificantChange("number", "Take", "5 mg", "5 g")),
        ("Pay 1,250 now.", "Pay 1.250 now.", SignificantChange("number", "Pay", "1,250", "1.250")),
        ("Pay 1.250,50 now.", "Pay 1,250.50 now.", SignificantChange("number", "Pay", "1.250,50", "1,250.50")),
        ("Pay 10,125 now.", "Pay 10.125 now.", SignificantChange("number", "Pay", "10,125", "10.125")),
        ("Pay 12,5 now.", "Pay 1.25 now.", SignificantChange("number", "Pay", "12,5", "1.25")),
        ("Take 5mg now.", "Take 6mg now.", SignificantChange("number", "Take", "5mg", "6mg")),
        ("Pay EUR 5 now.", "Pay USD 5 now.", SignificantChange("number", "Pay", "EUR 5", "USD 5")),
        ("Pay EUR 5 now.", "Pay 5 now.", SignificantChange("number", "Pay", "EUR 5", "5")),
        ("Pay now 5 €", "Pay now 5 $", SignificantChange("number", "Pay now", "5 €", "5 $")),
        ("Pay 5 € first.", "Pay 5 $ then.", SignificantChange("number", "Pay", "5 €", "5 $")),
        ("It is the 1st flat.", "It is the 2nd flat.", SignificantChange("number", "is the", "1st", "2nd")),
        ("It has 30-day terms.", "It has 60-day terms.", SignificantChange("number", "It has", "30", "60")),
        ("It is version 1.10 now.", "It is version 1.9 now.", SignificantChange("number", "version", "1.10", "1.9")),
        ("Das kostet 제5조 hier.", "Das kostet 제6조 hier.", SignificantChange("number", "kostet", "제5조", "제6조")),
        ("Drive 50 km/h here.", "Drive 50 mph here.", SignificantChange("number", "Drive", "50 km/h", "50 mph")),
        ("It is ½ here.", "It is 1/3 here.", SignificantChange("number", "It is", "½", "1/3")),
        ("If x ≥ 5 then.", "If x ≤ 5 then.", SignificantChange("number", "If x", "≥ 5", "≤ 5")),
        ("If x = 5 then.", "If x ≠ 5 then.", SignificantChange("number", "x", "= 5", "≠ 5")),
        ("About 1e5 items.", "About 1e6 items.", SignificantChange("number", "", "1e5", "1e6")),
        ("At 2021-04-03T10:00 sharp.", "At 2021-04-03T11:00 sharp.",
         SignificantChange("number", "", "2021-04-03T10:00", "2021-04-03T11:00")),
        ("A grid of 3x4 cells.", "A grid of 3x5 cells.", SignificantChange("number", "grid of", "3x4", "3x5")),
        ("It costs 5K now.", "It costs 6K now.", SignificantChange("number", "It costs", "5K", "6K")),
        ("For three years.", "For four years.", SignificantChange("number", "For", "three", "four")),
        ("For one year.", "For two years.", SignificantChange("number", "For", "one year", "two years")),
        ("For twenty-one days.", "For 20 days.", SignificantChange("number", "For", "twenty-one", "20")),
        ("At 5 mW now.", "At 5 MW now.", SignificantChange("number", "At", "5 mW", "5 MW")),
        ("PUMP 5 mW NOW.", "PUMP 5 MW NOW.", SignificantChange("number", "PUMP", "5 mW", "5 MW")),
        ("It is 1.000 now.", "It is 1 now.", SignificantChange("number", "It is", "1.000", "1")),
        ("It is 1.10 now.", "It is 1.1 now.", SignificantChange("number", "It is", "1.10", "1.1")),
        ("Open Room B12 now.", "Open Room B13 now.", SignificantChange("name", "Room", "B12", "B13")),
    ],
)  # fmt: skip
def test_a_significant_change_has_the_words_before_it(old: str, new: str, expected: SignificantChange) -> None:
    """A significant change is a negation, a number, a date or a name."""
    (change,) = significant_changes(old, new)

    assert expected.kind == change.kind
    assert change.preceding_words.endswith(expected.preceding_words)
    assert expected[2:] == change[2:]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("It is changed50 here.", "It is changed51 here."),
        ("It is v2 here.", "It is v3 here."),
        ("It is v1.10 here.", "It is v1.9 here."),
        ("It is file_2 here.", "It is file_3 here."),
        ("It is 5a here.", "It is 5b here."),
        ("It is 123e4567-e89b-12d3-a456-426614174000 here.", "It is 123e4567-e89b-12d3-a456-426614174001 here."),
        ("It is 123e4567-e89b-12d3-a456-426614174000 here.", "It is 123e4567-e89b-12d3-4444-426614174000 here."),
        ("It is a note² here.", "It is a note³ here."),
        ("It is on pages 5-7 here.", "It is on pages 5–7 here."),
        ("It is −5 here.", "It is -5 here."),
        ("It is １２ here.", "It is 12 here."),
        ("It is 5 % here.", "It is 5% here."),
        ("It is ½ here.", "It is 1/2 here."),
        ("It is ½ here.", "It is about ½ here."),
        ("It is big ½ here.", "It is small ½ here."),
        ("It is 5 µg here.", "It is 5 \u03bcg here."),
        ("It is 1250,88 here.", "It is 1250.88 here."),
        ("It is -0,5 % here.", "It is -0.5 % here."),
        ("It is 0,125 here.", "It is 0.125 here."),
        ("It is 50 here.", "It is 50.0 here."),
        ("It is 50,00 € here.", "It is 50 € here."),
        ("It is 1,7 l here.", "It is 1,7 L here."),
        ("It is 200 g of salt here.", "IT IS 200 G OF SALT HERE."),
        ("It is three here.", "It is 3 here."),
        ("It is 3 April 2021 here.", "It is April 3, 2021 here."),
        ("He doesn't pay.", "He doesn’t pay."),
        ("Mr O'Brien pays.", "Mr O’Brien pays."),
        ("In the Café here.", "In the Cafe\u0301 here."),
        ("Hello there.", "\ufeffHello there."),
    ],
)
def test_the_digits_of_an_identifier_and_another_spelling_are_not_significant(old: str, new: str) -> None:
    assert [] == significant_changes(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The harbour “was” quiet.", "THE HARBOUR “WAS” QUIET."),
        ("We met Mr Smith (of Bonn).", "We met MR SMITH of BONN."),
        ("We saw the Big-Small cat here.", "We saw the big-small cat here."),
        ("We saw it in der Straße here.", "We saw it in der STRASSE here."),
        ("We use room B12 here.", "We use room b12 here."),
    ],
)
def test_another_letter_case_is_not_another_name(old: str, new: str) -> None:
    comparison = compare(BEGIN + old, BEGIN + new)

    assert comparison.character_differences
    assert () == comparison.significant_changes


def test_a_changed_name_is_significant_in_another_letter_case() -> None:
    changes = significant_changes("We met Mr Smith of Bonn.", "WE MET MR JONES OF BONN.")
    [removed] = significant_changes("We met Bill and Bill today.", "We met bill today.")

    assert [SignificantChange("name", "WE MET MR", "Smith", "JONES", "We met Mr")] == changes
    assert SignificantChange("name", "We met", "Bill and Bill", "bill") == removed


def test_a_long_difference_has_a_significant_change_of_each_kind() -> None:
    """A long side is reduced to its key words, and so is the other side. A date is shown as a whole."""
    old = "Signed in Berlin on 4 September 2022"
    new = f"The tenant carries repairs of up to 100 euros for each repair and 300 euros a year. {old}".replace(
        "4 September 2022", "17 January 2024"
    )
    changes = significant_changes(f"{old}.", f"{new}.")

    assert [
        SignificantChange("number", "of up to", "", "100 … 300"),
        SignificantChange("date", "in Berlin on", "4 September 2022", "17 January 2024"),
    ] == changes


@pytest.mark.parametrize(
    ("old_end", "new_end", "line"),
    [
        ("Side agreements in any form whatsoever between the parties of this contract are not valid at all.", "",
         "negation: this contract are “not” (removed)"),
        ("", "Side agreements in any form whatsoever between the parties of this contract are not valid at all.",
         "negation: this contract are “not” (added)"),
        ("Each of the tenants of the ground floor pays a contribution of 50 euros in the month.", "",
         "number: a contribution of “50” (removed)"),
        ("It was signed by all of the parties who are named above in the town hall on 3 May 2021.", "",
         "date: town hall on “3 May 2021” (removed)"),
        ("Each of the tenants of the ground floor pays a contribution of 50 euros in the month.",
         "Whoever lives below the roof owes the landlord for the use of the garden altogether 60 pounds.",
         "number: a contribution of “50” → the garden altogether “60”"),
    ],
)  # fmt: skip
def test_the_words_before_a_quoted_word_are_those_of_its_own_text(old_end: str, new_end: str, line: str) -> None:
    """Removed words are not quoted behind words of the newer text, which could reverse their meaning."""
    start = "The tenant may put two raised beds at the south wall. "
    changes = significant_changes(start + old_end, start + new_end)

    assert line in describe_significant_changes(changes)


def test_the_words_of_a_significant_change_are_whole() -> None:
    """Many names end with an ellipsis, and a long word before a change is left out."""
    names = " ".join(f"Name{letter}son" for letter in "ABCDEFGHIJ")
    [change] = significant_changes("We met nobody.", f"We met {names} and nobody.")
    [number] = significant_changes("Our Donaudampfschifffahrtsgesellschaft pays sums of 1 euro.",
                                   "Our Donaudampfschifffahrtsgesellschaft pays sums of 2 euro.")  # fmt: skip

    assert "NameAson … NameBson … NameCson … NameDson … NameEson …" == change.new
    [name] = significant_changes("Pay plan v2 EUR now.", "Pay plan v2 USD now.")

    assert "pays sums of" == number.preceding_words
    assert SignificantChange("name", "Pay plan v2", "EUR", "USD") == name


def test_the_words_before_a_change_are_in_its_sentence() -> None:
    [change] = significant_changes("Pay 480.50 euros.", "Pay 430.50 euros.")
    [first] = significant_changes("12 euros are due.", "13 euros are due.")
    [after_colon] = significant_changes("As of: 3 May 2021.", "As of: 4 May 2021.")

    assert ("Pay", "the second floor.", "As of:") == (
        change.preceding_words, first.preceding_words, after_colon.preceding_words
    )  # fmt: skip


def test_another_text_is_not_a_significant_change() -> None:
    """A paragraph of up to 100 words may be one."""
    assert ["negation"] == [change.kind for change in significant_changes("", "It is not so. " * 25)]
    assert [] == significant_changes("", "It is not so. " * 26)


def test_a_text_without_spaces_has_more_than_one_significant_change() -> None:
    """Differences in symbols extend to spaces, so all of them touch."""
    wide = "\u4ef7\u683c-12\u5143\uff0c" * 200
    changes = compare(wide, wide.replace("-12", "12").replace("\uff0c", ",")).significant_changes

    assert {"number"} == {change.kind for change in changes}
    assert 5 < len(changes) < 20


def test_significant_changes_are_ordered_by_kind() -> None:
    """Changes of other words are not significant changes."""
    changes = significant_changes(
        "He met Smith twice. He may pay 5 euros.", "He met Jones twice. He may not pay 6 euros."
    )

    assert ["negation", "number", "name"] == [change.kind for change in changes]
    assert [] == significant_changes("A big cat sleeps.", "A small cat sleeps.") == significant_changes("", "")
