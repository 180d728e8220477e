"""Any external input is read, or rejected with a documented error."""

from __future__ import annotations

import gzip
import io
import string
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simdoc_search.corpus.encoding import decode, is_binary
from simdoc_search.corpus.html import extract_html_text
from simdoc_search.corpus.jsonl import read_jsonl
from simdoc_search.corpus.table_text import extract_table_text
from simdoc_search.corpus.tables import read_table
from simdoc_search.errors import CorpusError, QuerySyntaxError
from simdoc_search.query.syntax import parse, parse_percentage
from simdoc_search.sketch.tokens import ALPHABET, encode
from simdoc_search.sketch.tokens import decode as decode_tokens
from tests.support.fuzzing import fuzzing, is_text, is_valid_item, mixed, value_or_none
from tests.support.slow_cases import examples

_QUERY_PIECES = [
    *("FINGERPRINT:", "doc", "_", "_20", "_80", "_0", "_0.2", "_100", "_101", "_12.5", '"', "\\", " ", "٣", "²"),
]
_JSON_PIECES = [
    *(b'{"id":', b'"a"', b',"text":', b'"words"', b"}", b"\n", b"\r\n", b" ", b"[", b"]", b"{", b",", b":", b'"'),
    *(b"null", b"true", b"1e999", b"-0", b"NaN", b"1" * 30, b"\\ud800", b"\\udc00", b"\xef\xbb\xbf", b"\xff", b"\0"),
    *(b'{"id":"a","text":"words"}\n', b'{"id":1,"text":"words","x":{"y":[1,"z"]}}\n', b"[" * 300),
]
_TABLE_PIECES = [
    *(b"id", b"text", b"id,text\n", b"a,words\n", b"\n", b"\r\n", b"\r", b",", b";", b"\t", b"|", b'"', b'""', b" "),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xe4", b"\0", b"x" * 600, b"\xe2\x80\xa8", b"\x1a"),
]
_HTML_PIECES = [
    *(b"<p>", b"</p>", b"<title>", b"<script>", b"<script/>", b"</script>", b"<!--", b"-->", b"<![CDATA[", b"&amp;"),
    *(b"&#x110000;", b"&#0;", b"&#xd800;", b"<?xml ", b'encoding="utf-16"?>', b'<meta charset="', b'">', b"<", b">"),
    *(b"utf-8", b"rot13", b"idna", b"shift_jis", b"words ", b"<svg>", b"<template>", b"<table>", b"\0", b"\xff\xfe"),
]
_TEXT_PIECES = [
    *(b"words ", "Straße ".encode(), "Straße ".encode("cp1252"), "слово ".encode("koi8-r"), "日本語".encode("euc_jp")),
    *("日本語".encode("iso2022_jp"), "words".encode("utf-16-le"), "words".encode("utf-32-be"), b"\0", b"\xff\xfe\0\0"),
    *(b"\0\0\xfe\xff", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x1b$B\n"),
]


@fuzzing
@given(st.lists(st.sampled_from(_QUERY_PIECES) | st.text(max_size=6), max_size=8).map("".join) | st.text())
@example("")
@example("FINGERPRINT:")
@example("_20_80")
@example("doc_0.2")
@example("doc_20_0")
@example('"doc"_20_80_3')
@example('"a\\')
@example("\ud800_20")
@example("doc_" + "9" * 400)
def test_any_string_is_parsed_or_refused(text: str) -> None:
    parsed = value_or_none(lambda: parse(text), QuerySyntaxError)

    for reading in parsed.readings if parsed else ():
        assert reading.id
        assert 0 <= (reading.overlap or 0) <= 1
        assert 0 < (1 if reading.probability is None else reading.probability) <= 1
        assert (reading,) == parse(str(reading)).readings


@fuzzing
@given(
    st.text(string.digits + ".-+eE_ ٣²½", max_size=24) | st.text(max_size=8),
    st.sampled_from(["overlap", "probability"]),
)
@example("1e400", "overlap")
@example("٣", "overlap")
def test_any_percentage_is_a_share_or_refused(text: str, name: str) -> None:
    share = value_or_none(lambda: parse_percentage(text, name), QuerySyntaxError)

    assert share is None or (isinstance(share, Fraction) and 0 <= share <= 1)


@fuzzing
@given(mixed(_JSON_PIECES))
@example(b'{"id":"a","text":"\\ud800"}')
@example(b'{"id":"a","text":"x","n":' + b"9" * 5000 + b"}")
@example(b"[" * 100_000)
@example(b'{"id":"a","text":"x","m":' + b'{"m":' * 50_000 + b"1" + b"}" * 50_001)
@example(b'{"id":1e309,"text":"x"}')
@example(b"\xef\xbb\xbf\n\xef\xbb\xbf{}")
def test_any_bytes_are_read_as_jsonl(data: bytes) -> None:
    found = list(read_jsonl(io.BytesIO(data)))

    assert [] == [document for document in found if not is_valid_item(document, "stream")]
    assert len(found) <= data.count(b"\n") + 1


@pytest.mark.parametrize("whole", [False, True])
@settings(fuzzing, max_examples=examples(0.4).max_examples)
@given(data=mixed(_JSON_PIECES), cut=st.integers(0, 40), noise=st.binary(max_size=20))
@example(data=b"", cut=0, noise=b"")
@example(data=b'{"id":"a","text":"words"}\n', cut=8, noise=b"")
@example(data=b'{"id":"a","text":"words"}\n', cut=0, noise=b"\x1f\x8b\x08\0")
def test_any_bytes_are_read_as_packed_jsonl(whole: bool, data: bytes, cut: int, noise: bytes) -> None:
    packed = gzip.compress(data)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl.gz"
        path.write_bytes((packed if whole else packed[: max(0, len(packed) - cut)]) + noise)
        found = list(read_jsonl(path))

    assert [] == [document for document in found if not is_valid_item(document, str(path))]


@fuzzing
@given(st.lists(st.text(ALPHABET, min_size=4, max_size=4) | st.text(max_size=6), max_size=5), st.sampled_from([4, 5]))
@example(["é" * 4], 4)
@example(["\ud800abc"], 4)
@example(["\0\0\0\0"], 4)
@example(["abcd"], 4)
@example([], 5)
def test_any_strings_are_tokens_or_refused(tokens: list[str], length: int) -> None:
    token_ids = value_or_none(lambda: decode_tokens(tokens, length), ValueError)

    assert token_ids is None or np.uint32 == token_ids.dtype
    assert token_ids is None or tokens == encode(token_ids, length)
    assert token_ids is not None or not all(len(token) == length and set(token) <= set(ALPHABET) for token in tokens)


@fuzzing
@given(
    mixed(_TEXT_PIECES), st.none() | st.sampled_from(["utf-8", "rot13", "idna", "undefined", "latin-1", "x\0y", "é"])
)
@example(b"\xff\xfe\0", None)
@example(b"\xff\xfe\0\xd8", None)
@example(b"\xff", "undefined")
@example(b"\xe4", "zlib_codec")
def test_any_bytes_are_text_or_binary(data: bytes, declared: str | None) -> None:
    text = decode(data, declared)

    assert is_text(text)
    assert text is None or not is_binary(data)


@fuzzing
@given(mixed(_HTML_PIECES))
@example(b"<p>&#xd800;&#x110000;&#0;</p>")
@example(b"<div>" * 3000 + b"words")
@example(b'<meta charset="undefined"><p>\xe4')
@example(b'<?xml version="1.0" encoding="idna"?><p>\xe4')
def test_any_bytes_are_a_page_or_binary(data: bytes) -> None:
    assert is_text(extract_html_text(data))


@fuzzing
@given(
    data=st.binary(max_size=4).map(b"id,text\n".__add__)
    | mixed(_TABLE_PIECES).map(b"id,text\n".__add__)
    | mixed(_TABLE_PIECES)
)
@example(data=b"id,text\na,\0\n")
@example(data=b'id,text\n"a')
@example(data=b'id,text\na,b\rc,"d\r')
@example(data=b"id,text,id\na,words,b\n")
@example(data=b"\xff\xfei\0d\0,\0t\0e\0x\0t\0\n\0a\0,\0\0\0")
@example(data=b"\n\nid,text\na,words\n")
def test_any_bytes_are_a_table_or_refused(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        path.write_bytes(data)
        found = value_or_none(lambda: list(read_table(path)), CorpusError)

    assert [] == [document for document in found or [] if not is_valid_item(document, str(path))]


@fuzzing
@given(st.binary(max_size=200) | mixed(_TABLE_PIECES))
@example(b'a,b\n"a\n",b\n')
@example(b'a,b\na,"b')
@example(b"a;b\rc;\0")
def test_any_bytes_are_the_text_of_a_table_or_binary(data: bytes) -> None:
    assert is_text(extract_table_text(data))
