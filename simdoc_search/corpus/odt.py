"""Reads OpenDocument texts and presentations (OpenDocument 1.3, part 3, sections 3 to 10).

kreuzberg reads spreadsheets but not presentations. From texts, it omits spaces, tables of contents, the base of
ruby text, and the rest of a note after its first formatted word. It adds the numbers of notes.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping

from simdoc_search.corpus.office_archive import parse_member, read_properties

_MEDIA_TYPE = re.compile(rb"application/vnd\.oasis\.opendocument\.(?:text|presentation)(?:-template)?\s*")
_CONTENT, _TYPE_MEMBER, _MANIFEST = "content.xml", "mimetype", "META-INF/manifest.xml"
_PROPERTIES = {"title": "title", "creation-date": "created_at", "date": "modified_at"}
_MAX_SPACES = 1000  # the number of spaces in one element

_ODF = "{urn:oasis:names:tc:opendocument:xmlns:"
_TEXT, _TABLE, _DRAWING, _OFFICE = (f"{_ODF}{name}:1.0}}" for name in ("text", "table", "drawing", "office"))
_SVG, _MATH = f"{_ODF}svg-compatible:1.0}}", "{http://www.w3.org/1998/Math/MathML}"

_PARAGRAPHS = frozenset({f"{_TEXT}p", f"{_TEXT}h"})
_RUBY_BASE = f"{_TEXT}ruby-base"
_SPACES = f"{_TEXT}s"
_CHARACTERS = {f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n"}
_TABLE_NAME, _ROW, _CELL = f"{_TABLE}table", f"{_TABLE}table-row", f"{_TABLE}table-cell"
_OMITTED = frozenset(
    {
        *(_TEXT + name for name in ("tracked-changes", "note-citation", "ruby-text", "number", "script")),
        *(_OFFICE + name for name in ("annotation", "forms", "binary-data")),
        *(_DRAWING + name for name in ("object", "object-ole")),
        *(_SVG + name for name in ("title", "desc")),
        f"{_TABLE}covered-table-cell",
        f"{_MATH}math",
    }
)
"""Deleted text, comments, formulas, descriptions of pictures, the numbers of notes and lists, and the reading of ruby
text."""
_WITHOUT_CHARACTERS = frozenset({f"{_TEXT}note", f"{_TEXT}ruby"})
"""Elements in a paragraph that only contain elements. The white space between these is not text."""
_WHITE_SPACE = re.compile(r"[ \t\r\n]+")
_SOFT_HYPHEN = "\u00ad"


def read_odt_or_odp(archive: zipfile.ZipFile) -> tuple[str, dict[str, str]]:
    """Return the text of a document, and its properties `title`, `created_at` and `modified_at` if it has them.

    Footnotes, endnotes and text boxes follow their paragraph, and notes of a presentation their slide. Tracked changes
    are read as accepted. Headers, footers and comments are not read. Paragraphs are separated by an empty line, rows of
    a table by a line break, cells by a tab.
    """
    content = _ContentReader()
    parse_member(archive, _CONTENT, content)
    properties = read_properties(archive, "meta.xml", _PROPERTIES)
    return "\n\n".join(block for block in content.blocks if block.strip()), properties


def is_odt_or_odp(archive: zipfile.ZipFile) -> bool:
    """Return whether an archive declares that it is an OpenDocument text or presentation, or a template of one."""
    return _TYPE_MEMBER in archive.namelist() and _MEDIA_TYPE.fullmatch(archive.read(_TYPE_MEMBER)) is not None


def is_encrypted_open_document(archive: zipfile.ZipFile) -> bool:
    """Return whether an archive is an OpenDocument of any kind, and encrypted."""
    return _MANIFEST in archive.namelist() and b"encryption-data" in archive.read(_MANIFEST)


class _Paragraph:
    """A paragraph that is being read."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._ends_with_space = True  # so that a space at the beginning is left out

    def add_text(self, text: str) -> None:
        """Add text of the XML file, where white space of any length is one space."""
        text = _WHITE_SPACE.sub(" ", text.replace(_SOFT_HYPHEN, ""))
        if self._ends_with_space:
            text = text.removeprefix(" ")
        if text:
            self._pieces.append(text)
            self._ends_with_space = text.endswith(" ")

    def add_characters(self, characters: str) -> None:
        """Add white space that an element stands for."""
        self._pieces.append(characters)
        self._ends_with_space = False

    def __str__(self) -> str:
        text = "".join(self._pieces)
        return text.removesuffix(" ") if self._ends_with_space else text


class _ContentReader:
    """Reads the paragraphs and tables of a document.

    Attributes:
        blocks: the text of each paragraph and table, in order.
    """

    def __init__(self) -> None:
        self.blocks: list[str] = []
        self._containers = [self.blocks]  # and the blocks of each open table, row, cell and paragraph
        self._paragraphs: list[_Paragraph] = []
        self._accepts_text = [False]  # for each open element, whether its characters are text of the last paragraph
        self._omitted_depth = 0  # the number of open elements that are omitted

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if self._omitted_depth or name in _OMITTED:
            self._omitted_depth += 1
            return
        if self._accepts_text[-1] and name in _CHARACTERS:
            self._paragraphs[-1].add_characters(_CHARACTERS[name])
        elif self._accepts_text[-1] and name == _SPACES:
            self._paragraphs[-1].add_characters(" " * _parse_count(attributes.get(f"{_TEXT}c", "1")))
        if name in _PARAGRAPHS:
            self._paragraphs.append(_Paragraph())
            self._containers.append([])
            self._accepts_text.append(True)
            return
        if name in (_TABLE_NAME, _ROW, _CELL):
            self._containers.append([])
        if name == _RUBY_BASE:
            self._accepts_text.append(bool(self._paragraphs))
        else:
            is_inline = not name.startswith(_DRAWING) and name not in _WITHOUT_CHARACTERS
            self._accepts_text.append(is_inline and self._accepts_text[-1])

    def data(self, text: str) -> None:
        if self._accepts_text[-1] and not self._omitted_depth:
            self._paragraphs[-1].add_text(text)

    def end(self, name: str) -> None:
        if self._omitted_depth:
            self._omitted_depth -= 1
            return
        self._accepts_text.pop()
        if name in _PARAGRAPHS:
            following = self._containers.pop()
            self._containers[-1] += [str(self._paragraphs.pop()), *following]
        elif name == _CELL:
            cell = " ".join(filter(None, self._containers.pop()))
            self._containers[-1].append(cell)
        elif name == _ROW:
            row = "\t".join(self._containers.pop())
            self._containers[-1].append(row)
        elif name == _TABLE_NAME:
            table = "\n".join(self._containers.pop())
            self._containers[-1].append(table)


def _parse_count(text: str) -> int:
    return min(int(text), _MAX_SPACES) if text.isdecimal() and len(text) < 10 else 1
