"""Random folders of copies, links and edits: what is said to be saved is freed, and no content is lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.corpus import read_corpus
from simdoc_search.duplicates import Duplicates, duplicates_in
from simdoc_search.duplicates.plan import How, apply_plan, expected, read_plan, write_plan
from simdoc_search.duplicates.plan.rows import PlanRow
from tests.support.folders import posix_only
from tests.support.random_trees import contents_of, disk_bytes, random_tree
from tests.support.steps import killed

pytestmark = posix_only


def planned(folder: Path) -> tuple[Duplicates, list[PlanRow]]:
    """The duplicates of a folder, and the plan for them."""
    with open_store(":memory:", create=True) as store:
        SimilaritySearch(store).index(read_corpus([folder / "docs"]), workers=1)
        found = duplicates_in(store, overlap=0.6)
        write_plan(found, folder / "plan.tsv", store)
        return found, read_plan(folder / "plan.tsv")


@pytest.mark.parametrize(
    ("seed", "files"), [(0, 120), (1, 120), *(pytest.param(each, 500, marks=pytest.mark.slow) for each in range(2, 5))]
)
def test_the_bytes_that_are_said_are_freed_and_no_content_is_lost(seed: int, files: int, tmp_path: Path) -> None:
    """To the byte; the plan, what it says before it is applied, and the groups agree."""
    random_tree(random.Random(seed), tmp_path / "docs", files)
    found, rows = planned(tmp_path)
    contents, before = contents_of(tmp_path / "docs"), disk_bytes(tmp_path / "docs")

    assert 5 < found.drops == sum(row.action == "drop" for row in rows)
    assert found.frees == expected(rows).size == sum(group.frees for group in found.groups())
    assert 0 == expected(rows).unlike
    assert [] == apply_plan(rows, "delete", tmp_path / "undo").left
    assert before - found.frees == disk_bytes(tmp_path / "docs")
    assert contents == contents_of(tmp_path / "docs")


@pytest.mark.slow
@pytest.mark.parametrize("how", ["delete", "move", "hardlink"])
def test_a_kill_loses_no_content(how: How, tmp_path: Path) -> None:
    """kill -9 at 50 random steps one after the other; the next run goes on, the last one ends."""
    random_tree(random.Random(how), tmp_path / "docs", 200)
    found, rows = planned(tmp_path)
    contents, before = contents_of(tmp_path / "docs"), disk_bytes(tmp_path / "docs")
    rng, kills = random.Random(1), 0

    def act() -> None:
        apply_plan(rows, how, tmp_path / "undo", to=tmp_path / "gone")

    for _ in range(50):
        kills += killed(rng.randrange(1, 60), act)
        assert contents == contents_of(tmp_path / "docs")
    assert [] == apply_plan(rows, how, tmp_path / "undo", to=tmp_path / "gone").left
    assert before - found.frees == disk_bytes(tmp_path / "docs")
    assert contents == contents_of(tmp_path / "docs")
    assert kills > 20
