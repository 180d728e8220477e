"""Opens office files that are zip archives, parses their XML, and describes their damage."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol
from xml.etree import ElementTree

from simdoc_search.errors import DocumentError

ZIP_SIGNATURE = b"PK\3\4"
"""The first bytes of an office file that is a zip archive. Other files, such as a PDF, may contain an archive."""

_DAMAGE_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, ElementTree.ParseError, EOFError, NotImplementedError, ValueError),
    LookupError,  # a missing member, or an unknown encoding
)
_BUFFER_BYTES = 1 << 16


@contextmanager
def open_office_archive(data: bytes) -> Iterator[zipfile.ZipFile]:
    """Open the archive. Any error while its members are read becomes a `DocumentError`.

    Raises:
        DocumentError: the file is encrypted or damaged. The message is the reason in a few words.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            yield archive
    except DocumentError:
        raise
    except KeyError as error:
        raise DocumentError(f"damaged: {error.args[0]}") from error
    except zipfile.BadZipFile as error:
        raise DocumentError("damaged: not a complete file of this format") from error
    except _DAMAGE_ERRORS as error:
        raise DocumentError(f"damaged: {error}") from error
    except RuntimeError as error:
        raise DocumentError("encrypted") from error


class XmlReader(Protocol):
    """Receives the elements and the text of an XML file while it is parsed."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Receive the start of an element."""

    def data(self, text: str) -> None:
        """Receive text. The text of an element may come in several pieces."""

    def end(self, name: str) -> None:
        """Receive the end of an element."""


def parse_member(archive: zipfile.ZipFile, name: str, reader: XmlReader) -> None:
    """Parse a member without a tree, because the tree of a long or nested document needs much memory."""
    parser = ElementTree.XMLParser(target=reader)  # noqa: S314 - expat limits how far entities expand
    with archive.open(name) as file:
        while data := file.read(_BUFFER_BYTES):
            parser.feed(data)
    parser.close()


def read_properties(archive: zipfile.ZipFile, name: str, names: Mapping[str, str]) -> dict[str, str]:
    """Return the properties in a member that have a value; an empty dictionary if there is no such member.

    `names` maps the local names of elements to the names of properties.
    """
    reader = _PropertiesReader(names)
    if name in archive.namelist():
        parse_member(archive, name, reader)
    return reader.found


def local_name(name: str) -> str:
    """Return a name without its namespace. Strict and transitional Word documents have different namespaces."""
    return name.rpartition("}")[2]


class _PropertiesReader:
    def __init__(self, names: Mapping[str, str]) -> None:
        self.found: dict[str, str] = {}
        self._names = names
        self._pieces: list[str] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:  # noqa: ARG002 - the parser passes them
        self._pieces.clear()

    def data(self, text: str) -> None:
        self._pieces.append(text)

    def end(self, name: str) -> None:
        if (key := self._names.get(local_name(name))) and (value := "".join(self._pieces).strip()):
            self.found[key] = value
