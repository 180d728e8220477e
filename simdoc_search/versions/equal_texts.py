"""Recognises texts with the same words and punctuation, and texts that are too short for edited versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple
from unicodedata import normalize

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.batches import split_by_count
from simdoc_search.cancellation import check_stopped
from simdoc_search.corpus.formats import has_cells
from simdoc_search.documents import DocumentKey
from simdoc_search.passages.cells import write_cells
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record, has_text_changed

_TEXTS_PER_BATCH = 16


class TextHashes(NamedTuple):
    """What is known about the text of a document without reading the text."""

    key: DocumentKey  # the key of the document
    text_hash: str  # hash of the text; empty if it is unknown
    words_hash: str  # hash of the normalised words; empty if it is unknown
    is_short: bool  # whether the text has at most one shingle. After any edit, no search by shingles finds it.

    @classmethod
    def from_record(cls, record: Record) -> TextHashes:
        """Return the hashes of a record."""
        return cls(record.key, record.text_hash, record.words_hash, record.shingle_count == 1)

    def may_be_version_of(self, other: TextHashes) -> bool:
        """Return whether the sentences of two texts may decide whether they are versions of each other.

        A short text has versions only with the same words.
        """
        is_known = bool(self.words_hash and other.words_hash)
        return not ((self.is_short or other.is_short) and is_known) or self.words_hash == other.words_hash


def hash_words_and_punctuation(store: Store, texts: Iterable[TextHashes]) -> dict[str, str]:
    """Map the hash of each text to the hash of its words and punctuation; see `hash_normalised_text`.

    Only texts with the same words as another text are read. The result omits other texts, texts that are not stored,
    and texts that changed after they were indexed.
    """
    by_words: dict[str, list[TextHashes]] = {}
    for text in texts:
        if text.words_hash and text.text_hash:
            by_words.setdefault(text.words_hash, []).append(text)
    groups = (group for group in by_words.values() if len({text.text_hash for text in group}) > 1)
    hashes: dict[str, str] = {}
    for batch in split_by_count((text for group in groups for text in group), _TEXTS_PER_BATCH):
        check_stopped()
        keys = {text.key for text in batch if text.text_hash not in hashes}
        for stored in store.texts(dict.fromkeys(key.id for key in keys)):
            if stored.key in keys and stored.text_hash and not has_text_changed(stored):
                hashes[stored.text_hash] = hash_normalised_text(stored.text, stored.key.id)
    return hashes


def have_same_words_and_punctuation(texts: Iterable[TextHashes], hashes: Mapping[str, str]) -> bool:
    """Return whether it is known that texts have the same words and punctuation.

    `hashes` are those of `hash_words_and_punctuation`.
    """
    found = {hashes.get(text.text_hash, text.text_hash) for text in texts}
    return len(found) == 1 and "" not in found


def hash_normalised_text(text: str, path: str) -> str:
    """Return the same hash for texts that differ only in spaces, line breaks or the Unicode form of letters.

    If `path` is that of a table or spreadsheet, the cells must be equal too: in another column, a number means
    something else.
    """
    composed = normalize("NFC", text)
    return text_hash(write_cells(composed) if has_cells(path) else " ".join(composed.split()))
