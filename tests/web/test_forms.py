"""What a body says: as much as a parser of the whole would read, at a cost that its bytes bound."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, quote_plus, urlencode

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.web import forms
from simdoc_search.web.forms import Values, check_values, values_of
from simdoc_search.web.limits import PART_HEAD_BYTES, VALUE_LETTERS, VALUES
from simdoc_search.web.request import Upload
from simdoc_search.web.request_body import Body, BodyError

JSON, FORM, PARTS = "application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=y"

_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
_scalars = _texts | _numbers | st.booleans()


def as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@given(st.dictionaries(_texts, st.none() | _scalars | st.lists(_scalars, max_size=3), max_size=5), st.booleans())
def test_json_is_read_as_a_json_parser_reads_it(values: dict[str, Any], escaped: bool) -> None:
    """Names and values of a flat object, however it is spaced and escaped; null is no value."""
    wanted = {
        name: list(map(as_text, value if isinstance(value, list) else [value]))
        for name, value in values.items()
        if value is not None
    }
    for indent in (None, 2):
        data = json.dumps(values, ensure_ascii=escaped, indent=indent).encode()
        assert (wanted, None) == values_of(Body(JSON, data))


@given(st.lists(st.tuples(_texts, _texts), max_size=5))
def test_a_form_is_read_as_it_was_written(pairs: list[tuple[str, str]]) -> None:
    """Letters of any script, and signs that separate."""
    found, _ = values_of(Body(FORM, urlencode(pairs).encode()))

    assert parse_qs(urlencode(pairs), keep_blank_values=True) == found


@pytest.mark.parametrize("piece", [3, 4, 5, 7])
def test_an_escape_is_whole_wherever_a_value_is_cut(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces end before it; a sign that is no escape stays."""
    monkeypatch.setattr(forms, "_PIECE", piece)
    text = "漢字 a+b 100% é" * 5

    assert {"text": [text]} == values_of(Body(FORM, f"text={quote_plus(text)}".encode()))[0]
    assert {"text": ["%%%4%zz%4"]} == values_of(Body(FORM, b"text=%%%4%zz%4"))[0]


@given(st.dictionaries(st.sampled_from(["a", "text", "漢字", "é b"]), _texts, min_size=1), st.binary(max_size=50))
def test_a_form_with_a_file_is_read_as_it_was_written(values: dict[str, str], data: bytes) -> None:
    """Names, values, and the bytes of the file."""
    request = httpx.Request("POST", "http://x", data=values, files={"file": ("a.txt", data)})
    found = values_of(Body(request.headers["content-type"], request.read()))

    assert ({name: [value] for name, value in values.items()}, Upload("a.txt", data)) == found


def test_a_file_that_was_not_chosen_is_none() -> None:
    """A browser sends it without a name."""
    head = b'--y\r\nContent-Disposition: form-data; name="file"; filename=""\r\n\r\n\r\n--y--\r\n'

    assert ({}, None) == values_of(Body(PARTS, head))


def part(name: str, *headers: str) -> bytes:
    lines = ["--y", f'Content-Disposition: form-data; name="{name}"', *headers, "", "b", ""]
    return "\r\n".join(lines).encode()


ANY = 0  # the parser of forms has a limit of its own, in some versions
FILE = b'--y\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nb\r\n'

REFUSED: list[tuple[str, str, bytes, int]] = [
    ("many numbers", JSON, b'{"a":[' + b"1," * VALUES + b"1]}", 413),
    ("many names", JSON, b"{" + b",".join(b'"%d":1' % each for each in range(VALUES)) + b"}", 413),
    ("lists in a list", JSON, b'{"a":[' + b"[]," * 1_000_000 + b"[]]}", 400),
    ("a deep list", JSON, b'{"a":' + b"[" * 1_000_000, 400),
    ("an object in an object", JSON, b'{"a":{"b":1}}', 400),
    ("something behind it", JSON, b'{"a":1} {}', 400),
    ("a name that is a number", JSON, b"{1:1}", 400),
    ("many fields", FORM, b"a=b&" * VALUES, 413),
    ("separators only", FORM, b"&" * 1_000_000, 413),
    ("many parts", PARTS, part("a") * (VALUES + 1) + b"--y--\r\n", 413),
    ("many headers", PARTS, part("a", *(["a: b"] * PART_HEAD_BYTES)) + b"--y--\r\n", ANY),
    ("a long name", PARTS, part("a" * (PART_HEAD_BYTES + 1)) + b"--y--\r\n", ANY),
    ("two files", PARTS, FILE * 2 + b"--y--\r\n", 400),
    ("no end", PARTS, part("a"), 400),
    ("a long boundary", f"multipart/form-data; boundary={'y' * 10_000}", b"--y\r\n", 400),
]


@pytest.mark.parametrize(("kind", "data", "status"), [each[1:] for each in REFUSED], ids=[each[0] for each in REFUSED])
def test_a_body_that_would_cost_more_than_its_bytes_is_refused(kind: str, data: bytes, status: int) -> None:
    """With a sentence, before its values are made."""
    with pytest.raises(BodyError) as error:
        values_of(Body(kind, data))

    assert status in (ANY, error.value.status)


def test_a_number_of_a_million_digits_is_not_computed() -> None:
    """It is a text as any other value; it is refused for its length."""
    values, _ = values_of(Body(JSON, b'{"size":' + b"9" * 1_000_000 + b"}"))
    with pytest.raises(BodyError, match=r"'size' has 1,000,000 characters"):
        check_values(values)


@pytest.mark.parametrize("values", [{"id": ["x" * (VALUE_LETTERS + 1)]}, {"x" * (VALUE_LETTERS + 1): ["1"]}])
def test_only_a_text_may_be_long(values: Values) -> None:
    """No other value, and no name."""
    check_values({"text": ["x" * 10 * VALUE_LETTERS], "id": ["x" * VALUE_LETTERS]})
    with pytest.raises(BodyError):
        check_values(values)


@given(st.sampled_from([JSON, FORM, PARTS, "multipart/form-data", "text/plain", ""]), st.data())
def test_any_bytes_are_read_or_refused(kind: str, draw: st.DataObject) -> None:
    """No other error comes of them."""
    signs = [
        b'{"a":',
        b"[1,",
        b"]",
        b"}",
        b'"\\u',
        b"--y\r\n",
        b"--y--",
        b"\r\n",
        b"a: b",
        b"=&%",
        b"\xff",
        b"\xef\xbb\xbf",
    ]
    data = draw.draw(st.lists(st.sampled_from(signs) | st.binary(max_size=5), max_size=12).map(b"".join))
    try:
        values, _ = values_of(Body(kind, data))
    except BodyError:
        return
    assert all(isinstance(each, str) for given in values.values() for each in given)
