"""`index --watch` updates the store shortly after a file changes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from simdoc_search import open_store
from simdoc_search.corpus import FileSource, changed_files
from simdoc_search.indexing.pruning import find_vanished_documents_at
from tests.support.archives import packed_zip
from tests.support.cli import environment, output, run, usage_error, words, write
from tests.support.slow_cases import slow_after

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")

pytest.importorskip("watchfiles")


class Watched:
    """A folder, its store, and the process that watches the folder."""

    def __init__(self, folder: Path, *options: str, named: str | None = None) -> None:
        self.folder, self.store = folder, folder.parent / "store"
        paths = [named or str(folder), "--store", str(self.store)]
        command = [sys.executable, "-u", "-m", "simdoc_search", "index", *paths]
        self.process = subprocess.Popen(
            [*command, "--watch", "--workers", "1", *options],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment(), cwd=folder.parent,
        )  # fmt: skip
        self.lines: list[str] = []
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()
        wait_for(lambda: any(line.startswith("watching ") for line in self.lines))

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line.rstrip())

    def ids(self) -> set[str]:
        """Return the ids that are in the store now."""
        with open_store(self.store) as store:
            return {record.id for record in store.scan()}

    def interrupt(self) -> int:
        """Press Ctrl-C, and return the exit status."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(20)
        self._reading.join(5)
        return code


