"""Reads e-books (EPUB 3.3 and older) with the reader of HTML pages.

kreuzberg leaves out chapters with a space in their name, definition lists, captions and some tables. In the cells of a
table, it joins words.
"""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Mapping
from urllib.parse import unquote

from simdoc_search.corpus.html import extract_html_text
from simdoc_search.corpus.office_archive import local_name, parse_member, read_properties
from simdoc_search.errors import DocumentError

_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
_PROPERTIES = {"title": "title", "date": "created_at"}


def is_epub(archive: zipfile.ZipFile) -> bool:
    """Return whether an archive is an e-book."""
    return _CONTAINER in archive.namelist()


def read_epub(archive: zipfile.ZipFile) -> tuple[str, dict[str, str]]:
    """Return the text of the chapters in reading order, and the properties `title` and `created_at` if it has them.

    Raises:
        DocumentError: the chapters are encrypted.
    """
    package_name = next(iter(_read_links(archive, _CONTAINER).package_names), "")
    package = _read_links(archive, package_name)
    folder = posixpath.dirname(package_name)
    chapters = dict.fromkeys(package.paths[id] for id in package.chapter_ids if id in package.paths)
    names = [posixpath.normpath(posixpath.join(folder, unquote(path))) for path in chapters]
    encrypted = _read_links(archive, _ENCRYPTION).encrypted_paths if _ENCRYPTION in archive.namelist() else set()
    if not encrypted.isdisjoint(names):
        raise DocumentError("encrypted")
    texts = (extract_html_text(archive.read(name), with_title=False) for name in names if name in archive.namelist())
    return "\n\n".join(filter(None, texts)), read_properties(archive, package_name, _PROPERTIES)


def _read_links(archive: zipfile.ZipFile, name: str) -> _LinkReader:
    reader = _LinkReader()
    parse_member(archive, name, reader)
    return reader


class _LinkReader:
    """Reads which files the container, the package or the list of encrypted files of an e-book refers to."""

    def __init__(self) -> None:
        self.package_names: list[str] = []
        self.paths: dict[str, str] = {}  # by the id of the file; not those of pictures
        self.chapter_ids: list[str] = []
        self.encrypted_paths: set[str] = set()

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        name = local_name(name)
        if name == "rootfile":
            self.package_names.append(attributes.get("full-path", ""))
        elif name == "item" and not attributes.get("media-type", "").startswith("image/"):
            self.paths[attributes.get("id", "")] = attributes.get("href", "")
        elif name == "itemref":
            self.chapter_ids.append(attributes.get("idref", ""))
        elif name == "CipherReference":
            self.encrypted_paths.add(unquote(attributes.get("URI", "")))

    def data(self, text: str) -> None:
        pass

    def end(self, name: str) -> None:
        pass
