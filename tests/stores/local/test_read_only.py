"""A read-only store can be read, and committed documents are durable."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from simdoc_search.errors import StoreError
from simdoc_search.stores import open_store
from simdoc_search.stores.local.integrity import find_damage
from simdoc_search.stores.local.repair import repair_store
from tests.support.stores import ids, put, record
from tests.support.users import ordinary_user

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")


def set_permissions(folder: Path, *, writable: bool = False) -> None:
    """Let all users read a folder. If `writable`, its owner may write to it."""
    for path in [folder, *folder.rglob("*")]:
        path.chmod((0o755 if writable else 0o555) if path.is_dir() else (0o644 if writable else 0o444))


@pytest.fixture
def store_path() -> Iterator[Path]:
    """A path that other users can access. They cannot access the folders of pytest."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name) / "s"
        if (Path(name) / "s").exists():
            set_permissions(Path(name) / "s", writable=True)


@pytest.mark.parametrize("lock_files", [True, False])
def test_a_read_only_store_is_read_and_checked_without_writing_a_file(store_path: Path, lock_files: bool) -> None:
    with closing(open_store(store_path, create=True)) as store:
        put(store, record("a", text="words"), record("b"))
    if not lock_files:
        for path in (store_path / "index").glob(".tantivy-*.lock"):
            path.unlink()
    set_permissions(store_path)
    # As root, a thread of tantivy that watched the index when it was opened could still create a lock file.
    with ordinary_user():
        before = sorted(path.name for path in store_path.rglob("*"))
        with closing(open_store(store_path)) as store:
            assert (["a", "b"], 2) == (ids(store), store.info().document_count)
            assert "words" == store.get("a", load={"text"}).text  # type: ignore[union-attr]
            assert [] == list(find_damage(store_path))
            with pytest.raises(StoreError, match="no permission to write to the folder"):
                put(store, record("c"))
        assert before == sorted(path.name for path in store_path.rglob("*"))


def test_a_reader_without_write_permission_sees_later_commits(store_path: Path) -> None:
    """This works even if merges remove files."""
    with closing(open_store(store_path, create=True)) as writing:
        put(writing, record("0"))
        set_permissions(store_path, writable=True)
        with ordinary_user():
            reading = open_store(store_path)
        for n in range(1, 12):
            put(writing, record(f"{n}"))
            set_permissions(store_path, writable=True)
            with ordinary_user():
                assert n + 1 == reading.info().document_count


def test_the_folder_of_links_is_removed_when_the_store_is_open(
    store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(open_store(store_path, create=True)) as store:
        put(store, record("a"))
    set_permissions(store_path)
    scratch = store_path.parent / "scratch"
    scratch.mkdir()
    scratch.chmod(0o777)
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    with ordinary_user(), closing(open_store(store_path)) as store:
        assert ["a"] == ids(store)

        assert [] == list(scratch.iterdir())


def test_a_read_only_store_is_repaired_without_its_lock(store_path: Path) -> None:
    """The store is empty, because another user may not be allowed to start the Python of the tests."""
    open_store(store_path, create=True).close()
    set_permissions(store_path)
    (store_path.parent / "targets").mkdir()
    (store_path.parent / "targets").chmod(0o777)
    with ordinary_user():
        assert 0 == repair_store(store_path, store_path.parent / "targets/new").document_count


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace to see what is synced")
def test_folders_are_synced_after_settings_and_commits(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = """
import sys
from simdoc_search.stores import open_store
from tests.support.stores import put, record
put(open_store(sys.argv[1], create=True), record("a"))
"""
    log = tmp_path / "log"
    trace = ["strace", "-f", "-y", "-o", str(log), "-e", "trace=fsync,fdatasync,rename,renameat,renameat2"]
    subprocess.run([*trace, sys.executable, "-c", code, str(tmp_path / "s")], check=True, timeout=120)
    calls = log.read_text().splitlines()

    def last(*signs: str) -> int:
        return max(n for n, call in enumerate(calls) if all(sign in call for sign in signs))

    store = str(tmp_path / "s")
    assert last("rename", f'{store}/simdoc.json"') < last("sync(", f"<{store}>)") < last("sync(", f"<{store}/index>)")
    assert last("rename", f'{store}/simdoc.json"') < last("sync(", f"<{tmp_path}>)")
    assert last("rename", f'{store}/index/meta.json"') < last("sync(", f"<{store}/index>)")
