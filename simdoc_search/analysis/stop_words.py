"""Loads the stop words of a language (package stop-words) or from a file. An index stores the checksum of the words.

A query text needs the same stop words as the index. The index stores the code of the language. For stop words from a
file, the environment variable SIMDOC_STOP_WORDS contains its path. `auto` means the stop words of the language of each
text.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Set
from functools import cache

from simdoc_search.errors import FormatMismatchError, MissingExtraError, StoreError
from simdoc_search.small_files import read_small_file

AUTO = "auto"
"""Used in place of a language code: the language is identified for each text."""

STOP_WORDS_VARIABLE = "SIMDOC_STOP_WORDS"
"""The environment variable that contains the path of the stop word file."""

_MAX_BYTES = 1 << 20
_STORED_PATTERN = re.compile(rf"(-|{AUTO}|[a-z]{{2}})/([0-9a-f]{{6}})")


class StopWords:
    """A set of stop words. Two sets are equal if their languages and checksums are equal.

    Args:
        words: the words.
        language: code of the language of the words. `auto`: all languages. Empty: the words are from a file.

    Attributes:
        language: as given to the constructor.
        checksum: checksum of the words, 6 hexadecimal digits.
    """

    __slots__ = ("_words", "checksum", "language")

    def __init__(self, words: Iterable[str], language: str = "") -> None:
        self._words: frozenset[str] | None = frozenset(words)
        self.language: str = language
        self.checksum: str = hashlib.blake2b("\n".join(sorted(self._words)).encode(), digest_size=3).hexdigest()

    @classmethod
    def from_language(cls, language: str) -> StopWords:
        """Return the stop words of a language, by its two-letter code or `auto`.

        Raises:
            MissingExtraError: the package stop-words is not installed.
            StoreError: the package has no list for this language.
        """
        known = _available_languages()
        if language == AUTO:
            return cls((f"{code} {word}" for code in known for word in _load_list(code)), AUTO)
        if language not in known:
            choices = f"'{AUTO}' or one of {', '.join(sorted(known))}"
            raise StoreError(f"there are no stop words for the language {language!r:.60}; give a file, {choices}")
        return cls(_load_list(language), language)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> StopWords:
        """Return the stop words in a UTF-8 text file of at most 1 MiB. The words are separated by white space.

        Raises:
            StoreError: the file cannot be read.
        """
        try:
            return cls(read_small_file(path, _MAX_BYTES).decode().split())
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            message = f"cannot read the stop word file {os.fspath(path)} ({reason}); give the path of a UTF-8 text file"
            raise StoreError(message) from error

    @classmethod
    def from_stored(cls, text: str) -> StopWords:
        """Return stop words from their stored form, the result of `str`. The words are loaded when they are needed.

        Raises:
            ValueError: the stored form is malformed.
        """
        match = _STORED_PATTERN.fullmatch(text)
        if not match:
            raise ValueError(f"stored stop words must look like 'de/1a2b3c', not {text!r:.60}")
        stored = cls.__new__(cls)
        stored._words, stored.language, stored.checksum = None, match[1].removeprefix("-"), match[2]
        return stored

    @property
    def words(self) -> frozenset[str]:
        """The words.

        Raises:
            FormatMismatchError: the words of the language or file do not match the checksum.
            MissingExtraError: the package with the words of the language is not installed.
            StoreError: the file cannot be read.
        """
        if self._words is None:
            self._words = self._load()
        return self._words

    def words_for(self, language: str) -> frozenset[str]:
        """Return the words to remove from a text in a language. Raises the errors of `words`."""
        words = self.words
        if self.language != AUTO:
            return words
        return _load_list(language) if language in _available_languages() else frozenset()

    def _load(self) -> frozenset[str]:
        file = os.environ.get(STOP_WORDS_VARIABLE, "")
        if not self.language and not file:
            raise FormatMismatchError(
                f"the index was created with a stop word file (checksum {self.checksum}); "
                f"set {STOP_WORDS_VARIABLE} to the path of this file"
            )
        loaded = StopWords.from_language(self.language) if self.language else StopWords.from_file(file)
        if loaded.checksum != self.checksum:
            languages = "all languages" if self.language == AUTO else self.language
            source = f"of the Python package `stop-words` for {languages}" if self.language else f"in {file}"
            advice = "install the version" if self.language else f"set {STOP_WORDS_VARIABLE} to the path of the file"
            advice = f"{advice} that the index was created with"
            raise FormatMismatchError(f"the stop words {source} differ from those of the index; {advice}")
        return loaded.words

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, StopWords) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return f"{self.language or '-'}/{self.checksum}"

    def __repr__(self) -> str:
        return f"StopWords({str(self)!r})"


def _available_languages() -> Set[str]:
    """Return the languages for which the package has lists."""
    try:
        import stop_words  # type: ignore[import-untyped] # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise MissingExtraError("--stop-words LANGUAGE", "language") from error
    languages: Set[str] = stop_words.LANGUAGE_MAPPING.keys()
    return languages


@cache
def _load_list(language: str) -> frozenset[str]:
    import stop_words  # noqa: PLC0415 - an optional dependency

    return frozenset(stop_words.get_stop_words(language))
