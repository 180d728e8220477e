"""Hash keys: without the key, nobody can compute the tokens of a text. The key is never shown."""

from __future__ import annotations

import json
import pickle
import random
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import Analysis, MinHash, fingerprint, fingerprints
from simdoc_search.analysis.shingles import shingles
from simdoc_search.attach.min_hash import build_min_hash_index
from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.sketch import overlap_of_tokens
from simdoc_search.sketch.key import HASH_KEY_VARIABLE, HashKey, resolve_hash_key
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.schema import format_label, parse_meta, to_meta
from tests.support.adversarial_words import adversarial_words
from tests.support.strategies import texts
from tests.support.texts import text as some_text

SECRET = "correct horse battery staple"
KEY = HashKey(SECRET)
KEYED = MinHash(key=KEY)


def jaccard(one: str, other: str) -> float:
    a, b = set(shingles(one)), set(shingles(other))
    return len(a & b) / len(a | b)


def test_keyed_tokens_are_a_stored_format() -> None:
    """If this fails, existing indexes with a key become unreadable. A key can be pickled for worker processes."""
    for minhash in (KEYED, pickle.loads(pickle.dumps(KEYED))):
        fp = fingerprint("the quick brown fox jumps over the lazy dog", None, minhash)
        assert "$>% KC, T'M W)% {PC" == " ".join(fp.tokens())
    assert "59c6c5e7deaf6d32" == KEY.checksum


@given(texts(), texts(), st.sampled_from([Analysis(), Analysis(shingle_size=1), Analysis(unit="character")]))
def test_a_key_changes_only_the_tokens(text: str, other: str, analysis: Analysis) -> None:
    """Two texts share keyed tokens only if they share shingles. One of 2**18 pairs of tokens is equal by chance."""
    plain = fingerprint(text, analysis)
    keyed, second = fingerprints([text, other], analysis, KEYED)
    shared = set(shingles(text, analysis)) & set(shingles(other, analysis))

    assert plain.shingle_count == keyed.shingle_count
    assert bool(plain.tokens()) == bool(keyed.tokens())
    assert shared or len(set(keyed.tokens()) & set(second.tokens())) <= 1


def test_keyed_fingerprints_have_no_lucene_terms() -> None:
    """An engine's own filter does not support keys."""
    with pytest.raises(ValueError, match="hash key"):
        fingerprint("some text", None, KEYED).tokens("lucene")
    with pytest.raises(ValueError, match="hash key"):
        build_min_hash_index(minhash=KEYED)


def test_adversarial_words_make_texts_look_alike_only_without_a_key() -> None:
    """Words that win every bucket without a key, or with another key, have no effect with this key."""
    plain, keyed, foreign = (
        MinHash(bucket_count=64, key=key) for key in (None, KEY, HashKey("the key of an attacker"))
    )
    for crafted, minhash in ((plain, plain), (plain, keyed), (foreign, keyed)):
        words = adversarial_words(crafted)
        one, other = (f"{some_text(random.Random(seed), 2000)} {words}" for seed in (1, 2))
        a, b = fingerprints([one, other], None, minhash)
        true = jaccard(one, other)
        assert a.overlap(b) == overlap_of_tokens(a.tokens(), b.tokens())

        if minhash is plain:
            assert true < 0.1
            assert a.overlap(b) > 0.9
        else:
            assert abs(true - a.overlap(b)) < 4 * (true * (1 - true) / 64) ** 0.5


def test_the_key_is_never_shown() -> None:
    """The secret and the bits derived from it are neither printed nor stored."""
    settings = Settings(sketch=KEYED)
    bits = [format(word, base) for word in KEY.siphash_key for base in ("d", "x")]
    shown = [repr(KEY), str(KEY), repr(KEYED), repr(settings), str(asdict(settings)), format_label(settings)]
    shown += [json.dumps(settings.to_dict()), json.dumps(to_meta(settings)), repr(fingerprint("a", None, KEYED))]

    assert [] == [text for text in shown for secret in (SECRET, *bits) if secret in text]
    assert KEY.checksum in repr(KEY)
    with pytest.raises(ValueError, match="at least 16 characters; create a key with: openssl rand") as caught:
        HashKey("secret")
    assert "secret" not in str(caught.value)


def test_the_key_comes_from_the_caller_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty variable does not count as a key."""
    monkeypatch.setenv(HASH_KEY_VARIABLE, "")
    assert None is resolve_hash_key()
    monkeypatch.setenv(HASH_KEY_VARIABLE, SECRET)
    assert KEY == resolve_hash_key()
    assert HashKey("another secret key") == resolve_hash_key("another secret key")
    monkeypatch.setenv(HASH_KEY_VARIABLE, "too short")

    with pytest.raises(StoreError, match=r"^SIMDOC_HASH_KEY: a hash key must have at least 16 characters"):
        resolve_hash_key()


def test_an_index_stores_only_the_check_value() -> None:
    """The checksum is not enough to make a fingerprint. The right key is needed."""
    settings = Settings(sketch=KEYED)

    assert {**Settings().to_dict(), "hash_key_check": KEY.checksum} == settings.to_dict()
    assert {**to_meta(Settings()), "simdoc_key": KEY.checksum} == to_meta(settings)
    assert format_label(Settings()).replace("; passages", f"; key {KEY.checksum}; passages") == format_label(settings)
    for read in (Settings.from_dict(settings.to_dict()), parse_meta(to_meta(settings))):
        assert settings == read
        with pytest.raises(FormatMismatchError, match="set SIMDOC_HASH_KEY"):
            fingerprint("some text", None, read.sketch)
        unlocked = read.with_verified_key(KEY, "the index")
        assert fingerprint("a b", None, KEYED).tokens() == fingerprint("a b", None, unlocked.sketch).tokens()
