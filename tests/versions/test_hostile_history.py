"""An untrusted repository cannot run programs, use much time or memory, or change the dates of other files."""

from __future__ import annotations

import hashlib
import os
import time
import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from simdoc_search.versions.history import read_commit_dates
from tests.versions.conftest import Git

posix_only = pytest.mark.skipif(os.name != "posix", reason="Windows has no such files and programs")

THEN, LATER = (2021, 3, 12, 10, 0, 0), (2023, 11, 14, 22, 13, 20)
WHO = b"A <a@example.org>"
SECONDS = 1_615_543_200


def write_object(top: Path, kind: str, data: bytes) -> str:
    """Write an object into a repository, even if git would refuse it. Returns its name."""
    whole = b"%s %d\0%s" % (kind.encode(), len(data), data)
    name = hashlib.sha1(whole).hexdigest()
    path = top / ".git" / "objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(whole, 1))
    return name


def write_tree(top: Path, **entries: tuple[str, str]) -> str:
    """Write a folder of a commit. Returns its name.

    Args:
        top: top folder of the work tree.
        entries: the mode and the object of each entry, by file name.
    """
    parts = [f"{mode} {name}".encode() + b"\0" + bytes.fromhex(of) for name, (mode, of) in sorted(entries.items())]
    return write_object(top, "tree", b"".join(parts))


def write_commit(top: Path, tree: str, date: bytes, *parents: str) -> str:
    """Write a commit with any date, and make it the current one. Returns its name."""
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    data = "\n".join(lines).encode() + b"\nauthor %s %s\ncommitter %s %s\n\nx\n" % (WHO, date, WHO, date)
    name = write_object(top, "commit", data)
    (top / ".git" / "HEAD").write_text(f"{name}\n")
    return name


def commit_all(git: Git) -> None:
    """Commit all files."""
    git("add", ".")
    git("commit", "-qm", "one")


def touch(path: Path) -> None:
    """Set a modification time after the commit."""
    os.utime(path, (1_700_000_000,) * 2)


@contextmanager
def peak_below(max_bytes: int) -> Iterator[None]:
    """Check that Python uses less memory in the block."""
    tracemalloc.start()
    try:
        yield
        assert max_bytes > tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# --- the size of a file ---


@posix_only
def test_a_file_of_another_size_is_not_read(tmp_path: Path, git: Git) -> None:
    """A sparse file of 64 GB takes no space on the disk. It has changed, because its size differs."""
    file = tmp_path / "a.txt"
    file.write_text("one")
    commit_all(git)
    with file.open("wb") as opened:
        opened.truncate(1 << 36)
    touch(file)

    with peak_below(1_000_000):
        assert [LATER] == read_commit_dates([file])


@pytest.mark.slow
def test_a_file_of_the_same_size_is_read_in_pieces(tmp_path: Path, git: Git) -> None:
    """A file may have Windows line endings, even across two pieces, or be stored by Git LFS."""
    large = b"x" * 20_000_000
    lines = (b"x" * ((1 << 20) - 1) + b"\n") * 3 + b"\r\r\nx\r"
    pointer = (
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{hashlib.sha256(large).hexdigest()}\nsize 20000000\n"
    )
    files = [tmp_path / name for name in ("same", "other", "windows", "stored")]
    for file, content in zip(files, (large, large, lines, pointer.encode()), strict=True):
        file.write_bytes(content)
    commit_all(git)
    for file, content in zip(files, (large, b"y" + large[1:], lines.replace(b"\n", b"\r\n"), large), strict=True):
        file.write_bytes(content)
        touch(file)

    with peak_below(10_000_000):
        assert [THEN, LATER, THEN, THEN] == read_commit_dates(files)


