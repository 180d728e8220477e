"""Records are stored, replaced, deleted and found by name."""

from __future__ import annotations

import ntpath
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simdoc_search.documents import MetadataValue
from simdoc_search.errors import StoreError, StoreLockedError
from simdoc_search.query.plans import ThresholdPlan
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import HASH_BITS, encode
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Origin, Record, file_path
from tests.support.stores import (
    NewStore,
    comparable_values,
    ids,
    put,
    ranked_candidates,
    record,
    token_ids_of_slots,
    tokens,
)

# --- records ---


def test_a_stored_record_is_read_unchanged(store: Store) -> None:
    metadata: Mapping[str, MetadataValue] = {
        'a key=with "signs"\0': 'é 漢 \U0001f600 " _ / \\ \n',
        "year": 2020,
        "share": 0.5,
        "draft": True,
        "authors": ["Ada", "Bob, jr."],
        "path": "some/where.txt",
    }
    put_in = Record(
        'a_b/c d"é漢.txt',
        np.array([0, 2**9 + 341, 2**18 - 1], np.uint32),
        7,
        "digest",
        metadata,
        "text é 漢 \U0001f600\0\r\n",
        Origin("/home/é", 2**40, 1_700_000_000_123_456_789),
    )
    put(store, put_in)

    assert comparable_values(put_in) == comparable_values(store.get(put_in.id, load={"text"}))


def test_a_local_store_keeps_lone_surrogates(local_store: Store) -> None:
    """Python and JSON allow them, but UTF-8 does not. An engine replaces them with U+FFFD."""
    broken = record("a", text="x\ud800y", title="\ud800")
    put(local_store, broken)

    assert comparable_values(broken) == comparable_values(local_store.get("a", load={"text"}))


def test_the_text_is_loaded_only_on_request(store: Store) -> None:
    put(store, record("a", text="words"))

    ways: list[Any] = [lambda **options: [store.get("a", **options)], store.scan]
    for way in ways:
        assert [None, "words"] == [next(iter(way(**options))).text for options in ({}, {"load": {"text"}})]


def test_a_store_without_texts_keeps_everything_else(new_store: NewStore) -> None:
    store = new_store(store_texts=False)
    put(store, record("a", text="words", year=2020))

    assert comparable_values(record("a", year=2020)) == comparable_values(store.get("a", load={"text"}))


@pytest.mark.parametrize("slots", [1, 8, 512, 4096])
def test_any_tokens_are_read_unchanged(new_store: NewStore, slots: int) -> None:
    store = new_store(Settings(sketch=MinHash(bucket_count=slots)))
    rng = np.random.default_rng(slots)
    token_ids = rng.integers(0, 1 << HASH_BITS, (9, slots)) | np.arange(slots) << HASH_BITS
    filled = [token_ids[0, :0], token_ids[1], *(row[rng.random(slots) < 0.5] for row in token_ids[2:])]
    put(store, *(record(f"{number}", token_ids=values) for number, values in enumerate(filled)))

    assert {f"{number}": values.tolist() for number, values in enumerate(filled)} == {
        document.id: document.token_ids.tolist() for document in store.scan()
    }


def test_tokens_have_three_or_four_characters_in_a_store_of_many_slots(new_store: NewStore) -> None:
    store = new_store(Settings(sketch=MinHash(bucket_count=4096)))
    token_ids = [3, 2**18 - 1, 2**18, 2**21 - 1]
    put(store, record("a", token_ids=token_ids))
    query = encode(np.array(token_ids, np.uint32))

    assert [3, 3, 4, 4] == list(map(len, query))
    assert [(4, "a")] == ranked_candidates(store, ThresholdPlan(tuple(query), 4))


def test_an_unknown_id_has_no_record(store: Store) -> None:
    put(store, record("a"))

    assert [None, None, None] == [store.get(id) for id in ("b", "", "\udcff")]


# --- writing ---


def test_put_replaces_by_id_and_the_last_record_wins(store: Store) -> None:
    put(store, record("a", n=1), record("b", n=1), record("a", n=2))
    assert [2] == [document.metadata["n"] for document in store.scan() if document.id == "a"]

    with store.writer() as writer:
        writer.put([record("a", n=3)])
        writer.put([record("a", n=4)])

    assert {"a": 4, "b": 1} == {document.id: document.metadata["n"] for document in store.scan()}
    assert 2 == store.info().document_count


def test_delete_and_put_take_effect_in_their_order(store: Store) -> None:
    put(store, record("a"), record("b"))
    with store.writer() as writer:
        writer.put([record("c")])
        writer.delete(["a", "c", "unknown"])
        writer.put([record("a", n=2)])

    assert {"a": 2, "b": None} == {document.id: document.metadata.get("n") for document in store.scan()}


def test_an_error_in_the_writer_drops_uncommitted_records(store: Store) -> None:
    def interrupted() -> Iterator[Record]:
        yield record("lost")
        raise KeyboardInterrupt

    def write() -> None:
        with store.writer() as writer:
            writer.put([record("kept")])
            writer.commit()
            writer.delete(["kept"])
            writer.put(interrupted())

    with pytest.raises(KeyboardInterrupt):
        write()
    put(store, record("next"))

    assert ["kept", "next"] == ids(store)


class _InterruptedIndexWriter:
    """A writer of tantivy that is interrupted before it adds the first document."""

    def __init__(self, engine: Any) -> None:
        self._engine, self._is_interrupted = engine, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def add_document(self, document: Any) -> None:
        if not self._is_interrupted:
            self._is_interrupted = True
            raise KeyboardInterrupt
        self._engine.add_document(document)


