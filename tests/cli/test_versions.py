"""`simdoc-search versions` for one document or file, and `defaults`."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from simdoc_search.cli import versions_page
from tests.support import formats
from tests.support.cli import answer, json_lines, output, run, sentence, usage_error, words, write

pytestmark = pytest.mark.usefixtures("folder")

SENTENCES = [
    "The harbour was closed in winter, as the ice came early that year.",
    "Nobody had repaired the crane since the great storm.",
    "Every morning a man with two dogs walked along the quay.",
    "The council promised a new light for the northern pier.",
    "Fish was sold from the boats, and not in the market hall.",
    "An old ferry still crossed to the islands on Sundays.",
]
HOSTILE = "</bdi><script>alert(1)</script><img src=x onerror=alert(1)> was written on the wall by somebody."
SECOND = [*SENTENCES[:2], SENTENCES[2].replace("Every", "Each"), *SENTENCES[3:], "Later a museum was opened there."]
THIRD = [*SECOND[1:], HOSTILE]
FILES: dict[str, str | bytes] = {
    "corpus/2021/Report.txt": " ".join(SENTENCES),
    "corpus/2022/Report.txt": " ".join(SECOND),
    "corpus/2023/Report <b>.txt": " ".join(THIRD),
    "corpus/2020/other.txt": "Cats sleep all day. Dogs wake at the slightest noise and bark at strangers.",
    "new.txt": " ".join([*THIRD, "And that is all there is to say."]),
    "rows.jsonl": json_lines({"id": "one", "text": " ".join(SENTENCES)}, {"id": "two", "text": " ".join(SECOND)}),
}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with indexed versions, and a file that is not indexed."""
    folder = write(tmp_path_factory.mktemp("versions"), FILES)
    for store, path, options in (
        (".simdoc", "corpus", ["--with", "versions"]),
        ("rows", "rows.jsonl", ["--with", "versions", "--no-texts"]),
        ("plain", "corpus", []),
    ):
        output("index", folder / path, "--store", folder / store, *options)
    return folder


def hits(*arguments: object) -> list[str]:
    return [hit["id"] for hit in answer("versions", *arguments)["hits"]]


def test_the_timeline_shows_the_order_and_the_changes() -> None:
    added, removed = len(re.findall(r"\w+", HOSTILE)), len(SECOND[0].split())

    assert [
        "            similar sentences             changed  document, oldest first",
        "        2021                                       2021/Report.txt",
        "        2022            100 %         +7 −1 words  2022/Report.txt  (your document)",
        "              1 word replaced: “Every” → “Each”",
        "              6 words inserted: “Later a museum was opened there”",
        f"        2023             86 %       +{added} −{removed} words  2023/Report <b>.txt  (newest)",
        "              number: </bdi><script>alert( “1 … 1” (added)",
        "order: by the dates in the names",
        "newest: 2023/Report <b>.txt, by the dates in the names",
        "2 other versions, 2 documents compared",
        "to see the last change, run: simdoc-search compare 2022/Report.txt '2023/Report <b>.txt'",
    ] == output("versions", "2022/Report.txt").splitlines()
    assert "museum" not in output("compare", "2022/Report.txt", "2023/Report <b>.txt").splitlines()[0]


def test_later_versions_may_be_missing_if_the_newest_one_differs_a_lot_from_the_query() -> None:
    """The newest version has 5 of its 7 sentences in the first one, and 6 of 7 in the second one."""
    hint = (
        "some later versions may not be listed, because they have too little in common with 2021/Report.txt. Find "
        "later versions with: simdoc-search versions '2023/Report <b>.txt'"
    )

    assert hint == output("versions", "2021/Report.txt").splitlines()[-1]
    assert "later versions" not in output("versions", "2022/Report.txt")
    assert "later versions" not in output("versions", "2023/Report <b>.txt")
    assert "later versions" not in output("versions", "2021/Report.txt", "--min-share", "40")


