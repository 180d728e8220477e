"""Removes running headers, running footers and page numbers from the pages of a PDF."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

_MAX_EDGE_LINES = 4
"""The maximum number of lines of the headers or footers of a page."""
_MIN_PAGES, _MAX_PAGE_STEP = 3, 2
"""Minimum number of pages with the same running header, and maximum step from one of them to the next.

A step of two allows different headers on even and on odd pages.
"""
_MAX_TESTED_NUMBERS = 4
"""How many numbers of a line, from its beginning, are tested for being the page number."""
_NUMBER = re.compile(r"\d{1,6}")
_LETTER = re.compile(r"[^\W\d_]")


def remove_running_headers(pages: Sequence[str]) -> list[str]:
    """Remove page numbers and repeated running headers and footers.

    A line is part of a running header if it is at the beginning of three consecutive pages, or of three even or three
    odd pages in a row. The page number in the line may change. The first such line is kept, because it may contain a
    title, a version or a date. If an earlier page contains the line anywhere, the first one is removed too. The same
    rules apply to footers.
    """
    lines_of_pages = [page.split("\n") for page in pages]
    removed: list[set[int]] = [set() for _ in pages]
    for direction in (1, -1):
        edges = [_find_edge(lines, direction) for lines in lines_of_pages]
        keys = [
            [set(_make_keys(lines[index], page)) for index in edge]
            for page, (lines, edge) in enumerate(zip(lines_of_pages, edges, strict=True))
        ]
        running = _find_running_keys(keys)
        seen: set[str] = set()
        for page, (lines, edge) in enumerate(zip(lines_of_pages, edges, strict=True)):
            for index, line_keys in zip(edge, keys[page], strict=True):
                running_keys = line_keys & running[page]
                if not running_keys:
                    break
                if line_keys & seen or not _LETTER.search(lines[index]):
                    removed[page].add(index)
                seen |= running_keys
            seen.update(map(_normalize, lines))
    return [
        "\n".join(line for index, line in enumerate(lines) if index not in indices).strip("\r\n") if indices else page
        for page, lines, indices in zip(pages, lines_of_pages, removed, strict=True)
    ]


def _find_edge(lines: Sequence[str], direction: int) -> list[int]:
    """Return the indices of the first lines of a page, or of the last ones if `direction` is -1, from the edge inwards.

    Lines without text are omitted. An edge is at most half of the page.
    """
    indices = [index for index, line in enumerate(lines) if line.strip()]
    return indices[::direction][: min(_MAX_EDGE_LINES, (len(indices) + 1) // 2)]


def _normalize(line: str) -> str:
    return " ".join(line.split()).casefold()


def _make_keys(line: str, page: int) -> Iterator[str]:
    """Yield keys of a line. Two lines of a running header have a key in common."""
    text = _normalize(line)
    yield text
    for number in list(_NUMBER.finditer(text))[:_MAX_TESTED_NUMBERS]:
        yield f"{text[: number.start()]}\0{int(number[0]) - page}\0{text[number.end() :]}"


def _find_running_keys(keys_of_pages: Sequence[Sequence[set[str]]]) -> list[set[str]]:
    """For each page, return the keys of its running headers.

    `keys_of_pages` contains the keys of each line at the edge of each page.
    """
    pages_of_keys: defaultdict[str, list[int]] = defaultdict(list)
    for page, keys_of_lines in enumerate(keys_of_pages):
        for key in set().union(*keys_of_lines):
            pages_of_keys[key].append(page)
    running: list[set[str]] = [set() for _ in keys_of_pages]
    for key, pages in pages_of_keys.items():
        start = 0
        for end in range(1, len(pages) + 1):
            if end == len(pages) or pages[end] - pages[end - 1] > _MAX_PAGE_STEP:
                if end - start >= _MIN_PAGES:
                    for page in pages[start:end]:
                        running[page].add(key)
                start = end
    return running
