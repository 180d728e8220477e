"""The date of the last commit of a file is read from git."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from simdoc_search.versions.history import read_commit_dates
from tests.versions.conftest import Git


def test_each_file_has_the_date_of_its_last_commit(tmp_path: Path, git: Git) -> None:
    """A file may be in a folder and have an odd name. A file that was not committed or does not exist has no date."""
    (tmp_path / "docs").mkdir()
    odd = "docs/*:(top) – ü\n.txt"
    for name in ("a.txt", odd):
        (tmp_path / name).write_text("one")
    git("add", ".")
    git("commit", "-qm", "one")
    (tmp_path / "a.txt").write_text("two")
    git("commit", "-qam", "two", date="2022-01-01T00:30:00+01:00")
    (tmp_path / "new.txt").write_text("new")
    paths = [tmp_path / "a.txt", None, tmp_path / odd, tmp_path / "new.txt", tmp_path / "gone.txt"]

    assert [(2021, 12, 31, 23, 30, 0), None, (2021, 3, 12, 10, 0, 0), None, None] == read_commit_dates(paths)


def test_a_file_that_changed_after_its_commit_has_its_modification_time(tmp_path: Path, git: Git) -> None:
    """The change may be staged or not. Touching a file, Windows line endings and Git LFS are not changes."""
    names = ("edited.txt", "staged.txt", "touched.txt", "windows.txt", "stored.txt")
    for name in names:
        (tmp_path / name).write_text("one\n")
    oid = hashlib.sha256(b"large\n").hexdigest()
    (tmp_path / "stored.txt").write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 6\n")
    git("add", ".")
    git("commit", "-qm", "one")
    (tmp_path / "staged.txt").write_text("two\n")
    git("add", ".")
    (tmp_path / "edited.txt").write_text("two\n")
    (tmp_path / "windows.txt").write_bytes(b"one\r\n")
    (tmp_path / "stored.txt").write_text("large\n")
    for name in names:
        os.utime(tmp_path / name, (1_700_000_000,) * 2)

    then, now = (2021, 3, 12, 10, 0, 0), (2023, 11, 14, 22, 13, 20)
    assert [now, now, then, then, then] == read_commit_dates([tmp_path / name for name in names])


def test_no_program_that_the_repository_names_is_run(tmp_path: Path, git: Git) -> None:
    """Its configuration and its attributes name programs for many purposes, and some objects are on a server."""
    file, ran = tmp_path / "a.txt", tmp_path / "ran"
    file.write_text("one")
    (tmp_path / ".gitattributes").write_text("* filter=evil diff=evil\n")
    git("add", ".")
    who = "A <a@example.org> 1615543200 +0000"
    signature = "-----BEGIN PGP SIGNATURE-----\n \n =\n -----END PGP SIGNATURE-----"
    commit = f"tree {git('write-tree')}\nauthor {who}\ncommitter {who}\ngpgsig {signature}\n\none\n"
    git("reset", "--quiet", "--hard", git("hash-object", "-t", "commit", "-w", "--stdin", stdin=commit))
    program = tmp_path / "evil"
    program.write_text(f"#!/bin/sh\ntouch '{ran}'\n")
    program.chmod(0o755)
    names = ("core.fsmonitor", "core.pager", "pager.log", "core.sshCommand", "gpg.program", "diff.external")
    drivers = ("filter.evil.clean", "filter.evil.smudge", "diff.evil.textconv", "diff.evil.command", "core.editor")
    for name in (*names, *drivers, "alias.log", "core.askPass", "credential.helper"):
        git("config", name, f"!{program}" if name.startswith("alias") else str(program))
    for name, value in (("log.showSignature", "true"), ("core.hooksPath", str(tmp_path))):
        git("config", name, value)
    git("config", "remote.origin.url", f"ext::{program}")
    git("config", "core.repositoryFormatVersion", "1")
    git("config", "remote.origin.promisor", "true")
    git("config", "extensions.partialClone", "origin")
    git("config", "protocol.ext.allow", "always")

    assert [(2021, 3, 12, 10, 0, 0)] == read_commit_dates([file])
    file.write_text("two")
    os.utime(file, (1_700_000_000,) * 2)
    assert [(2023, 11, 14, 22, 13, 20)] == read_commit_dates([file])
    assert not ran.exists()
    tree = git("rev-parse", "HEAD^{tree}")
    (tmp_path / ".git" / "objects" / tree[:2] / tree[2:]).unlink()  # a missing object is not fetched
    assert [None] == read_commit_dates([file])
    assert not ran.exists()


def test_without_git_or_time_a_file_has_no_date(tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no error. `GIT_` variables in the environment are ignored."""
    file = tmp_path / "a.txt"
    file.write_text("one")
    git("add", ".")
    git("commit", "-qm", "one")
    monkeypatch.setenv("GIT_DIR", "/nowhere")

    assert [(2021, 3, 12, 10, 0, 0)] == read_commit_dates([file])
    assert [None] == read_commit_dates([file], timeout_seconds=0)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [None] == read_commit_dates([file])
