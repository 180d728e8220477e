"""Reads the text of Word documents (Office Open XML, ECMA-376 part 1, section 17).

kreuzberg reads most other office formats. From a Word document, it omits characters that a comparison needs: `&`,
`<`, `>`, tabs, hyphens that do not break, and the text after a text box.
"""

from __future__ import annotations

import re
import unicodedata
import zipfile
from collections.abc import Iterable, Mapping
from xml.etree import ElementTree

from simdoc_search.corpus.office_archive import local_name, parse_member, read_properties

_HEADER_OR_FOOTER = re.compile(r"word/(header|footer)\d*\.xml")
_NOTES = re.compile(r"word/(?:footnotes|endnotes)\d*\.xml")
_MAIN_PART, _RELATIONS = "word/document.xml", "_rels/.rels"
_PROPERTIES = {"title": "title", "created": "created_at", "modified": "modified_at"}
_MAX_PARTS = 100

_CHARACTERS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_OMITTED = frozenset({"pPr", "rPr", "sectPr", "tblPr", "trPr", "tcPr", "tblGrid", "del", "moveFrom", "delText", "rt"})
"""Formatting, text that tracked changes delete or move away, and the reading of ruby text."""
_VOLATILE_FIELD = re.compile(r"\b(?:PAGE|NUMPAGES|SECTIONPAGES|DATE|TIME|PRINTDATE)\b")
"""A field whose value differs from page to page, or that changes when the document is opened or printed."""
_LETTER = re.compile(r"[^\W\d_]")


def read_docx(archive: zipfile.ZipFile, main_part: str) -> tuple[str, dict[str, str]]:
    """Return the text of a Word document, and its properties `title`, `created_at` and `modified_at` if it has them.

    The text consists of the headers, the body and the footers. Each line of a header or footer occurs once; page
    numbers and the current date are omitted there. A footnote or endnote follows the paragraph that refers to it.
    Tracked changes are read as accepted. Comments are not read. Paragraphs are separated by an empty line, rows of a
    table by a line break, cells by a tab.
    """
    names = archive.namelist()
    reader = _PartReader()
    for name in sorted(filter(_NOTES.fullmatch, names)):
        reader.read(archive, name)
    body = [*reader.read(archive, main_part), *reader.take_other_notes()]
    headers, footers = _read_headers_and_footers(archive, names)
    properties = read_properties(archive, "docProps/core.xml", _PROPERTIES)
    return "\n\n".join([*headers, *body, *footers]), properties


def find_main_part(archive: zipfile.ZipFile) -> str:
    """Return the name of the part with the body, or an empty string if the file is not a Word document.

    Only some programs name the part otherwise than Word does.
    """
    names = archive.namelist()
    if _MAIN_PART in names or _RELATIONS not in names:
        return _MAIN_PART if _MAIN_PART in names else ""
    targets = (
        relation.get("Target", "").removeprefix("/")
        for relation in ElementTree.fromstring(archive.read(_RELATIONS)).iter()  # noqa: S314 - see `parse_member`
        if relation.get("Type", "").endswith("/officeDocument")
    )
    return next((target for target in targets if target.startswith("word/")), "")


def _read_headers_and_footers(archive: zipfile.ZipFile, names: Iterable[str]) -> tuple[list[str], list[str]]:
    lines: dict[str, list[str]] = {"header": [], "footer": []}
    parts = sorted((match for name in names if (match := _HEADER_OR_FOOTER.fullmatch(name))), key=lambda part: part[0])
    for part in parts[:_MAX_PARTS]:
        for block in _PartReader(omit_volatile_fields=True).read(archive, part[0]):
            line = " ".join(block.split())
            if _LETTER.search(line) and line not in lines[part[1]]:
                lines[part[1]].append(line)
    return lines["header"], lines["footer"]


