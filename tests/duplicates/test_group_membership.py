"""The group of a document is looked up by its key."""

from __future__ import annotations

import numpy as np

from simdoc_search.documents import DocumentKey
from simdoc_search.duplicates.clusters import UNASSIGNED
from simdoc_search.duplicates.document_arrays import Documents
from simdoc_search.duplicates.group_membership import GroupMembership
from simdoc_search.duplicates.keep_order import KeepRule
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.record import Record


def record(id: str, text_hash: str, index: str = "i", routing: str | None = None) -> Record:
    token_ids = np.arange(len(text_hash), dtype=np.uint32)
    return Record(id, token_ids, len(token_ids), "", text_hash=text_hash, index=index, routing=routing)


def membership(*records: Record) -> GroupMembership:
    """Return groups in which the second document, ordered by id, is kept for the third one."""
    documents = Documents(records, Settings(), KeepRule("first"))
    kept_document_of = np.full(len(documents), UNASSIGNED, np.int64)
    kept_document_of[2] = 1
    return GroupMembership(documents, kept_document_of)


def test_documents_are_found_by_their_keys() -> None:
    """Two documents with the same id may be in two indices, or have two routings."""
    groups = membership(
        record("c", "3"), record("a", "1"), record("b", "2"), record("c", "4", "j"), record("c", "5", "i", "r")
    )

    assert [*range(5)] == [groups.find_document_number(groups.documents.key(number)) for number in range(5)]
    assert None is groups.find_document_number(DocumentKey("a", "j"))
    assert [None, 1, 1, None, None] == [groups.find_kept(number) for number in range(5)]
    assert [1, 2] == groups.members.tolist()


def test_a_compared_text_is_recognized_by_its_hash() -> None:
    groups = membership(record("c", "3"), record("a", "1"), record("b", "2"))

    assert [True, True, True] == [groups.documents.has_text_hash(number, str(number + 1)) for number in range(3)]
    assert [False, False] == [groups.documents.has_text_hash(0, text_hash) for text_hash in ("2", "")]


def test_several_documents_with_one_key_have_no_number() -> None:
    groups = membership(record("a", "1"), record("b", "2"), record("b", "3"))

    assert (0, None) == (
        groups.find_document_number(DocumentKey("a", "i")),
        groups.find_document_number(DocumentKey("b", "i")),
    )
