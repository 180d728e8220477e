"""Tests of the order that determines which document of a group is kept."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
import pytest

from simdoc_search.documents import MetadataValue
from simdoc_search.duplicates.keep_order import KeepCriteria, KeepRule, TimeWritten, WrittenDocument, find_first_mtimes
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.passages.exact_overlap import MeasureName

IDS = ["d", "c", "b", "a"]
SHINGLES, WRITTEN = np.array([5, 9, 9, 1]), np.array([4, 0, 2, 3])


def order(
    rule: str, *values: MetadataValue | None, new: str = "", preferred: str = "", measure: MeasureName = "jaccard",
    copies: tuple[int, ...] = (1, 1, 1, 1),
) -> str:  # fmt: skip
    """Return the ids in keep order. Each letter of `new` and `preferred` is an id."""
    flags = (np.array([id in ids for id in IDS]) for ids in (new, preferred))
    count = np.array(copies)
    criteria = KeepCriteria(IDS.__getitem__, IDS.__getitem__, SHINGLES, count, count, WRITTEN, values, *flags)
    return "".join(IDS[number] for number in KeepRule(rule, measure).order(criteria))


@pytest.mark.parametrize(
    ("rule", "values", "expected"),
    [
        ("longest", (), "bcda"),
        ("first", (), "abcd"),
        ("newest", (), "dabc"),
        ("oldest", (), "badc"),
        ("max:year", (2001, 2020, None, 1999), "cdab"),
        ("min:year", (2001, 2020, None, 1999), "adcb"),
        ("max:year", ("b", "a", 3, True), "badc"),
        ("max:year", (2001, {"all": 9}, float("nan"), 1999), "dabc"),
        ("min:year", (float("nan"), ["2"], [], "1"), "acbd"),
    ],
)
def test_a_rule_orders_documents(rule: str, values: tuple[MetadataValue, ...], expected: str) -> None:
    """Documents b and c have the same length, and c has no date. A list is ordered by its first value."""
    assert expected == order(rule, *values)


def test_texts_with_many_copies_precede_longer_ones() -> None:
    """This is only true for the rule `longest` with the measure `jaccard`."""
    copies = (2, 1, 1, 2)

    assert "dabc" == order("longest", copies=copies)
    assert "bcda" == order("longest", copies=copies, measure="containment")
    assert "badc" == order("oldest", copies=copies)


def test_the_older_of_equal_files_is_kept() -> None:
    """A file without a modification time comes last. On the same day, the shorter id decides."""
    ids = ["a", "scan of 2019", "b", "longer"]
    none, equal = np.zeros(4, np.bool_), np.array([1, 1, 1, 1])
    day = 86_400 * 10**9
    mtimes = np.array([0, 5 * day, 7 * day + 9, 7 * day])
    criteria = KeepCriteria(ids.__getitem__, ids.__getitem__, equal, equal, equal, 0 * equal, (), none, none, mtimes)

    assert [1, 2, 3, 0] == KeepRule("longest").order(criteria).tolist()


def test_a_file_precedes_the_attachments_with_the_same_words() -> None:
    """Several e-mails may have the same attachment."""
    ids = ["a.eml!offer.pdf", "b.eml!offer.pdf", "offer.docx"]
    none, equal = np.zeros(3, np.bool_), np.array([9, 9, 9])
    criteria = KeepCriteria(ids.__getitem__, ids.__getitem__, equal, equal, np.array([2, 2, 1]), equal, (), none, none)

    assert [2, 0, 1] == KeepRule().order(criteria).tolist()


@pytest.mark.parametrize(
    "names",
    [
        ("orig.txt", "orig (1).txt", "Lizenzen/orig (1).txt"),
        ("Lizenzen/GPL-3.txt", "Downloads/GPL-3 (1).txt"),
        ("Report (2021).txt", "Report - Copy.txt"),
        ("Copying/b.txt", "a copy 2.txt"),
        ("b.tar.gz", "Kopie von b.tar.gz"),
        ("b.tar.gz", "b_copy.tar.gz"),
        ("a longer name.txt", "a (copie).txt"),
        ("Offer (2041).txt", "Copia di b.txt"),
        (
            "a name that is longer than the names of both copies.txt",
            "b (another copy).txt",
            "a (Jo's conflicted copy 2021-03-01).txt",
        ),
        ("b.txt", "a~"),
        ("longer.txt", "a.bak"),
        ("old.zip!b.txt", "a.zip!b (1).txt"),
        ("b.txt", "x/a.txt", "copy.txt", "Kopie1.txt"),
        *(
            ("a much longer name.txt", unicodedata.normalize("NFD", copy))
            for copy in (
                "a - 副本 (2).txt",
                "a — копия.txt",
                "aのコピー.txt",
                "a - 복사본.txt",
                "a (สำเนา).txt",
                "a - Cópia.txt",
            )
        ),
        ("Work/Reports/a.txt", "Downloads/a.txt", "downloads/2020/a.txt", "Downloads/a (1).txt"),
        ("Old laptop/Contracts/a.txt", "Contracts (2)/a.txt", "Contracts - Copy/a.txt", "a - Copy.zip/sub/a.txt"),
        ("Downloads.txt", "my Downloads/a.txt"),
        ("Old laptop/a.txt", "Alt/a.txt", "_old/a.txt", "Archiv/a.txt", "Altes 2019/a.txt", "Alt/Old/a.txt"),
        ("Old contracts/a.txt", "backup/a.txt", "Backups/a.txt", "My Back-Up 2024/a.txt", "backup/backup/a.txt"),
        ("a longer name.txt", "Desktop/a.txt", "01_Desktop/a.txt"),
        ("07 Photos/a.txt", "08 Downloads/a.txt", "8.Téléchargements/a.txt", "03Backup/2 - downloads/a.txt"),
        ("a much longer name.txt", unicodedata.normalize("NFD", "Téléchargements/a.txt")),
        ("a longer name.txt", "下载/a.txt"),
        ("a longer name.txt", "Transferências/a.txt"),
        ("a longer name.txt", "İndirilenler/a.txt"),
        ("backups.txt", "Backuprecht/a.txt", "Sicherung_alt/a.txt"),
    ],
)
def test_names_order_documents_that_the_rule_does_not_distinguish(names: tuple[str, ...]) -> None:
    """Members of archives come last, before them names of copies, backups and downloads, then longer ids."""
    equal = np.ones(len(names), np.int64)
    backwards = names[::-1]
    criteria = KeepCriteria(
        backwards.__getitem__, backwards.__getitem__, equal, equal, equal, equal, (), equal > 0, equal > 1
    )

    for rule in ("longest", "newest"):
        assert list(names) == [backwards[number] for number in KeepRule(rule).order(criteria)]


def test_the_name_and_the_day_of_the_file_come_before_the_length() -> None:
    """Of texts with equal dates or values, `newest` keeps the later one, but the first file with its words.

    The texts of `d.pdf` and `d.docx` have the same words, and the longest text is in `Downloads`.
    """
    ids = ["Downloads/a", "early", "later", "d.pdf", "d.docx", "a.zip!b"]
    days = 86_400 * 10**9 * np.array([9, 2, 3, 8, 5, 1])
    none, equal, shingles = np.zeros(6, np.bool_), np.ones(6, np.int64), np.array([9, 4, 4, 5, 5, 9])
    first = find_first_mtimes(np.array([0, 1, 2, 3, 3, 4]), days)

    def order(rule: str, values: Sequence[MetadataValue | None] = ()) -> list[str]:
        criteria = KeepCriteria(
            ids.__getitem__, ids.__getitem__, shingles, equal, equal, equal, values, none, none, days, first
        )
        return [ids[number] for number in KeepRule(rule).order(criteria)]

    assert ["d.docx", "d.pdf", "later", "early", "Downloads/a", "a.zip!b"] == order("newest")
    assert ["early", "later", "d.docx", "d.pdf", "Downloads/a", "a.zip!b"] == order("oldest")
    assert order("oldest") == order("max:year", [2020] * 6)
    assert "Downloads/a" == order("longest")[0]


def test_the_longer_of_two_texts_without_files_is_kept() -> None:
    equal, none = np.ones(4, np.int64), np.zeros(4, np.bool_)
    criteria = KeepCriteria(IDS.__getitem__, IDS.__getitem__, SHINGLES, equal, equal, equal, [2020] * 4, none, none)

    assert [2, 1, 0, 3] == KeepRule("max:year").order(criteria).tolist()


@pytest.mark.parametrize(
    ("kept", "other", "is_newer"),
    [
        ("report v1.txt", "report v2.txt", True),
        ("report_v1_export.txt", "Report v2.odt", True),
        ("report v1.txt", "final/report v2 to print.txt", True),
        ("report v1 export.txt", "report v1.odt", False),
        ("report v2 export.txt", "report v1.odt", False),
        ("lease v1 Smith.txt", "lease v2 Jones.txt", False),
        ("GPL-2 text.txt", "GPL-3.txt", False),
        ("report export.txt", "report v2.txt", False),
    ],
)
def test_a_later_version_in_a_name_is_told(kept: str, other: str, *, is_newer: bool) -> None:
    """The names must be equal otherwise, or one has other words in addition."""
    expected = "by the versions in the names, this one is newer" if is_newer else ""
    documents = (WrittenDocument(name, TimeWritten()) for name in (kept, other))

    assert expected == KeepRule("newest").describe_conflict(*documents)


@pytest.mark.parametrize("rule", ["newest", "oldest"])
@pytest.mark.parametrize(
    ("kept", "other", "is_told"),
    [
        (("Budget 2024.csv", "2024"), ("Budget 2024 corrected.xlsx", "2023-12-12"), True),
        (("Agenda 2024-06.docx", "2024-05-20"), ("Agenda 2024-06-01.txt", "2024-06-01"), True),
        (("Budget 2024.csv", "2024"), ("Budget corrected.xlsx", "2023-12-12"), False),
        (("Budget 2024.csv", "2024"), ("Budget 2023 corrected.xlsx", "2023-12-12"), False),
        (("Budget 2024.xlsx", "2023-11-20"), ("Budget 2024 corrected.xlsx", "2023-12-12"), False),
        (("Budget 2024.csv", "2024"), ("Budget 2024 corrected.csv", "2024"), False),
    ],
)
def test_dates_that_cannot_be_compared_are_told(
    rule: str, kept: tuple[str, str], other: tuple[str, str], *, is_told: bool
) -> None:
    """Both names have the same date, and only one document has a date in its metadata."""
    documents = (
        WrittenDocument(name, TimeWritten.from_date(tuple(map(int, date.split("-"))))) for name, date in (kept, other)
    )
    expected = "both names have the same date, so the dates do not show which is newer" if is_told else ""

    assert expected == KeepRule(rule).describe_conflict(*documents)


@pytest.mark.parametrize("rule", ["", "longer", "max:", "max", "mean:year"])
def test_an_unknown_rule_is_refused(rule: str) -> None:
    with pytest.raises(QuerySyntaxError, match="keep must be one of longest, first, newest, oldest, max:FIELD or min"):
        KeepRule(rule)


def test_preferred_documents_come_first_and_new_ones_last() -> None:
    assert "bdac" == order("first", preferred="bd")
    assert "cdab" == order("first", new="ab")
    assert "dcba" == order("first", new="ab", preferred="bd")
