"""Writes documents of Word 97 (.doc), which are compound files with a table of the pieces of their text."""

from __future__ import annotations

import struct
from itertools import accumulate

from tests.support.outlook import compound_file

_TEXT_AT, _ONE_BYTE = 0x400, 1 << 30
_MIN_STREAM = b"\0" * 4096  # readers expect that a document is not in the mini stream


def word_97_document(
    *parts: str, one_byte: bool = False, encrypted: bool = False, references: tuple[int, ...] = ()
) -> bytes:
    """Return a document of up to eight parts of text: body, footnotes, headers, macros, comments, endnotes, ...

    `references` are the places in the body that refer to the footnotes, each of which is a line of its part.

    The text is in Windows-1252 if `one_byte`, otherwise in UTF-16. The odd pieces and the even pieces follow each
    other, so that their order in the file is not that of the text.
    """
    text = "".join(parts).encode("utf-16-le")
    middle = len(text) // 4 * 2
    stored, addresses = b"", []
    for piece in (text[middle:], text[:middle]):
        address = _TEXT_AT + len(stored)
        addresses.append(2 * address | _ONE_BYTE if one_byte else address)
        stored += piece.decode("utf-16-le").encode("cp1252") if one_byte else piece
    bounds = struct.pack("<3I", 0, middle // 2, len(text) // 2)
    pieces = b"".join(struct.pack("<HIH", 0, address, 0) for address in reversed(addresses))
    table = b"\1" + struct.pack("<H", 3) + b"abc" + b"\2" + struct.pack("<I", len(bounds + pieces)) + bounds + pieces
    piece_table_size = len(table)
    head = bytearray(_TEXT_AT)
    if references:
        starts = accumulate((len(line) for line in parts[1].splitlines(keepends=True)), initial=0)
        places = struct.pack(f"<{len(references) + 1}I", *references, len(parts[0])) + bytes(2 * len(references))
        bounds = struct.pack(f"<{len(references) + 1}I", *starts)
        struct.pack_into("<4I", head, 0xAA, len(table), len(places), len(table + places), len(bounds))
        table += places + bounds
    struct.pack_into("<HH", head, 0, 0xA5EC, 0x00C1)
    struct.pack_into("<H", head, 0x0A, 0x0200 | 0x0100 * encrypted)
    struct.pack_into(f"<{len(parts)}i", head, 0x4C, *(len(part.encode("utf-16-le")) // 2 for part in parts))
    struct.pack_into("<II", head, 0x1A2, 0, piece_table_size)
    return compound_file({"WordDocument": bytes(head) + stored + _MIN_STREAM, "1Table": table + _MIN_STREAM})
