"""The values that stores accept and return: records, candidates, phrases, removals and omitted indices."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.display import format_count
from simdoc_search.documents import DocumentKey, HasDocumentKey, MetadataValue
from simdoc_search.sketch.tokens import empty_token_ids, encode


def file_path(root_folder: str, prefix: str, id: str) -> str:
    """Return the path of a document's file; see `Origin.path_of`."""
    relative, name = id.removeprefix(prefix), os.path.basename(root_folder)  # noqa: PTH119 - paths are strings
    if (relative == name or relative.startswith(f"{name}!")) and not os.path.isdir(root_folder):  # noqa: PTH112
        return root_folder + relative.removeprefix(name)
    return os.path.join(root_folder, relative.replace("/", os.sep))  # noqa: PTH118


ATTACHMENTS_MARKER = "attachments"
"""The value of `Origin.archive_state` for an e-mail with attachments that are documents."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The file that a record was read from."""

    root: str  # absolute path of the indexed folder, or of the file itself if the user named the file
    size: int  # size in bytes
    mtime_ns: int  # modification time in nanoseconds since 1970
    prefix: str = ""  # the start of the id. The rest of the id is the path of the file, relative to `root`.
    content_hash: str = ""  # for a member of an archive, the hash of its bytes. It is empty for other files.
    # the size and modification time of the archive, if all members of the archive are stored. It is set for only one of
    # the members. For an e-mail with attachments that are documents, it is `ATTACHMENTS_MARKER`. Otherwise, it is
    # empty.
    archive_state: str = ""

    def path_of(self, id: str) -> str:
        """Return the path of the document's file. For a member of an archive, `!` and its name follow that path."""
        return file_path(self.root, self.prefix, id)


@dataclass(frozen=True, slots=True)
class Record:
    """A document as a store keeps it.

    Attributes:
        id: id of the document.
        token_ids: the fingerprint tokens as integers; uint32, ascending, distinct.
        shingle_count: number of distinct shingles of the text.
        digest: hash of text and metadata. It changes if one of them changes. It is empty in an index that simdoc-search
            did not create.
        metadata: additional fields.
        text: the text. It is None if it was not loaded, or if the store keeps no texts.
        origin: the file that the document was read from, if any.
        text_hash: hash of the text alone, which does not depend on the index. It is empty if the store has
            no text hashes.
        words_hash: hash of the normalised words, which does not depend on letter case and punctuation.
        fault: what is missing or malformed in a document that another program wrote. These parts of the record are
            empty.
        passages: the passage tokens, which are hashes of some shingles (30 bits each) for finding shared passages; see
            `sketch.winnow`; uint32, ascending, distinct. They are empty if the store has none, or if they were not
            loaded.
        sentences: tokens of the sentences in order, four per sentence (`encode_simhashes`). They may be empty for the
            same reasons as `passages`.
        concepts: tokens of the concepts, paragraph by paragraph (`sketch.concepts`). They may be empty for the same
            reasons as `passages`.
        word_pairs: token ids of the pairs of adjacent words, as in `Fingerprint`. If None, a store that needs them
            computes them from the text. They are None in records that were read from a store.
        index: the engine's index that the document was read from. It is ignored when the record is written.
        routing: the routing, as in `DocumentKey`.
        terms: the terms for queries, if the engine computes the fingerprints with its `min_hash` token filter. They
            cannot be computed from `token_ids`.
    """

    id: str
    token_ids: NDArray[np.uint32]
    shingle_count: int
    digest: str
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    text: str | None = None
    origin: Origin | None = None
    text_hash: str = ""
    words_hash: str = ""
    fault: str = ""
    passages: NDArray[np.uint32] = field(default_factory=empty_token_ids)
    sentences: NDArray[np.uint32] = field(default_factory=empty_token_ids)
    concepts: NDArray[np.uint32] = field(default_factory=empty_token_ids)
    index: str | None = None
    routing: str | None = None
    word_pairs: NDArray[np.uint32] | None = field(default=None, repr=False, compare=False)
    terms: Sequence[str] = field(default=(), repr=False)

    def query_terms(self) -> list[str]:
        """Return the terms for a query: `terms`, or the encoded `token_ids` if there are none."""
        return list(self.terms) or encode(self.token_ids)

    @property
    def key(self) -> DocumentKey:
        """The key of the document."""
        return DocumentKey(self.id, self.index, self.routing)

    @property
    def path(self) -> str:
        """The value for the filter `path`: the metadata field `path` if it is a string, otherwise the id."""
        path = self.metadata.get("path")
        return path if isinstance(path, str) else self.id


RecordPart = Literal["text", "passages", "sentences", "concepts"]
"""A part of a record that a store loads only on request: the text, or the tokens of a kind."""

ALL_PARTS: frozenset[RecordPart] = frozenset({"text", "passages", "sentences", "concepts"})


