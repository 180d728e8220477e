"""Bit rot: whatever flips or is lost in a store is noticed, and what can be read is saved, bit for bit."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.errors import DocumentError, StoreError, StoreNotFoundError
from simdoc_search.query.plans import Threshold
from simdoc_search.sketch.concepts import Concepts
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import open_store
from simdoc_search.stores.local.integrity import check_store
from simdoc_search.stores.local.repair import Repaired, repair_store
from simdoc_search.workers import iterate_in_subprocess
from tests.support.damage import content, flip
from tests.support.often import first
from tests.support.stores import plain, put, record, tokens


@pytest.fixture(scope="module")
def expected(whole: Path) -> dict[str, Any]:
    """All that it says of its documents, by id."""
    return content(whole)


SEEDS = 40


def files(folder: Path) -> list[Path]:
    """The files of a store that have a content, in an order of their own."""
    segments = json.loads((folder / "index" / "meta.json").read_bytes())["segments"]
    order = [each["segment_id"].replace("-", "") for each in segments]
    found = [each for each in folder.rglob("*") if each.is_file() and each.stat().st_size]
    return sorted(
        found, key=lambda each: (each.suffix, order.index(each.stem[:32]) if each.stem[:32] in order else -1, str(each))
    )


def test_a_whole_store_has_nothing_wrong(whole: Path) -> None:
    """Nothing is found in it, all documents are counted, and it stays as it is."""
    before = {each: each.read_bytes() for each in files(whole)}
    seen: list[tuple[int, int]] = []

    assert [] == list(check_store(whole, lambda done, total: seen.append((done, total))))
    count = len(content(whole))
    assert (count, count) == seen[-1]
    assert before == {each: each.read_bytes() for each in files(whole)}


@pytest.mark.parametrize("seed", first(3, range(SEEDS)))
def test_each_flipped_bit_is_noticed_and_what_can_be_read_is_saved(
    whole: Path, expected: dict[str, Any], tmp_path: Path, seed: int
) -> None:
    """`check` names the damage; `repair` gives every document as it was, and names each one that it does not give.

    Only the list of the files that may be deleted one day changes no answer, so `check` need not see a flip there.
    """
    shutil.copytree(whole, tmp_path / "s")
    chance = random.Random(seed)
    all_files = files(tmp_path / "s")
    file = all_files[seed % len(all_files)]
    flip(file, chance.randrange(file.stat().st_size * 8))
    found = list(check_store(tmp_path / "s"))
    repaired: Repaired | None = None
    with suppress(StoreError):
        repaired = repair_store(tmp_path / "s", tmp_path / "new")
    assert found or file.name == ".managed.json"
    if repaired is None:
        assert "meta.json" == file.name
        return
    saved = content(tmp_path / "new")
    back = {id for id in saved if id not in expected}

    assert {id: expected[id] for id in saved.keys() - back} == {id: saved[id] for id in saved.keys() - back}
    assert sorted(expected.keys() - saved.keys()) == sorted(repaired.lost)
    assert repaired.doubts or not back
    assert repaired.documents == len(saved)
    if file.suffix != ".store":
        assert [] == repaired.lost
    assert [] == list(check_store(tmp_path / "new"))


@pytest.mark.parametrize("seed", first(1, range(6)))
@pytest.mark.slow
def test_no_document_is_read_that_is_not_as_it_was_written(
    whole: Path, expected: dict[str, Any], tmp_path: Path, seed: int
) -> None:
    """Without any check a document from a damaged file is right, or an error: its text, tokens and metadata.

    Or the process ends, which happens to few: where a length asks tantivy for more memory than there is.
    """
    shutil.copytree(whole, tmp_path / "s")
    chance = random.Random(seed)
    file = chance.choice([each for each in files(tmp_path / "s") if each.suffix == ".store"])
    flip(file, chance.randrange(file.stat().st_size * 8))
    read = iterate_in_subprocess(each_document, tmp_path / "s", list(expected))
    with suppress(StoreError, DocumentError):
        for id, document in read:
            assert expected[id] == document


def each_document(folder: Path, wanted: list[str]) -> Iterator[tuple[str, Any]]:
    """The documents that can be read, each asked for by its id."""
    with closing(open_store(folder)) as store:
        for id in wanted:
            with suppress(StoreError):
                yield id, plain(store.get(id, text=True, passages=True, sketches=True))


@pytest.mark.slow
def test_a_document_that_would_end_the_process_is_named_and_costs_itself_alone(tmp_path: Path) -> None:
    """A length of which one bit was flipped asks for a petabyte: `check` and `repair` survive what a query does not."""
    codes = {"a": [1, 255], "b": [2, 131], "c": [3, 132]}
    with closing(open_store(tmp_path / "s", create=True)) as store:
        put(store, record("a", codes.pop("a")))
        put(store, *(record(id, each) for id, each in codes.items()))
    first_codes = bytes([0, 0, 1, 0, 0, 255])
    file = next(each for each in files(tmp_path / "s") if each.suffix == ".store" and first_codes in each.read_bytes())
    flip(file, (file.read_bytes().index(first_codes) - 1) * 8 + 7)  # the number of bytes goes on

    with pytest.raises(DocumentError, match="ended unexpectedly"):
        list(iterate_in_subprocess(each_document, tmp_path / "s", ["a"]))
    found = {each.place: each.problem for each in check_store(tmp_path / "s")}
    assert {f"index/{file.name}", "a"} == found.keys()
    repaired = repair_store(tmp_path / "s", tmp_path / "new")
    assert (2, ["a"]) == (repaired.documents, repaired.lost)
    assert {"b", "c"} == content(tmp_path / "new").keys()


def test_a_query_that_meets_a_damaged_document_says_so(tmp_path: Path) -> None:
    """Its tokens are not compared: the document is named, and so are the commands that help."""
    with closing(open_store(tmp_path / "s", create=True)) as store:
        put(store, record("a", range(100, 300)), record("b", range(100, 300)))
    file = next((tmp_path / "s" / "index").glob("*.store"))
    place = file.read_bytes().index(bytes([0, 0, 150, 0, 0, 151]))  # in the codes of the first document
    flip(file, (place + 2) * 8 + 1)
    plan = Threshold(tokens(range(100, 300)), 100, None)
    with (
        closing(open_store(tmp_path / "s")) as store,
        pytest.raises(StoreError, match=r"document '[ab]' is damaged .*simdoc-search check .*simdoc-search repair"),
    ):
        list(store.candidates(plan))


def test_a_list_of_segments_that_leaves_one_out_is_noticed_where_documents_were_replaced(
    whole: Path, tmp_path: Path
) -> None:
    """Counts that do not agree with the files are named, and no repair leaves the others out."""
    shutil.copytree(whole, tmp_path / "s")
    meta = tmp_path / "s" / "index" / "meta.json"
    values = json.loads(meta.read_bytes())
    values["segments"][0]["max_doc"] -= 7
    meta.write_text(json.dumps(values))
    found = list(check_store(tmp_path / "s"))

    assert any("as meta.json says" in each.problem for each in found)
    with pytest.raises(StoreError, match=r"meta\.json is damaged.*restore the store from a backup, or index again"):
        repair_store(tmp_path / "s", tmp_path / "new")


@pytest.mark.parametrize("kind", ["codes", "passages", "concepts"])
def test_an_index_that_does_not_fit_its_documents_is_noticed(tmp_path: Path, kind: str) -> None:
    """Files that are whole, but of another index, are no match for the documents: each is asked for, of all tokens."""
    for name, codes in (("s", range(300)), ("other", range(1000, 1300))):
        settings = Settings(concepts=Concepts()) if kind == "concepts" else None
        with closing(open_store(tmp_path / name, settings, create=True)) as store:
            sketches: dict[str, Any] = {kind: codes}
            put(store, *(record(id, **sketches) for id in ("a", "b")))
    mine, other = (next((tmp_path / name / "index").glob("*.term")) for name in ("s", "other"))
    for part in ("term", "idx", "pos", "fieldnorm", "fast"):
        shutil.copy(other.with_suffix(f".{part}"), mine.with_suffix(f".{part}"))
    found = list(check_store(tmp_path / "s"))

    assert {"a", "b", mine.stem} == {each.place for each in found}
    assert {"the index does not find it by its fingerprint"} == {
        each.problem for each in found if each.place in {"a", "b"}
    }
    repair_store(tmp_path / "s", tmp_path / "new")
    assert [] == list(check_store(tmp_path / "new"))


@pytest.mark.parametrize("gone", first(4, ["simdoc.json", "*.term", "*.del", "*.fast", ".managed.json"]))
def test_files_that_are_gone_are_named_and_made_up_for(whole: Path, tmp_path: Path, gone: str) -> None:
    """Nothing is lost with any file but those of the documents; deleted documents may be back, which is said."""
    shutil.copytree(whole, tmp_path / "s")
    for file in list((tmp_path / "s" / "index").glob(gone)):
        file.unlink()
    found = list(check_store(tmp_path / "s"))
    repaired = repair_store(tmp_path / "s", tmp_path / "new")

    assert [] != found
    assert [] == repaired.lost
    assert content(whole).items() <= content(tmp_path / "new").items()
    assert (gone == "*.del") == bool(repaired.doubts)


@pytest.mark.parametrize("gone", ["meta.json", "*.store"])
def test_without_the_list_of_segments_or_the_documents_there_is_no_repair(
    whole: Path, tmp_path: Path, gone: str
) -> None:
    """It is said what helps then."""
    shutil.copytree(whole, tmp_path / "s")
    for file in list((tmp_path / "s" / "index").glob(gone)):
        file.unlink()

    assert [] != list(check_store(tmp_path / "s"))
    with pytest.raises(StoreError, match="restore the store from a backup, or index again"):
        repair_store(tmp_path / "s", tmp_path / "new")


def test_the_settings_survive_in_their_copy(whole: Path, tmp_path: Path) -> None:
    """One of the two settings files is enough to repair a store; without both it is an error."""
    shutil.copytree(whole, tmp_path / "s")
    (tmp_path / "s" / "simdoc.json").write_text("{")
    repair_store(tmp_path / "s", tmp_path / "new")

    assert content(whole) == content(tmp_path / "new")

    (tmp_path / "s" / "index" / "simdoc.json").unlink()
    with pytest.raises(StoreError, match="no settings of a store can be read"):
        repair_store(tmp_path / "s", tmp_path / "newer")
    assert not (tmp_path / "newer").exists()


def test_what_is_no_store_is_neither_checked_nor_repaired(tmp_path: Path) -> None:
    """A folder of other things, or none, is an error, and nothing is made."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    with pytest.raises(StoreNotFoundError):
        list(check_store(tmp_path / "missing"))
    for name in ("mine", "missing"):
        with pytest.raises(StoreError):
            list(check_store(tmp_path / name))
        with pytest.raises(StoreError):
            repair_store(tmp_path / name, tmp_path / "new")

    assert ["mine"] == [each.name for each in tmp_path.iterdir()]


def test_a_repair_never_writes_over_something(whole: Path, tmp_path: Path) -> None:
    """A folder that is not empty is left alone; an empty one is used, with its permissions."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    (tmp_path / "empty").mkdir(mode=0o750)
    (tmp_path / "empty").chmod(0o750)
    with pytest.raises(StoreError, match="exists already; name a new folder"):
        repair_store(whole, tmp_path / "full")
    repair_store(whole, tmp_path / "empty")

    assert content(whole) == content(tmp_path / "empty")
    if os.name != "nt":
        assert 0o750 == (tmp_path / "empty").stat().st_mode & 0o777
    assert {"full", "empty"} == {each.name for each in tmp_path.iterdir()}
