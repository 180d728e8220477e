"""How records and settings lie in an engine's index: as JSON, and back without loss."""

from __future__ import annotations

import json
import string
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import Analysis, MinHash
from simdoc_search.analysis.stop_words import StopWords
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.documents import Place
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.concepts import Concepts
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.kinds import KINDS
from simdoc_search.sketch.schemes import AnySketch, BottomK, Scaled, Universal, Xor
from simdoc_search.sketch.sentences import Sentences
from simdoc_search.sketch.settings import LAYOUT_VERSION, Settings
from simdoc_search.sketch.tokens import encode
from simdoc_search.sketch.winnow import Passages
from simdoc_search.stores.fields import fact_term, facts_of, indexable, most_alike, names_of
from simdoc_search.stores.record import Origin, Record
from simdoc_search.stores.remote.malformed import fault_of
from simdoc_search.stores.remote.records import to_record
from simdoc_search.stores.remote.schema import format_label, labels_of, labels_without, settings_of, to_meta, to_source
from tests.support.stores import plain, record

MAX_TERM_BYTES = 32_766
"""Lucene refuses a document with a longer term."""

SETTINGS = st.builds(
    Settings,
    st.builds(
        Analysis,
        st.sampled_from(["nfkc_cf", "lowercase"]),
        st.integers(1, 10**6),
        st.sampled_from(["word", "character"]),
        st.booleans(),
    ),
    st.builds(MinHash, bucket_count=st.sampled_from([2**n for n in range(13)]), with_rotation=st.booleans()),
    st.sampled_from([4, 5]),
    st.none() | st.builds(Passages, st.integers(1, 10_000)),
)
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


# --- settings ---


@given(SETTINGS)
def test_settings_come_back_from_the_meta(settings: Settings) -> None:
    """Whatever an index can be made with is read from its mapping again."""
    assert settings == settings_of(json.loads(json.dumps(to_meta(settings))))


@given(SETTINGS)
def test_the_meta_keeps_within_the_limits_of_the_engines(settings: Settings) -> None:
    """At most 5 entries; keys of at most 20 characters, values strings of at most 50."""
    meta = to_meta(settings)

    assert len(meta) <= 5
    assert max(map(len, meta)) <= 20
    assert max(map(len, meta.values())) <= 50


@given(SETTINGS, SETTINGS)
def test_documents_of_other_settings_have_another_label(one: Settings, other: Settings) -> None:
    """Two settings have the same label only if they are the same."""
    assert (one == other) == (format_label(one) == format_label(other))


def test_the_meta_is_a_stored_format() -> None:
    """These very strings are in indices that exist; LAYOUT_VERSION says when they change."""
    other = Settings(Analysis("lowercase", 3, "character", short_texts=False), MinHash(with_rotation=True), 5, None)

    assert {
        "simdoc_version": "2",
        "simdoc_analysis": "nfkc_cf word 5 short_texts",
        "simdoc_sketches": "bucketed:1 512 1 false 4; passages:1 32 5",
    } == to_meta(Settings())
    assert "nfkc_cf word 5 short_texts; bucketed:1 512 1 false 4; passages:1 32 5" == format_label(Settings())
    assert "lowercase character 3; bucketed:1 512 1 true 5" == format_label(other)


def test_without_passage_tokens_all_is_as_before_there_were_any() -> None:
    """The documents of an application's index are as complete as they were, also those of a loader that gives more."""
    none = Settings(passages=None)
    label = "nfkc_cf word 5 short_texts; bucketed:1 512 1 false 4"

    assert "bucketed:1 512 1 false 4" == to_meta(none)["simdoc_sketches"]
    assert [label, format_label(Settings())] == labels_of(none)
    assert [format_label(Settings())] == labels_of(Settings())


