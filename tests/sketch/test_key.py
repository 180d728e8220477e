"""A hash key: which tokens a text gets cannot be told without it, and it is shown nowhere."""

from __future__ import annotations

import json
import pickle
import random
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import Analysis, MinHash, fingerprint, fingerprints
from simdoc_search.analysis.shingles import shingles
from simdoc_search.attach.min_hash import min_hash_index
from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.sketch import overlap_of_tokens
from simdoc_search.sketch.key import HASH_KEY, HashKey, key_from
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.schema import format_label, settings_of, to_meta
from tests.support.attack import crafted_words
from tests.support.strategies import texts
from tests.support.texts import text as some_text

SECRET = "correct horse battery staple"
KEY = HashKey(SECRET)
KEYED = MinHash(key=KEY)


# --- what a key does ---


def test_keyed_tokens_are_a_stored_format() -> None:
    """The key and the text decide them; a change here makes keyed indexes unreadable."""
    fp = fingerprint("the quick brown fox jumps over the lazy dog", None, KEYED)

    assert "59c6c5e7deaf6d32" == KEY.check
    assert "$>%* KC,4 T'MX W)%R {PC@" == " ".join(fp.tokens())


@given(texts(), texts(), st.sampled_from([Analysis(), Analysis(shingle_size=1), Analysis(unit="character")]))
def test_a_key_changes_tokens_and_nothing_else(text: str, other: str, analysis: Analysis) -> None:
    """As many shingles as without, tokens that two texts share are those of shingles that they share."""
    plain = fingerprint(text, analysis)
    keyed, second = fingerprints([text, other], analysis, KEYED)
    shared = set(shingles(text, analysis)) & set(shingles(other, analysis))

    assert plain.shingles == keyed.shingles
    assert bool(plain.tokens()) == bool(keyed.tokens())
    assert set(keyed.tokens()) == set(fingerprint(text, analysis, KEYED).tokens())
    assert shared or not set(keyed.tokens()) & set(second.tokens())


def test_the_keyed_estimate_is_as_good() -> None:
    """Within 4 standard errors over texts of known overlap."""
    generator = random.Random(7)
    errors = []
    for number in range(60):
        words = [f"w{generator.randrange(10**6)}" for _ in range(1200)]
        cut = 10 * number
        one, other = " ".join(words[: 1200 - cut]), " ".join(words[cut:])
        a, b = fingerprints([one, other], None, KEYED)
        sets = set(shingles(one)), set(shingles(other))
        errors.append(a.overlap(b) - len(sets[0] & sets[1]) / len(sets[0] | sets[1]))

    assert abs(np.mean(errors)) < 4 * 0.022 / 60**0.5
    assert np.std(errors) < 0.022 * 1.5


def test_fingerprints_of_different_keys_are_not_compared() -> None:
    """Nor those with and without one."""
    made = [fingerprint("some text", None, MinHash(key=key)) for key in (None, KEY, HashKey(SECRET + "!"))]
    for one in made:
        for other in made:
            if one is not other:
                with pytest.raises(ValueError, match="different settings"):
                    one.overlap(other)


def test_a_keyed_fingerprint_has_no_terms_of_lucenes() -> None:
    """An engine's own filter does not know the key."""
    with pytest.raises(ValueError, match="hash key"):
        fingerprint("some text", None, KEYED).tokens("lucene")
    with pytest.raises(ValueError, match="hash key"):
        min_hash_index(minhash=KEYED)


# --- the attack that it is for ---


def with_words(crafted: str, seed: int) -> str:
    """A text of 2,000 words, and the crafted ones at its end."""
    return f"{some_text(random.Random(seed), 2000)} {crafted}"


def test_words_that_win_every_bucket_make_texts_look_alike_without_a_key() -> None:
    """The attack is real: two texts that share 7 % are said to be nearly equal, after 60,000 tries for 64 buckets."""
    minhash = MinHash(bucket_count=64)
    crafted = crafted_words(minhash)
    a, b = fingerprints([with_words(crafted, 1), with_words(crafted, 2)], None, minhash)

    assert a.overlap(b) > 0.9


def test_words_that_win_every_bucket_win_none_with_a_key() -> None:
    """Who tries without the key, or with another one, gets texts that look as alike as they are."""
    crafted = crafted_words(MinHash(bucket_count=64))
    other_key = crafted_words(MinHash(bucket_count=64, key=HashKey("the key of an attacker")))
    for words in (crafted, other_key):
        one, other = with_words(words, 1), with_words(words, 2)
        a, b = fingerprints([one, other], None, MinHash(bucket_count=64, key=KEY))
        sets = set(shingles(one)), set(shingles(other))
        true = len(sets[0] & sets[1]) / len(sets[0] | sets[1])

        assert abs(true - a.overlap(b)) < 4 * (true * (1 - true) / 64) ** 0.5