def test_the_command_for_the_last_change_ignores_versions_with_the_same_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Among equal versions, it names the query document. If all have the same words, it compares the last two."""
    monkeypatch.chdir(tmp_path)
    first, second = " ".join(SENTENCES), " ".join(SECOND)
    write(tmp_path, {"docs/a 2021.txt": first, "docs/a 2022.txt": second, "docs/a 2023.txt": f"{second}\n"})
    output("index", "docs")
    command = "to see the last change, run: simdoc-search compare"

    assert f"{command} 'a 2021.txt' 'a 2022.txt'" in output("versions", "a 2022.txt")

    write(tmp_path, {"docs/a 2021 - Copy.txt": first, "docs/a 2022 - Copy.txt": second})
    output("index", "docs")

    assert f"{command} 'a 2021.txt' 'a 2022.txt'" in output("versions", "a 2021.txt")
    assert f"{command} 'a 2021.txt' 'a 2023.txt'" in output("versions", "a 2023.txt")
    assert f"{command} 'a 2021 - Copy.txt' 'a 2022.txt'" in output("versions", "a 2021 - Copy.txt")

    for path in (tmp_path / "docs").glob("* - Copy.txt"):
        path.unlink()
    if os.name == "posix":
        (tmp_path / "docs/a 2021 b.txt").symlink_to("a 2021.txt")
        (tmp_path / "docs/a 2020.txt").symlink_to("a 2021.txt")
        output("index", "docs", "--prune")

        assert f"{command} 'a 2021.txt' 'a 2022.txt'" in output("versions", "a 2020.txt")

        (tmp_path / "docs/a 2021 b.txt").unlink()
        (tmp_path / "docs/a 2020.txt").unlink()
    (tmp_path / "docs/a 2021.txt").write_text(f"{second}\n\n")
    output("index", "docs", "--prune")

    assert f"{command} 'a 2022.txt' 'a 2023.txt'" in output("versions", "a 2022.txt")


def test_the_command_for_an_undecided_version_names_the_query_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the same words as the newest of the ordered documents."""
    monkeypatch.chdir(tmp_path)
    first, second, third = (" ".join(text) for text in (SENTENCES, SECOND, THIRD))
    write(tmp_path, {"docs/a 2021.txt": first, "docs/a 2022.txt": second, "docs/b.txt": second, "docs/c.txt": third})
    output("index", "docs")

    for query, named in (("a 2021.txt", "'a 2022.txt'"), ("a 2022.txt", "'a 2022.txt'"), ("b.txt", "b.txt")):
        command = f"to see how these two differ, run: simdoc-search compare {named} c.txt"
        assert command in output("versions", query).splitlines()


def test_a_larger_distance_is_proposed_if_it_finds_versions() -> None:
    changed = " ".join(sentence.replace("the", "a") for sentence in SENTENCES)
    Path("changed.txt").write_text(changed)
    *_, count, hint = output("versions", "--file", "changed.txt", "--max-distance", 0).splitlines()

    assert count.startswith("no other version, ")
    assert "to see 2 documents with more changes in each sentence or row, add --max-distance 16" == hint
    assert "Report.txt" in output("versions", "--file", "changed.txt", "--max-distance", 16)


def test_a_file_has_versions() -> None:
    lines = output("versions", "--file", "new.txt").splitlines()
    names = [line[51:].split("  (")[0] for line in lines[1:7] if "”" not in line]

    assert ["2021/Report.txt", "2022/Report.txt", "2023/Report <b>.txt"] == names
    assert "documents whose place in the order is unknown:" == lines[7]
    assert lines[8].endswith("  new.txt  (only its modification time is known, your document)")
    last = "2023/Report <b>.txt is the newest of the ordered documents, by the dates in the names"
    assert f"newest: not known. {last}. new.txt could not be ordered and may be newer" in lines
    assert "to see how these two differ, run: simdoc-search compare '2023/Report <b>.txt' new.txt" in lines
    own = output("versions", "--file", "corpus/2023/Report <b>.txt")
    assert "Your file is in the index as '2023/Report <b>.txt'. It is listed once, as your document." in own


