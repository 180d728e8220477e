"""What only a store in a folder can do, or suffer."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from simdoc_search.analysis.settings import Analysis
from simdoc_search.errors import FormatMismatchError, StoreError, StoreLockedError, StoreNotFoundError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import open_store
from tests.support.stores import ids, plain, put, record
from tests.support.users import ordinary_user

# --- a store in a folder ---


def test_a_folder_is_opened_again_with_what_it_holds(tmp_path: Path) -> None:
    """Settings, the choice about texts and the records are there after closing; a file: URL names it as well."""
    asked = Settings(Analysis(shingle_size=3))
    with closing(open_store(tmp_path / "a b", asked, create=True, store_texts=False)) as store:
        put(store, record("a", text="words"))
    for place in (tmp_path / "a b", f"file:{tmp_path}/a b", (tmp_path / "a b").as_uri()):
        with closing(open_store(place)) as store:
            assert (asked, ["a"]) == (store.settings, ids(store))
            assert plain(record("a")) == plain(store.get("a", text=True))


def test_info_counts_documents_and_bytes(tmp_path: Path) -> None:
    """info gives the place, the number of documents, the bytes on disk and the settings."""
    with closing(open_store(tmp_path / "s", create=True)) as store:
        put(store, record("a", text="words"), record("b"))
        info = store.info()

    assert (str(tmp_path / "s"), 2, Settings()) == (info.location, info.documents, info.settings)
    assert sum(each.stat().st_size for each in (tmp_path / "s").rglob("*") if each.is_file()) == info.bytes


def rubbish(folder: Path) -> list[Path]:
    """The files that belong to no segment of the index."""
    segments = json.loads((folder / "index" / "meta.json").read_text())["segments"]
    names = {each["segment_id"].replace("-", "") for each in segments} | {"meta", "simdoc", ""}
    return [each for each in (folder / "index").iterdir() if each.name.split(".")[0] not in names]


def test_no_file_stays_that_the_index_does_not_need(tmp_path: Path) -> None:
    """After merges, deletions and several writers that were opened before each other's work, no rubbish is left."""
    first, second = open_store(tmp_path / "s", create=True), open_store(tmp_path / "s")
    with closing(first), closing(second):
        for store in (second, first, second):
            with store.writer() as writer:
                for n in range(10):
                    writer.put([record(f"{n}")])
                    writer.commit()
        assert 10 == first.info().documents == second.info().documents
        with first.writer():
            pass  # a merge that ends while a reader opens the index leaves its files to the next writer
        assert [] == rubbish(tmp_path / "s")


def test_a_missing_store_is_made_only_if_asked_for(tmp_path: Path) -> None:
    """Without create nothing is made; the error says how to make a store."""
    for place in (tmp_path / "missing", tmp_path):
        with pytest.raises(StoreNotFoundError, match=r"no store at .*simdoc-search index FOLDER --store"):
            open_store(place)

    assert [] == list(tmp_path.iterdir())


def test_a_place_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    """A file, or a folder with other things in it, is refused even with create, and not written to."""
    file = tmp_path / "file.txt"
    file.write_text("mine")
    for create in (False, True):
        with pytest.raises(StoreError, match="is a file and not a store"):
            open_store(file, create=create)
        with pytest.raises(StoreError, match="is a folder with other things in it and not a store"):
            open_store(tmp_path, create=create)
    with pytest.raises(StoreError, match="cannot open the store"):
        open_store(file / "below", create=True)

    assert ([file], "mine") == (list(tmp_path.iterdir()), file.read_text())


def test_other_settings_are_refused_and_shown(tmp_path: Path) -> None:
    """The error names each setting that differs, with both values."""
    open_store(tmp_path / "s", create=True).close()
    asked = Settings(Analysis(shingle_size=3, profile="lowercase"))

    with pytest.raises(FormatMismatchError) as error:
        open_store(tmp_path / "s", asked, create=True)
    assert "analysis.profile 'nfkc_cf', not 'lowercase'; analysis.shingle_size 5, not 3" in str(error.value)
    assert (Settings().to_dict(), asked.to_dict()) == (error.value.found, error.value.expected)


