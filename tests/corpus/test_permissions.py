"""An unreadable file or folder is skipped, and an error if it is named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import simdoc_search
from tests.support.folders import posix_only, write

# Root reads everything, so the files are looked at as a user without rights; the working folder is inherited,
# and what lies above it may be closed to that user too.
AS_NOBODY = """
import os, sys
from simdoc_search.corpus import FileSource, read_corpus
from simdoc_search.corpus.file_reader import load
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    for found in read_corpus(sys.argv[1:]):
        found = load(found) if isinstance(found, FileSource) else found
        print(getattr(found, "id", None) or f"{found.path}: {found.reason}")
except Exception as error:
    print(type(error).__name__, error)
"""


def as_nobody(folder: Path, *paths: str) -> list[str]:
    folder.chmod(0o755)
    home = Path(simdoc_search.__file__).parent.parent
    ran = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, *paths],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(home), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout.splitlines()


@posix_only
def test_files_and_folders_without_permission_are_skipped(tmp_path: Path) -> None:
    write(tmp_path, "all/a.txt", "all/closed.txt", "all/closed/b.txt", "all/z.txt")
    (tmp_path / "all/closed.txt").chmod(0)
    (tmp_path / "all/closed").chmod(0)
    try:
        found = as_nobody(tmp_path, "all")
    finally:
        (tmp_path / "all/closed").chmod(0o755)

    assert [
        "a.txt",
        "all/closed.txt: permission denied",
        "z.txt",
        "all/closed/: permission denied",
    ] == found


@posix_only
def test_a_named_folder_without_permission_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "closed/a.txt")
    (tmp_path / "closed").chmod(0)
    try:
        found = as_nobody(tmp_path, "closed")
    finally:
        (tmp_path / "closed").chmod(0o755)

    assert ["CorpusError no permission to read closed; change its permissions or run as another user"] == found


@posix_only
def test_a_named_jsonl_file_without_permission_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "closed.jsonl")
    (tmp_path / "closed.jsonl").chmod(0)

    assert [
        "CorpusError closed.jsonl cannot be read (Permission denied); check the path and its permissions"
    ] == as_nobody(tmp_path, "closed.jsonl")
