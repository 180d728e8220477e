"""What users of an application write: of each text it is clear what it has in common with others."""

from __future__ import annotations

import random

from tests.support.families import prose

__all__ = ["Writer"]

SENTENCES = (20, 26)
KINDS = {"article": 50, "copy": 12, "edited": 14, "part": 14, "quotation": 10}
"""How often each is written."""


class Writer:
    """Writes texts, the same ones for the same seed.

    Texts of one family that are alike by 80 % are so in pairs, all of them: an edited text differs from the article in
    one word. So a group of duplicates is the same whoever is compared with whom.
    """

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._seed = 1_000_000 * seed
        self._articles: list[list[str]] = []

    def text(self) -> str:
        """The next one."""
        kind = self._rng.choices(list(KINDS), list(KINDS.values()))[0] if self._articles else "article"
        if kind == "article":
            self._articles.append(self._sentences(self._rng.randint(*SENTENCES)))
            return " ".join(self._articles[-1])
        of = self._rng.choice(self._articles)
        if kind == "copy":
            return " ".join(of)
        if kind == "edited":
            words = " ".join(of).split()
            words[self._rng.randrange(len(words))] = f"edited{self._rng.randrange(10**9)}"
            return " ".join(words)
        count = len(of) // 2 if kind == "part" else 1
        at = self._rng.randrange(len(of) - count + 1)
        return " ".join([*self._sentences(6), *of[at : at + count], *self._sentences(5)])

    def _sentences(self, count: int) -> list[str]:
        self._seed += 1
        return prose(count, self._seed)