@pytest.mark.parametrize("content", ["{", "", "[]", "7", "{}"])
def test_damaged_settings_are_one_sentence(tmp_path: Path, content: str) -> None:
    """A settings file that is no settings file is named with its fault."""
    open_store(tmp_path / "s", create=True).close()
    (tmp_path / "s" / "simdoc.json").write_text(content)

    with pytest.raises(StoreError, match=r"settings of the store .* are damaged \(simdoc.json: "):
        open_store(tmp_path / "s", create=True)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    """A store of a later version is not touched."""
    open_store(tmp_path / "s", create=True).close()
    file = tmp_path / "s" / "simdoc.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "version": 99}))

    with pytest.raises(FormatMismatchError, match="99"):
        open_store(tmp_path / "s", create=True)


@pytest.mark.parametrize("left", [[], [".simdoc.json.tmp"], ["simdoc.json"], ["simdoc.json", "index"]])
def test_a_store_whose_making_was_interrupted_is_completed(tmp_path: Path, left: list[str]) -> None:
    """Whatever step the making of a store came to, making it again completes it."""
    open_store(tmp_path / "whole", create=True).close()
    (tmp_path / "s").mkdir()
    for name in left:
        if name == "index":
            (tmp_path / "s" / name).mkdir()
        else:
            shutil.copy(tmp_path / "whole" / "simdoc.json", tmp_path / "s" / name)
    with closing(open_store(tmp_path / "s", create=True)) as store:
        put(store, record("a"))

        assert ["a"] == ids(store)


@pytest.mark.parametrize("damage", ["meta.json gone", "meta.json cut", "store gone", "term cut", "all gone"])
def test_a_damaged_index_is_one_sentence(tmp_path: Path, damage: str) -> None:
    """Missing or cut files of the index are an error, never an empty store and never another exception."""
    with closing(open_store(tmp_path / "s", create=True)) as store:
        put(store, *(record(f"{n}", [n], text="words") for n in range(100)))
    index = tmp_path / "s" / "index"
    name, how = damage.split()
    for file in list(index.glob({"all": "*", "meta.json": "meta.json"}.get(name, f"*.{name}"))):
        if how == "gone":
            file.unlink()
        else:
            content = file.read_bytes()
            file.unlink()  # a cut in place would be a bus error for whoever still has the file mapped
            file.write_bytes(content[:-9])

    for create in (False, name != "all"):  # where all is gone, create begins anew
        with pytest.raises(StoreError, match="damaged"):
            open_store(tmp_path / "s", create=create)


def test_an_index_that_vanishes_under_an_open_store_is_an_error(tmp_path: Path) -> None:
    """Reading and writing say that the files are gone."""
    with closing(open_store(tmp_path / "s", create=True)) as store:
        put(store, record("a"))
        shutil.rmtree(tmp_path / "s" / "index")

        with pytest.raises(StoreError, match="damaged or missing"):
            store.get("a")
        with pytest.raises(StoreError, match="damaged or missing"):
            put(store, record("b"))


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_missing_permission_is_one_sentence(tmp_path: Path) -> None:
    """A store that may not be read, or a place that may not be written to, is an error that says so."""
    open_store(tmp_path / "s", create=True).close()
    (tmp_path / "s").chmod(0)
    with ordinary_user():
        for create in (False, True):
            with pytest.raises(StoreError, match=r"cannot open the store .*: Permission denied"):
                open_store(tmp_path / "s", create=create)
    (tmp_path / "s").chmod(0o700)
    tmp_path.chmod(0o500)
    with ordinary_user(), pytest.raises(StoreError, match=r"cannot open the store .*: Permission denied"):
        open_store(tmp_path / "new", create=True)
    tmp_path.chmod(0o700)


