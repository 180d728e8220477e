"""Detects the encoding of a text file.

The first rule that applies decides:

1. The file begins with a byte order mark.
2. The file contains NUL bytes and its beginning is clearly text in UTF-16 or UTF-32.
3. The file contains NUL bytes, and more than one byte in a thousand is a control character. It is then binary.
4. The file contains escape sequences of ISO-2022-JP and is valid in that encoding.
5. The file is valid UTF-8, apart from a few broken characters.
6. chardet chooses a legacy encoding.
"""

from __future__ import annotations

import codecs
import io
import re
import unicodedata
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO

from simdoc_search.errors import MissingExtraError

_BYTE_ORDER_MARKS = (  # UTF-32 before UTF-16, because the mark of UTF-32-LE begins with that of UTF-16-LE
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_WIDE_CODECS = (("utf-32-le", 4), ("utf-32-be", 4), ("utf-16-le", 2), ("utf-16-be", 2))
_SAMPLE_BYTES = 1 << 16
_CHUNK_BYTES = 1 << 20

# A text with at least this share of valid non-ASCII sequences is UTF-8 with broken characters. In texts of 40 languages
# in legacy encodings, at most a third of these sequences are valid UTF-8 by chance (in EUC-JP).
_MIN_VALID_UTF8_SHARE = 0.75
_MAX_CONTROL_SHARE, _MAX_HEAD_CONTROL_SHARE = 1 / 1000, 1 / 100
"""Maximum share of control characters in a text that contains NUL bytes: in all of it, and in its first 64 KiB."""

_IMAGE_SIGNATURES = re.compile(
    rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8[79]a|RIFF....WEBP|II\*\0|MM\0\*|BM|....ftyp(?:avif|heic|mif1)|\0\0\x01\0",
    re.DOTALL,
)
_ISO_2022_JP = re.compile(rb"\x1b(\$[@B]|\([BJI])")
_CONTROLS = bytes({*range(32), 127} - {*b"\t\n\v\f\r\b\x1a\x1b"})
_CHARACTER_BYTES = bytes(range(ord("0"), 256))  # in East Asian encodings, characters consist of these bytes
_TEXT_CONTROLS = frozenset("\t\n\v\f\r")

# Rare encodings of DOS, Macs and mainframes are not listed, because they often fit by chance.
_LEGACY_CODECS = (
    *("cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874", "tis-620"),
    *("iso8859-1", "iso8859-2", "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-9", "iso8859-13"),
    *("iso8859-15", "koi8-r", "koi8-u", "mac-roman", "cp850", "cp852", "cp866", "cp500", "cp1140"),
    *("cp932", "euc_jis_2004", "cp949", "euc_kr", "gb18030", "big5hkscs"),
)
# Files that declare the encoding on the left usually use that on the right (WHATWG Encoding Standard).
_SUPERSET_CODECS = {
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
_LEGACY_NAME = re.compile(r"(cp|iso8859|iso2022|koi8|mac|gb|big5|euc|shift_jis|tis|johab|kz|ptcp|hz|ascii)")
_LONG_ASCII_RUN = re.compile(rb"([\0-\x7f]{50})[\0-\x7f]+([\0-\x7f]{50})")


def decode(data: bytes, declared_encoding: str | None = None) -> str | None:
    """Decode a file.

    Args:
        data: the whole file.
        declared_encoding: the encoding that the file declares. It is used only if the bytes are not Unicode text.

    Returns:
        The text without its byte order mark, or None if the file is binary. Undecodable bytes become U+FFFD.

    Raises:
        MissingExtraError: chardet is needed and not installed.
    """
    if b"\0" not in data and b"\x1b" not in data and not data.startswith(codecs.BOM_UTF8):
        with suppress(UnicodeDecodeError):
            return data.decode()  # rule 5 of the module docstring, applied first because most files are UTF-8
    codec = detect_codec(io.BytesIO(data), declared_encoding)
    return None if codec is None else data.decode(codec, "replace")


def detect_codec(stream: BinaryIO, declared_encoding: str | None = None) -> str | None:
    """Return Python's codec for a seekable stream, or None if the stream is binary. The stream is read in chunks.

    Raises:
        MissingExtraError: chardet is needed and not installed.
    """
    stream.seek(0)
    head = stream.read(_SAMPLE_BYTES)
    marked = next((codec for mark, codec in _BYTE_ORDER_MARKS if head.startswith(mark)), None)
    if codec := marked or (_detect_wide_codec(head) if b"\0" in head else None):
        return codec
    counts = _count_utf8(stream)
    has_many_controls = counts.has_nul and counts.control_count > _MAX_CONTROL_SHARE * counts.byte_count
    if has_many_controls or _has_too_many_controls(head, _MAX_HEAD_CONTROL_SHARE):
        return None
    if counts.has_escapes and not counts.broken_count and _is_decodable(stream, "iso2022_jp"):
        return "iso2022_jp"
    if counts.valid_count >= _MIN_VALID_UTF8_SHARE * (counts.valid_count + counts.broken_count):
        return "utf-8"
    return _detect_legacy_codec(stream, _read_sample(stream, counts.first_broken_position), declared_encoding)


def _detect_legacy_codec(stream: BinaryIO, sample: bytes, declared_encoding: str | None) -> str | None:
    if len(sample.translate(None, _CONTROLS)) < 0.95 * len(sample):
        return None
    codec = _find_legacy_codec(declared_encoding) if declared_encoding else None
    return codec if codec and _is_decodable(stream, codec) else _guess_codec(sample)


def is_binary(head: bytes) -> bool:
    """Return whether the first 64 KiB of a file show that it is binary."""
    is_marked = head.startswith(tuple(mark for mark, _ in _BYTE_ORDER_MARKS))
    return not is_marked and _has_too_many_controls(head, _MAX_HEAD_CONTROL_SHARE) and not _detect_wide_codec(head)


def is_image(head: bytes) -> bool:
    """Return whether the first bytes of a binary file are those of an image."""
    return _IMAGE_SIGNATURES.match(head) is not None


def _has_too_many_controls(data: bytes, max_share: float) -> bool:
    return b"\0" in data and len(data) - len(data.translate(None, _CONTROLS)) > max_share * len(data)


@dataclass(slots=True)
class _Utf8Counts:
    """Counts of a stream that is decoded as UTF-8."""

    valid_count: int = 0  # valid non-ASCII characters
    broken_count: int = 0  # bytes that are not part of a valid character
    first_broken_position: int = 0  # position of the first broken byte
    has_nul: bool = False
    control_count: int = 0
    byte_count: int = 0
    has_escapes: bool = False  # whether the stream contains an escape sequence of ISO-2022-JP

    def add(self, text: str, start: int) -> None:
        """Count the characters of a chunk that was decoded with `surrogateescape`. The chunk begins at byte `start`."""
        if text.isascii():
            return
        broken = 0
        try:
            text.encode()
        except UnicodeEncodeError as error:
            broken = len(text) - len(text.encode("utf-8", "ignore").decode())
            if not self.broken_count:
                self.first_broken_position = start + len(text[: error.start].encode())
        self.broken_count += broken
        self.valid_count += len(text) - len(text.encode("ascii", "ignore")) - broken


def _count_utf8(stream: BinaryIO) -> _Utf8Counts:
    counts = _Utf8Counts()
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    stream.seek(0)
    end_of_last = b""
    while chunk := stream.read(_CHUNK_BYTES):
        counts.has_nul = counts.has_nul or b"\0" in chunk
        counts.control_count += len(chunk) - len(chunk.translate(None, _CONTROLS))
        counts.has_escapes = counts.has_escapes or _ISO_2022_JP.search(end_of_last + chunk) is not None
        end_of_last = chunk[-2:]
        undecoded = len(decoder.getstate()[0])
        counts.add(decoder.decode(chunk), counts.byte_count - undecoded)
        counts.byte_count += len(chunk)
    undecoded = len(decoder.getstate()[0])
    counts.add(decoder.decode(b"", final=True), counts.byte_count - undecoded)
    return counts


def _is_decodable(stream: BinaryIO, codec: str) -> bool:
    decoder = codecs.getincrementaldecoder(codec)()
    stream.seek(0)
    try:
        while chunk := stream.read(_CHUNK_BYTES):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeError:
        return False
    return True


def _read_sample(stream: BinaryIO, position: int) -> bytes:
    """Read the bytes around a position, without partial characters at either end."""
    start = max(0, position - _SAMPLE_BYTES // 4)
    stream.seek(start)
    sample = stream.read(_SAMPLE_BYTES)
    whole = sample.lstrip(_CHARACTER_BYTES) if start else sample
    if stream.read(1):
        whole = whole.rstrip(_CHARACTER_BYTES)
    return whole or sample


def _detect_wide_codec(sample: bytes) -> str | None:
    """Return the UTF-16 or UTF-32 codec of a sample, or None. The sample may end inside a character."""
    ascii_counts = {}
    for codec, unit in _WIDE_CODECS:
        text = _decode_beginning(sample, codec) if len(sample) % unit == 0 else None
        if text and _is_plain_text(text) and (unit == 4 or (_is_one_script(text) and not _is_ascii_or_utf8(sample))):
            ascii_counts[codec] = sum(map(str.isascii, text))
    # In the wrong byte order, ASCII can look like Chinese. So choose the codec that yields the most ASCII characters.
    return max(ascii_counts, key=ascii_counts.__getitem__, default=None)


def _decode_beginning(sample: bytes, codec: str) -> str | None:
    try:
        return codecs.getincrementaldecoder(codec)().decode(sample)
    except UnicodeDecodeError:
        return None


def _is_ascii_or_utf8(sample: bytes) -> bool:
    """Return whether a sample is ASCII or UTF-8 with a few NULs.

    If it were decoded as UTF-16, two ASCII letters could become a Chinese character.
    """
    rest = sample.replace(b"\0", b"")
    if len(rest) <= 0.75 * len(sample) or len(rest.translate(None, _CONTROLS)) <= 0.95 * len(rest):
        return False
    return _decode_beginning(rest, "utf-8") is not None


def _is_plain_text(text: str) -> bool:
    """Return whether all characters are assigned and none is a control character.

    Binary data that is decoded as UTF-32 rarely meets this condition.
    """
    return not any(
        unicodedata.category(char) in {"Cc", "Cn", "Co"} and char not in _TEXT_CONTROLS for char in set(text)
    )


def _is_one_script(text: str) -> bool:
    """Return whether a text contains ASCII, and at least 90 % of its characters are from two Unicode blocks."""
    blocks = Counter("CJK" if 0x30 <= ord(char) >> 8 <= 0xD7 else ord(char) >> 8 for char in text)
    return blocks[0] > 0 and sum(count for _, count in blocks.most_common(2)) >= 0.9 * len(text)


def _find_legacy_codec(declared_encoding: str) -> str | None:
    """Return Python's codec for a declared legacy encoding, or None for an unknown or a Unicode encoding."""
    try:
        name = codecs.lookup(declared_encoding).name
    except (LookupError, ValueError):
        return None
    return _SUPERSET_CODECS.get(name, name) if _LEGACY_NAME.match(name) else None


def _guess_codec(sample: bytes) -> str:
    """Guess Python's codec for text in a legacy encoding.

    If no encoding fits, cp1252 is used. The words are then wrong, but they are the same in every copy, so copies are
    still found.
    """
    try:
        import chardet  # noqa: PLC0415 - rarely needed
    except ImportError:
        raise MissingExtraError("reading text that is not UTF-8", "local") from None
    shortened = _LONG_ASCII_RUN.sub(rb"\1\n\2", sample)  # long runs of ASCII must not outweigh a few non-ASCII words
    # chardet's own supersets are not used, because they include cp1250 as a superset of iso8859-2.
    guess = chardet.detect(shortened, include_encodings=_LEGACY_CODECS, prefer_superset=False, compat_names=False)
    name = codecs.lookup(guess["encoding"] or "cp1252").name
    return _SUPERSET_CODECS.get(name, name)
