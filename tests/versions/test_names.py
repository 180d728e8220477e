"""Dates and versions are found in the names of documents."""

from __future__ import annotations

import itertools

import pytest

from simdoc_search.versions.names import find_date_in_name, find_version_in_name, find_versions_in_names


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("2021/Report.txt", (2021,)),
        ("2021/Report 2021-03-12.txt", (2021, 3, 12)),
        ("archive 2019/2021_03/notes v2.md", (2021, 3)),
        ("pep-0002/v1_2007-06-19.txt", (2007, 6, 19)),
        ("minutes 2021 (20210312).pdf", (2021, 3, 12)),
        ("2021-03-12 Our offer.eml!offer.pdf", (2021, 3, 12)),
        ("2021-03-12 Our offer.eml!offer 2020-01-02.pdf", (2020, 1, 2)),
        ("Report.txt", None),
        ("2021/IMG_2099.png", (2021,)),
        ("", None),
    ],
)
def test_a_date_in_the_name_of_a_file_precedes_that_of_a_folder(name: str, wanted: tuple[int, ...] | None) -> None:
    """A year after the next one is not a date, but the number of a picture, for example."""
    assert wanted == find_date_in_name(name)


@pytest.mark.parametrize(
    "names",
    [
        ["a/Report v1.9.txt", "a/Report_v1.10.txt", "a/report v2.docx"],
        ["offer v1.txt", "offer v2.txt", "offer final.txt", "offer final_v2.txt"],
        ["offer v2.txt", "offer_final.txt", "offer_final_FINAL.txt", "offer_final_really_FINAL.txt"],
        [
            "offer draft.docx",
            "offer final draft.docx",
            "offer.docx",
            "offer FINAL.docx",
            "offer signed.pdf",
            "offer executed.pdf",
        ],
        [
            "Vertrag Entwurf.odt",
            "Vertrag Entwurf 2.odt",
            "Vertrag.odt",
            "Vertrag_endgültig.odt",
            "Vertrag unterschrieben.pdf",
        ],
        ["contrat brouillon", "contrat version 2", "contrat définitif", "contrat définitif 2", "contrat signé"],
        ["contrato borrador", "contrato versión 3", "contrato definitivo", "contrato firmado"],
        ["plate rev A.txt", "plate revB.txt", "plate Rev. C.txt"],
        ["thesis draft.doc", "thesis draft 2.doc", "thesis.doc", "thesis final.doc", "thesis_final2.doc"],
        ["plan v2.txt", "plan v3 draft.txt", "plan v3.txt", "plan v3 final.txt", "plan FINAL.txt"],
        ["spec-1.9.pdf", "spec-1.10.pdf", "spec-2.0.pdf"],
        ["Rev 3/all.txt", "rev 4/all.txt", "rev 12/all.txt"],
        ["2021-03-12 v1.txt", "2019-01-01 v2.txt"],
    ],
)
def test_versions_in_names_are_ordered(names: list[str]) -> None:
    keys = [find_version_in_name(name).key for name in names]

    assert all(one < other for one, other in itertools.pairwise(keys))


