"""Verification of a store in a folder: settings, each file, each document, and one against the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import tantivy
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.errors import StoreError
from simdoc_search.sketch.kinds import Kind, kinds_of
from simdoc_search.sketch.sentences import SENTENCE_LENGTH
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import ALPHABET, decode, encode
from simdoc_search.stores.local.errors import engine_errors
from simdoc_search.stores.local.folder import find_store
from simdoc_search.stores.local.queries import term
from simdoc_search.stores.local.salvage import OpenCommit, OpenSegment, has_documents, open_commit
from simdoc_search.stores.local.schema import build_schema, codes_of, id_of, tokens_of
from simdoc_search.stores.local.segments import FILES_FILE, META_FILE, is_list_of_files
from simdoc_search.stores.local.settings_file import INDEX_FOLDER, SETTINGS_FILE, require_checksums, surviving_identity

Progress = Callable[[int, int], None]
"""Called with the number of finished documents and of all."""

TOKENS_ASKED = 4
"""Number of each document's tokens that must find it. The counts of all tokens show that there are no others."""

AT_ONCE = 256

_MIX_1, _MIX_2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)  # odd, and half of their bits set

_Numbered = tuple[int, tantivy.Document | None]


@dataclass(frozen=True, slots=True)
class Damage:
    """Something in a store that is not as it was written.

    Attributes:
        place: the file, or the id of the document.
        problem: what is wrong, in one sentence.
    """

    place: str
    problem: str


def check_store(folder: Path, progress: Progress | None = None) -> Iterator[Damage]:
    """Read all of a store, and compare its parts. Nothing is changed, and others may write meanwhile.

    The settings file, each file of the index, and each document have checksums. Each document must be found once by
    its id, and by some of its tokens. Its number of tokens must be the indexed one, and all documents together must
    have as many tokens of each kind as the index.

    Args:
        folder: folder of the store.
        progress: called with the number of finished documents and of all.

    Yields:
        Damage, as it is found.

    Raises:
        StoreNotFoundError: there is no store.
        StoreError: the store cannot be read at all.
    """
    index = folder / INDEX_FOLDER
    settings = None
    try:
        settings = find_store(folder).settings
    except StoreError as error:
        if not (folder / SETTINGS_FILE).exists() and not (index / SETTINGS_FILE).exists():
            raise
        yield Damage(SETTINGS_FILE, str(error))
        identity = surviving_identity(folder)
        settings = identity.settings if identity else None
    require_checksums(folder)
    try:
        with engine_errors("read", str(folder)):
            opened = open_commit(index)
    except StoreError as error:
        yield Damage(INDEX_FOLDER, str(error))
        return
    for name, fault in opened.faults.items():
        yield Damage(f"{INDEX_FOLDER}/{name}", fault)
    if not is_list_of_files(index):
        yield Damage(f"{INDEX_FOLDER}/{FILES_FILE}", "the list of files is damaged, so nothing can be written")
    with engine_errors("read", str(folder)):
        yield from _check_documents(opened, settings, progress or (lambda _done, _all: None))


def _check_documents(opened: OpenCommit, settings: Settings | None, progress: Progress) -> Iterator[Damage]:
    done, total = 0, sum(int(each.alive.sum()) for each in opened.segments)
    kinds = _kinds(settings) if settings else []
    for segment in opened.segments:
        sums = [_TokenSum(each) for each in kinds]
        damaged: list[int] = []
        for batch in _batches(segment.documents()):
            damaged += (number for number, document in batch if document is None)
            alive = [document for number, document in batch if document is not None and segment.alive[number]]
            if settings and opened.whole:
                yield from _lookups(opened.whole, alive, kinds)
            if segment.whole:
                for each in sums:
                    each.add_documents(document for _, document in batch if document)
            done += len(alive)
            progress(done, total)
        yield from _damaged(segment, [number for number in damaged if segment.alive[number]])
        yield from _counts(segment)
        if segment.whole and not damaged and not all(each.equals(segment.whole) for each in sums):
            yield Damage(segment.segment.name, "the index has other fingerprints than the documents; index them again")
    if opened.whole and opened.whole.num_docs != total:
        yield Damage(
            META_FILE, f"there are {total:,} documents, and {opened.whole.num_docs:,} by the count of the index"
        )


def _damaged(segment: OpenSegment, numbers: list[int]) -> Iterator[Damage]:
    ids = segment.ids_of(numbers)
    for number in numbers:
        place = ids.get(number, f"document {number} of {segment.segment.name}")
        yield Damage(place, "this document is damaged (its checksum does not fit)")


