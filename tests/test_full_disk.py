"""On a full disk, a command fails with one sentence and loses nothing. It can be repeated when space is free again."""

from __future__ import annotations

import os
import re
import shutil
import stat
import threading
from pathlib import Path

import pytest

from simdoc_search import open_store
from simdoc_search.duplicates.plan.table import write_table
from tests.support import cli
from tests.support.slow_cases import slow_after
from tests.support.texts import documents

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no limit of file sizes")

# Runs a command. Its files may have at most as many bytes as the first argument says.
ON_A_FULL_DISK = """
import resource, sys
sys.dont_write_bytecode = True  # an incomplete bytecode file would break all later processes
from simdoc_search.cli import main
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
main()
"""

ADVICE = "free some disk space, then run the same command again"

FIRST = {f"first{number}" for number in range(30)}
MORE = {f"more{number}" for number in range(300)}


def lines(name: str, count: int) -> str:
    """JSONL of documents of 200 words."""
    return cli.json_lines(
        *(
            {"id": f"{name}{number}", "text": document.text}
            for number, document in enumerate(documents(name, count, 200))
        )
    )


def stored(store: Path) -> set[str]:
    """The ids in a store."""
    with open_store(store) as opened:
        return {record.id for record in opened.scan()}


def run_on_full_disk(limit: int, *arguments: object, cwd: Path) -> str:
    """Return the error message of a command that runs on a full disk."""
    return cli.sentence(cli.script(ON_A_FULL_DISK, limit, *arguments, cwd=cwd))


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two stores, and files that the commands read."""
    folder = tmp_path_factory.mktemp("full")
    cli.write(folder, {"first.jsonl": lines("first", 30), "more.jsonl": lines("more", 300)})
    cli.write(folder, {"a.txt": cli.words(0, 200), "b.txt": cli.words(20, 220)})
    cli.output("index", folder / "first.jsonl", "--store", folder / "store")
    cli.output("index", folder / "a.txt", folder / "b.txt", "--store", folder / "files")
    return folder


@pytest.fixture
def folder(originals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that folder. It becomes the current folder."""
    monkeypatch.chdir(shutil.copytree(originals, tmp_path / "copy"))
    return tmp_path / "copy"


# --- output files ---

WRITING = {
    "page.html": ("compare", "a.txt", "b.txt", "--html"),
    "pairs.csv": ("duplicates", "--store", "files", "--csv"),
}


@pytest.mark.parametrize("name", slow_after(0, WRITING))
def test_a_file_that_does_not_fit_leaves_the_earlier_one(name: str, folder: Path) -> None:
    """No temporary file remains."""
    cli.output(*WRITING[name], name)
    earlier = (folder / name).read_text("utf-8")
    before = sorted(folder.iterdir())

    assert f"cannot write {name}: File too large; {ADVICE}" == run_on_full_disk(20, *WRITING[name], name, cwd=folder)
    assert before == sorted(folder.iterdir())
    assert earlier == (folder / name).read_text("utf-8")


@pytest.mark.slow
def test_a_plan_that_does_not_fit_leaves_no_file(folder: Path) -> None:
    command = ("duplicates", "--store", "files", "--plan", "plan.tsv")

    assert f"plan.tsv cannot be written: file too large; {ADVICE}" == run_on_full_disk(20, *command, cwd=folder)
    cli.output(*command)


def test_a_file_replaces_the_target_of_a_link_and_keeps_its_permissions(folder: Path) -> None:
    cli.write(folder, {"real.html": ""}).joinpath("real.html").chmod(0o640)
    (folder / "page.html").symlink_to("real.html")
    cli.output("compare", folder / "a.txt", folder / "b.txt", "--html", folder / "page.html")

    assert (folder / "page.html").is_symlink()
    assert (folder / "real.html").read_text("utf-8").startswith("<!")
    assert 0o640 == stat.S_IMODE((folder / "real.html").stat().st_mode)


def test_a_file_can_be_written_to_a_pipe(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((folder / "pipe").read_bytes()))
    reader.start()
    cli.output("compare", folder / "a.txt", folder / "b.txt", "--html", folder / "pipe")
    reader.join()

    assert read[0].startswith(b"<!")
    assert (folder / "pipe").is_fifo()


def test_a_plan_in_a_shared_folder_can_be_changed_by_its_owner_only(tmp_path: Path) -> None:
    """Anyone who can change a plan can cause files to be deleted."""
    tmp_path.chmod(0o777)
    before = os.umask(0o022)
    try:
        write_table(tmp_path / "plan.tsv", [], "command")
    finally:
        os.umask(before)

    assert 0o644 == stat.S_IMODE((tmp_path / "plan.tsv").stat().st_mode)


# --- stores ---


@pytest.mark.slow
@pytest.mark.parametrize("limit", [100_000, 10_000])
def test_committed_documents_are_kept_and_the_next_run_completes_the_work(folder: Path, limit: int) -> None:
    """tantivy reports the full disk, or that its thread has ended, whichever it notices first."""
    command = ("index", "more.jsonl", "--store", "store", "--workers", 1)
    message = run_on_full_disk(limit, *command, cwd=folder)

    assert re.fullmatch(rf"cannot write to the index store: (.*because )?the disk is full; {ADVICE}", message)
    assert FIRST == stored(folder / "store")
    cli.output(*command)
    assert FIRST | MORE == stored(folder / "store")


@pytest.mark.parametrize("limit", slow_after(0, [1_000, 0, 10_000]))
def test_a_store_that_did_not_fit_can_be_created_later(folder: Path, limit: int) -> None:
    command = ("index", "first.jsonl", "--store", "new", "--workers", 1)

    assert run_on_full_disk(limit, *command, cwd=folder).endswith(ADVICE)
    cli.output(*command)
    assert FIRST == stored(folder / "new")


@pytest.mark.parametrize("limit", slow_after(0, [300, 10]))
def test_documents_can_be_deleted_later(folder: Path, limit: int) -> None:
    """The file of deletions may have been written without the commit."""
    command = ("delete", "first1", "first2", "--store", "store")

    assert run_on_full_disk(limit, *command, cwd=folder).endswith(ADVICE)
    assert FIRST == stored(folder / "store")
    cli.output(*command)
    assert FIRST - {"first1", "first2"} == stored(folder / "store")


@pytest.mark.parametrize("limit", slow_after(0, [1_000, 10]))
@pytest.mark.parametrize("command", slow_after(0, [("backup", "store", "copy"), ("repair", "store", "--to", "copy")]))
def test_a_copy_that_does_not_fit_leaves_no_folder(folder: Path, command: tuple[str, ...], limit: int) -> None:
    before = sorted(folder.iterdir())

    assert run_on_full_disk(limit, *command, cwd=folder).endswith(ADVICE)
    assert before == sorted(folder.iterdir())
    cli.output(*command)
    assert FIRST == stored(folder / "copy")
