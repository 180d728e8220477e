"""Cuts a text into blocks and chunks, so that a browser shows a long page without delay."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_MAX_BLOCK_CHARACTERS, _MAX_BLOCK_LINES = 1500, 12
_CHUNK_CHARACTERS = 4000
"""Characters that a browser lays out together."""
_SPACE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, or a part of a long one. The blank lines after a paragraph belong to it."""

    start: int
    end: int
    ends_page: bool = False


def blocks(text: str) -> Iterator[Block]:
    """All blocks of a text. A block ends at a blank line, at a page, or after 12 lines or 1,500 characters."""
    start = at = lines = 0
    is_after_blank = False
    for line in _lines(text):
        is_blank = not line.strip()
        is_full = lines >= _MAX_BLOCK_LINES or at + len(line) - start > _MAX_BLOCK_CHARACTERS
        if at > start and not is_blank and (is_after_blank or is_full):
            yield Block(start, at)
            start, lines = at, 0
        at += len(line)
        lines += 1
        is_after_blank = is_blank
        if line.endswith("\f"):
            yield Block(start, at, ends_page=True)
            start, lines, is_after_blank = at, 0, False
    if at > start:
        yield Block(start, at)


def chunks(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """Blocks in groups of about 4,000 characters. A page begins a new group."""
    chunk: list[Block] = []
    for block in blocks:
        chunk.append(block)
        if block.ends_page or block.end - chunk[0].start >= _CHUNK_CHARACTERS:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _lines(text: str) -> Iterator[str]:
    """The lines with their ends. A line that is too long for a block is cut, after a space if possible."""
    for line in text.splitlines(keepends=True):
        at = 0
        while len(line) - at > _MAX_BLOCK_CHARACTERS:
            spaces = [found.end() for found in _SPACE.finditer(line, at, at + _MAX_BLOCK_CHARACTERS)]
            end = spaces[-1] if spaces else at + _MAX_BLOCK_CHARACTERS
            yield line[at:end]
            at = end
        yield line[at:]
