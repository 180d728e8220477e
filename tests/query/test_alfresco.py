"""FINGERPRINT strings as they were in Alfresco."""

from __future__ import annotations

from fractions import Fraction

import pytest

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.alfresco import parse_alfresco
from simdoc_search.query.syntax import FingerprintQuery

UUID = "2c2e0bf2-79a9-4f8e-9b66-9d0b0f8ad0b0"


@pytest.mark.parametrize("prefix", ["", "FINGERPRINT:", "FINGERPRINT: ", "FINGERPRINT:workspace://SpacesStore/"])
@pytest.mark.parametrize(
    ("suffix", "overlap", "probability"),
    [
        ("", None, None),
        ("_", None, None),
        ("_20", "1/5", None),
        ("_20_80", "1/5", "4/5"),
        ("_0.2_0.8", "1/5", "4/5"),
        ("_1_1", "1", "1"),
        ("_1.5", "3/200", None),
        ("_70_100", "7/10", "1"),
    ],
)
def test_the_id_ends_at_the_first_underscore(
    prefix: str, suffix: str, overlap: str | None, probability: str | None
) -> None:
    """A number up to 1 is a fraction, a greater one percent; a node reference is its UUID."""
    shares = [None if each is None else Fraction(each) for each in (overlap, probability)]

    assert FingerprintQuery(UUID, *shares) == parse_alfresco(f"{prefix}{UUID}{suffix}")


@pytest.mark.parametrize(
    "text",
    [
        f"fingerprint:{UUID}_20_80",
        f"Fingerprint : {UUID}_20%_80%",
        f'FINGERPRINT:"{UUID}"_20_80',
        f'fingerprint:"workspace://SpacesStore/{UUID}_20_80"',
        f'"workspace://SpacesStore/{UUID}"_0.2_80',
    ],
)
def test_a_field_is_written_in_any_case_and_its_value_in_quotes(text: str) -> None:
    """As a query of Alfresco's takes it."""
    assert FingerprintQuery(UUID, Fraction(1, 5), Fraction(4, 5)) == parse_alfresco(text)


@pytest.mark.parametrize(
    "text", ["", '"', '"a', 'a"b"', "_20", "FINGERPRINT:", "my_doc_1", "a__80", "a_20_80_5", "a_-1", "a_150", "a_2e1"]
)
def test_what_alfresco_failed_over_is_a_sentence(text: str) -> None:
    """Or found nothing by, without a word."""
    with pytest.raises(QuerySyntaxError) as error:
        parse_alfresco(text)

    assert "\n" not in str(error.value)
