"""With which of its sentences is a document asked about?"""

from __future__ import annotations

import numpy as np

from simdoc_search.sketch.sentences import mixed
from simdoc_search.sketch.simhash import Simhashes

__all__ = ["ASKED", "sentences_to_ask"]

ASKED = 64
"""Sentences of a document that are looked for at most. A version that has a tenth of its sentences has none of these
once in 850 cases (0.9 to the power of 64), and one that has half of them never (5e-20)."""


def sentences_to_ask(values: Simhashes) -> Simhashes:
    """The distinct sentences of a document, or `ASKED` of them: those whose hash is smallest, so always the same."""
    distinct = np.unique(values)
    chosen: Simhashes = distinct[np.argsort(mixed(distinct), kind="stable")[:ASKED]]
    return chosen
