"""FINGERPRINT strings as Alfresco reads them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.alfresco import parse_alfresco
from simdoc_search.query.syntax import FingerprintQuery

UUID = "2c2e0bf2-79a9-4f8e-9b66-9d0b0f8ad0b0"


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
def test_the_id_ends_at_the_first_underscore(suffix: str, overlap: str | None, probability: str | None) -> None:
    """A number up to 1 is a fraction, and a larger one is a percentage. The id of a node reference is its UUID."""
    expected = FingerprintQuery(UUID, *(None if share is None else Fraction(share) for share in (overlap, probability)))

    for prefix in ("", "FINGERPRINT:", "FINGERPRINT: ", "FINGERPRINT:workspace://SpacesStore/"):
        assert expected == parse_alfresco(f"{prefix}{UUID}{suffix}")


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
def test_the_field_has_any_case_and_the_value_may_be_quoted(text: str) -> None:
    assert FingerprintQuery(UUID, Fraction(1, 5), Fraction(4, 5)) == parse_alfresco(text)


@pytest.mark.parametrize(
    "text", ["", '"a', 'a"b"', "_20", "FINGERPRINT:", "my_doc_1", "a__80", "a_20_80_5", "a_-1", "a_150", "a_2e1"]
)
def test_malformed_strings_are_refused_in_one_sentence(text: str) -> None:
    """For such strings, Alfresco fails or finds nothing."""
    with pytest.raises(QuerySyntaxError, match=r"\A[^\n]+\Z"):
        parse_alfresco(text)
