"""Cuts a text into blocks and chunks, so that a browser can show a long page without delay."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_MAX_BLOCK_CHARACTERS, _MAX_BLOCK_LINES = 1500, 12
_MAX_LINE_CHARACTERS = 6000
"""The maximum length of a line that is a block of its own. In many formats, a line is a whole paragraph."""
_CHUNK_CHARACTERS = 4000
"""The approximate number of characters that a browser lays out at once."""
_SPACE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph with the blank lines after it, or a part of a long paragraph.

    A form feed ends a page.
    """

    start: int
    end: int
    ends_page: bool = False


def cut_into_blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a text. A block ends after blank lines, a form feed, 12 lines or 1,500 characters.

    A line is cut only if it has more than 6,000 characters.
    """
    start = end = lines = 0
    is_after_blank = False
    for line in _split_lines(text):
        is_blank = not line.strip()
        is_full = lines >= _MAX_BLOCK_LINES or end + len(line) - start > _MAX_BLOCK_CHARACTERS
        if end > start and not is_blank and (is_after_blank or is_full):
            yield Block(start, end)
            start, lines = end, 0
        end += len(line)
        lines += 1
        is_after_blank = is_blank
        if line.endswith("\f"):
            yield Block(start, end, ends_page=True)
            start, lines, is_after_blank = end, 0, False
    if end > start:
        yield Block(start, end)


def group_into_chunks(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """Group blocks into chunks of about 4,000 characters. Each page begins a new chunk."""
    chunk: list[Block] = []
    for block in blocks:
        chunk.append(block)
        if block.ends_page or block.end - chunk[0].start >= _CHUNK_CHARACTERS:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _split_lines(text: str) -> Iterator[str]:
    """Yield the lines with their line breaks. A line that is too long is cut, after a space if possible."""
    for line in text.splitlines(keepends=True):
        start = 0
        while len(line) - start > _MAX_LINE_CHARACTERS:
            spaces = [match.end() for match in _SPACE.finditer(line, start, start + _MAX_LINE_CHARACTERS)]
            end = spaces[-1] if spaces else start + _MAX_LINE_CHARACTERS
            yield line[start:end]
            start = end
        yield line[start:]
