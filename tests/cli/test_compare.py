"""`simdoc-search compare` shows what two texts share, and how they differ."""

from __future__ import annotations

import re
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest

from simdoc_search import compare
from tests.support import formats
from tests.support.cli import answer, json_lines, output, run, sentence, usage_error, words, write

pytestmark = pytest.mark.usefixtures("folder")

OLD, NEW = f"{words(0, 60)} you may copy {words(60, 120)}", f"{words(0, 60)} you may not copy {words(60, 120)}"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an indexed corpus, and files that are not indexed."""
    folder = tmp_path_factory.mktemp("compare")
    write(folder, {"corpus/old.txt": OLD, "corpus/notes/2024_20.txt": NEW, "old.txt": NEW, "draft.txt": NEW})
    write(folder, {"docs.jsonl": json_lines({"id": "draft.txt", "text": OLD})})
    output("index", folder / "corpus", folder / "docs.jsonl", "--store", folder / ".simdoc")
    return folder


def names(*arguments: object, stdin: str | None = None) -> list[dict[str, Any]]:
    """Return the id or file of each text."""
    result = answer("compare", *arguments, stdin=stdin)
    return [{name: result[side][name] for name in result[side] if name in {"id", "file"}} for side in "ab"]


def test_files_are_compared_without_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a.txt": OLD, "b.txt": NEW})
    monkeypatch.chdir(tmp_path)

    assert [{"file": "a.txt"}, {"file": "b.txt"}] == names("a.txt", "b.txt")
    assert "no index at none" in sentence(run("compare", "a.txt", "b.txt", "--store", "none"))
    assert ["a.txt", "b.txt"] == sorted(path.name for path in tmp_path.iterdir())


def test_an_argument_is_a_file_an_id_or_a_name() -> None:
    """An id in double quotes is a document even if a file has this name."""
    for arguments, expected in (
        (("notes/2024_20.txt", "2024_20"), [{"id": "notes/2024_20.txt"}, {"id": "notes/2024_20.txt"}]),
        (("2024_20.txt", "corpus/old.txt"), [{"id": "notes/2024_20.txt"}, {"file": "corpus/old.txt"}]),
        (("draft.txt", "./draft.txt"), [{"file": "draft.txt"}, {"file": "./draft.txt"}]),
        (('"draft.txt"', "draft.txt"), [{"id": "draft.txt"}, {"file": "draft.txt"}]),
    ):
        assert expected == names(*arguments)
    differences = answer("compare", '"draft.txt"', "draft.txt")["differences"]
    assert ["inserted"] == [difference["kind"] for difference in differences]


def test_one_side_may_be_stdin() -> None:
    assert [{"file": "-"}, {"file": "draft.txt"}] == names("-", "draft.txt", stdin=NEW)
    message = "only one side can be stdin (-); give a file or an id for the other"
    assert message in usage_error(run("compare", "-", "-", stdin="a"))


@pytest.mark.slow
def test_files_of_other_formats_are_read(tmp_path: Path) -> None:
    write(tmp_path, {"a.pdf": formats.pdf(), "b.docx": formats.docx()})
    result = answer("compare", tmp_path / "a.pdf", tmp_path / "b.docx")

    assert (1.0, []) == (result["details"]["containment"], result["differences"])


def test_json_has_measures_passages_and_differences() -> None:
    """Positions are offsets in characters."""
    result = answer("compare", "corpus/old.txt", "draft.txt")
    expected = compare(OLD, NEW)
    (difference,) = result["differences"]

    assert {"jaccard", "containment", "reverse_containment", "estimate", "interval", "multiset"} == result[
        "details"
    ].keys()
    for name in ("jaccard", "containment", "reverse_containment", "estimate"):
        assert getattr(expected, name) == result["details"][name]
    assert [{"a": [0, len(OLD)], "b": [0, len(NEW)], "word_count": 123}] == result["passages"]
    assert {"kind": "inserted", "a": [OLD.index(" copy")] * 2, "added_word_count": 1}.items() <= difference.items()
    assert "not" == NEW[slice(*difference["b"])]
    assert {"word_count": 123, "covered": {"word_count": 123, "share": 1.0}}.items() <= result["a"].items()
    assert {"word_count": 124, "covered": {"word_count": 123, "share": 123 / 124}}.items() <= result["b"].items()


def test_a_terminal_shows_measures_passages_and_differences() -> None:
    text = output("compare", "corpus/old.txt", "draft.txt")

    assert text.startswith("corpus/old.txt and draft.txt\n  in common                 123 words in 1 passage\n")
    assert "\nShared passages\n  123 words, line 1: “word0 word1" in text
    assert "line 1: 1 word inserted: “not”" in text
    assert "you may {+not+} copy" in " ".join(text.split())
    assert "\n\n\n" not in text
    assert "\x1b" not in text


def test_differences_are_coloured_on_request() -> None:
    arguments = ("compare", "corpus/old.txt", "draft.txt")

    assert "\x1b[4;32mnot\x1b[0m" in output(*arguments, FORCE_COLOR="1", TERM="xterm")
    assert "\x1b" not in output(*arguments, FORCE_COLOR="1", TERM="xterm", NO_COLOR="1")


def test_verbatim_passages_have_no_changed_words(tmp_path: Path) -> None:
    texts = " ".join(f"w{at}" for at in range(200)), " ".join(f"w{at}" if at % 5 else "x" for at in range(200))
    write(tmp_path, {"a.txt": texts[0], "b.txt": texts[1]})
    files = tmp_path / "a.txt", tmp_path / "b.txt"

    assert len(compare(*texts).passages) == len(answer("compare", *files)["passages"]) > 0
    assert [] == answer("compare", *files, "--preset", "verbatim")["passages"]


def test_texts_are_split_as_in_the_store() -> None:
    output("index", "corpus", "--unit", "character", "--store", "characters")
    files = "corpus/old.txt", "corpus/notes/2024_20.txt"
    result = answer("compare", "corpus/old.txt", "notes/2024_20.txt", "--store", "characters")

    assert answer("compare", *files)["details"]["jaccard"] < result["details"]["jaccard"] < 1
    assert answer("compare", *files, "--store", "characters")["details"] == result["details"]


def test_character_differences_are_shown_if_no_word_differs(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": f"{OLD}; paid -500 euros by Bill", "b.txt": f"{OLD}, paid 500 euros by bill"})
    files = tmp_path / "a.txt", tmp_path / "b.txt"
    result = answer("compare", *files)

    shown = " ".join(output("compare", *files).split())
    assert "No words differ. But letter case, punctuation or symbols differ in 3 places: “-500” / “500”; " in shown
    assert [] == result["differences"]
    assert ["symbols", "symbols", "letters"] == [difference["kind"] for difference in result["character_differences"]]


def test_texts_that_differ_only_in_form_are_named(tmp_path: Path) -> None:
    """On the page, too."""
    text = f"{OLD} Größe"
    write(tmp_path, {"a.txt": text, "b.txt": normalize("NFD", text), "c.txt": text.replace(" ", "  ")})
    for other, rest in (
        ("b.txt", "No words differ. Only the Unicode form of letters differs."),
        ("c.txt", "No words differ. Only spaces and line breaks differ."),
    ):
        assert rest in output("compare", tmp_path / "a.txt", tmp_path / other).splitlines()
        output("compare", tmp_path / "a.txt", tmp_path / other, "--html", tmp_path / "page.html")
        assert f"<p>{rest}</p>" in (tmp_path / "page.html").read_text("utf-8")


def test_files_with_the_same_bytes_are_named(tmp_path: Path) -> None:
    """This is known even of files without text."""
    photo = b"\xff\xd8\xff\0"
    files: dict[str, str | bytes] = {"a.txt": OLD, "b.txt": OLD, "c.txt": f"{OLD} ", "a.jpg": photo, "b.jpg": photo}
    files |= {"a.mbox": "From x", "b.mbox": "From x"}
    write(tmp_path, {**files, "c.jpg": photo + photo})
    same, spaces, photos, others, mailboxes = (
        run("compare", *(tmp_path / name for name in names.split()))
        for names in ("a.txt b.txt", "a.txt c.txt", "a.jpg b.jpg", "a.jpg c.jpg", "a.mbox b.mbox")
    )

    assert same.stdout.endswith("The two files have the same bytes.\n")
    assert "same bytes" not in spaces.stdout
    assert [True, None] == [
        answer("compare", tmp_path / "a.txt", other, stdin=OLD)["have_same_bytes"]
        for other in (tmp_path / "b.txt", "-")
    ]
    no_text = f"No text was compared, because {tmp_path / 'a.jpg'} cannot be read: an image."
    for result, answered in (
        (photos, f"The two files have the same bytes. {no_text}\n"),
        (others, f"The two files have different bytes. {no_text}\n"),
    ):
        assert (0, answered, "") == (result.exit_code, result.stdout, result.stderr)
    assert (0, True) == (mailboxes.exit_code, mailboxes.stdout.startswith("The two files have the same bytes. No text"))


@pytest.mark.parametrize(
    ("files", "content"),
    [
        ({"a.txt": OLD, "b.md": OLD.encode("utf-16")}, "the encoding"),
        (
            {"a.csv": "name,sum\nrent,5\nfood,6\n", "b.csv": "name;sum\r\nrent;5\r\nfood;6\r\n"},
            "the encoding, delimiter, quotes or line ends",
        ),
        (
            {"a.html": f"<p>{OLD}", "b.html": f"<p>{OLD}<img src=x.png>"},
            "pictures, links, headers, comments, formulas or formatting",
        ),
    ],
)
def test_the_answer_says_what_may_differ_at_equal_texts(
    tmp_path: Path, files: dict[str, str | bytes], content: str
) -> None:
    write(tmp_path, files)
    last = output("compare", *(tmp_path / name for name in files)).splitlines()[-1]

    assert f"The two files have the same text, but different bytes: {content} may differ." == last


def test_files_without_text_cannot_be_compared_with_texts(tmp_path: Path) -> None:
    """Two of them can, except on a page."""
    photo = b"\xff\xd8\xff\0"
    write(tmp_path, {"a.txt": OLD, "a.jpg": photo, "b.jpg": photo, "a.mbox": "From x", "b.mbox": "From y"})
    photos = tmp_path / "a.jpg", tmp_path / "b.jpg"
    problem = f"{photos[0]} cannot be read: an image"
    sides = {"a": {"file": str(photos[0])}, "b": {"file": str(photos[1])}}

    assert {**sides, "have_same_bytes": True, "problem": problem} == answer("compare", *photos)
    assert f"{problem}; the two files have the same bytes" in sentence(
        run("compare", *photos, "--html", tmp_path / "page.html")
    )
    assert f"{problem}; the two files have different bytes" in sentence(run("compare", photos[0], tmp_path / "a.txt"))
    mailboxes = sentence(run("compare", tmp_path / "a.mbox", tmp_path / "b.mbox"))
    assert mailboxes.endswith("cannot be read: an archive or a mailbox; the two files have different bytes")


def test_changed_numbers_and_negations_come_first(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": f"{OLD} The rent is 850 euros.", "b.txt": f"{NEW} The rent is 890 euros."})
    files = tmp_path / "a.txt", tmp_path / "b.txt"
    changes = [
        (change["kind"], change["old"], change["new"]) for change in answer("compare", *files)["significant_changes"]
    ]

    assert [("negation", "", "not"), ("number", "850", "890")] == changes
    text = output("compare", *files)
    assert "\nDifferences\n  negation: word59 you may “not” (added)\n  number: The rent is “850” → “890”\n" in text


def test_words_of_a_template_are_ignored(tmp_path: Path) -> None:
    template, shared = (" ".join(f"{letter}{number}" for number in range(40)) for letter in "ts")
    own, other = (" ".join(f"{letter}{number}" for number in range(60)) for letter in "mh")
    write(tmp_path, {"a.txt": f"{template} {own} {shared}", "b.txt": f"{other} {shared} {template}", "t.txt": template})
    files = tmp_path / "a.txt", tmp_path / "b.txt"
    result = answer("compare", *files, "--ignore", tmp_path / "t.txt")

    assert [40, 40] == result["ignored"]
    assert (100, {"word_count": 40, "share": 0.4}) == (result["a"]["word_count"], result["a"]["covered"])
    assert [40] == [passage["word_count"] for passage in result["passages"]]
    assert "ignored" not in answer("compare", *files)
    text = output("compare", *files, "--ignore", tmp_path / "t.txt")
    measures = " ".join(text[: text.index("  in common")].split())
    assert measures.endswith(" 40 words of the first text and 40 of the second are ignored.")
    assert "different                 +60 −60 words in 1 place\n" in text
    assert (60, 60, 0) == count_differences(result)


def test_quotations_and_bibliographies_are_ignored(tmp_path: Path) -> None:
    """The page says so, and when it was made."""
    shared, quoted = words(0, 60), words(100, 140)
    references = f"References\nBecker, A. (1998). {words(200, 230).title()}"
    texts: dict[str, str | bytes] = {
        "a.txt": f"{shared} “{quoted}” {words(300, 390)}\n\n{references}",
        "b.txt": f"{words(500, 590)} {shared} “{quoted}”\n\n{references}",
        "c.txt": shared,
    }
    write(tmp_path, texts)
    files = tmp_path / "a.txt", tmp_path / "b.txt"
    options = "--ignore-quotes", "--ignore-bibliography"
    result = answer("compare", *files, *options)
    output("compare", *files, *options, "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")

    assert [60, 150, 74] == [result["passages"][0]["word_count"], result["a"]["word_count"], result["ignored"][0]]
    assert "74 words of the first text and 74 of the second are ignored." in page
    assert "a.txt: The bibliography is ignored: line 3 to line 4." in page
    assert re.search(r"Compared on [-\d]{10} with simdoc-search \S+\.", page)
    assert "Options: --ignore-quotes, --ignore-bibliography." in page
    assert "No bibliography was found, so none is ignored." in " ".join(
        output("compare", files[0], tmp_path / "c.txt", "--ignore-bibliography").split()
    )


def test_the_differences_exclude_ignored_words(tmp_path: Path) -> None:
    """Words, characters and significant changes. A quotation cuts a difference in two."""
    shared = words(0, 60)
    own, last = (" ".join(f"{letter}{second}" for second in "abcdefgh") for letter in "pq")
    references = "\n\nReferences\nBecker, A. (1998). Porto"
    texts: dict[str, str | bytes] = {
        "a.txt": f"{shared} “He paid 850 euros” {own} “{words(200, 230)}” {last}{references}, pp. 6-145",
        "b.txt": f"{shared} “He paid 890 euros”{references}; p. 7",
    }
    write(tmp_path, texts)
    files = tmp_path / "a.txt", tmp_path / "b.txt"
    options = "--ignore-quotes", "--ignore-bibliography"
    with_all, result = answer("compare", *files), answer("compare", *files, *options)
    text = output("compare", *files, *options)
    output("compare", *files, *options, "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")

    assert "number" in [change["kind"] for change in with_all["significant_changes"]]
    assert [] == result["significant_changes"] == result["character_differences"]
    assert ["removed", "removed"] == [difference["kind"] for difference in result["differences"]]
    quoted = [str(texts["a.txt"])[slice(*difference["a"])] for difference in result["differences"]]
    assert [own, last] == quoted
    assert "different                 +0 −16 words in 2 places\n" in text
    assert "equal or ignored words …" in text
    assert "[-850-]" not in text
    assert "number:" not in text
    assert "+0 −16 words in 2 places" in page


def count_differences(comparison: dict[str, Any]) -> tuple[int, int, int]:
    """How many words of a comparison in JSON are only in the first text, only in the second, or moved."""
    changed = [each for each in comparison["differences"] if each["kind"] != "moved"]
    moved = [each for each in comparison["differences"] if each["kind"] == "moved"]
    first, second = (sum(each[f"{key}_word_count"] for each in changed) for key in ("removed", "added"))
    return first, second, sum(each["removed_word_count"] for each in moved)


def test_the_page_replaces_the_differences_of_the_terminal(tmp_path: Path) -> None:
    text = output("compare", "corpus/old.txt", "draft.txt", "--html", tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text("utf-8")

    assert text.endswith(f"\n  page: {tmp_path / 'a.html'}\n")
    assert "Differences" not in text
    assert page.startswith("<!DOCTYPE html>")
    assert re.search(r"<ins [^>]*>not</ins>", page)
    assert 1 == len(answer("compare", "old.txt", "draft.txt", "--html", tmp_path / "b.html")["passages"])
    assert (tmp_path / "b.html").exists()
    message = sentence(run("compare", "old.txt", "draft.txt", "--html", tmp_path / "none" / "a.html"))
    assert (
        f"cannot write {tmp_path}/none/a.html: No such file or directory; check that the folder exists and is writable"
        == message
    )


def test_texts_without_words_share_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"empty.txt": "", "symbols.txt": "... --- ..."})
    result = answer("compare", tmp_path / "empty.txt", tmp_path / "symbols.txt")

    assert [0.0, 0.0] == [result["details"][name] for name in ("jaccard", "estimate")]
    assert [[], [], []] == [result[name] for name in ("passages", "differences", "character_differences")]
    assert "no passage" in output("compare", tmp_path / "empty.txt", "old.txt")


def test_an_unknown_text_is_one_sentence(tmp_path: Path) -> None:
    for other, message in (
        (["nothing"], "'nothing' is neither a file nor a document in ./.simdoc"),
        (["drafts.txt"], "did you mean 'draft.txt'?"),
        (
            ["nothing", "--store", tmp_path / "none"],
            "'nothing' is not a file, and it cannot be looked up in an index: no index at ",
        ),
        (["."], "'.' is a folder; to compare its files, use `simdoc-search duplicates`"),
        (["./nothing"], "nothing does not exist; check the path"),
        (['"nothing"'], "no document 'nothing' in the index"),
    ):
        assert message in sentence(run("compare", "old.txt", *other))
    for odd in ("a\0b", "x" * 5000, "\ud800", ""):
        assert run("compare", "old.txt", odd).exit_code in {1, 2}


def test_the_id_of_a_file_that_was_not_indexed_means_this_file(tmp_path: Path) -> None:
    """The pages of `serve` show skipped files with such names."""
    write(tmp_path / "corpus", {"a/scan 1.txt": b"\0\1\2", "a/scan 2.txt": "one two", "a/scan 3.txt": "one two three"})
    index = ["--store", str(tmp_path / "store")]
    output("index", tmp_path / "corpus", *index)
    write(tmp_path / "corpus", {"a/scan 4.txt": "one two four"})

    assert "scan 1.txt cannot be read: binary" in sentence(run("compare", "a/scan 1.txt", "a/scan 2.txt", *index))
    compared = answer("compare", "a/scan 4.txt", "a/scan 3.txt", *index)
    assert str(tmp_path / "corpus/a/scan 4.txt") == compared["a"]["file"]
    assert "is neither a file nor a document" in sentence(run("compare", "a/scan 5.txt", "a/scan 2.txt", *index))


@pytest.mark.usefixtures("read_in_this_process")
def test_attachments_of_mails_are_named_because_they_are_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, attachment in (("a.eml", "offer.pdf"), ("b.eml", ""), ("c.eml", "")):
        message = EmailMessage()
        message.set_content(OLD)
        if attachment:
            message.add_attachment(b"pixels", maintype="image", subtype="png", filename=attachment)
        Path(name).write_bytes(bytes(message))
    output("index", ".")

    for a in ("a.eml", '"a.eml"'):
        compared = run("compare", a, "b.eml")
        assert "No words differ." in compared.stdout
        named = "a.eml has 'offer.pdf'; b.eml has none"
        assert f"note: attachments were not compared: {named}" in compared.stderr.splitlines()
    assert "note" not in run("compare", "b.eml", "c.eml").stderr


LEDGER = "Text,Debit,Credit\nRent of the office,,120\nPower and water,80,\nDues for May,40,\n"


def test_cells_that_moved_are_named(tmp_path: Path) -> None:
    """In the output, in JSON and on the page, with the row of both files. Other changes are listed, too."""
    moved = LEDGER.replace("office,,120", "office,120,")
    write(tmp_path, {"a.csv": LEDGER, "b.csv": moved, "c.csv": f"{moved}Books,9,\n"})
    files = tmp_path / "a.csv", tmp_path / "b.csv"
    result = output("compare", *files)

    assert [
        "No words differ. But text is in other cells in 1 table row.",
        "  line 2: “120” moved from column 3 to column 2",
        "    first text   Rent of the office | | 120",
        "    second text  Rent of the office | 120 |",
    ] == result.splitlines()[-4:]
    (row,) = answer("compare", *files)["row_differences"]
    start = len("Text,Debit,Credit\n")
    assert {
        "a": [start, start + len("Rent of the office\t\t120")],
        "b": [start, start + len("Rent of the office\t120\t")],
        "moved_cells": [{"text": "120", "column": 3, "new_column": 2}],
    } == row
    output("compare", *files, "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "“120” moved from column 3 to column 2" in page
    assert "<ins><bdi>Rent of the office | 120 | </bdi></ins>" in page

    both = output("compare", files[0], tmp_path / "c.csv")
    assert "text is in other cells in 1 table row\n  line 2: “120” moved" in both
    assert "2 words inserted: “Books 9”" in both


def test_at_most_five_rows_with_moved_cells_are_shown(tmp_path: Path) -> None:
    """Of a long row, the cells around those that moved are shown, and the first cell."""
    cells = [f"c{number}" for number in range(40)]
    rows = [[f"row{row}", *cells, "", "x", ""] for row in range(8)]
    moved = [[f"row{row}", *cells, "", "", "x"] for row in range(8)]
    write(tmp_path, {name: "\n".join(map(",".join, table)) for name, table in (("a.csv", rows), ("b.csv", moved))})
    lines = output("compare", tmp_path / "a.csv", tmp_path / "b.csv").splitlines()

    assert "  line 5: “x” moved from column 43 to column 44" in lines
    assert "    first text   row4 | … | | x |" in lines
    assert "  … 3 more rows …" == lines[-1]


def test_what_else_may_differ_is_said_at_equal_words(tmp_path: Path) -> None:
    """Files of plain text and tables have nothing else. Words that differ are more important."""
    page = f"<p>{OLD}</p>"
    write(tmp_path, {"a.html": page, "b.html": page.replace(" ", "</p><p>", 1), "c.html": f"{page} new", "a.txt": OLD})
    sentence = "Only the texts were compared: pictures, links, headers, comments, formulas or formatting may differ."
    paths = [tmp_path / name for name in ("a.html", "b.html")]

    assert sentence == output("compare", *paths).splitlines()[-1]
    assert [sentence] == answer("compare", *paths)["notes"]
    output("compare", *paths, "--html", tmp_path / "page.html")
    assert sentence in (tmp_path / "page.html").read_text("utf-8")
    assert "Only the texts" not in output("compare", paths[0], tmp_path / "c.html")
    assert "Only the texts" not in output("compare", tmp_path / "a.txt", "-", stdin=OLD.replace(" ", "  "))
