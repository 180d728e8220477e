"""Reading the values of a request."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlencode

import anyio
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException
from starlette.requests import Request

from simdoc_search.web.request import RequestValues, Upload, Uploads, read_values
from simdoc_search.web.request_limits import MAX_VALUE_CHARACTERS, MAX_VALUES

JSON, FORM, PARTS = "application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=y"

_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_scalars = _texts | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans()


def read(media_type: str, body: bytes) -> tuple[RequestValues, Uploads]:
    """The values of a POST with a body."""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    headers = [(b"content-type", media_type.encode())]
    scope = {"type": "http", "method": "POST", "headers": headers, "query_string": b"", "path": "/", "app": None}
    return anyio.run(read_values, Request(scope, receive))


@given(st.dictionaries(_texts, st.none() | _scalars | st.lists(_scalars, max_size=3), max_size=5))
def test_a_flat_json_object_gives_strings(values: dict[str, Any]) -> None:
    """Booleans become `true` and `false`. A null is skipped."""

    def text(value: Any) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)

    expected = {
        name: list(map(text, value if isinstance(value, list) else [value]))
        for name, value in values.items()
        if value is not None
    }
    assert (expected, {}) == read(JSON, json.dumps(values).encode())


@given(st.lists(st.tuples(_texts, _texts), max_size=5))
def test_a_form_is_decoded(pairs: list[tuple[str, str]]) -> None:
    """Names and values may have letters of any script."""
    assert parse_qs(urlencode(pairs), keep_blank_values=True) == read(FORM, urlencode(pairs).encode())[0]


@given(st.dictionaries(st.sampled_from(["a", "text", "漢字", "é b"]), _texts, min_size=1), st.binary(max_size=50))
def test_a_form_may_have_a_file(values: dict[str, str], data: bytes) -> None:
    """Names, values and the bytes of the files are unchanged."""
    files = {"file": ("a.txt", data), "ignore_file": ("b.txt", data)}
    request = httpx.Request("POST", "http://x", data=values, files=files)
    result = read(request.headers["content-type"], request.read())
    uploads = {"file": Upload("a.txt", data), "ignore_file": Upload("b.txt", data)}

    assert ({name: [value] for name, value in values.items()}, uploads) == result


def test_a_file_without_a_name_is_not_an_upload() -> None:
    """Browsers send such a file if none was chosen."""
    body = b'--y\r\nContent-Disposition: form-data; name="file"; filename=""\r\n\r\n\r\n--y--\r\n'

    assert ({}, {}) == read(PARTS, body)


FILE = b'--y\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nb\r\n'
LONG = b"x" * (MAX_VALUE_CHARACTERS + 1)

REFUSED: list[tuple[str, bytes, int]] = [
    (JSON, b"{", 400),
    (JSON, b"[1]", 400),
    (JSON, b'{"text": {"a": 1}}', 400),
    (JSON, b"[" * 100_000, 400),
    (JSON, b'{"size":' + b"9" * 1_000_000 + b"}", 400),
    (JSON, b"\xff\xfe", 400),
    (JSON, b'{"a":[' + b"1," * MAX_VALUES + b"1]}", 413),
    (JSON, b'{"id":"' + LONG + b'"}', 413),
    (FORM, LONG + b"=1", 413),
    (FORM, b"a=b&" * (MAX_VALUES + 1), 400),
    (PARTS, FILE * 2 + b"--y--\r\n", 400),
    (PARTS, FILE * 3 + b"--y--\r\n", 400),
    (PARTS, FILE.replace(b'"file"', b'"other"') + b"--y--\r\n", 400),
    (PARTS, b"--y\r\nno header\r\n\r\nx\r\n--y--\r\n", 400),
    ("multipart/form-data", b"x", 400),
    ("text/plain", b"x", 415),
]


@pytest.mark.parametrize(("media_type", "body", "status"), REFUSED, ids=[str(row[:2])[:40] for row in REFUSED])
def test_a_malformed_or_large_body_is_refused(media_type: str, body: bytes, status: int) -> None:
    """The status depends on the reason."""
    with pytest.raises(HTTPException) as error:
        read(media_type, body)

    assert status == error.value.status_code


@pytest.mark.parametrize("name", ["text", "ignore_text"])
def test_only_texts_may_be_long(name: str) -> None:
    """`text` is the text to search with. The words of `ignore_text` are ignored."""
    body = f"{name}={'x' * 10 * MAX_VALUE_CHARACTERS}".encode()

    assert 10 * MAX_VALUE_CHARACTERS == len(read(FORM, body)[0][name][0])


@given(st.sampled_from([JSON, FORM, PARTS, "multipart/form-data", "text/plain", ""]), st.data())
def test_any_body_gives_strings_or_is_refused(media_type: str, draw: st.DataObject) -> None:
    """No other error occurs."""
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
    body = draw.draw(st.lists(st.sampled_from(signs) | st.binary(max_size=5), max_size=12).map(b"".join))
    try:
        values, _ = read(media_type, body)
    except HTTPException:
        return
    assert all(isinstance(value, str) for given in values.values() for value in given)