class _Paragraph:
    """A paragraph that is being read."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.attached: list[str] = []  # the text boxes and notes that are anchored in it


class _PartReader:
    """Reads parts of a document while they are parsed, because the tree of a long document needs much memory.

    The notes are read before the body, which refers to them.
    """

    def __init__(self, *, omit_volatile_fields: bool = False) -> None:
        self._omit_volatile_fields = omit_volatile_fields
        self._notes: dict[tuple[str, str], list[str]] = {}  # by kind and id
        self._blocks: list[list[str]] = [[]]  # of the part, and of each open table, cell, text box and note
        self._rows: list[list[str]] = []
        self._paragraphs: list[_Paragraph] = []
        self._fields: list[str] = []  # the instruction of each open field
        self._omitted_field_depth: int | None = None  # the number of open fields at the one whose result is omitted
        self._omitted_depth = 0  # the number of open elements that are omitted
        self._text: list[str] = []  # since the last element began
        self._note_id = ""
        self._has_choice: list[bool] = []  # for each open AlternateContent, whether text was read from it

    def read(self, archive: zipfile.ZipFile, name: str) -> list[str]:
        """Return the paragraphs and tables with text, in order."""
        self._blocks = [[]]
        parse_member(archive, name, self)
        return list(filter(str.strip, self._blocks[0]))

    def take_other_notes(self) -> list[str]:
        """Return the notes that no paragraph refers to."""
        return [block for note in self._notes.values() for block in note if block.strip()]

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Begin an element, or omit it with everything in it."""
        name = local_name(name)
        if self._omitted_depth or self._is_omitted(name, attributes):
            self._omitted_depth += 1
            return
        if name == "p":
            self._paragraphs.append(_Paragraph())
        elif name in ("tbl", "tc", "txbxContent"):
            self._blocks.append([])
        elif name in ("footnote", "endnote"):
            self._blocks.append([])
            self._note_id = _attribute(attributes, "id")
        elif name == "tr":
            self._rows.append([])
        elif name == "AlternateContent":
            self._has_choice.append(False)
        elif name == "fldChar":
            self._read_field_character(_attribute(attributes, "fldCharType"))
        elif name == "den":
            self._add("/")
        elif name == "sym":
            self._add(_decode_symbol(_attribute(attributes, "char")))
        elif name in ("footnoteReference", "endnoteReference"):
            self._attach(self._notes.pop((name.removesuffix("Reference"), _attribute(attributes, "id")), []))
        self._text.clear()

    def data(self, text: str) -> None:
        """Remember the text since the last element began."""
        self._text.append(text)

    def end(self, name: str) -> None:
        """End an element."""
        if self._omitted_depth:
            self._omitted_depth -= 1
            return
        name = local_name(name)
        if name == "t":
            self._add("".join(self._text))
        elif name == "instrText" and self._fields:
            self._fields[-1] += "".join(self._text)
        elif name in _CHARACTERS:
            self._add(_CHARACTERS[name])
        elif name == "p":
            paragraph = self._paragraphs.pop()
            self._blocks[-1] += ["".join(paragraph.pieces), *paragraph.attached]
            self._omitted_field_depth = None  # a volatile field ends in its paragraph
        elif name == "tc":
            cell = " ".join(filter(None, self._blocks.pop()))
            (self._rows or self._blocks)[-1].append(cell)
        elif name == "tr":
            self._blocks[-1].append("\t".join(self._rows.pop()))
        elif name == "tbl":
            table = "\n".join(self._blocks.pop())
            self._blocks[-1].append(table)
        elif name == "txbxContent":
            self._attach(self._blocks.pop())
        elif name in ("footnote", "endnote"):
            self._notes[name, self._note_id] = self._blocks.pop()
        elif name == "AlternateContent":
            self._has_choice.pop()

    def _is_omitted(self, name: str, attributes: Mapping[str, str]) -> bool:
        if name in ("footnote", "endnote"):
            return _attribute(attributes, "type") not in ("", "normal")  # the line between text and notes
        if name == "Fallback":
            return bool(self._has_choice) and self._has_choice[-1]
        if name == "fldSimple":
            return self._omit_volatile_fields and _is_volatile(_attribute(attributes, "instr"))
        return name in _OMITTED

    def _read_field_character(self, kind: str) -> None:
        if kind == "begin":
            self._fields.append("")
        elif kind == "separate" and self._fields:
            if self._omit_volatile_fields and self._omitted_field_depth is None and _is_volatile(self._fields[-1]):
                self._omitted_field_depth = len(self._fields)
        elif kind == "end" and self._fields:
            if self._omitted_field_depth == len(self._fields):
                self._omitted_field_depth = None
            self._fields.pop()

    def _attach(self, blocks: list[str]) -> None:
        (self._paragraphs[-1].attached if self._paragraphs else self._blocks[-1]).extend(blocks)

    def _add(self, text: str) -> None:
        if self._paragraphs and self._omitted_field_depth is None:
            self._paragraphs[-1].pieces.append(text)
            self._has_choice = [True] * len(self._has_choice)


def _attribute(attributes: Mapping[str, str], name: str) -> str:
    return next((value for key, value in attributes.items() if local_name(key) == name), "")


def _is_volatile(instruction: str) -> bool:
    return _VOLATILE_FIELD.search(instruction) is not None


def _decode_symbol(code: str) -> str:
    """Return a character of a symbol font. Its code is usually in the private use area of Unicode."""
    if re.fullmatch("[0-9A-Fa-f]{2,4}", code) is None:
        return ""
    character = chr(int(code, 16))
    return character if character.isprintable() or unicodedata.category(character) == "Co" else ""
