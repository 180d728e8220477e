"""Decodes the stored concepts of a text, and computes simhashes of its paragraphs.

The concepts of a text are stored as one list of 30-bit numbers. For each paragraph, the list contains one number per
occurrence of a concept, and then a 0. No concept has the number 0. From this list, the simhash of a paragraph can be
computed at any time, with or without weights. The weights come from the current document frequencies in the store.

Source: Fowke, Hinze, Heese 2013 (Working paper 12/2013, University of Waikato), section 5.2. They use two simhashes per
paragraph: one of its distinct concepts, and one with tf-idf weights. If two simhashes differ in d of 64 bits, the
cosine of the paragraphs is estimated as cos(pi d / 64) (Charikar 2002). For a cosine of 0, the standard error is 0.2.
Among hundreds of pairs of unrelated paragraphs, some therefore have an estimate of 0.6. For this reason, simhashes are
only used to find the nearest paragraph. The similarity of this paragraph is computed from its concepts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simdoc_search.sketch.hash_functions import mix_bits
from simdoc_search.sketch.simhash import Simhashes, simhashes
from simdoc_search.sketch.tokens import TokenIds

CONCEPT_TOKEN_LENGTH = 5
"""Number of characters in a token, 6 bits each."""

PARAGRAPH_END = 0
"""The number that is stored after each paragraph."""

_PARAGRAPHS_PER_BATCH = 1 << 16
_EXTRACTOR_NAME = re.compile(r"[a-z0-9][a-z0-9/._-]{0,17}")
_CHECKSUM = re.compile(r"(?:[0-9a-f]{6})?")

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ConceptSettings:
    """Settings of concept tokens.

    Attributes:
        extractor: name of the extractor: 1 to 18 lower-case letters, digits, `/`, `.`, `_` and `-`.
        synonyms_checksum: checksum of the synonyms, 6 hexadecimal digits. Empty if there are no synonyms.
    """

    extractor: str = "keywords"
    synonyms_checksum: str = ""

    def __post_init__(self) -> None:
        if not _EXTRACTOR_NAME.fullmatch(self.extractor):
            raise ValueError(
                "the name of an extractor must be up to 18 lower-case letters, digits, '/', '.', '_' or '-', such as "
                f"'sp/en_core_web_sm', not {self.extractor!r:.60}"
            )
        if not _CHECKSUM.fullmatch(self.synonyms_checksum):
            raise ValueError(
                f"the checksum of the synonyms must be 6 hexadecimal digits, not {self.synonyms_checksum!r:.60}"
            )


@dataclass(frozen=True, slots=True, eq=False)
class ParagraphConcepts:
    """The distinct concepts of each paragraph of a text. Paragraphs without concepts are omitted."""

    token_ids: TokenIds  # ids of the concepts of paragraph 1, ascending, then of paragraph 2; uint32, shape (entries,)
    frequencies: Ints  # number of occurrences of each concept in its paragraph; int64, shape (entries,)
    paragraph_indices: Ints  # index of the paragraph of each concept; int64, shape (entries,), ascending
    paragraph_count: int  # number of paragraphs

    def as_one_paragraph(self) -> ParagraphConcepts:
        """Return the concepts of the whole text as one paragraph."""
        token_ids, inverse = np.unique(self.token_ids, return_inverse=True)
        frequencies = np.bincount(inverse, self.frequencies, len(token_ids)).astype(np.int64)
        return ParagraphConcepts(
            token_ids, frequencies, np.zeros(len(token_ids), np.int64), min(1, self.paragraph_count)
        )


def decode_paragraph_concepts(stored: TokenIds) -> ParagraphConcepts:
    """Decode the stored concepts of a text."""
    is_end = stored == PARAGRAPH_END
    _, indices = np.unique((np.cumsum(is_end) - is_end)[~is_end], return_inverse=True)
    keys, frequencies = np.unique(indices.astype(np.uint64) << np.uint64(32) | stored[~is_end], return_counts=True)
    paragraph_indices = (keys >> np.uint64(32)).astype(np.int64)
    token_ids = (keys & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    paragraph_count = int(paragraph_indices[-1]) + 1 if len(paragraph_indices) else 0
    return ParagraphConcepts(token_ids, frequencies.astype(np.int64), paragraph_indices, paragraph_count)


def concatenate_paragraphs(documents: Sequence[ParagraphConcepts]) -> ParagraphConcepts:
    """Concatenate the paragraphs of several texts."""
    begins = np.cumsum([0, *(document.paragraph_count for document in documents)]).tolist()
    indices = [document.paragraph_indices + begin for document, begin in zip(documents, begins, strict=False)]
    return ParagraphConcepts(
        np.concatenate([np.zeros(0, np.uint32), *(document.token_ids for document in documents)]),
        np.concatenate([np.zeros(0, np.int64), *(document.frequencies for document in documents)]),
        np.concatenate([np.zeros(0, np.int64), *indices]),
        begins[-1],
    )


def paragraph_simhashes(paragraphs: ParagraphConcepts, weights: Floats | None = None) -> Simhashes:
    """Return the simhash of the concepts of each paragraph; uint64, shape (paragraphs,).

    `weights` contains the weight of each concept. If None, all weights are 1.
    """
    counts = np.bincount(paragraphs.paragraph_indices, minlength=paragraphs.paragraph_count)
    entry_offsets = np.append(0, np.cumsum(counts))
    values = np.zeros(paragraphs.paragraph_count, np.uint64)
    for begin in range(0, paragraphs.paragraph_count, _PARAGRAPHS_PER_BATCH):
        end = min(begin + _PARAGRAPHS_PER_BATCH, paragraphs.paragraph_count)
        entries = slice(entry_offsets[begin], entry_offsets[end])
        hashes = mix_bits(paragraphs.token_ids[entries].astype(np.uint64))
        values[begin:end] = simhashes(hashes, counts[begin:end], None if weights is None else weights[entries])
    return values
