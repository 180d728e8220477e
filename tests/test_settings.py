"""An index remembers every setting that decides its tokens, and refuses what it cannot read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import Analysis, MinHash
from simdoc_search.errors import FormatMismatchError, SimdocError, StoreError
from simdoc_search.sketch.settings import FORMAT_VERSION, Settings
from tests.strategies import analyses


def written(**changes: Any) -> dict[str, Any]:
    """The default settings as an index holds them, with changes to a part or of it; None takes a part out."""
    values = Settings().to_dict()
    for name, value in changes.items():
        values[name] = {**values[name], **value} if isinstance(value, dict) else value
    return {name: value for name, value in values.items() if value is not None}


@given(
    st.builds(
        Settings,
        analyses(),
        st.builds(MinHash, st.just(1), st.sampled_from([1 << bits for bits in range(13)]), st.just(1), st.booleans()),
        st.sampled_from([4, 5]),
    )
)
def test_settings_survive_json(settings: Settings) -> None:
    """What an index writes down is read back as the very same settings."""
    assert settings == Settings.from_dict(json.loads(json.dumps(settings.to_dict())))


def test_the_written_settings_of_version_1() -> None:
    """The stored form: a change here makes existing indexes unreadable, and needs a new FORMAT_VERSION."""
    expected = {
        "version": 1,
        "analysis": {"profile": "nfkc_cf", "shingle_size": 5, "unit": "word", "short_texts": True},
        "minhash": {"hash_count": 1, "bucket_count": 512, "hash_set_size": 1, "with_rotation": False},
        "token_length": 4,
    }

    assert expected == Settings().to_dict()
    assert Settings() == Settings.from_dict(expected)


def test_other_settings_are_read_as_they_stand() -> None:
    """Nothing of what is written is replaced by a default."""
    values = {
        "version": 1,
        "analysis": {"profile": "lowercase", "shingle_size": 3, "unit": "character", "short_texts": False},
        "minhash": {"hash_count": 1, "bucket_count": 128, "hash_set_size": 1, "with_rotation": True},
        "token_length": 5,
    }
    expected = Settings(Analysis("lowercase", 3, "character", False), MinHash(1, 128, 1, True), 5)

    assert expected == Settings.from_dict(values)


@pytest.mark.parametrize("version", [FORMAT_VERSION + 1, 0, "1", None])
def test_another_version_is_refused(version: Any) -> None:
    """An index of a newer, or of no version is an error that says what to do, and carries both numbers."""
    message = (
        f"format version {version}, and this simdoc-search reads {FORMAT_VERSION}; "
        "use the version that made it, or index again"
    )
    with pytest.raises(FormatMismatchError) as error:
        Settings.from_dict(written(version=version))

    assert message == str(error.value)
    assert (version, FORMAT_VERSION) == (error.value.found, error.value.expected)


ANALYSIS = "Analysis has the settings profile, shingle_size, short_texts, unit"
MINHASH = "MinHash has the settings bucket_count, hash_count, hash_set_size, with_rotation"


@pytest.mark.parametrize("values", [{}, {"profile": "lowercase"}, {**Settings().to_dict()["analysis"], "stem": True}])
def test_a_part_with_more_or_fewer_settings_is_refused(values: dict[str, Any]) -> None:
    """No missing setting is silently the default one, and no unknown one is ignored."""
    with pytest.raises(FormatMismatchError, match=ANALYSIS):
        Settings.from_dict({**Settings().to_dict(), "analysis": values})


@pytest.mark.parametrize("values", [None, [], 5, "text"])
def test_what_is_no_object_has_no_version(values: Any) -> None:
    """Settings that are no JSON object are a format mismatch too."""
    with pytest.raises(FormatMismatchError, match="format version None"):
        Settings.from_dict(values)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"analysis": None}, f"{ANALYSIS}, not None"),
        ({"minhash": None}, f"{MINHASH}, not None"),
        ({"token_length": None}, "token_length must be 4 or 5, not 0"),
        ({"token_length": "4"}, "token_length must be 4 or 5, not '4'"),
        ({"token_length": 7}, "token_length must be 4 or 5, not 7"),
        ({"analysis": []}, f"{ANALYSIS}, not []"),
        ({"analysis": {"profile": "upper"}}, "profile must be 'nfkc_cf' or 'lowercase', not 'upper'"),
        ({"analysis": {"shingle_size": "5"}}, "shingle_size must be a whole number of at least 1, not '5'"),
        (
            {"minhash": {"bucket_count": "512"}},
            "bucket_count must be a whole number of at least 1, not '512'",
        ),
        ({"minhash": {"hash_count": 0}}, "hash_count must be a whole number of at least 1, not 0"),
        ({"analysis": 5}, f"{ANALYSIS}, not 5"),
    ],
)
def test_damaged_settings_are_refused(changes: dict[str, Any], reason: str) -> None:
    """A missing part, an unknown setting or a value of the wrong type is one sentence with its reason."""
    with pytest.raises(FormatMismatchError) as error:
        Settings.from_dict(written(**changes))

    assert f"damaged settings ({reason}); index again" == str(error.value)


def test_a_format_mismatch_is_a_store_error() -> None:
    """Who catches the package's errors, or those of stores, catches this one."""
    assert issubclass(FormatMismatchError, StoreError)
    assert issubclass(StoreError, SimdocError)
