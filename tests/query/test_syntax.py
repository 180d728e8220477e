"""Readings of FINGERPRINT strings."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simdoc_search.errors import AmbiguousQueryError, QuerySyntaxError, UnknownDocumentError
from simdoc_search.query.syntax import FingerprintQuery, choose_reading, parse, parse_percentage

UUID = "6f1c2a7e-5b1d-4f0a-9a57-0d3f8b6f2e11"
NODE = f"workspace://SpacesStore/{UUID}"

Percent = int | float | None
Reading = tuple[str, Percent, Percent]


def query(id: str, overlap: Percent = None, probability: Percent = None) -> FingerprintQuery:
    """Return a query from percentages."""
    parts = (None if part is None else Fraction(str(part)) / 100 for part in (overlap, probability))
    return FingerprintQuery(id, *parts)


def stored(*ids: str) -> Callable[[str], Sequence[str]]:
    """Return a function that finds these ids by the whole id, or by the file name without extension."""
    return lambda name: [id for id in ids if name and name in (id, id.rpartition("/")[2].rpartition(".")[0])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("doc123", [("doc123", None, None)]),
        ("doc123_20", [("doc123_20", None, None), ("doc123", 20, None)]),
        ("doc123_20_80", [("doc123_20_80", None, None), ("doc123_20", 80, None), ("doc123", 20, 80)]),
        ("doc123_20%", [("doc123_20%", None, None), ("doc123", 20, None)]),
        ("doc123_20 %_80%", [("doc123_20 %_80%", None, None), ("doc123_20 %", 80, None), ("doc123", 20, 80)]),
        ("doc_12.5", [("doc_12.5", None, None), ("doc", 12.5, None)]),
        ("doc__80", [("doc__80", None, None), ("doc_", 80, None)]),
        ("report_2023", [("report_2023", None, None)]),
        ("a_10_20_80", [("a_10_20_80", None, None), ("a_10_20", 80, None), ("a_10", 20, 80)]),
        (f"{NODE}_20", [(f"{NODE}_20", None, None), (NODE, 20, None)]),
        ("a b/é漢.txt_20", [("a b/é漢.txt_20", None, None), ("a b/é漢.txt", 20, None)]),
        ("  doc_20\n", [("doc_20", None, None), ("doc", 20, None)]),
    ],
)
def test_readings_have_the_longest_id_first(text: str, expected: list[Reading]) -> None:
    """Up to two numbers at the end may be percentages."""
    assert [query(*reading) for reading in expected] == list(parse(text).readings)


@pytest.mark.parametrize(
    "text",
    ["doc_٢٠", "doc_２０", "doc_²", "doc_20_", "doc_", "__", "doc_.5", "doc_5.", "doc_+20", "doc_-20", "doc_1e1"],
)
def test_only_an_ascii_number_is_a_suffix(text: str) -> None:
    """Digits of other scripts, signs, exponents and a trailing underscore are part of the id."""
    assert (query(text),) == parse(text).readings
    assert () == parse(text).invalid_readings


@pytest.mark.parametrize("prefix", ["FINGERPRINT:", "fingerprint:", "Fingerprint: ", " FINGERPRINT:\t"])
def test_the_prefix_may_be_left_out(prefix: str) -> None:
    for rest in ("doc_20_80", '"my_doc_7"_20', "a:b"):
        assert parse(rest).readings == parse(prefix + rest).readings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"my_doc_7"', query("my_doc_7")),
        ('"my_doc_7"_20', query("my_doc_7", 20)),
        ('"my_doc_7"_20%_80 %', query("my_doc_7", 20, 80)),
        (r'"say \"hi\""_20', query('say "hi"', 20)),
        (r'"C:\\docs\\a.txt"', query(r"C:\docs\a.txt")),
        (r'"ends in \\"_20', query("ends in \\", 20)),
        ('" spaces kept "_20', query(" spaces kept ", 20)),
        ('"two\\\nlines"_20', query("two\nlines", 20)),
        ('"é漢"_1_1', query("é漢", 1, 1)),
    ],
)
def test_a_quoted_id_has_one_reading(text: str, expected: FingerprintQuery) -> None:
    """Numbers inside quotes are part of the id. A backslash escapes the next character."""
    assert (expected,) == parse(text).readings


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the query has no id"),
        ("FINGERPRINT:", "the query has no id"),
        ('""', "quoted id is empty"),
        ('"doc', "not closed"),
        ('"doc"x', "'x' after the quoted id is not a number"),
        ('"doc" _20', "' _20' after the quoted id"),
        ('"doc"_20_80_5', "'_5' after the quoted id"),
        ('"doc"_', "overlap '' is not a percentage"),
        ('"doc"_-20', "overlap '-20' is not a percentage"),
        ('"doc"_101', "overlap 101 is over 100"),
        ('"doc"_0.2', "write 20 for 20 %"),
        ('"doc"_0.125', "write 12.5 for 12.5 %"),
        ('"doc"_0.01', "write 1 for 1 %"),
        ('"doc"_20_0.8', "write 80 for 80 %"),
        ('"doc"_20_0', "probability 0 would find nothing"),
        ("doc_150", "overlap 150 is over 100"),
        ("doc_0.2", "write 20 for 20 %"),
        ("doc_20_0.8", "write 80 for 80 %"),
        ("doc_20_0", "probability 0 would find nothing"),
        ("_20", "no id before the numbers"),
        ("_20_80", "no id before the numbers"),
        ("_150", "no id before the numbers"),
    ],
)
def test_strings_without_a_reading_are_refused(text: str, message: str) -> None:
    """`doc_150` means `doc` with 150 %, because no document has the id `doc_150`."""
    with pytest.raises(QuerySyntaxError) as caught:
        choose_reading(parse(text), stored("doc"))

    assert message in str(caught.value)


@pytest.mark.parametrize("id", ['"quoted" 350', '"doc"x', '"doc"_x', '"'])
def test_an_id_can_begin_with_a_quotation_mark(id: str) -> None:
    assert query(id) == choose_reading(parse(id), stored(id))
    assert query(id, 20, 80) == choose_reading(parse(f"FINGERPRINT:{id}_20_80"), stored(id))


def test_a_percentage_is_exact() -> None:
    """12.5 % is 1/8 and 7 % is 7/100, not the nearest floats. 0 and 100 are in range."""
    assert Fraction(1, 8) == parse_percentage("12.5", "overlap")
    assert Fraction(7, 100) == parse_percentage("7", "overlap")
    assert Fraction(0) == parse_percentage("0", "overlap")
    assert Fraction(1) == parse_percentage("100", "probability")


@pytest.mark.parametrize(
    ("text", "ids", "expected"),
    [
        ("doc_20_80", ["doc_20_80"], query("doc_20_80")),
        ("doc_20_80", ["doc_20"], query("doc_20", 80)),
        ("doc_20_80", ["doc"], query("doc", 20, 80)),
        ("report_2023", ["report_2023", "report"], query("report_2023")),
        ("invoice_10", ["invoice_10", "invoic"], query("invoice_10")),
        ("doc_0.2", ["doc_0.2"], query("doc_0.2")),
        ("_20", ["_20"], query("_20")),
        ('"doc"_20', ["doc", "doc_20"], query("doc", 20)),
        ('"doc_20"', ["doc", "doc_20"], query("doc_20")),
        ("doc_20", ["letters/doc.txt"], query("letters/doc.txt", 20)),
        ("doc.txt_20", ["doc.txt", "doc.md"], query("doc.txt", 20)),
    ],
)
def test_the_reading_whose_document_exists_is_chosen(text: str, ids: list[str], expected: FingerprintQuery) -> None:
    """The query has the full id of the document."""
    assert expected == choose_reading(parse(text), stored(*ids))


@pytest.mark.parametrize(
    ("text", "ids", "expected"),
    [
        ("doc_20", ["doc", "doc_20"], [query("doc_20"), query("doc", 20)]),
        ("doc_5_80", ["doc_5_80", "doc_5", "doc"], [query("doc_5_80"), query("doc_5", 80), query("doc", 5, 80)]),
        ("doc_20", ["a/doc.txt", 'b"\\/doc.txt'], [query("a/doc.txt", 20), query('b"\\/doc.txt', 20)]),
        ("doc", ["doc.txt", "doc.md"], [query("doc.txt"), query("doc.md")]),
    ],
)
def test_several_readings_are_an_error_that_lists_them(
    text: str, ids: list[str], expected: list[FingerprintQuery]
) -> None:
    """They can be pasted into a shell."""
    with pytest.raises(AmbiguousQueryError) as caught:
        choose_reading(parse(text), stored(*ids))

    assert [(reading,) for reading in expected] == [parse(written).readings for written in caught.value.readings]
    assert list(caught.value.readings) == shlex.split(str(caught.value).partition("instead: ")[2].replace(", ", " "))


def test_many_readings_are_shown_in_part() -> None:
    """The message shows ten readings. The error object has all of them."""
    ids = [f"{folder}/doc.txt" for folder in range(13)]

    with pytest.raises(AmbiguousQueryError, match=r"\"9/doc.txt\"' and 3 more$") as caught:
        choose_reading(parse("doc"), stored(*ids))

    assert 13 == len(caught.value.readings)


@pytest.mark.parametrize(("text", "id"), [("dok_20_80", "dok"), ("dok", "dok"), ("dok_150", "dok_150")])
def test_an_unknown_document_is_reported_with_similar_ids(text: str, id: str) -> None:
    """The ids are similar to the shortest id that the string can mean."""
    with pytest.raises(UnknownDocumentError, match="did you mean 'doc', 'dog'") as caught:
        choose_reading(parse(text), stored("doc", "dog"), lambda name: ["doc", "dog"] if name == id else [])

    assert (id, ("doc", "dog")) == (caught.value.id, caught.value.suggestions)
    with pytest.raises(UnknownDocumentError, match=r"^no document 'dok"):
        choose_reading(parse(text), stored())


percents = st.decimals("1", "100", places=9).map(Fraction) | st.integers(1, 100).map(Fraction)
numbers = st.none() | percents.map(lambda percent: percent / 100)
any_text = st.text(st.characters(exclude_categories=()))
like_a_query = st.text(st.sampled_from('ab_"\\.:0159% ٢'), max_size=15)


@given(any_text.filter(bool) | like_a_query.filter(bool), numbers | st.just(Fraction(0)), numbers)
def test_a_query_as_a_string_has_one_reading(id: str, overlap: Fraction | None, probability: Fraction | None) -> None:
    query = FingerprintQuery(id, overlap, None if overlap is None else probability)

    assert (query,) == parse(str(query)).readings


@given(any_text | like_a_query)
@example("doc_" + "9" * 5000)
@example('"doc"_1.' + "9" * 5000)
def test_any_text_has_readings_or_is_refused(text: str) -> None:
    readings: tuple[FingerprintQuery, ...] | None = None
    with suppress(QuerySyntaxError):
        readings = parse(text).readings

    assert readings is None or (1 <= len(readings) <= 3 and all(reading.id for reading in readings))
