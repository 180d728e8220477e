"""The values that stores take and return: records, candidates of plans, phrases, removals and left-out indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.display import counted
from simdoc_search.documents import MetadataValue, Place, Placed
from simdoc_search.sketch.tokens import encode
from simdoc_search.sketch.winnow import no_passages


@dataclass(frozen=True, slots=True)
class Origin:
    """The file that a record was read from.

    Attributes:
        root: absolute path of the indexed folder, or of the file itself if that was named.
        size: size in bytes.
        mtime_ns: modification time in nanoseconds.
        prefix: the part of the id before the path below the root.
        content: for a member of an archive, the hash of its bytes, which identifies it.
        archive: for one member of an archive that was stored completely: size and modification time of the archive.
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
        id: id of the document.
        codes: fingerprint tokens as numbers; uint32, ascending, without repeats.
        shingles: number of distinct shingles of the text.
        digest: hash of text and metadata; equal digests mean that nothing changed. Only in stores of our own.
        metadata: further fields.
        text: the text; None if it was not loaded, or the store does not keep texts.
        origin: the file it was read from, if any.
        text_hash: hash of the text alone, the same in every index; empty if the store has none.
        words_hash: hash of its normalised words, regardless of letter case and punctuation.
        fault: the part that cannot be read, because others wrote it; that part is then empty.
        passages: passage tokens as 30-bit numbers; uint32, ascending, without repeats; empty if not loaded, or none.
        sentences: tokens of its sentences, four each, in order (`codes_of_sentences`); empty likewise.
        concepts: tokens of its concepts, paragraph by paragraph (`sketch.concepts`); empty likewise.
        words: its distinct normalised words, as in `Fingerprint`; empty if unknown, and a store that needs them finds
            them in the text. Never read from a store.
        index: the engine's index that it was read from. The store decides where to write it.
        routing: as in `Place`.
        terms: for a field that an engine's `min_hash` filter fills: the query terms, which the codes do not have.
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
        """Return its tokens as query terms, of this many characters where they are the codes."""
        return list(self.terms) or encode(self.codes, length)

    @property
    def place(self) -> Place:
        """The place it was read from."""
        return Place(self.id, self.index, self.routing)

    @property
    def path(self) -> str:
        """The value for the filter `path`: the metadata field of that name, else the id."""
        path = self.metadata.get("path")
        return path if isinstance(path, str) else self.id


@dataclass(frozen=True, slots=True)
class Digest:
    """Shows whether a document changed: its id, with digest and origin as in `Record`."""

    id: str
    digest: str
    origin: Origin | None


@dataclass(frozen=True, slots=True)
class Candidate(Placed):
    """A document that a plan found.

    Attributes:
        place: place of the document.
        matched: number of the plan's tokens that it has.
        codes: all fingerprint tokens as numbers, as in `Record`.
        fields: its values of the requested fields.
    """

    place: Place
    matched: int
    codes: NDArray[np.uint32]
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LeftOut(Placed):
    """A document that a plan found but that cannot be compared, with the reason."""

    place: Place
    reason: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """A run of words.

    Attributes:
        words: its normalised words.
        text: the run as it is in its text; an engine finds words in it by its own rules.
    """

    words: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class PhraseMatches:
    """The documents that contain some phrases.

    Attributes:
        documents: for each document, the ascending numbers of the phrases that it contains.
        incomplete: numbers of phrases that further documents may contain, because their words are in too many documents
            to read them all.
    """

    documents: Mapping[Place, tuple[int, ...]]
    incomplete: tuple[int, ...] = ()


NOT_IN_STORE = "it is not in the store"
TEXT_CHANGED = "its text has changed since the plan was written"
KEPT_CHANGED = "the document that is kept for it has changed or is gone"


@dataclass(frozen=True, slots=True)
class Removal:
    """The condition under which a document is removed.

    Attributes:
        text_hash: the document must still have this hash.
        kept: place and `text_hash` of another document that must be in the store; None for no such condition.
    """

    text_hash: str
    kept: tuple[Place, str] | None = None


@dataclass(frozen=True, slots=True)
class LeftOutIndex:
    """An index behind an alias whose documents are not compared.

    Attributes:
        index: name of the index.
        documents: number of its documents; None if it is closed, so that they cannot be counted.
        reason: why, and what to do.
    """

    index: str
    documents: int | None
    reason: str

    def __str__(self) -> str:
        if self.documents is None:
            return f"the index {self.index} is left out: {self.reason}"
        verb = "is" if self.documents == 1 else "are"
        return f"{counted(self.documents, 'document')} of the index {self.index} {verb} not compared: {self.reason}"


def has_changed(record: Record) -> bool:
    """Whether the text differs from the one that the fingerprint was made of; False if that is unknown."""
    return bool(record.text is not None and record.text_hash and text_hash(record.text) != record.text_hash)
