"""How records lie in an engine's index: as JSON and back without loss, with their names and facts."""

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
from simdoc_search.documents import Place
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import encode
from simdoc_search.stores.fields import fact_term, facts_of, indexable, most_alike, names_of
from simdoc_search.stores.record import Origin, Record
from simdoc_search.stores.remote.fingerprint_value import fault_of
from simdoc_search.stores.remote.records import to_record, to_source
from simdoc_search.stores.remote.schema import format_label
from tests.support.stores import plain, record

MAX_TERM_BYTES = 32_766
"""Lucene refuses a document with a longer term."""
CODES_30 = st.sets(st.integers(0, 2**30 - 1), max_size=20).map(lambda codes: np.array(sorted(codes), np.uint32))
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)  # lone surrogates too
TEXT = st.text(max_size=20)
VALUE = TEXT | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.lists(TEXT)
RECORDS = st.builds(
    Record,
    id=st.text(min_size=1, max_size=20),
    codes=st.sets(st.integers(0, 2**24 - 1), max_size=20).map(lambda codes: np.array(sorted(codes), np.uint32)),
    shingles=st.integers(0, 2**31 - 1),
    digest=TEXT,
    metadata=st.dictionaries(TEXT, VALUE, max_size=4),
    text=st.none() | TEXT,
    origin=st.none() | st.builds(Origin, TEXT, st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1)),
    text_hash=TEXT,
    words_hash=TEXT,
    passages=CODES_30,
)


# --- records ---


@given(RECORDS, st.sampled_from(["simdoc", "fp", "metadata_of"]))
def test_a_record_comes_back_from_its_json(written: Record, field: str) -> None:
    """Every part of it, under any name of our field."""
    source = json.loads(json.dumps(to_source(written, Settings(), field=field, store_text=True)))

    assert plain(written) == plain(to_record(Place(written.id), source, 4, field=field))


@given(RECORDS)
def test_a_text_that_is_not_to_be_stored_is_not_in_the_json(written: Record) -> None:
    """All the rest is."""
    source = to_source(written, Settings(), field="simdoc", store_text=False)

    assert {"simdoc", "metadata"} == source.keys()
    assert plain(replace(written, text=None)) == plain(to_record(Place(written.id), source, 4, field="simdoc"))


