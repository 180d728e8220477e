"""Tests of the order of versions, of the newest version, and of the changes between consecutive versions."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unicodedata import normalize

import pytest

from simdoc_search import Document, SimilaritySearch, open_store, read_corpus
from simdoc_search.cli.versions_output import version_lines
from simdoc_search.search.files import IndexedFiles
from simdoc_search.stores.record import ALL_PARTS
from tests.support.cli import write
from tests.support.families import SETTINGS, prose, simhashes_of
from tests.support.stores import put, record
from tests.versions.paper import DOCUMENTS


@pytest.fixture
def search() -> Iterator[SimilaritySearch]:
    """A search over an empty store with sentences."""
    with open_store(":memory:", SETTINGS) as store:
        yield SimilaritySearch(store)


def test_changes_are_counted_in_words_along_the_order(search: SimilaritySearch) -> None:
    first = prose(12, 7)
    texts = {
        "plan 2021-01-05.txt": [*first],
        "plan 2021-03-01.txt": [*first, "Seven words more stand at the end."],
        "plan 2020-11-30.txt": first[:-2],
    }
    search.index(Document(id, " ".join(sentences)) for id, sentences in texts.items())
    result = search.versions("plan 2021-01-05.txt")
    words = len(" ".join(first[-2:]).split())
    timeline = [(version.name[5:-4], version.is_query) for version in result.timeline]
    steps = [
        (changes.share, changes.added_word_count, changes.removed_word_count)
        for changes in (version.changes for version in result.timeline)
        if changes
    ]

    assert [("2020-11-30", False), ("2021-01-05", True), ("2021-03-01", False)] == timeline
    assert [(1.0, words, 0), (1.0, 7, 0)] == steps
    assert ("name", True, "by the dates in the names") == (result.evidence_kind, result.is_certain, result.reason)
    assert result.newest is result.timeline[-1]
    assert {hit.id: hit.entry for hit in result} == {
        version.name: version for version in result.timeline if not version.is_query
    }
    assert "  1 Mar 2021            100 %         +7 −0 words  plan 2021-03-01.txt  (newest)" in str(result).split("\n")
    assert "newest: plan 2021-03-01.txt, by the dates in the names" == str(result).split("\n")[-1]


@pytest.mark.parametrize(
    ("name", "is_doubted"), [("backup/plan.txt", True), ("Archive 2/plan.txt", True), ("new/plan.txt", False)]
)
def test_a_newest_file_in_a_folder_of_backups_or_old_files_is_doubted(
    search: SimilaritySearch, tmp_path: Path, name: str, is_doubted: bool
) -> None:
    doubt = ". Its name or folder is that of a backup, a download or an old file, so this may be the time of copying"
    first = prose(12, 7)
    write(tmp_path, {"plan.txt": " ".join(first), name: " ".join(first[:-2])})
    os.utime(tmp_path / "plan.txt", (1e9, 1e9))
    search.index(read_corpus([str(tmp_path)]))

    verdict = f"newest: {name}, by the modification times of the files{doubt if is_doubted else ''}"
    assert verdict == search.versions("plan.txt").verdict


def index_contracts(search: SimilaritySearch, folder: Path, days: dict[str, int], *, copy: str) -> None:
    """Index contracts of 2022, 2023 and 2024, and `copy` as a PDF of the last one. `days` are their file times."""
    first = prose(12, 7)
    texts = {f"lease {2022 + number}.txt": " ".join([*first[number:], f"Page {number}."]) for number in range(3)}
    pdf = texts["lease 2024.txt"].replace(". ", ".\n\n").replace("Page 2.", copy)
    write(folder, {name: text for name, text in {**texts, "lease 2024 as pdf.txt": pdf}.items() if name in days})
    for name, day in days.items():
        os.utime(folder / name, (1e9 + 86_400 * day,) * 2)
    search.index(read_corpus([str(folder)]))


CONTRACTS = {"lease 2022.txt": 1, "lease 2023.txt": 2, "lease 2024.txt": 3}
CONFLICT = CONTRACTS | {"lease 2022.txt": 9}


@pytest.mark.parametrize(
    ("days", "verdict"),
    [
        (CONTRACTS, "newest: lease 2024.txt, by the dates in the names"),
        (CONTRACTS | {"lease 2024 as pdf.txt": 3}, "newest: lease 2024.txt, by the dates in the names"),
        (CONTRACTS | {"lease 2024 as pdf.txt": 4}, "newest: lease 2024.txt, by the dates in the names"),
        (
            CONFLICT | {"lease 2024 as pdf.txt": 4},
            "newest: not known, because the evidence conflicts. Without the modification times of the files, it is "
            "lease 2024.txt",
        ),
    ],
)
def test_texts_that_differ_in_line_breaks_only_are_one_version(
    search: SimilaritySearch, tmp_path: Path, days: dict[str, int], verdict: str
) -> None:
    """A PDF file of the newest contract changes nothing. With an equal time, the shorter name is preferred."""
    index_contracts(search, tmp_path, days, copy="Page 2.")

    assert verdict == search.versions("lease 2023.txt").verdict
    assert verdict == search.versions("lease 2024.txt").verdict
    text = (tmp_path / "lease 2024.txt").read_text().replace(". ", ".\n\n")
    assert verdict == search.versions(text=text).verdict


def test_texts_in_another_unicode_form_are_one_version(search: SimilaritySearch, tmp_path: Path) -> None:
    """macOS writes an accented letter as two characters."""
    composed = " ".join([*prose(12, 7), "Une idée très chère."])
    write(tmp_path, {"a.txt": composed, "b.txt": normalize("NFD", composed)})
    os.utime(tmp_path / "a.txt", (1e9, 1e9))
    search.index(read_corpus([str(tmp_path)]))

    verdict = "newest: none, because all versions have the same words and punctuation"
    assert verdict == search.versions("a.txt").verdict
    assert verdict == search.versions(text=normalize("NFC", composed)).verdict


def test_tables_with_an_amount_in_another_column_are_two_versions(search: SimilaritySearch, tmp_path: Path) -> None:
    """Tables with the same cells and another delimiter are one version."""
    rows = [*(f"{text.replace(',', '')},{number},7" for number, text in enumerate(prose(12, 7))), "rent,,850"]
    table = "\n".join(rows)
    write(tmp_path, {"a.csv": table, "b.csv": table.replace(",", ";") + "\n"})
    search.index(read_corpus([str(tmp_path)]))

    assert search.versions("a.csv").verdict.startswith("newest: none")
    write(tmp_path, {"b.csv": table.replace("rent,,850", "rent,850,")})
    search.index(read_corpus([str(tmp_path)]))
    assert search.versions("a.csv").verdict.startswith("newest: not known")


@pytest.mark.parametrize("copy", ["Page -2.", "Page 3.", "PAGE 2."])
@pytest.mark.parametrize(
    ("days", "verdict"),
    [
        (
            CONTRACTS | {"lease 2024 as pdf.txt": 3},
            "newest: not known, because no evidence shows whether lease 2024.txt or lease 2024 as pdf.txt is newer",
        ),
        (
            CONTRACTS | {"lease 2024 as pdf.txt": 4},
            "newest: lease 2024 as pdf.txt, by the dates in the names and the modification times of the files",
        ),
        (CONFLICT | {"lease 2024 as pdf.txt": 4}, "newest: not known, because the evidence conflicts"),
    ],
)
def test_other_words_signs_and_letter_case_are_another_version(
    search: SimilaritySearch, tmp_path: Path, days: dict[str, int], verdict: str, copy: str
) -> None:
    index_contracts(search, tmp_path, days, copy=copy)

    assert verdict == search.versions("lease 2023.txt").verdict


def test_the_verdict_does_not_contradict_the_evidence(search: SimilaritySearch, tmp_path: Path) -> None:
    """File times order the two, but do not count. The other name without a date has no version."""
    names = ("a 2001.txt", "b.txt", "lease.txt", "lease draft.txt")
    texts = (" ".join([*prose(12, number // 2), f"Page {number}."]) for number in range(4))
    write(tmp_path, dict(zip(names, texts, strict=True)))
    for day, name in enumerate(names):
        os.utime(tmp_path / name, (1e9 + 86_400 * day,) * 2)
    search.index(read_corpus([str(tmp_path)]))

    dated = search.versions("a 2001.txt")
    assert "by the modification times of the files" == dated.order_description
    assert (
        "newest: not known. a 2001.txt has a date of its own, 2001. b.txt has only a modification time, which may be "
        "the time of copying"
    ) == dated.verdict
    staged = search.versions("lease.txt")
    assert [
        "by the versions in the names, lease.txt (no version) is newer than lease draft.txt (draft)",
        "by the modification times of the files, lease draft.txt (12 Sep 2001) is newer than lease.txt (11 Sep 2001)",
    ] == [str(statement) for pair in staged.contradictions for statement in pair]


def test_the_copy_that_a_date_comes_from_is_named(search: SimilaritySearch, tmp_path: Path) -> None:
    text = " ".join(prose(12, 7))
    write(tmp_path, {"lease 2022.txt": text, "lease 2023.txt": f"{text} More.", "scan.txt": text})
    search.index(read_corpus([str(tmp_path)]))
    result = search.versions("lease 2023.txt")

    assert ["", "", "lease 2022.txt"] == [
        entry.date_copy for entry in sorted(result.entries, key=lambda entry: entry.name)
    ]
    assert any(line.endswith("scan.txt  (dated by its copy lease 2022.txt)") for line in result.timeline_lines())


def test_a_text_that_changed_after_indexing_is_another_version(search: SimilaritySearch, tmp_path: Path) -> None:
    """The sign was removed after indexing. The sentences and hashes in the index are those of the old text."""
    index_contracts(search, tmp_path, CONTRACTS | {"lease 2024 as pdf.txt": 3}, copy="Page -2.")
    (stored,) = search.store.records(["lease 2024 as pdf.txt"], load=ALL_PARTS)
    assert stored.text
    put(search.store, replace(stored, text=stored.text.replace("-", "")))

    assert search.versions("lease 2023.txt").newest is None


def test_dates_in_names_and_metadata_are_compared_with_each_other(search: SimilaritySearch) -> None:
    first = prose(12, 3)
    metadata: dict[str, dict[str, str]] = {
        "2019/plan.txt": {},
        "mail1": {"sent": "2021-02-01"},
        "mail2": {"sent": "2021-02-02"},
        "note": {},
    }
    search.index(Document(id, " ".join(first[: 9 + n]), values) for n, (id, values) in enumerate(metadata.items()))
    result = search.versions("mail1")

    assert ("mixed dates", None) == (result.evidence_kind, result.newest)
    assert ["2019", "1 Feb 2021", "2 Feb 2021"] == [result.date_label(version) for version in result.timeline]
    assert ["note"] == [version.name for version in result.unordered]
    assert "documents whose place in the order is unknown:" in str(result).split("\n")
    assert "no date or version" == result.describe_unknown_place(result.unordered[0])
    assert str(result).endswith(
        "newest: not known. mail2 is the newest of the ordered documents, by the dates in the metadata, names or "
        "commits. note could not be ordered and may be newer"
    )


def test_a_text_that_changed_after_indexing_is_reported(search: SimilaritySearch) -> None:
    """The sentences are those that were indexed. The words of a step are those of the current text."""
    search.index([Document("v1", DOCUMENTS[0])])
    put(search.store, record("v2", text="This text was changed later.", sentences=simhashes_of(DOCUMENTS[1]).tolist()))
    unchanged, changed = search.versions("v1"), search.versions("v2")
    (hit,) = unchanged.hits

    assert (True, 1.0, 5) == (hit.changed, hit.share, hit.entry.changes.added_word_count if hit.entry.changes else None)
    assert [("v1", False)] == [(hit.id, hit.changed) for hit in changed]
    assert (False, True) == (unchanged.changed, changed.changed)
    for result in (unchanged, changed):
        assert any(line.startswith("1 text changed since indexing") for line in version_lines(result, None, "store"))


def test_modification_times_order_files(search: SimilaritySearch, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    first = prose(12, 3)
    for number, days in enumerate((3, 1, 2)):
        file = folder / f"{'abc'[number]}.txt"
        file.write_text(" ".join(first[: 12 - number]))
        os.utime(file, (1_600_000_000 + 86_400 * days,) * 2)
    search.index(read_corpus([folder]))
    indexed = IndexedFiles(search.store).get(folder / "a.txt")
    stored = search.versions("b.txt")
    text = (folder / "a.txt").read_text()
    result = search.versions(text=text, file=folder / "a.txt", exclude=indexed.key if indexed else None)

    names = [version.name for version in stored.timeline]
    assert (["b.txt", "c.txt", "a.txt"], "modification time") == (names, stored.evidence_kind)
    assert ["b.txt", "c.txt", str(folder / "a.txt")] == [version.name for version in result.timeline]


def test_the_last_commits_of_files_order_them(search: SimilaritySearch, tmp_path: Path) -> None:
    """Commits are only used without better evidence, and only if `use_git` is set."""
    first = prose(12, 3)
    for number, name in enumerate("bac"):
        (tmp_path / f"{name}.txt").write_text(" ".join(first[: 12 - number]))
    for name, day in (("b", 3), ("a", 1), ("c", 2)):
        time = f"2021-03-0{day}T10:00:00Z"
        dates = {"GIT_AUTHOR_DATE": time, "GIT_COMMITTER_DATE": time}
        author = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        for arguments in (["init", "-q"], ["add", f"{name}.txt"], [*author, "commit", "-qm", "a"]):
            subprocess.run(["git", *arguments], cwd=tmp_path, check=True, env=os.environ | dates)
    search.index(read_corpus([tmp_path]))
    with_git = search.versions("a.txt")

    assert (["a.txt", "c.txt", "b.txt"], "version control") == (
        [entry.name for entry in with_git.timeline],
        with_git.evidence_kind,
    )
    assert "texts" == search.versions("a.txt", use_git=False).evidence_kind


def test_headers_of_emails_are_not_changes(search: SimilaritySearch) -> None:
    """A text that begins in the same way, but is not an e-mail, is compared as a whole."""
    body = " ".join(prose(12, 7))
    mails = [
        f"Subject: {prefix}Rent\nFrom: {name}@a.org\nDate: {day} Apr 2023\n\n{body}"
        for prefix, name, day in (("", "ann", 4), ("Re: ", "bob", 5))
    ]
    for extension, is_changed in ((".eml", False), (".txt", True)):
        search.index(Document(f"{number}{extension}", mail) for number, mail in enumerate(mails))
        changes = search.versions(f"0{extension}", filters={"path": f"1{extension}"}).timeline[-1].changes
        assert changes is not None
        assert (is_changed, is_changed) == (bool(changes.change_lines), bool(changes.added_word_count))


@pytest.mark.parametrize(("count", "last_line"), [(3, "1 word replaced: “9,5” → “9.5”"), (5, "and 2 more changes")])
def test_of_many_changes_that_are_not_significant_three_are_quoted(
    count: int, last_line: str, search: SimilaritySearch
) -> None:
    rows = [
        f"item{number}\tsold by the metre at the counter of the shop\t{number},5\n" for number in range(7, 7 + count)
    ]
    search.index([Document("a.csv", "".join(rows)), Document("b.csv", "".join(rows).replace(",", "."))])
    changes = search.versions("a.csv").timeline[-1].changes
    assert changes is not None

    assert "1 word replaced: “7,5” → “7.5”" == changes.change_lines[0]
    assert (min(count, 4), last_line) == (len(changes.change_lines), changes.change_lines[-1])
