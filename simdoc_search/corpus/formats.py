"""Determines the format of a file from its name. PDF and RTF are also recognised by their first bytes."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePath
from typing import Literal

from simdoc_search.corpus.doc import OLE_SIGNATURE
from simdoc_search.corpus.encoding import is_binary
from simdoc_search.corpus.office_archive import ZIP_SIGNATURE

FormatKind = Literal["text", "markdown", "html", "document", "archive", "jsonl", "table", "unsupported"]

_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_OFFICE_OPEN_XML = "application/vnd.openxmlformats-officedocument."
MEDIA_TYPES = {
    ".pdf": "application/pdf",
    ".epub": "application/epub+zip",
    ".rtf": "application/rtf",
    ".doc": "application/msword",
    ".docx": f"{_OFFICE_OPEN_XML}wordprocessingml.document",
    ".odt": f"{_OPEN_DOCUMENT}text",
    ".ppt": "application/vnd.ms-powerpoint",
    ".pptx": f"{_OFFICE_OPEN_XML}presentationml.presentation",
    ".odp": f"{_OPEN_DOCUMENT}presentation",
    ".xls": "application/vnd.ms-excel",
    ".xlsx": f"{_OFFICE_OPEN_XML}spreadsheetml.sheet",
    ".ods": f"{_OPEN_DOCUMENT}spreadsheet",
    ".eml": "message/rfc822",
    ".msg": "application/vnd.ms-outlook",
}
"""Media types of the formats of documents, by extension."""

_VARIANTS = {
    ".docx": (".docm", ".dotx", ".dotm"),
    ".odt": (".ott",),
    ".ppt": (".pps",),
    ".pptx": (".pptm", ".ppsx", ".ppsm", ".potx", ".potm"),
    ".odp": (".otp",),
    ".xls": (".xlt",),
    ".xlsx": (".xlsm", ".xltx", ".xltm"),
    ".ods": (".ots",),
}
"""Other extensions of files in the same format: templates, slide shows, and files with macros.

