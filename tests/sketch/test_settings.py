"""An index stores all settings that determine its tokens. Settings that cannot be read are refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import Analysis, MinHash
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.concepts import ConceptSettings
from simdoc_search.sketch.sentences import SentenceSettings
from simdoc_search.sketch.settings import LAYOUT_VERSION, Settings
from simdoc_search.sketch.winnow import PassageSettings
from tests.support.strategies import analyses


@given(
    st.builds(
        Settings,
        analyses(),
        st.builds(MinHash, st.just(1), st.sampled_from([1 << bits for bits in range(13)]), st.just(1), st.booleans()),
        st.none() | st.builds(PassageSettings, st.integers(1, 10_000)),
        sentences=st.none() | st.just(SentenceSettings()),
        concepts=st.none() | st.builds(ConceptSettings, st.just("caps"), st.sampled_from(["", "0a1b2c"])),
    )
)
def test_settings_survive_json(settings: Settings) -> None:
    assert settings == Settings.from_dict(json.loads(json.dumps(settings.to_dict())))


STORED = {
    "version": 1,
    "analysis": {"profile": "nfkc_cf", "shingle_size": 5, "unit": "word", "short_texts": True},
    "sketches": ["bucketed:1 512 1 false 9", "passages:1 32 5", "words:1"],
}
OTHER_ANALYSIS = {"profile": "lowercase", "shingle_size": 3, "unit": "character", "short_texts": False}
OTHER = Settings(Analysis("lowercase", 3, "character", False), MinHash(1, 128, 1, True), None)


def test_the_written_settings_are_a_stored_format() -> None:
    """If this fails, existing indexes become unreadable. A change needs a new LAYOUT_VERSION."""
    assert STORED == Settings().to_dict()
    assert 1 == LAYOUT_VERSION


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (STORED, Settings()),
        ({"version": 1, "analysis": OTHER_ANALYSIS, "sketches": ["bucketed:1 128 1 true 9"]}, OTHER),
        ({"version": 1, "sketches": ["bucketed:1"]}, Settings(passages=None)),
        (
            {"version": 1, "sketches": ["bucketed:1 256 1 true"]},
            Settings(sketch=MinHash(bucket_count=256, with_rotation=True), passages=None),
        ),
        ({"version": 1, "sketches": ["bucketed:1", "passages:1 16"]}, Settings(passages=PassageSettings(16))),
        ({"version": 1, "sketches": ["bucketed:1"], "something": "else"}, Settings(passages=None)),
    ],
)
def test_stored_settings_are_read(values: dict[str, Any], expected: Settings) -> None:
    """Missing parts get their defaults. An index that does not name passages has none."""
    assert expected == Settings.from_dict(values)


def test_an_unknown_sketch_is_ignored_and_kept() -> None:
    sketches = ["bucketed:1 256 1 false 9", "forms:2 32 5", "passages:1 32 5", "shapes:7 a=b c"]
    read = Settings.from_dict({**STORED, "sketches": sketches})
    written = ["bucketed:1 256 1 false 9", "passages:1 32 5", "forms:2 32 5", "shapes:7 a=b c"]
    expected = Settings(sketch=MinHash(bucket_count=256))

    assert expected == read
    assert hash(expected) == hash(read)
    assert written == read.to_dict()["sketches"]
    assert set(sketches) == set(replace(read, analysis=Analysis("lowercase")).to_dict()["sketches"])


@pytest.mark.parametrize(
    ("stored", "wanted", "fits"),
    [
        (Settings(), Settings(), True),
        (Settings(passages=None), Settings(), True),
        (Settings(passages=None), Settings(passages=PassageSettings(16)), False),
        (Settings(), Settings(passages=None), False),
        (Settings(passages=PassageSettings(16)), Settings(), False),
        (Settings(sketch=MinHash(bucket_count=256)), Settings(), False),
    ],
)
def test_an_index_without_passages_satisfies_the_defaults(stored: Settings, wanted: Settings, fits: bool) -> None:
    """An old index without passage tokens can still be opened. Other differences are refused."""
    assert fits == stored.satisfies(wanted)


@pytest.mark.parametrize(
    "more",
    [
        Settings(sentences=SentenceSettings()),
        Settings(concepts=ConceptSettings()),
        Settings(identifies_language=True),
        Settings(excluded_parts=("quoted-replies",)),
    ],
)
def test_an_index_may_have_more_than_was_requested(more: Settings) -> None:
    assert [True, True, False] == [more.satisfies(Settings()), more.satisfies(more), Settings().satisfies(more)]


@pytest.mark.parametrize("version", [LAYOUT_VERSION + 1, 0, "2", True, None, [1]])
def test_another_layout_is_refused(version: Any) -> None:
    message = (
        f"this version of simdoc-search cannot read format version {version}, only versions up to {LAYOUT_VERSION}; "
        "use the version that created the index, or index the documents again into a new index"
    )
    with pytest.raises(FormatMismatchError) as error:
        Settings.from_dict({**STORED, "version": version})

    assert message == str(error.value)
    assert (version, LAYOUT_VERSION) == (error.value.found, error.value.expected)
    with pytest.raises(FormatMismatchError, match="format version None"):
        Settings.from_dict([])  # type: ignore[arg-type]


@pytest.mark.parametrize("sketch", ["bucketed:2 512 1 false 9", "passages:2 32 5"])
def test_another_version_of_a_sketch_is_refused(sketch: str) -> None:
    """The tokens of another version are different."""
    name = sketch.partition(":")[0]
    with pytest.raises(FormatMismatchError, match=f"cannot read sketch {name}:2, only {name}:1; use the "):
        Settings.from_dict({**STORED, "sketches": ["bucketed:1", sketch][-1 if name == "bucketed" else 0 :]})


ANALYSIS = "analysis can only have the settings frequencies, profile, shingle_size, short_texts, stem, stop_words, unit"
LIKE = "is malformed; it must be like 'bucketed:1 512 1 false 9'"
TWICE = "is malformed, or its name occurs twice; write NAME:SETTINGS"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"analysis": []}, f"{ANALYSIS}, not []"),
        ({"analysis": {"stems": True}}, f"{ANALYSIS}, not {{'stems': True}}"),
        ({"analysis": {"profile": "upper"}}, "profile must be 'nfkc_cf' or 'lowercase', not 'upper'"),
        ({"sketches": "bucketed:1"}, "sketches must be a list of strings, not 'bucketed:1'"),
        ({"sketches": [1]}, "sketches must be a list of strings, not [1]"),
        ({"sketches": ["bucketed"]}, f"'bucketed' {TWICE}"),
        ({"sketches": [":1"]}, f"':1' {TWICE}"),
        ({"sketches": ["bucketed:1"] * 2}, f"'bucketed:1' {TWICE}"),
        ({"sketches": ["bucketed:"]}, f"'bucketed:' {LIKE}"),
        ({"sketches": ["bucketed:1 512 1 no 9"]}, "with_rotation must be true or false, not 'no'"),
        ({"sketches": ["bucketed:1 512 1 false 9 more"]}, f"'bucketed:1 512 1 false 9 more' {LIKE}"),
        ({"sketches": ["bucketed:1 512 1 false 4"]}, f"'bucketed:1 512 1 false 4' {LIKE}"),
        ({"sketches": []}, "the sketches are missing"),
        (
            {"sketches": ["bucketed:1", "passages:1 32 4"]},
            "'passages:1 32 4' is malformed; it must be like 'passages:1 32 5'",
        ),
        ({"sketches": ["bucketed:1", "passages:1 0"]}, "window must be a whole number from 1 to 10,000, not 0"),
        ({"hash_key_check": "xyz"}, "the checksum of a hash key must be 16 hexadecimal digits, not 'xyz'"),
    ],
)
def test_damaged_settings_are_refused_with_the_reason(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(FormatMismatchError) as error:
        Settings.from_dict({**STORED, **changes})

    assert (
        f"the stored settings of the index are damaged ({reason}); index the documents again into a new index"
        == str(error.value)
    )
