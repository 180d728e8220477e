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
from simdoc_search.sketch.settings import LAYOUT_VERSION, Settings
from simdoc_search.sketch.winnow import Passages
from tests.support.strategies import analyses


@given(
    st.builds(
        Settings,
        analyses(),
        st.builds(MinHash, st.just(1), st.sampled_from([1 << bits for bits in range(13)]), st.just(1), st.booleans()),
        st.sampled_from([4, 5]),
        st.none() | st.builds(Passages, st.integers(1, 10_000)),
    )
)
def test_settings_survive_json(settings: Settings) -> None:
    assert settings == Settings.from_dict(json.loads(json.dumps(settings.to_dict())))


LAYOUT_2 = {
    "version": 2,
    "analysis": {"profile": "nfkc_cf", "shingle_size": 5, "unit": "word", "short_texts": True},
    "sketches": ["bucketed:1 512 1 false 4", "passages:1 32 5", "words:1"],
}
OTHER_ANALYSIS = {"profile": "lowercase", "shingle_size": 3, "unit": "character", "short_texts": False}
OTHER = Settings(Analysis("lowercase", 3, "character", False), MinHash(1, 128, 1, True), 5, None)
MINHASH_1 = {"hash_count": 1, "bucket_count": 128, "hash_set_size": 1, "with_rotation": True}


def test_the_written_settings_are_a_stored_format() -> None:
    """If this fails, existing indexes become unreadable. A change needs a new LAYOUT_VERSION."""
    assert LAYOUT_2 == Settings().to_dict()
    assert 2 == Settings().layout


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (LAYOUT_2, Settings()),
        ({"version": 2, "analysis": OTHER_ANALYSIS, "sketches": ["bucketed:1 128 1 true 5"]}, OTHER),
        ({"version": 1, "analysis": OTHER_ANALYSIS, "minhash": MINHASH_1, "token_length": 5}, OTHER),
        ({"version": 2}, Settings(passages=None)),
        ({"version": 2, "analysis": {"profile": "lowercase"}}, Settings(Analysis("lowercase"), passages=None)),
        ({"version": 2, "sketches": []}, Settings(passages=None)),
        ({"version": 2, "sketches": ["bucketed:1"]}, Settings(passages=None)),
        (
            {"version": 2, "sketches": ["bucketed:1 256 1 true"]},
            Settings(minhash=MinHash(bucket_count=256, with_rotation=True), passages=None),
        ),
        ({"version": 2, "sketches": ["passages:1"]}, Settings()),
        ({"version": 2, "sketches": ["passages:1 16"]}, Settings(passages=Passages(16))),
        ({"version": 2, "something": "else"}, Settings(passages=None)),
    ],
)
def test_every_layout_is_read(values: dict[str, Any], expected: Settings) -> None:
    """Missing parts get their defaults. An index that does not name passages has none."""
    assert expected == Settings.from_dict(values)


def test_an_unknown_sketch_is_ignored_and_kept() -> None:
    sketches = ["forms:2 32 5", "passages:1 32 5", "bucketed:1 512 1 false 5", "shapes:7 a=b c"]
    read = Settings.from_dict({**LAYOUT_2, "sketches": sketches})
    written = ["bucketed:1 512 1 false 5", "passages:1 32 5", "forms:2 32 5", "shapes:7 a=b c"]

    assert Settings(token_length=5) == read
    assert hash(Settings(token_length=5)) == hash(read)
    assert written == read.to_dict()["sketches"]
    assert set(sketches) == set(replace(read, analysis=Analysis("lowercase")).to_dict()["sketches"])


@pytest.mark.parametrize(
    ("stored", "wanted", "fits"),
    [
        (Settings(), Settings(), True),
        (Settings(passages=None), Settings(), True),
        (Settings(passages=None), Settings(passages=Passages(16)), False),
        (Settings(), Settings(passages=None), False),
        (Settings(passages=Passages(16)), Settings(), False),
        (Settings(token_length=5), Settings(), False),
    ],
)
def test_an_index_without_passages_satisfies_the_defaults(stored: Settings, wanted: Settings, fits: bool) -> None:
    """An old index without passage tokens can still be opened. Other differences are refused."""
    assert fits == stored.satisfies(wanted)


@pytest.mark.parametrize("version", [LAYOUT_VERSION + 1, 0, "2", True, None, [1]])
def test_another_layout_is_refused(version: Any) -> None:
    message = (
        f"this simdoc-search cannot read format version {version}, only versions up to {LAYOUT_VERSION}; "
        "use the version that made the index, or index the documents again into a new store"
    )
    with pytest.raises(FormatMismatchError) as error:
        Settings.from_dict({**LAYOUT_2, "version": version})

    assert message == str(error.value)
    assert (version, LAYOUT_VERSION) == (error.value.found, error.value.expected)
    with pytest.raises(FormatMismatchError, match="format version None"):
        Settings.from_dict([])  # type: ignore[arg-type]


@pytest.mark.parametrize("sketch", ["bucketed:2 512 1 false 4", "passages:2 32 5"])
def test_another_version_of_a_sketch_is_refused(sketch: str) -> None:
    """The tokens of another version are different."""
    name = sketch.partition(":")[0]
    with pytest.raises(FormatMismatchError, match=f"cannot read sketch {name}:2, only {name}:1; use the "):
        Settings.from_dict({**LAYOUT_2, "sketches": [sketch]})


ANALYSIS = "the Analysis settings may only be frequencies, profile, shingle_size, short_texts, stem, stop_words, unit"
MINHASH = "the MinHash settings must be exactly bucket_count, hash_count, hash_set_size, with_rotation"
LIKE = "is malformed; it must be like 'bucketed:1 512 1 false 4'"
TWICE = "is not the stored form of a sketch, or occurs twice"


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
        ({"sketches": ["bucketed:1 512 1 no 4"]}, "with_rotation must be true or false, not 'no'"),
        ({"sketches": ["bucketed:1 512 1 false 4 more"]}, f"'bucketed:1 512 1 false 4 more' {LIKE}"),
        ({"sketches": ["bucketed:1 512 1 false 7"]}, "token_length must be 4 or 5, not 7"),
        ({"sketches": ["passages:1 32 4"]}, "'passages:1 32 4' is malformed; it must be like 'passages:1 32 5'"),
        ({"sketches": ["passages:1 0"]}, "window must be a whole number from 1 to 10,000, not 0"),
        ({"hash_key_check": "xyz"}, "the check value of a hash key must be 16 hexadecimal digits, not 'xyz'"),
        ({"version": 1}, f"{MINHASH}, not None"),
    ],
)
def test_damaged_settings_are_refused_with_the_reason(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(FormatMismatchError) as error:
        Settings.from_dict({**LAYOUT_2, **changes})

    assert f"the settings are damaged ({reason}); index the documents again into a new store" == str(error.value)
