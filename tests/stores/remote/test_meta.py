"""The settings in the `meta` of a mapping, and the labels of documents."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import Analysis, MinHash
from simdoc_search.analysis.stop_words import StopWords
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.base import Sketch
from simdoc_search.sketch.concepts import ConceptSettings
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.sentences import SentenceSettings
from simdoc_search.sketch.settings import LAYOUT_VERSION, Settings
from simdoc_search.sketch.sketches import UniversalSketch, XorSketch
from simdoc_search.sketch.token_kinds import TOKEN_KINDS
from simdoc_search.sketch.winnow import PassageSettings
from simdoc_search.stores.remote.schema import (
    format_label,
    labels_missing_kinds,
    labels_with_all_kinds,
    parse_meta,
    to_meta,
)

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
    st.none() | st.builds(PassageSettings, st.integers(1, 10_000)),
)
ANALYSIS, BUCKETED = "nfkc_cf word 5 short_texts", "bucketed:1 512 1 false 9"


@given(SETTINGS, SETTINGS)
def test_settings_are_read_back_from_a_meta_within_the_limits_of_engines(one: Settings, other: Settings) -> None:
    meta = to_meta(one)

    assert one == parse_meta(json.loads(json.dumps(meta)))
    assert len(meta) <= 5
    assert max(map(len, meta)) <= 20
    assert max(map(len, meta.values())) <= 50
    assert (one == other) == (format_label(one) == format_label(other))


def test_the_meta_is_a_stored_format() -> None:
    """Existing indices contain these strings. Raise LAYOUT_VERSION to change them."""
    other = Settings(Analysis("lowercase", 3, "character", short_texts=False), MinHash(with_rotation=True), None)
    sketches = f"{BUCKETED}; passages:1 32 5"

    assert {"simdoc_version": "1", "simdoc_analysis": ANALYSIS, "simdoc_sketches": sketches} == to_meta(Settings())
    assert f"{ANALYSIS}; {sketches}" == format_label(Settings())
    assert "lowercase character 3; bucketed:1 512 1 true 9" == format_label(other)


def test_an_index_without_passages_accepts_documents_with_them() -> None:
    none = Settings(passages=None)

    assert BUCKETED == to_meta(none)["simdoc_sketches"]
    assert [f"{ANALYSIS}; {BUCKETED}", format_label(Settings())] == labels_with_all_kinds(none)
    assert [format_label(Settings())] == labels_with_all_kinds(Settings())


def test_labels_show_which_kinds_of_tokens_a_document_lacks() -> None:
    both = Settings(sentences=SentenceSettings(), concepts=ConceptSettings())
    lacking = {
        name: sorted(
            label.split("; ", 2)[2] if label.count(";") > 1 else "" for label in labels_missing_kinds(both, name)
        )
        for name in TOKEN_KINDS
    }

    passages, sentences, concepts = both.stored_token_kinds
    assert ["", concepts, sentences, f"{sentences}; {concepts}"] == lacking["passages"]
    assert ["", concepts, passages, f"{passages}; {concepts}"] == lacking["sentences"]
    assert ["", passages, f"{passages}; {sentences}", sentences] == lacking["concepts"]
    assert 7 == len(labels_missing_kinds(both, *TOKEN_KINDS))
    assert not set(labels_with_all_kinds(both)) & set(labels_missing_kinds(both, *TOKEN_KINDS))


@pytest.mark.parametrize(
    "sketch",
    [
        MinHash(bucket_count=4096, with_rotation=True, key=HashKey.from_checksum("0" * 16)),
        XorSketch(4096, 2**32 - 1, HashKey("a secret of the tests")),
        UniversalSketch(4096, 2**32 - 1, "affine64"),
    ],
    ids=lambda sketch: sketch.name,
)
def test_the_longest_settings_fit_into_a_meta(sketch: Sketch) -> None:
    """The settings have a key, stop words, stems, frequencies and all kinds of tokens."""
    stop_words = StopWords(["the"], "en")
    analysis = Analysis("lowercase", 100, "character", stop_words=stop_words, stem="en", frequencies=True)
    concepts = ConceptSettings("sp/en_core_web_123", "abcdef")
    settings = Settings(analysis, sketch, PassageSettings(10_000), SentenceSettings(), concepts)
    meta = to_meta(settings)

    assert 5 == len(meta)
    assert 50 >= max(map(len, meta.values()))
    assert settings == parse_meta(meta)


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ({}, Settings(passages=None)),
        ({"simdoc_analysis": "lowercase word 5"}, Settings(Analysis("lowercase", 5, "word", False), passages=None)),
        ({"simdoc_sketches": "bucketed:1 64"}, Settings(sketch=MinHash(bucket_count=64), passages=None)),
        ({"simdoc_sketches": "bucketed:1; passages:1 16"}, Settings(passages=PassageSettings(16))),
        ({"simdoc_something": "else", "unit": "ms"}, Settings(passages=None)),
    ],
)
def test_missing_settings_have_their_defaults(meta: dict[str, str], expected: Settings) -> None:
    assert expected == parse_meta({"simdoc_version": "1", "simdoc_sketches": "bucketed:1", **meta})


def test_unknown_sketches_are_kept_if_they_fit() -> None:
    meta = {**to_meta(Settings()), "simdoc_sketches_2": "a_sketch_with_a_long_name:12 1 2 3 4 5 6 7 8 9"}

    assert Settings() == parse_meta(meta)
    assert meta == to_meta(parse_meta(meta))
    assert format_label(Settings()) == format_label(parse_meta(meta))
    with pytest.raises(FormatMismatchError, match=r"the sketches bucketed:1 512 1 false 9, .*, s0:1 xxx.* do not fit"):
        to_meta(Settings(unknown_specs=tuple(f"s{number}:1 {'x' * 40}" for number in range(5))))


@pytest.mark.parametrize(
    "meta",
    [
        {},
        {"simdoc_version": "1", "simdoc_analysis": ANALYSIS},
        *(
            {**to_meta(Settings()), "simdoc_analysis": text}
            for text in ("nfkc_cf word", "nfkc_cf word five", "icu word 5", "nfkc_cf word 5 long_texts")
        ),
        *(
            {"simdoc_version": "1", "simdoc_sketches": sketches}
            for sketches in (
                "bucketed",
                "bucketed:1 500 1 false 9",
                "bucketed:1; bucketed:1",
                f"bucketed:1 {'9' * 5000}",
            )
        ),
        {**to_meta(Settings()), "simdoc_key": "secret"},
    ],
)
def test_a_malformed_meta_is_refused(meta: dict[str, str]) -> None:
    with pytest.raises(FormatMismatchError, match="apply the mapping from the component template") as caught:
        parse_meta(meta)

    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(("version", "found"), [("99", 99), ("0", 0), ("two", "two"), ("9" * 5000, "9" * 5000)])
def test_a_newer_layout_is_refused_with_both_numbers(version: str, found: object) -> None:
    with pytest.raises(FormatMismatchError, match=f"version {version[:50]}, .*up to {LAYOUT_VERSION}") as caught:
        parse_meta({**to_meta(Settings()), "simdoc_version": version})

    assert (found, LAYOUT_VERSION) == (caught.value.found, caught.value.expected)
