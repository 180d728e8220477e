"""A store in a folder is created once, is private to its owner, can be reopened, and is never written through links."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from simdoc_search.analysis.settings import Analysis
from simdoc_search.errors import FormatMismatchError, StoreError, StoreNotFoundError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import open_store
from tests.support.slow_cases import slow_after
from tests.support.stores import comparable_values, ids, put, record
from tests.support.users import ordinary_user

posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions, and links need rights")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of one document."""
    with closing(open_store(tmp_path / "s", create=True)) as opened:
        put(opened, record("a", text="words"))
    return tmp_path / "s"


# --- opening ---


def test_a_folder_is_opened_again_with_its_settings_and_records(tmp_path: Path) -> None:
    """A `file:` URL also works."""
    settings = Settings(Analysis(shingle_size=3))
    with closing(open_store(tmp_path / "a b", settings, create=True, store_texts=False)) as store:
        put(store, record("a", text="words"))
    for place in (tmp_path / "a b", f"file:{tmp_path}/a b", (tmp_path / "a b").as_uri()):
        with closing(open_store(place)) as store:
            assert (settings, ["a"]) == (store.settings, ids(store))
            assert comparable_values(record("a")) == comparable_values(store.get("a", load={"text"}))


def unneeded(store: Path) -> list[Path]:
    """Return the files that do not belong to a segment of the index."""
    segments = json.loads((store / "index" / "meta.json").read_text())["segments"]
    names = {segment["segment_id"].replace("-", "") for segment in segments} | {"meta", "simdoc", ""}
    return [path for path in (store / "index").iterdir() if path.name.split(".")[0] not in names]


def test_no_unneeded_file_is_left(tmp_path: Path) -> None:
    """This holds after merges and deletions, and after writers that were opened at the same time."""
    one, other = open_store(tmp_path / "s", create=True), open_store(tmp_path / "s")
    with closing(one), closing(other):
        for store in (other, one, other):
            with store.writer() as writer:
                for n in range(10):
                    writer.put([record(f"{n}")])
                    writer.commit()
        assert 10 == one.info().document_count == other.info().document_count
        with one.writer():
            pass  # if a merge ends while a reader opens the index, the next writer removes its files
        assert [] == unneeded(tmp_path / "s")


def test_a_reader_sees_each_commit_of_another_writer(store: Path) -> None:
    """This also holds for documents that the reader keeps in memory."""
    with closing(open_store(store)) as reader, closing(open_store(store)) as other:
        for n in range(20):
            put(other, record("a", text=f"text {n}"))
            assert [f"text {n}"] * 2 == [found.text for _ in range(2) for found in reader.records(["a"], load={"text"})]
        with other.writer() as writer:
            writer.delete(["a"])
            writer.commit()
        assert reader.get("a") is None


def test_a_missing_store_is_created_only_on_request(tmp_path: Path) -> None:
    for place in (tmp_path / "missing", tmp_path):
        with pytest.raises(StoreNotFoundError, match=r"no index at .*simdoc-search index FOLDER --store"):
            open_store(place)

    assert [] == list(tmp_path.iterdir())


def test_a_folder_with_other_files_is_not_changed(tmp_path: Path) -> None:
    file = tmp_path / "file.txt"
    file.write_text("mine")
    for create in (False, True):
        with pytest.raises(StoreError, match="is a file, not the folder of an index"):
            open_store(file, create=create)
        with pytest.raises(StoreError, match="contains other files and is not an index"):
            open_store(tmp_path, create=create)
    with pytest.raises(StoreError, match="cannot open the index"):
        open_store(file / "below", create=True)

    assert ([file], "mine") == (list(tmp_path.iterdir()), file.read_text())


def test_other_settings_are_refused_and_shown(store: Path) -> None:
    settings = Settings(Analysis(shingle_size=3, profile="lowercase"))

    with pytest.raises(FormatMismatchError) as error:
        open_store(store, settings, create=True)
    assert "analysis.profile 'nfkc_cf', not 'lowercase'; analysis.shingle_size 5, not 3" in str(error.value)
    assert (Settings().to_dict(), settings.to_dict()) == (error.value.found, error.value.expected)


# --- damage ---


def test_each_changed_bit_of_the_settings_is_detected(store: Path) -> None:
    file = store / "simdoc.json"
    content = file.read_bytes()
    for bit in range(0, len(content) * 8, 7):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        file.write_bytes(bytes(damaged))
        with pytest.raises(StoreError):
            open_store(store)


@pytest.mark.parametrize("content", ["{", "", "[]", "{}", "without checksum", "without id"])
def test_damaged_settings_are_reported_with_one_sentence(store: Path, content: str) -> None:
    file = store / "simdoc.json"
    values = json.loads(file.read_text())
    if content.startswith("without "):
        del values[content.removeprefix("without ")]
        content = json.dumps(values)
    file.write_text(content)

    with pytest.raises(StoreError, match=r"settings of the index .* are damaged \(simdoc.json: "):
        open_store(store, create=True)


