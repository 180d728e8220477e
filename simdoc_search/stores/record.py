"""What stores give and take: a document as they keep it, and as a plan finds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.documents import MetadataValue, Place
from simdoc_search.sketch.tokens import encode
from simdoc_search.sketch.winnow import no_passages


@dataclass(frozen=True, slots=True)
class Origin:
    """The file that a record was read from.

    Attributes:
        root: the absolute path of the indexed folder, or of the file itself if that was named.
        size: in bytes.
        mtime_ns: time of the last change in nanoseconds.
        prefix: what stands in the id before the path below the root.
        content: of a member of an archive: the hash of its bytes, by which it is known again.
        archive: of one of them, if all were stored that there were: size and time of change of the archive.
    """

    root: str
    size: int
    mtime_ns: int
    prefix: str = ""
    content: str = ""
    archive: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One document as a store keeps it.

    Attributes:
        id: the document's id.
        codes: the tokens of its fingerprint as numbers, dtype uint32, ascending, none twice.
        shingles: the number of distinct shingles of the text.
        digest: hash of text and metadata; equal digests mean that nothing changed. Only stores of our own have it.
        metadata: further fields.
        text: the text itself; None if the store was asked not to load it, or does not keep texts.
        origin: the file it came from, if it did.
        text_hash: hash of the text alone, the same in every index; empty if the store has none.
        words_hash: hash of its normalised words, the same whatever their letter case and punctuation.
        fault: what of it cannot be read, as others wrote it; that part is empty then.
        passages: its passage tokens as numbers of 30 bits, dtype uint32, ascending, none twice; empty if the store was
            not asked to load them, or has none.
        sentences: the tokens of its sentences, four of each in order (`codes_of_sentences`); empty likewise.
        concepts: the tokens of its concepts, paragraph by paragraph (`sketch.concepts`); empty likewise.
        words: its normalised words, none twice, as in `Fingerprint`; empty if they are not known: a store that needs
            them finds them in the text. Never read from a store.
        index: the index of an engine that it was read from; where it is written, the store decides.
        routing: as in `Place`.
        terms: of a field that an engine's `min_hash` filter fills: the terms to ask for, which the codes do not say.
    """

    id: str
    codes: NDArray[np.uint32]
    shingles: int
    digest: str
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    text: str | None = None
    origin: Origin | None = None
    text_hash: str = ""
    words_hash: str = ""
    fault: str = ""
    passages: NDArray[np.uint32] = field(default_factory=no_passages)
    sentences: NDArray[np.uint32] = field(default_factory=no_passages)
    concepts: NDArray[np.uint32] = field(default_factory=no_passages)
    index: str | None = None
    routing: str | None = None
    words: bytes = field(default=b"", repr=False, compare=False)
    terms: Sequence[str] = field(default=(), repr=False)

    def tokens(self, length: int) -> list[str]:
        """Its tokens as a store is asked for them; of so many characters, where they are the codes."""
        return list(self.terms) or encode(self.codes, length)

    @property
    def place(self) -> Place:
        """Where it was read."""
        return Place(self.id, self.index, self.routing)

    @property
    def path(self) -> str:
        """What the filter `path` looks at: the metadata field of that name, else the id."""
        path = self.metadata.get("path")
        return path if isinstance(path, str) else self.id


@dataclass(frozen=True, slots=True)
class Digest:
    """What tells whether a document changed: its id, and digest and origin as in `Record`."""

    id: str
    digest: str
    origin: Origin | None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document that a plan found.

    Attributes:
        place: where it is.
        matched: how many of the plan's tokens it has.
        codes: all tokens of its fingerprint as numbers, as in `Record`.
        fields: what it has in the fields that were asked for.
    """

    place: Place
    matched: int
    codes: NDArray[np.uint32]
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Its id."""
        return self.place.id


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A document that a plan found, and that cannot be compared: where it is, and what is wrong with it."""

    place: Place
    reason: str

    @property
    def id(self) -> str:
        """Its id."""
        return self.place.id