class StoredText(NamedTuple):
    """The text of a document, and its `Record.text_hash`. The text may have changed since it was hashed."""

    key: DocumentKey
    text: str
    text_hash: str


class EncodedRecord(NamedTuple):
    """A record in the form that the writer of its store accepts; see `Store.encoder`.

    The type of the content depends on the store.
    """

    id: str
    content: Any


@dataclass(frozen=True, slots=True)
class Digest:
    """The digest and the origin of a document, for detecting changes; see `Record`."""

    id: str
    digest: str
    origin: Origin | None


class DocumentHashes(NamedTuple):
    """Hashes of a document as it is now.

    `content` is a hash of all that the document contains besides its id and its fingerprint. `text` is `text_hash` of
    its text. It is empty if the text of an application's document cannot be read.
    """

    content: str
    text: str


@dataclass(frozen=True)
class Candidate(HasDocumentKey):
    """A document that a query found.

    `read_token_ids` returns the value of `token_ids`. `fields` are the values of the requested fields.
    """

    key: DocumentKey
    matched_token_count: int
    read_token_ids: Callable[[], NDArray[np.uint32]]
    fields: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def token_ids(self) -> NDArray[np.uint32]:
        """All fingerprint tokens, as in `Record`. Most candidates are compared without them."""
        return self.read_token_ids()


@dataclass(frozen=True, slots=True)
class LeftOutDocument(HasDocumentKey):
    """A document that a query found but that cannot be compared, and the reason."""

    key: DocumentKey
    reason: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """A sequence of words.

    An engine applies its own analyzer to `text`, the part of a text that contains the words. `position` is the number
    of words before it. Phrases at the same position are ways to write the same words.
    """

    words: tuple[str, ...]
    text: str
    position: int = 0


@dataclass(frozen=True, slots=True)
class PhraseMatches:
    """The documents that contain at least one of several phrases.

    Attributes:
        documents: for each document, the ascending indices of the phrases that it contains.
        incomplete_phrase_indices: indices of the phrases that other documents may contain too. The words of these
            phrases occur in too many documents to read all of them.
    """

    documents: Mapping[DocumentKey, tuple[int, ...]]
    incomplete_phrase_indices: tuple[int, ...] = ()


NOT_IN_STORE = "the document is not in the index"
DOCUMENT_CHANGED = "the document has changed since the plan was written"
KEPT_DOCUMENT_CHANGED = "the document that is kept instead has changed or no longer exists"
REMOVED_AND_RESTORED = f"{KEPT_DOCUMENT_CHANGED}; the document was removed for a moment, and restored"
CHANGE_REASONS = frozenset({NOT_IN_STORE, DOCUMENT_CHANGED, KEPT_DOCUMENT_CHANGED, REMOVED_AND_RESTORED})
"""The reasons for not removing a document because a document has changed."""


@dataclass(frozen=True, slots=True)
class RemovalCondition:
    """The condition for removing a document.

    The document must still have `content_hash`, which is `DocumentHashes.content`, and `text_hash`. A hash that is None
    is not compared. If `kept_key_and_hash` is given, that document must be in the store, with that content hash.
    """

    content_hash: str | None = None
    text_hash: str | None = None
    kept_key_and_hash: tuple[DocumentKey, str] | None = None

    def find_problem(self, key: DocumentKey, hashes: Mapping[DocumentKey, DocumentHashes]) -> str:
        """Return why the condition does not hold for the document with this key; empty if it holds."""
        if (found := hashes.get(key)) is None:
            return NOT_IN_STORE
        if self.content_hash not in (None, found.content) or self.text_hash not in (None, found.text):
            return DOCUMENT_CHANGED
        return "" if self.is_kept_unchanged(hashes) else KEPT_DOCUMENT_CHANGED

    def is_kept_unchanged(self, hashes: Mapping[DocumentKey, DocumentHashes]) -> bool:
        """Return whether the document that is kept instead, if any, is in the store and unchanged."""
        if self.kept_key_and_hash is None:
            return True
        key, content_hash = self.kept_key_and_hash
        return key in hashes and hashes[key].content == content_hash


@dataclass(frozen=True, slots=True)
class LeftOutIndex:
    """One of the indices behind an alias. Its documents are not compared.

    `document_count` is None if the index is closed. `reason` also says what to do.
    """

    index: str
    document_count: int | None
    reason: str

    def __str__(self) -> str:
        if self.document_count is None:
            return f"the index {self.index} is omitted: {self.reason}"
        verb = "is" if self.document_count == 1 else "are"
        documents = format_count(self.document_count, "document")
        return f"{documents} of the index {self.index} {verb} not compared: {self.reason}"


def has_text_changed(record: Record | StoredText) -> bool:
    """Return whether the text changed after it was fingerprinted. If this is unknown, return False."""
    return bool(record.text is not None and record.text_hash and text_hash(record.text) != record.text_hash)
