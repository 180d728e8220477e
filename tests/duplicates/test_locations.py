"""Who is kept for whom, by where documents are."""

from __future__ import annotations

import numpy as np

from simdoc_search.documents import Place
from simdoc_search.duplicates.clusters import FREE
from simdoc_search.duplicates.collection import collect
from simdoc_search.duplicates.keep_order import Keep
from simdoc_search.duplicates.locations import GroupMembership
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.record import Record


def record(id: str, text_hash: str, index: str = "i", routing: str | None = None) -> Record:
    """A document that can be compared, if it has a text."""
    codes = np.arange(len(text_hash), dtype=np.uint32)
    return Record(id, codes, len(codes), "", {}, None, None, text_hash, "", index=index, routing=routing)


def standing(*records: Record) -> GroupMembership:
    """Of documents in the order of their ids, of which the second one is kept for the third."""
    documents = collect(records, Settings(), Keep("first"))
    kept_for = np.full(len(documents), FREE, np.int64)
    kept_for[2] = 1
    return GroupMembership(documents, kept_for)


def test_documents_are_found_by_their_places() -> None:
    """Also two of one id in two indices, or with two routings; what was not looked at is not."""
    some = standing(
        record("c", "3"), record("a", "1"), record("b", "2"), record("c", "4", "j"), record("c", "5", "i", "r")
    )

    for number in range(5):
        assert number == some.number(some.place(number))
    assert None is some.number(Place("a", "j"))
    assert [None, 1, 1, None, None] == [some.group(number) for number in range(5)]
    assert [1, 2] == some.members().tolist()


def test_a_text_is_known_by_its_hash() -> None:
    """That of the document, wherever it came among the others."""
    some = standing(record("c", "3"), record("a", "1"), record("b", "2"))

    assert [True, True, True] == [some.has_text(number, str(number + 1)) for number in range(3)]
    assert not some.has_text(0, "2")
    assert not some.has_text(0, "")


def test_of_several_documents_at_one_place_none_is_meant() -> None:
    """They are named by a field that is not their own alone."""
    some = standing(record("a", "1"), record("b", "2"), record("b", "3"))

    assert (0, None) == (some.number(Place("a", "i")), some.number(Place("b", "i")))


def test_what_was_left_out_was_looked_at() -> None:
    """It has neither tokens nor a hash."""
    some = standing(record("a", "1"), record("b", "2"), record("c", "3"), record("d", ""))

    assert [True, False] == [some.was_left_out(Place("d", each)) for each in ("i", "j")]
    assert not some.was_left_out(Place("a", "i"))
