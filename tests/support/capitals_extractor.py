"""A simple extractor of concepts, for tests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from simdoc_search.concepts import Extractor

__all__ = ["CAPITALS", "Capitals"]


@dataclass(frozen=True)
class Capitals:
    """Finds words with a capital letter, except the first word of a line. Fails on a text with the word "fail"."""

    name: str = "capitals"

    def find(self, text: str) -> list[Counter[str]]:
        """One paragraph per line."""
        if "fail" in text:
            raise ValueError(text)
        return [Counter(word for word in line.split()[1:] if word[0].isupper()) for line in text.splitlines()]


CAPITALS = Extractor(Capitals())
