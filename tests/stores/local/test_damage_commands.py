"""Checks and repairs beside others at work, and the commands that make them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from simdoc_search.stores import open_store
from simdoc_search.stores.local.integrity import check_store
from simdoc_search.stores.local.repair import repair_store
from tests.support.cli import answer, run, sentence
from tests.support.damage import content, flip
from tests.support.often import first
from tests.support.stores import ids

posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows ends processes otherwise")


# --- others at work ---


@posix_only
@pytest.mark.slow
def test_a_check_beside_a_writer_finds_nothing(tmp_path: Path) -> None:
    """While another process replaces, deletes, commits and merges, the store that is read is one commit."""
    code = """
import sys
from simdoc_search.query.plans import Threshold
from simdoc_search.sketch.concepts import Concepts
from simdoc_search.sketch.sentences import Sentences
from simdoc_search.sketch.settings import Settings
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
    command = [sys.executable, "-c", code, str(tmp_path / "s")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        try:
            for _ in range(20):
                other.stdout.readline()
            for _ in range(15):
                assert [] == list(check_store(tmp_path / "s"))
        finally:
            other.kill()


@posix_only
@pytest.mark.parametrize("delay", first(1, [0.05, 0.0, 0.02, 0.1, 0.2, 0.4]))
@pytest.mark.slow
def test_a_killed_repair_leaves_nothing_under_the_final_name(whole: Path, tmp_path: Path, delay: float) -> None:
    """Killed at any moment, the new store is there whole or not at all, and the repair can be run again."""
    code = """
import sys
from pathlib import Path
from simdoc_search.stores.local.repair import repair_store
print("begin", flush=True)
repair_store(Path(sys.argv[1]), Path(sys.argv[2]))
"""
    command = [sys.executable, "-c", code, str(whole), str(tmp_path / "new")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        other.stdout.readline()
        time.sleep(delay)
        other.send_signal(signal.SIGKILL)
    if (tmp_path / "new").exists():
        assert content(whole) == content(tmp_path / "new")
        shutil.rmtree(tmp_path / "new")
    repair_store(whole, tmp_path / "new")

    assert content(whole) == content(tmp_path / "new")


# --- commands ---


def test_the_command_check_says_what_is_wrong(whole: Path, tmp_path: Path) -> None:
    """Sentences and exit code 1, or one sentence and 0; the same as JSON."""
    assert f"{whole} is as it was written: {len(content(whole))} documents\n" == run("check", whole).stdout
    assert {"store": str(whole), "fit": True, "documents": len(content(whole)), "findings": []} == answer(
        "check", whole
    )

    shutil.copytree(whole, tmp_path / "s")
    file = next((tmp_path / "s" / "index").glob("*.idx"))
    flip(file, 80)
    result = run("check", tmp_path / "s")

    assert 1 == result.exit_code
    assert [f"wrong: index/{file.name}: its content is not what was written (the checksum does not fit)"] == (
        result.stdout.splitlines()
    )
    found = json.loads(run("check", tmp_path / "s", "--json").stdout)
    assert (False, [f"index/{file.name}"]) == (found["fit"], [each["place"] for each in found["findings"]])
    assert sentence(run("check", tmp_path / "none")).startswith(f"no store at {tmp_path / 'none'}; make one with")


def test_the_command_repair_names_what_is_lost(whole: Path, tmp_path: Path) -> None:
    """A lost document is named, with exit code 1; without a loss it is 0."""
    shutil.copytree(whole, tmp_path / "s")
    flip(max((tmp_path / "s" / "index").glob("*.store"), key=lambda each: each.name), 3000 * 8)
    result = run("repair", tmp_path / "s", "--to", tmp_path / "new")
    lost = sorted(content(whole).keys() - set(ids(open_store(tmp_path / "new"))))

    assert (1, True) == (result.exit_code, bool(lost))
    assert [f"lost: {id}" for id in lost] == sorted(result.stdout.splitlines()[:-1])
    assert result.stdout.splitlines()[-1].endswith("lost")

    mended = answer("repair", whole, "--to", tmp_path / "again")
    assert {"store": str(tmp_path / "again"), "documents": len(content(whole)), "lost": [], "doubts": []} == mended
