"""Measures how easy the pages of docs/ and the README are to read, and fails if one is too hard.

python scripts/readability.py [PAGE...]

Tutorials and how-to pages, as docs/index.md lists them, need a Flesch reading ease of 55. No page may have a sentence
of more than 30 words. Code is not measured. The cells of tables are measured for long sentences only.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
MIN_EASE, MAX_WORDS = 55, 30
EASY = ("Tutorials", "How to")
"""How the captions in docs/index.md begin whose pages need the reading ease."""

_CODE_BLOCK = re.compile(r"^ *```.*?^ *```$|^ {4,}\S[^\n]*$|<!--.*?-->", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_CODE = re.compile(r"`[^`]+`")
_SENTENCE_END = re.compile(r"(?<=[.?!])[\"'”)*]*\s+(?=[\"'“(*]*[A-Z0-9`])")
_WORD = re.compile(r"[^\W\d_][\w'’-]*|\d[\d.,]*")


class Readability(NamedTuple):
    """The reading ease of a page, and its sentences that are too long."""

    ease: float
    long_sentences: list[str]


def main(names: list[str]) -> int:
    """Print a line per page, and return the exit status."""
    pages = [ROOT / name for name in names] or [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    easy = easy_pages((ROOT / "docs/index.md").read_text("utf-8"))
    status = 0
    for page in pages:
        result = readability(page.read_text("utf-8"))
        is_hard = page.stem in easy and result.ease < MIN_EASE
        print(f"{result.ease:6.1f}  {page.relative_to(ROOT)}{'  is too hard to read' if is_hard else ''}")
        for sentence in result.long_sentences:
            print(f"        {len(words(sentence))} words: {sentence}")
        status |= is_hard or bool(result.long_sentences)
    return status


def easy_pages(index: str) -> set[str]:
    """Return the tutorials and how-to pages that the index lists."""
    trees = re.findall(r"```\{toctree\}\n(.*?)```", index, re.DOTALL)
    wanted = [tree for tree in trees if any(f":caption: {caption}" in tree for caption in EASY)]
    return {line for tree in wanted for line in tree.splitlines() if line and not line.startswith(":")}


def readability(page: str) -> Readability:
    """Measure a page of Markdown."""
    text = _CODE.sub("0", _LINK.sub(r"\1", _CODE_BLOCK.sub("\n\n", page)))
    prose = [sentence for block in blocks(text) for sentence in _SENTENCE_END.split(block) if words(sentence)]
    cells = [cell for line in text.splitlines() if line.startswith("|") for cell in line.split("|")]
    parts = [part for cell in cells for part in re.split(r"(?<=[.?!:;])\s+", cell)]
    found = [word for sentence in prose for word in words(sentence)]
    if not found:
        return Readability(100, [])
    spoken = [word for word in found if not word[0].isdigit()] or ["a"]
    ease = 206.835 - 1.015 * len(found) / len(prose) - 84.6 * sum(map(syllables, spoken)) / len(spoken)
    return Readability(ease, [sentence for sentence in prose + parts if len(words(sentence)) > MAX_WORDS])


def blocks(text: str) -> Iterator[str]:
    """Yield the paragraphs and list items. Headings and tables are left out."""
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        if not line.strip() or line.startswith(("|", "#")) or re.match(r" *(?:[-*]|\d+\.) ", line):
            yield " ".join(lines)
            lines = []
        if not line.startswith(("|", "#")):
            lines.append(re.sub(r"^ *(?:[-*]|\d+\.) ", "", line).strip())


def words(text: str) -> list[str]:
    """Return the words and numbers of a text."""
    return _WORD.findall(text)


def syllables(word: str) -> int:
    """Estimate the number of syllables of an English word."""
    word = word.lower()
    count = len(re.findall(r"[aeiouy]+", word))
    if re.search(r"[^aeiouyl]e$|[^aeiouydt]ed$|[^aeiouyscxzg]es$|[aeiouy]le$", word):
        count -= 1
    return max(count, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
