"""What says which of some documents is the newest?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from simdoc_search.documents import MetadataValue
from simdoc_search.versions import DateSources, Timeline, timeline

SECOND = 10**9
NOON = 1_615_550_400 * SECOND


def backwards(numbers: Sequence[int]) -> list[int]:
    """A proposal that is easy to tell from any other order."""
    return sorted(numbers, reverse=True)


def found(*documents: DateSources) -> Timeline:
    """Their timeline, in which what is proposed is backwards."""
    return timeline(documents, backwards)


def dated(name: str, **metadata: MetadataValue) -> DateSources:
    """A document with metadata."""
    return DateSources(name, metadata)


def test_metadata_come_before_names() -> None:
    """A modification date before one of publication; as the names contradict it, the newest is not claimed."""
    line = found(
        DateSources("2022 Report.txt", {"last-modified": "2021-05-01", "date": 2023}),
        DateSources("2021 Report.txt", {"meta.updatedAt": "1 June 2021", "date": 2022}),
        DateSources("2020 Report.txt", {"LastMod": 1_500_000_000, "Modified": "2010-01-01", "date": 2021}),
    )

    assert ((2, 0, 1), "modified", False) == (line.order, line.by, line.certain)
    assert None is line.newest
    assert "by the modification date in their metadata" == line.reason
    assert ["1 May 2021", "1 Jun 2021", "14 Jul 2017"] == [each.shown for each in line.dates if each]


@pytest.mark.parametrize(
    ("documents", "by", "order"),
    [
        ([dated("a", published="2022-01-01"), dated("b", pubDate="2021-01-01")], "date", (1, 0)),
        ([dated("r 2022-01.txt", author="x"), dated("2021/r.txt", created_by="2023")], "name", (1, 0)),
        ([dated("r v10.txt"), dated("r v9.txt"), dated("r v8.txt")], "version", (2, 1, 0)),
        ([dated("a", created_at="2022-01-01"), dated("b", CreationDate="D:20210101")], "created", (1, 0)),
        ([DateSources("a", mtime_ns=NOON), DateSources("b", mtime_ns=NOON - 61 * SECOND)], "modification time", (1, 0)),
        ([DateSources("a"), DateSources("b")], "texts", (1, 0)),
    ],
)
def test_the_best_that_all_have_decides(documents: list[DateSources], by: str, order: tuple[int, ...]) -> None:
    """One kind for all of them."""
    line = found(*documents)

    assert (order, by, by != "texts") == (line.order, line.by, line.certain)


def test_what_one_lacks_or_all_share_orders_nothing() -> None:
    """The next kind is taken, and it is said why; what is known of each is shown all the same."""
    line = found(
        DateSources("a 2021.txt", {"created": "2020-01-01"}, NOON),
        DateSources("b.txt", {"created": "2020-01-01"}, NOON + 20 * SECOND),
        DateSources("c.txt", {"created": "2020-01-01"}, NOON + 70 * SECOND),
    )

    assert ((2, 1, 0), "texts", False) == (line.order, line.by, line.certain)
    assert (
        "2 of 3 documents have no date in their names; all have the same creation date in their metadata" in line.reason
    )
    assert "all files were written within 60 seconds of another" in line.reason
    assert ["2021", "1 Jan 2020", "1 Jan 2020"] == [each.shown for each in line.dates if each]


def test_several_that_lack_a_date_are_said_in_the_plural() -> None:
    """One has a date of creation, and one a version in its name."""
    reason = found(DateSources("a v1"), DateSources("b", {"created": 2021}), DateSources("c")).reason

    assert "2 of 3 documents have no creation date in their metadata" in reason
    assert "2 of 3 documents have no version in their names" in reason


def test_equal_dates_are_told_apart_by_the_next_kind() -> None:
    """As exactly as all of them are dated; only what nothing tells apart is proposed."""
    line = found(
        DateSources("2021-03 v2"),
        DateSources("2021 v1"),
        DateSources("2019"),
        DateSources("2020-05-06"),
        DateSources("2021-04 v3"),
    )

    assert ((2, 3, 1, 0, 4), "name", True) == (line.order, line.by, line.certain)

    line = found(DateSources("2021 a"), DateSources("2021 b"), DateSources("2019"))
    assert ((2, 1, 0), "name", False) == (line.order, line.by, line.certain)
    assert "by the date in their names; 2 documents of the same date, which nothing orders" == line.reason


def test_files_of_one_copy_are_one_date() -> None:
    """Those that were edited later are newer; the others of the folder are ordered otherwise."""
    times = (NOON, NOON + 30 * SECOND, NOON + 80 * SECOND, NOON + 3_600 * SECOND)
    line = found(*(DateSources("x", mtime_ns=each) for each in (times[3], *times[:3])))

    assert ((3, 2, 1, 0), "modification time", False) == (line.order, line.by, line.certain)


def test_version_control_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for documents that have dates, as commits may contradict them."""
    asked: list[Sequence[Path | None]] = []

    def commits(paths: Sequence[Path | None]) -> list[tuple[int, ...] | None]:
        asked.append(paths)
        return [None if path is None else (int(path.name), 1, 1) for path in paths]

    monkeypatch.setattr("simdoc_search.versions.evidence.commit_dates", commits)
    documents = [DateSources("a", path=tmp_path / "2022"), DateSources("b", path=tmp_path / "2021")]

    assert "name" == found(DateSources("2020"), DateSources("2021", path=tmp_path / "2020")).by
    assert [[None, tmp_path / "2020"]] == asked
    assert ((1, 0), "version control", True) == (
        found(*documents).order,
        found(*documents).by,
        found(*documents).certain,
    )
    assert "by the last commit of their files" in found(*documents).reason
    assert (2,) == found(*documents, DateSources("c")).undated


