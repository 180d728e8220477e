"""`simdoc-search versions`: a document or a file comes in; its versions go out in their order, and what changed."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from simdoc_search.cli import versions_page
from tests.support import formats
from tests.support.cli import answer, json_lines, output, run, sentence, usage_error, write

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
    """A folder with indexed versions, and a file that is not indexed; no test changes it."""
    folder = write(tmp_path_factory.mktemp("versions"), FILES)
    for store, paths, options in (
        (".simdoc", ["corpus"], ["--with", "versions"]),
        ("rows", ["rows.jsonl"], ["--with", "versions", "--no-texts"]),
        ("plain", ["corpus"], []),
    ):
        output("index", *(folder / each for each in paths), "--store", folder / store, *options)
    return folder


@pytest.fixture(autouse=True)
def folder(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run."""
    monkeypatch.chdir(indexed)
    return indexed


def test_the_timeline_says_which_is_newest_and_what_changed() -> None:
    """One line for each version, then what orders them and how the last step is opened, which works."""
    *table, order, newest, counts, last, again = output("versions", "2022/Report.txt").splitlines()

    added, removed = len(re.findall(r"\w+", HOSTILE)), len(SECOND[0].split())

    assert [
        "              sentences alike             changed  document, the oldest first",
        "        2021                                       2021/Report.txt",
        "        2022            100 %         +7 −1 words  2022/Report.txt  (your document)",
        f"        2023             86 %       +{added} −{removed} words  2023/Report <b>.txt  (newest)",
        "              number: opened there. </ nothing → “1 … 1”",
    ] == table
    assert "newest: 2023/Report <b>.txt, by the date in their names" == newest
    assert "order: by the date in their names" == order
    assert "2 other versions, 2 documents compared" == counts
    assert "what changed last: simdoc-search compare 2022/Report.txt '2023/Report <b>.txt'" == last
    assert (
        "later versions may share too little with 2022/Report.txt. Look for them with: "
        "simdoc-search versions '2023/Report <b>.txt'"
    ) == again
    assert "look on" not in output("versions", "2023/Report <b>.txt")
    assert "museum" not in output("compare", "2022/Report.txt", "2023/Report <b>.txt").splitlines()[0]


def test_a_file_is_asked_about() -> None:
    """Its own dates count; the document that it is itself is left out, and said."""
    lines = output("versions", "--file", "new.txt").splitlines()
    own = output("versions", "--file", "corpus/2023/Report <b>.txt").splitlines()

    assert ["2021/Report.txt", "2022/Report.txt", "2023/Report <b>.txt"] == [
        line[51:].split("  (")[0] for line in lines[1:5] if "number:" not in line
    ]
    assert "undated, so not in this order:" == lines[5]
    assert lines[6].endswith("  new.txt  (your document)")
    assert "newest: 2023/Report <b>.txt, by the date in their names, not counting 1 undated document" in lines
    assert "The document '2023/Report <b>.txt' is left out. It is this file." in own


def test_json_says_all_of_it() -> None:
    """Scores, shares, dates and where they are from, words; with --sentences which is like which."""
    found = answer("versions", "2022/Report.txt", "--sentences")
    first, last = sorted(found["hits"], key=lambda hit: hit["id"])
    text = {id: str(FILES[f"corpus/{id}"]) for id in ("2021/Report.txt", "2022/Report.txt")}
    pairs = [(text["2022/Report.txt"][slice(*p["a"])], text["2021/Report.txt"][slice(*p["b"])]) for p in first["pairs"]]

    assert {"id": "2022/Report.txt", "file": None} == found["query"]
    assert (0.75, 2, 2, 2) == (found["theta"], found["found"], found["candidates"], found["compared"])
    assert {"of_source": 7, "asked": 7} == found["sentences"]
    order = {"by": "name", "certain": True, "conflict": [], "reason": "by the date in their names"}
    assert (order, [], "2023/Report <b>.txt") == (found["order"], found["undated"], found["newest"]["id"])
    assert [("2021", False), ("2022", True), ("2023", False)] == [
        (each["date"], each["source"]) for each in found["timeline"]
    ]
    assert (1.0, 6 / 7, 1.0, 6, 6) == tuple(
        first[name] for name in ("score", "share", "share_of_hit", "sentences", "matched")
    )
    assert ("2021", "name", None, None, False) == tuple(
        first[name] for name in ("date", "date_from", "alike", "words", "changed")
    )
    assert {"added": 7, "removed": 1} == found["timeline"][1]["words"]
    assert last["words"]["removed"] == len(SECOND[0].split())
    assert list(zip(SECOND, SENTENCES, strict=False)) == pairs
    assert [0, 0] == [first["pairs"][at]["bits"] for at in (0, 1)]
    assert 0 < first["pairs"][2]["bits"] <= 7
    assert first["bits"] == sum(each["bits"] for each in first["pairs"]) / 6


