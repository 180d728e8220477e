"""Stems of words, by the package snowballstemmer."""

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

_KNOWN = 1 << 17  # words whose stems are remembered, as most words of a text are those of others


def stems(words: list[str], language: str) -> list[str]:
    """Return the stems of words of a language.

    Raises:
        MissingExtraError: snowballstemmer is not installed.
    """
    _stemmer(language)
    return [_stem(each, language) for each in words]


@lru_cache(maxsize=_KNOWN)
def _stem(word: str, language: str) -> str:
    found: str = _stemmer(language).stemWord(word)
    return found


@cache
def _stemmer(language: str) -> Any:
    try:
        import snowballstemmer  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("stemming", "language") from error
    return snowballstemmer.stemmer(STEMMERS[language])