`.dot` and `.pot` are missing, because files of Graphviz and gettext with these extensions are plain text.
"""

TAR_EXTENSIONS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tbz", ".tar.xz", ".txz")
MBOX_EXTENSIONS = (".mbox", ".mbox.gz")
ARCHIVE_EXTENSIONS = (".zip", *TAR_EXTENSIONS, *MBOX_EXTENSIONS)
_MAIL_HEADERS = re.compile(r"(?:(?:subject|from|to|cc|bcc|date): .*\n){2,}\n", re.IGNORECASE)
ATTACHMENT_EXTENSION = ".eml"
"""Extension of the e-mails whose attachments are read. Those of messages in a Maildir are not read."""
EXTENSIONS: dict[FormatKind, tuple[str, ...]] = {
    "html": (".html", ".htm", ".xhtml"),
    "markdown": (".md", ".markdown", ".mdx", ".mdown", ".qmd", ".rmd"),
    "document": tuple(chain.from_iterable((known, *_VARIANTS.get(known, ())) for known in MEDIA_TYPES)),
    "archive": ARCHIVE_EXTENSIONS,
    "jsonl": (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"),
    "table": (".csv", ".tsv", ".parquet"),
    "unsupported": (".djvu", ".mobi", ".azw3", ".pages", ".numbers", ".xlsb", ".odg", ".vsdx", ".wpd", ".one"),
}

# Files in these formats could be mistaken for text, because they may contain no NUL bytes.
_MAGIC_BYTES = {b"%PDF-": ".pdf", b"{\\rtf": ".rtf"}
_OFFICE_SIGNATURES = (OLE_SIGNATURE, ZIP_SIGNATURE, *_MAGIC_BYTES)
_PAGE_BEGINNING = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html|head|body|table)\b", re.IGNORECASE)
_MARKUP_BEGINNING = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<|MIME-Version:)", re.IGNORECASE)
_MAILDIR_NAME = re.compile(r"\d{6,}\..+|.+:2,[A-Za-z]*")  # a message in the folder `cur` or `new` of a Maildir

_LARGE_PAGE_BYTES = 1 << 16  # with deeply nested elements, the HTML parser needs seconds for 4 times as many bytes
_MIN_PAGE_TIME_SHARE, _FULL_TIME_PAGE_BYTES = 1 / 12, 50_000_000


@dataclass(frozen=True, slots=True)
class FileFormat:
    """The format of a file.

    Attributes:
        kind: the kind of format, which determines the reader. A JSONL file inside a folder is read as text, and a CSV
            or TSV file as the text of its cells.
        extension: the extension of files in this format, in lower case, such as `.tar.gz`. A document in `.dotx` has
            that of its format, `.docx`. Empty for text.
        is_in_maildir: whether the file is a message of a Maildir, whose name has no extension.
    """

    kind: FormatKind
    extension: str = ""
    is_in_maildir: bool = False

    @property
    def is_mail(self) -> bool:
        """Whether files in this format are e-mail messages."""
        return self.extension in (".eml", ".msg")

    @property
    def has_attachments(self) -> bool:
        """Whether the attachments of files in this format can be read."""
        return self.extension == ATTACHMENT_EXTENSION and not self.is_in_maildir

    def refine_from_content(self, head: bytes) -> FileFormat:
        """Return the format of a file that begins with `head`. PDF and RTF are recognised whatever the name is.

        Many programs save web pages and plain text in files that are named like those of Word 97 and Excel 97.
        """
        if self.kind == "document":
            if self.extension not in (".doc", ".xls", ".ppt") or not head or head.startswith(_OFFICE_SIGNATURES):
                return self
            if _PAGE_BEGINNING.match(head):
                return FileFormat("html", ".html")
            return self if _MARKUP_BEGINNING.match(head) or is_binary(head) else TEXT_FORMAT
        extensions = (extension for magic, extension in _MAGIC_BYTES.items() if head.startswith(magic))
        return next((FileFormat("document", extension) for extension in extensions), self)

    def is_risky(self, size: int) -> bool:
        """Return whether a file of this many bytes may crash its reader or make it hang.

        The time of the HTML parser grows with the square of the nesting depth.
        """
        return self.kind == "document" or (self.kind == "html" and size > _LARGE_PAGE_BYTES)

    def time_share(self, size: int) -> float:
        """Return the share of the time limit that a file of this many bytes may take, 0..1.

        The HTML parser reads tens of megabytes per second. However, a deeply nested page of one megabyte could exceed
        any limit, so a small page gets a small share.
        """
        return min(1.0, _MIN_PAGE_TIME_SHARE + size / _FULL_TIME_PAGE_BYTES) if self.kind == "html" else 1.0


TEXT_FORMAT = FileFormat("text")
_FORMATS = {
    extension: FileFormat(kind, extension) for kind, extensions in EXTENSIONS.items() for extension in extensions
}
_FORMATS |= {variant: _FORMATS[extension] for extension, variants in _VARIANTS.items() for variant in variants}


def determine_format(path: str | PurePath) -> FileFormat:
    """Return the format of a file, determined from its name."""
    folder, name = os.path.split(path)
    suffixes = name.lower().rsplit(".", 2)[1:]
    for extension in ("." + ".".join(suffixes), "." + suffixes[-1]) if suffixes else ():
        if extension in _FORMATS:
            return _FORMATS[extension]
    if _MAILDIR_NAME.fullmatch(name) and os.path.basename(folder) in ("cur", "new"):  # noqa: PTH119 - Path is slow
        return FileFormat("document", ".eml", is_in_maildir=True)
    return TEXT_FORMAT


def has_cells(path: str) -> bool:
    """Return whether a file is a table or spreadsheet, by its name. In its text, tabs separate the cells."""
    known = determine_format(path)
    return known.kind == "table" or known.extension in (".xls", ".xlsx", ".ods")


def remove_mail_headers(text: str, path: str) -> str:
    """Return the text of an e-mail without its headers, such as the date. Other texts are returned unchanged."""
    headers = _MAIL_HEADERS.match(text) if determine_format(path).is_mail else None
    return text[headers.end() :] if headers else text


def describe_content_beyond_text(*paths: str | None) -> str:
    """Return what may differ between files that have the same text. The path of a file is None if it is not known."""
    formats = {determine_format(path) if path else None for path in paths}
    kinds = {known.kind if known and known.extension != ".parquet" else None for known in formats}
    if kinds <= {"text", "markdown"}:
        return "the encoding"
    if kinds <= {"text", "table"}:
        return "the encoding, delimiter, quotes or line ends"
    return "pictures, links, headers, comments, formulas or formatting"


def describe_uncompared_content(*names: str) -> list[str]:
    """Say what else may differ between files with equal texts; nothing if all files are plain text or tables."""
    if not any(determine_format(name).kind in ("document", "html") for name in names):
        return []
    return [f"Only the texts were compared: {describe_content_beyond_text(*names)} may differ."]