def test_one_document_or_none_has_an_order() -> None:
    """There is nothing to be unsure of."""
    assert ((), True) == (found().order, found().certain)
    assert ((0,), True) == (found(DateSources("a")).order, found(DateSources("a")).certain)


def test_one_without_a_date_is_placed_aside() -> None:
    """Three have a modification date; the fourth changes nothing for them."""
    line = found(
        DateSources("c", {"modified": "2021-03-01"}, NOON),
        DateSources("a", {"modified": "2021-01-01"}, NOON - 900 * SECOND),
        DateSources("note", {}, NOON + 1800 * SECOND),
        DateSources("b", {"modified": "2021-02-01"}, NOON - 300 * SECOND),
    )

    assert ((1, 3, 0), (2,), "modified", True) == (line.order, line.undated, line.by, line.certain)
    assert 0 == line.newest
    assert "by the modification date in their metadata" == line.reason


def test_where_most_have_no_date_files_decide() -> None:
    """They order three, of which one is dated; as the file of another one may be a fresh copy, none is the newest."""
    line = found(
        DateSources("a", {"modified": "2021-03-01"}, NOON),
        DateSources("b", {}, NOON + 900 * SECOND),
        DateSources("c", {}, NOON + 1800 * SECOND),
    )

    assert ((0, 1, 2), "modification time", False, None) == (line.order, line.by, line.certain, line.newest)


def test_the_newest_is_claimed_only_if_something_says_so() -> None:
    """Not where several were written last, nor where file times contradict names; older ones do not matter."""
    older, copies = (
        DateSources("a", mtime_ns=NOON),
        [DateSources(each, mtime_ns=NOON + 3_600 * SECOND) for each in "bcd"],
    )

    assert (False, None) == _certain(found(older, *copies))
    assert (False, 3) == _certain(found(*copies, DateSources("e", mtime_ns=NOON + 7_200 * SECOND)))
    assert (False, None) == _certain(found(DateSources("2019"), DateSources("2021-02-01"), DateSources("2021-02-01 b")))
    assert (False, None) == _certain(found(*copies))
    assert (True, 1) == _certain(found(older, copies[0]))


def test_versions_of_different_names_do_not_compare() -> None:
    """Neither says that the newest GPL is newer than an LGPL."""
    line = found(DateSources("GPL-2"), DateSources("GPL-1"), DateSources("LGPL-2.1"), DateSources("LGPL-2"))
    of_one = found(DateSources("LGPL-2.1", mtime_ns=NOON), DateSources("LGPL-2", mtime_ns=NOON - 900 * SECOND))

    assert ("texts", False, None) == (line.by, line.certain, line.newest)
    assert "the versions in their names do not compare, as the rest of the names differs" in line.reason
    assert ((1, 0), (True, 0)) == (of_one.order, _certain(of_one))


def test_names_of_equal_versions_are_said_as_they_are() -> None:
    """Both are final, and neither more so."""
    reason = found(DateSources("plan final.txt"), DateSources("plan Final.pdf")).reason

    assert "no version in their names is later than another (final, Final)" in reason


def _certain(line: Timeline) -> tuple[bool, int | None]:
    return line.certain, line.newest