def test_json_has_scores_dates_words_and_sentences() -> None:
    result = answer("versions", "2022/Report.txt", "--sentences")
    first, last = sorted(result["hits"], key=lambda hit: hit["id"])
    text = {id: str(FILES[f"corpus/{id}"]) for id in ("2021/Report.txt", "2022/Report.txt")}
    pairs = [(text["2022/Report.txt"][slice(*p["a"])], text["2021/Report.txt"][slice(*p["b"])]) for p in first["pairs"]]
    distances = [pair["distance"] for pair in first["pairs"]]

    assert {"id": "2022/Report.txt", "file": None} == result["query"]
    assert (0.75, 2, 2, 2) == tuple(
        result[name] for name in ("min_version_score", "total", "candidate_count", "compared_count")
    )
    assert (7, 7) == (result["sentence_count"], result["queried_sentence_count"])
    order = {"evidence_kind": "name", "is_certain": True, "conflicts": [], "reason": "by the dates in the names"}
    assert (order, [], "2023/Report <b>.txt") == (result["order"], result["unordered"], result["newest"]["id"])
    timeline = [(entry["date"], entry["is_query"]) for entry in result["timeline"]]
    assert [("2021", False), ("2022", True), ("2023", False)] == timeline
    scores = {"score": 1.0, "share": 6 / 7, "share_of_hit": 1.0, "sentence_count": 6, "matched_sentence_count": 6}
    dates = {"date": "2021", "date_evidence_kind": "name", "similar_share": None, "changed": False}
    assert (scores | dates).items() <= first.items()
    assert {"added_word_count": 7, "removed_word_count": 1}.items() <= result["timeline"][1].items()
    assert last["removed_word_count"] == len(SECOND[0].split())
    assert list(zip(SECOND, SENTENCES, strict=False)) == pairs
    assert [0, 0] == distances[:2]
    assert 0 < distances[2] <= 7
    assert first["mean_distance"] == sum(distances) / 6


def test_json_says_why_the_newest_is_not_known_and_whose_date_a_copy_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = " ".join(SENTENCES), " ".join(SECOND)
    write(tmp_path, {"docs/a 2021.txt": first, "docs/b 2021.txt": second, "docs/copy of it.txt": second})
    write(tmp_path, {"docs/0 2020.txt": f"{first} One more."})
    for path in (tmp_path / "docs").iterdir():
        os.utime(path, (1e9, 1e9))
    output("index", "docs")
    result = answer("versions", "a 2021.txt")
    (family,) = answer("versions", "--all")["families"]

    undecided = result["undecided"]
    verdict = (
        f"newest: not known, because no evidence shows whether {undecided['later']} or {undecided['earlier']} is newer"
    )
    assert (None, verdict, None) == (result["newest"], result["verdict"], undecided["dated"])
    assert "a 2021.txt" in undecided.values()
    assert {"copy of it.txt": "b 2021.txt", "a 2021.txt": None}.items() <= {
        entry["id"]: entry["date_copy"] for entry in result["timeline"]
    }.items()
    assert (verdict, undecided) == (family["verdict"], family["undecided"])


def test_sentences_are_listed_with_their_places() -> None:
    lines = output("versions", "2022/Report.txt", "--sentences").splitlines()
    at = lines.index("2021/Report.txt: 6 sentences are equal or similar to sentences of 2022/Report.txt")

    assert [
        "   equal  line 1 → line 1",
        "          “The harbour was closed in winter, as the ice … early that year.”",
    ] == lines[at + 1 : at + 3]
    assert [
        " similar  line 1 → line 1",
        f"          “{SECOND[2]}”",
        f"          “{SENTENCES[2]}”",
    ] == lines[at + 5 : at + 8]


def test_without_dates_and_texts_the_order_is_a_hint() -> None:
    lines = output("versions", "one", "--store", "rows", "--sentences").splitlines()

    assert lines[1].startswith("This order is only a hint, because it is based on the texts alone.")
    assert ["one  (your document)", "two"] == [line[51:] for line in lines[2:4]]
    assert "words" not in "".join(lines[2:4])
    assert "newest: not known, because no evidence shows which is newer" in lines
    assert "to see the last change, run: simdoc-search compare one two --store rows" in lines
    assert "two: the similar sentences cannot be shown, because one of the texts is not stored" in lines


def test_thresholds_filters_and_pages_select_versions() -> None:
    assert [] == hits("2022/Report.txt", "--min-share", "100", "--min-smaller-share", "100")
    assert ["2021/Report.txt"] == hits("2022/Report.txt", "--filter", "path=2021/")
    assert ["2023/Report <b>.txt"] == hits("2022/Report.txt", "--exclude", "path=2021/")
    pages = [hits("2021/Report.txt", "--size", "1", "--offset", n) for n in range(3)]
    assert ([1, 1, 0], True) == ([len(page) for page in pages], pages[0] != pages[1])
    first_page = output("versions", "2021/Report.txt", "--size", "1")
    assert "Showing 1 of 2 other versions. Show more with --size 100. 2 documents compared" in first_page
    assert "(newest)" in first_page