def test_a_file_whose_bytes_the_repository_lacks_has_no_date(tmp_path: Path, git: Git) -> None:
    """It is not known whether the file has changed."""
    file = tmp_path / "a.txt"
    file.write_text("one")
    commit_all(git)
    blob = git("rev-parse", "HEAD:a.txt")
    (tmp_path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()

    touch(file)
    assert [None] == read_commit_dates([file])
    os.utime(file, (0, 0))
    assert [THEN] == read_commit_dates([file])


# --- dates and names ---


@pytest.mark.parametrize(
    "date", [b"253402300800 +0000", b"1" * 5_000 + b" +0000", b"1" * 19, b"-1 +0000", b"tomorrow", b"", b"\x011 +0000"]
)
def test_an_invalid_date_of_a_commit_is_ignored(tmp_path: Path, git: Git, date: bytes) -> None:
    """The dates of other files are still read."""
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(name)
    blobs = [git("hash-object", "-w", name) for name in ("a.txt", "b.txt")]
    first = write_commit(tmp_path, write_tree(tmp_path, **{"a.txt": ("100644", blobs[0])}), b"%d +0000" % SECONDS)
    both = {name: ("100644", blob) for name, blob in zip(("a.txt", "b.txt"), blobs, strict=True)}
    write_commit(tmp_path, write_tree(tmp_path, **both), date, first)
    for name in both:
        os.utime(tmp_path / name, (0, 0))

    assert [THEN, None] == read_commit_dates([tmp_path / name for name in both])


@posix_only
def test_the_name_of_a_file_cannot_change_the_date_of_another(tmp_path: Path, git: Git) -> None:
    """The names look like dates and changes in the output of git."""
    names = ["\x014102444800", "\n@4102444800", "@4102444800", ":000000 100644 0 0 A", "\n:", "\x01", "z.txt"]
    for name in names:
        (tmp_path / name).write_text("one")
    commit_all(git)
    for name in names:
        os.utime(tmp_path / name, (0, 0))

    assert [THEN] * len(names) == read_commit_dates([tmp_path / name for name in names])
    assert [THEN] == read_commit_dates([tmp_path / "z.txt"])


@pytest.mark.slow
def test_a_long_history_is_read_with_little_memory(tmp_path: Path, git: Git) -> None:
    """The path of a file was a folder of 30,000 files in an earlier commit."""
    (tmp_path / "a.txt").write_text("one")
    (tmp_path / "b.txt").write_text("one")
    blob = git("hash-object", "-w", "a.txt")
    many = write_tree(tmp_path, **{f"{number:0100}": ("100644", blob) for number in range(30_000)})
    date = b"%d +0000" % SECONDS
    old = write_commit(tmp_path, write_tree(tmp_path, **{"b.txt": ("100644", blob)}), date)
    for entry in (("40000", many), ("100644", blob)):
        tree = write_tree(tmp_path, **{"a.txt": entry, "b.txt": ("100644", blob)})
        old = write_commit(tmp_path, tree, date, old)
    for name in ("a.txt", "b.txt"):
        os.utime(tmp_path / name, (0, 0))

    with peak_below(2_000_000):
        assert [THEN, THEN] == read_commit_dates([tmp_path / "a.txt", tmp_path / "b.txt"])


# --- what git would do ---


@posix_only
def test_configuration_cannot_hide_commits_or_make_git_wait_for_a_pipe(tmp_path: Path, git: Git) -> None:
    """All these settings change the output of `git log`."""
    (tmp_path / "docs").mkdir()
    file = tmp_path / "docs" / "a.txt"
    file.write_text("one")
    commit_all(git)
    os.utime(file, (0, 0))
    os.mkfifo(tmp_path / "pipe")
    settings = {
        "diff.orderFile": str(tmp_path / "pipe"),
        "core.attributesFile": str(tmp_path / "pipe"),
        "mailmap.file": str(tmp_path / "pipe"),
        "diff.relative": "true",
        "diff.noprefix": "true",
        "format.pretty": "oneline",
        "log.decorate": "full",
        "log.follow": "true",
        "log.showRoot": "false",
        "notes.displayRef": "*",
    }
    for name, value in settings.items():
        git("config", name, value)

    assert [THEN] == read_commit_dates([file])


@pytest.mark.slow
def test_a_folder_that_unpacks_to_more_than_the_memory_is_not_read(
    tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git may allocate 512 MiB at once. The test sets a lower limit."""
    (tmp_path / "a.txt").write_text("one")
    blob = git("hash-object", "-w", "a.txt")
    entries = {f"{number:0200}": ("100644", blob) for number in range(100_000)}
    write_commit(tmp_path, write_tree(tmp_path, **{"a.txt": ("100644", blob)}, **entries), b"%d +0000" % SECONDS)
    os.utime(tmp_path / "a.txt", (0, 0))

    assert [THEN] == read_commit_dates([tmp_path / "a.txt"])
    monkeypatch.setattr("simdoc_search.versions.git._MAX_ALLOCATION_BYTES", 16 << 20)
    assert [None] == read_commit_dates([tmp_path / "a.txt"])


@pytest.fixture
def waiting_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a fake git that waits for a subprocess. Returns a file with the ids of the subprocesses."""
    program, started = tmp_path / "bin" / "git", tmp_path / "started"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nsleep 600 &\necho $! >>'{started}'\nwait\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return started


@posix_only
def test_the_time_limit_is_shared_by_all_work_trees(tmp_path: Path, waiting_git: Path) -> None:
    """Git is not started after the deadline, and its subprocesses are killed."""
    files = [tmp_path / str(number) / "a.txt" for number in range(5)]
    for file in files:
        (file.parent / ".git").mkdir(parents=True)
        file.write_text("one")

    assert [None] * 5 == read_commit_dates(files, timeout_seconds=1)
    (started,) = waiting_git.read_text().split()
    deadline = time.monotonic() + 60
    while is_running(int(started)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_running(int(started))


def is_running(pid: int) -> bool:
    """Return whether a process is running. A process that has ended may still be a zombie."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@posix_only
def test_a_program_in_the_current_folder_is_not_git(tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell would run it, because the current folder is in PATH."""
    (tmp_path / "a.txt").write_text("one")
    commit_all(git)
    (tmp_path / "git").write_text(f"#!/bin/sh\ntouch '{tmp_path / 'ran'}'\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.environ['PATH']}")

    read_commit_dates([tmp_path / "a.txt"])
    assert not (tmp_path / "ran").exists()


@posix_only
def test_a_file_with_a_very_long_path_has_no_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path of `.git` in the folder of the file would be too long."""
    max_length = os.pathconf(tmp_path, "PC_PATH_MAX") - 1
    folder = str(tmp_path)
    monkeypatch.chdir(tmp_path)
    while len(folder) < max_length - 2:
        name = "x" * min(200, max_length - 2 - len(folder) - 1)
        Path(name).mkdir()
        os.chdir(name)
        folder += f"/{name}"
    Path("a").write_text("one")

    assert [None] == read_commit_dates([Path(folder, "a")])