@pytest.mark.parametrize(
    ("name", "label", "stem"),
    [
        ("2021/Annual-Report v1.10 2021-03-12.txt", "v1.10", "annual report"),
        ("Annual Report (2).txt", "", "annual report"),
        ("Copy of Annual Report.txt", "", "annual report"),
        ("Kopie von Plan v2.txt", "v2", "plan"),
        ("Copy machine of annual report.txt", "", "copy machine of annual report"),
        ("a/Plan v3 final2.docx", "v3 final2", "plan"),
        ("v7/Annual report.txt", "v7", "/annual report"),
        ("Our mail v7.eml!Annual report final.pdf", "final", "annual report"),
        ("2021 v8.zip!mails/Our mail.eml!Annual report v7.pdf", "v7", "annual report"),
        ("Vera, very old revs of plan.txt", "", "vera very old revs of plan"),
        ("Finally drafted, revised 5.txt", "", "finally drafted revised 5"),
        ("Annual Report 2021.txt", "", "annual report"),
        ("", "", ""),
        ("...", "", ""),
    ],
)
def test_a_version_is_shown_as_the_name_spells_it(name: str, label: str, stem: str) -> None:
    version = find_version_in_name(name)

    assert (label, stem) == (version.label, version.stem)


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["GPL-2", "LGPL-2", "LGPL-2.1"], [None, "2", "2.1"]),
        (["GPL-1", "GPL-2", "LGPL-2", "LGPL-3"], ["1", "2", "2", "3"]),
        (["contract-3.docx", "contract-10.docx", "contract.docx"], ["3", "10", None]),
        (["contract-2 final.docx", "contract-3 final.docx"], ["2 final", "3 final"]),
        (["draft_01.txt", "draft_02.txt"], ["draft_01", "draft_02"]),
        (["covid-19.txt", "covid-19.pdf", "notes.txt"], [None, None, None]),
        (["covid-19.txt", "covid-19 v2.txt"], [None, "v2"]),
        (["covid-19 draft.txt", "covid-19 final.txt"], ["draft", "final"]),
        (["pep-0101.txt", "pep-0102.txt"], [None, None]),
        (["ISO-9001.txt", "ISO-9002.txt"], [None, None]),
        (["report-2019.txt", "report-2021.txt"], [None, None]),
        (["case-12/letter.txt", "case-13/letter.txt"], [None, None]),
        (["lease 28.02.21.txt", "lease 01.03.21.txt"], [None, None]),
        (["lease 12.31.20.txt", "lease 01.01.21.txt"], [None, None]),
        (["lease 28.02.txt", "lease 01.03.txt"], [None, None]),
        (["lease 28_2.txt", "lease 1_3.txt"], [None, None]),
        (["lease 12.03.21.txt", "lease 13.03.21.txt"], ["12.03.21", "13.03.21"]),
        (["lease v28.02.21.txt", "lease v01.03.21.txt"], ["v28.02.21", "v01.03.21"]),
        (["spec 2.1.txt", "spec 1.2.txt", "spec 1.10.txt"], ["2.1", "1.2", "1.10"]),
        (["spec 2.1.3.txt", "spec 1.2.3.txt"], ["2.1.3", "1.2.3"]),
        ([], []),
    ],
)
def test_a_number_without_a_word_is_a_version_if_only_the_number_differs(
    names: list[str], wanted: list[str | None]
) -> None:
    assert wanted == [None if version is None else version.label for version in find_versions_in_names(names)]


def test_numbers_without_a_word_are_ordered() -> None:
    versions = find_versions_in_names(["plan-2.txt", "plan-2.1.txt", "plan-10.txt", "plan final.txt"])
    keys = [version.key for version in versions if version]

    assert len(versions) == len(keys)
    assert all(one < other for one, other in itertools.pairwise(keys))


@pytest.mark.parametrize(
    "copy",
    [
        "offer (1).docx",
        "offer - Kopie.docx",
        "offer copy 2.docx",
        "Copie de offer.docx",
        "Copy of Copy of offer.docx",
        "offer - Copy (2) - Copy.docx",
        "offer (1) (1).docx",
        "offer (another copy).docx",
        "offer (3rd copy).docx",
        "offer - 副本.docx",
    ],
)
def test_a_copy_is_neither_newer_nor_older(copy: str) -> None:
    assert [None, None] == find_versions_in_names(["offer.docx", copy])
    of_version = find_versions_in_names(["offer v1.docx", copy.replace("offer", "offer v2")])
    assert [("offer", "v1"), ("offer", "v2")] == [(version.stem, version.label) for version in of_version if version]


def test_a_name_without_a_version_may_be_the_first_or_the_latest() -> None:
    """If other names have numbers, it has no version. If they have stages, it is between draft and final."""
    numbered = find_versions_in_names(["offer.docx", "offer v1.docx", "offer v2.docx"])
    staged = find_versions_in_names(["offer draft.docx", "offer.docx", "offer final.docx"])

    assert numbered[0] is None
    assert [-1, 0, 1] == [version.key[1] for version in staged if version]


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["rota old.txt", "rota.txt", "rota new.txt", "rota new 2.txt"], ["old", "", "new", "new 2"]),
        (["Vertrag_alt.odt", "Vertrag.odt", "neuer Vertrag.odt"], ["alt", "", "neuer"]),
        (["contrat (ancien).odt", "contrat.odt", "contrat nouveau.odt"], ["ancien", "", "nouveau"]),
        (["rota final.txt", "rota new.txt", "rota.txt"], ["final", None, ""]),
        (["rota v2.txt", "rota old.txt", "rota.txt"], ["v2", None, None]),
        (["old.txt", "new.txt", "Altbau.txt", "renew.txt"], [None] * 4),
    ],
)
def test_words_for_the_age_are_versions_if_there_are_no_others(names: list[str], wanted: list[str | None]) -> None:
    versions = find_versions_in_names(names)
    keys = [version.key for version in versions if version and None not in wanted]

    assert wanted == [None if version is None else version.label for version in versions]
    assert keys == sorted(set(keys))
