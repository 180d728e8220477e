"""Finds numbers in texts.

A number consists of digits with signs, separators, currencies, units and ordinal suffixes. The digits of an identifier,
such as `v2`, `part50` or a UUID, are not a number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

from simdoc_search.passages.passage import Span
from simdoc_search.passages.typography import unify_typography

UNSPACED_LETTERS = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    r"\U00020000-\U0003ffff"
)
"""Letters of Korean and of languages without spaces. Digits next to them are a number, unlike the digits in `v2`."""
SMALL_DIGITS = r"²³¹¼-¾\u2070-\u2079\u2080-\u2089\u2150-\u215f"
_DIGITS = rf"[\d{SMALL_DIGITS}]+"
_CURRENCY = r"$£¥\u20a0-\u20cf"
_CURRENCY_CODES = "EUR|USD|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK"
_UNITS = (
    "[mkcdµμ]?m[²³]?|[kmµμ]?g|t|ha|[mcd]?[lL]|[kMGT]?Wh|[kMGT]W|[mk]V|mA|m?Ah|[kMGT]?Hz|[kMGT]i?B|KB|h?Pa|mbar|px|"
    rf"{_CURRENCY_CODES}"
)
_SUFFIXES = "st|nd|rd|th|er|re|e|ère|ème|te[nrs]?|º|ª|s|ms|min|h|am|pm|x|[kK]|M|bn|lbs?|oz|ft|in"
"""Ordinal suffixes, and units that are also words. They belong to a number only without a space before them."""
NUMBER = re.compile(
    rf"(?:(?<![^\W{UNSPACED_LETTERS}])(?:[-–−+±¬√<>≤≥≠≈~^{_CURRENCY}]{{1,5}}|(?:{_CURRENCY_CODES})[^\S\r\n]?)"
    rf"|[{_CURRENCY}<>≤≥≠≈±−]\s)?"
    rf"{_DIGITS}(?:(?:[^\w\s]{{1,5}}|x){_DIGITS})*(?:[eE][-+−]?\d{{1,3}}(?!\w))?"
    rf"(?:\s?[%‰°′″{_CURRENCY}]{{1,5}}(?:[CF](?!\w))?|[^\S\r\n]?(?:{_UNITS})(?!\w)|(?:{_SUFFIXES})(?!\w))?"
)
"""A number such as `-5`, `€ 5`, `3/4`, `10²`, `5 %`, `5 kg` or `5th`. Its word contains only the digits."""
_LETTERS_OR_DIGITS = rf"(?:[^\W{UNSPACED_LETTERS}]|(?=[{UNSPACED_LETTERS}])\d)+"
_HYPHENATED = re.compile(rf"{_LETTERS_OR_DIGITS}(?:[-\u2010\u2011]{_LETTERS_OR_DIGITS})*")
_PART = re.compile(_LETTERS_OR_DIGITS)
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(0|[1-9]\d*),(\d\d?|\d{4,}|(?<=\b0,)\d{3})(?![\d.,])")
"""Matches a number with a decimal comma. In `1,250`, the comma may separate thousands."""
_SPELLINGS = str.maketrans("–−µ", "--μ")
_LITRES = re.compile(r"(?<=\d)([mcd]?)L$")
_ZERO_DECIMALS = re.compile(r"(?<![\d.,])(\d+)[.,]00?(?![\d.,eE])")
"""Matches `50.0` and `50,00`. In `1.000`, the point may separate thousands, and in `1.10`, parts of a version."""

_SPELLED_NUMBERS = """\
    0 zero
    2 two zwei zwo deux dos
    3 three drei trois tres tre
    4 four vier quatre cuatro quattro
    5 five fünf cinq cinco cinque
    6 six sechs seis
    7 seven sieben sept siete sette
    8 eight acht huit ocho
    9 nine neun nueve nove
    10 ten zehn dix diez dieci
    11 eleven elf onze undici
    12 twelve zwölf douze doce dodici
    13 thirteen dreizehn treize trece tredici
    14 fourteen vierzehn quatorze catorce quattordici
    15 fifteen fünfzehn quinze quince quindici
    16 sixteen sechzehn dieciséis sedici
    17 seventeen siebzehn diecisiete diciassette
    18 eighteen achtzehn dieciocho diciotto
    19 nineteen neunzehn diecinueve diciannove
    20 twenty zwanzig vingt veinte venti
    30 thirty dreißig dreissig trente treinta trenta
    40 forty vierzig quarante cuarenta quaranta
    50 fifty fünfzig cinquante cincuenta cinquanta
    60 sixty sechzig soixante sesenta sessanta
    70 seventy siebzig setenta settanta
    80 eighty achtzig ochenta ottanta
    90 ninety neunzig noventa novanta
    100 hundred hundert cien cento
    1000 thousand tausend mil mille
    1000000 million millionen millions millón milione"""
SPELLED_NUMBERS: Mapping[str, str] = {
    word: digits for digits, *words in map(str.split, _SPELLED_NUMBERS.splitlines()) for word in words
}
"""The digits of numbers that are spelled out, in lower case. Words with another meaning, such as due, are left out."""

_IDENTIFIER_SEARCH_CHARACTERS = 64
"""The number of characters on each side of a part of a text that are searched for the rest of an identifier."""


def find_identifiers(text: str, span: Span) -> list[Span]:
    """Return the spans of the identifiers that overlap a part of a text. In an identifier, letters and digits touch.

    A number with a unit or an ordinal suffix, such as `5kg` or `2nd`, is not an identifier.
    """
    begin = max(0, span[0] - _IDENTIFIER_SEARCH_CHARACTERS)
    found = _HYPHENATED.finditer(text, begin, span[1] + _IDENTIFIER_SEARCH_CHARACTERS)
    return [
        match.span()
        for match in found
        if match.start() < span[1]
        and span[0] < match.end()
        and any(map(_mixes_letters_and_digits, _PART.findall(match[0])))
    ]


def is_in_word(text: str, position: int, identifiers: Sequence[Span]) -> bool:
    """Return whether a number begins in one of these identifiers, or is a small digit after a letter, as in `m²`."""
    if any(first <= position < last for first, last in identifiers):
        return True
    return position > 0 and not text[position].isdecimal() and text[position].isdigit() and text[position - 1].isalpha()


def normalise_number(number: str) -> str:
    """Return a key that is the same for all spellings of a number.

    Spellings may differ in spaces, the script of the digits, the kind of dash or apostrophe, the decimal separator (a
    comma or a point), one or two zeros after it, and the letter case of the unit litre.
    """
    key = ""
    for character in unify_typography(number).translate(_SPELLINGS):
        if unicodedata.decomposition(character).startswith("<fraction>"):
            fraction = unicodedata.normalize("NFKC", character).replace("\u2044", "/")
            key += f"+{fraction}" if key[-1:].isdecimal() else fraction
        elif not character.isspace():
            key += str(unicodedata.decimal(character, character))
    return _LITRES.sub(r"\1l", _ZERO_DECIMALS.sub(r"\1", _DECIMAL_COMMA.sub(r"\1.\2", key)))


def _mixes_letters_and_digits(word: str) -> bool:
    has_digit = any(map(str.isdecimal, word))
    return has_digit and not all(map(str.isdecimal, word)) and not NUMBER.fullmatch(word)
