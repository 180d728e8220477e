"""A run that is killed at any step resumes, and writes the same bytes."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from simdoc_search.dedupe import deduplicate_files, sketching
from simdoc_search.dedupe.rows import RowWriter
from simdoc_search.dedupe.work_folder import WorkFolder
from simdoc_search.errors import StoreError
from tests.support.datasets import make_rows, write_rows
from tests.support.killed_processes import Process
from tests.support.slow_cases import slow_after

STEPS = 60
KILLS = 10


def content(path: Path) -> dict[str, bytes]:
    """The bytes of a file or of all files in a folder."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return {file.relative_to(path.parent).name: file.read_bytes() for file in files}


def write_shards(folder: Path) -> Path:
    rows = make_rows(90, words=30)
    for number in range(3):
        write_rows(folder / f"{number}.parquet", rows[30 * number : 30 * number + 30])
    (folder / "notes.txt").write_text("notes")
    return folder


@pytest.mark.parametrize("every", slow_after(1, [12, 2]))
@pytest.mark.parametrize("is_folder", [False, True])
def test_a_run_that_is_killed_before_any_change_of_the_disk_resumes(
    is_folder: bool, every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sketching, "_CHECKPOINT_BYTES", 1)
    source = write_shards(tmp_path / "in") if is_folder else write_rows(tmp_path / "in.jsonl", make_rows(60))
    name = "out" if is_folder else "out.jsonl"
    expected = tmp_path / "expected"
    expected.mkdir()
    deduplicate_files(source, expected / name)
    killed = 0
    for step in range(0, STEPS, every):
        folder = tmp_path / str(step)
        folder.mkdir()
        target = folder / name
        act = partial(deduplicate_files, source, target)
        killed += Process(step, act, signal.SIGKILL).killed
        assert not target.exists() or content(expected / name) == content(target)
        deduplicate_files(source, target)

        assert content(expected / name) == content(target)
        assert [target] == list(folder.iterdir())
    assert killed * every > 10


@pytest.mark.parametrize("every", slow_after(1, [40, 5]))
def test_saving_over_the_old_rows_resumes(every: int, tmp_path: Path) -> None:
    first, second = (write_rows(tmp_path / f"{day}.jsonl", make_rows(60, seed=day // 2)) for day in (1, 3))
    killed = 0
    for step in range(0, 140, every):
        folder = tmp_path / str(step)
        folder.mkdir()
        state, target = folder / "state", folder / "out.jsonl"
        deduplicate_files(first, folder / "first.jsonl", save=state)
        act = partial(deduplicate_files, second, target, against=state, save=state)
        killed += Process(step, act, signal.SIGKILL).killed
        message = ""
        try:
            deduplicate_files(second, target, against=state, save=state)
        except StoreError as error:
            message = str(error)
        whole = write_rows(folder / "whole.jsonl", make_rows(60, seed=0) + make_rows(60, seed=1))
        report = deduplicate_files(whole, folder / "again.jsonl", against=state)

        assert content(tmp_path / "0/out.jsonl") == content(target)
        assert message == "" or message.endswith("; nothing was changed")
        assert 0 == report.kept_count
        assert [] == list(folder.glob(".*"))
    assert killed * every > 25


def test_progress_in_another_format_is_not_continued(tmp_path: Path) -> None:
    work, checkpoint = WorkFolder(tmp_path), tmp_path / "rows" / "checkpoint.json"
    checkpoint.parent.mkdir()
    with RowWriter(checkpoint.parent, {"options": 1}) as writer:
        writer.checkpoint()

    assert work.prepare({"options": 1})
    checkpoint.write_text(json.dumps({**json.loads(checkpoint.read_text()), "format": 99}))
    assert not work.prepare({"options": 1})
    assert [] == list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_command_that_is_killed_again_and_again_writes_the_same_bytes(tmp_path: Path) -> None:
    chance = random.Random(1)
    source = write_rows(tmp_path / "in.parquet", make_rows(10_000, words=120))
    deduplicate_files(source, tmp_path / "expected.parquet", workers=2)
    command = [sys.executable, "-m", "simdoc_search", "dedupe", str(source), "-o", str(tmp_path / "out.parquet")]
    began = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    seconds = time.monotonic() - began
    (tmp_path / "out.parquet").unlink()
    killed = 0
    while killed < KILLS:
        process = subprocess.Popen([*command, "--workers", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.3, seconds))
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        if process.returncode == 0:
            assert content(tmp_path / "expected.parquet").popitem()[1] == content(tmp_path / "out.parquet").popitem()[1]
            (tmp_path / "out.parquet").unlink()
    subprocess.run(command, check=True, capture_output=True)

    assert (tmp_path / "expected.parquet").read_bytes() == (tmp_path / "out.parquet").read_bytes()
    assert 3 == len(list(tmp_path.iterdir()))
