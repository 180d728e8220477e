"""All sketches that a store may use: their estimates, their stored form, and the values of datasketch."""

from __future__ import annotations

import numpy as np
import pytest

from simdoc_search import MinHash, fingerprint, fingerprints
from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.shingles import shingles
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.base import Sketch
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.sketches import SKETCHES, UniversalSketch, XorSketch

WORDS = Analysis(shingle_size=1)
ALL: list[Sketch] = [MinHash(), UniversalSketch(), XorSketch()]
KEY = HashKey("a secret of the tests")


def named(sketch: object) -> str:
    return type(sketch).__name__


@pytest.mark.parametrize("sketch", ALL, ids=named)
def test_the_textbook_example_is_estimated(sketch: Sketch) -> None:
    """{2, 3, 4} and {1, 5, 4, 2} overlap by 0.4 on average, equal sets by 1, and disjoint sets only by chance."""
    sets = ("2 3 4", "1 5 4 2", "6 7")
    texts = [" ".join(f"{word}x{number}" for word in words.split()) for number in range(200) for words in sets]
    made = fingerprints(texts, WORDS, sketch)
    found = [(a.overlap(b), a.overlap(a), a.overlap(c)) for a, b, c in zip(*[iter(made)] * 3, strict=True)]
    overlaps, same, disjoint = map(np.array, zip(*found, strict=True))

    assert 0.4 == pytest.approx(overlaps.mean(), abs=0.05 if isinstance(sketch, XorSketch) else 0.01)
    assert 1.0 == same.min()
    assert 0.03 > disjoint.max()  # tokens that match by chance
    assert 0.002 > disjoint.mean()


@pytest.mark.parametrize(
    ("sketch", "stored", "token_ids"),
    [
        (UniversalSketch(4), "universal:1 4 1 affine32 9", [178, 1002, 1297, 1587]),
        (XorSketch(4), "xor:1 4 1 9", [236, 833, 1473, 1955]),
    ],
    ids=named,
)
def test_tokens_and_names_are_stored_formats(sketch: Sketch, stored: str, token_ids: list[int]) -> None:
    """If the tokens change, the sketch needs a new version. Stored settings are read back unchanged."""
    settings = Settings(sketch=sketch)

    assert (
        token_ids == fingerprint("the quick brown fox jumps over the lazy dog", WORDS, sketch).token_ids()[:4].tolist()
    )
    assert (1, stored) == (settings.to_dict()["version"], settings.stored_specs[0])
    assert settings == Settings.from_dict(settings.to_dict())
    assert settings != Settings(sketch=XorSketch(7))
    assert {"bucketed", "universal", "xor"} == SKETCHES.keys()


@pytest.mark.parametrize(
    ("sketch", "message"),
    [
        ("shapes:1 2 3", "this version of simdoc-search cannot read sketch shapes, only bucketed, universal, xor; "),
        ("xor:2 200 1 4", "cannot read sketch xor:2, only xor:1; use the version that created the index"),
        ("xor:1 200 1 9 more", "'xor:1 200 1 9 more' is malformed; it must be like 'xor:1 200 1 9'"),
        ("xor:1 5000", "count must be a whole number from 1 to 4,096, not 5000"),
        ("xor:1 no", "invalid literal"),
        ("universal:1 128 1 other", "family must be one of affine32, affine64, legacy, not 'other'"),
    ],
)
def test_unknown_sketches_are_refused(sketch: str, message: str) -> None:
    values = Settings(sketch=XorSketch()).to_dict()

    with pytest.raises(FormatMismatchError, match=message):
        Settings.from_dict({**values, "sketches": [sketch, "passages:1 32 5"]})


def test_a_hash_key_changes_the_tokens_of_xor_and_is_refused_by_universal() -> None:
    plain, keyed = (fingerprint("one two three four five six", WORDS, XorSketch(key=key)) for key in (None, KEY))

    assert plain.token_ids().tolist() != keyed.token_ids().tolist()
    with pytest.raises(FormatMismatchError, match=r"like datasketch, does not use a hash key; unset SIMDOC_HASH_KEY"):
        Settings(sketch=UniversalSketch()).with_key(KEY)


@pytest.mark.parametrize("family", ["affine32", "affine64", "legacy"])
def test_sketches_of_datasketch_have_the_tokens_of_the_same_shingles(family: str) -> None:
    """This is checked for MinHash and LeanMinHash. Sketches with other parameters are refused."""
    datasketch = pytest.importorskip("datasketch")
    ours = UniversalSketch(64, seed=3, family=family)
    text = " ".join(f"wörd{n % 90}" for n in range(300))
    theirs = datasketch.MinHash(64, seed=3, scheme=family)
    theirs.update_batch([shingle.encode() for shingle in shingles(text)])
    token_ids = fingerprint(text, None, ours).token_ids().tolist()

    assert (
        token_ids == ours.encode_sketch(theirs).tolist() == ours.encode_sketch(datasketch.LeanMinHash(theirs)).tolist()
    )
    assert [] == ours.encode_sketch(datasketch.MinHash(64, seed=3, scheme=family)).tolist()
    with pytest.raises(FormatMismatchError, match=r"num_perm, seed and scheme \(64, 4, "):
        ours.encode_sketch(datasketch.MinHash(64, seed=4, scheme=family))
