"""Which sentence of one text has which near sentence of another?"""

from __future__ import annotations

from typing import NamedTuple

from simdoc_search.analysis.settings import Analysis
from simdoc_search.chunks import sentence_spans
from simdoc_search.sketch.limits import BITS
from simdoc_search.sketch.sentences import sentence_simhashes
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.versions.matching import matched

Span = tuple[int, int]


class SentencePair(NamedTuple):
    """Two sentences: their first characters and those after their last, and in how many bits they differ."""

    a: Span
    b: Span
    bits: int


def sentence_pairs(a: str, b: str, analysis: Analysis, most: int = BITS) -> list[SentencePair]:
    """The sentences of the first text that have a near one in the second, in order, each with the nearest.

    Two sentences are near that differ in up to `most` bits.

    Raises:
        MissingExtraError: sentencex is not installed.
    """
    (spans_a, values_a), (spans_b, values_b) = (_sentences(text, analysis) for text in (a, b))
    found = matched(values_a, values_b, most)
    rows = zip(found.a.tolist(), found.b.tolist(), found.bits.tolist(), strict=True)
    return [SentencePair(spans_a[one], spans_b[other], bits) for one, other, bits in rows]


def _sentences(text: str, analysis: Analysis) -> tuple[list[Span], Simhashes]:
    spans = sentence_spans(text)
    values, kept = sentence_simhashes([text[begin:end] for begin, end in spans], analysis)
    return [spans[each] for each in kept.tolist()], values
