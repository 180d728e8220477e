"""In random folders with copies, links and edits, the reported bytes are freed and no content is lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.corpus import read_corpus
from simdoc_search.duplicates import Duplicates
from simdoc_search.duplicates.plan import DropMethod, apply_plan, expected_changes, read_plan, write_plan
from simdoc_search.duplicates.plan.rows import PlanRow
from tests.support.folders import posix_only
from tests.support.killed_processes import killed
from tests.support.random_trees import contents_of, disk_bytes, random_tree

pytestmark = posix_only


def find_and_plan(folder: Path) -> tuple[Duplicates, list[PlanRow]]:
    """Return the duplicates in a folder, and a plan for them."""
    with open_store(":memory:", create=True) as store:
        SimilaritySearch(store).index(read_corpus([folder / "docs"]), workers=1)
        found = SimilaritySearch(store).duplicates(overlap=0.6)
        write_plan(found, folder / "plan.tsv", store)
        return found, read_plan(folder / "plan.tsv")


@pytest.mark.parametrize(("seed", "files"), [(0, 120), pytest.param(2, 300, marks=pytest.mark.slow)])
def test_the_reported_bytes_are_freed_and_no_content_is_lost(seed: int, files: int, tmp_path: Path) -> None:
    random_tree(random.Random(seed), tmp_path / "docs", files)
    found, rows = find_and_plan(tmp_path)
    contents, before = contents_of(tmp_path / "docs"), disk_bytes(tmp_path / "docs")
    expected = expected_changes(rows)

    assert 5 < found.drop_count == sum(row.action == "drop" for row in rows)
    assert found.freed_bytes == expected.freed_bytes == sum(group.freed_bytes for group in found.groups())
    assert 0 == expected.differing_file_count
    assert [] == apply_plan(rows, "delete", tmp_path / "undo").left_alone
    assert before - found.freed_bytes == disk_bytes(tmp_path / "docs")
    assert contents == contents_of(tmp_path / "docs")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["delete", "move", "hardlink"])
def test_kills_lose_no_content(method: DropMethod, tmp_path: Path) -> None:
    """25 runs are killed with kill -9 at random steps. Each run resumes the previous one."""
    random_tree(random.Random(method), tmp_path / "docs", 120)
    found, rows = find_and_plan(tmp_path)
    contents, before = contents_of(tmp_path / "docs"), disk_bytes(tmp_path / "docs")
    rng, kills = random.Random(1), 0

    def apply() -> None:
        apply_plan(rows, method, tmp_path / "undo", move_to=tmp_path / "gone")

    for _ in range(25):
        kills += killed(rng.randrange(1, 60), apply)
        assert contents == contents_of(tmp_path / "docs")
    assert [] == apply_plan(rows, method, tmp_path / "undo", move_to=tmp_path / "gone").left_alone
    assert before - found.freed_bytes == disk_bytes(tmp_path / "docs")
    assert contents == contents_of(tmp_path / "docs")
    assert kills > 10