def test_a_document_that_lacks_a_kind_of_tokens_is_told_by_its_label() -> None:
    """Whatever other kinds it lacks too; one of other settings is not meant."""
    both = Settings(sentences=Sentences(), concepts=Concepts())
    lacking = {
        name: sorted(label.split("; ", 2)[2] if label.count(";") > 1 else "" for label in labels_without(both, name))
        for name in KINDS
    }

    passages, sentences, concepts = both.further
    assert ["", concepts, sentences, f"{sentences}; {concepts}"] == lacking["passages"]
    assert ["", concepts, passages, f"{passages}; {concepts}"] == lacking["sentences"]
    assert ["", passages, f"{passages}; {sentences}", sentences] == lacking["concepts"]
    assert 7 == len(labels_without(both, *KINDS))
    assert not set(labels_of(both)) & set(labels_without(both, *KINDS))


@pytest.mark.parametrize("passages", [None, Passages(10_000)])
def test_the_longest_settings_fit_into_the_meta_of_a_field(passages: Passages | None) -> None:
    """With a key and all sketches, however they are named: five entries of fifty characters."""
    key = HashKey.of_check("0" * 16)
    asked = Settings(
        Analysis("lowercase", 1_000),
        MinHash(bucket_count=4096, with_rotation=True, key=key),
        5,
        passages,
        Sentences(),
        Concepts("spacy/en_core_web_", "ffffff"),
    )

    assert asked == settings_of(to_meta(asked))
    assert 5 == len(to_meta(asked))


def layout_1(**changed: str | None) -> dict[str, str]:
    """A meta of layout 1, as indices had it before sketches had names; None takes an entry out."""
    values = {"version": "1", "analysis": "lowercase word 3", "minhash": "1 256 1 true", "token": "5", **changed}
    return {f"simdoc_{key}": value for key, value in values.items() if value is not None}


def test_a_mapping_of_layout_1_is_read() -> None:
    """Whatever was released once can be opened."""
    minhash = MinHash(bucket_count=256, with_rotation=True)
    expected = Settings(Analysis("lowercase", 3, short_texts=False), minhash, 5, passages=None)
    default = {"analysis": "nfkc_cf word 5 short_texts", "minhash": "1 512 1 false", "token": "4"}

    assert expected == settings_of(layout_1())
    assert Settings(passages=None) == settings_of(layout_1(**default))


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ({"simdoc_version": "2"}, Settings(passages=None)),
        (
            {"simdoc_version": "2", "simdoc_analysis": "lowercase word 5"},
            Settings(Analysis("lowercase", 5, "word", False), passages=None),
        ),
        (
            {"simdoc_version": "2", "simdoc_sketches": "bucketed:1 64"},
            Settings(minhash=MinHash(bucket_count=64), passages=None),
        ),
        ({"simdoc_version": "2", "simdoc_sketches": "passages:1 16"}, Settings(passages=Passages(16))),
        ({"simdoc_version": "2", "simdoc_something": "else", "unit": "ms"}, Settings(passages=None)),
    ],
)
def test_what_is_absent_in_a_meta_has_its_default(meta: dict[str, str], expected: Settings) -> None:
    """And entries of others are theirs."""
    assert expected == settings_of(meta)


def test_unknown_sketches_of_a_meta_are_left_alone() -> None:
    """They are written back, in as many lines as they need, and are no part of what we give a document."""
    meta = {
        "simdoc_version": "2",
        "simdoc_analysis": "nfkc_cf word 5 short_texts",
        "simdoc_sketches": "bucketed:1 512 1 false 4; passages:1 32 5",
        "simdoc_sketches_2": "a_sketch_with_a_long_name:12 1 2 3 4 5 6 7 8 9",
    }

    assert Settings() == settings_of(meta)
    assert meta == to_meta(settings_of(meta))
    assert format_label(Settings()) == format_label(settings_of(meta))


def test_a_meta_has_room_for_so_many_sketches_only() -> None:
    """An engine would refuse the mapping; that is said before."""
    with pytest.raises(FormatMismatchError, match=r"no room for the sketches bucketed:1 512 1 false 4, .*, s0:1 xxx"):
        to_meta(Settings(others=tuple(f"s{number}:1 {'x' * 40}" for number in range(5))))
    with pytest.raises(FormatMismatchError, match="no room"):
        to_meta(Settings(others=("long:1 " + "x" * 50,)))


