"""What finds concepts without any package: names, for tests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from simdoc_search.concepts import Extractor

__all__ = ["CAPITALS", "Capitals"]


@dataclass(frozen=True)
class Capitals:
    """Finds words with a capital letter, but for the first of a line; fails where a text says so."""

    name: str = "capitals"

    def find(self, text: str) -> list[Counter[str]]:
        """One paragraph for each line."""
        if "fail" in text:
            raise ValueError(text)
        return [Counter(word for word in line.split()[1:] if word[0].isupper()) for line in text.splitlines()]


CAPITALS = Extractor(Capitals())
