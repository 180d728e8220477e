"""`check` finds damage to a local store by checksums, and `repair` saves every readable document."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.errors import StoreError, StoreLockedError, StoreNotFoundError
from simdoc_search.query.plans import ThresholdPlan
from simdoc_search.stores import open_store
from simdoc_search.stores.local.integrity import find_damage
from simdoc_search.stores.local.repair import repair_store
from tests.support.cli import answer, run, sentence
from tests.support.slow_cases import slow_after
from tests.support.store_damage import content, flip
from tests.support.stores import put, record, tokens

posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows ends processes otherwise")


@pytest.fixture(scope="module")
def expected(intact_store: Path) -> dict[str, Any]:
    """All values of the documents in the undamaged store, by id."""
    return content(intact_store)


@pytest.fixture
def store(intact_store: Path, tmp_path: Path) -> Path:
    """A copy of the store that the test may damage."""
    return Path(shutil.copytree(intact_store, tmp_path / "s"))


def largest(store: Path, extension: str) -> Path:
    """The largest file of the index with an extension."""
    return max((store / "index").glob(f"*.{extension}"), key=lambda file: (file.stat().st_size, file.name))


def test_check_finds_nothing_in_an_undamaged_store(intact_store: Path) -> None:
    seen: list[tuple[int, int]] = []

    assert [] == list(find_damage(intact_store, lambda done, total: seen.append((done, total))))
    assert seen[-1][0] == seen[-1][1] > 0


@pytest.mark.parametrize(
    "extension", slow_after(1, ["store", "del", "json", "term", "idx", "pos", "fieldnorm", "fast"])
)
@pytest.mark.parametrize("seed", slow_after(1, range(2)))
def test_each_flipped_bit_is_found_and_every_readable_document_is_saved(
    store: Path, expected: dict[str, Any], tmp_path: Path, extension: str, seed: int
) -> None:
    """A document is saved unchanged or listed as unreadable. Only damage to the file of documents loses documents."""
    chance = random.Random(f"{extension} {seed}")
    settings = [store / "simdoc.json", store / "index" / "simdoc.json"]
    file = chance.choice(settings if extension == "json" else sorted((store / "index").glob(f"*.{extension}")))
    data = file.read_bytes()
    footer = 0 if extension == "json" else 8 + int.from_bytes(data[-8:-4], "little")  # its version may change
    flip(file, chance.randrange((len(data) - footer) * 8))

    assert [] != list(find_damage(store))
    repaired = repair_store(store, tmp_path / "new")
    saved = content(tmp_path / "new")
    deleted = saved.keys() - expected.keys()
    assert {id: expected[id] for id in saved.keys() - deleted} == {id: saved[id] for id in saved.keys() - deleted}
    assert sorted(expected.keys() - saved.keys()) == sorted(repaired.unreadable_ids)
    assert extension == "store" or [] == repaired.unreadable_ids
    assert (extension == "del") == bool(repaired.damaged_deletions)
    assert extension == "del" or not deleted
    assert repaired.document_count == len(saved)
    assert [] == list(find_damage(tmp_path / "new"))


@pytest.mark.slow
@pytest.mark.parametrize("extension", ["store", "term", "idx", "del", "fast"])
@pytest.mark.parametrize("is_missing", [False, True])
def test_a_truncated_or_missing_file_is_found_and_loses_no_other_documents(
    store: Path, expected: dict[str, Any], tmp_path: Path, extension: str, is_missing: bool
) -> None:
    file = largest(store, extension)
    data = file.read_bytes()
    file.unlink()
    if not is_missing:
        file.write_bytes(data[: len(data) // 2])

    assert f"index/{file.name}" in {damage.file for damage in find_damage(store)}
    repaired = repair_store(store, tmp_path / "new")
    saved = content(tmp_path / "new")
    assert expected.keys() - saved.keys() == set(repaired.unreadable_ids)
    assert (extension == "store") == bool(repaired.unreadable_ids)
    assert saved
    assert all(saved[id] == expected[id] for id in saved.keys() & expected.keys())


def test_a_store_without_its_list_of_segments_cannot_be_repaired(store: Path, tmp_path: Path) -> None:
    (store / "index" / "meta.json").unlink()

    assert [] != list(find_damage(store))
    with pytest.raises(StoreError, match="restore the index from a backup, or index again"):
        repair_store(store, tmp_path / "new")


@pytest.mark.slow
def test_one_of_the_two_settings_files_is_enough_to_repair_a_store(
    store: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    (store / "simdoc.json").write_text("{")
    repair_store(store, tmp_path / "new")

    assert expected == content(tmp_path / "new")
    (store / "index" / "simdoc.json").unlink()
    with pytest.raises(StoreError, match=r"the settings of the index .* cannot be read"):
        repair_store(store, tmp_path / "newer")
    assert not (tmp_path / "newer").exists()


@pytest.mark.slow
def test_only_the_document_that_crashes_its_reader_is_unreadable(tmp_path: Path) -> None:
    """A flipped bit in a length requests a petabyte. It crashes a query, but not `check` and `repair`."""
    with closing(open_store(tmp_path / "s", create=True)) as store:
        put(store, record("a", [23, *range(40, 48)]))
        put(store, record("b", [2]), record("c", [3]))
    filled_slots = bytes([0, 0, 1, 0, 0, 255])
    file = next(path for path in (tmp_path / "s/index").glob("*.store") if filled_slots in path.read_bytes())
    flip(file, (file.read_bytes().index(filled_slots) - 1) * 8 + 7)  # the length has another byte
    query = f"from simdoc_search import open_store; open_store({str(tmp_path / 's')!r}).get('a')"

    assert 0 > subprocess.run([sys.executable, "-c", query], check=False, capture_output=True).returncode
    assert [f"index/{file.name}"] == [damage.file for damage in find_damage(tmp_path / "s")]
    repaired = repair_store(tmp_path / "s", tmp_path / "new")
    assert (2, ["a"]) == (repaired.document_count, repaired.unreadable_ids)
    assert {"b", "c"} == content(tmp_path / "new").keys()


def test_a_query_that_reads_a_damaged_document_names_it(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "s", create=True)) as store:
        put(store, *(record(id, range(100, 300), kind="letter") for id in "ab"))
    file = largest(tmp_path / "s", "store")
    flip(file, file.read_bytes().index(b"letter") * 8 + 1)
    message = r"document '[ab]' is damaged .*`simdoc-search check` .*`simdoc-search repair`"

    with closing(open_store(tmp_path / "s")) as store, pytest.raises(StoreError, match=message):
        list(store.candidates(ThresholdPlan(tokens(range(100, 300)), 100, None)))


def test_a_folder_without_a_store_is_neither_checked_nor_repaired(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    with pytest.raises(StoreNotFoundError):
        list(find_damage(tmp_path / "missing"))
    for name in ("mine", "missing"):
        with pytest.raises(StoreError):
            list(find_damage(tmp_path / name))
        with pytest.raises(StoreError):
            repair_store(tmp_path / name, tmp_path / "new")

    assert ["mine"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.slow
def test_a_repair_overwrites_nothing(intact_store: Path, expected: dict[str, Any], tmp_path: Path) -> None:
    """An empty folder may be the target. It keeps its permissions."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty").chmod(0o750)
    with pytest.raises(StoreError, match="already exists and is not an empty folder"):
        repair_store(intact_store, tmp_path / "full")
    repaired = answer("repair", intact_store, "--to", tmp_path / "empty")

    assert {
        "store": str(tmp_path / "empty"),
        "document_count": len(expected),
        "unreadable_ids": [],
        "damaged_deletions": [],
    } == repaired
    assert expected == content(tmp_path / "empty")
    if os.name != "nt":
        assert 0o750 == (tmp_path / "empty").stat().st_mode & 0o777
    assert {"full", "empty"} == {path.name for path in tmp_path.iterdir()}


