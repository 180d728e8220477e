"""Reads the headers and footers of a Word document, which kreuzberg leaves out."""

from __future__ import annotations

import html
import io
import re
import zipfile
import zlib
from collections.abc import Iterator

_PART = re.compile(r"word/(header|footer)\d*\.xml")
_MAX_PARTS, _MAX_PART_BYTES = 100, 1_000_000
_PARAGRAPH_END = re.compile(r"</w:p>")
_TEXT = re.compile(r"<w:t(?:\s[^>]*)?>([^<]*)</w:t>|<w:(?:tab|br|cr)\b[^>]*/>")
_FIELD = re.compile(
    r'<w:fldSimple\b.*?</w:fldSimple>|<w:fldChar\b[^>]*"begin".*?<w:fldChar\b[^>]*"end"[^>]*>', re.DOTALL
)
_VOLATILE_FIELD = re.compile(r"\b(?:PAGE|NUMPAGES|SECTIONPAGES|DATE|TIME|PRINTDATE)\b")
"""A field whose value differs from page to page, or that changes when the document is opened or printed."""
_LETTER = re.compile(r"[^\W\d_]")


def add_headers_and_footers(text: str, data: bytes) -> str:
    """Return the text of a Word document with its headers before it and its footers after it, each line once.

    Page numbers and the current date are omitted.
    """
    lines: dict[str, list[str]] = {"header": [], "footer": []}
    for kind, line in _read_lines(data):
        if _LETTER.search(line) and line not in lines[kind]:
            lines[kind].append(line)
    return "\n\n".join([*lines["header"], text, *lines["footer"]])


def _read_lines(data: bytes) -> Iterator[tuple[str, str]]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = sorted(filter(_PART.fullmatch, archive.namelist()))[:_MAX_PARTS]
            for part in parts:
                with archive.open(part) as file:
                    xml = file.read(_MAX_PART_BYTES).decode("utf-8", "replace")
                for paragraph in _PARAGRAPH_END.split(xml):
                    lasting = _FIELD.sub(_omit_if_volatile, paragraph)
                    content = "".join(html.unescape(match[1] or " ") for match in _TEXT.finditer(lasting))
                    if line := " ".join(content.split()):
                        yield part.removeprefix("word/")[:6], line
    except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, ValueError, EOFError):
        return  # kreuzberg has read the document; only its headers are damaged


def _omit_if_volatile(field: re.Match[str]) -> str:
    return "" if _VOLATILE_FIELD.search(field[0]) else field[0]
