"""What all rooms share: documents, where they are, files still to be read, and what was skipped with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from unicodedata import normalize

from simdoc_search.errors import DocumentError

MetadataValue = str | int | float | bool | list[str]

MAX_ID_BYTES = 512
"""The longest id that OpenSearch and Elasticsearch accept, in UTF-8 bytes; the same for every store."""

_MOST_MIXED = 3


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its id.

    Attributes:
        id: any string of 1 to 512 UTF-8 bytes; for a file its path below the indexed folder, with `/`.
        text: the plain text.
        metadata: further fields, for filters and display.
    """

    id: str
    text: str
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a stored document is. Behind an alias several can have one id, each at a place of its own.

    Attributes:
        id: the document's id in its store.
        index: the index of the engine that has it; None: the store is not in an engine. In a query it may also be an
            alias or a data stream, and None means any index.
        routing: the routing it was indexed with, if there was one. In a query None means any routing.
    """

    id: str
    index: str | None = None
    routing: str | None = None


class Placed:
    """What is said of a document at a `place`."""

    __slots__ = ()

    place: Place

    @property
    def id(self) -> str:
        """The document's id."""
        return self.place.id

    @property
    def index(self) -> str | None:
        """The index of an engine in which it is; None: it is in none."""
        return self.place.index

    @property
    def routing(self) -> str | None:
        """The routing with which it was indexed there, if it was with one."""
        return self.place.routing


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or line that gave no document.

    Attributes:
        path: what was skipped.
        reason: why, in a few words.
        root: the absolute path of the indexed folder in which it was found, if it was in one.
    """

    path: str
    reason: str
    root: str | None = None


@dataclass(frozen=True, slots=True)
class Rejected(Skipped):
    """A document that was left out, as another one overlaps it that much.

    Attributes:
        id: its id.
        duplicate_of: the id of the one that is there.
        overlap: Jaccard similarity of the two, 0..1.
        exact: whether it was computed from the texts; else it is estimated from the fingerprints.
    """

    id: str = ""
    duplicate_of: str = ""
    overlap: float = 0.0
    exact: bool = False


def is_in_several(places: Iterable[Place]) -> str:
    """What is said where one document was meant, and several have its id."""
    found = list(places)
    indices = sorted({each.index or "" for each in found})
    where = f"both {' and '.join(indices)}" if len(indices) > 1 else f"{indices[0]} {len(found)} times"
    return f"the document {found[0].id!r} is in {where}; name one of the indices"


def check_id(id: str) -> None:
    """Refuse an id that some store could not keep.

    Raises:
        DocumentError: the id is empty, longer than 512 bytes of UTF-8, or not valid Unicode.
    """
    if not id:
        raise DocumentError("a document's id is empty; give every document an id")
    try:
        size = len(id.encode("utf-8"))
    except UnicodeEncodeError:
        raise DocumentError(f"the id {id!r} is not valid Unicode; rename the document") from None
    if size > MAX_ID_BYTES:
        raise DocumentError(f"the id {id[:40]!r}… is {size} bytes long; the limit is {MAX_ID_BYTES}")


def spellings(name: str) -> list[str]:
    """A name or path as it was typed, then composed (NFC) and decomposed (NFD), as names that come from a Mac can be.

    Each folder may be written in a way of its own; where more than three could be, all are written in one.
    """
    parts = [_forms(each) for each in name.split("/")]
    if sum(len(each) > 1 for each in parts) > _MOST_MIXED:
        return _forms(name)
    return ["/".join(each) for each in product(*parts)]


def _forms(name: str) -> list[str]:
    return list(dict.fromkeys([name, normalize("NFC", name), normalize("NFD", name)]))
