"""Numbers of sentences: like ones differ in few bits, and whoever asks with their tokens finds all that are near."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.analysis.settings import Analysis
from simdoc_search.sketch.limits import BITS
from simdoc_search.sketch.sentences import (
    MAX_QUERY_CODES,
    query_codes,
    codes_of_sentences,
    flips_for,
    sentence_simhashes,
    sentences_of_codes,
)
from simdoc_search.sketch.simhash import distances

SENTENCE = "The harbour master wrote down the name of every ship that left before the storm came in from the west."
OTHER = "A good loaf needs flour, water, salt, and more patience than most people have on a Sunday morning."

GOLDEN = ["9c525aeb4b9071ab", "167572080bbe7106", "03fad6a17f245735", "13bf556f4913c06c"]

numbers = st.lists(st.integers(0, 2**64 - 1), max_size=8).map(lambda values: np.array(values, np.uint64))


def bits(a: str, b: str) -> int:
    values, _ = sentence_simhashes([a, b], Analysis())
    return int(distances(values[:1], values[1:])[0])


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
    """A word or two may differ, or their order."""
    assert bits(SENTENCE, edited) <= BITS


def test_letter_case_punctuation_and_line_breaks_make_no_difference() -> None:
    """As they make none to the words."""
    assert bits(SENTENCE, f"  «{SENTENCE.upper().replace(' ', chr(10))}» ") == 0


def test_another_sentence_is_far() -> None:
    """Of unrelated ones half of the bits differ, less what all sentences of a language share."""
    assert bits(SENTENCE, OTHER) > BITS + 8


def test_the_numbers_are_as_stored() -> None:
    """Golden values: another number means another version of the sketch."""
    texts = [SENTENCE, OTHER, "Это предложение о море и кораблях.", "これは海と船についての文です。"]
    values, kept = sentence_simhashes(texts, Analysis())
    assert kept.tolist() == [0, 1, 2, 3]
    assert [f"{value:016x}" for value in values.tolist()] == GOLDEN


@given(st.text("ab cü", min_size=16, max_size=60).map(str.split).filter(lambda words: len("".join(words)) > 15))
def test_the_numbers_are_those_of_a_plain_loop(words: list[str]) -> None:
    """Over the distinct runs of three letters, each voting with the bits of its hash."""
    text, mask = f" {' '.join(words)} ", 2**64 - 1
    votes = [0] * 64
    for a, b, c in set(zip(text, text[1:], text[2:], strict=False)):
        value = (ord(a) << 32 | ord(b) << 16 | ord(c)) + 0x9E3779B97F4A7C15 & mask
        for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
            value = (value ^ value >> 33) * factor & mask
        value ^= value >> 33
        votes = [vote + (1 if value >> bit & 1 else -1) for bit, vote in enumerate(votes)]
    values, _ = sentence_simhashes([" ".join(words)], Analysis())
    assert [sum(1 << bit for bit, vote in enumerate(votes) if vote > 0)] == values.tolist()


def test_sentences_of_a_few_letters_count_only_where_there_are_no_others() -> None:
    """ "See also" is in every document; of a document of three words it is all there is."""
    _, kept = sentence_simhashes(["See also", SENTENCE, "— —", "Ok."], Analysis())
    assert kept.tolist() == [1]
    _, kept = sentence_simhashes(["See also", "— —", "Ok."], Analysis())
    assert kept.tolist() == [0, 2]
    values, kept = sentence_simhashes(["—", ""], Analysis())
    assert len(values) == len(kept) == 0
    values, kept = sentence_simhashes([], Analysis())
    assert len(values) == len(kept) == 0


def test_a_sentence_has_its_number_whatever_stands_around_it() -> None:
    """Many are made at once."""
    texts = [SENTENCE, "naïve résumé of an Ångström unit", OTHER, "字" * 40, "x" * 300]
    together, _ = sentence_simhashes(texts, Analysis())
    alone = [int(sentence_simhashes([each], Analysis())[0][0]) for each in texts]
    assert alone == together.tolist()


@given(numbers)
def test_stored_tokens_give_the_numbers_back(values: np.ndarray) -> None:
    """In order, repeats included."""
    assert values.tolist() == sentences_of_codes(codes_of_sentences(values)).tolist()


@pytest.mark.parametrize("codes", [[1], [0, 1 << 16, 2 << 16, 0], [1 << 16, 0, 2 << 16, 3 << 16], [0, 0, 0, 0, 0]])
def test_other_tokens_are_refused(codes: list[int]) -> None:
    """Such as others wrote into the field."""
    with pytest.raises(ValueError, match="not those of sentences"):
        sentences_of_codes(np.array(codes, np.uint32))


@pytest.mark.parametrize("flips", [0, 1, 2])
@given(data=st.data())
def test_near_numbers_have_a_token_that_is_asked_for(flips: int, data: st.DataObject) -> None:
    """The pigeonhole principle, for any of the bits that differ."""
    value = data.draw(st.integers(0, 2**64 - 1))
    near = value ^ sum(1 << bit for bit in data.draw(st.sets(st.integers(0, 63), max_size=4 * flips + 3)))
    asked = query_codes(np.array([value], np.uint64), flips)
    assert (1, {0: 4, 1: 68, 2: 548}[flips]) == asked.shape
    assert len(set(asked[0].tolist())) == asked.shape[1]
    assert set(asked[0].tolist()) & set(codes_of_sentences(np.array([near], np.uint64)).tolist())


def test_with_a_bit_more_it_need_not_have_one() -> None:
    """Two bits in each block: so the promise is the most that can be made."""
    far = sum(0b11 << 16 * block for block in range(4))
    asked = query_codes(np.zeros(1, np.uint64))
    assert not set(asked[0].tolist()) & set(codes_of_sentences(np.array([far], np.uint64)).tolist())


@pytest.mark.parametrize(("flips", "bits", "share"), [(1, 8, 0.95), (1, 10, 0.74), (1, 12, 0.49), (2, 12, 0.97)])
def test_of_sentences_further_away_a_share_has_one(flips: int, bits: int, share: float) -> None:
    """As the docstring says: counted over all ways to have so many bits in blocks of 16."""
    blocks = range(bits + 1)
    missed = sum(
        math.prod(math.comb(16, each) for each in some)
        for some in product(blocks, repeat=4)
        if sum(some) == bits and min(some) > flips
    )
    assert share == pytest.approx(1 - missed / math.comb(64, bits), abs=0.005)


@pytest.mark.parametrize(
    ("count", "most", "flips"),
    [(64, 0, 0), (64, 3, 0), (64, 7, 1), (8, 11, 2), (9, 11, 1), (8, 12, 2), (1, 12, 3), (1, 16, 3)],
)
def test_few_sentences_are_asked_for_with_more_flips(count: int, most: int, flips: int) -> None:
    """As many as the bits need, and the number of tokens allows."""
    assert flips == flips_for(count, most)
    if flips > 1:
        assert query_codes(np.zeros(count, np.uint64), flips).size <= MAX_QUERY_CODES
