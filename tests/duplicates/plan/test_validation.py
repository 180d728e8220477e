"""No group is left without the one that stays, whatever a person wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.documents import Place
from simdoc_search.duplicates.plan.rows import ACTIONS, Action, PlanRow
from simdoc_search.duplicates.plan.validation import check_groups


def row(action: Action, path: str, kept: str = "", group: int = 1) -> PlanRow:
    """A row of a file."""
    return PlanRow(action, group, Place(path), path, kept, None)


def by_path(row: PlanRow) -> str:
    """Names that are as they look."""
    return row.name


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([row("drop", "/a"), row("drop", "/b", "/a")], "/a, which was to stay for the others, is to be dropped"),
        ([row("drop", "/a"), row("keep", "/b", "/a")], "/a, which was to stay for the others, is to be dropped"),
        ([row("drop", "/b", "/a")], "no row of it is /a"),
        ([row("keep", "/a"), row("drop", "/b", "/a"), row("drop", "/b", "/a")], "/b stands in several rows"),
        ([row("keep", "/a"), row("drop", "/a", "/a")], "/a stands in several rows"),
        ([row("drop", "/a", "/b"), row("drop", "/b", "/a")], "is to be dropped, and to stay for"),
        (
            [row("keep", "/a"), row("drop", "/b", "/a"), row("keep", "/c", group=9), row("drop", "/a", "/c", 9)],
            "/a is to be dropped, and to stay for /b",
        ),
    ],
)
def test_a_group_that_would_lose_its_survivor_is_refused_and_no_other(rows: list[PlanRow], said: str) -> None:
    """The sentence names what is wrong; a group beside it is done."""
    beside = [row("decide", "/x", group=5), row("drop", "/y", "/x", 5)]

    found = check_groups([*rows, *beside], by_path)

    assert said in found.refused[1]
    assert ["/y"] == [each.row.name for each in found.drops if each.row.group == 5]
    assert 1 not in {each.row.group for each in found.drops}


def test_another_one_can_be_kept_if_the_rows_name_it() -> None:
    """The first goes for the second, as its row says."""
    found = check_groups([row("drop", "/a", "/b"), row("keep", "/b", "/a"), row("drop", "/c", "/b")], by_path)

    assert {"/a": "/b", "/c": "/b"} == {each.row.name: each.kept.name for each in found.drops}
    assert {} == found.refused


def test_a_row_goes_for_the_document_that_stays_for_its_kept_one() -> None:
    """If a person also drops the document of which a row is a copy."""
    found = check_groups([row("keep", "/a"), row("drop", "/b", "/a"), row("drop", "/c", "/b")], by_path)

    assert {"/b": "/a", "/c": "/a"} == {each.row.name: each.kept.name for each in found.drops}
    assert {} == found.refused


@given(
    st.lists(
        st.tuples(st.sampled_from(ACTIONS), st.sampled_from("abcd"), st.sampled_from(["", *"abcd"]), st.integers(1, 2)),
        max_size=8,
    )
)
def test_whoever_goes_goes_for_one_that_stays(given: list[tuple[Action, str, str, int]]) -> None:
    """Of any rows at all."""
    found = check_groups([row(*each) for each in given], by_path)
    gone = {each.row.name for each in found.drops}

    assert not gone & {each.kept.name for each in found.drops}


def test_one_file_by_two_names_does_not_stay_for_itself(tmp_path: Path) -> None:
    """A folder may be reached over a link."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a").write_text("a")
    (tmp_path / "link").symlink_to("real")
    real, linked = str(tmp_path / "real/a"), str(tmp_path / "link/a")

    assert [] == check_groups([row("keep", real), row("drop", linked, real)]).drops
