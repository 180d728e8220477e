"""Decodes the stored concepts of a text, and computes simhashes of its paragraphs.

The concepts of a text are stored as one list of 30-bit numbers. For each paragraph, the list contains one number per
occurrence of a concept, and then a 0, which is never a concept. The simhash of a paragraph can therefore be
computed at any time, with or without weights. The weights come from the current document frequencies in the store.

Source: Fowke, Hinze, Heese 2013 (Working paper 12/2013, University of Waikato), section 5.2. They use two
simhashes per paragraph: one of its distinct concepts, and one with tf-idf weights. If two simhashes differ in d of 64
bits, the cosine of the paragraphs is estimated as cos(pi d / 64) (Charikar 2002). For a cosine of 0, the standard error
is 0.2. Among hundreds of pairs of paragraphs, some therefore seem to have a cosine of 0.6. For this reason, simhashes
are only used to find the nearest paragraph. Its similarity is computed from the concepts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simdoc_search.sketch.hash_functions import mix_bits
from simdoc_search.sketch.simhash import Simhashes, simhashes

CONCEPT_LENGTH = 5
"""Number of characters in a token, 6 bits each."""

PARAGRAPH_END = 0
"""The number that is stored after each paragraph."""

_PARAGRAPHS_AT_ONCE = 1 << 16
_EXTRACTOR_NAME = re.compile(r"[a-z0-9][a-z0-9/._-]{0,17}")
_SYNONYMS_CHECK = re.compile(r"(?:[0-9a-f]{6})?")

Codes = NDArray[np.uint32]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ConceptSettings:
    """Settings of concept tokens.

    Attributes:
        extractor: name of the extractor: 1 to 18 lower-case letters, digits, `/`, `.`, `_` and `-`.
        synonyms: checksum of the synonyms, 6 hexadecimal digits; empty without synonyms.
    """

    extractor: str = "yake"
    synonyms: str = ""

    def __post_init__(self) -> None:
        if not _EXTRACTOR_NAME.fullmatch(self.extractor):
            raise ValueError(
                "the name of an extractor must be up to 18 lower-case letters, digits, '/', '.', '_' or '-', such as "
                f"'sp/en_core_web_sm', not {self.extractor!r:.60}"
            )
        if not _SYNONYMS_CHECK.fullmatch(self.synonyms):
            raise ValueError(f"the checksum of the synonyms must be 6 hexadecimal digits, not {self.synonyms!r:.60}")


@dataclass(frozen=True, slots=True, eq=False)
class ParagraphConcepts:
    """The distinct concepts of each paragraph of a text. Paragraphs without concepts are omitted.

    Attributes:
        codes: concepts of the first paragraph, ascending, then of the second, and so on; uint32, shape (entries,).
        frequencies: number of occurrences of each concept in its paragraph; int64, shape (entries,).
        paragraph_of: index of the paragraph of each concept; int64, shape (entries,), ascending.
        count: number of paragraphs.
    """

    codes: Codes
    frequencies: Ints
    paragraph_of: Ints
    count: int

    def as_one_paragraph(self) -> ParagraphConcepts:
        """Return the concepts of the whole text as one paragraph."""
        codes, inverse = np.unique(self.codes, return_inverse=True)
        frequencies = np.bincount(inverse, self.frequencies, len(codes)).astype(np.int64)
        return ParagraphConcepts(codes, frequencies, np.zeros(len(codes), np.int64), min(1, self.count))


def decode_paragraphs(stored: Codes) -> ParagraphConcepts:
    """Decode the stored concepts of a text."""
    ends = stored == PARAGRAPH_END
    _, numbers = np.unique((np.cumsum(ends) - ends)[~ends], return_inverse=True)
    keys, frequencies = np.unique(numbers.astype(np.uint64) << np.uint64(32) | stored[~ends], return_counts=True)
    numbers = (keys >> np.uint64(32)).astype(np.int64)
    codes = (keys & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    return ParagraphConcepts(codes, frequencies.astype(np.int64), numbers, int(numbers[-1]) + 1 if len(numbers) else 0)


def concatenate_paragraphs(documents: Sequence[ParagraphConcepts]) -> ParagraphConcepts:
    """Concatenate the paragraphs of several texts."""
    begins = np.cumsum([0, *(document.count for document in documents)]).tolist()
    numbers = [document.paragraph_of + begin for document, begin in zip(documents, begins, strict=False)]
    return ParagraphConcepts(
        np.concatenate([np.zeros(0, np.uint32), *(document.codes for document in documents)]),
        np.concatenate([np.zeros(0, np.int64), *(document.frequencies for document in documents)]),
        np.concatenate([np.zeros(0, np.int64), *numbers]),
        begins[-1],
    )


def paragraph_simhashes(paragraphs: ParagraphConcepts, weights: Floats | None = None) -> Simhashes:
    """Return the simhash of the concepts of each paragraph; uint64, shape (paragraphs,).

    `weights` contains the weight of each concept. If None, all weights are 1.
    """
    counts = np.bincount(paragraphs.paragraph_of, minlength=paragraphs.count)
    ends = np.append(0, np.cumsum(counts))
    values = np.zeros(paragraphs.count, np.uint64)
    for begin in range(0, paragraphs.count, _PARAGRAPHS_AT_ONCE):
        end = min(begin + _PARAGRAPHS_AT_ONCE, paragraphs.count)
        entries = slice(ends[begin], ends[end])
        hashes = mix_bits(paragraphs.codes[entries].astype(np.uint64))
        values[begin:end] = simhashes(hashes, counts[begin:end], None if weights is None else weights[entries])
    return values
