"""Simhashes of sentences: those of similar sentences differ in few bits, and tokens find all near ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.analysis.settings import Analysis
from simdoc_search.sketch.sentences import (
    MAX_MULTI_FLIP_QUERY_TOKENS,
    choose_flip_count,
    decode_simhashes,
    encode_simhashes,
    query_token_ids,
    sentence_simhashes,
)
from simdoc_search.sketch.simhash import hamming_distances
from simdoc_search.sketch.thresholds import DEFAULT_MAX_DISTANCE

SENTENCE = "The harbour master wrote down the name of every ship that left before the storm came in from the west."
OTHER = "A good loaf needs flour, water, salt, and more patience than most people have on a Sunday morning."
GOLDEN = ["9c525aeb4b9071ab", "167572080bbe7106", "03fad6a17f245735", "13bf556f4913c06c"]

numbers = st.lists(st.integers(0, 2**64 - 1), max_size=8).map(lambda values: np.array(values, np.uint64))


def simhashes_of(*sentences: str) -> list[int]:
    return list(map(int, sentence_simhashes(sentences, Analysis())[0]))


def kept(*sentences: str) -> list[int]:
    return list(map(int, sentence_simhashes(sentences, Analysis())[1]))


@pytest.mark.parametrize(
    "edited",
    [
        SENTENCE.replace("wrote down", "noted"),
        SENTENCE.replace("every", "each"),
        f"{SENTENCE[:-1]}, and the time.",
        "Before the storm came in from the west the harbour master wrote down the name of every ship that left.",
    ],
)
def test_an_edited_sentence_is_near(edited: str) -> None:
    """One or two words, or the order of the words, may differ."""
    a, b = simhashes_of(SENTENCE, edited)

    assert (a ^ b).bit_count() <= DEFAULT_MAX_DISTANCE


def test_an_unrelated_sentence_is_far_and_punctuation_makes_no_difference() -> None:
    a, same, other = simhashes_of(SENTENCE, f"  «{SENTENCE.upper().replace(' ', chr(10))}» ", OTHER)

    assert a == same
    assert DEFAULT_MAX_DISTANCE + 8 < hamming_distances(np.array([a], np.uint64), np.array([other], np.uint64))[0]


def test_simhashes_are_a_stored_format() -> None:
    """If these numbers change, the sketch needs a new version."""
    texts = [SENTENCE, OTHER, "Это предложение о море и кораблях.", "これは海と船についての文です。"]

    assert GOLDEN == [f"{value:016x}" for value in simhashes_of(*texts)]


@given(st.text("ab cü", min_size=16, max_size=60).map(str.split).filter(lambda words: len("".join(words)) > 15))
def test_simhashes_follow_the_definition(words: list[str]) -> None:
    """Each distinct run of three letters votes with the bits of its hash."""
    text, mask = f" {' '.join(words)} ", 2**64 - 1
    votes = [0] * 64
    for a, b, c in set(zip(text, text[1:], text[2:], strict=False)):
        value = (ord(a) << 32 | ord(b) << 16 | ord(c)) + 0x9E3779B97F4A7C15 & mask
        for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
            value = (value ^ value >> 33) * factor & mask
        value ^= value >> 33
        votes = [vote + (1 if value >> bit & 1 else -1) for bit, vote in enumerate(votes)]

    assert [sum(1 << bit for bit, vote in enumerate(votes) if vote > 0)] == simhashes_of(" ".join(words))


def test_short_sentences_are_kept_only_if_there_are_no_others() -> None:
    """ "See also" is in every document, but a short document may have no other sentence."""
    assert [1] == kept("See also", SENTENCE, "— —", "Ok.")
    assert [0, 2] == kept("See also", "— —", "Ok.")
    assert [] == kept("—", "") == kept() == simhashes_of()


def test_the_length_of_a_sentence_is_its_number_of_utf_8_bytes() -> None:
    """So few Chinese characters are as long as many letters. Spaces do not count."""
    for shortest in ("a" * 16, "é" * 8, "字" * 5 + "a", "𠀀" * 4, "a bcd " * 4):
        assert [0, 1] == kept(shortest, SENTENCE)
        assert [1] == kept(shortest.rstrip()[:-1], SENTENCE)


def test_a_simhash_does_not_depend_on_other_sentences() -> None:
    texts = [SENTENCE, "naïve résumé of an Ångström unit", OTHER, "字" * 40, "x" * 300]

    assert [value for text in texts for value in simhashes_of(text)] == simhashes_of(*texts)


@given(numbers)
def test_stored_tokens_are_read_back(values: np.ndarray) -> None:
    assert values.tolist() == decode_simhashes(encode_simhashes(values)).tolist()


@pytest.mark.parametrize("token_ids", [[1], [0, 1 << 16, 2 << 16, 0], [1 << 16, 0, 2 << 16, 3 << 16], [0, 0, 0, 0, 0]])
def test_malformed_tokens_are_refused(token_ids: list[int]) -> None:
    with pytest.raises(ValueError, match="sentence tokens are damaged"):
        decode_simhashes(np.array(token_ids, np.uint32))


@given(st.data(), st.sampled_from([0, 1, 2]))
def test_every_near_number_has_a_query_token(data: st.DataObject, flips: int) -> None:
    """Any 4 `flips` + 3 bits may differ (pigeonhole principle). If one more differs, there may be no such token."""
    value = data.draw(st.integers(0, 2**64 - 1))
    near = value ^ sum(1 << bit for bit in data.draw(st.sets(st.integers(0, 63), max_size=4 * flips + 3)))
    far = value ^ sum((1 << flips + 1) - 1 << 16 * block for block in range(4))
    (token_ids,) = query_token_ids(np.array([value], np.uint64), flips).tolist()

    assert {0: 4, 1: 68, 2: 548}[flips] == len(token_ids) == len(set(token_ids))
    assert set(token_ids) & set(encode_simhashes(np.array([near], np.uint64)).tolist())
    assert not set(token_ids) & set(encode_simhashes(np.array([far], np.uint64)).tolist())


@pytest.mark.parametrize(
    ("count", "max_bits", "flips"),
    [(64, 0, 0), (64, 3, 0), (64, 7, 1), (8, 11, 2), (9, 11, 1), (8, 12, 2), (1, 12, 3), (1, 16, 3)],
)
def test_few_query_sentences_get_more_flips(count: int, max_bits: int, flips: int) -> None:
    """The flips are limited by the number of differing bits and by the number of query tokens."""
    assert flips == choose_flip_count(count, max_bits)
    assert flips < 2 or query_token_ids(np.zeros(count, np.uint64), flips).size <= MAX_MULTI_FLIP_QUERY_TOKENS