def test_the_json_of_a_record_is_a_stored_format() -> None:
    """What other programs find in the index."""
    origin, codes, passages = Origin("/home", 5, 6), np.array([1, 2], np.uint32), np.array([3, 2**30 - 1], np.uint32)
    written = Record("a/b.txt", codes, 7, "d", {"n": 1}, "words", origin, "t", "w", passages=passages)

    assert {
        "simdoc": {
            "tokens": " ".join(encode(np.array([1, 2], np.uint32))),
            "passages": "!!!!% ~~~~~",
            "shingles": 7,
            "buckets": 2,
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
    } == to_source(written, Settings(), field="simdoc", store_text=True)


@given(st.dictionaries(ANY_TEXT, ANY_TEXT | st.lists(ANY_TEXT), max_size=3), ANY_TEXT)
def test_any_characters_can_be_sent(metadata: dict[str, Any], text: str) -> None:
    """JSON in UTF-8 has no lone surrogates: they become U+FFFD, and nothing else is changed."""
    source = to_source(record("a", text=text, **metadata), Settings(), field="simdoc", store_text=True)
    wanted = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    assert wanted == json.loads(json.dumps(source, ensure_ascii=False).encode())["body"]


@given(st.sampled_from(["\ud800", "k", "漢"]), st.sampled_from(["x", "\udfff", "漢"]), st.integers(300, 2000))
def test_any_long_field_can_be_sent(key: str, value: str, length: int) -> None:
    """Terms of metadata are valid UTF-8 also where a hash stands for the value."""
    assert fact_term(key, value * length).encode()


def test_a_pair_of_surrogates_is_one_character() -> None:
    r"""JSON that was written as "\ud83d\ude00" and read half by half is whole again."""
    source = to_source(record("a", text="\ud83d\ude00"), Settings(), field="simdoc", store_text=True)

    assert "\U0001f600" == source["body"]


@given(ANY_TEXT, st.sampled_from(["x", "漢", "\U0001f600", "\ud800"]), st.integers(1, 70_000))
def test_no_term_is_too_long_for_lucene(start: str, character: str, length: int) -> None:
    """Paths and metadata of any length give terms that an engine takes."""
    value = start + character * length
    metadata: dict[str, Any] = {"path": value, "key": value, "漢" * length: "value"}
    written = record("a", [], None, **metadata)
    ours = to_source(written, Settings(), field="simdoc", store_text=True)["simdoc"]

    assert max(len(each.encode()) for each in [ours["path"], *ours["facts"]]) <= MAX_TERM_BYTES


@pytest.mark.parametrize("source", [{}, {"simdoc": None}, {"simdoc": {}}, {"simdoc": {"tokens": None}}])
def test_a_document_without_fingerprint_is_an_empty_record(source: dict[str, Any]) -> None:
    """An application's index has documents that nobody has fingerprinted yet."""
    empty = Record("a", np.zeros(0, np.uint32), 0, "")

    assert plain(empty) == plain(to_record(Place("a"), source, 4, field="simdoc"))


def test_an_index_without_passage_tokens_gets_none() -> None:
    """Its mapping has no field for them."""
    written = record("a", passages=[1, 2])

    assert "passages" not in to_source(written, Settings(passages=None), field="simdoc", store_text=True)["simdoc"]


def test_passage_tokens_that_cannot_be_read_are_a_fault() -> None:
    """And leave the rest of the record as it is."""
    source = {"simdoc": {"tokens": "!!!# !!!$", "passages": "!!!!! !!!"}}
    made = to_record(Place("a"), source, 4, field="simdoc")

    assert ([1, 2], []) == (made.codes.tolist(), made.passages.tolist())
    assert "has passages that are none of ours ('!!!' is not a token of 5 characters)" == made.fault


def test_codes_are_ascending_in_whatever_order_the_tokens_stand() -> None:
    """Comparing fingerprints relies on it."""
    shuffled = " ".join(encode(np.array([9, 2**24 - 1, 0, 5], np.uint32)))

    assert [0, 5, 9, 2**24 - 1] == to_record(
        Place("a"), {"simdoc": {"tokens": shuffled}}, 4, field="simdoc"
    ).codes.tolist()


# --- names and facts ---


@pytest.mark.parametrize(
    ("id", "names"),
    [
        ("a/b.txt", ["a/b", "b", "b.txt"]),
        ("doc", ["doc"]),
        ("c/doc.tar.gz", ["c/doc.tar", "doc.tar", "doc.tar.gz"]),
        ("x/.hidden", [".hidden", "x/.hidden"]),
        ("folder/", ["folder/"]),
        ("é 漢/ü.txt", ["é 漢/ü", "ü", "ü.txt"]),
    ],
)
def test_names_are_the_last_part_with_and_without_ending(id: str, names: list[str]) -> None:
    """And the id without its ending."""
    assert names == names_of(id)


@pytest.mark.parametrize(
    ("one", "same"), [(2020, "2020"), (True, "true"), (0.5, "0.5"), (-1, "-1"), (1e30, "1e+30"), ("a", "a")]
)
def test_a_fact_is_the_text_form_of_a_value(one: Any, same: str) -> None:
    """A filter from a command line is a string; it finds the number and the boolean."""
    assert fact_term("key", one) == fact_term("key", same)


@given(st.sets(st.text(string.printable, max_size=3) | st.text("xy", min_size=990, max_size=1010), min_size=2))
def test_different_values_are_different_facts(values: set[str]) -> None:
    """Around the length from which a hash stands for the value, too."""
    assert len(values) == len({fact_term("key", each) for each in values})


def test_facts_are_all_values_once_and_in_order() -> None:
    """Each value of a list is a fact of its own; an empty list has none."""
    assert ["a\x001", "l\0x", "l\0y"] == facts_of(record("id", l=["y", "x", "y"], a=1, e=[]))


def test_what_utf_8_cannot_write_is_spelled_out() -> None:
    """So an index can be asked for it."""
    assert "a\\ud800é" == indexable("a\ud800é")


def test_the_most_alike_come_first_and_the_unlike_never() -> None:
    """At most three, ties by id, the nearest by any of their names."""
    stored = ["x/doc124.txt", "doc132", "doc12", "zebra", "doc133", "doc122"]

    assert ["doc12", "doc122", "doc132"] == most_alike("doc12", stored)
    assert "x/doc124.txt" == most_alike("doc124", stored)[0]
    assert [] == most_alike("unicorn", ["zebra"])


@pytest.mark.parametrize("name", ["tokens", "passages"])
@pytest.mark.parametrize("letter", ["é", "漢", "\ud800", '"', "a", "\n"])
def test_a_letter_that_no_token_has_is_noticed(name: str, letter: str) -> None:
    """In any script, in place of one of ours."""
    ours = fingerprint_field("some words of which there are enough for passages too")
    assert ours is not None
    assert "" == fault_of({"simdoc": ours}, "simdoc", Settings())
    changed = {**ours, name: letter + ours[name][1:]}

    assert f"has {name} that are none of ours" == fault_of({"simdoc": changed}, "simdoc", Settings())
