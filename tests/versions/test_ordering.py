"""What says which of some documents is the newest?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from simdoc_search.documents import MetadataValue
from simdoc_search.versions import Known, Timeline, timeline

SECOND = 10**9
NOON = 1_615_550_400 * SECOND


def backwards(numbers: Sequence[int]) -> list[int]:
    """A proposal that is easy to tell from any other order."""
    return sorted(numbers, reverse=True)


def found(*documents: Known) -> Timeline:
    """Their timeline, in which what is proposed is backwards."""
    return timeline(documents, backwards)


def dated(name: str, **metadata: MetadataValue) -> Known:
    """A document with metadata."""
    return Known(name, metadata)


def test_metadata_come_before_names() -> None:
    """A date of change before one of publication; what they are called does not matter much."""
    line = found(
        Known("2022 Report.txt", {"last-modified": "2021-05-01", "date": 2023}),
        Known("2021 Report.txt", {"meta.updatedAt": "1 June 2021", "date": 2022}),
        Known("2020 Report.txt", {"LastMod": 1_500_000_000, "Modified": "2010-01-01", "date": 2021}),
    )

    assert ((2, 0, 1), "modified", True) == (line.order, line.by, line.certain)
    assert "by the date of change in their metadata" == line.reason
    assert ["1 May 2021", "1 Jun 2021", "14 Jul 2017"] == [each.shown for each in line.dates if each]


@pytest.mark.parametrize(
    ("documents", "by", "order"),
    [
        ([dated("a", published="2022-01-01"), dated("b", pubDate="2021-01-01")], "date", (1, 0)),
        ([dated("r 2022-01.txt", author="x"), dated("2021/r.txt", created_by="2023")], "name", (1, 0)),
        ([dated("r v10.txt"), dated("r v9.txt"), dated("r.txt")], "version", (2, 1, 0)),
        ([dated("a", created_at="2022-01-01"), dated("b", CreationDate="D:20210101")], "created", (1, 0)),
        ([Known("a", mtime_ns=NOON), Known("b", mtime_ns=NOON - 61 * SECOND)], "modification time", (1, 0)),
        ([Known("a"), Known("b")], "proposed", (1, 0)),
    ],
)
def test_the_best_that_all_have_decides(documents: list[Known], by: str, order: tuple[int, ...]) -> None:
    """One kind for all of them."""
    line = found(*documents)

    assert (order, by, by != "proposed") == (line.order, line.by, line.certain)


def test_what_one_lacks_or_all_share_orders_nothing() -> None:
    """The next kind is taken, and it is said why; what is known of each is shown all the same."""
    line = found(
        Known("a 2021.txt", {"created": "2020-01-01"}, NOON),
        Known("b.txt", {"created": "2020-01-01"}, NOON + 20 * SECOND),
        Known("c.txt", {"created": "2020-01-01"}, NOON + 70 * SECOND),
    )

    assert ((2, 1, 0), "proposed", False) == (line.order, line.by, line.certain)
    assert (
        "2 of 3 documents have no date in their names; all have the same date of creation in their metadata"
        in line.reason
    )
    assert "all files were written within 60 seconds of another" in line.reason
    assert ["2021", "1 Jan 2020", "1 Jan 2020"] == [each.shown for each in line.dates if each]


def test_several_that_lack_a_date_are_said_in_the_plural() -> None:
    """One has a date of creation, and one a version in its name."""
    reason = found(Known("a v1"), Known("b", {"created": 2021}), Known("c")).reason

    assert "2 of 3 documents have no date of creation in their metadata" in reason
    assert "2 of 3 documents have no version in their names" in reason


def test_equal_dates_are_told_apart_by_the_next_kind() -> None:
    """As exactly as all of them are dated; only what nothing tells apart is proposed."""
    line = found(Known("2021-03 v2"), Known("2021 v1"), Known("2019"), Known("2020-05-06"), Known("2021-04 v3"))

    assert ((2, 3, 1, 0, 4), "name", True) == (line.order, line.by, line.certain)

    line = found(Known("2021 a"), Known("2021 b"), Known("2019"))
    assert ((2, 1, 0), "name", False) == (line.order, line.by, line.certain)
    assert "by the date in their names; 2 documents of the same date in a proposed order" == line.reason


def test_files_of_one_copy_are_one_date() -> None:
    """Those that were edited later are newer; the others of the folder are ordered otherwise."""
    times = (NOON, NOON + 30 * SECOND, NOON + 80 * SECOND, NOON + 3_600 * SECOND)
    line = found(*(Known("x", mtime_ns=each) for each in (times[3], *times[:3])))

    assert ((3, 2, 1, 0), "modification time", False) == (line.order, line.by, line.certain)


def test_version_control_is_asked_when_nothing_better_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for documents that have dates."""
    asked: list[Sequence[Path | None]] = []

    def commits(paths: Sequence[Path | None]) -> list[tuple[int, ...] | None]:
        asked.append(paths)
        return [None if path is None else (int(path.name), 1, 1) for path in paths]

    monkeypatch.setattr("simdoc_search.versions.ordering.commit_dates", commits)
    documents = [Known("a", path=tmp_path / "2022"), Known("b", path=tmp_path / "2021")]

    assert "name" == found(Known("2020"), Known("2021", path=tmp_path / "2020")).by
    assert [] == asked
    assert ((1, 0), "version control", True) == (
        found(*documents).order,
        found(*documents).by,
        found(*documents).certain,
    )
    assert "by the last commit of their files" in found(*documents).reason
    assert "proposed" == found(*documents, Known("c")).by