def test_the_index_of_another_store_is_not_opened(store: Path, tmp_path: Path) -> None:
    open_store(tmp_path / "other", create=True).close()
    shutil.rmtree(store / "index")
    (tmp_path / "other" / "index").rename(store / "index")

    with pytest.raises(StoreError, match="belongs to another index"):
        open_store(store)


@pytest.mark.parametrize("damage", ["meta.json gone", "meta.json cut", "store gone", "term cut", "all gone"])
def test_a_damaged_index_is_reported_with_one_sentence(tmp_path: Path, damage: str) -> None:
    """The store is never empty, and no other exception is raised."""
    with closing(open_store(tmp_path / "s", create=True)) as store:
        put(store, *(record(f"{n}", [n], text="words") for n in range(100)))
    index = tmp_path / "s" / "index"
    name, how = damage.split()
    for file in list(index.glob({"all": "*", "meta.json": "meta.json"}.get(name, f"*.{name}"))):
        content = file.read_bytes()
        file.unlink()  # truncating the file in place would cause a bus error in processes that still map it
        if how == "cut":
            file.write_bytes(content[:-9])

    for create in (False, name != "all"):  # if everything is gone, `create` makes a new store
        with pytest.raises(StoreError, match="damaged"):
            open_store(tmp_path / "s", create=create)


def test_an_index_that_vanishes_under_an_open_store_is_an_error(store: Path) -> None:
    with closing(open_store(store)) as opened:
        shutil.rmtree(store / "index")

        with pytest.raises(StoreError, match="damaged or missing"):
            opened.get("a")
        with pytest.raises(StoreError, match="damaged or missing"):
            put(opened, record("b"))


@pytest.mark.parametrize("name", ["NotFound", "LockBusy"])
def test_a_message_does_not_depend_on_the_name_of_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The name of the store may occur in messages of tantivy."""
    monkeypatch.chdir(tmp_path)
    with closing(open_store(name, create=True)) as store:
        put(store, record("a"))
    for file in Path(name, "index").glob("*.store"):
        file.unlink()

    with pytest.raises(
        StoreError, match=f"^cannot open the index {name}: some files are damaged or missing; .*-search"
    ):
        open_store(name)


# --- permissions and links ---


def modes(folder: Path) -> dict[str, int]:
    """Return the permissions of a folder and of everything in it."""
    paths = [folder, *folder.rglob("*")]
    return {path.relative_to(folder.parent).as_posix(): path.stat().st_mode & 0o777 for path in paths}


@posix_only
def test_only_its_owner_can_read_a_new_store(tmp_path: Path) -> None:
    """A folder that existed before keeps its permissions, and the files of the store get the same."""
    (tmp_path / "existing").mkdir()
    (tmp_path / "existing").chmod(0o750)
    for name in ("new", "existing"):
        open_store(tmp_path / name, create=True).close()
    new, existing = modes(tmp_path / "new"), modes(tmp_path / "existing")

    assert (0o700, 0o700, 0o600) == (new["new"], new["new/index"], new["new/simdoc.json"])
    assert 0o600 == new["new/index/simdoc.json"]
    assert (0o750, 0o750) == (existing["existing"], existing["existing/index"])
    assert 0o640 == existing["existing/simdoc.json"]


@posix_only
def test_missing_permission_is_reported_with_one_sentence(store: Path, tmp_path: Path) -> None:
    store.chmod(0)
    with ordinary_user():
        for create in (False, True):
            with pytest.raises(StoreError, match=r"cannot open the index .*: Permission denied"):
                open_store(store, create=create)
    store.chmod(0o700)
    tmp_path.chmod(0o500)
    with ordinary_user(), pytest.raises(StoreError, match=r"cannot open the index .*: Permission denied"):
        open_store(tmp_path / "new", create=True)
    tmp_path.chmod(0o700)


LINKS = [
    ".simdoc.lock",
    "simdoc.json",
    "index",
    "index/.tantivy-meta.lock",
    "index/.tantivy-writer.lock",
    "index/meta.json",
    "index/.managed.json",
]


@posix_only
@pytest.mark.parametrize("name", LINKS)
@pytest.mark.parametrize("existing", [True, False])
def test_the_target_of_a_prepared_link_is_not_changed(tmp_path: Path, name: str, existing: bool) -> None:
    """Another user may have created the link where the store will be created."""
    target = tmp_path / "target"
    if existing and name == "index":
        target.mkdir()
    elif existing:
        target.write_text("precious")
    place = tmp_path / "s" / name
    place.parent.mkdir(parents=True)
    place.symlink_to(target)

    with pytest.raises(StoreError):
        put(open_store(tmp_path / "s", create=True), record("a"))
    assert existing is target.exists()
    if existing:
        assert ([] if name == "index" else "precious") == (
            list(target.iterdir()) if target.is_dir() else target.read_text()
        )


@posix_only
@pytest.mark.parametrize("name", [".tantivy-meta.lock", ".tantivy-writer.lock"])
def test_a_lock_that_became_a_link_is_not_followed(store: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(store, tmp_path / "copy")  # tantivy may keep the first one open for a moment
    (tmp_path / "copy" / "index" / name).unlink(missing_ok=True)
    (tmp_path / "copy" / "index" / name).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StoreError, match="cannot"):
        put(open_store(tmp_path / "copy"), record("b"))
    assert not (tmp_path / "elsewhere").exists()


# --- other processes ---

MAKE = """
import sys
from simdoc_search.analysis.settings import Analysis
from simdoc_search.errors import SimdocError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import open_store
from tests.support.stores import record
print("ready", flush=True)
sys.stdin.readline()
try:
    store = open_store(sys.argv[1], Settings(Analysis(shingle_size=int(sys.argv[2]))), create=True)
