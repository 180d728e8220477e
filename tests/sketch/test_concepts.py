"""The stored concepts of the paragraphs of a text."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.sketch import concepts
from simdoc_search.sketch.concepts import (
    PARAGRAPH_END,
    ConceptSettings,
    ParagraphConcepts,
    concatenate_paragraphs,
    decode_paragraph_concepts,
    paragraph_simhashes,
)

Paragraphs = list[list[int]]

texts = st.lists(st.lists(st.sampled_from([1, 2, 3, 2**30 - 1]), max_size=6), max_size=5)


def decoded(paragraphs: Paragraphs) -> ParagraphConcepts:
    """Store the concepts of each paragraph, and decode them."""
    stored = [number for paragraph in paragraphs for number in (*paragraph, PARAGRAPH_END)]
    return decode_paragraph_concepts(np.array(stored, np.uint32))


def counted(paragraphs: ParagraphConcepts) -> list[Counter[int]]:
    """Return the frequency of each concept in each paragraph. Each concept must occur only once, in ascending order."""
    result: list[Counter[int]] = [Counter() for _ in range(paragraphs.paragraph_count)]
    entries = zip(paragraphs.paragraph_indices, paragraphs.token_ids, paragraphs.frequencies, strict=True)
    rows = [(int(index), int(concept), int(frequency)) for index, concept, frequency in entries]
    assert sorted({row[:2] for row in rows}) == [row[:2] for row in rows]
    for index, concept, frequency in rows:
        result[index][concept] = frequency
    return result


@given(texts)
def test_stored_concepts_are_counted_per_paragraph(paragraphs: Paragraphs) -> None:
    """Paragraphs without concepts are omitted."""
    expected = [Counter(paragraph) for paragraph in paragraphs if paragraph]
    whole = Counter(concept for paragraph in paragraphs for concept in paragraph)

    assert expected == counted(decoded(paragraphs))
    assert [whole] * bool(whole) == counted(decoded(paragraphs).as_one_paragraph())


@given(st.lists(texts, max_size=4))
def test_the_paragraphs_of_several_texts_follow_each_other(documents: list[Paragraphs]) -> None:
    expected = [Counter(paragraph) for paragraphs in documents for paragraph in paragraphs if paragraph]

    assert expected == counted(concatenate_paragraphs([decoded(paragraphs) for paragraphs in documents]))


@pytest.mark.parametrize("per_batch", [2, 1 << 16])
def test_the_simhash_of_a_paragraph_depends_only_on_its_concepts(
    per_batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A concept with a large weight decides alone."""
    monkeypatch.setattr(concepts, "_PARAGRAPHS_PER_BATCH", per_batch)
    paragraphs = decoded([[5], [6, 7, 8], [9, 5], [7, 6, 8], [8]])
    values = paragraph_simhashes(paragraphs).tolist()
    weights = np.where(paragraphs.token_ids == 8, 9.0, 1.0)

    assert [value for text in ([5], [6, 7, 8], [9, 5]) for value in paragraph_simhashes(decoded([text]))] == values[:3]
    assert values[1] == values[3] != values[4]
    assert [values[4]] * 3 == paragraph_simhashes(paragraphs, weights)[[1, 3, 4]].tolist()


@pytest.mark.parametrize("name", ["names", "sp/en_core_web_sm", "a" * 18])
def test_an_extractor_has_a_short_name(name: str) -> None:
    assert "0a1b2c" == ConceptSettings(name, "0a1b2c").synonyms_checksum


@pytest.mark.parametrize(
    ("extractor", "checksum", "message"),
    [
        ("", "", "the name of an extractor must be up to 18 lower-case letters"),
        ("Names", "", "not 'Names'"),
        ("a" * 19, "", "the name of an extractor"),
        ("a b", "", "the name of an extractor"),
        ("names", "0a1b2", "the checksum of the synonyms must be 6 hexadecimal digits, not '0a1b2'"),
        ("names", "0A1B2C", "the checksum of the synonyms"),
    ],
)
def test_settings_that_cannot_be_stored_are_refused(extractor: str, checksum: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ConceptSettings(extractor, checksum)
