"""Defines the settings of the analysis: how a text is split into words, and how words form shingles."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from simdoc_search.analysis.stemming import STEMMERS
from simdoc_search.analysis.stop_words import AUTO, StopWords

Profile = Literal["nfkc_cf", "lowercase"]
"""How a word is normalised."""

Unit = Literal["word", "character"]
"""The unit of which a shingle consists."""

_OMITTED_IF_UNSET = ("stop_words", "stem", "frequencies")


@dataclass(frozen=True, slots=True)
class Analysis:
    """How a text becomes a set of shingles.

    Attributes:
        profile: `nfkc_cf` (NFKC_Casefold of each word, as Alfresco does) or `lowercase` (exactly Lucene's `lowercase`
            filter).
        shingle_size: number of words (or characters) in a shingle, at least 1.
        unit: `word`, or `character` for scripts without spaces. With `character`, the words are joined by one space,
            and a shingle is `shingle_size` consecutive code points of the result.
        short_texts: whether a text that is too short for a shingle gets one shingle: the whole text. In Lucene, such a
            text has no shingle. Set this to False if tokens must be equal to Lucene's.
        stop_words: words to remove before shingles are formed. None: no stop words.
        stem: language code of the stemmer; see `STEMMERS`. `auto`: the language of each text. Empty: no stemming.
        frequencies: whether repeated shingles count. Each occurrence is then a separate element of the set.
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
        for name in ("short_texts", "frequencies"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be True or False, not {getattr(self, name)!r}")
        if not isinstance(self.stop_words, StopWords | None):
            raise ValueError(f"stop_words must be StopWords or None, not {self.stop_words!r:.60}")
        if self.stem not in ("", AUTO, *STEMMERS):
            raise ValueError(f"stem must be empty, '{AUTO}' or one of {', '.join(STEMMERS)}, not {self.stem!r:.60}")
        check_whole_number("shingle_size", self.shingle_size, 1)

    @property
    def is_plain(self) -> bool:
        """Whether no words are removed, none are stemmed, and repeated shingles do not count."""
        return self.stop_words is None and not self.stem and not self.frequencies

    @property
    def depends_on_language(self) -> bool:
        """Whether stop words or stems depend on the language of a text."""
        return self.stem == AUTO or (self.stop_words is not None and self.stop_words.language == AUTO)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON. `stop_words`, `stem` and `frequencies` are left out if they are not set."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["stop_words"] = str(self.stop_words or "")
        return {name: value for name, value in values.items() if value or name not in _OMITTED_IF_UNSET}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Analysis:
        """Return the settings that `to_dict` wrote. Missing values get their defaults.

        Raises:
            ValueError: a setting is unknown, or its value is not allowed.
        """
        names = sorted(field.name for field in fields(cls))
        if not isinstance(values, dict) or not set(values) <= set(names):
            allowed = f"analysis can only have the settings {', '.join(names)}"
            raise ValueError(f"{allowed}, not {values!r:.200}")
        stored = values.get("stop_words")
        return cls(**{**values, "stop_words": StopWords.from_stored(str(stored)) if stored else None})


def check_whole_number(name: str, value: object, minimum: int, maximum: int | None = None) -> None:
    """Raise a ValueError unless a value is a whole number in a range."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if not is_number or value < minimum or (maximum is not None and value > maximum):  # type: ignore[operator]
        allowed = f"of at least {minimum:,}" if maximum is None else f"from {minimum:,} to {maximum:,}"
        raise ValueError(f"{name} must be a whole number {allowed}, not {value!r:.60}")