def wait_for(holds: Callable[[], bool], seconds: float = 30) -> None:
    """Wait until a condition holds. The time limit is long enough for a busy machine."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture(params=slow_after(1, ["./docs", None]), ids=["relative", "absolute"])
def watched(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Watched]:
    """A folder with one document, watched with --prune under a relative or an absolute path."""
    found = Watched(write(tmp_path / "docs", {"a.txt": words(0, 50)}), "--prune", named=request.param)
    yield found
    if found.process.poll() is None:
        found.process.kill()
        found.process.wait()
    if found.process.stdout:
        found._reading.join(5)
        found.process.stdout.close()


def test_changes_are_indexed(watched: Watched) -> None:
    assert {"a.txt"} == watched.ids()

    write(watched.folder, {"b.txt": words(100, 150), "new/c.txt": words(200, 250)})
    wait_for(lambda: {"a.txt", "b.txt", "new/c.txt"} == watched.ids())
    (watched.folder / "b.txt").rename(watched.folder / "new" / "d.txt")
    write(watched.folder, {"a.txt": words(0, 60)})
    wait_for(lambda: {"a.txt", "new/c.txt", "new/d.txt"} == watched.ids())
    wait_for(lambda: words(0, 60) == output("show", "a", "--text-only", "--store", watched.store))
    (watched.folder / "new").rename(watched.folder.parent / "elsewhere")
    wait_for(lambda: {"a.txt"} == watched.ids())

    assert 0 == watched.interrupt()
    assert "stopped watching" == watched.lines[-1]
    assert [] == [line for line in watched.lines if "not found" in line]


@pytest.mark.slow
def test_moved_files_and_folders_are_followed_without_prune(tmp_path: Path) -> None:
    """The document at the old path of a moved file is removed. That of a deleted file is kept."""
    files: dict[str, str | bytes] = {
        "a.txt": words(0, 50),
        "old/b.txt": words(100, 150),
        "old/c.txt": words(200, 250),
        "d.txt": words(300, 350),
    }
    watched = Watched(write(tmp_path / "docs", files))
    (watched.folder / "d.txt").unlink()
    (watched.folder / "a.txt").rename(watched.folder / "renamed.txt")
    wait_for(lambda: {"renamed.txt", "old/b.txt", "old/c.txt", "d.txt"} == watched.ids())
    (watched.folder / "old").rename(watched.folder / "new")
    wait_for(lambda: {"renamed.txt", "new/b.txt", "new/c.txt", "d.txt"} == watched.ids())

    assert 0 == watched.interrupt()
    assert "1 moved or renamed file was recognised by content" in watched.lines
    assert watched.process.stdout
    watched.process.stdout.close()


@pytest.mark.slow
def test_another_writer_is_waited_for(watched: Watched) -> None:
    with open_store(watched.store) as store, store.writer():
        write(watched.folder, {"b.txt": words(100, 150)})
        wait_for(lambda: any("retrying" in line for line in watched.lines))
        time.sleep(1)
    wait_for(lambda: {"a.txt", "b.txt"} == watched.ids())

    assert 1 == sum("retrying" in line for line in watched.lines)


@pytest.mark.slow
def test_temporary_files_of_editors_are_not_indexed(watched: Watched) -> None:
    noise = {
        ".a.txt.swp": "x y",
        "a.txt~": "x y",
        "~$a.docx": "x y",
        "#a.txt#": "x y",
        ".git/x": "x y",
        "s/simdoc.json": "{}",
    }
    write(watched.folder, {**noise, "s/index/y.txt": "x y z"})
    write(watched.folder, {".new": words(0, 70)})
    (watched.folder / ".new").replace(watched.folder / "a.txt")
    wait_for(lambda: words(0, 70) == output("show", "a", "--text-only", "--store", watched.store))

    assert {"a.txt"} == watched.ids()


@pytest.mark.slow
def test_real_files_with_similar_names_are_indexed(watched: Watched) -> None:
    names = ["#1 list.txt", "sedatives", "4913", "~$5 a day.txt", "a.swp"]
    write(watched.folder, {name: words(at, at + 60) for at, name in enumerate(names)})
    wait_for(lambda: {"a.txt", *names} == watched.ids())


@pytest.mark.slow
def test_a_folder_that_vanishes_ends_the_command_and_keeps_its_documents(watched: Watched) -> None:
    watched.folder.rename(watched.folder.parent / "away")

    assert 1 == watched.process.wait(30)
    wait_for(lambda: "docs no longer exists; its documents are kept" in " ".join(watched.lines))
    assert {"a.txt"} == watched.ids()


def test_only_folders_are_watched(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "x"})

    assert "--watch needs folders" in usage_error(run("index", tmp_path / "a.txt", "--watch"))
    assert "--watch needs folders" in usage_error(run("index", "-", "--watch"))


# --- the functions behind it ---


def test_changed_files_are_those_that_a_whole_run_would_read(tmp_path: Path) -> None:
    write(tmp_path, {"docs/a.txt": "a", "docs/b/c.txt": "c", "docs/.h/x.txt": "x", "out/secret.txt": "s"})
    root = tmp_path / "docs"
    (root / "link").symlink_to(tmp_path / "out")
    (root / "file.txt").symlink_to(tmp_path / "out" / "secret.txt")
    names = ["a.txt", "b", ".h/x.txt", "link/secret.txt", "file.txt", "gone.txt", "../out/secret.txt"]
    found = list(changed_files(root, [str(root / name) for name in names]))

    assert ["a.txt", "b/c.txt"] == [source.id for source in found if isinstance(source, FileSource)]
    assert 2 == len(found)
    assert ["link/secret.txt"] == [
        source.id
        for source in changed_files(root, [str(root / "link/secret.txt")], follow_links=True)
        if isinstance(source, FileSource)
    ]


def test_documents_of_deleted_files_are_removed_unless_they_are_many(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"many/{number}.txt": words(number, number + 9) for number in range(20)}
    files |= {"a.zip": packed_zip({"x.txt": words(300, 350)}), "b/c.txt": words(400, 450)}
    root = write(tmp_path / "docs", files)
    output("index", root, "--archives", "--store", tmp_path / "store")
    with open_store(tmp_path / "store") as store:
        assert [] == find_vanished_documents_at(store, root, [str(root / "a.zip"), str(root / "b")]).ids
        (root / "a.zip").unlink()
        (root / "b" / "c.txt").unlink()
        (root / "b").rmdir()
        for number in range(20):
            (root / "many" / f"{number}.txt").unlink()
        many = [str(root / "many" / f"{number}.txt") for number in range(20)]

        assert {"a.zip!x.txt", "b/c.txt"} == set(
            find_vanished_documents_at(store, root, [str(root / "a.zip"), str(root / "b")]).ids
        )
        assert [] == find_vanished_documents_at(store, root, many).ids
        assert "more than half of the 22" in find_vanished_documents_at(store, root, many).problems[0]
        assert 20 == len(find_vanished_documents_at(store, root, many, prune_all=True).ids)