# --- other processes ---

IMPORTS = """
import sys
import numpy as np
from simdoc_search.errors import SimdocError
from simdoc_search.stores import open_store
from simdoc_search.stores.record import Record
def records(start, stop):
    return [Record(f"{n:06}", np.arange(n % 50, n % 50 + 64, dtype=np.uint32), 9, "", {}, "words " * 20)
            for n in range(start, stop)]
"""


@contextmanager
def python(code: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A Python process that runs this code after IMPORTS."""
    command = [sys.executable, "-c", IMPORTS + code, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_writer_in_another_process_is_seen_and_does_not_disturb_readers(tmp_path: Path) -> None:
    """While another process writes, a second writer is refused and readers read; then both go on."""
    code = """
with open_store(sys.argv[1]).writer() as writer:
    writer.put(records(0, 5))
    print("locked", flush=True)
    sys.stdin.readline()
print("done", flush=True)
"""
    with closing(open_store(tmp_path / "s", create=True)) as store, python(code, tmp_path / "s") as other:
        assert "locked" == line(other)
        with pytest.raises(StoreLockedError, match="another writer is writing"):
            put(store, record("a"))
        assert [] == ids(store)

        assert other.stdin is not None
        other.stdin.write("\n")
        other.stdin.flush()
        assert "done" == line(other)
        put(store, record("a"))

        assert [f"{n:06}" for n in range(5)] + ["a"] == ids(store)


@pytest.mark.slow
def test_kill_9_loses_nothing_committed_and_doubles_nothing(tmp_path: Path) -> None:
    """After the writer was killed amid its work the store holds whole commits only, and writing goes on."""
    code = """
with open_store(sys.argv[1], create=True).writer() as writer:
    for start in range(0, 10**6, 100):
        writer.put(records(start, start + 100))
        writer.commit()
        print(start + 100, flush=True)
"""
    with python(code, tmp_path / "s") as other:
        committed = [int(line(other)) for _ in range(20)][-1]
        other.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        other.wait()
    with closing(open_store(tmp_path / "s")) as store:
        kept = ids(store)
        assert len(kept) >= committed
        assert [f"{n:06}" for n in range(len(kept) // 100 * 100)] == kept

        put(store, replace(record("000000"), shingles=77), record("new"))
        assert [*kept, "new"] == ids(store)
        assert len(kept) + 1 == store.info().documents
        assert 77 == store.get("000000").shingles  # type: ignore[union-attr]
        assert [] == rubbish(tmp_path / "s")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit of file sizes")
def test_a_full_disk_is_one_sentence_and_keeps_what_was_committed(tmp_path: Path) -> None:
    """When files cannot grow, writing fails with a StoreError; later, with room, it goes on."""
    code = """
import resource
sys.dont_write_bytecode = True  # half of a module's bytecode would break every process after this one
store = open_store(sys.argv[1], create=True)
with store.writer() as writer:
    writer.put(records(0, 10))
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
try:
    with store.writer() as writer:
        writer.put(records(0, 3000))
except SimdocError as error:
    print(type(error).__name__, error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(store.info().documents)
with store.writer() as writer:
    writer.put(records(0, 20))
print(store.info().documents, flush=True)
"""
    with python(code, tmp_path / "s") as other:
        assert "StoreError" == line(other).split()[0]
        assert ["10", "20"] == [line(other), line(other)]


def test_without_tantivy_the_error_names_the_extra(tmp_path: Path) -> None:
    """Importing the stores needs no tantivy; opening one says what to install."""
    code = """
sys.modules["tantivy"] = None
try:
    open_store(sys.argv[1], create=True)
except SimdocError as error:
    print(type(error).__name__, error, flush=True)
"""
    with python(code, tmp_path / "s") as other:
        assert "MissingExtraError" in (said := line(other))
        assert "pip install 'simdoc-search[local]'" in said