@pytest.mark.parametrize(
    "meta",
    [
        layout_1(analysis=None),
        layout_1(minhash=None),
        layout_1(token=None),
        layout_1(minhash="1 512 1"),
        layout_1(minhash="1 512 1 True"),
        layout_1(minhash="1 500 1 false"),
        layout_1(minhash="2 512 1 false"),
        layout_1(token="6"),
        layout_1(token="four"),
        layout_1(token="9" * 5000),
        *(
            {**to_meta(Settings()), "simdoc_analysis": each}
            for each in (
                "",
                "nfkc_cf word",
                "nfkc_cf word five",
                "nfkc_cf word 0",
                "icu word 5",
                "nfkc_cf word 5 long_texts",
                "nfkc_cf word 5 short_texts short_texts",
            )
        ),
        *(
            {**to_meta(Settings()), "simdoc_sketches": each}
            for each in (
                "",
                "bucketed",
                "bucketed:1 512 1 True 4",
                "bucketed:1 500 1 false 4",
                "bucketed:1 512 2 false 4",
                "bucketed:1 512 1 false 6",
                "bucketed:1 512 1 false 4 more",
                "bucketed:1; bucketed:1",
                "bucketed:1 " + "9" * 5000,
            )
        ),
        {**to_meta(Settings()), "simdoc_key": "secret"},
    ],
)
def test_a_meta_that_says_no_settings_is_refused(meta: dict[str, str]) -> None:
    """The error is one sentence that names the component template."""
    with pytest.raises(FormatMismatchError, match="put the mapping of the component template") as caught:
        settings_of(meta)

    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_field_of_somebody_else_is_refused() -> None:
    """A mapping without meta is not taken for the default settings."""
    with pytest.raises(FormatMismatchError, match="component template"):
        settings_of({})


@pytest.mark.parametrize(
    ("version", "found"), [("4", 4), ("99", 99), ("0", 0), ("two", "two"), ("9" * 5000, "9" * 5000)]
)
def test_a_newer_layout_is_refused_with_both_numbers(version: str, found: object) -> None:
    """What a newer version wrote is not guessed at, even if the rest can be read."""
    with pytest.raises(FormatMismatchError, match=f"version {version[:50]}, .*reads up to {LAYOUT_VERSION}") as caught:
        settings_of({**to_meta(Settings()), "simdoc_version": version})

    assert (found, LAYOUT_VERSION) == (caught.value.found, caught.value.expected)


def test_a_newer_sketch_that_we_need_is_refused() -> None:
    """Its tokens are not ours."""
    with pytest.raises(FormatMismatchError, match="sketch bucketed:2, and this simdoc-search reads bucketed:1"):
        settings_of({**to_meta(Settings()), "simdoc_sketches": "bucketed:2 512 1 false 4"})


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


@pytest.mark.parametrize(
    "sketch",
    [
        Xor(4096, 2**32 - 1, HashKey("a secret of the tests")),
        BottomK(4096, HashKey("a secret of the tests")),
        Scaled(1_000_000, HashKey("a secret of the tests")),
        Universal(4096, 2**32 - 1, "affine64"),
    ],
    ids=lambda each: each.name,
)
def test_the_longest_settings_of_all_sketches_have_room(sketch: AnySketch) -> None:
    """With every kind of tokens, stop words, stems, frequencies and a key: 5 entries of 50 characters."""
    stop_words = StopWords(["the"], "en")
    analysis = Analysis("lowercase", 100, "character", stop_words=stop_words, stem="en", frequencies=True)
    concepts = Concepts("sp/en_core_web_123", "abcdef")
    settings = Settings(analysis, sketch, 5, Passages(10_000), Sentences(), concepts)
    meta = to_meta(settings)

    assert 5 == len(meta)
    assert 50 >= max(map(len, meta.values()))
    assert settings == settings_of(meta)
