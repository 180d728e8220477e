"""Documents are ordered by the evidence of their dates, and the newest is named if the evidence agrees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from simdoc_search.documents import MetadataValue
from simdoc_search.versions import DateSources, Timeline, build_timeline
from simdoc_search.versions.date_order import group_by_date
from simdoc_search.versions.evidence import DateEvidence

SECOND = 10**9
NOON = 1_615_550_400 * SECOND


def backwards(numbers: Sequence[int]) -> list[int]:
    """Guess an order that differs from every order by evidence."""
    return sorted(numbers, reverse=True)


def line_of(*documents: DateSources) -> Timeline:
    return build_timeline(documents, backwards)


def dated(name: str, **metadata: MetadataValue) -> DateSources:
    return DateSources(name, metadata)


@pytest.mark.parametrize(
    ("documents", "evidence_kind", "order"),
    [
        ([dated("a", published="2022-01-01"), dated("b", pubDate="2021-01-01")], "date", (1, 0)),
        ([dated("r 2022-01.txt", author="x"), dated("2021/r.txt", created_by="2023")], "name", (1, 0)),
        ([dated("r v10.txt"), dated("r v9.txt"), dated("r v8.txt")], "version", (2, 1, 0)),
        ([dated("a", created_at="2022-01-01"), dated("b", CreationDate="D:20210101")], "created", (1, 0)),
        ([DateSources("a", mtime_ns=NOON), DateSources("b", mtime_ns=NOON - 61 * SECOND)], "modification time", (1, 0)),
        ([DateSources("a"), DateSources("b")], "texts", (1, 0)),
        ([DateSources("a")], "texts", (0,)),
        ([], "texts", ()),
    ],
)
def test_the_first_kind_of_evidence_that_all_documents_have_orders_them(
    documents: list[DateSources], evidence_kind: str, order: tuple[int, ...]
) -> None:
    line = line_of(*documents)

    assert (order, evidence_kind, evidence_kind != "texts" or len(documents) < 2) == (
        line.order,
        line.evidence_kind,
        line.is_certain,
    )


def test_equal_texts_are_not_compared_to_guess_an_order() -> None:
    def guess(numbers: Sequence[int]) -> list[int]:
        raise AssertionError(f"compared {numbers}")

    line = build_timeline([DateSources(name, text_hash="same") for name in "abc"], guess)

    assert ({0, 1, 2}, True) == (set(line.order), line.have_equal_texts)


def test_modification_dates_come_before_other_dates_and_names() -> None:
    """The dates in the names contradict them, so no document is named the newest."""
    line = line_of(
        DateSources("2022 Report.txt", {"last-modified": "2021-05-01", "date": 2023}),
        DateSources("2021 Report.txt", {"meta.updatedAt": "1 June 2021", "date": 2022}),
        DateSources("2020 Report.txt", {"LastMod": 1_500_000_000, "Modified": "2010-01-01", "date": 2021}),
    )

    assert ((2, 0, 1), "modified", False, None) == (line.order, line.evidence_kind, line.is_certain, line.newest)
    assert "by the modification dates in the metadata" == line.reason
    assert ["1 May 2021", "1 Jun 2021", "14 Jul 2017"] == [date.label for date in line.dates if date]


def test_copies_of_the_newest_do_not_hide_it() -> None:
    """The one with the oldest file is the newest, then that with the shortest name. Attachments come last.

    A copy that some evidence distinguishes is not tied with it.
    """
    old = DateSources("offer v1.docx", {"modified": "2024-02-01"}, NOON, text_hash="1")
    newest = DateSources("offer v2.docx", {"modified": "2024-03-01"}, NOON, text_hash="2")
    copy = replace(newest, document_path="Backup/offer v2.docx")

    line = line_of(copy, old, newest)

    assert (2, (1, 0, 2), ()) == (line.newest, line.order, line.conflicting_statements)
    assert 0 == line_of(newest, old, copy).newest
    assert line_of(newest, old, replace(copy, text_hash="3")).newest is None
    assert line_of(newest, old, replace(copy, text_hash="")).newest is None
    assert 0 == line_of(newest, old, replace(copy, mtime_ns=NOON + 61 * SECOND)).newest
    assert 2 == line_of(newest, old, replace(copy, mtime_ns=NOON - SECOND)).newest
    assert 2 == line_of(replace(newest, document_path="mail.eml!offer v2.docx", mtime_ns=0), old, copy).newest
    assert line_of(newest, copy).newest is None


def test_a_copy_of_an_older_text_is_not_newer() -> None:
    """Copying a file changes its time, so the earliest time of the files with a text counts."""
    old = DateSources("lease.txt", mtime_ns=NOON, text_hash="1")
    new = DateSources("lease 2.txt", mtime_ns=NOON + 900 * SECOND, text_hash="2")
    copy = DateSources("lease copy.txt", mtime_ns=NOON + 9_000 * SECOND, text_hash="1")

    line = line_of(copy, new, old)
    assert ((0, 2, 1), 1, (), "modification time") == (
        line.order,
        line.newest,
        line.conflicting_statements,
        line.evidence_kind,
    )
    assert 0 == line_of(replace(copy, text_hash="3"), new, old).newest
    names = ("copy of lease v1.txt", "lease v2.txt", "lease v1.txt")
    assert (
        1
        == line_of(
            *(replace(each, document_path=name) for each, name in zip((copy, new, old), names, strict=True))
        ).newest
    )


def test_a_copy_without_a_date_has_the_date_of_the_same_text() -> None:
    """Then it is neither unordered nor called the newest. Copies do not change how many documents are dated."""
    old = DateSources("lease 2023-02-10.txt", mtime_ns=NOON, text_hash="1")
    new = DateSources("lease 2023-05-04.txt", mtime_ns=NOON + 900 * SECOND, text_hash="2")
    copies = [DateSources(name, mtime_ns=NOON + 900 * SECOND, text_hash="2") for name in ("a.txt", "b.txt", "c.txt")]
    line = line_of(*copies, old, new)

    assert ((3, 2, 1, 0, 4), (), 4) == (line.order, line.unordered, line.newest)
    assert ["4 May 2023"] * 3 == [date.label for date in line.dates[:3] if date]
    other = line_of(replace(copies[0], text_hash="3"), old, new)
    assert ((0,), (1, 2), None, 2) == (other.unordered, other.order, other.newest, other.newest_in_order)


def test_an_unordered_document_has_the_time_of_its_own_file() -> None:
    names = ("lease v1.txt", "lease v2.txt", "lease v3.txt")
    named = [DateSources(name, mtime_ns=NOON, text_hash=name) for name in names]
    copies = [DateSources(name, mtime_ns=NOON + day * 86_400 * SECOND, text_hash="9") for day, name in enumerate("ab")]
    line = line_of(*named, *copies)

    assert ((3, 4), ["12 Mar 2021", "13 Mar 2021"]) == (line.unordered, [date.label for date in line.dates[3:] if date])


def test_the_newest_without_file_times_is_known_if_only_they_conflict() -> None:
    """The file of the older version was written again."""
    old, new = (DateSources(f"lease v{number}", mtime_ns=NOON - number * 900 * SECOND) for number in (1, 2))
    named = line_of(new, old)
    dated_names = line_of(DateSources("2022 v1", mtime_ns=NOON), DateSources("2021 v2", mtime_ns=NOON))

    assert (None, 0) == (named.newest, named.newest_without_file_times)
    assert (None, None) == (dated_names.newest, dated_names.newest_without_file_times)
    assert line_of(*(DateSources("x", mtime_ns=NOON + hour * 3_600 * SECOND) for hour in (0, 1))).newest == 1


def test_no_copy_is_the_newest_of_copies() -> None:
    copies = [
        DateSources(name, mtime_ns=NOON + number * 900 * SECOND, text_hash="1") for number, name in enumerate("ab")
    ]
    line = line_of(*copies)

    assert (None, "texts", True) == (line.newest, line.evidence_kind, line.have_equal_texts)
    assert "all versions have the same words and punctuation" == line.reason
    assert ({}, [NOON, NOON + 900 * SECOND]) == (line.date_copies, [date.key[0] for date in line.dates if date])
    assert not line_of(*(replace(copy, text_hash="") for copy in copies)).have_equal_texts
    assert not line_of(copies[0], replace(copies[1], text_hash="2")).have_equal_texts


def test_a_modification_date_replaces_the_creation_date() -> None:
    """A PDF file often has a creation date only. A new version often inherits the creation date of the first one."""
    line = line_of(
        dated("offer.docx", created_at="2024-02-01", modified_at="2024-02-08"),
        dated("offer new price.docx", created_at="2024-02-01", modified_at="2024-03-01"),
        dated("offer.pdf", created_at="2024-02-20"),
    )

    assert ((0, 2, 1), "created", True, 1) == (line.order, line.evidence_kind, line.is_certain, line.newest)
    assert "by the modification or creation dates in the metadata" == line.reason
    assert ["8 Feb 2024", "1 Mar 2024", "20 Feb 2024"] == [date.label for date in line.dates if date]


def test_evidence_that_a_document_lacks_or_that_is_equal_in_all_does_not_order_them() -> None:
    """The dates are shown nevertheless."""
    line = line_of(
        DateSources("a 2021.txt", {"created": "2020-01-01"}, NOON),
        DateSources("b.txt", {"created": "2020-01-01"}, NOON + 20 * SECOND),
        DateSources("c.txt", {"created": "2020-01-01"}, NOON + 70 * SECOND),
    )

    assert ((2, 1, 0), "texts", False) == (line.order, line.evidence_kind, line.is_certain)
    assert "no evidence shows which is newer" == line.reason
    assert ["2021", "1 Jan 2020", "1 Jan 2020"] == [date.label for date in line.dates if date]


def test_equal_dates_are_ordered_by_the_next_kind_of_evidence() -> None:
    """All dates become as exact as the least exact one. Documents that no evidence orders are in the guessed order."""
    line = line_of(*map(DateSources, ("2021-03 v2", "2021 v1", "2019", "2020-05-06", "2021-04 v3")))
    assert ((2, 3, 1, 0, 4), "name", True) == (line.order, line.evidence_kind, line.is_certain)

    line = line_of(*map(DateSources, ("2021 a", "2021 b", "2019")))
    assert ((2, 1, 0), "name", False) == (line.order, line.evidence_kind, line.is_certain)
    assert "by the dates in the names; the order of 2 documents with the same date is a guess" == line.reason


def test_a_guess_mentions_the_same_date_only_if_the_shown_dates_are_equal() -> None:
    line = line_of(*map(DateSources, ("a 2020-05-06", "b 2021-03", "c 2021-03-12")))

    assert ["6 May 2020", "Mar 2021", "12 Mar 2021"] == [date.label for date in line.dates if date]
    assert "by the dates in the names; the order of 2 documents is a guess" == line.reason


def test_the_order_of_copies_is_not_a_guess() -> None:
    """A later file with the same text may be a copy. Its place among the copies does not matter."""
    line = line_of(
        DateSources("lease draft", mtime_ns=NOON),
        DateSources("a/lease", mtime_ns=NOON, text_hash="x"),
        DateSources("b/lease", mtime_ns=NOON + 48 * 3600 * SECOND, text_hash="x"),
    )

    assert ("by the versions in the names", True) == (line.reason, line.is_certain)


@pytest.mark.parametrize(
    ("times", "labels"),
    [
        (["10:15:00", "10:16:00"], ["12 Mar 2021 10:15 UTC", "12 Mar 2021 10:16 UTC"]),
        (["10:15:00", "10:15:02"], ["12 Mar 2021 10:15:00 UTC", "12 Mar 2021 10:15:02 UTC"]),
        (["10:15:00", "10:15:00"], ["12 Mar 2021", "12 Mar 2021"]),
    ],
)
def test_dates_of_one_day_that_differ_have_a_time(times: list[str], labels: list[str]) -> None:
    """A date of another day is unchanged."""
    texts = ("2021-01-01T08:00:00Z", *(f"2021-03-12T{time}Z" for time in times))
    line = line_of(*(dated(f"a{number}", modified=text) for number, text in enumerate(texts)))

    assert ["1 Jan 2021", *labels] == [date.label for date in line.dates if date]


def test_file_times_that_count_as_equal_are_shown_as_days() -> None:
    seconds = (-86_400, 0, 59)
    line = line_of(*(DateSources(f"a{second}", mtime_ns=NOON + second * SECOND) for second in seconds))

    assert ["11 Mar 2021", "12 Mar 2021", "12 Mar 2021"] == [date.label for date in line.dates if date]
    assert "by the modification times of the files; the order of 2 documents with the same date is a guess" == (
        line.reason
    )


def test_a_conflict_about_one_day_shows_the_times() -> None:
    line = line_of(dated("r v1", modified="2021-03-12T10:15:00Z"), dated("r v2", modified="2021-03-12T09:00:00Z"))

    assert {"12 Mar 2021 10:15 UTC", "12 Mar 2021 09:00 UTC"} <= {
        label for conflict in line.conflicting_statements for label in (conflict.later_label, conflict.earlier_label)
    }


def test_the_date_that_determines_the_order_is_shown() -> None:
    """The name `lease` has no version to show. The dates in the metadata order the two documents with this name."""
    dated = (DateSources(f"{day}/lease", {"date": f"2021-05-0{day}"}) for day in (3, 2))
    line = line_of(DateSources("lease draft"), *dated)

    assert ((0, 2, 1), "version") == (line.order, line.evidence_kind)
    assert ["draft", "3 May 2021", "2 May 2021"] == [date.label for date in line.dates if date]
    assert {0, 1, 2} == line.decisive


def test_files_with_close_modification_times_have_the_same_date() -> None:
    times = (NOON + 3_600 * SECOND, NOON, NOON + 30 * SECOND, NOON + 80 * SECOND)
    line = line_of(*(DateSources("x", mtime_ns=time) for time in times))

    assert ((3, 2, 1, 0), "modification time", False) == (line.order, line.evidence_kind, line.is_certain)


def test_unordered_documents_are_listed_separately() -> None:
    line = line_of(
        DateSources("c", {"modified": "2021-03-01"}, NOON),
        DateSources("a", {"modified": "2021-01-01"}, NOON - 900 * SECOND),
        DateSources("note", {}, NOON),
        DateSources("b", {"modified": "2021-02-01"}, NOON - 300 * SECOND),
    )

    assert ((1, 3, 0), (2,), "modified", False, None, 0) == (
        line.order,
        line.unordered,
        line.evidence_kind,
        line.is_certain,
        line.newest,
        line.newest_in_order,
    )


def test_file_times_order_documents_if_most_have_no_date() -> None:
    """The file of an unordered document may be a fresh copy, so no document is named the newest."""
    line = line_of(
        DateSources("a", {"modified": "2021-03-01"}, NOON),
        DateSources("b", {}, NOON + 900 * SECOND),
        DateSources("c", {}, NOON + 1800 * SECOND),
    )

    assert ((0, 1, 2), "modification time", False, None) == (
        line.order,
        line.evidence_kind,
        line.is_certain,
        line.newest,
    )


def test_the_newest_is_only_named_if_evidence_determines_it() -> None:
    """Several documents with the latest date prevent it. Several documents with an older date do not."""
    older = DateSources("a", mtime_ns=NOON)
    copies = [DateSources(name, mtime_ns=NOON + 3_600 * SECOND) for name in "bcd"]
    lines = [
        line_of(older, *copies),
        line_of(*copies, DateSources("e", mtime_ns=NOON + 7_200 * SECOND)),
        line_of(*map(DateSources, ("2019", "2021-02-01", "2021-02-01 b"))),
        line_of(*copies),
        line_of(older, copies[0]),
    ]

    assert [(False, None), (False, 3), (False, None), (False, None), (True, 1)] == [
        (line.is_certain, line.newest) for line in lines
    ]


def test_versions_in_different_names_are_not_compared() -> None:
    line = line_of(*map(DateSources, ("GPL-2", "GPL-1", "LGPL-2.1", "LGPL-2")))
    same_name = line_of(DateSources("LGPL-2.1", mtime_ns=NOON), DateSources("LGPL-2", mtime_ns=NOON - 900 * SECOND))

    assert ("texts", False, None) == (line.evidence_kind, line.is_certain, line.newest)
    assert ((1, 0), True, 0) == (same_name.order, same_name.is_certain, same_name.newest)


def test_the_kinds_of_evidence_for_the_newest_are_given() -> None:
    """The name orders most documents. The file time distinguishes two documents with the same date in their names."""
    old, first = DateSources("a 2021.txt", mtime_ns=NOON), DateSources("a 2022.txt", mtime_ns=NOON)
    second = DateSources("b 2022.txt", mtime_ns=NOON + 900 * SECOND)

    assert (1, ("name",)) == (line_of(old, first).newest, line_of(old, first).newest_evidence_kinds)
    assert (2, ("name", "modification time")) == (
        line_of(old, first, second).newest,
        line_of(old, first, second).newest_evidence_kinds,
    )
    assert () == line_of(first, first).newest_evidence_kinds


class CountedList(list[Any]):
    """A list that counts how often it is read from the beginning."""

    read_count = 0

    def __iter__(self) -> Iterator[Any]:
        self.read_count += 1
        return super().__iter__()


def count_reads(document_count: int) -> tuple[int, int]:
    """Return how often the documents are read to find their groups and their copies with dates."""
    documents = CountedList(
        DateSources(mtime_ns=NOON + number * 61 * SECOND, text_hash=str(number // 2))
        for number in range(document_count)
    )
    numbers = CountedList(range(document_count))
    evidence = DateEvidence(documents)

    assert document_count // 2 == len(group_by_date(evidence, numbers)[1])
    for number in range(document_count):
        evidence.name_dated_copy("modification time", number)
    return documents.read_count, numbers.read_count


def test_each_document_is_read_equally_often_in_a_large_family() -> None:
    assert count_reads(10) == count_reads(200)


def test_documents_that_no_evidence_orders_are_sorted_by_their_best_dates() -> None:
    """This holds for the timeline if no order is proposed, and for the unordered documents."""
    stem_differs = [DateSources("plan", {"created": "2021-08-12"}), DateSources("note 2021-03-11"), DateSources("list")]
    line = build_timeline([DateSources(f"{letter} {each.document_path}", each.metadata) for letter, each in
                           zip("abc", stem_differs, strict=True)])  # fmt: skip
    assert ("texts", (2, 1, 0)) == (line.evidence_kind, line.order)

    dated = [DateSources(f"{number} 2021-0{number}-01", text_hash=str(number)) for number in (1, 2, 3)]
    files = [DateSources(name, mtime_ns=NOON + day * 86_400 * SECOND) for name, day in (("x", 3), ("y", 1), ("z", 2))]
    assert (4, 5, 3) == build_timeline([*dated, *files]).unordered
