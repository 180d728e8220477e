"""In which encoding from before Unicode is this text written?

Detectors confuse the encodings of the Latin script in short texts: è in one of them is č in another. So these
are told apart by the alphabets of the languages: the right encoding is the one in which nearly all characters
beyond ASCII are letters of one language. All other scripts are left to charset-normalizer.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter

from simdoc_search.errors import MissingExtraError

__all__ = ["legacy_encoding", "trusted_codec"]

# What is declared by the first name is in practice the second, a superset (WHATWG Encoding Standard).
_SUPERSETS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
}
_LEGACY = re.compile(r"(cp|iso8859|iso2022|koi8|mac|gb|big5|euc|shift_jis|tis|johab|kz|ptcp|hz|ascii)")

_WESTERN, _CENTRAL = "cp1252 cp850 mac_roman", "cp1250 iso8859_2 cp852"
_ALPHABETS = (  # at a tie the first wins
    (_WESTERN, "àâæçèéêëîïôœùûüÿ"),  # French
    (_WESTERN, "äöüßé"),  # German
    (_WESTERN, "áâãàçéêíñóôõúüªº"),  # Spanish, Portuguese
    (_WESTERN, "àèéìíîòóùúªº"),  # Italian
    (_WESTERN, "åäöéüæøàôšž"),  # Swedish, Danish, Norwegian, Finnish
    (_WESTERN, "áàâäéèêëíïóòôöúùûü"),  # Dutch, Gaelic, Welsh
    (_WESTERN, "àçèéíïòóúü"),  # Catalan
    ("cp1252 cp850", "áðéíóúýþæö"),  # Icelandic, Faroese
    (_CENTRAL, "ąćęłńóśźż"),  # Polish
    (_CENTRAL, "áčďéěíňóřšťúůýž"),  # Czech
    (_CENTRAL, "áäčďéíĺľňóôŕšťúýž"),  # Slovak
    (_CENTRAL, "áéíóöőúüű"),  # Hungarian
    (_CENTRAL, "čćđšž"),  # Croatian, Slovene
    (_CENTRAL, "ăâîşţé"),  # Romanian
    ("cp1254", "çğıİöşüâîû"),  # Turkish
    ("cp1257", "ąčęėįšųūž"),  # Lithuanian
    ("cp1257", "āčēģīķļņšūž"),  # Latvian
    ("cp1257", "äõöüšž"),  # Estonian
)
_BY_USE = ("cp1252", "cp1250", "cp1254", "cp1257", "iso8859_2", "cp850", "cp852", "mac_roman")
_SIGNS = frozenset("«»‹›“”„‘’‚–—…•·©®™°§€£¢¥¿¡×±²³µ†‡\xa0\xad")
_JOINERS = frozenset("’–—…·\xad")
_FOREIGN = 0.2  # of the characters beyond ASCII: names, quotations, formulas

_ASCII = re.compile(rb"[\0-\x7f]+")
_IN_WORD = re.compile(rb"(?<=[a-z])[\x80-\xff](?=[a-z])")
_ASCII_WORDS = re.compile(rb"(?<![\x80-\xff])\b[A-Za-z]+\b(?![\x80-\xff])")
_RUNS = re.compile(rb"[\x80-\xff]{3,}")
_NO_LETTERS = re.compile(rb"[^A-Za-z]+")

_IN_USE = [
    *("cp1251", "koi8_r", "koi8_u", "cp866", "iso8859_5"),  # Cyrillic
    *("cp1253", "iso8859_7", "cp1255", "cp1256", "cp874"),  # Greek, Hebrew, Arabic, Thai
    *("cp932", "euc_jp", "cp949", "gb18030", "big5"),  # Japanese, Korean, Chinese
    *_BY_USE,
    *("cp1258", "cp500", "cp037"),  # Vietnamese, mainframes
]


def trusted_codec(declared: str) -> str | None:
    """Python's codec for the encoding that a file says it has; None unless it is one from before Unicode."""
    try:
        name = codecs.lookup(declared).name
    except (LookupError, ValueError):
        return None
    return _SUPERSETS.get(name, name) if _LEGACY.match(name) else None


def legacy_encoding(sample: bytes) -> str:
    """Python's codec for bytes that are text but not Unicode.

    Where nothing fits it is cp1252: the words are then wrong, yet the same in each copy: copies are found.

    Raises:
        MissingExtraError: charset-normalizer is needed and not installed.
    """
    return _latin(sample) or _detected(sample) or "cp1252"


def _latin(sample: bytes) -> str | None:
    """The encoding, if the text is in a language of the Latin script: ASCII letters and, among them, others."""
    high = _ASCII.sub(b"", sample)
    if len(high) > len(_NO_LETTERS.sub(b"", sample)) or 2 * sum(map(len, _RUNS.findall(sample))) > len(high):
        return None
    counts, in_words = Counter(high), Counter(b"".join(_IN_WORD.findall(sample)))
    best, fewest = None, _FOREIGN * len(high)
    for encoding in _BY_USE:
        for encodings, letters in _ALPHABETS:
            if encoding in encodings.split():
                foreign = _foreign(counts, in_words, encoding, letters)
                if foreign < fewest:
                    best, fewest = encoding, foreign
    return best


def _foreign(counts: Counter[int], in_words: Counter[int], encoding: str, letters: str) -> int:
    """The number of characters beyond ASCII that the language has not, and of signs and capitals inside a word."""
    foreign = 0
    for byte, count in counts.items():
        char = bytes([byte]).decode(encoding, "replace")
        if char not in _SIGNS and char.lower() not in letters and char not in letters:
            foreign += count
        elif not char.islower() and char not in _JOINERS:
            foreign += in_words[byte]
    return foreign


def _detected(sample: bytes) -> str | None:
    try:
        from charset_normalizer import from_bytes  # noqa: PLC0415 - slow to import, and seldom needed
    except ImportError:
        raise MissingExtraError("reading text that is not UTF-8", "local") from None
    # The words of the language alone: among English ones or markup Cyrillic looks like some Latin script.
    match = from_bytes(_ASCII_WORDS.sub(b"", sample), cp_isolation=_IN_USE, enable_fallback=False).best()
    return match.encoding if match else None
