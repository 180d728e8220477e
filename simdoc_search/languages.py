"""Identification of the language of a text, part by part, so that a text in two languages is recognised.

Each part is identified by py3langid, a fork of langid (Lui, Baldwin 2012, "An Off-the-shelf Language
Identification Tool"), with a model of 140 languages. The model names a language for any text, with a probability. For
a language that it does not know, it names a similar language, or the answer is `unknown`.
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

FIELD = "language"
"""The metadata field of the language."""

MIXED, UNKNOWN = "mixed", "unknown"

_PART, _PARTS = 300, 12  # characters of a part; number of parts, evenly spread, of a longer text
_MIN_PART, _MIN_PARTS = 150, 4  # a short text is cut into at least 4 parts, of at least 150 characters each
_MIN_LETTERS_OF_PART, _MIN_LETTERS = 20, 40  # with fewer letters, a part is skipped and a text is `unknown`
_MIN_PROBABILITY = 0.5  # of the most probable language; below, the text is `unknown`
_SECOND_PROBABILITY, _SECOND_SHARE = 0.8, 0.2  # a second language: the probability of its parts, and their share
_EXCLUDED = 0.1  # probability of the first language below which a part is in another language
_MIN_CANDIDATE = 0.001  # probability of a candidate; one of 140 languages has more than this

_NOT_PROSE = re.compile(r"\S*[0-9/\\@_=<>{}#|&]\S*")
"""Addresses, paths, numbers and code. They occur in texts of any language, and mostly look like English."""

_SCRIPT_NAMES = """
    ARABIC ARMENIAN BENGALI CJK CYRILLIC DEVANAGARI ETHIOPIC GEORGIAN GREEK GUJARATI GURMUKHI HANGUL HEBREW HIRAGANA
    KANNADA KATAKANA KHMER LAO LATIN MALAYALAM MYANMAR ORIYA SINHALA TAMIL TELUGU THAI TIBETAN
"""
_SCRIPTS = frozenset(_SCRIPT_NAMES.split())
"""Scripts of the model's languages. The model takes other scripts for the most similar one: Cherokee for Korean."""

_NO_LANGUAGE = "zxx"  # the model's answer for code and other texts without a language


class Identification(NamedTuple):
    """The identified language of a text; see `language_of` and `language_candidates`."""

    language: str
    candidates: list[tuple[str, float]]


def language_of(text: str) -> str:
    """Return the language of a text.

    Returns:
        A code of two letters where ISO 639-1 has one (`de`, `zh`), otherwise of three (`yue`). `mixed` if parts with a
        fifth of the letters are clearly in one other language. `unknown` if the text has fewer than 40 letters, or
        resembles no language enough. Of a text over 3,600 characters, 12 parts of 300 are examined.

    Raises:
        MissingExtraError: py3langid is not installed.
    """
    return identify(text).language


def language_candidates(text: str) -> list[tuple[str, float]]:
    """Return the languages that a text may be in, each with its probability, the most probable first.

    Returns:
        Codes as in `language_of`, and `zxx` for text without a language. The probability, 0.001 to 1, is the mean over
        the parts of the text, weighted by their letters. Empty for a text of fewer than 40 letters.

    Raises:
        MissingExtraError: py3langid is not installed.
    """
    return identify(text).candidates


def identify(text: str) -> Identification:
    """Return the results of `language_of` and `language_candidates` together. Raises as they do."""
    parts = [(letters, dict(_model().rank(part))) for part, letters in _prose(text)]
    total = sum(letters for letters, _ in parts)
    if total < _MIN_LETTERS:
        return Identification(UNKNOWN, [])
    sums: defaultdict[str, float] = defaultdict(float)
    for letters, probabilities in parts:
        for code, probability in probabilities.items():
            sums[code] += letters * probability
    means = [(code, weighted / total) for code, weighted in sums.items() if weighted >= _MIN_CANDIDATE * total]
    candidates = sorted(means, key=lambda candidate: (-candidate[1], candidate[0]))
    language, probability = candidates[0]
    if _letters_of_second(parts, language) >= _SECOND_SHARE * total:
        return Identification(MIXED, candidates)
    is_known = language != _NO_LANGUAGE and probability >= _MIN_PROBABILITY
    return Identification(language if is_known else UNKNOWN, candidates)


def declared_language(metadata: Mapping[str, MetadataValue]) -> str:
    """Return the language in the metadata of a document; `mixed` for several, empty for none."""
    value = metadata.get(FIELD, "")
    if isinstance(value, list):
        return MIXED if len(set(value)) > 1 else "".join(value[:1])
    return str(value)


def require_identifier() -> None:
    """Load the identifier.

    Raises:
        MissingExtraError: py3langid is not installed.
    """
    _model()


def _letters_of_second(parts: list[tuple[int, dict[str, float]]], first: str) -> int:
    """Count the letters of the parts that are clearly in the most frequent other language."""
    others: Counter[str] = Counter()
    for letters, probabilities in parts:
        best = max(probabilities, key=lambda code: probabilities[code])
        is_clear = probabilities[best] >= _SECOND_PROBABILITY and probabilities[first] < _EXCLUDED
        if best not in {first, _NO_LANGUAGE} and is_clear:
            others[best] += letters
    return max(others.values(), default=0)


def _prose(text: str) -> Iterator[tuple[str, int]]:
    """Yield the parts of a text that have enough letters, with their number of letters."""
    size = min(_PART, max(_MIN_PART, -(-len(text) // _MIN_PARTS)))
    spread = [number * (len(text) - size) // (_PARTS - 1) for number in range(_PARTS)]
    for begin in spread if len(text) > size * _PARTS else range(0, len(text), size):
        part = _NOT_PROSE.sub(" ", text[begin : begin + size])
        if (letters := sum(map(_is_letter, part))) >= _MIN_LETTERS_OF_PART:
            yield part, letters


@functools.lru_cache(maxsize=1 << 14)
def _is_letter(character: str) -> bool:
    """Whether a character is a letter of a script that the model knows."""
    return character.isalpha() and unicodedata.name(character, "").partition(" ")[0] in _SCRIPTS


@functools.cache
def _model() -> Any:
    """Return the identifier, which each process loads once."""
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415 - of the extra
    except ImportError:
        raise MissingExtraError("identifying languages", "language") from None
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
