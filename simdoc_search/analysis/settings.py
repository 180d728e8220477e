"""The settings of the analysis: which words a text has, and how they make shingles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

__all__ = ["Analysis", "Profile", "Unit"]

Profile = Literal["nfkc_cf", "lowercase"]
"""How a word is normalised."""

Unit = Literal["word", "character"]
"""What a shingle is so many of."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """How a text becomes a set of shingles.

    Attributes:
        profile: `nfkc_cf` (NFKC_Casefold of each word, as Alfresco does) or `lowercase` (exactly Lucene's
            `lowercase` filter).
        shingle_size: words (or characters) in a shingle, at least 1.
        unit: `word`, or `character` for scripts without spaces; a shingle is then so many consecutive code
            points of the words joined by one space.
        short_texts: a text with fewer units than a shingle is one shingle of all of them. Lucene gives such
            a text no shingle at all: switch it off where tokens must equal Lucene's.
    """

    profile: Profile = "nfkc_cf"
    shingle_size: int = 5
    unit: Unit = "word"
    short_texts: bool = True

    def __post_init__(self) -> None:
        if self.profile not in get_args(Profile):
            raise ValueError(f"profile must be 'nfkc_cf' or 'lowercase', not {self.profile!r}")
        if self.unit not in get_args(Unit):
            raise ValueError(f"unit must be 'word' or 'character', not {self.unit!r}")
        if not isinstance(self.short_texts, bool):
            raise ValueError(f"short_texts must be True or False, not {self.short_texts!r}")
        if not isinstance(self.shingle_size, int) or isinstance(self.shingle_size, bool) or self.shingle_size < 1:
            raise ValueError(f"shingle_size must be a whole number of at least 1, not {self.shingle_size!r}")
