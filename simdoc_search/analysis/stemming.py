"""Stems words with the package snowballstemmer."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from simdoc_search.errors import MissingExtraError

STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish",
    "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "nb": "norwegian", "ne": "nepali", "nl": "dutch", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""Languages with a stemmer, by code."""


def stems(words: list[str], language: str) -> list[str]:
    """Return the stems of words in a language.

    Raises:
        MissingExtraError: snowballstemmer is not installed.
    """
    stem = _cached_stemmer(language)
    return [stem(word) for word in words]


@cache
def _cached_stemmer(language: str) -> Any:
    try:
        import snowballstemmer  # type: ignore[import-untyped] # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise MissingExtraError("stemming", "language") from error
    return lru_cache(maxsize=1 << 17)(snowballstemmer.stemmer(STEMMERS[language]).stemWord)
