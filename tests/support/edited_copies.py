"""Makes edited copies of texts that have about a given overlap."""

from __future__ import annotations

import random
from collections.abc import Mapping

__all__ = ["edited_copies"]

_SHINGLE_SIZE, _SPREAD = 5, 0.1


def edited_copies(texts: Mapping[str, str], overlap: float, seed: int) -> dict[str, str]:
    """Return a copy of each text with replaced words. The overlaps are spread evenly around the given one.

    If each word is kept with probability s**(1/k), then s of the shingles of k words are kept, and J = s / (2 - s).
    """
    chance = random.Random(seed)
    words = sorted({word for text in texts.values() for word in text.split()})
    copies = {}
    for place, (id, text) in enumerate(texts.items()):
        target = overlap + _SPREAD * (2 * (place + 0.5) / len(texts) - 1)
        target = min(0.99, max(0.02, target))
        kept = (2 * target / (1 + target)) ** (1 / _SHINGLE_SIZE)
        copy = " ".join(word if chance.random() < kept else chance.choice(words) for word in text.split())
        copies[f"copy of {id}"] = copy
    return copies
