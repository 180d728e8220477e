"""With which of its sentences is a document asked about?"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from simdoc_search.analysis.distinct import distinct
from simdoc_search.sketch.hash_functions import mixed
from simdoc_search.sketch.near_bits import NearBits
from simdoc_search.sketch.simhash import BITS, Simhashes

ASKED = 64
"""Sentences of a document that are looked for at most. A version that has a tenth of its sentences has none of these
once in 850 cases (0.9 to the power of 64), and one that has half of them never (5e-20)."""

RARE = 10
"""What more than one in so many has, of the documents that share most, says little about which are versions."""


def sentences_to_ask(values: Simhashes) -> Simhashes:
    """The distinct sentences of a document, or `ASKED` of them: those whose hash is smallest, so always the same."""
    found = distinct(values)
    chosen: Simhashes = found[np.argsort(mixed(found), kind="stable")[:ASKED]]
    return chosen


def rarer(asked: Simhashes, documents: Iterable[Simhashes], most: int) -> Simhashes:
    """Those of distinct sentences that at most one in `RARE` of some documents has, nearly; all, if that is none.

    Args:
        asked: the sentences.
        documents: those of each document.
        most: in how many bits two sentences may differ and are near.
    """
    read = [distinct(each) for each in documents]
    of_document = np.repeat(np.arange(len(read)), [len(each) for each in read])
    which, near = NearBits(asked, BITS, most).near(np.concatenate([*read, np.zeros(0, np.uint64)]))
    having = distinct(of_document[which] * len(asked) + near) % max(1, len(asked))
    rare = RARE * np.bincount(having, minlength=len(asked)) <= len(read)
    return asked[rare] if rare.any() else asked
