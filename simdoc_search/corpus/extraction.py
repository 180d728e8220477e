"""Extracts the text, title and dates of PDF, office, e-book and e-mail files, without OCR.

kreuzberg reads all formats except those of Word, e-books, and OpenDocument texts and presentations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from simdoc_search.corpus.doc import OLE_SIGNATURE, read_doc
from simdoc_search.corpus.docx import find_main_part, read_docx
from simdoc_search.corpus.epub import is_epub, read_epub
from simdoc_search.corpus.formats import MEDIA_TYPES, FileFormat
from simdoc_search.corpus.html_mail import replace_html_with_text
from simdoc_search.corpus.hyphenation import join_hyphenated_words, mark_hyphens
from simdoc_search.corpus.note_numbers import separate_note_numbers
from simdoc_search.corpus.odt import is_encrypted_open_document, is_odt_or_odp, read_odt_or_odp
from simdoc_search.corpus.office_archive import ZIP_SIGNATURE, open_office_archive
from simdoc_search.corpus.outlook import read_html_body
from simdoc_search.corpus.running_headers import remove_running_headers
from simdoc_search.corpus.table_text import format_row
from simdoc_search.errors import DocumentError, MissingExtraError, is_out_of_memory

_NO_TEXT_REASON, _SCAN_REASON = NO_TEXT_REASONS = "no text", "no text (scanned?)"
_ZIP_EXTENSIONS = frozenset({".docx", ".pptx", ".xlsx"})
_DATE_PROPERTIES = ("created_at", "modified_at")
_TEMPLATE_DATES = frozenset({"2013-12-23T23:15:00Z", "2013-01-27T09:14:16Z", "2013-01-27T09:15:58Z"})
"""The dates in the templates of python-docx and python-pptx. Most programs that use these packages keep them."""

_HEADER_END = "\n\n"
"""The empty line between the headers and the body in the text of an e-mail."""

_NOTE_MARK = re.compile(r"\[\^\d+\](?:: ?)?")
"""The marks that kreuzberg gives to the notes of an RTF file. A number in it would count as a word."""

_DATE_WITH_TIME = re.compile(r"(?!1899)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?")
"""A cell of a workbook. kreuzberg adds a day of 1899 to a time without a date."""

_MIDNIGHT = re.compile(r"^(\d{4}-\d\d-\d\d) 00:00:00\Z")

_RTF_HYPHEN = re.compile(rb"\\(?:(\\)|_)")
"""A hyphen that does not break. kreuzberg returns an underscore, which joins the words."""

_INCOMPLETE_FILE_MESSAGES = ("Could not find EOCD", "FormatError")
"""Error messages of the readers of zip and PDF files if the file is truncated or in another format."""
_MAX_DATE_CHARACTERS, _MAX_TITLE_CHARACTERS, _MAX_ATTACHMENTS = 100, 500, 100


class ExtractedText(NamedTuple):
    """The text of a file and its metadata.

    `properties` may contain `title` (the subject of an e-mail), `created_at`, `modified_at`, and the list `attachments`
    with the names of an e-mail's attachments.
    """

    text: str
    properties: Mapping[str, Any]


def extract_text(data: bytes, format: FileFormat) -> ExtractedText:
    """Extract the text of a file. Hyphenated words are joined.

    The pages of a PDF are separated by form feeds. Page numbers and repeated headers are omitted.

    Raises:
        DocumentError: the file is encrypted, damaged, or has no text. The message is the reason in a few words.
        MissingExtraError: kreuzberg is not installed.
    """
    if not data:
        raise DocumentError(_NO_TEXT_REASON)
    if data.startswith(ZIP_SIGNATURE) and (document := _read_zip_document(data)):
        return _to_extracted_text(*document, format)
    try:
        if format.extension == ".doc" and data.startswith(OLE_SIGNATURE) and (word := read_doc(data)):
            return _to_extracted_text(*word, format)
        import kreuzberg  # noqa: PLC0415 - an optional dependency, and slow to import
    except ImportError as error:
        if is_out_of_memory(error):
            raise MemoryError from error
        raise MissingExtraError(f"the format {format.extension}", "documents") from error
    if format.extension in _ZIP_EXTENSIONS and data.startswith(OLE_SIGNATURE):  # not a zip archive
        raise DocumentError("encrypted")
    is_pdf = format.extension == ".pdf"
    pages = kreuzberg.PageConfig(extract_pages=True) if is_pdf else None
    config = kreuzberg.ExtractionConfig(use_cache=False, disable_ocr=True, pages=pages)  # type: ignore[call-arg] # not in its stub
    try:
        if is_rtf := data.startswith(b"{\\rtf"):
            data = data.replace(b"{\\*\\footnote", b"{\\footnote")  # as LibreOffice writes it; kreuzberg leaves it out
            data = _RTF_HYPHEN.sub(lambda match: match[0] if match[1] else b"\\'2d", data)
        if format.has_attachments or format.is_in_maildir:
            data = replace_html_with_text(data)
        media_type = _detect_media_type(data, format.extension)
        extracted = kreuzberg.extract_bytes_sync(data, media_type, config)
        text = _read_text(extracted, is_pdf=is_pdf, is_rtf=is_rtf)
        if format.extension == ".msg" and (body := read_html_body(data)):
            text = f"{text.partition(_HEADER_END)[0]}{_HEADER_END}{body}"
        properties = _read_properties(getattr(extracted, "metadata", None) or {}, format)
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # a panic in Rust is not an Exception
        raise DocumentError(_describe_failure(str(error))) from error
    if not text.strip():
        raise DocumentError(_SCAN_REASON if is_pdf else _NO_TEXT_REASON)
    return ExtractedText(join_hyphenated_words(text if is_pdf else mark_hyphens(text)), properties)


def _read_text(extracted: Any, *, is_pdf: bool, is_rtf: bool) -> str:
    if is_pdf:
        pages = remove_running_headers([page["content"] for page in extracted.pages or ()])
        return "\f".join(map(separate_note_numbers, pages))
    text, rows = str(extracted.content), [row for table in extracted.tables for row in table.cells]
    if sheet_names := (extracted.metadata or {}).get("sheet_names"):
        if len(extracted.tables) == 1:  # a name that separates no sheets is not a cell
            text = text.removeprefix(f"{sheet_names[extracted.tables[0].page_number - 1]}\n\n")
        return _separate_cells(text, rows, _choose_cell_format(rows))
    text = _separate_cells(text, rows)
    return _NOTE_MARK.sub("", text) if is_rtf else text


def _choose_cell_format(rows: Sequence[list[str]]) -> Callable[[str], str]:
    """Return a function that omits the time 00:00:00 of dates, if all dates of a workbook have it.

    kreuzberg adds it to a date without a time.
    """
    have_times = any(_DATE_WITH_TIME.fullmatch(cell) and not _MIDNIGHT.search(cell) for row in rows for cell in row)
    return str if have_times else lambda cell: _MIDNIGHT.sub(r"\1", cell)


def _separate_cells(text: str, rows: Sequence[list[str]], format_cell: Callable[[str], str] = str) -> str:
    """Write tabs between the cells of a table, as in the text of a CSV file. kreuzberg writes spaces.

    If a row is not found at the beginning of a line, it and all later rows are not changed.
    """
    parts: list[str] = []
    padding = " " * max(map(len, rows), default=0)  # kreuzberg omits the spaces at the end of the text
    lines, end = f"\n{text}{padding}", 0
    for cells in rows:
        row = "\n" + " ".join(cells)
        start = lines.find(row, end)
        if start < 0:
            break
        parts += lines[end:start], "\n", format_row([*map(format_cell, cells)])
        end = start + len(row)
    return "".join([*parts, lines[end:]])[1:].rstrip(" ")


def _read_zip_document(data: bytes) -> tuple[str, dict[str, str]] | None:
    """Return the text and properties of a Word document, e-book, or OpenDocument text or presentation.

    The name of the file does not matter.
    """
    with open_office_archive(data) as archive:
        if is_encrypted_open_document(archive):
            raise DocumentError("encrypted")
        if main_part := find_main_part(archive):
            return read_docx(archive, main_part)
        if is_epub(archive):
            return read_epub(archive)
        return read_odt_or_odp(archive) if is_odt_or_odp(archive) else None


def _to_extracted_text(text: str, properties: Mapping[str, str], format: FileFormat) -> ExtractedText:
    if not text.strip():
        raise DocumentError(_NO_TEXT_REASON)
    return ExtractedText(join_hyphenated_words(mark_hyphens(text)), _read_properties(properties, format))


def _read_properties(metadata: Mapping[str, Any], format: FileFormat) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    title = metadata.get("subject" if format.is_mail else "title")
    if isinstance(title, str) and title.strip():
        properties["title"] = " ".join(title.split())[:_MAX_TITLE_CHARACTERS]
    attachments = metadata.get("attachments") if format.is_mail else None
    if isinstance(attachments, list) and attachments:
        names = [str(name)[:_MAX_TITLE_CHARACTERS] or "unnamed" for name in attachments[:_MAX_ATTACHMENTS]]
        properties["attachments"] = names
    for name in _DATE_PROPERTIES:
        date = metadata.get(name)
        if isinstance(date, str) and 0 < len(date.strip()) <= _MAX_DATE_CHARACTERS and date not in _TEMPLATE_DATES:
            properties[name] = date.strip()
    return properties


def _detect_media_type(data: bytes, extension: str) -> str:
    """Return the media type of the content, or of the extension if the content is not conclusive."""
    from kreuzberg import detect_mime_type  # noqa: PLC0415

    try:
        detected = detect_mime_type(data)
    except Exception:  # kreuzberg does not recognise the content, such as that of an e-mail
        return MEDIA_TYPES[extension]
    is_vague = not detected or detected.startswith("text/") or detected == "application/zip"
    return MEDIA_TYPES[extension] if is_vague else detected


def _describe_failure(message: str) -> str:
    if "password" in message.lower() or "encrypt" in message.lower():
        return "encrypted"
    detail = message.rpartition(": ")[2][:120]
    return f"damaged: {'not a complete file of this format' if detail in _INCOMPLETE_FILE_MESSAGES else detail}"
