"""Writes texts with known similarity."""

from __future__ import annotations

import random

from tests.support.families import prose

__all__ = ["Writer"]

SENTENCES = (20, 26)
KINDS = {"article": 50, "copy": 12, "edited": 14, "part": 14, "quotation": 10}
"""Relative frequencies."""


class Writer:
    """Writes the same texts for the same seed.

    An edited copy differs from its article in one word. So all pairs in a group of duplicates overlap by 80 % or more,
    and the groups do not depend on the order of comparison.
    """

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._seed = 1_000_000 * seed
        self._articles: list[list[str]] = []

    def text(self) -> str:
        """Return the next text."""
        kind = self._rng.choices(list(KINDS), list(KINDS.values()))[0] if self._articles else "article"
        if kind == "article":
            self._articles.append(self._sentences(self._rng.randint(*SENTENCES)))
            return " ".join(self._articles[-1])
        article = self._rng.choice(self._articles)
        if kind == "copy":
            return " ".join(article)
        if kind == "edited":
            words = " ".join(article).split()
            words[self._rng.randrange(len(words))] = f"edited{self._rng.randrange(10**9)}"
            return " ".join(words)
        count = len(article) // 2 if kind == "part" else 1
        start = self._rng.randrange(len(article) - count + 1)
        return " ".join([*self._sentences(6), *article[start : start + count], *self._sentences(5)])

    def _sentences(self, count: int) -> list[str]:
        self._seed += 1
        return prose(count, self._seed)
