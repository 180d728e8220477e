"""An index remembers every setting that decides its tokens, and refuses what it cannot read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import Analysis, MinHash
from simdoc_search.errors import FormatMismatchError, SimdocError, StoreError
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
    """What an index writes down is read back as the very same settings."""
    assert settings == Settings.from_dict(json.loads(json.dumps(settings.to_dict())))


LAYOUT_2 = {
    "version": 2,
    "analysis": {"profile": "nfkc_cf", "shingle_size": 5, "unit": "word", "short_texts": True},
    "sketches": ["bucketed:1 512 1 false 4", "passages:1 32 5", "words:1"],
}


def test_the_written_settings_are_a_stored_format() -> None:
    """A change here makes existing indexes unreadable, and needs a new LAYOUT_VERSION."""
    assert LAYOUT_2 == Settings().to_dict()
    assert 2 == Settings().layout


OTHER = Settings(Analysis("lowercase", 3, "character", False), MinHash(1, 128, 1, True), 5, None)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (LAYOUT_2, Settings()),
        ({**LAYOUT_2, "sketches": ["bucketed:1 512 1 false 4"]}, Settings(passages=None)),
        (
            {
                "version": 2,
                "analysis": {"profile": "lowercase", "shingle_size": 3, "unit": "character", "short_texts": False},
                "sketches": ["bucketed:1 128 1 true 5"],
            },
            OTHER,
        ),
        (
            {
                "version": 1,
                "analysis": {"profile": "nfkc_cf", "shingle_size": 5, "unit": "word", "short_texts": True},
                "minhash": {"hash_count": 1, "bucket_count": 512, "hash_set_size": 1, "with_rotation": False},
                "token_length": 4,
            },
            Settings(passages=None),
        ),
        (
            {
                "version": 1,
                "analysis": {"profile": "lowercase", "shingle_size": 3, "unit": "character", "short_texts": False},
                "minhash": {"hash_count": 1, "bucket_count": 128, "hash_set_size": 1, "with_rotation": True},
                "token_length": 5,
            },
            OTHER,
        ),
    ],
)
def test_every_layout_is_read_as_it_stands(values: dict[str, Any], expected: Settings) -> None:
    """Those that were ever written; nothing that is there is replaced by a default."""
    assert expected == Settings.from_dict(values)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, Settings(passages=None)),
        ({"analysis": {}}, Settings(passages=None)),
        ({"analysis": {"profile": "lowercase"}}, Settings(Analysis("lowercase"), passages=None)),
        ({"sketches": []}, Settings(passages=None)),
        ({"sketches": ["bucketed:1"]}, Settings(passages=None)),
        ({"sketches": ["bucketed:1 256"]}, Settings(minhash=MinHash(bucket_count=256), passages=None)),
        (
            {"sketches": ["bucketed:1 256 1 true"]},
            Settings(minhash=MinHash(bucket_count=256, with_rotation=True), passages=None),
        ),
        ({"sketches": ["passages:1"]}, Settings()),
        ({"sketches": ["passages:1 16"]}, Settings(passages=Passages(16))),
        ({"something": "else"}, Settings(passages=None)),
    ],
)
def test_what_is_absent_has_its_default(values: dict[str, Any], expected: Settings) -> None:
    """So a later version can add what an earlier index does not name; which then has no passage tokens."""
    assert expected == Settings.from_dict({"version": 2, **values})


def test_an_unknown_sketch_is_left_alone() -> None:
    """It makes no difference to what we do, and stands there again when settings are written back."""
    sketches = ["forms:2 32 5", "passages:1 32 5", "bucketed:1 512 1 false 5", "shapes:7 a=b c"]
    read = Settings.from_dict({**LAYOUT_2, "sketches": sketches})

    assert Settings(token_length=5) == read
    assert hash(Settings(token_length=5)) == hash(read)
    assert ["bucketed:1 512 1 false 5", "passages:1 32 5", "forms:2 32 5", "shapes:7 a=b c"] == read.to_dict()[
        "sketches"
    ]
    assert set(sketches) == set(replace(read, analysis=Analysis("lowercase")).to_dict()["sketches"])


@pytest.mark.parametrize("sketch", ["bucketed:2 512 1 false 4", "passages:2 32 5"])
def test_another_version_of_a_sketch_that_we_need_is_refused(sketch: str) -> None:
    """Its tokens are not ours, whatever else can be read."""
    with pytest.raises(FormatMismatchError) as error:
        Settings.from_dict({**LAYOUT_2, "sketches": [sketch]})

    name = sketch.partition(":")[0]
    assert (
        f"sketch {name}:2, and this simdoc-search reads {name}:1; use the version that made it, or index again"
        == str(error.value)
    )


@pytest.mark.parametrize(
    ("stored", "asked", "fits"),
    [
        (Settings(), Settings(), True),
        (Settings(passages=None), Settings(), True),
        (Settings(passages=None), Settings(passages=None), True),
        (Settings(passages=None), Settings(passages=Passages(16)), False),
        (Settings(), Settings(passages=None), False),
        (Settings(passages=Passages(16)), Settings(), False),
        (Settings(passages=None), Settings(token_length=5), False),
        (Settings(token_length=5), Settings(), False),
    ],
)
def test_an_index_from_before_passage_tokens_is_what_is_asked_for(
    stored: Settings, asked: Settings, fits: bool
) -> None:
    """An application that opens it with the default settings goes on working; other differences are told."""
    assert fits == stored.satisfies(asked)


@pytest.mark.parametrize("version", [LAYOUT_VERSION + 1, 0, -1, "1", "2", True, 1.0, None, [1]])
def test_another_layout_is_refused(version: Any) -> None:
    """An index of a newer layout, or of none, is an error that says what to do, and carries both numbers."""
    message = (
        f"format version {version}, and this simdoc-search reads up to {LAYOUT_VERSION}; "
        "use the version that made it, or index again"
    )
    with pytest.raises(FormatMismatchError) as error:
        Settings.from_dict({**LAYOUT_2, "version": version})

    assert message == str(error.value)
    assert (version, LAYOUT_VERSION) == (error.value.found, error.value.expected)


ANALYSIS = "Analysis has the settings frequencies, profile, shingle_size, short_texts, stem, stop_words, unit"
MINHASH = "MinHash has the settings bucket_count, hash_count, hash_set_size, with_rotation"


@pytest.mark.parametrize("values", [None, [], 5, "text"])
def test_what_is_no_object_has_no_version(values: Any) -> None:
    """Settings that are no JSON object are a format mismatch too."""
    with pytest.raises(FormatMismatchError, match="format version None"):
        Settings.from_dict(values)


LIKE = "is not like 'bucketed:1 512 1 false 4'"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"analysis": []}, f"{ANALYSIS}, not []"),
        ({"analysis": 5}, f"{ANALYSIS}, not 5"),
        ({"analysis": {"stems": True}}, f"{ANALYSIS}, not {{'stems': True}}"),
        ({"analysis": {"profile": "upper"}}, "profile must be 'nfkc_cf' or 'lowercase', not 'upper'"),
        ({"analysis": {"shingle_size": "5"}}, "shingle_size must be a whole number of at least 1, not '5'"),
        ({"sketches": "bucketed:1 512 1 false 4"}, "sketches are a list of texts, not 'bucketed:1 512 1 false 4'"),
        ({"sketches": [1]}, "sketches are a list of texts, not [1]"),
        ({"sketches": ["bucketed"]}, "'bucketed' is no sketch, or is named twice"),
        ({"sketches": [""]}, "'' is no sketch, or is named twice"),
        ({"sketches": [":1"]}, "':1' is no sketch, or is named twice"),
        ({"sketches": ["bucketed:1"] * 2}, "'bucketed:1' is no sketch, or is named twice"),
        ({"sketches": ["bucketed:"]}, f"'bucketed:' {LIKE}"),
        ({"sketches": ["bucketed:one"]}, f"'bucketed:one' {LIKE}"),
        ({"sketches": ["bucketed:1 512 1 no 4"]}, "'no' is neither true nor false"),
        ({"sketches": ["bucketed:1 512 1 false 4 more"]}, f"'bucketed:1 512 1 false 4 more' {LIKE}"),
        ({"sketches": ["passages:1 32 4"]}, "'passages:1 32 4' is not like 'passages:1 32 5'"),
        ({"sketches": ["passages:x"]}, "'passages:x' is not like 'passages:1 32 5'"),
        ({"sketches": ["passages:1 32 5 6"]}, "'passages:1 32 5 6' is not like 'passages:1 32 5'"),
        ({"sketches": ["passages:1 0"]}, "window must be a whole number from 1 to 10,000, not 0"),
        ({"sketches": ["bucketed:1 512 1 false 7"]}, "token_length must be 4 or 5, not 7"),
        ({"sketches": ["bucketed:1 0"]}, "bucket_count must be a whole number of at least 1, not 0"),
        ({"hash_key_check": "xyz"}, "'xyz' is no check value of a hash key"),
        ({"hash_key_check": 5}, "5 is no check value of a hash key"),
        ({"version": 1}, f"{MINHASH}, not None"),
        ({"version": 1, "minhash": {}}, f"{MINHASH}, not {{}}"),
    ],
)
def test_damaged_settings_are_refused(changes: dict[str, Any], reason: str) -> None:
    """An unknown setting or a value of the wrong type is one sentence with its reason."""
    with pytest.raises(FormatMismatchError) as error:
        Settings.from_dict({**LAYOUT_2, **changes})

    assert f"damaged settings ({reason}); index again" == str(error.value)


def test_a_format_mismatch_is_a_store_error() -> None:
    """Who catches the package's errors, or those of stores, catches this one."""
    assert issubclass(FormatMismatchError, StoreError)
    assert issubclass(StoreError, SimdocError)
