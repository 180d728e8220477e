"""The language of a text, by its parts: so a text in two languages is seen to be in two.

Each part is asked of py3langid (a fork of Lui, Baldwin 2012, "langid.py: An Off-the-shelf Language Identification
Tool"), whose model of 140 languages is in its package. It names some language for any text and says how sure it is; a
language that it does not know gets the name of a neighbour, or none where it is not sure or the script is another one.
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
"""The metadata field that has it."""

MIXED, UNKNOWN = "mixed", "unknown"

_PART, _PARTS = 300, 12  # characters of a part; so many, evenly spread, of a longer text
_SHORT_PART, _FEWEST = 150, 4  # a short text has so many parts too, if these are no shorter
_LEAST_OF_PART, _LEAST = 20, 40  # letters without which a part, or a text, is too short
_SURE = 0.5  # the mean probability that a language needs
_OTHER, _SECOND = 0.8, 0.2  # how sure a part must be of another language, and the share of such that makes a mixture
_LEAST_CHANCE = 0.001  # of a candidate; there are 140 languages, so one has more
_RULED_OUT = 0.1  # the probability of the language of the text below which a part is not in it

_NO_PROSE = re.compile(r"\S*[0-9/\\@_=<>{}#|&]\S*")
"""Addresses, paths, numbers and code: in texts of any language, and most like English."""

_SCRIPTS = frozenset(
    [
        "ARABIC",
        "ARMENIAN",
        "BENGALI",
        "CJK",
        "CYRILLIC",
        "DEVANAGARI",
        "ETHIOPIC",
        "GEORGIAN",
        "GREEK",
        "GUJARATI",
        "GURMUKHI",
        "HANGUL",
        "HEBREW",
        "HIRAGANA",
        "KANNADA",
        "KATAKANA",
        "KHMER",
        "LAO",
        "LATIN",
        "MALAYALAM",
        "MYANMAR",
        "ORIYA",
        "SINHALA",
        "TAMIL",
        "TELUGU",
        "THAI",
        "TIBETAN",
    ]
)
"""Those of the model's languages. Any other one is to the model what it is least unlike: Cherokee is Korean."""

_NO_LANGUAGE = "zxx"  # what the model has learned to call code and other texts that are no language


def language_of(text: str) -> str:
    """The language of a text.

    Returns:
        Its code, of two letters where ISO 639-1 has one (`de`, `zh`), else of three (`yue`); `mixed` if parts with a
        fifth of its letters are surely in one other language than most of it; `unknown` if it has fewer than 40
        letters, or is not like any language enough. Of a text over 3,600 characters 12 parts of 300 are looked at.

    Raises:
        MissingExtraError: py3langid is not installed.
    """
    return identified(text).language


def language_candidates(text: str) -> list[tuple[str, float]]:
    """The languages that a text may be in, with the probability of each, the most probable first.

    Returns:
        Codes as `language_of` has them, `zxx` for what is no language; a probability is the model's, the mean of the
        parts of the text by their letters, from 0.001 to 1. None for a text of fewer than 40 letters.

    Raises:
        MissingExtraError: py3langid is not installed.
    """
    return identified(text).candidates


class Identified(NamedTuple):
    """What a text says of its language."""

    language: str
    candidates: list[tuple[str, float]]


def identified(text: str) -> Identified:
    """What `language_of` and `language_candidates` return, at once."""
    parts = [(letters, _chances(part)) for part, letters in _prose(text)]
    total = sum(letters for letters, _ in parts)
    if total < _LEAST:
        return Identified(UNKNOWN, [])
    sums: defaultdict[str, float] = defaultdict(float)
    for letters, chances in parts:
        for code, chance in chances.items():
            sums[code] += letters * chance
    likely = [(code, chance / total) for code, chance in sums.items() if chance >= _LEAST_CHANCE * total]
    candidates = sorted(likely, key=lambda each: (-each[1], each[0]))
    found, chance = candidates[0]
    if _share_of_second(parts, found) >= _SECOND * total:
        return Identified(MIXED, candidates)
    return Identified(UNKNOWN if found == _NO_LANGUAGE or chance < _SURE else found, candidates)


def language_said(metadata: Mapping[str, MetadataValue]) -> str:
    """The language that a document says it is in; `mixed` if these are several, empty if it says none."""
    said = metadata.get(FIELD, "")
    if isinstance(said, list):
        return MIXED if len(set(said)) > 1 else "".join(said[:1])
    return str(said)


def check_can_identify() -> None:
    """See whether languages can be identified here.

    Raises:
        MissingExtraError: py3langid is not installed.
    """
    _model()


def _share_of_second(parts: list[tuple[int, dict[str, float]]], first: str) -> int:
    """The letters in parts that are surely in one other language, that which has most."""
    others: Counter[str] = Counter()
    for letters, chances in parts:
        best = max(chances, key=lambda code: chances[code])
        if best not in {first, _NO_LANGUAGE} and chances[best] >= _OTHER and chances[first] < _RULED_OUT:
            others[best] += letters
    return max(others.values(), default=0)


def _prose(text: str) -> Iterator[tuple[str, int]]:
    """The parts of a text that have letters enough, with their number."""
    size = min(_PART, max(_SHORT_PART, -(-len(text) // _FEWEST)))
    spread = [number * (len(text) - size) // (_PARTS - 1) for number in range(_PARTS)]
    for begin in spread if len(text) > size * _PARTS else range(0, len(text), size):
        part = _NO_PROSE.sub(" ", text[begin : begin + size])
        if (letters := sum(map(_is_letter, part))) >= _LEAST_OF_PART:
            yield part, letters


@functools.lru_cache(maxsize=1 << 14)
def _is_letter(character: str) -> bool:
    """Whether it is a letter of a script that the model knows."""
    return character.isalpha() and unicodedata.name(character, "").partition(" ")[0] in _SCRIPTS


def _chances(part: str) -> dict[str, float]:
    """The probability of each language."""
    return dict(_model().rank(part))


@functools.cache
def _model() -> Any:
    """The identifier, read once in each process."""
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415 - of the extra
    except ImportError:
        raise MissingExtraError("identifying languages", "language") from None
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