# --- that it is shown nowhere ---


def test_the_key_is_shown_nowhere() -> None:
    """Neither it nor the bits made of it stand in what is printed or stored."""
    settings = Settings(minhash=KEYED)
    bits = [format(word, base) for word in KEY.words for base in ("d", "x")]
    shown = [repr(KEY), str(KEY), repr(KEYED), repr(settings), str(asdict(settings)), format_label(settings)]
    shown += [json.dumps(settings.to_dict()), json.dumps(to_meta(settings)), repr(fingerprint("a", None, KEYED))]

    assert [] == [each for each in shown for secret in (SECRET, *bits) if secret in each]
    assert KEY.check in repr(KEY)


def test_a_key_that_is_too_short_is_refused_and_not_shown() -> None:
    """The sentence says how one is made."""
    with pytest.raises(ValueError, match="at least 16 characters; make one with: openssl rand") as caught:
        HashKey("secret")

    assert "secret" not in str(caught.value)


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty variable is none; what a program gives counts more."""
    monkeypatch.delenv(HASH_KEY, raising=False)
    assert None is key_from()
    monkeypatch.setenv(HASH_KEY, "")
    assert None is key_from()
    monkeypatch.setenv(HASH_KEY, SECRET)
    assert KEY == key_from()
    assert HashKey("another secret key") == key_from("another secret key")
    monkeypatch.setenv(HASH_KEY, "too short")

    with pytest.raises(StoreError, match=r"^SIMDOC_HASH_KEY: a hash key has at least 16 characters"):
        key_from()


def test_a_key_survives_the_way_to_another_process() -> None:
    """Workers hash with it."""
    sent = pickle.loads(pickle.dumps(KEYED))

    assert KEYED == sent
    assert fingerprint("a b c", None, KEYED).tokens() == fingerprint("a b c", None, sent).tokens()


# --- what an index knows of it ---


@pytest.mark.parametrize("way", ["file", "meta"])
def test_an_index_knows_the_check_value_alone(way: str) -> None:
    """With it a fingerprint cannot be made; with the right key it can."""
    settings = Settings(minhash=KEYED)
    read = Settings.from_dict(settings.to_dict()) if way == "file" else settings_of(to_meta(settings))

    assert settings == read
    with pytest.raises(FormatMismatchError, match="set SIMDOC_HASH_KEY"):
        fingerprint("some text", None, read.minhash)
    unlocked = read.unlocked(KEY, "the store")
    assert fingerprint("a b", None, KEYED).tokens() == fingerprint("a b", None, unlocked.minhash).tokens()


def test_the_stored_form_of_a_keyed_index() -> None:
    """In the settings file, the field's meta and each document's label."""
    settings = Settings(minhash=KEYED)

    assert {**Settings().to_dict(), "hash_key_check": KEY.check} == settings.to_dict()
    assert {**to_meta(Settings()), "simdoc_key": KEY.check} == to_meta(settings)
    assert format_label(Settings()).replace("; passages", f"; key {KEY.check}; passages") == format_label(settings)
    assert KEY.check in format_label(settings)


@pytest.mark.parametrize(
    ("theirs", "ours", "said"),
    [
        (KEY, None, "the store was made with a secret hash key; set SIMDOC_HASH_KEY to it"),
        (KEY, HashKey("another secret key"), "the store was made with another hash key than that in SIMDOC_HASH_KEY"),
        (None, KEY, "the store was made without a hash key; unset SIMDOC_HASH_KEY, or index into a new store"),
    ],
)
def test_a_store_of_another_key_is_refused(theirs: HashKey | None, ours: HashKey | None, said: str) -> None:
    """One sentence, without any secret."""
    stored = replace(Settings(), minhash=MinHash(key=theirs and HashKey.of_check(theirs.check)))
    with pytest.raises(FormatMismatchError) as caught:
        stored.unlocked(ours, "the store")

    assert str(caught.value).startswith(said)
    assert SECRET not in str(caught.value) + repr(caught.value.found) + repr(caught.value.expected)


def test_keyed_tokens_are_compared_as_others_are() -> None:
    """The estimate from tokens needs no key."""
    a, b = fingerprints(["one two three four five six", "one two three four five seven"], None, KEYED)

    assert a.overlap(b) == overlap_of_tokens(a.tokens(), b.tokens())