def test_the_page_shows_each_version_beside_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.html"

    def html(*arguments: object) -> str:
        assert f"page: {page}" in output("versions", *arguments, "--html", page)
        return page.read_text("utf-8")

    shown = html("2022/Report.txt")
    names = re.findall(r'<(?:summary|div) class="row"><bdi class="what">(.*?)</bdi>', shown)

    assert ["2021/Report.txt", "2022/Report.txt", "2023/Report &lt;b&gt;.txt"] == names
    assert 2 == shown.count('<details class="hit"><summary') == shown.count('<article class="pair"')
    assert ["your document", "newest"] == re.findall(r'<span class="how">(.*?)</span>', shown)
    assert "+7 −1 words" in shown
    assert "<p>order: by the dates in the names</p>" in shown
    assert "<p>newest: 2023/Report &lt;b&gt;.txt, by the dates in the names</p>" in shown
    assert (1, 0) == (shown.count("<script>"), shown.count("<img"))
    monkeypatch.setattr(versions_page, "_MAX_PAIRS", 1)
    shown = html("2022/Report.txt")
    assert 1 == shown.count('<article class="pair"')
    assert "1 version is not shown next to the previous version; to compare them, use `simdoc-search compare`" in shown
    shown = html("2021/Report.txt", "--size", 1)
    assert "<p>Showing 1 of 2 other versions. Show more with --size 100. 2 documents compared</p>" in shown


def test_modification_times_order_files_without_better_dates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"docs/a.txt": " ".join(SECOND), "docs/b.txt": " ".join(SENTENCES)})
    for name, day in (("a", 1), ("b", 2)):
        os.utime(f"docs/{name}.txt", (1_600_000_000 + 86_400 * day,) * 2)
    output("index", "docs", "--with", "versions")
    lines = output("versions", "a.txt").splitlines()
    result = answer("versions", "--file", "-", stdin=" ".join(THIRD))

    assert "14 Sep 2020" in lines[1]
    assert "order: by the modification times of the files" in lines
    assert ("modification time", None) == (result["order"]["evidence_kind"], result["query"]["id"])


def write_files(folder: Path, monkeypatch: pytest.MonkeyPatch, days: dict[str, tuple[str, int]]) -> None:
    """Index files, given the text and the modification day in September 2020 of each."""
    monkeypatch.chdir(folder)
    for name, (text, day) in days.items():
        write(folder, {f"docs/{name}": text})
        os.utime(f"docs/{name}", (1_598_961_600 + 86_400 * (day - 1),) * 2)
    output("index", "docs", "--with", "versions")


def test_a_conflict_names_the_copy_that_has_the_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text of `lease v2` is as old as its oldest copy."""
    first, second = " ".join(SENTENCES), " ".join(SECOND)
    days = {"lease v1.txt": (first, 10), "lease v2.txt": (second, 20), "backup.txt": (second, 5)}
    write_files(tmp_path, monkeypatch, days)

    assert "lease v2.txt (5 Sep 2020, from its copy backup.txt)" in output("versions", "lease v1.txt")
    (_, by_times) = answer("versions", "lease v1.txt")["order"]["conflicts"]
    assert {"name": "lease v2.txt", "date": "5 Sep 2020", "copy": "backup.txt"} == by_times["earlier"]
    assert {"name": "lease v1.txt", "date": "10 Sep 2020", "copy": None} == by_times["later"]


def test_a_document_that_could_not_be_ordered_is_shown_with_the_time_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time has a question mark. Cut families show the newest version too."""
    texts = [" ".join(text) for text in (SENTENCES, SECOND, THIRD)]
    days = {name: (text, 1) for name, text in zip(("lease v1.txt", "lease v2.txt", "x.txt"), texts, strict=True)}
    write_files(tmp_path, monkeypatch, days)
    lines = output("versions", "lease v2.txt").splitlines()
    number = lines.index("documents whose place in the order is unknown:")

    assert lines[number + 1].startswith(" 1 Sep 2020?")
    assert lines[number + 1].endswith("  x.txt  (only its modification time is known)")
    assert "order: by the versions in the names; dates and versions with ? do not affect the order" in lines
    output("versions", "lease v2.txt", "--html", "page.html")
    page = Path("page.html").read_text("utf-8")
    assert "1 Sep 2020?" in page
    assert "place in the order unknown: only its modification time is known" in page
    monkeypatch.setattr("simdoc_search.cli.groups_output._MAX_MEMBERS", 2)
    family = output("versions", "--all").splitlines()
    assert "a date or version with ? does not show which document is newer." in "\n".join(family)
    assert [
        "v2  lease v2.txt",
        "1 Sep 2020?  x.txt  (place in the order unknown: only its modification time is known)",
    ] == [line.strip() for line in family[1:3]]
    assert "and 1 more" == family[3].strip()


