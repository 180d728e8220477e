"""On a full disk a command is one sentence, loses nothing, and works when it is run again with room."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from pathlib import Path

import numpy as np
import pytest

from simdoc_search import open_store
from simdoc_search.duplicates.checkpoint import Checkpoint
from simdoc_search.duplicates.plan.table import write_table
from simdoc_search.errors import StoreError
from tests.support import cli
from tests.support.texts import documents

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no limit of file sizes")

# A command whose files may have no more bytes than the first argument says: its disk is full at once.
ON_A_FULL_DISK = """
import resource, sys
sys.dont_write_bytecode = True  # half of a module's bytecode would break every process after this one
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
        *({"id": f"{name}{number}", "text": each.text} for number, each in enumerate(documents(name, count, 200)))
    )


def stored(store: Path) -> set[str]:
    """The ids in a store."""
    opened = open_store(store)
    try:
        return {each.id for each in opened.scan()}
    finally:
        opened.close()


def full(limit: int, *arguments: object, cwd: Path) -> str:
    """The sentence of a command that finds the disk full."""
    return cli.sentence(cli.script(ON_A_FULL_DISK, limit, *arguments, cwd=cwd))


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of 30 documents, and what else the commands read."""
    folder = tmp_path_factory.mktemp("full")
    versions = {f"report_v{number}.txt": ". ".join(["One sentence of many here"] * number) for number in (8, 9)}
    cli.write(folder, {"first.jsonl": lines("first", 30), "more.jsonl": lines("more", 300), **versions})
    cli.write(folder, {"a.txt": cli.words(0, 200), "b.txt": cli.words(20, 220)})
    cli.output("index", folder / "first.jsonl", "--store", folder / "store")
    files = [folder / name for name in ("a.txt", "b.txt", *versions)]
    cli.output("index", *files, "--store", folder / "files", "--with", "versions")
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(made, tmp_path / "copy"))


# --- files that a person named ---

WRITING = {
    "page.html": ("compare", "a.txt", "b.txt", "--html"),
    "passages.html": ("passages", "a.txt", "--store", "files", "--html"),
    "duplicates.html": ("duplicates", "--store", "files", "--html"),
    "pairs.csv": ("duplicates", "--store", "files", "--csv"),
    "versions.html": ("versions", "report_v8.txt", "--store", "files", "--html"),
}


@pytest.mark.parametrize("name", WRITING)
def test_a_file_that_does_not_fit_is_not_there(name: str, folder: Path) -> None:
    """Neither half of it nor a temporary file is left, and with room the same command writes it."""
    before = sorted(folder.iterdir())

    assert f"cannot write {name}: File too large; {ADVICE}" == full(20, *WRITING[name], name, cwd=folder)
    assert before == sorted(folder.iterdir())

    assert 0 == cli.process(*WRITING[name], name, cwd=folder).returncode
    assert (folder / name).stat().st_size > 20


def test_a_page_that_does_not_fit_leaves_the_earlier_one(folder: Path) -> None:
    """What was in its place stays as it was."""
    cli.write(folder, {"page.html": "the earlier page"})
    full(20, *WRITING["page.html"], "page.html", cwd=folder)

    assert "the earlier page" == (folder / "page.html").read_text("utf-8")


def test_a_plan_that_does_not_fit_is_not_there(folder: Path) -> None:
    """It says what to do, and the name is free for the next run."""
    said = full(20, "duplicates", "--store", "files", "--plan", "plan.tsv", cwd=folder)

    assert f"plan.tsv cannot be written: file too large; {ADVICE}" == said
    assert 0 == cli.process("duplicates", "--store", "files", "--plan", "plan.tsv", cwd=folder).returncode


def test_a_file_replaces_what_a_link_leads_to_and_keeps_its_permissions(folder: Path) -> None:
    """The link stays a link."""
    cli.write(folder, {"real.html": "old"}).joinpath("real.html").chmod(0o640)
    (folder / "page.html").symlink_to("real.html")
    cli.output("compare", folder / "a.txt", folder / "b.txt", "--html", folder / "page.html")

    assert (folder / "page.html").is_symlink()
    assert (folder / "real.html").read_text("utf-8").startswith("<!")
    assert 0o640 == stat.S_IMODE((folder / "real.html").stat().st_mode)


def test_a_file_can_be_written_to_a_pipe(folder: Path) -> None:
    """The pipe stays a pipe."""
    os.mkfifo(folder / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((folder / "pipe").read_bytes()))
    reader.start()
    cli.output("compare", folder / "a.txt", folder / "b.txt", "--html", folder / "pipe")
    reader.join()

    assert read[0].startswith(b"<!")
    assert (folder / "pipe").is_fifo()


def test_a_plan_in_a_folder_of_everybody_can_be_changed_by_its_owner_only(tmp_path: Path) -> None:
    """As in /tmp: who can change a plan can have files deleted."""
    tmp_path.chmod(0o777)
    before = os.umask(0o022)
    try:
        write_table(tmp_path / "plan.tsv", [], "command")
    finally:
        os.umask(before)

    assert 0o644 == stat.S_IMODE((tmp_path / "plan.tsv").stat().st_mode)


# --- stores ---


@pytest.mark.parametrize("limit", [10_000, 100_000])
def test_what_was_committed_stays(folder: Path, limit: int) -> None:
    """The next run, with room, completes the work."""
    command = ("index", "more.jsonl", "--store", "store", "--workers", 1)

    assert full(limit, *command, cwd=folder).endswith(f"because the disk is full; {ADVICE}")
    assert FIRST == stored(folder / "store")

    cli.process(*command, cwd=folder)

    assert FIRST | MORE == stored(folder / "store")


@pytest.mark.parametrize("limit", [0, 10, 1_000, 10_000])
def test_a_store_that_did_not_fit_can_be_made_later(folder: Path, limit: int) -> None:
    """What is left of it is no obstacle."""
    command = ("index", "first.jsonl", "--store", "new", "--workers", 1)

    assert full(limit, *command, cwd=folder).endswith(ADVICE)

    cli.process(*command, cwd=folder)

    assert FIRST == stored(folder / "new")


@pytest.mark.parametrize("limit", [10, 300, 1_000])
def test_documents_can_be_deleted_later(folder: Path, limit: int) -> None:
    """Also where the file of deletions was written, and the commit was not."""
    command = ("delete", "first1", "first2", "--store", "store")

    assert full(limit, *command, cwd=folder).endswith(ADVICE)
    assert FIRST == stored(folder / "store")

    assert 0 == cli.process(*command, cwd=folder).returncode
    assert FIRST - {"first1", "first2"} == stored(folder / "store")


@pytest.mark.parametrize("limit", [10, 1_000, 10_000])
@pytest.mark.parametrize("command", [("backup", "store", "copy"), ("repair", "store", "--to", "copy")])
def test_a_copy_that_does_not_fit_is_not_there(folder: Path, command: tuple[str, ...], limit: int) -> None:
    """Neither half of a store is left, nor anything else."""
    before = sorted(folder.iterdir())

    assert full(limit, *command, cwd=folder).endswith(ADVICE)
    assert before == sorted(folder.iterdir())

    assert 0 == cli.process(*command, cwd=folder).returncode
    assert FIRST == stored(folder / "copy")


def test_a_checkpoint_on_a_full_disk_keeps_what_it_has(tmp_path: Path) -> None:
    """The last batch is missing, and the next run asks for it."""
    keys = np.arange(1000)
    checkpoint = Checkpoint(tmp_path / "file", {"overlap": "80"})
    checkpoint.begin(keys)
    checkpoint.note([0, 1], [(0, 1, 0.9)], {})
    checkpoint._database.execute("PRAGMA max_page_count = 1")  # SQLite's own full disk
    with pytest.raises(StoreError, match=f"cannot be written: the disk is full; {ADVICE}"):
        checkpoint.note(range(1000), [(number, number + 1, 0.9) for number in range(999)], {})
    checkpoint.close()
    checkpoint = Checkpoint(tmp_path / "file", {"overlap": "80"})

    assert [True, True, *[False] * 998] == checkpoint.begin(keys).tolist()
    assert 1 == len(checkpoint.pairs()[0])
