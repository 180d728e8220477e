"""Identifies the language of a text. Each part is identified separately, so that two languages can be recognised.

The package py3langid identifies the language of each part. It is a fork of langid (Lui, Baldwin 2012, "An Off-the-shelf
Language Identification Tool") with a model of 140 languages. The model assigns a language and a probability to any
text. A text in an unsupported language is assigned a similar language, or `unknown`.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from simdoc_search.documents import MetadataValue
from simdoc_search.errors import MissingExtraError

LANGUAGE_FIELD = "language"
"""The metadata field that contains the language."""

MIXED, UNKNOWN = "mixed", "unknown"

_MAX_PART_CHARACTERS, _MAX_PARTS = 300, 12  # a text over 12 * 300 characters has 12 evenly spaced parts, with gaps
_MIN_PART_CHARACTERS, _MIN_PARTS = 150, 4  # a short text has 4 parts, unless they would have fewer than 150 characters
_MIN_PART_LETTERS = 20  # a part with fewer letters is skipped
_MIN_LETTERS = 40  # a text with fewer letters is `unknown`
_MIN_PROBABILITY = 0.5  # if no language has this probability, the text is `unknown`
_MIN_CANDIDATE_PROBABILITY = 0.001  # a less probable language is not a candidate

# A part is clearly in a second language if that language has a probability of at least 0.8, and the first language of
# the text has less than 0.1. A text is `mixed` if such parts have at least a fifth of its letters.
_MIN_SECOND_PROBABILITY, _MAX_FIRST_PROBABILITY, _MIN_SECOND_SHARE = 0.8, 0.1, 0.2

_NOT_PROSE = re.compile(r"\S*[0-9/\\@_=<>{}#|&]\S*")
"""Matches URLs, paths, numbers and code. They occur in texts of any language, but the model takes them for English."""

_SCRIPT_NAMES = """
    ARABIC ARMENIAN BENGALI CJK CYRILLIC DEVANAGARI ETHIOPIC GEORGIAN GREEK GUJARATI GURMUKHI HANGUL HEBREW HIRAGANA
    KANNADA KATAKANA KHMER LAO LATIN MALAYALAM MYANMAR ORIYA SINHALA TAMIL TELUGU THAI TIBETAN
"""
_SCRIPTS = frozenset(_SCRIPT_NAMES.split())
"""Scripts of the model's languages. The model assigns text in other scripts to a wrong language."""

_NO_LANGUAGE = "zxx"  # the model's code for program code and other text without a language


class LanguageIdentification(NamedTuple):
    """The identified language of a text; see `language_of`.

    Attributes:
        language: the result of `language_of`.
        candidates: the possible languages with their probabilities, the most probable first. A code may be `zxx`, for
            text without a language. The probability, 0.001 to 1, is the mean over the parts of the text, weighted by
            their numbers of letters. The list is empty if the text has fewer than 40 letters.
    """

    language: str
    candidates: list[tuple[str, float]]


def language_of(text: str) -> str:
    """Return the language of a text.

    Returns:
        The two-letter ISO 639-1 code (`de`, `zh`), or a three-letter code (`yue`) if the language has none.
        `mixed` if at least a fifth of the letters are in parts that are clearly in a second language. `unknown` if the
        text has fewer than 40 letters, or if no language has a probability of at least 0.5. In a text of over 3,600
        characters, only 12 parts of 300 characters each are examined.

    Raises:
        MissingExtraError: py3langid is not installed.
    """
    return identify_language(text).language


def identify_language(text: str) -> LanguageIdentification:
    """Return the language of a text and its candidates. Raises the same errors as `language_of`."""
    parts = [(letters, dict(_load_model().rank(part))) for part, letters in _yield_prose_parts(text)]
    total = sum(letters for letters, _ in parts)
    if total < _MIN_LETTERS:
        return LanguageIdentification(UNKNOWN, [])
    sums: defaultdict[str, float] = defaultdict(float)
    for letters, probabilities in parts:
        for code, probability in probabilities.items():
            sums[code] += letters * probability
    means = [
        (code, weighted / total) for code, weighted in sums.items() if weighted >= _MIN_CANDIDATE_PROBABILITY * total
    ]
    candidates = sorted(means, key=lambda candidate: (-candidate[1], candidate[0]))
    language, probability = candidates[0]
    if _count_second_language_letters(parts, language) >= _MIN_SECOND_SHARE * total:
        return LanguageIdentification(MIXED, candidates)
    is_known = language != _NO_LANGUAGE and probability >= _MIN_PROBABILITY
    return LanguageIdentification(language if is_known else UNKNOWN, candidates)


def declared_language(metadata: Mapping[str, MetadataValue]) -> str:
    """Return the language in the metadata of a document: `mixed` if it has several, `""` if it has none."""
    value = metadata.get(LANGUAGE_FIELD, "")
    if isinstance(value, list):
        return MIXED if len(set(value)) > 1 else "".join(value[:1])
    return str(value)


def require_language_model() -> None:
    """Load the model that identifies languages.

    Raises:
        MissingExtraError: py3langid is not installed.
    """
    _load_model()


def _count_second_language_letters(parts: list[tuple[int, dict[str, float]]], first: str) -> int:
    """Count the letters of the parts that are clearly in the second most frequent language."""
    others: Counter[str] = Counter()
    for letters, probabilities in parts:
        best = max(probabilities, key=lambda code: probabilities[code])
        is_clear = probabilities[best] >= _MIN_SECOND_PROBABILITY and probabilities[first] < _MAX_FIRST_PROBABILITY
        if best not in {first, _NO_LANGUAGE} and is_clear:
            others[best] += letters
    return max(others.values(), default=0)


def _yield_prose_parts(text: str) -> Iterator[tuple[str, int]]:
    """Yield the parts of a text that have enough letters, each with its number of letters."""
    size = min(_MAX_PART_CHARACTERS, max(_MIN_PART_CHARACTERS, -(-len(text) // _MIN_PARTS)))
    starts = [index * (len(text) - size) // (_MAX_PARTS - 1) for index in range(_MAX_PARTS)]
    for start in starts if len(text) > size * _MAX_PARTS else range(0, len(text), size):
        part = _NOT_PROSE.sub(" ", text[start : start + size])
        if (letters := sum(map(_is_letter, part))) >= _MIN_PART_LETTERS:
            yield part, letters


@functools.lru_cache(maxsize=1 << 14)
def _is_letter(character: str) -> bool:
    """Return whether a character is a letter of a script that the model supports."""
    return character.isalpha() and unicodedata.name(character, "").partition(" ")[0] in _SCRIPTS


@functools.cache
def _load_model() -> Any:
    """Load the model, once per process."""
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415 - an optional dependency
    except ImportError:
        raise MissingExtraError("language identification", "language") from None
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
