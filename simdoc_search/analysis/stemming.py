"""Words to stems, by the package snowballstemmer."""

from __future__ import annotations

from functools import cache
from typing import Any

from simdoc_search.errors import MissingExtraError

__all__ = ["STEMMERS", "stems"]

STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish",
    "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "nb": "norwegian", "ne": "nepali", "nl": "dutch", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""The languages that have a stemmer, by their codes."""


def stems(words: list[str], language: str) -> list[str]:
    """The stems of words of a language.

    Raises:
        MissingExtraError: the package that finds them is not installed.
    """
    found: list[str] = _stemmer(language).stemWords(words)
    return found


@cache
def _stemmer(language: str) -> Any:
    try:
        import snowballstemmer  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("stemming", "languages") from error
    return snowballstemmer.stemmer(STEMMERS[language])
