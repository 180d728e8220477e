"""Stop words: those of a language, by the package stop-words, or those of a file. An index remembers their check value.

Whoever asks such an index with a text needs the same ones: those of a language are found again by its name, those of a
file by the variable of the environment that names it. `auto` are those of each text's own language.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Set
from functools import cache

from simdoc_search.errors import FormatMismatchError, MissingExtraError, StoreError
from simdoc_search.small_files import read_small

AUTO = "auto"
"""In place of a language: that of each text, as it is identified."""

STOP_WORDS = "SIMDOC_STOP_WORDS"
"""The environment variable that names the file."""

_MAX_BYTES = 1 << 20
_STORED = re.compile(rf"(-|{AUTO}|[a-z]{{2}})/([0-9a-f]{{6}})")


class StopWords:
    """Words that are left out. Two of these are equal if their language and their check values are.

    Args:
        words: the words.
        language: the code of the language whose list they are; `auto`: of all that have one; empty: they are of a file.

    Attributes:
        language: as given.
        check: 6 hexadecimal digits that change with the words.
    """

    __slots__ = ("_words", "check", "language")

    def __init__(self, words: Iterable[str], language: str = "") -> None:
        self._words: frozenset[str] | None = frozenset(words)
        self.language: str = language
        self.check: str = hashlib.blake2b("\n".join(sorted(self._words)).encode(), digest_size=3).hexdigest()

    @classmethod
    def of_language(cls, language: str) -> StopWords:
        """Those of a language, by its code of two letters; `auto` are those of each text's own.

        Raises:
            MissingExtraError: the package that has them is not installed.
            StoreError: it has none of this language.
        """
        known = _languages()
        if language == AUTO:
            return cls((f"{each} {word}" for each in known for word in _of_package(each)), AUTO)
        if language not in known:
            which = f"{AUTO}, or one of {', '.join(sorted(known))}"
            raise StoreError(f"there are no stop words of {language!r:.60}; give a file, {which}")
        return cls(_of_package(language), language)

    @classmethod
    def of_file(cls, path: str | os.PathLike[str]) -> StopWords:
        """Those of a text file in UTF-8 of at most 1 MiB, separated by white space.

        Raises:
            StoreError: it cannot be read.
        """
        try:
            return cls(read_small(path, _MAX_BYTES).decode().split())
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            raise StoreError(f"the stop words {os.fspath(path)} cannot be read ({reason}); name a text file") from error

    @classmethod
    def of_stored(cls, text: str) -> StopWords:
        """What an index knows of its stop words, from `str`; the words are found when they are needed.

        Raises:
            ValueError: that is none.
        """
        match = _STORED.fullmatch(text)
        if not match:
            raise ValueError(f"{text!r:.60} names no stop words")
        known = cls.__new__(cls)
        known._words, known.language, known.check = None, match[1].removeprefix("-"), match[2]
        return known

    @property
    def words(self) -> frozenset[str]:
        """The words.

        Raises:
            FormatMismatchError: only the check value is known, and neither language nor file gives words of that.
            MissingExtraError: the package that has those of the language is not installed.
            StoreError: the file cannot be read.
        """
        if self._words is None:
            self._words = self._found()
        return self._words

    def of(self, language: str) -> frozenset[str]:
        """The words that a text of a language is left without. Raises as `words`."""
        if self.language != AUTO:
            return self.words
        _ = self.words  # which sees that they are those of the index
        return _of_package(language) if language in _languages() else frozenset()

    def _found(self) -> frozenset[str]:
        file = os.environ.get(STOP_WORDS)
        if not self.language and not file:
            problem = f"these texts need the stop words of their index ({self.check}); set {STOP_WORDS} to the file"
            raise FormatMismatchError(problem)
        found = StopWords.of_language(self.language) if self.language else StopWords.of_file(file or "")
        if found.check != self.check:
            whose = f"of the package stop-words for {_said(self.language)}" if self.language else f"in {file}"
            how = "install the version that the index was made with" if self.language else "name the file of the index"
            raise FormatMismatchError(f"the stop words {whose} are others than those of the index; {how}")
        return found.words

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, StopWords) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return f"{self.language or '-'}/{self.check}"

    def __repr__(self) -> str:
        return f"StopWords({str(self)!r})"


def _languages() -> Set[str]:
    """Those of which the package has lists."""
    try:
        import stop_words  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("stop words of languages", "language") from error
    known: Set[str] = stop_words.LANGUAGE_MAPPING.keys()
    return known


@cache
def _of_package(language: str) -> frozenset[str]:
    import stop_words  # noqa: PLC0415 - an extra

    return frozenset(stop_words.get_stop_words(language))


def _said(language: str) -> str:
    return "all languages" if language == AUTO else language