def _counts(segment: OpenSegment) -> Iterator[Damage]:
    deleted = int((~segment.alive).sum())
    if segment.deletions_known and deleted != segment.segment.deleted:
        said = f"{deleted:,} documents are deleted, and {segment.segment.deleted:,} by {META_FILE}"
        yield Damage(segment.segment.name, said)
    if segment.whole and not has_documents(segment.whole, segment.segment.documents):
        yield Damage(
            segment.segment.name, f"it does not have {segment.segment.documents:,} documents, as {META_FILE} says"
        )


def _lookups(whole: tantivy.Searcher, documents: list[tantivy.Document], kinds: list[_Kind]) -> Iterator[Damage]:
    """Look up each document in the index."""
    schema = build_schema([each.field for each in kinds])
    for document in documents:
        id, number = id_of(document), len(kinds[0].codes(document))
        by_id = term(schema, "id", id)
        found = [address for _, address in whole.search(by_id, limit=2, count=False).hits]
        if len(found) != 1:
            yield Damage(id, "the index has it more than once" if found else "the index does not find it by its id")
            continue
        all_codes = [each.codes(document) for each in kinds]
        if whole.fast_field_values("buckets", found) != [number] or not all(map(_is_ascending, all_codes)):
            yield Damage(id, "its fingerprint is not as long as the one that is indexed")
        clauses = [by_id]
        for kind, codes in zip(kinds, all_codes, strict=True):
            asked = codes[np.linspace(0, len(codes) - 1, min(TOKENS_ASKED, len(codes))).astype(int)]
            clauses += (term(schema, kind.field, each) for each in encode(asked, kind.length))
        all_of = tantivy.Query.boolean_query([(tantivy.Occur.Must, each) for each in clauses])
        # In the order of a field, nothing is scored: that would fail where a list of segments counts too few documents.
        if len(whole.search(all_of, limit=1, count=False, order_by_field="buckets").hits) != 1:
            yield Damage(id, "the index does not find it by its fingerprint")


def _is_ascending(codes: NDArray[np.uint32]) -> bool:
    return bool((codes[1:] > codes[:-1]).all())


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of tokens that documents have.

    Attributes:
        field: the indexed field.
        length: characters of a token.
        codes: the tokens of a document, ascending, without repeats.
        parts: prefixes of terms that split them evenly; the smallest hashes begin alike.
    """

    field: str
    length: int
    codes: Callable[[tantivy.Document], NDArray[np.uint32]]
    parts: list[str]


def _kinds(settings: Settings) -> list[_Kind]:
    length = settings.token_length
    kinds = [_Kind("tokens", length, lambda document: codes_of(document, length), list(ALPHABET))]
    pairs = [first + second for first in ALPHABET for second in ALPHABET]
    for each in kinds_of(settings):
        parts = pairs if each.length > SENTENCE_LENGTH else list(ALPHABET)
        kinds.append(_Kind(each.name, each.length, partial(_indexed, each), parts))
    return kinds


def _indexed(kind: Kind, document: tantivy.Document) -> NDArray[np.uint32]:
    """Return the tokens of a kind by which a document is found."""
    codes = tokens_of(document, kind)
    return codes if kind.is_set else distinct(codes)


class _TokenSum:
    """A checksum of a multiset of tokens; unequal ones collide with probability 2^-64."""

    def __init__(self, kind: _Kind) -> None:
        self._kind = kind
        self._sum = 0

    def add_documents(self, documents: Iterable[tantivy.Document]) -> None:
        codes = [self._kind.codes(each) for each in documents]
        if codes:
            self._add(np.concatenate(codes), np.uint64(1))

    def equals(self, indexed: tantivy.Searcher) -> bool:
        """Whether the terms of an index are as many of each kind."""
        other = _TokenSum(self._kind)
        for begin in self._kind.parts:  # a part of the terms at a time, for there may be many millions
            terms = indexed.terms_with_prefix(self._kind.field, begin)
            if terms:
                counts = np.array([count for _, count in terms], np.uint64)
                with suppress(ValueError):  # what is no token of ours makes the sums differ
                    other._add(decode([each for each, _ in terms], self._kind.length), counts)
        return self._sum == other._sum

    def _add(self, codes: NDArray[np.uint32], counts: NDArray[np.uint64] | np.uint64) -> None:
        mixed = (codes.astype(np.uint64) + np.uint64(1)) * _MIX_1
        mixed ^= mixed >> np.uint64(32)
        mixed *= _MIX_2
        mixed ^= mixed >> np.uint64(29)
        self._sum = (self._sum + int((mixed * counts).sum())) % 2**64


def _batches(documents: Iterator[_Numbered]) -> Iterator[list[_Numbered]]:
    while batch := list(islice(documents, AT_ONCE)):
        yield batch
