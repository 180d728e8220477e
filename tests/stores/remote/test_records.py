"""Converts records to documents of an index, and documents to records."""

from __future__ import annotations

import json
import string
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.documents import DocumentKey
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.fields import (
    alternative_names,
    escape_surrogates,
    metadata_term,
    metadata_terms,
)
from simdoc_search.stores.record import Origin, Record
from simdoc_search.stores.remote.fingerprint_value import describe_fault
from simdoc_search.stores.remote.records import to_record, to_sources
from simdoc_search.stores.remote.schema import format_label
from tests.support.stores import comparable_values, record

MAX_TERM_BYTES = 32_766
"""Lucene refuses longer terms."""

TOKEN_IDS_30 = st.sets(st.integers(0, 2**30 - 1), max_size=20).map(
    lambda token_ids: np.array(sorted(token_ids), np.uint32)
)
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)  # includes lone surrogates
TEXT = st.text(max_size=20)
VALUE = TEXT | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.lists(TEXT)
RECORDS = st.builds(
    Record,
    id=st.text(min_size=1, max_size=20),
    token_ids=st.sets(st.integers(0, 2**21 - 1), max_size=20).map(
        lambda token_ids: np.array(sorted(token_ids), np.uint32)
    ),
    shingle_count=st.integers(0, 2**31 - 1),
    digest=TEXT,
    metadata=st.dictionaries(TEXT, VALUE, max_size=4),
    text=st.none() | TEXT,
    origin=st.none() | st.builds(Origin, TEXT, st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1)),
    text_hash=TEXT,
    words_hash=TEXT,
    passages=TOKEN_IDS_30,
)


@given(RECORDS, st.sampled_from(["simdoc", "read_metadata"]))
def test_a_record_is_read_back_from_its_document_with_or_without_its_text(written: Record, field: str) -> None:
    source = json.loads(json.dumps(to_sources([written], Settings(), field=field, store_text=True)[0]))
    (bare,) = to_sources([written], Settings(), field=field, store_text=False)

    assert comparable_values(written) == comparable_values(to_record(DocumentKey(written.id), source, field=field))
    assert {field, "metadata"} == bare.keys()
    assert comparable_values(replace(written, text=None)) == comparable_values(
        to_record(DocumentKey(written.id), bare, field=field)
    )


def test_the_document_of_a_record_is_a_stored_format() -> None:
    origin, token_ids, passages = (
        Origin("/home", 5, 6),
        np.array([1, 2, 2**18], np.uint32),
        np.array([3, 2**30 - 1], np.uint32),
    )
    written = Record("a/b.txt", token_ids, 7, "d", {"n": 1}, "words", origin, "t", "w", passages=passages)

    assert {
        "simdoc": {
            "tokens": "!!# !!$ #!!!",
            "passages": "!!!!% ~~~~~",
            "shingles": 7,
            "buckets": 3,
            "text_hash": "t",
            "words_hash": "w",
            "digest": "d",
            "format": format_label(Settings()),
            "names": ["a/b", "b", "b.txt"],
            "path": "a/b.txt",
            "facts": ["\x00root\x00/home", "n\x001"],
            "origin": {"root": "/home", "size": 5, "mtime_ns": 6, "prefix": ""},
        },
        "metadata": {"n": 1},
        "body": "words",
    } == to_sources([written], Settings(), field="simdoc", store_text=True)[0]
    none = Settings(passages=None)
    assert "passages" not in to_sources([written], none, field="simdoc", store_text=True)[0]["simdoc"]


@given(st.dictionaries(ANY_TEXT, ANY_TEXT | st.lists(ANY_TEXT), max_size=3), ANY_TEXT | st.just("\ud83d\ude00"))
def test_lone_surrogates_become_replacement_characters(metadata: dict[str, Any], text: str) -> None:
    (source,) = to_sources([record("a", text=text, **metadata)], Settings(), field="simdoc", store_text=True)
    expected = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    assert expected == json.loads(json.dumps(source, ensure_ascii=False).encode())["body"]