except SimdocError as error:
    print(type(error).__name__, flush=True)
else:
    print(store.settings.analysis.shingle_size, flush=True)
    for _ in range(1000):
        try:
            with store.writer() as writer:
                writer.put([record(sys.argv[3])])
            break
        except SimdocError as error:
            assert "another writer" in str(error), error
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_processes_that_create_a_store_at_once_get_the_same_store(tmp_path: Path, seed: int) -> None:
    """The first of four processes determines the settings. The others get this store or an error, losing nothing."""
    command = [sys.executable, "-c", MAKE, str(tmp_path / "s")]
    makers = [
        subprocess.Popen([*command, str(3 + n % 2), f"d{n}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for n in range(4)
    ]
    for maker in makers:
        assert maker.stdout is not None
        assert "ready\n" == maker.stdout.readline()
    for maker in makers[seed:] + makers[:seed]:
        assert maker.stdin is not None
        maker.stdin.write("\n")
        maker.stdin.flush()
    outcomes = [maker.communicate(timeout=120)[0].strip() for maker in makers]
    with closing(open_store(tmp_path / "s")) as store:
        size, kept = store.settings.analysis.shingle_size, ids(store)

    assert [0] * 4 == [maker.returncode for maker in makers]
    assert [str(size) if 3 + n % 2 == size else "FormatMismatchError" for n in range(4)] == outcomes
    assert [f"d{n}" for n in range(4) if 3 + n % 2 == size] == kept


CUT_OFF = """
import os, signal, sys
left = int(sys.argv[2])
def count(event, arguments):
    global left
    if event in {"open", "os.rename", "os.mkdir", "os.chmod", "tempfile.mkstemp"} and sys.argv[1] in str(arguments):
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
from simdoc_search.stores import open_store
sys.addaudithook(count)
open_store(sys.argv[1], create=True).close()
"""


@pytest.mark.slow
@posix_only
@pytest.mark.parametrize("call", slow_after(1, range(2, 30, 4)))
def test_a_store_is_completed_if_the_process_that_created_it_was_killed(tmp_path: Path, call: int) -> None:
    """The process is killed at each call that changes the folder."""
    done = subprocess.run([sys.executable, "-c", CUT_OFF, tmp_path / "s", str(call)], check=False, timeout=60)
    if done.returncode == 0:
        assert Settings() == open_store(tmp_path / "s").settings
    with closing(open_store(tmp_path / "s", create=True)) as store:
        put(store, record("a"))

        assert ["a"] == ids(store)


WRITE = """
import sys
from simdoc_search.stores import open_store
from tests.support.stores import record
with open_store(sys.argv[1], create=True).writer() as writer:
    for start in range(0, 10**6, 100):
        writer.put(record(f"{n:06}", range(n % 50, n % 50 + 64), text="words " * 20) for n in range(start, start + 100))
        writer.commit()
        print(start + 100, flush=True)
"""


@pytest.mark.slow
def test_kill_9_neither_loses_nor_repeats_a_committed_document(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITE, str(tmp_path / "s")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        committed = [int(other.stdout.readline()) for _ in range(20)][-1]
        other.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        other.wait()
    with closing(open_store(tmp_path / "s")) as store:
        kept = ids(store)
        assert len(kept) >= committed
        assert [f"{n:06}" for n in range(len(kept) // 100 * 100)] == kept

        put(store, replace(record("000000"), shingle_count=77), record("new"))
        assert [*kept, "new"] == ids(store)
        assert 77 == store.get("000000").shingle_count  # type: ignore[union-attr]
        assert [] == unneeded(tmp_path / "s")
