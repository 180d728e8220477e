"""How the settings of an index lie in its mapping's meta: all come back, and what says none is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import Analysis, MinHash
from simdoc_search.analysis.stop_words import StopWords
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.base import Sketch
from simdoc_search.sketch.concepts import Concepts
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.kinds import KINDS
from simdoc_search.sketch.schemes import Universal, Xor
from simdoc_search.sketch.sentences import Sentences
from simdoc_search.sketch.settings import LAYOUT_VERSION, Settings
from simdoc_search.sketch.winnow import Passages
from simdoc_search.stores.remote.schema import format_label, labels_of, labels_without, settings_of, to_meta

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


@pytest.mark.parametrize(
    "sketch",
    [
        Xor(4096, 2**32 - 1, HashKey("a secret of the tests")),
        Universal(4096, 2**32 - 1, "affine64"),
    ],
    ids=lambda each: each.name,
)
def test_the_longest_settings_of_all_sketches_have_room(sketch: Sketch) -> None:
    """With every kind of tokens, stop words, stems, frequencies and a key: 5 entries of 50 characters."""
    stop_words = StopWords(["the"], "en")
    analysis = Analysis("lowercase", 100, "character", stop_words=stop_words, stem="en", frequencies=True)
    concepts = Concepts("sp/en_core_web_123", "abcdef")
    settings = Settings(analysis, sketch, 5, Passages(10_000), Sentences(), concepts)
    meta = to_meta(settings)

    assert 5 == len(meta)
    assert 50 >= max(map(len, meta.values()))
    assert settings == settings_of(meta)