def test_the_sentences_are_listed() -> None:
    """Both, where they differ, with their places."""
    lines = output("versions", "2022/Report.txt", "--sentences").splitlines()
    at = lines.index("2021/Report.txt: 6 sentences of 2022/Report.txt")

    assert [
        "the same  line 1 → line 1",
        "          “The harbour was closed in winter, as the ice … early that year.”",
    ] == lines[at + 1 : at + 3]
    assert [
        "   alike  line 1 → line 1",
        f"          “{SECOND[2]}”",
        f"          “{SENTENCES[2]}”",
    ] == lines[at + 5 : at + 8]


def test_without_dates_or_texts_it_works_as_well() -> None:
    """The order is a hint; no word is counted, no sentence shown."""
    lines = output("versions", "one", "--store", "rows", "--sentences").splitlines()

    assert lines[1].startswith("Order by the texts alone, as a hint.")
    assert ["one  (your document)", "two"] == [line[51:] for line in lines[2:4]]
    assert "words" not in "".join(lines[2:4])
    assert "newest: not known, as nothing says which is newer" in lines
    assert "what changed last: simdoc-search compare one two --store rows" in lines
    assert "two: its sentences cannot be shown, because a text is not stored" in lines


def test_limits_and_filters_hold() -> None:
    """What is enough for a version is a matter of taste; what is not looked at is none."""
    assert (
        "no other version, 2 documents compared"
        == output("versions", "2022/Report.txt", "--enough", "100", "--least", "100").strip()
    )
    assert ["2021/Report.txt"] == [
        hit["id"] for hit in answer("versions", "2022/Report.txt", "--filter", "path=2021/")["hits"]
    ]
    assert ["2023/Report <b>.txt"] == [
        hit["id"] for hit in answer("versions", "2022/Report.txt", "--exclude", "path=2021/")["hits"]
    ]
    pages = [answer("versions", "2021/Report.txt", "--size", "1", "--offset", str(n))["hits"] for n in range(3)]
    assert [1, 1, 0] == [len(each) for each in pages]
    assert pages[0] != pages[1]
    few = output("versions", "2021/Report.txt", "--size", "1")
    assert "Showing 1 of 2 other versions. Show more with --size 100. 2 documents compared" in few
    assert "(newest)" in few


