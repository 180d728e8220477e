"""How do the bytes of a file become text?

A byte order mark decides; without one, valid UTF-8 is UTF-8, and so is UTF-8 with some broken characters.
Bytes with NULs are UTF-16 or UTF-32 where that is plain to see, otherwise no text at all. What is left was
written before Unicode: `legacy.py` says in which encoding.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from simdoc_search.corpus.legacy import legacy_encoding, trusted_codec

__all__ = ["decode", "is_binary"]

_MARKS = (  # UTF-32 before UTF-16: the mark of UTF-16-LE is the beginning of that of UTF-32-LE
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_WIDE = (("utf-32-le", 4), ("utf-32-be", 4), ("utf-16-le", 2), ("utf-16-be", 2))
_SAMPLE = 1 << 16

# In texts of 40 languages in older encodings up to 1 in 3 non-ASCII sequences is valid UTF-8 by chance (EUC-JP).
_DAMAGED_UTF8 = 0.75

_ISO_2022_JP = re.compile(rb"\x1b(\$[@B]|\([BJI])")
_CONTROLS = bytes({*range(32), 127} - {*b"\t\n\v\f\r\b\x1a\x1b"})
_IN_CHARACTER = bytes(range(ord("0"), 256))  # what the encodings of East Asia make characters of
_TEXT_CONTROLS = frozenset("\t\n\v\f\r")


def decode(data: bytes, declared: str | None = None) -> str | None:
    """The text of a file.

    Args:
        data: the whole file.
        declared: the encoding that the file says it has; asked only about bytes that are not Unicode.

    Returns:
        The text, without byte order mark, what cannot be read as U+FFFD; None if the file is binary.
    """
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(codec, "replace")
    if b"\0" in data:
        wide = _wide_codec(data[:_SAMPLE])
        return data.decode(wide, "replace") if wide else None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _decode_invalid(data, error.start, declared)
    if "\x1b" in text and _ISO_2022_JP.search(data):
        return _strictly(data, "iso2022_jp") or text
    return text


def is_binary(head: bytes) -> bool:
    """True if the first 64 KiB of a file already show that it is not text."""
    return b"\0" in head and not head.startswith(tuple(mark for mark, _ in _MARKS)) and not _wide_codec(head)


def _decode_invalid(data: bytes, first: int, declared: str | None) -> str | None:
    """Text that is not valid UTF-8 from byte `first` on."""
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd") - data.count("\ufffd".encode())
    valid = len(text) - len(text.encode("ascii", "ignore")) - broken
    if valid >= _DAMAGED_UTF8 * (valid + broken):
        return text
    sample = _sample(data, first)
    if len(sample.translate(None, _CONTROLS)) < 0.95 * len(sample):
        return None
    codec = trusted_codec(declared) if declared else None
    as_declared = _strictly(data, codec) if codec else None
    return data.decode(legacy_encoding(sample), "replace") if as_declared is None else as_declared


def _strictly(data: bytes, codec: str) -> str | None:
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return None


def _sample(data: bytes, first: int) -> bytes:
    """Lines that are not ASCII, around byte `first`; no character of several bytes is cut."""
    start = max(0, first - _SAMPLE // 4)
    sample = data[start : start + _SAMPLE]
    whole = sample.lstrip(_IN_CHARACTER) if start else sample
    if start + _SAMPLE < len(data):
        whole = whole.rstrip(_IN_CHARACTER)
    lines = [line for line in whole.split(b"\n") if not line.isascii()]
    return b"\n".join(lines) if lines else sample


def _wide_codec(sample: bytes) -> str | None:
    """The UTF-16 or UTF-32 without byte order mark in which these bytes are plainly text."""
    for codec, unit in _WIDE:
        text = _strictly(sample, codec) if len(sample) % unit == 0 else None
        if text and _is_plain_text(text) and (unit == 4 or (_is_one_script(text) and not _is_narrow(sample))):
            return codec
    return None


def _is_narrow(sample: bytes) -> bool:
    """True for text of one byte a character with a few NULs in it: two ASCII letters can pass for one of CJK."""
    rest = sample.replace(b"\0", b"")
    few = len(rest) > 0.75 * len(sample)
    return few and _strictly(rest, "utf-8") is not None and len(rest.translate(None, _CONTROLS)) > 0.95 * len(rest)


def _is_plain_text(text: str) -> bool:
    """True if all characters are assigned ones and no controls: in UTF-32 hardly any other data is."""
    return not any(
        unicodedata.category(char) in {"Cc", "Cn", "Co"} and char not in _TEXT_CONTROLS for char in set(text)
    )


def _is_one_script(text: str) -> bool:
    """True if there is ASCII, if only spaces, and nearly all characters come from two places, say Cyrillic and it."""
    places = Counter("CJK" if 0x30 <= ord(char) >> 8 <= 0xD7 else ord(char) >> 8 for char in text)
    return places[0] > 0 and sum(count for _, count in places.most_common(2)) >= 0.9 * len(text)
