"""What the representations of the paper take (figures 8 and 9), recomputed on its second document, and what ours do."""

from __future__ import annotations

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import words
from simdoc_search.chunks import sentence_spans
from simdoc_search.sketch.sentences import codes_of_sentences, sentence_simhashes
from tests.versions.paper import DOCUMENTS

BYTES_OF_A_WORD, BYTES_OF_A_COUNT = 6, 1
"""As figure 9 has it."""

PARAGRAPHS = DOCUMENTS[1].split("\n\n")


def bytes_of_frequencies(different: list[int]) -> int:
    return sum(different) * (BYTES_OF_A_WORD + BYTES_OF_A_COUNT)


def test_word_frequencies_take_about_497_bytes() -> None:
    """The paper counts 24, 26 and 21 different words: 26 with the signs at their ends, 21 without."""
    with_signs = [len(set(each.lower().split())) for each in PARAGRAPHS]
    without = [len(set(words(each))) for each in PARAGRAPHS]

    assert [24, 26, 22] == with_signs
    assert [24, 25, 21] == without
    assert bytes_of_frequencies(without) < 497 == bytes_of_frequencies([24, 26, 21]) < bytes_of_frequencies(with_signs)


def test_of_each_sentence_8_bytes_are_stored() -> None:
    """Five sentences: 40 bytes, as a store packs them; their tokens say the same."""
    text = DOCUMENTS[1]
    values, _ = sentence_simhashes([text[begin:end] for begin, end in sentence_spans(text)], Analysis())

    assert (5, 40) == (len(values), values.nbytes)
    assert 20 == len(codes_of_sentences(values))
