"""How a store comes into a folder: made once, for its owner alone, and nowhere else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import open_store
from tests.support.often import first
from tests.support.stores import ids, put, record

posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions, and links need rights")

ROUNDS = 5


def modes(folder: Path) -> dict[str, int]:
    """The permissions of what lies in a folder, and of the folder itself."""
    return {
        each.relative_to(folder.parent).as_posix(): each.stat().st_mode & 0o777 for each in [folder, *folder.rglob("*")]
    }


# --- for whom ---


@posix_only
def test_a_new_store_is_for_its_owner_alone(tmp_path: Path) -> None:
    """Its folders let nobody else in, so that no file in them can be read, and its own files neither."""
    with closing(open_store(tmp_path / "new" / "s", create=True)) as store:
        put(store, record("a", text="private"))
    found = modes(tmp_path / "new" / "s")

    assert (0o700, 0o700, 0o600) == (found["s"], found["s/index"], found["s/simdoc.json"])
    assert 0o600 == found["s/index/simdoc.json"]


@posix_only
def test_a_folder_that_was_made_before_keeps_its_permissions(tmp_path: Path) -> None:
    """Whoever made the folder said who may look into it, and what is made in it says the same."""
    (tmp_path / "s").mkdir()
    (tmp_path / "s").chmod(0o750)
    open_store(tmp_path / "s", create=True).close()
    found = modes(tmp_path / "s")

    assert (0o750, 0o750, 0o640) == (found["s"], found["s/index"], found["s/simdoc.json"])


# --- links ---


@posix_only
@pytest.mark.parametrize(
    "name",
    [
        ".simdoc.json.tmp",
        ".simdoc.lock",
        "simdoc.json",
        "index",
        "index/.tantivy-meta.lock",
        "index/.tantivy-writer.lock",
        "index/simdoc.json",
        "index/meta.json",
        "index/.managed.json",
    ],
)
@pytest.mark.parametrize("existing", [True, False])
def test_a_prepared_link_changes_nothing_where_it_leads(tmp_path: Path, name: str, existing: bool) -> None:
    """A link that somebody put where a store is to be made is refused; its target is neither written nor made."""
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
def test_a_lock_that_became_a_link_is_not_followed(tmp_path: Path, name: str) -> None:
    """In a store that exists a link in the place of a lock file makes no file elsewhere."""
    open_store(tmp_path / "first", create=True).close()
    shutil.copytree(tmp_path / "first", tmp_path / "s")  # tantivy may look at the first one for a moment longer
    (tmp_path / "s" / "index" / name).unlink(missing_ok=True)
    (tmp_path / "s" / "index" / name).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StoreError, match="cannot"):
        put(open_store(tmp_path / "s"), record("a"))
    assert not (tmp_path / "elsewhere").exists()


# --- by whom ---

MAKE = """
import sys
from simdoc_search.analysis.settings import Analysis
from simdoc_search.errors import SimdocError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import open_store
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
                from tests.support.stores import record
                writer.put([record(sys.argv[3])])
            break
        except SimdocError as error:
            assert "another writer" in str(error), error
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_of_processes_that_make_one_store_all_get_the_same(tmp_path: Path, seed: int) -> None:
    """Of four at once with two settings the first decides; the others get its store or an error, and lose nothing."""
    command = [sys.executable, "-c", MAKE, str(tmp_path / "s")]
    makers = [
        subprocess.Popen([*command, str(3 + n % 2), f"d{n}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for n in range(4)
    ]
    for each in makers:
        assert each.stdout is not None
        assert "ready\n" == each.stdout.readline()
    for each in makers[seed % 4 :] + makers[: seed % 4]:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
    said = [each.communicate(timeout=120)[0].strip() for each in makers]
    with closing(open_store(tmp_path / "s")) as store:
        size = store.settings.analysis.shingle_size
        kept = ids(store)

    assert [0] * 4 == [each.returncode for each in makers]
    assert [str(size) if 3 + n % 2 == size else "FormatMismatchError" for n in range(4)] == said
    assert [f"d{n}" for n in range(4) if 3 + n % 2 == size] == kept


@posix_only
@pytest.mark.parametrize("call", first(1, range(2, 30, 4)))
def test_a_store_whose_making_was_cut_off_is_completed(tmp_path: Path, call: int) -> None:
    """Killed at any call that changes the folder, the making leaves nothing that looks like a whole store."""
    code = """
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
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "s", str(call)], check=False, timeout=60)
    if done.returncode == 0:
        assert Settings() == open_store(tmp_path / "s").settings
    with closing(open_store(tmp_path / "s", create=True)) as store:
        put(store, record("a"))

        assert ["a"] == ids(store)


# --- whose index ---


def test_the_index_of_another_store_is_not_taken_for_this_one(tmp_path: Path) -> None:
    """Settings and index of two stores, put together, are an error, for the tokens would not fit."""
    for name in ("a", "b"):
        with closing(open_store(tmp_path / name, create=True)) as store:
            put(store, record(name))
    (tmp_path / "a" / "index").rename(tmp_path / "hold")
    (tmp_path / "b" / "index").rename(tmp_path / "a" / "index")

    with pytest.raises(StoreError, match="belongs to another store"):
        open_store(tmp_path / "a")


def test_each_changed_bit_of_the_settings_is_noticed(tmp_path: Path) -> None:
    """Whichever bit of the settings file is flipped, the store is not opened with other settings."""
    open_store(tmp_path / "s", create=True).close()
    file = tmp_path / "s" / "simdoc.json"
    content = file.read_bytes()
    for bit in range(0, len(content) * 8, 3):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        file.write_bytes(bytes(damaged))
        with pytest.raises(StoreError):
            open_store(tmp_path / "s")


@pytest.mark.parametrize("missing", [["checksum"], ["id"], ["checksum", "id"]])
def test_settings_without_their_checksum_are_damaged(tmp_path: Path, missing: list[str]) -> None:
    """Only stores that were made before have none, and no copy of their settings."""
    open_store(tmp_path / "s", create=True).close()
    file = tmp_path / "s" / "simdoc.json"
    values = json.loads(file.read_text())
    file.write_text(json.dumps({key: value for key, value in values.items() if key not in missing}))

    with pytest.raises(StoreError, match="damaged"):
        open_store(tmp_path / "s")


# --- words ---


@pytest.mark.parametrize("name", ["x", "e", "NotFound", "LockBusy", "Incompatible"])
def test_a_message_does_not_depend_on_the_stores_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Neither a name that is part of the engine's words nor one that is such a word changes what is said."""
    monkeypatch.chdir(tmp_path)
    with closing(open_store(name, create=True)) as store:
        put(store, record("a"))
    for file in Path(name, "index").glob("*.store"):
        file.unlink()

    with pytest.raises(StoreError) as error:
        open_store(name)
    assert (
        f"cannot open the store {name}: its files are damaged or missing; simdoc-search check says which, "
        "simdoc-search repair saves what can be read"
    ) == str(error.value)
