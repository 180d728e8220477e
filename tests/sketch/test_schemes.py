"""The sketches beside ours: the seeds' examples, what theory says of each, what is stored, datasketch's own values."""

from __future__ import annotations

import itertools
import math
import random
import sys
from fractions import Fraction

import datasketch
import numpy as np
import pytest

from simdoc_search import MinHash, fingerprint, fingerprints
from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.shingles import shingles
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch import long_text
from simdoc_search.sketch.base import Sketch
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.schemes import SCHEMES, BottomK, Scaled, Universal, Xor
from simdoc_search.sketch.settings import Settings

WORDS = Analysis(shingle_size=1)
EVERY: list[Sketch] = [MinHash(), Scaled(), Universal(), Xor(), BottomK()]
KEY = HashKey("a secret of the tests")


def named(sketch: Sketch) -> str:
    """What a test is called."""
    return type(sketch).__name__


@pytest.mark.parametrize("sketch", [MinHash(), Scaled(scale=1), Universal(), Xor(), BottomK()], ids=named)
def test_the_example_of_the_seeds_is_estimated(sketch: Sketch) -> None:
    """{2, 3, 4} against {1, 5, 4, 2} is 0.4, itself 1, and disjoint 0; on average by what chooses among so few."""
    sets = ("2 3 4", "1 5 4 2", "6 7")
    texts = [" ".join(f"{each}x{number}" for each in its.split()) for number in range(200) for its in sets]
    made = list(fingerprints(texts, WORDS, sketch))
    found = [(a.overlap(b), a.overlap(a), a.overlap(c)) for a, b, c in zip(*[iter(made)] * 3, strict=True)]
    overlaps, same, disjoint = map(np.array, zip(*found, strict=True))

    assert 0.4 == pytest.approx(overlaps.mean(), abs=0.01 if isinstance(sketch, MinHash | Universal) else 0.05)
    assert not isinstance(sketch, Scaled | BottomK) or set(overlaps) == {0.4}
    assert 1.0 == same.min()
    assert 0.01 > disjoint.max()  # a token in 65,536 is equal by chance


def pairs(count: int, union: int, overlap: Fraction) -> list[tuple[str, str]]:
    """Texts of distinct words whose sets have exactly this Jaccard similarity."""
    rng, found = random.Random(7), []
    shared, only = int(union * overlap), int(union * (1 - overlap)) // 2
    for number in range(count):
        words = [f"x{number}y{each}" for each in rng.sample(range(10**9), union)]
        both = words[:shared]
        found.append((" ".join(both + words[shared : shared + only]), " ".join(both + words[shared + only :])))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sketch", "draws"),
    [
        (MinHash(), 512),
        (Scaled(), 1500 / 8 / (1 - 1 / 8)),
        (Universal(), 128),
        (Xor(), 200),
        (BottomK(), 512 / (1 - 512 / 1500)),
    ],
    ids=lambda each: named(each) if not isinstance(each, int | float) else "",
)
def test_estimates_are_unbiased_and_err_as_theory_says(sketch: Sketch, draws: float) -> None:
    """The root mean square error is sqrt(J (1 - J) / draws), where draws without replacement count for more."""
    overlap, count = Fraction(2, 5), 400
    made = iter(fingerprints(itertools.chain(*pairs(count, 1500, overlap)), WORDS, sketch))
    errors = np.array([a.overlap(b) - float(overlap) for a, b in zip(made, made, strict=True)])
    rmse, theory = math.sqrt(float((errors**2).mean())), math.sqrt(0.4 * 0.6 / draws)

    assert 3.5 * theory / math.sqrt(count) > abs(float(errors.mean()))
    assert (0.75 if isinstance(sketch, MinHash) else 0.87) * theory < rmse < 1.15 * theory


def test_containment_is_estimated_however_long_the_other_one_is() -> None:
    """By scaled: an excerpt in a document a hundred times as long has all its tokens there."""
    long = [f"word{number}" for number in range(60_000)]
    a, b = fingerprints([" ".join(long[300:900]), " ".join(long)], None, Scaled())

    assert 1.0 == Scaled().containment(a.codes(), b.codes())
    assert 0.02 > Scaled().containment(b.codes(), a.codes()) > 0.005
    assert 50 < len(a.codes()) < 100


