"""Documents, their keys in stores, and skipped files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from unicodedata import normalize

from simdoc_search.errors import DocumentError

MetadataValue = str | int | float | bool | list[str]

MAX_ID_BYTES = 512
"""Maximum length of an id in UTF-8 bytes. OpenSearch and Elasticsearch have this limit, so all stores do."""

_MAX_COMBINED_PARTS = 3


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its id.

    Attributes:
        id: any string of 1 to 512 UTF-8 bytes. For a file: its path below the indexed folder, separated by `/`.
        text: the plain text.
        metadata: additional fields, for filters and display.
    """

    id: str
    text: str
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DocumentKey:
    """Identifies a stored document. An id alone may be ambiguous: several indices behind an alias may contain it.

    Attributes:
        id: the document's id in its store.
        index: the engine's index that contains the document; None for a document of a local store. In a query, it may
            also be an alias or a data stream, and None means any index.
        routing: the routing value that the document was indexed with, if any. In a query, None means any routing.
    """

    id: str
    index: str | None = None
    routing: str | None = None

    def __hash__(self) -> int:
        """Return the hash of the id. This is faster than the default, and few documents have equal ids."""
        return hash(self.id)

    @property
    def qualified_id(self) -> str:
        """`INDEX/ID` for a document in an engine, otherwise the id. Queries accept it instead of the id."""
        return self.id if self.index is None else f"{self.index}/{self.id}"


class HasDocumentKey:
    """Mixin for values that belong to one document. `key` is the key of this document."""

    __slots__ = ()

    key: DocumentKey

    @property
    def id(self) -> str:
        """The document's id."""
        return self.key.id

    @property
    def index(self) -> str | None:
        """The engine's index that contains the document; None for a local store."""
        return self.key.index

    @property
    def routing(self) -> str | None:
        """The routing of the document in the engine, if any."""
        return self.key.routing


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file or line that was skipped.

    Attributes:
        path: path of the file, or `FILE:LINE`.
        reason: why it was skipped, in a few words.
        root: absolute path of the indexed folder that contains the file, if any.
    """

    path: str
    reason: str
    root: str | None = None


@dataclass(frozen=True, slots=True)
class RejectedDocument(SkippedFile):
    """A document that was not indexed because it is too similar to another one.

    Attributes:
        id: id of the rejected document.
        duplicate_of: id of the other document.
        overlap: Jaccard similarity of the two documents, 0..1.
        exact: whether `overlap` was computed from the texts. Otherwise it is estimated from the fingerprints.
    """

    id: str = ""
    duplicate_of: str = ""
    overlap: float = 0.0
    exact: bool = False


def ambiguous_id_message(keys: Iterable[DocumentKey]) -> str:
    """Return the error message for an id that several documents share."""
    same_id = list(keys)
    problem = f"{len(same_id)} documents have the id {same_id[0].id!r}"
    names = sorted({repr(key.qualified_id) for key in same_id})
    if len(names) > 1:
        return f"{problem}; choose one of them: {', '.join(names)}"
    return f"{problem}, all in {same_id[0].index}; choose one of them with DocumentKey(id, routing=...) in Python"


def check_id(id: str) -> None:
    """Raise a DocumentError if an id is empty, longer than 512 bytes of UTF-8, or not valid Unicode."""
    if not id:
        raise DocumentError("a document's id is empty; give every document an id")
    try:
        size = len(id.encode("utf-8"))
    except UnicodeEncodeError:
        raise DocumentError(f"the id {id!r} is not valid Unicode; rename the document") from None
    if size > MAX_ID_BYTES:
        raise DocumentError(f"the id {id[:40]!r}… is {size} bytes long; the limit is {MAX_ID_BYTES}")


def unicode_forms(name: str) -> list[str]:
    """Return the Unicode forms that a stored name or path may have: as given, composed (NFC) and decomposed (NFD).

    File names from macOS can be decomposed. The parts of a path may have different forms. If more than three parts have
    several forms, only paths whose parts all have the same form are returned.
    """
    parts = [_normalised_forms(part) for part in name.split("/")]
    if sum(len(forms) > 1 for forms in parts) > _MAX_COMBINED_PARTS:
        return _normalised_forms(name)
    return ["/".join(path) for path in product(*parts)]


def _normalised_forms(name: str) -> list[str]:
    return list(dict.fromkeys([name, normalize("NFC", name), normalize("NFD", name)]))
