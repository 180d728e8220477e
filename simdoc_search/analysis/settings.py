"""Settings of the analysis: which words a text has, and how they form shingles."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from simdoc_search.analysis.stemming import STEMMERS
from simdoc_search.analysis.stop_words import AUTO, StopWords

Profile = Literal["nfkc_cf", "lowercase"]
"""How a word is normalised."""

Unit = Literal["word", "character"]
"""The unit that a shingle consists of."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """How a text becomes a set of shingles.

    Attributes:
        profile: `nfkc_cf` (NFKC_Casefold of each word, as Alfresco does) or `lowercase` (exactly Lucene's
            `lowercase` filter).
        shingle_size: words (or characters) in a shingle, at least 1.
        unit: `word`, or `character` for scripts without spaces; a shingle is then this many consecutive code points
            of the words joined by one space.
        short_texts: a text with fewer units than a shingle gets one shingle of all of them. Lucene gives such a text
            no shingle; switch this off where tokens must equal Lucene's.
        stop_words: words removed before shingles are made; None for none.
        stem: language code of the stemmer, see `STEMMERS`; `auto` for that of each text, if there is one; empty for
            no stemming.
        frequencies: count a shingle as often as it occurs; its second occurrence is an element of its own.
    """

    profile: Profile = "nfkc_cf"
    shingle_size: int = 5
    unit: Unit = "word"
    short_texts: bool = True
    stop_words: StopWords | None = None
    stem: str = ""
    frequencies: bool = False

    def __post_init__(self) -> None:
        if self.profile not in get_args(Profile):
            raise ValueError(f"profile must be 'nfkc_cf' or 'lowercase', not {self.profile!r}")
        if self.unit not in get_args(Unit):
            raise ValueError(f"unit must be 'word' or 'character', not {self.unit!r}")
        if not isinstance(self.short_texts, bool):
            raise ValueError(f"short_texts must be True or False, not {self.short_texts!r}")
        if not isinstance(self.stop_words, StopWords | None):
            raise ValueError(f"stop_words must be StopWords or None, not {self.stop_words!r:.60}")
        if self.stem not in ("", AUTO, *STEMMERS):
            raise ValueError(f"stem must be {AUTO} or one of {', '.join(STEMMERS)}, not {self.stem!r:.60}")
        if not isinstance(self.frequencies, bool):
            raise ValueError(f"frequencies must be True or False, not {self.frequencies!r}")
        if not isinstance(self.shingle_size, int) or isinstance(self.shingle_size, bool) or self.shingle_size < 1:
            raise ValueError(f"shingle_size must be a whole number of at least 1, not {self.shingle_size!r}")

    @property
    def is_plain(self) -> bool:
        """Whether shingles are a set of runs of all words, unchanged."""
        return self.stop_words is None and not self.stem and not self.frequencies

    @property
    def by_language(self) -> bool:
        """Whether stop words or stems depend on the language of a text."""
        return self.stem == AUTO or (self.stop_words is not None and self.stop_words.language == AUTO)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; newer settings are included only if they differ from the default."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        later = {"stop_words": str(self.stop_words or ""), "stem": self.stem, "frequencies": self.frequencies}
        return {name: value for name, value in values.items() if name not in later} | {
            name: value for name, value in later.items() if value
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Analysis:
        """Return the settings that `to_dict` wrote; missing values have their defaults.

        Raises:
            ValueError: a value is out of range, or unknown.
        """
        if not isinstance(values, dict) or not set(values) <= {each.name for each in fields(cls)}:
            names = ", ".join(sorted(each.name for each in fields(cls)))
            raise ValueError(f"Analysis has the settings {names}, not {values!r:.200}")
        named = values.get("stop_words")
        return cls(**{**values, "stop_words": StopWords.of_stored(str(named)) if named else None})
