"""A backup is a complete and verified copy of one commit, even if the store is written or the process is killed."""

from __future__ import annotations

import os
import shutil
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
from simdoc_search.stores.local.integrity import find_damage
from tests.support.cli import answer, run
from tests.support.slow_cases import slow_after
from tests.support.store_damage import content, flip
from tests.support.stores import ids, put, record

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


def test_a_backup_is_a_store_like_any_other(intact_store: Path, tmp_path: Path) -> None:

    expected = content(intact_store)

    assert len(expected) == backup_store(intact_store, tmp_path / "b")
    assert [] == list(find_damage(tmp_path / "b"))
    assert expected == content(tmp_path / "b")
    with closing(open_store(tmp_path / "b")) as copy:
        put(copy, record("new"))
    assert "new" in content(tmp_path / "b")
    assert expected == content(intact_store)
    if os.name != "nt":
        assert 0o700 == (tmp_path / "b").stat().st_mode & 0o777


@posix_only
@pytest.mark.slow
def test_a_backup_during_writes_is_one_commit(tmp_path: Path) -> None:
    """It has all documents up to some number, including those that were committed before it began."""
    with python(WRITE, tmp_path / "s") as other:
        assert other.stdout is not None
        for _ in range(30):
            committed = int(other.stdout.readline())
        for turn in range(8):
            target = tmp_path / f"b{turn}"
            backup_store(tmp_path / "s", target)
            assert [] == list(find_damage(target))
            kept = ids(open_store(target))

            assert len(kept) > committed
            assert [f"{n:06}" for n in range(len(kept))] == kept


@posix_only
@pytest.mark.parametrize("delay", slow_after(0, [0.03, 0.0, 0.01, 0.06, 0.1, 0.2]))
def test_a_killed_backup_leaves_nothing_under_the_final_name(intact_store: Path, tmp_path: Path, delay: float) -> None:
    with python(BACKUP, intact_store, tmp_path / "b") as other:
        assert other.stdout is not None
        other.stdout.readline()
        time.sleep(delay)
        other.send_signal(signal.SIGKILL)
        other.wait()
    if not (tmp_path / "b").exists():
        backup_store(intact_store, tmp_path / "b")
    assert content(intact_store) == content(tmp_path / "b")


def test_a_damaged_store_is_not_backed_up(intact_store: Path, tmp_path: Path) -> None:
    store = Path(shutil.copytree(intact_store, tmp_path / "s"))
    flip(next((store / "index").glob("*.term")), 50 * 8)

    with pytest.raises(StoreError, match=r"\.term of the index is damaged: .*`simdoc-search repair`"):
        backup_store(store, tmp_path / "b")
    assert [store] == list(tmp_path.iterdir())


def test_the_command_backup_copies_a_store_and_never_overwrites(intact_store: Path, tmp_path: Path) -> None:

    count = len(content(intact_store))

    assert f"{count} documents copied to {tmp_path / 'b'}\n" == run("backup", intact_store, tmp_path / "b").stdout
    assert " kB" in run("backup", intact_store, tmp_path / "d", FORCE_COLOR="1").stderr, "no bar on a terminal"
    assert " kB" not in run("backup", intact_store, tmp_path / "e", "--json", FORCE_COLOR="1").stderr
    assert {"store": str(tmp_path / "c"), "document_count": count} == answer("backup", intact_store, tmp_path / "c")
    assert "already exists and is not an empty folder" in run("backup", intact_store, tmp_path / "b").stderr
