"""What is the text of a PDF, of a Word document, of an e-mail, and when does it say that it was written?

kreuzberg reads them, in the process that indexes; OCR is off.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from simdoc_search.errors import DocumentError, MissingExtraError
from simdoc_search.workers.memory import is_out_of_memory

_OPEN = "application/vnd.oasis.opendocument."
_OFFICE = "application/vnd.openxmlformats-officedocument."
_FORMATS = {
    ".pdf": "application/pdf",
    ".epub": "application/epub+zip",
    ".rtf": "application/rtf",
    ".doc": "application/msword",
    ".docx": f"{_OFFICE}wordprocessingml.document",
    ".docm": "application/vnd.ms-word.document.macroEnabled.12",
    ".odt": f"{_OPEN}text",
    ".ppt": "application/vnd.ms-powerpoint",
    ".pptx": f"{_OFFICE}presentationml.presentation",
    ".odp": f"{_OPEN}presentation",
    ".xls": "application/vnd.ms-excel",
    ".xlsx": f"{_OFFICE}spreadsheetml.sheet",
    ".ods": f"{_OPEN}spreadsheet",
    ".eml": "message/rfc822",
    ".msg": "application/vnd.ms-outlook",
}
"""Media types by ending."""

_MAGIC = {b"%PDF-": ".pdf", b"{\\rtf": ".rtf"}  # these two can be free of NUL bytes, and so pass for text
_ENCRYPTED_OFFICE = b"\xd0\xcf\x11\xe0"  # an OLE container, where a zip archive should be
_PAGE = "\f{page_num}\f"  # what kreuzberg is told to write before each page
_PAGES = re.compile(r"(?:\A|\f)[0-9]+(?:\f|\Z)")  # it strips the text
_ZIPPED = frozenset({".docx", ".docm", ".pptx", ".xlsx"})

_MAILDIR = re.compile(r"\d{6,}\..+|.+:2,[A-Za-z]*")
"""The name of a message in the folder `cur` or `new` of a Maildir."""

_DATES = ("created_at", "modified_at")
_LONGEST_DATE, _LONGEST_TITLE = 100, 500


class DocumentText(NamedTuple):
    """The text of a document, and as metadata `title` (of an e-mail its subject), `created_at` and `modified_at`."""

    text: str
    properties: Mapping[str, str]


def document_format(path: Path, head: bytes = b"") -> str | None:
    """The format as an ending, from the name or else from the first bytes; None for plain text and unknown binaries."""
    suffix = path.suffix.lower()
    if suffix in _FORMATS:
        return suffix
    if path.parent.name in ("cur", "new") and _MAILDIR.fullmatch(path.name):
        return ".eml"
    return next((ending for magic, ending in _MAGIC.items() if head.startswith(magic)), None)


def document_text(data: bytes, format: str) -> DocumentText:
    """The text of a document and its properties; a form feed stands between two pages of a PDF.

    Args:
        data: all of its bytes.
        format: what `document_format` said.

    Raises:
        DocumentError: it is encrypted, damaged, or has no text; the message is the reason in a few words.
        MissingExtraError: kreuzberg is not installed.
    """
    try:
        import kreuzberg  # noqa: PLC0415 - an extra, and large
    except ImportError as error:
        if is_out_of_memory(error):
            raise MemoryError from error
        raise MissingExtraError(f"the format {format}", "documents") from error
    if format in _ZIPPED and data.startswith(_ENCRYPTED_OFFICE):
        raise DocumentError("encrypted")
    pages = kreuzberg.PageConfig(insert_page_markers=True, marker_format=_PAGE) if format == ".pdf" else None
    config = kreuzberg.ExtractionConfig(use_cache=False, disable_ocr=True, pages=pages)  # type: ignore[call-arg] # not in its stub
    try:
        found = kreuzberg.extract_bytes_sync(data, _mime_type(data, format), config)
        text, properties = str(found.content), _properties(getattr(found, "metadata", None) or {}, format)
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # a panic of the Rust side is no Exception
        raise DocumentError(_reason(str(error), data)) from error
    if pages:
        text = _PAGES.sub("\f", text).removeprefix("\f")
    if not text.strip():
        raise DocumentError("no text (scanned?)" if format == ".pdf" else "no text")
    return DocumentText(text, properties)


def _properties(metadata: Mapping[str, Any], format: str) -> dict[str, str]:
    named = {name: metadata.get(name) for name in _DATES}
    found = {name: value.strip() for name, value in named.items() if isinstance(value, str)}
    kept = {name: value for name, value in found.items() if 0 < len(value) <= _LONGEST_DATE}
    title = metadata.get("subject" if format in (".eml", ".msg") else "title")
    said = " ".join(title.split())[:_LONGEST_TITLE] if isinstance(title, str) else ""
    return {"title": said, **kept} if said else kept


def _mime_type(data: bytes, format: str) -> str:
    """By content where that is sure; a file's ending may be wrong."""
    from kreuzberg import detect_mime_type  # noqa: PLC0415

    try:
        found = detect_mime_type(data)
    except Exception:  # unknown by content; e-mail is
        found = ""
    return found if found and not found.startswith("text/") and found != "application/zip" else _FORMATS[format]


def _is_encrypted_open_document(data: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return b"encryption-data" in archive.read("META-INF/manifest.xml")
    except (zipfile.BadZipFile, KeyError, OSError, RuntimeError, ValueError):
        return False


def _reason(message: str, data: bytes) -> str:
    if "password" in message.lower() or "encrypt" in message.lower() or _is_encrypted_open_document(data):
        return "encrypted"
    return f"damaged: {message.rpartition(': ')[2][:120]}"