# --- other processes ---


@pytest.mark.slow
def test_no_process_can_write_to_a_store_during_a_repair(store: Path, tmp_path: Path) -> None:
    refusals: list[str] = []

    def try_to_write(done: int, total: int) -> None:
        with closing(open_store(store)) as other, pytest.raises(StoreLockedError) as refused:
            put(other, record("late", [1]))
        refusals.append(str(refused.value))

    with closing(open_store(store)) as other, other.writer(), pytest.raises(StoreLockedError, match="another writer"):
        repair_store(store, tmp_path / "new")
    documents = repair_store(store, tmp_path / "new", try_to_write).document_count
    assert documents == len(refusals) > 0
    with closing(open_store(store)) as other:
        put(other, record("later", [1]))


WRITE = """
import sys
from simdoc_search.stores import open_store
from tests.support.stores import record
with open_store(sys.argv[1], create=True).writer() as writer:
    for n in range(10**6):
        writer.put([record(f"d{n % 50}", range(n % 7, n % 7 + 60), text="words " * 50)])
        if n % 3 == 0:
            writer.delete([f"d{n % 41}"])
        writer.commit()
        print(n, flush=True)
"""


@posix_only
@pytest.mark.slow
def test_a_check_finds_nothing_while_another_process_writes(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITE, str(tmp_path / "s")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        try:
            for _ in range(20):
                other.stdout.readline()
            for _ in range(15):
                assert [] == list(find_damage(tmp_path / "s"))
        finally:
            other.kill()


# --- commands ---


def test_the_command_check_names_the_damage(
    intact_store: Path, store: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    assert (
        f"{intact_store} is not damaged; it contains {len(expected)} documents\n" == run("check", intact_store).stdout
    )
    assert {"store": str(intact_store), "ok": True, "document_count": len(expected), "findings": []} == answer(
        "check", intact_store
    )

    file = largest(store, "idx")
    flip(file, 80)
    result = run("check", store)

    finding = f"problem: index/{file.name}: the checksum does not match the content\n"
    assert (1, finding) == (result.exit_code, result.stdout)
    found = json.loads(run("check", store, "--json").stdout)
    assert (False, [f"index/{file.name}"]) == (found["ok"], [damage["file"] for damage in found["findings"]])
    assert sentence(run("check", tmp_path / "none")).startswith(
        f"no index at {tmp_path / 'none'}; create an index with"
    )


def test_check_finds_the_index_as_the_other_commands_do(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an argument, it checks the index of SIMDOC_STORE, of `simdoc.toml`, or else ./.simdoc."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    shutil.copytree(store, ".simdoc")

    assert ".simdoc" == answer("check")["store"]

    shutil.copytree(store, "other")
    Path("simdoc.toml").write_text('store = "other"\n')

    assert str(folder / "other") == answer("check")["store"]
    assert str(store) == answer("check", SIMDOC_STORE=str(store))["store"]


@pytest.mark.slow
def test_the_command_repair_names_lost_documents(store: Path, expected: dict[str, Any], tmp_path: Path) -> None:
    """It then exits with status 1."""
    flip(largest(store, "store"), 4000 * 8)
    result = run("repair", store, "--to", tmp_path / "new")
    lost = sorted(expected.keys() - content(tmp_path / "new").keys())

    assert (1, True) == (result.exit_code, bool(lost))
    assert [f"unreadable: {id}" for id in lost] == sorted(result.stdout.splitlines()[:-1])
    assert result.stdout.splitlines()[-1].endswith("unreadable")
