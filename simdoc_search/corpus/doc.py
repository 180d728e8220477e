"""Reads the text of Word 97 to 2003 documents (the specification MS-DOC, sections 2.4.1 and 2.5).

kreuzberg guesses how the characters of such a document are encoded, and Chinese or Japanese text becomes noise.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING

from simdoc_search.errors import DocumentError

if TYPE_CHECKING:
    from olefile import OleMetadata

OLE_SIGNATURE = b"\xd0\xcf\x11\xe0"
"""The first bytes of a compound file, which is the format of old Office files and of encrypted new ones."""

_MAGIC, _MIN_VERSION = 0xA5EC, 0x00C1
_ENCRYPTED, _SECOND_TABLE = 0x0100, 0x0200
_FLAGS_AT, _LENGTHS_AT, _PIECES_AT = 0x0A, 0x4C, 0x1A2
_ONE_BYTE = 1 << 30
_NO_DATE_YEAR = 1601  # a date of 0 is the beginning of this year
_BODY, _FOOTNOTES, _ENDNOTES, _TEXT_BOXES = 0, 1, 5, 6
"""Parts of the text. The others, which are not read, are headers and footers, macros, comments, and the text boxes of
headers."""
_NOTES_AT = {_FOOTNOTES: (0xAA, 0xB2), _ENDNOTES: (0x20A, 0x212)}
"""Where the positions of the references to notes, and those of the texts of notes, are stored."""

_PARAGRAPH_END = re.compile(rb"[\r\x07]\0")
_FIELD_MARK = re.compile("([\x13\x14\x15])")  # the start of a field, the start of its result, and its end
_CHARACTERS: dict[int, str | None] = dict.fromkeys(range(32))
_CHARACTERS |= {7: "\t", 9: "\t", 10: "\n", 11: "\n", 12: "\n", 13: "\n\n", 30: "-"}


def read_doc(data: bytes) -> tuple[str, dict[str, str]] | None:
    """Return the text of a document, and its properties `title`, `created_at` and `modified_at` if it has them.

    The text consists of the body and the text boxes. A footnote or endnote follows the paragraph that refers to it.
    Paragraphs are separated by an empty line, and the cells of a table by a tab. Text that tracked
    changes delete is read too. The result is None if the file was not written by Word 97 or newer.

    Raises:
        DocumentError: the file is encrypted or damaged. The message is the reason in a few words.
    """
    from olefile import OleFileIO  # noqa: PLC0415 - an optional dependency

    try:
        with OleFileIO(io.BytesIO(data)) as file:
            if not file.exists("WordDocument"):
                return None
            document = file.openstream("WordDocument").read()
            magic, version = struct.unpack_from("<HH", document)
            (flags,) = struct.unpack_from("<H", document, _FLAGS_AT)
            if magic != _MAGIC or version < _MIN_VERSION:
                return None
            if flags & _ENCRYPTED:
                raise DocumentError("encrypted")
            table = file.openstream("1Table" if flags & _SECOND_TABLE else "0Table").read()
            parts = _split_into_parts(b"".join(_read_pieces(document, table)), document)
            notes = [note for part in _NOTES_AT for note in _read_notes(part, parts[part], document, table)]
            properties = _read_properties(file.get_metadata())
    except DocumentError:
        raise
    except (OSError, LookupError, ValueError, TypeError, struct.error) as error:
        raise DocumentError("damaged: not a complete file of this format") from error
    text = b"\r\0".join([_insert_notes(parts[_BODY], notes), parts[_TEXT_BOXES]])
    return _remove_marks(text.decode("utf-16-le", "replace")).strip("\n"), properties


def _split_into_parts(text: bytes, document: bytes) -> list[bytes]:
    ends = accumulate(2 * max(length, 0) for length in struct.unpack_from("<8i", document, _LENGTHS_AT))
    return [text[start:end] for start, end in pairwise([0, *ends])]


def _read_notes(part: int, text: bytes, document: bytes, table: bytes) -> Iterator[tuple[int, bytes]]:
    """Return the place of the reference to each note in the body, and its text. Without places, they are at the end."""
    references, texts = (struct.unpack_from("<II", document, at) for at in _NOTES_AT[part])
    count = max(references[1] - 4, 0) // 6  # each has a place and two bytes, and one place follows
    if not count:
        yield 2 * len(document), text
        return
    places = struct.unpack_from(f"<{count}I", table, references[0])
    starts = struct.unpack_from(f"<{count + 1}I", table, texts[0])
    for place, start, end in zip(places, starts, starts[1:], strict=False):
        yield 2 * place, text[2 * start : 2 * end]


def _insert_notes(body: bytes, notes: list[tuple[int, bytes]]) -> bytes:
    """Insert each note after the end of the paragraph or table cell that refers to it."""
    pieces, begin = [], 0
    for place, note in sorted(notes, key=itemgetter(0)):
        ends = (match.end() for match in _PARAGRAPH_END.finditer(body, place) if match.end() % 2 == 0)
        end = max(next(ends, len(body)), begin)
        pieces += [body[begin:end], note]
        begin = end
    return b"".join([*pieces, body[begin:]])


def _read_properties(metadata: OleMetadata) -> dict[str, str]:
    properties = {}
    if metadata.title:
        with suppress(LookupError):
            properties["title"] = metadata.title.decode(f"cp{(metadata.codepage or 1252) & 0xFFFF}", "replace")
    for name, date in (("created_at", metadata.create_time), ("modified_at", metadata.last_saved_time)):
        if date and date.year > _NO_DATE_YEAR:
            properties[name] = f"{date.isoformat(timespec='seconds')}Z"
    return properties


def _read_pieces(document: bytes, table: bytes) -> Iterator[bytes]:
    """Read the pieces of the text in order, all in UTF-16, whose units the lengths of the parts count."""
    start, size = struct.unpack_from("<II", document, _PIECES_AT)
    end = start + size
    while start < end and table[start : start + 1] == b"\1":  # formatting, which precedes the table of pieces
        start += 3 + struct.unpack_from("<H", table, start + 1)[0]
    (size,) = struct.unpack_from("<I", table, start + 1)
    count = (size - 4) // 12
    if not 0 < count <= len(table) // 12:
        raise struct.error
    bounds = struct.unpack_from(f"<{count + 1}I", table, start + 5)
    for number in range(count):
        (address,) = struct.unpack_from("<I", table, start + 5 + 4 * (count + 1) + 8 * number + 2)
        length = bounds[number + 1] - bounds[number]
        if address & _ONE_BYTE:
            at = (address & ~_ONE_BYTE) // 2
            yield document[at : at + length].decode("cp1252", "replace").encode("utf-16-le")
        else:
            yield document[address : address + 2 * length]


def _remove_marks(text: str) -> str:
    """Remove the codes of fields, whose results are text, and the marks of pictures and notes."""
    kept, is_code = [], list[bool]()
    for piece in _FIELD_MARK.split(text):
        if piece == "\x13":
            is_code.append(True)
        elif piece == "\x14" and is_code:
            is_code[-1] = False
        elif piece == "\x15" and is_code:
            is_code.pop()
        elif not any(is_code):
            kept.append(piece)
    return "".join(kept).translate(_CHARACTERS)
