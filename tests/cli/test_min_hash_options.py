"""`template show --min-hash` with the options of the filter."""

from __future__ import annotations

import json

import pytest

from simdoc_search import MinHash
from simdoc_search.attach.min_hash import min_hash_index
from tests.support.cli import answer, run, usage_error

SHOW = ("template", "show", "--min-hash", "text")


@pytest.mark.parametrize(
    ("options", "minhash"),
    [
        ([], MinHash(with_rotation=True)),
        (["--without-rotation"], MinHash()),
        (["--bucket-count", "100"], MinHash(bucket_count=100, with_rotation=True)),
        (["--hash-set-size", "3", "--bucket-count", "64"], MinHash(bucket_count=64, hash_set_size=3)),
    ],
)
def test_the_options_of_the_filter_are_printed(options: list[str], minhash: MinHash) -> None:
    """As the library makes them of the same values."""
    assert min_hash_index("text", minhash) == answer(*SHOW, *options)


def test_several_functions_are_printed_with_a_note() -> None:
    """An application may use them; our search does not."""
    shown = run(*SHOW, "--hash-count", "2", "--bucket-count", "64")

    assert min_hash_index("text", MinHash(2, 64, with_rotation=True)) == json.loads(shown.stdout)
    assert "note: simdoc-search similar needs a field with --hash-count 1; --bucket-count 128 has as many values\n" == (
        shown.stderr
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--bucket-count", "10000", "--hash-set-size", "2"], "make 20,000 values of a text, and engines take 10,000"),
        (["--hash-set-size", "2", "--with-rotation"], "the filter copies no values where --hash-set-size is over 1"),
        (["--bucket-count", "0"], "0 is not in the range 1<=x<=10000"),
    ],
)
def test_what_no_engine_takes_is_refused(options: list[str], said: str) -> None:
    """Before an index is made of it."""
    assert said in usage_error(run(*SHOW, *options))


def test_options_without_a_field_are_refused() -> None:
    """They would change nothing."""
    said = "the options of the filter are about --min-hash; add --min-hash TEXT_FIELD"
    assert said == usage_error(run("template", "show", "--bucket-count", "100"))
