"""Writes Outlook messages (.msg), which are compound files of OLE: small file systems with storages and streams."""

from __future__ import annotations

import struct
from collections.abc import Mapping

__all__ = ["compound_file", "outlook_message"]

_SECTOR, _MINI_SECTOR, _MINI_LIMIT, _ENTRY = 512, 64, 4096, 128
_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_STORAGE, _STREAM, _ROOT = 1, 2, 5
_UNICODE, _BINARY, _LONG = 0x001F, 0x0102, 0x0003

Tree = Mapping[str, "bytes | Tree"]


def outlook_message(
    subject: str, body: str, attachments: Mapping[str, bytes] | None = None, *, html: str | bytes = b""
) -> bytes:
    """Return a message with attachments as Outlook saves it. Some programs store the HTML body as a string."""
    values = {0x001A: "IPM.Note", 0x0037: subject, 0x1000: body, 0x0C1A: "Ada"}
    values |= {0x1013: html} if isinstance(html, str) else {}
    binaries = {0x1013: html} if isinstance(html, bytes) and html else {}
    tree = _properties({tag: _text(value) for tag, value in values.items()}, binaries, 32)
    for number, (name, data) in enumerate((attachments or {}).items()):
        texts = {0x3704: _text(name), 0x3707: _text(name)}
        tree[f"__attach_version1.0_#{number:08X}"] = _properties(texts, {0x3701: data}, 8)
    tree["__nameid_version1.0"] = {f"__substg1.0_000{number}0102": b"" for number in (2, 3, 4)}
    return compound_file(tree)


def _text(value: str) -> bytes:
    return value.encode("utf-16-le")


def _properties(texts: Mapping[int, bytes], binaries: Mapping[int, bytes], header_size: int) -> dict[str, bytes | Tree]:
    """Return the streams of properties, and the table of their sizes."""
    streams: dict[str, bytes | Tree] = {}
    table = bytes(header_size)
    for kind, values in ((_UNICODE, texts), (_BINARY, binaries)):
        for tag, data in values.items():
            streams[f"__substg1.0_{tag:04X}{kind:04X}"] = data
            size = len(data) + (2 if kind == _UNICODE else 0)
            table += struct.pack("<HHIII", kind, tag, 6, size, 0)
    table += struct.pack("<HHIII", _LONG, 0x3705, 6, 1, 0)  # attached by value
    streams["__properties_version1.0"] = table
    return streams


def compound_file(tree: Tree) -> bytes:
    """Return a compound file of version 3. Small streams are in the mini stream, as readers require."""
    entries: list[list[object]] = []  # name, type, left, right, child, data
    _add_entries(entries, "Root Entry", tree, _ROOT)
    mini, mini_fat, sectors, fat = bytearray(), list[int](), list[bytes](), list[int]()

    def store(data: bytes) -> int:
        """Store a stream in sectors of its own, and return the first one."""
        first, count = len(sectors), -(-len(data) // _SECTOR)
        sectors.extend(data[at : at + _SECTOR].ljust(_SECTOR, b"\0") for at in range(0, len(data), _SECTOR))
        fat.extend([*range(first + 1, first + count), _END] if count else [])
        return first if count else _END

    starts = []
    for _, kind, _, _, _, data in entries:
        assert isinstance(data, bytes)
        if kind != _STREAM or not data:
            starts.append(_END if kind == _STREAM else 0)
        elif len(data) >= _MINI_LIMIT:
            starts.append(store(data))
        else:
            first, count = len(mini_fat), -(-len(data) // _MINI_SECTOR)
            mini_fat.extend([*range(first + 1, first + count), _END])
            mini.extend(data.ljust(count * _MINI_SECTOR, b"\0"))
            starts.append(first)
    starts[0] = store(bytes(mini))
    directory = b"".join(
        _entry(entry, start, len(mini) if number == 0 else None)
        for number, (entry, start) in enumerate(zip(entries, starts, strict=True))
    )
    mini_table = struct.pack(f"<{len(mini_fat)}I", *mini_fat)
    mini_table += b"\xff" * (-len(mini_table) % _SECTOR)
    directory += _entry(["", 0, _FREE, _FREE, _FREE, b""], 0, None) * (-len(entries) % (_SECTOR // _ENTRY))
    mini_start, directory_start = store(mini_table), store(directory)
    fat_sectors = 1
    while (len(fat) + fat_sectors) * 4 > fat_sectors * _SECTOR:
        fat_sectors += 1
    fat_places = range(len(sectors), len(sectors) + fat_sectors)
    fat += [_FAT] * fat_sectors
    table = struct.pack(f"<{len(fat)}I", *fat).ljust(fat_sectors * _SECTOR, b"\xff")
    header = struct.pack(
        "<8s16s5H6x9I", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", bytes(16), 0x3E, 3, 0xFFFE, 9, 6, 0,
        fat_sectors, directory_start, 0, _MINI_LIMIT, mini_start, len(mini_table) // _SECTOR, _END, 0,
    )  # fmt: skip
    header += struct.pack("<109I", *[*fat_places, *[_FREE] * (109 - fat_sectors)])
    return header + b"".join(sectors) + table


def _add_entries(entries: list[list[object]], name: str, content: bytes | Tree, kind: int) -> int:
    number = len(entries)
    is_stream = isinstance(content, bytes)
    entry: list[object] = [name, kind, _FREE, _FREE, _FREE, content if is_stream else b""]
    entries.append(entry)
    if not isinstance(content, bytes):
        names = sorted(content, key=lambda each: (len(each), each.upper()))
        children = {
            each: _add_entries(entries, each, content[each], _STREAM if isinstance(content[each], bytes) else _STORAGE)
            for each in names
        }
        entry[4] = _balance(entries, [children[each] for each in names])
    return number


def _balance(entries: list[list[object]], numbers: list[int]) -> int:
    """Link siblings to a balanced tree, and return its root."""
    if not numbers:
        return _FREE
    middle = len(numbers) // 2
    entry = entries[numbers[middle]]
    entry[2], entry[3] = _balance(entries, numbers[:middle]), _balance(entries, numbers[middle + 1 :])
    return numbers[middle]


def _entry(entry: list[object], start: int, size: int | None) -> bytes:
    name, kind, left, right, child, data = entry
    assert isinstance(name, str)
    assert isinstance(data, bytes)
    encoded = name.encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII16sIQQIQ", encoded, len(encoded) + 2 if name else 0, kind, 1, left, right, child, bytes(16), 0, 0, 0,
        start, len(data) if size is None else size,
    )  # fmt: skip
