"""In which encoding from before Unicode is this text written? chardet says it."""

from __future__ import annotations

import codecs
import re

from simdoc_search.errors import MissingExtraError

# What texts were really written in: among the rare ones of DOS, of Macs and of mainframes one often fits by chance.
_IN_USE = (
    *("cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874", "tis-620"),
    *("iso8859-1", "iso8859-2", "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-9", "iso8859-13"),
    *("iso8859-15", "koi8-r", "koi8-u", "mac-roman", "cp850", "cp852", "cp866", "cp500", "cp1140"),
    *("cp932", "euc_jis_2004", "cp949", "euc_kr", "gb18030", "big5hkscs"),
)
# What is found or declared by the first name is in practice the second, a superset (WHATWG Encoding Standard).
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
_BEFORE_UNICODE = re.compile(r"(cp|iso8859|iso2022|koi8|mac|gb|big5|euc|shift_jis|tis|johab|kz|ptcp|hz|ascii)")
_ASCII_BETWEEN = re.compile(rb"([\0-\x7f]{50})[\0-\x7f]+([\0-\x7f]{50})")


def trusted_codec(declared: str) -> str | None:
    """Python's codec for the encoding that a file says it has; None unless it is one from before Unicode."""
    try:
        name = codecs.lookup(declared).name
    except (LookupError, ValueError):
        return None
    return _SUPERSETS.get(name, name) if _BEFORE_UNICODE.match(name) else None


def legacy_codec(sample: bytes) -> str:
    """Python's codec for bytes that are text but not Unicode.

    Where nothing fits it is cp1252: the words are then wrong, yet the same in each copy: copies are found.

    Raises:
        MissingExtraError: chardet is needed and not installed.
    """
    try:
        import chardet  # noqa: PLC0415 - seldom needed
    except ImportError:
        raise MissingExtraError("reading text that is not UTF-8", "local") from None
    near = _ASCII_BETWEEN.sub(rb"\1\n\2", sample)  # a word that decides is not outweighed by pages of ASCII
    # Its own supersets are not used: it takes cp1250 for one of iso8859-2.
    found = chardet.detect(near, include_encodings=_IN_USE, prefer_superset=False, compat_names=False)["encoding"]
    name = codecs.lookup(found or "cp1252").name
    return _SUPERSETS.get(name, name)