@pytest.mark.parametrize("sketch", EVERY, ids=named)
def test_a_text_has_the_same_tokens_alone_among_others_and_in_pieces(
    sketch: Sketch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None for a text without words; ascending, and none twice."""
    texts = ["", " ".join(f"w{n % 700}" for n in range(3000)), "a few words", ""]
    together = [each.codes().tolist() for each in fingerprints(texts, None, sketch)]
    monkeypatch.setattr(sys.modules["simdoc_search.sketch.fingerprint"], "LONG", 1)
    monkeypatch.setattr(long_text, "_PIECE", 900)

    assert together == [fingerprint(each, None, sketch).codes().tolist() for each in texts]
    assert [] == together[0] == together[3]
    assert all(each == sorted(set(each)) for each in together)
    assert len(together[1]) > 60


GOLDEN: dict[Sketch, list[int]] = {
    Scaled(2): [2532396, 5370181, 6028785, 9703705],
    Universal(4): [1462874, 8210137, 10626112, 13006373],
    Xor(4): [1934413, 6829922, 12068887, 16021113],
    BottomK(4): [1266198, 2685090, 3014392, 4851852],
}


@pytest.mark.parametrize("sketch", GOLDEN, ids=named)
def test_tokens_are_those_that_are_stored(sketch: Sketch) -> None:
    """A change here needs a new version of that sketch."""
    made = fingerprint("the quick brown fox jumps over the lazy dog", WORDS, sketch)

    assert GOLDEN[sketch] == made.codes()[:4].tolist()


@pytest.mark.parametrize("sketch", EVERY, ids=named)
def test_settings_name_the_sketch(sketch: Sketch) -> None:
    """What is written is read; another size is another sketch."""
    settings = Settings(minhash=sketch)

    assert settings == Settings.from_dict(settings.to_dict())
    assert settings != Settings(minhash=BottomK(7))
    assert settings.to_dict()["version"] == (2 if isinstance(sketch, MinHash) else 3)


def test_the_names_of_stored_sketches() -> None:
    """These very strings are in stores that exist."""
    stored = [Settings(minhash=each).sketches[0] for each in EVERY]

    assert [
        "bucketed:1 512 1 false 4",
        "scaled:1 8 4",
        "universal:1 128 1 affine32 4",
        "xor:1 200 1 4",
        "bottom_k:1 512 4",
    ] == stored
    assert [*SCHEMES] == [each.partition(":")[0] for each in stored]


@pytest.mark.parametrize(
    ("sketch", "message"),
    [
        ("shapes:1 2 3", "sketch shapes, and this simdoc-search reads bucketed, scaled, universal, xor, bottom_k; "),
        ("xor:2 200 1 4", "sketch xor:2, and this simdoc-search reads xor:1; use the version that made it, or index"),
        ("xor:1 200 1 4 more", "'xor:1 200 1 4 more' is not like 'xor:1 200 1 4'"),
        ("xor:1 5000", "count must be a whole number from 1 to 4,096, not 5000"),
        ("scaled:1 0", "scale must be a whole number from 1 to 1,000,000, not 0"),
        ("bottom_k:1 no", "invalid literal"),
        ("universal:1 128 1 other", "family must be one of affine32, affine64, legacy, not 'other'"),
    ],
)
def test_a_sketch_that_is_not_ours_is_refused(sketch: str, message: str) -> None:
    """Its name, its version, its values; a passage token is no sketch of tokens either."""
    values = Settings(minhash=Xor()).to_dict()

    with pytest.raises(FormatMismatchError, match=message):
        Settings.from_dict({**values, "sketches": [sketch, "passages:1 32 5"]})


def test_a_hash_key_changes_the_tokens_but_of_universal() -> None:
    """Which hashes as datasketch does, and refuses one in a sentence."""
    for kind in (Scaled, Xor, BottomK):
        plain, keyed = (fingerprint("one two three four five six", WORDS, kind(key=key)) for key in (None, KEY))
        assert plain.codes().tolist() != keyed.codes().tolist()
    with pytest.raises(FormatMismatchError, match="hashes without a key, as datasketch does; unset SIMDOC_HASH_KEY"):
        Settings(minhash=Universal()).with_key(KEY)


@pytest.mark.parametrize("family", ["affine32", "affine64", "legacy"])
def test_values_are_those_of_datasketch(family: str) -> None:
    """From and to its MinHash and LeanMinHash: made there of the same shingles, or here, the tokens are equal."""
    ours = Universal(64, seed=3, family=family)
    text = " ".join(f"wörd{n % 90}" for n in range(300))
    theirs = datasketch.MinHash(64, seed=3, scheme=family)
    theirs.update_batch([each.encode() for each in shingles(text)])
    codes = fingerprint(text, None, ours).codes().tolist()

    assert codes == ours.codes_of(theirs).tolist() == ours.codes_of(datasketch.LeanMinHash(theirs)).tolist()
    assert theirs.hashvalues.tolist() == ours.sketch_of(text).hashvalues.tolist()
    assert 1.0 == ours.sketch_of(text).jaccard(datasketch.LeanMinHash(theirs))
    assert [] == ours.codes_of(datasketch.MinHash(64, seed=3, scheme=family)).tolist()
    with pytest.raises(FormatMismatchError, match=r"num_perm, seed and scheme \(64, 4, "):
        ours.codes_of(datasketch.MinHash(64, seed=4, scheme=family))


def test_bands_of_the_smallest_hashes_take_what_the_other_one_can_have() -> None:
    """A document twice as long keeps half as many of a text's hashes; so later ones are in no band."""
    words = [f"word{number}" for number in range(8000)]
    a, b = fingerprints([" ".join(words[:4000]), " ".join(words)], WORDS, BottomK())
    usable = BottomK().banded(512, Fraction(1, 2))

    assert 220 < usable < 256
    assert set(a.codes()[:usable].tolist()) <= set(b.codes().tolist())
    assert not set(a.codes()[300:].tolist()) <= set(b.codes().tolist())
    assert (512, 12) == (Scaled().banded(512, Fraction(1, 2)), BottomK().banded(12, Fraction(1, 2)))
