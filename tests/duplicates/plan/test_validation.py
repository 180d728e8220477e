"""No group loses its kept document, whatever a person writes into the plan."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.documents import DocumentKey
from simdoc_search.duplicates.plan.rows import ACTIONS, Action, PlanRow
from simdoc_search.duplicates.plan.validation import check_groups


def row(action: Action, path: str, kept: str = "", group: int = 1) -> PlanRow:
    return PlanRow(action, group, DocumentKey(path), path, kept, None)


def by_name(row: PlanRow) -> str:
    return row.name


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([row("drop", "/a"), row("decide", "/b", "/a")], "/a is the kept document of a group, but its row says 'drop'"),
        (
            [row("drop", "/a"), row("keep", "/b", "/a"), row("keep", "/c", "/a")],
            "write 'keep' in this row, or in exactly one other row of the group",
        ),
        ([row("drop", "/b", "/a")], "the row of /b says that /a is kept, but the group has no row for /a"),
        ([row("drop", "/a", "/b"), row("drop", "/b", "/c")], "/b is kept instead of /a, but its own row says 'drop'"),
        ([row("keep", "/a"), row("drop", "/b", "/a"), row("drop", "/b", "/a")], "/b is in several rows"),
        ([row("keep", "/a"), row("drop", "/a", "/a")], "/a is in several rows"),
        ([row("drop", "/a", "/b"), row("drop", "/b", "/a")], "but its own row says 'drop'"),
        (
            [row("keep", "/a"), row("drop", "/b", "/a"), row("keep", "/c", group=9), row("drop", "/a", "/c", 9)],
            "/a is kept instead of /b, but its own row says 'drop'",
        ),
    ],
)
def test_only_a_group_without_a_kept_document_is_refused(rows: list[PlanRow], message: str) -> None:
    other = [row("decide", "/x", group=5), row("drop", "/y", "/x", 5)]
    plan = check_groups([*rows, *other], by_name)

    assert message in plan.refused_groups[1]
    assert ["/y"] == [drop.row.name for drop in plan.drops if drop.row.group == 5]
    assert 1 not in {drop.row.group for drop in plan.drops}


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        ([row("drop", "/a", "/b"), row("keep", "/b", "/a"), row("drop", "/c", "/b")], {"/a": "/b", "/c": "/b"}),
        ([row("keep", "/a"), row("drop", "/b", "/a"), row("drop", "/c", "/b")], {"/b": "/a", "/c": "/a"}),
        (
            [row("drop", "/a"), row("drop", "/b", "/a"), row("keep", "/c", "/a"), row("decide", "/d", "/a")],
            {"/a": "/c", "/b": "/c"},
        ),
    ],
    ids=["column kept is edited", "the kept document of a row is dropped too", "only column action is edited"],
)
def test_a_person_can_change_the_kept_document(rows: list[PlanRow], kept: dict[str, str]) -> None:
    plan = check_groups(rows, by_name)

    assert (kept, {}) == ({drop.row.name: drop.kept_row.name for drop in plan.drops}, plan.refused_groups)


@given(
    st.lists(
        st.tuples(st.sampled_from(ACTIONS), st.sampled_from("abcd"), st.sampled_from(["", *"abcd"]), st.integers(1, 2)),
        max_size=8,
    )
)
def test_no_document_is_dropped_that_is_kept_for_another(rows: list[tuple[Action, str, str, int]]) -> None:
    plan = check_groups([row(*cells) for cells in rows], by_name)

    assert not {drop.row.name for drop in plan.drops} & {drop.kept_row.name for drop in plan.drops}


def test_a_file_with_two_names_is_not_kept_for_itself(tmp_path: Path) -> None:
    """The second path leads to the same file through a symbolic link."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a").write_text("a")
    (tmp_path / "link").symlink_to("real")
    real, linked = str(tmp_path / "real/a"), str(tmp_path / "link/a")

    assert [] == check_groups([row("keep", real), row("drop", linked, real)]).drops