def test_a_commit_after_an_interrupt_keeps_the_document_that_was_being_replaced(local_store: Store) -> None:
    """After Ctrl-C, `index` commits what it has written. The old document may be deleted already."""
    put(local_store, record("a", {1}), record("b", {2}))

    with local_store.writer() as writer:
        writer._index_writer = _InterruptedIndexWriter(writer._index_writer)  # type: ignore[attr-defined]
        with pytest.raises(KeyboardInterrupt):
            writer.put([record("a", {3})])

    token_ids = {id: getattr(local_store.get(id), "token_ids", token_ids_of_slots([])).tolist() for id in "ab"}
    assert {"a": token_ids_of_slots([3]).tolist(), "b": token_ids_of_slots([2]).tolist()} == token_ids


def test_a_second_writer_is_refused_until_the_first_is_closed(local_store: Store) -> None:
    with local_store.writer() as writer:
        writer.put([record("a")])
        with pytest.raises(StoreLockedError, match="another writer is writing"), local_store.writer():
            pass
    put(local_store, record("b"))

    assert ["a", "b"] == ids(local_store)


def test_a_writer_cannot_be_used_after_its_block(store: Store) -> None:
    with store.writer() as writer:
        pass

    with pytest.raises(StoreError, match="writer is closed"):
        writer.put([record("a")])


def test_readers_see_a_commit_at_once_and_nothing_before(store: Store) -> None:
    with store.writer() as writer:
        writer.put([record("a")])
        before = store.get("a")
        writer.commit()
        after = store.get("a")

    assert (True, True) == (before is None, after is not None)


def test_candidates_and_scans_ignore_later_commits(local_store: Store) -> None:
    put(local_store, *(record(f"{n:03}") for n in range(200)))
    candidates, records = local_store.candidates(ThresholdPlan(tokens([1]), 1)), local_store.scan()
    first = next(records).id
    with local_store.writer() as writer:
        writer.delete(f"{n:03}" for n in range(150))
        writer.put(record(f"new {n}") for n in range(10))
    wanted = [f"{n:03}" for n in range(200)]

    assert wanted == [document.id for document in candidates]
    assert wanted == sorted([first, *(document.id for document in records)])
    assert 60 == local_store.info().document_count


def test_an_empty_store_supports_all_queries(store: Store) -> None:
    candidates = store.candidates(ThresholdPlan(tokens([1]), 1))

    assert (0, []) == (candidates.total, list(candidates))
    assert ([], [], []) == (ids(store), store.ids_with_name("a"), store.suggest_ids("a"))
    assert 0 == store.info().document_count


def test_a_closed_store_raises_an_error(store: Store) -> None:
    """It can be closed twice."""
    store.close()
    store.close()

    with pytest.raises(StoreError, match="is closed"):
        store.get("a")
    with pytest.raises(StoreError, match="is closed"), store.writer():
        pass


# --- names ---


def test_ids_are_found_by_last_component_and_by_stem(store: Store) -> None:
    put(store, *map(record, ("b/doc.txt", "a/doc.md", "doc", "c/doc.tar.gz", "docs", "x/.hidden", "é 漢/ü.txt")))

    assert ["a/doc.md", "b/doc.txt", "doc"] == store.ids_with_name("doc")
    assert ["b/doc.txt"] == store.ids_with_name("doc.txt") == store.ids_with_name("b/doc")
    assert ["c/doc.tar.gz"] == store.ids_with_name("doc.tar")
    assert ["x/.hidden"] == store.ids_with_name(".hidden")
    assert ["é 漢/ü.txt"] == store.ids_with_name("ü")
    assert [] == store.ids_with_name("nothing") == store.ids_with_name("") == store.ids_with_name("\udcff")


@pytest.mark.parametrize(
    ("name", "best"),
    [
        ("docs/lisence.txt", "docs/license.txt"),
        ("lisence", "docs/license.txt"),
        ("licnese.txt", "docs/license.txt"),
        ("dosc/license.txt", "docs/license.txt"),
        ("other/license.txt", "docs/license.txt"),
        ("docs/annual-report-2023.md", "docs/annual-report-2024-final.md"),
        ("rental", "mail/Rental agreement 2023 (final).docx"),
        ("漢字テスト", "漢字テキスト"),
    ],
)
def test_similar_ids_are_suggested(store: Store, name: str, best: str) -> None:
    ids = (
        "docs/license.txt",
        "docs/annual-report-2024-final.md",
        "漢字テキスト",
        "mail/Rental agreement 2023 (final).docx",
    )
    put(store, *map(record, (*ids, "zebra")))

    assert best == store.suggest_ids(name)[0]


def test_at_most_three_similar_ids_are_suggested(store: Store) -> None:
    put(store, *(record(f"doc{n:03}") for n in range(100)))

    assert ["doc012", "doc022"] == store.suggest_ids("doc0122")[:2]
    assert 3 == len(store.suggest_ids("doc0122"))
    assert [] == store.suggest_ids("zebra") == store.suggest_ids("\udcff")


def test_a_path_on_windows_has_its_separator_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise, the documents of a folder below the root are not recognised as such."""
    monkeypatch.setattr("simdoc_search.stores.record.os", SimpleNamespace(sep="\\", path=ntpath))

    assert "C:\\docs\\2021\\a.txt" == file_path("C:\\docs", "p/", "p/2021/a.txt")
