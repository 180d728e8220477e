"""A backup is one commit, complete and verified, whatever happens meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from simdoc_search.errors import StoreError
from simdoc_search.stores import open_store
from simdoc_search.stores.local.backup import backup_store
from simdoc_search.stores.local.integrity import check_store
from tests.support.cli import answer, run
from tests.support.often import first
from tests.support.stores import ids, plain, put, record

posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows ends processes otherwise")

WRITE = """
import sys
from simdoc_search.stores import open_store
from tests.support.stores import record
with open_store(sys.argv[1], create=True).writer() as writer:
    for n in range(10**6):
        writer.put([record(f"{n:06}", range(60), text="words " * 50)])
        writer.commit()
        print(n, flush=True)
"""
BACKUP = """
import sys
from pathlib import Path
from simdoc_search.stores.local.backup import backup_store
print("begin", flush=True)
backup_store(Path(sys.argv[1]), Path(sys.argv[2]))
"""


@contextmanager
def python(code: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Run Python code in a process that is killed at the end."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def make(folder: Path) -> Path:
    """Make a store of some segments, with a deleted document."""
    with closing(open_store(folder, create=True)) as store:
        for part in range(3):
            put(store, *(record(f"{part}-{n}", [n, n + 1, part + 500], text="words " * 20) for n in range(20)))
        with store.writer() as writer:
            writer.delete(["1-3"])
    return folder


def test_a_backup_is_a_store_like_any_other(tmp_path: Path) -> None:
    source = make(tmp_path / "s")

    assert 59 == backup_store(source, tmp_path / "b")
    assert [] == list(check_store(tmp_path / "b"))
    with closing(open_store(source)) as store, closing(open_store(tmp_path / "b")) as copy:
        read = [{each.id: plain(each) for each in one.scan(text=True)} for one in (store, copy)]
        assert read[0] == read[1]
        put(copy, record("new"))
        assert "new" in ids(copy)
        assert "new" not in ids(store)
    if os.name != "nt":
        assert 0o700 == (tmp_path / "b").stat().st_mode & 0o777


@posix_only
@pytest.mark.slow
def test_a_backup_during_writes_is_one_commit(tmp_path: Path) -> None:
    """It has all documents up to some number, at least those that were committed before."""
    with python(WRITE, tmp_path / "s") as other:
        assert other.stdout is not None
        for _ in range(30):
            committed = int(other.stdout.readline())
        for turn in range(8):
            target = tmp_path / f"b{turn}"
            backup_store(tmp_path / "s", target)
            assert [] == list(check_store(target))
            kept = ids(open_store(target))

            assert len(kept) > committed
            assert [f"{n:06}" for n in range(len(kept))] == kept


@posix_only
@pytest.mark.parametrize("delay", first(1, [0.03, 0.0, 0.01, 0.06, 0.1, 0.2]))
def test_a_killed_backup_leaves_nothing_under_the_final_name(tmp_path: Path, delay: float) -> None:
    source = make(tmp_path / "s")
    with python(BACKUP, source, tmp_path / "b") as other:
        assert other.stdout is not None
        other.stdout.readline()
        time.sleep(delay)
        other.send_signal(signal.SIGKILL)
        other.wait()
    if (tmp_path / "b").exists():
        assert [] == list(check_store(tmp_path / "b"))
        assert ids(open_store(source)) == ids(open_store(tmp_path / "b"))
    else:
        assert 59 == backup_store(source, tmp_path / "b")


def test_a_damaged_store_is_not_backed_up(tmp_path: Path) -> None:
    source = make(tmp_path / "s")
    file = next((source / "index").glob("*.term"))
    content = bytearray(file.read_bytes())
    content[50] ^= 1
    file.unlink()
    file.write_bytes(bytes(content))

    with pytest.raises(StoreError, match=r"\.term of the store is damaged: .*simdoc-search repair"):
        backup_store(source, tmp_path / "b")
    assert ["s"] == [each.name for each in tmp_path.iterdir()]


def test_the_command_backup_copies_a_store_and_never_overwrites(tmp_path: Path) -> None:
    source = make(tmp_path / "s")

    assert f"59 documents copied to {tmp_path / 'b'}\n" == run("backup", source, tmp_path / "b").stdout
    assert " kB" in run("backup", source, tmp_path / "d", FORCE_COLOR="1").stderr, "no bar on a terminal"
    assert " kB" not in run("backup", source, tmp_path / "e", "--json", FORCE_COLOR="1").stderr
    assert {"store": str(tmp_path / "c"), "documents": 59} == answer("backup", source, tmp_path / "c")
    assert "exists already; name a new folder" in run("backup", source, tmp_path / "b").stderr
