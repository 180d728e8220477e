"""Which version is the newest? 60 families whose evidence agrees, and 60 in which one piece of it is misleading."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from simdoc_search.versions import DateSources, Timeline, timeline

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
    """Four versions, the oldest first, with evidence that agrees: names, metadata, file times or several of them."""
    names = SCHEMES[number % len(SCHEMES)]
    kind = number // len(SCHEMES)
    has_metadata = kind in (0, 2, 3) or names[0] == "a.txt"
    has_times = kind in (1, 2)
    return [
        DateSources(
            name,
            {("modified_at" if kind else "date"): f"2021-0{2 * at + 1}-12T10:00:00Z"} if has_metadata else {},
            START + at * 10 * DAY if has_times else START,
        )
        for at, name in enumerate(names)
    ]


def shuffled(documents: list[DateSources], seed: int) -> tuple[list[DateSources], Timeline]:
    """The same in another order, with their timeline."""
    mixed = random.Random(seed).sample(documents, len(documents))
    return mixed, timeline(mixed, lambda numbers: sorted(numbers, reverse=True))


@pytest.mark.parametrize("number", range(60))
def test_where_the_evidence_agrees_the_newest_is_claimed(number: int) -> None:
    """With all of the order, and no conflict."""
    documents = family(number)
    mixed, line = shuffled(documents, number)

    assert documents == [mixed[each] for each in line.order]
    assert line.newest is not None
    assert documents[-1] == mixed[line.newest]
    assert (True, (), ()) == (line.certain, line.conflict, line.undated)


@pytest.mark.parametrize("number", range(20))
def test_a_misleading_name_is_a_conflict(number: int) -> None:
    """The oldest is called final, or has the latest date in its name, and its metadata says otherwise."""
    names = ("offer final 9.docx", "offer_FINAL_FINAL.docx", "offer signed.docx", "offer v99.docx")
    documents = [
        DateSources(f"offer v{at + 1}.docx", {"modified_at": f"2021-0{at + 1}-12"}, START)
        for at in range(3 + number % 4)
    ]
    documents[0] = replace(documents[0], name=names[number % 4])
    mixed, line = shuffled(documents, number)

    assert (None, False) == (line.newest, line.certain)
    assert {("version", documents[0].name), ("modified", documents[-1].name)} == {
        (each.by, mixed[each.later].name) for each in line.conflict
    }


@pytest.mark.parametrize("number", range(20))
def test_a_touched_file_is_a_conflict(number: int) -> None:
    """It does not count against modification dates; against names alone nothing is claimed."""
    by_metadata = number % 2 == 0
    documents = [
        DateSources(
            f"offer v{at + 1}.docx", {"modified_at": f"2021-0{at + 1}-12"} if by_metadata else {}, START + at * DAY
        )
        for at in range(3 + number % 4)
    ]
    documents[0] = replace(documents[0], mtime_ns=START + 1_000 * DAY)
    mixed, line = shuffled(documents, number)
    (said,) = [each for each in line.conflict if each.by == "modification time"]

    assert documents[0] == mixed[said.later]
    assert by_metadata is not said.counts
    assert line.certain is False
    assert (documents[-1] if by_metadata else None) == (None if line.newest is None else mixed[line.newest])


@pytest.mark.parametrize("number", range(20))
def test_an_undated_copy_is_placed_aside(number: int) -> None:
    """It changes nothing for the others, however new its file is."""
    names = ("copy of it.txt", "offer - Kopie.docx", "export.txt", "signed.txt")
    documents = [DateSources(f"offer {'abcdef'[at]}.docx", {"modified_at": f"2021-0{at + 1}-12"}, START)
                 for at in range(3 + number % 4)]  # fmt: skip
    copy = DateSources(names[number % 4], {}, START + 1_000 * DAY)
    mixed, line = shuffled([*documents, copy], number)

    assert [copy] == [mixed[each] for each in line.undated]
    assert documents == [mixed[each] for each in line.order]
    assert (documents[-1], True) == (mixed[line.newest] if line.newest is not None else None, line.certain)


def test_a_conflict_about_older_versions_leaves_the_newest() -> None:
    """It is named all the same."""
    documents = [
        DateSources("r v2.docx", {"modified_at": "2021-01-01"}),
        DateSources("r v1.docx", {"modified_at": "2021-02-01"}),
        DateSources("r v3.docx", {"modified_at": "2021-03-01"}),
    ]
    line = timeline(documents, list)

    assert (2, False) == (line.newest, line.certain)
    assert [("modified", 1, 0), ("version", 0, 1)] == [each[:3] for each in line.conflict]


def test_a_file_time_alone_does_not_outdo_a_date() -> None:
    """Of two documents one is dated; the file of the other one may be a fresh copy."""
    line = timeline([DateSources("a", {"modified": "2020-01-01"}, START), DateSources("b", {}, START + DAY)], list)

    assert line.newest is None