def test_the_page_opens_each_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest first, each beside the one before; whatever the documents say, it does nothing."""
    assert f"page: {tmp_path / 'page.html'}" in output("versions", "2022/Report.txt", "--html", tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text("utf-8")
    names = re.findall(r'<(?:summary|div) class="row"><bdi class="what">(.*?)</bdi>', html)

    assert ["2021/Report.txt", "2022/Report.txt", "2023/Report &lt;b&gt;.txt"] == names
    assert 2 == html.count('<details class="hit"><summary') == html.count('<article class="pair"')
    assert re.findall(r'<span class="how">(.*?)</span>', html) == ["your document", "newest"]
    assert "+7 −1 words" in html
    assert "<p>order: by the date in their names</p>" in html
    assert "<p>newest: 2023/Report &lt;b&gt;.txt, by the date in their names</p>" in html
    assert "<p>2 other versions, 2 documents compared</p>" in html
    assert 1 == html.count("<script>")
    assert "<img" not in html

    monkeypatch.setattr(versions_page, "_MAX_PAIRS", 1)
    output("versions", "2022/Report.txt", "--html", tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text("utf-8")
    assert 1 == html.count('<article class="pair"')
    assert "1 step not shown side by side; simdoc-search compare shows each" in html

    output("versions", "2021/Report.txt", "--size", 1, "--html", tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text("utf-8")
    assert "<p>Showing 1 of 2 other versions. Show more with --size 100. 2 documents compared</p>" in html


def test_files_without_better_dates_are_ordered_by_their_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note that was read from stdin has none, and is placed aside."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"docs/a.txt": " ".join(SECOND), "docs/b.txt": " ".join(SENTENCES)})
    for name, day in (("a", 1), ("b", 2)):
        os.utime(f"docs/{name}.txt", (1_600_000_000 + 86_400 * day,) * 2)
    output("index", "docs", "--with", "versions")
    lines = output("versions", "a.txt").splitlines()
    found = json.loads(output("versions", "--file", "-", "--json", stdin=" ".join(THIRD)))

    assert "14 Sep 2020" in lines[1]
    assert "order: by the modification time of their files" == lines[3]
    assert ("modification time", None) == (found["order"]["by"], found["query"]["id"])


@pytest.mark.slow
def test_the_dates_in_properties_order_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of stored documents and of a file that is not stored."""
    monkeypatch.chdir(tmp_path)
    mail = formats.eml()
    old, new = (mail.replace(b"03 Feb 2020", date) for date in (b"03 Feb 2019", b"04 Feb 2020"))
    write(tmp_path, {"docs/newer.eml": mail, "docs/oldest.eml": old, "newest.eml": new})
    output("index", "docs", "--with", "versions")
    lines = output("versions", "--file", "newest.eml").splitlines()

    rows = [line[51:] for line in lines[1:] if line.startswith(" ")]
    named = [row for row in rows if row.partition(" ")[0].endswith(".eml")]

    assert ["oldest.eml", "newer.eml", "newest.eml  (newest, your document)"] == named
    assert "order: by the creation date in their metadata" in lines


def test_bad_input_is_one_sentence() -> None:
    """That says what to do."""
    assert "give one of ID, --file or --all" == usage_error(run("versions"))
    assert "give one of ID, --file or --all" == usage_error(run("versions", "a", "--file", "new.txt"))
    assert "least no more than that, not 5 % and 10 %" in usage_error(run("versions", "2022/Report.txt", "--enough", 5))
    assert "no document 'nobody'" in sentence(run("versions", "nobody"))
    assert "has no words" in sentence(run("versions", "--file", "-", stdin="..."))


def test_the_index_stores_what_counts(tmp_path: Path) -> None:
    """`defaults` shows and stores it; an option overrules it; `info` says it, and --reset takes it back."""
    output("index", "corpus", "--store", tmp_path / "s")
    at = "--store", tmp_path / "s"

    built_in = output("defaults", *at)
    stored = output("defaults", "--bits", "3", "--enough", "99", *at)
    nothing = answer("versions", "2022/Report.txt", *at)
    given = answer("versions", "2022/Report.txt", "--enough", "50", *at)
    info = output("info", *at)

    assert "a distance of 12, of 64" in built_in
    assert "a distance of 3, of 64\nenough     99 % of the sentences of one version in the other, 10 %" in stored
    assert stored.strip() in info
    assert {"bits": 3, "enough": 0.99, "least": 0.1, "min_score": 0.5} == nothing["limits"] == answer("defaults", *at)
    assert ([], 0.5) == (nothing["hits"], given["limits"]["enough"])
    assert given["hits"]
    assert built_in == output("defaults", "--reset", *at)
    assert stored.strip() not in output("info", *at)
    assert "give --reset alone" in usage_error(run("defaults", "--reset", "--bits", "3", *at))
    assert "least no more than that, not 5 % and 10 %" in usage_error(run("defaults", "--enough", "5", *at))
    assert "99 is not in the range 0<=x<=16" in usage_error(run("versions", "x", "--bits", "99"))
    assert "the minimum score must be from 0 to 1" in usage_error(
        run("versions", "2022/Report.txt", "--min-score", "nan")
    )


def test_a_default_index_answers_as_well() -> None:
    """The answer says what found the candidates."""
    lines = output("versions", "2022/Report.txt", "--store", "plain").splitlines()

    assert "2 other versions, 2 documents compared, found by their passages" in lines
    assert (
        answer("versions", "2022/Report.txt")["hits"]
        == answer("versions", "2022/Report.txt", "--store", "plain")["hits"]
    )