def test_one_document_or_none_has_an_order() -> None:
    """There is nothing to be unsure of."""
    assert ((), True) == (found().order, found().certain)
    assert ((0,), True) == (found(Known("a")).order, found(Known("a")).certain)


def test_one_without_a_date_does_not_decide_for_all() -> None:
    """Three have a date of change; the fourth stands where it is proposed, and the times of files count for none."""
    line = found(
        Known("c", {"modified": "2021-03-01"}, NOON),
        Known("a", {"modified": "2021-01-01"}, NOON + 900 * SECOND),
        Known("note", {}, NOON + 1800 * SECOND),
        Known("b", {"modified": "2021-02-01"}, NOON + 2700 * SECOND),
    )

    assert ((1, 3, 2, 0), "modified", False) == (line.order, line.by, line.certain)
    assert "by the date of change in their metadata; " in line.reason
    assert "1 of 4 documents has no date of change in its metadata and is proposed" in line.reason


def test_where_most_have_no_date_files_decide() -> None:
    """One of three is too few."""
    line = found(
        Known("a", {"modified": "2021-03-01"}, NOON),
        Known("b", {}, NOON + 900 * SECOND),
        Known("c", {}, NOON + 1800 * SECOND),
    )

    assert ((0, 1, 2), "modification time", True) == (line.order, line.by, line.certain)


def test_who_is_newest_is_certain_only_if_something_says_so() -> None:
    """Not where several were written last, nor where one without a date may be later; older ones do not matter."""
    older, copies = Known("a", mtime_ns=NOON), [Known(each, mtime_ns=NOON + 3_600 * SECOND) for each in "bcd"]
    undated = [Known("2019"), Known("b", mtime_ns=NOON), Known("2021-02-01"), Known("2021-02-02")]

    assert (False, False) == _certain(found(older, *copies))
    assert (False, True) == _certain(found(*copies, Known("e", mtime_ns=NOON + 7_200 * SECOND)))
    assert (False, False) == _certain(found(*undated))
    assert (False, False) == _certain(found(*copies))
    assert (True, True) == _certain(found(older, copies[0]))


def test_numbers_in_different_names_say_which_is_newest_of_none() -> None:
    """They keep each name in its order, against the times of files; what is newest of all is no more than proposed."""
    line = found(
        Known("GPL-2", mtime_ns=NOON),
        Known("GPL-1", mtime_ns=NOON + 900 * SECOND),
        Known("LGPL-2.1", mtime_ns=NOON + 1_800 * SECOND),
        Known("LGPL-2", mtime_ns=NOON + 2_700 * SECOND),
    )
    of_one = found(Known("LGPL-2.1", mtime_ns=NOON), Known("LGPL-2", mtime_ns=NOON + 900 * SECOND))
    three = found(Known("GPL-2"), Known("LGPL-2.1"), Known("LGPL-2"))

    assert ((1, 0, 3, 2), "version") == (line.order, line.by)
    assert (False, False) == _certain(line)
    assert "the rest of their names is not the same" in line.reason
    assert ((1, 0), (True, True)) == (of_one.order, _certain(of_one))
    assert "1 of 3 documents has no version in its name and is proposed" in three.reason
    assert three.order.index(2) < three.order.index(1)


def test_names_of_equal_versions_are_said_as_they_are() -> None:
    """Both are final, and neither more so."""
    reason = found(Known("plan final.txt"), Known("plan final FINAL.txt"), Known("plan Final.pdf")).reason

    assert "no version in their names is later than another (final, Final)" in reason


def _certain(line: Timeline) -> tuple[bool, bool]:
    return line.certain, line.newest_certain
