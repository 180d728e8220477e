"""How do the bytes of a file become text?

A byte order mark decides; without one, valid UTF-8 is UTF-8, and so is UTF-8 with some broken characters.
Bytes with NULs are UTF-16 or UTF-32 where that is plain to see. Otherwise they are binary, unless only one byte in
a thousand is a control character. What is left was written before Unicode, see legacy_encodings.py.
"""

from __future__ import annotations

import codecs
import io
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import BinaryIO

from simdoc_search.corpus.legacy_encodings import legacy_codec, trusted_codec

_MARKS = (  # UTF-32 before UTF-16: the mark of UTF-16-LE is the beginning of that of UTF-32-LE
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_WIDE = (("utf-32-le", 4), ("utf-32-be", 4), ("utf-16-le", 2), ("utf-16-be", 2))
_SAMPLE = 1 << 16
_AT_ONCE = 1 << 20

# In texts of 40 languages in older encodings up to 1 in 3 non-ASCII sequences is valid UTF-8 by chance (EUC-JP).
_DAMAGED_UTF8 = 0.75

_FEW_CONTROLS, _FEW_IN_HEAD = 1 / 1000, 1 / 100
"""Control characters that a text with NUL bytes may have, as a share of its bytes; and of its first 64 KiB."""

_IMAGES = re.compile(
    rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8[79]a|RIFF....WEBP|II\*\0|MM\0\*|BM|....ftyp(?:avif|heic|mif1)|\0\0\x01\0",
    re.DOTALL,
)

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

    Raises:
        MissingExtraError: chardet is needed and not installed.
    """
    codec = text_codec(io.BytesIO(data), declared)
    return None if codec is None else data.decode(codec, "replace")


def text_codec(stream: BinaryIO, declared: str | None = None) -> str | None:
    """Python's codec for the text of a stream, which is read to its end, a part at a time; None if it is binary.

    Args:
        stream: it can be read again from its beginning; where it stands afterwards is open.
        declared: as for `decode`.

    Raises:
        MissingExtraError: chardet is needed and not installed.
    """
    stream.seek(0)
    head = stream.read(_SAMPLE)
    known = next((codec for mark, codec in _MARKS if head.startswith(mark)), None)
    if known := known or (_wide_codec(head) if b"\0" in head else None):
        return known
    seen = _look_through(stream)
    if _has_controls(head, _FEW_IN_HEAD) or (seen.nul and seen.controls > _FEW_CONTROLS * seen.size):
        return None
    if seen.escapes and not seen.broken and _fits(stream, "iso2022_jp"):
        return "iso2022_jp"
    if seen.valid >= _DAMAGED_UTF8 * (seen.valid + seen.broken):
        return "utf-8"
    return _not_unicode(stream, _sample(stream, seen.first_broken), declared)


def _not_unicode(stream: BinaryIO, sample: bytes, declared: str | None) -> str | None:
    if len(sample.translate(None, _CONTROLS)) < 0.95 * len(sample):
        return None
    codec = trusted_codec(declared) if declared else None
    return codec if codec and _fits(stream, codec) else legacy_codec(sample)


def is_binary(head: bytes) -> bool:
    """True if the first 64 KiB of a file already show that it is not text."""
    is_marked = head.startswith(tuple(mark for mark, _ in _MARKS))
    return not is_marked and _has_controls(head, _FEW_IN_HEAD) and not _wide_codec(head)


def is_image(head: bytes) -> bool:
    """True if a binary file is a picture, by its first bytes."""
    return _IMAGES.match(head) is not None


def _has_controls(data: bytes, most: float) -> bool:
    """True if there are NUL bytes, and control characters are more than this share of the bytes."""
    return b"\0" in data and len(data) - len(data.translate(None, _CONTROLS)) > most * len(data)


@dataclass(slots=True)
class _Seen:
    """What bytes are when taken as UTF-8.

    Attributes:
        valid: the number of characters beyond ASCII.
        broken: the number of bytes that belong to no character.
        first_broken: where the first of these is.
        nul: there is a NUL byte.
        controls: the number of control characters.
        size: the number of bytes.
        escapes: there is an escape sequence of ISO-2022-JP.
    """

    valid: int = 0
    broken: int = 0
    first_broken: int = 0
    nul: bool = False
    controls: int = 0
    size: int = 0
    escapes: bool = False

    def add(self, text: str, start: int) -> None:
        """More text, decoded with `surrogateescape`, that begins at this byte."""
        if text.isascii():
            return
        broken = 0
        try:
            text.encode()
        except UnicodeEncodeError as error:
            broken = len(text) - len(text.encode("utf-8", "ignore").decode())
            if not self.broken:
                self.first_broken = start + len(text[: error.start].encode())
        self.broken += broken
        self.valid += len(text) - len(text.encode("ascii", "ignore")) - broken


def _look_through(stream: BinaryIO) -> _Seen:
    seen = _Seen()
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    stream.seek(0)
    start, before = 0, b""
    while chunk := stream.read(_AT_ONCE):
        seen.nul = seen.nul or b"\0" in chunk
        seen.controls += len(chunk) - len(chunk.translate(None, _CONTROLS))
        seen.size += len(chunk)
        seen.escapes = seen.escapes or _ISO_2022_JP.search(before + chunk) is not None
        before = chunk[-2:]
        cut = len(decoder.getstate()[0])
        seen.add(decoder.decode(chunk), start - cut)
        start += len(chunk)
    seen.add(decoder.decode(b"", final=True), start - len(decoder.getstate()[0]))
    return seen


def _fits(stream: BinaryIO, codec: str) -> bool:
    """True if all bytes are characters of this encoding."""
    decoder = codecs.getincrementaldecoder(codec)()
    stream.seek(0)
    try:
        while chunk := stream.read(_AT_ONCE):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeError:
        return False
    return True


def _sample(stream: BinaryIO, first: int) -> bytes:
    """The bytes around byte `first`; no character of several bytes is cut."""
    start = max(0, first - _SAMPLE // 4)
    stream.seek(start)
    sample = stream.read(_SAMPLE)
    whole = sample.lstrip(_IN_CHARACTER) if start else sample
    if stream.read(1):
        whole = whole.rstrip(_IN_CHARACTER)
    return whole or sample


def _wide_codec(sample: bytes) -> str | None:
    """The UTF-16 or UTF-32 without byte order mark in which these bytes, perhaps cut, are plainly text."""
    found = {}
    for codec, unit in _WIDE:
        text = _beginning(sample, codec) if len(sample) % unit == 0 else None
        if text and _is_plain_text(text) and (unit == 4 or (_is_one_script(text) and not _is_narrow(sample))):
            found[codec] = sum(map(str.isascii, text))
    return max(found, key=found.__getitem__, default=None)  # ASCII in the wrong order of bytes can pass for CJK


def _beginning(sample: bytes, codec: str) -> str | None:
    """The text of the first bytes of a file; a character that is cut at their end is left out."""
    try:
        return codecs.getincrementaldecoder(codec)().decode(sample)
    except UnicodeDecodeError:
        return None


def _is_narrow(sample: bytes) -> bool:
    """True for text of one byte a character with a few NULs in it: two ASCII letters can pass for one of CJK."""
    rest = sample.replace(b"\0", b"")
    few = len(rest) > 0.75 * len(sample)
    return few and _beginning(rest, "utf-8") is not None and len(rest.translate(None, _CONTROLS)) > 0.95 * len(rest)


def _is_plain_text(text: str) -> bool:
    """True if all characters are assigned ones and no controls: in UTF-32 hardly any other data is."""
    return not any(
        unicodedata.category(char) in {"Cc", "Cn", "Co"} and char not in _TEXT_CONTROLS for char in set(text)
    )


def _is_one_script(text: str) -> bool:
    """True if there is ASCII, if only spaces, and nearly all characters come from two places, say Cyrillic and it."""
    places = Counter("CJK" if 0x30 <= ord(char) >> 8 <= 0xD7 else ord(char) >> 8 for char in text)
    return places[0] > 0 and sum(count for _, count in places.most_common(2)) >= 0.9 * len(text)