@pytest.mark.slow
def test_dates_in_the_properties_of_files_order_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    mail = formats.eml() + f"\n\n{words(0, 30)}\n\n{words(30, 60)}\n\n{words(60, 90)}\n".encode()
    old, new = (mail.replace(b"03 Feb 2020", date) for date in (b"03 Feb 2019", b"04 Feb 2020"))
    write(tmp_path, {"docs/newer.eml": mail, "docs/oldest.eml": old, "newest.eml": new})
    output("index", "docs", "--with", "versions")
    lines = output("versions", "--file", "newest.eml").splitlines()
    rows = [line[51:] for line in lines[1:] if line.startswith(" ")]

    assert ["oldest.eml", "newer.eml", "newest.eml  (newest, your document)"] == [row for row in rows if ".eml" in row]
    assert "order: by the modification or creation dates in the metadata" in lines


def test_wrong_queries_and_thresholds_are_one_sentence() -> None:
    for arguments, message in (
        ((), "give one of ID, --file or --all"),
        (("a", "--file", "new.txt"), "give one of ID, --file or --all"),
        (
            ("2022/Report.txt", "--min-share", 5),
            "min_smaller_share must be from 0 % to min_share; they are 5 % and 10 %",
        ),
        (("x", "--max-distance", "99"), "99 is not in the range 0<=x<=16"),
        (("2022/Report.txt", "--min-score", "nan"), "min_score must be from 0 to 1"),
    ):
        assert message in usage_error(run("versions", *arguments))
    assert "no document 'nobody'" in sentence(run("versions", "nobody"))
    assert "has no words" in sentence(run("versions", "--file", "-", stdin="..."))


def test_default_thresholds_are_saved_in_the_store(tmp_path: Path) -> None:
    """An option overrides them, and `defaults --reset` restores the built-in ones."""
    store = "--store", tmp_path / "s"
    output("index", "corpus", *store)
    built_in = output("defaults", *store)
    stored = output("defaults", "--max-distance", "3", "--min-share", "99", *store)
    result = answer("versions", "2022/Report.txt", *store)

    assert "differ in at most 12 of 64 bits" in built_in
    assert "at most 3 of 64 bits\nversions   at least 99 % of one version's sentences are similar, and 10 %" in stored
    assert stored.strip() in output("info", *store)
    assert (
        {"max_distance": 3, "min_share": 0.99, "min_smaller_share": 0.1, "min_score": 0.5}
        == result["thresholds"]
        == answer("defaults", *store)
    )
    assert [] == result["hits"]
    assert hits("2022/Report.txt", "--min-share", "50", *store)
    assert built_in == output("defaults", "--reset", *store)
    assert stored.strip() not in output("info", *store)
    assert "give either --reset or new values" in usage_error(run("defaults", "--reset", "--max-distance", "3", *store))
    assert "min_smaller_share must be from 0 % to min_share; they are 5 % and 10 %" in usage_error(
        run("defaults", "--min-share", "5", *store)
    )


def test_an_index_without_sentences_finds_the_same_versions() -> None:
    lines = output("versions", "2022/Report.txt", "--store", "plain").splitlines()
    with_sentences, without = (answer("versions", "2022/Report.txt", "--store", s) for s in (".simdoc", "plain"))

    assert "2 other versions, 2 documents compared, found by passages" in lines
    assert with_sentences["hits"] == without["hits"]


def test_what_changed_is_named_if_no_words_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sign, a cell or the letter case. `no words` would contradict the quotation of a sign."""
    monkeypatch.chdir(tmp_path)
    ledger = "Text,Debit,Credit\nRent of the office,,120\nPower and water,12.40,\nDues for the month of May,40,\n"
    sign = ledger.replace("12.40", "-12.40")
    moved = sign.replace("office,,120", "office,120,")
    tables = {"2021": ledger, "2022": sign, "2023": moved, "2024": moved.replace("Dues", "dues")}
    write(tmp_path, {f"docs/ledger {year}.csv": table for year, table in tables.items()})
    output("index", "docs", "--with", "versions")
    lines = output("versions", "ledger 2021.csv").splitlines()

    assert [
        "        2022            100 %             symbols  ledger 2022.csv",
        "              number: Power and water “12.40” → “-12.40”",
        "        2023            100 %               cells  ledger 2023.csv",
        "              “120” moved from column 3 to column 2",
        "        2024            100 %         letter case  ledger 2024.csv  (newest)",
    ] == lines[2:7]
