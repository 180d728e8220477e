"""Tests of the order that determines which document of a group is kept."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest

from simdoc_search.documents import MetadataValue
from simdoc_search.duplicates.keep_order import KeepCriteria, KeepRule
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
        ("Old contracts/a.txt", "backup/a.txt", "Backups/a.txt", "My Back-Up 2024/a.txt", "backup/backup/a.txt"),
        ("a longer name.txt", "Desktop/a.txt"),
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


@pytest.mark.parametrize("rule", ["", "longer", "max:", "max", "mean:year"])
def test_an_unknown_rule_is_refused(rule: str) -> None:
    with pytest.raises(QuerySyntaxError, match="keep must be one of longest, first, newest, oldest, max:FIELD or min"):
        KeepRule(rule)


def test_preferred_documents_come_first_and_new_ones_last() -> None:
    assert "bdac" == order("first", preferred="bd")
    assert "cdab" == order("first", new="ab")
    assert "dcba" == order("first", new="ab", preferred="bd")
