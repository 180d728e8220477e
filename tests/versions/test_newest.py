"""The newest version is named in 60 families whose evidence agrees, but not if some evidence is misleading."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from simdoc_search.versions import DateSources, Timeline, build_timeline
from simdoc_search.versions.timeline import UndecidedVersions

DAY = 86_400 * 10**9
START = 1_600_000_000 * 10**9
SCHEMES = (
    ("offer v1.txt", "offer v2.txt", "offer final.txt", "offer final_v2.txt"),
    ("thesis draft.docx", "thesis draft 2.docx", "thesis.docx", "thesis final.docx"),
    ("plan-1.9.md", "plan-1.10.md", "plan-2.0.md", "plan-2.1.md"),
    ("lease v1.docx", "lease v2.docx", "lease_FINAL.docx", "lease_FINAL_really.docx"),
    ("Vertrag Entwurf.odt", "Vertrag Fassung 2.odt", "Vertrag endgültig.odt", "Vertrag unterschrieben.pdf"),
    ("contrat brouillon.docx", "contrat v2.docx", "contrat définitif.docx", "contrat signé.pdf"),
    ("contrato borrador.docx", "contrato v2.docx", "contrato definitivo.docx", "contrato firmado.pdf"),
    ("plate rev A.pdf", "plate rev B.pdf", "plate rev C.pdf", "plate rev D.pdf"),
    ("notes 2021-01-10.txt", "notes 2021-02-10.txt", "notes 2021-03-10.txt", "notes 2021-04-10.txt"),
    ("nda draft.docx", "nda final.docx", "nda signed.pdf", "nda executed.pdf"),
    ("minutes_01.txt", "minutes_02.txt", "minutes_03.txt", "minutes_10.txt"),
    ("a.txt", "b.txt", "c.txt", "d.txt"),
)


def family(number: int) -> list[DateSources]:
    """Return four versions whose evidence agrees, the oldest first.

    The evidence is in names, metadata, file times or several of them.
    """
    names = SCHEMES[number % len(SCHEMES)]
    kind = number // len(SCHEMES)
    has_metadata = kind in (0, 2, 3) or names[0] == "a.txt"
    has_times = kind in (1, 2)
    return [
        DateSources(
            name,
            {("modified_at" if kind else "date"): f"2021-0{2 * position + 1}-12T10:00:00Z"} if has_metadata else {},
            START + position * 10 * DAY if has_times else START,
        )
        for position, name in enumerate(names)
    ]


def shuffled(documents: list[DateSources], seed: int) -> tuple[list[DateSources], Timeline]:
    """Return the documents in another order, and their timeline."""
    mixed = random.Random(seed).sample(documents, len(documents))
    return mixed, build_timeline(mixed, lambda numbers: sorted(numbers, reverse=True))


@pytest.mark.parametrize("kind", range(5))
def test_the_newest_is_named_if_the_evidence_agrees(kind: int) -> None:
    for number in range(kind * len(SCHEMES), (kind + 1) * len(SCHEMES)):
        documents = family(number)
        mixed, line = shuffled(documents, number)

        assert documents == [mixed[position] for position in line.order]
        assert line.newest is not None
        assert documents[-1] == mixed[line.newest]
        assert (True, (), ()) == (line.is_certain, line.conflicting_statements, line.unordered)


@pytest.mark.parametrize(
    "name", ["offer final 9.docx", "offer_FINAL_FINAL.docx", "offer signed.docx", "offer v99.docx"]
)
def test_a_misleading_name_is_a_conflict(name: str) -> None:
    """The name of the oldest document has the latest version. The metadata contradicts it."""
    for seed, count in enumerate((3, 4, 5, 6)):
        documents = [
            DateSources(f"offer v{position + 1}.docx", {"modified_at": f"2021-0{position + 1}-12"}, START)
            for position in range(count)
        ]
        documents[0] = replace(documents[0], document_path=name)
        _, line = shuffled(documents, seed)

        assert (None, False) == (line.newest, line.is_certain)
        assert {("version", documents[0].document_path), ("modified", documents[-1].document_path)} == {
            (statement.evidence_kind, statement.later) for statement in line.conflicting_statements
        }


@pytest.mark.parametrize("has_dates", [True, False])
def test_a_touched_file_is_a_conflict(has_dates: bool) -> None:
    """A file time does not count against modification dates. If it contradicts names, none is the newest."""
    for seed, count in enumerate((3, 4, 5, 6)):
        documents = [
            DateSources(
                f"offer v{position + 1}.docx",
                {"modified_at": f"2021-0{position + 1}-12"} if has_dates else {},
                START + position * DAY,
            )
            for position in range(count)
        ]
        documents[0] = replace(documents[0], mtime_ns=START + 1_000 * DAY)
        mixed, line = shuffled(documents, seed)
        (touched,) = [
            statement for statement in line.conflicting_statements if statement.evidence_kind == "modification time"
        ]

        assert documents[0].document_path == touched.later
        assert has_dates is not touched.hides_newest
        assert line.is_certain is False
        assert (documents[-1] if has_dates else None) == (None if line.newest is None else mixed[line.newest])


@pytest.mark.parametrize("name", ["offer copy.docx", "offer (2).docx", "Kopie von offer.docx", "offer old.docx"])
@pytest.mark.parametrize("day", [None, 0, -1, 1_000])
def test_an_unordered_document_hides_the_newest_unless_its_file_is_older(name: str, day: int | None) -> None:
    """The order is unchanged. An earlier file time is evidence, as the date of the newest is later than it, too."""
    dates = {"offer a.docx": "2021-01-12", "offer b.docx": "2021-02-12", "offer c.docx": "2021-03-12"}
    documents = [DateSources(document_name, {"modified_at": date}, START) for document_name, date in dates.items()]
    copy = DateSources(name, {}, None if day is None else START + day * DAY)
    mixed, line = shuffled([*documents, copy], 1)

    assert [copy] == [mixed[position] for position in line.unordered]
    assert documents == [mixed[position] for position in line.order]
    undecided = None if day == -1 else UndecidedVersions(name, "offer c.docx", None, ("modified",))
    assert (None if undecided else documents[-1], undecided is None, undecided) == (
        mixed[line.newest] if line.newest is not None else None,
        line.is_certain,
        line.undecided,
    )
    assert (() if undecided else ("modified", "modification time")) == line.newest_evidence_kinds


def test_an_older_draft_does_not_change_which_versions_may_be_the_newest() -> None:
    """File times do not conflict with the names. The name of the newest file cannot be compared with the others."""
    draft, named, newest = (
        DateSources(name, {}, START + day * DAY)
        for name, day in (("lease draft.txt", 0), ("lease.txt", 20), ("offer.txt", 27))
    )
    without_draft = build_timeline([named, newest], list)
    line = build_timeline([draft, named, newest], list)

    assert 1 == without_draft.newest
    assert (None, False, UndecidedVersions("offer.txt", "lease.txt", None, ("version",))) == (
        line.newest,
        line.is_certain,
        line.undecided,
    )
    assert (
        "lease.txt is the newest of the ordered documents, by the versions in the names. offer.txt could not be "
        "ordered and may be newer"
    ) == str(line.undecided)


def test_a_copy_of_a_name_without_a_version_has_its_place_and_date() -> None:
    """The name is later than a draft. A later copy, or one whose name has the same place, is as old as the text."""
    documents = [
        DateSources("lease draft.txt", {}, START, None, "first"),
        DateSources("lease.txt", {}, START + DAY, None, "second"),
        DateSources("twice.txt", {}, START + 9 * DAY, None, "second"),
        DateSources("lease (1).txt", {}, START + 20 * DAY, None, "second"),
    ]
    line = build_timeline(documents, list)

    assert (1, (), {2: "lease.txt", 3: "lease.txt"}) == (line.newest, line.unordered, line.date_copies)
    assert len({date.label for date in line.dates[1:] if date}) == 1


def test_a_conflict_about_older_versions_does_not_hide_the_newest() -> None:
    documents = [
        DateSources("r v2.docx", {"modified_at": "2021-01-01"}),
        DateSources("r v1.docx", {"modified_at": "2021-02-01"}),
        DateSources("r v3.docx", {"modified_at": "2021-03-01"}),
    ]
    line = build_timeline(documents, list)

    assert (2, False) == (line.newest, line.is_certain)
    assert [("modified", "r v1.docx", "r v2.docx"), ("version", "r v2.docx", "r v1.docx")] == [
        (statement.evidence_kind, statement.later, statement.earlier) for statement in line.conflicting_statements
    ]


def test_a_file_time_alone_does_not_outweigh_a_date() -> None:
    line = build_timeline(
        [DateSources("a", {"modified": "2020-01-01"}, START), DateSources("b", {}, START + DAY)], list
    )

    assert line.newest is None


@pytest.mark.parametrize(
    ("date", "label", "day", "is_known"),
    [
        ("2024-03-20", "20 Mar 2024", 30, True),
        ("2020-01-01", "1 Jan 2020", 30, False),
        ("2024-03-20", "20 Mar 2024", 0, False),
    ],
)
def test_a_file_time_counts_next_to_a_later_date(date: str, label: str, day: int, is_known: bool) -> None:
    """The dated file must be later than the file time of the other one, by both its date and its own file time."""
    dated = f"b {date}.txt"
    line = build_timeline([DateSources("a.txt", {}, START + DAY), DateSources(dated, {}, START + day * DAY)], list)
    later, earlier = (dated, "a.txt") if day else ("a.txt", dated)

    assert (1 if is_known else None) == line.newest
    assert (None if is_known else UndecidedVersions(later, earlier, dated, dated_label=label)) == line.undecided


@pytest.mark.parametrize("name", ["Budget 2024.csv", "2024/Budget.csv", "Budget 2024-03.csv", "Budget 2024-03-01.csv"])
@pytest.mark.parametrize(("day", "is_known"), [(0, False), (-9, True), (9, False)])
def test_a_date_that_both_names_have_is_not_compared_with_other_dates(name: str, day: int, *, is_known: bool) -> None:
    """A budget for 2024 is often written in 2023. The file time counts as if the name did not have a date."""
    corrected = DateSources("Budget 2024-03 corrected.xlsx", {"modified": "2023-12-12"}, 1_702_371_600 * 10**9)
    old = DateSources(name, {}, corrected.mtime_ns + day * DAY)  # type: ignore[operator]
    line = build_timeline([old, corrected], list)

    assert (1 if is_known else None, None, ()) == (
        line.newest,
        line.newest_without_file_times,
        line.conflicting_statements,
    )


def test_a_document_with_only_a_shared_date_in_its_name_is_unordered() -> None:
    """The others are ordered by their metadata. A date that only one of two names has is still compared."""
    budgets = [
        DateSources("Budget 2024 b.xlsx", {"modified": "2023-11-20"}),
        DateSources("Budget 2024 c.xlsx", {"modified": "2023-12-12"}),
        DateSources("Budget 2024.csv"),
    ]
    line = build_timeline(budgets, list)
    other = build_timeline([replace(budgets[0], document_path="plan.xlsx"), budgets[2]], list)

    assert ((0, 1), (2,), "modified", None) == (line.order, line.unordered, line.evidence_kind, line.newest)
    assert ("mixed dates", 1) == (other.evidence_kind, other.newest)


def test_two_documents_that_may_be_the_newest_are_given() -> None:
    documents = [DateSources(name, {}, START + day * DAY) for name, day in (("a", 0), ("b", 9), ("c", 9), ("d", 5))]
    line = build_timeline(documents, list)

    assert ("modification time", None, UndecidedVersions("c", "b", None)) == (
        line.evidence_kind,
        line.newest,
        line.undecided,
    )


def test_a_draft_with_a_later_date_is_newer_than_a_name_without_a_version() -> None:
    """A name without a version is later than a draft only if the dates in the names are equal or missing."""
    for names, newest in (
        (("lease 2023-06-15 draft.txt", "lease 2023-03-01.txt"), 0),
        (("lease 2023 draft.txt", "lease 2023.txt"), 1),
        (("lease draft.txt", "lease.txt"), 1),
        (("lease 2023-06-15 draft.txt", "lease.txt"), None),
        (("lease draft.txt", "lease 2023-06-15.txt"), None),
    ):
        line = build_timeline([DateSources(name) for name in names], list)

        assert (newest, ()) == (line.newest, line.conflicting_statements)


@pytest.mark.parametrize("fields", [("created",), ("created", "modified")])
def test_the_export_date_of_a_pdf_does_not_count(fields: tuple[str, ...]) -> None:
    """The date of the document with the same text in another format counts. If there is none, the PDF has its own."""
    pdf = DateSources("lease v1.pdf", dict.fromkeys(fields, "2025-05-05"), START, None, "old")
    newer = DateSources("lease v2.docx", {"modified": "2024-11-30"}, START)
    for old in (DateSources("lease v1.docx", {"modified": "2023-03-01"}, START, None, "old"),
                DateSources("lease v1 2023-03-01.txt", {}, START, None, "old")):  # fmt: skip
        line = build_timeline([old, newer, pdf], list)

        assert (1, ()) == (line.newest, line.conflicting_statements)
    line = build_timeline([pdf, newer, replace(old, text_hash="another")], list)

    assert (None, True) == (
        line.newest,
        "lease v1.pdf" in {statement.later for statement in line.conflicting_statements},
    )


def test_a_contradiction_of_mixed_dates_and_file_times_is_given() -> None:
    """One date is in the metadata, the other one in the name. The statements are the reason why none is the newest."""
    documents = [
        DateSources("x.txt", {}, START),
        DateSources("a.txt", {"date": "2021-09-10"}, START + DAY),
        DateSources("b 2021-08-10.txt", {}, START + 9 * DAY),
    ]
    line = build_timeline(documents, list)

    assert (None, None) == (line.newest, line.undecided)
    assert {"mixed dates", "modification time"} == {
        statement.evidence_kind for statement in line.conflicting_statements
    }


def test_a_copy_without_a_version_has_the_version_of_the_same_text() -> None:
    documents = [
        DateSources("thesis draft.txt", {}, START, None, "first"),
        DateSources("thesis final.txt", {}, START + DAY, None, "second"),
        DateSources("thesis final 2.txt", {}, START + 2 * DAY, None, "third"),
        DateSources("thesis (1).txt", {}, START + 3 * DAY, None, "third"),
    ]
    line = build_timeline(documents, list)

    assert (2, (), "final 2") == (line.newest, line.conflicting_statements, getattr(line.dates[3], "label", ""))


@pytest.mark.parametrize(("first", "second"), [("rota.txt", "rota old.txt"), ("Plan neu.odt", "Plan.odt")])
def test_a_later_file_with_an_older_name_is_a_conflict(first: str, second: str) -> None:
    line = build_timeline([DateSources(first, {}, START), DateSources(second, {}, START + DAY)], list)

    assert (None, {"version", "modification time"}) == (
        line.newest,
        {statement.evidence_kind for statement in line.conflicting_statements},
    )