@given(ANY_TEXT, st.sampled_from(["x", "漢", "\U0001f600", "\ud800"]), st.integers(1, 70_000))
def test_no_term_is_too_long_for_lucene(start: str, character: str, length: int) -> None:
    value = start + character * length
    metadata: dict[str, Any] = {"path": value, "key": value, "漢" * length: "value", "\ud800k" * 300: "\udfff" * length}
    (source,) = to_sources([record("a", [], None, **metadata)], Settings(), field="simdoc", store_text=True)
    ours = source["simdoc"]

    assert max(len(term.encode()) for term in [ours["path"], *ours["facts"]]) <= MAX_TERM_BYTES


@pytest.mark.parametrize("source", [{}, {"simdoc": None}, {"simdoc": {"tokens": None}}])
def test_a_document_without_fingerprint_is_an_empty_record(source: dict[str, Any]) -> None:
    empty = Record("a", np.zeros(0, np.uint32), 0, "")

    assert comparable_values(empty) == comparable_values(to_record(DocumentKey("a"), source, field="simdoc"))


def test_malformed_passages_are_a_fault_and_tokens_are_sorted() -> None:
    source = {"simdoc": {"tokens": "!!$ !!#", "passages": "!!!!! !!!"}}
    document = to_record(DocumentKey("a"), source, field="simdoc")

    assert ([1, 2], []) == (document.token_ids.tolist(), document.passages.tolist())
    assert "has invalid passages ('!!!' is not a token of 5 characters)" == document.fault


@pytest.mark.parametrize("name", ["tokens", "passages"])
@pytest.mark.parametrize("letter", ["é", "\ud800", '"', "\n"])
def test_a_character_outside_the_alphabet_is_a_fault(name: str, letter: str) -> None:
    ours = fingerprint_field("some words of which there are enough for passages too")
    assert ours is not None
    assert "" == describe_fault({"simdoc": ours}, "simdoc", Settings())
    changed = {**ours, name: letter + ours[name][1:]}

    assert f"has invalid {name}" in describe_fault({"simdoc": changed}, "simdoc", Settings())


# --- names and metadata terms, which local stores also use ---


@pytest.mark.parametrize(
    ("id", "names"),
    [
        ("a/b.txt", ["a/b", "b", "b.txt"]),
        ("doc", ["doc"]),
        ("c/doc.tar.gz", ["c/doc.tar", "doc.tar", "doc.tar.gz"]),
        ("x/.hidden", [".hidden", "x/.hidden"]),
        ("folder/", ["folder/"]),
        ("é 漢/ü.txt", ["é 漢/ü", "ü", "ü.txt"]),
        ("m.mbox!Re: it.eml", ["Re: it", "Re: it.eml", "m.mbox!Re: it", "m.mbox!Re: it.eml"]),
        ("a.zip!Wow!.txt", ["Wow!", "Wow!.txt", "a.zip!Wow!", "a.zip!Wow!.txt"]),
        ("a.zip!b.eml!c", ["a.zip!b.eml!c", "c"]),
        ("Wow!.txt", ["Wow!", "Wow!.txt"]),
    ],
)
def test_names_are_the_last_component_and_the_forms_without_extension(id: str, names: list[str]) -> None:
    assert names == alternative_names(id)


@pytest.mark.parametrize(("one", "same"), [(2020, "2020"), (True, "true"), (0.5, "0.5"), (1e30, "1e+30")])
def test_a_metadata_term_is_the_text_form_of_a_value(one: Any, same: str) -> None:
    assert metadata_term("key", one) == metadata_term("key", same)


@given(st.sets(st.text(string.printable, max_size=3) | st.text("xy", min_size=990, max_size=1010), min_size=2))
def test_different_values_have_different_terms(values: set[str]) -> None:
    assert len(values) == len({metadata_term("key", value) for value in values})


def test_metadata_terms_are_sorted_without_repeats() -> None:
    assert ["a\x001", "l\0x", "l\0y"] == metadata_terms(record("id", l=["y", "x", "y"], a=1, e=[]))
    assert "a\\ud800é" == escape_surrogates("a\ud800é")
