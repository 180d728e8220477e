"""Into which blocks and chunks is a text cut, so that a page of many stays fluid?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_LONGEST = 1500  # characters of a block
_LINES = 12  # of a block
_CHUNK = 4000  # characters that a browser lays out together
_SPACE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, or a part of a long one.

    Attributes:
        start: its first character.
        end: the one after its last; the line ends and blank lines after it are its own.
        ends_page: whether it ends in a form feed.
    """

    start: int
    end: int
    ends_page: bool


def blocks(text: str) -> Iterator[Block]:
    """All of a text, in order, cut at blank lines, at pages, and where a paragraph has 12 lines or 1,500 characters."""
    start = at = lines = 0
    blank = False
    for line in _lines(text):
        is_blank = not line.strip()
        if at > start and not is_blank and (blank or lines >= _LINES or at + len(line) - start > _LONGEST):
            yield Block(start, at, False)
            start, lines = at, 0
        at += len(line)
        lines += 1
        blank = is_blank
        if line.endswith("\f"):
            yield Block(start, at, True)
            start, lines, blank = at, 0, False
    if at > start:
        yield Block(start, at, False)


def chunks(found: Iterable[Block]) -> Iterator[list[Block]]:
    """Blocks in groups of about 4,000 characters; a page begins a group."""
    chunk: list[Block] = []
    for block in found:
        chunk.append(block)
        if block.ends_page or block.end - chunk[0].start >= _CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _lines(text: str) -> Iterator[str]:
    """Lines with their ends; one that is too long for a block in pieces, cut after a space where there is one."""
    for line in text.splitlines(keepends=True):
        at = 0
        while len(line) - at > _LONGEST:
            spaces = [found.end() for found in _SPACE.finditer(line, at, at + _LONGEST)]
            end = spaces[-1] if spaces else at + _LONGEST
            yield line[at:end]
            at = end
        yield line[at:]
