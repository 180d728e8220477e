"""`duplicates` proposes to drop files with equal bytes, and nothing else."""

from __future__ import annotations

import os
from email.message import EmailMessage
from email.utils import make_msgid
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.errors import QuerySyntaxError
from tests.support.cli import answer, json_lines, output, run, words, write
from tests.support.folders import posix_only
from tests.support.outlook import outlook_message

pytestmark = pytest.mark.usefixtures("folder")

TEXT = words(0, 80)


def members(*arguments: object) -> dict[str, tuple[str, str, str]]:
    """Return kind, action and reason of each duplicate by id."""
    return {
        duplicate["id"]: (duplicate["kind"], duplicate["action"], duplicate["reason"])
        for cluster in answer("duplicates", *arguments)["groups"]
        for duplicate in cluster["duplicates"]
    }


def plan(*arguments: object) -> dict[str, str]:
    """Write a plan, and return the action of each id."""
    output("duplicates", *arguments, "--plan", "plan.tsv")
    lines = [line.split("\t") for line in Path("plan.tsv").read_text("utf-8").splitlines() if line[0] != "#"]
    return {row[8]: row[0] for row in lines[1:]}


def test_each_kind_has_its_reason() -> None:
    files: dict[str, str | bytes] = {
        "a.txt": f"{TEXT} balance 500 euros",
        "b.txt": f"{TEXT} balance -500 euros",
        "c.txt": f"{TEXT}  balance 500 euros",
        "copy.txt": f"{TEXT} balance 500 euros",
        "page.html": f"<p>{TEXT} balance 500 euros</p><img src=x.png>",
        "near.txt": f"{TEXT} balance 500 dollars",
        "wide.txt": f"{TEXT} balance 500 euros".encode("utf-16"),
    }
    write(Path("docs"), files)
    assert {
        "wide.txt": ("same text", "decide", "same text, different bytes (the encoding may differ)"),
        "copy.txt": ("identical", "drop", "identical"),
        "page.html": (
            "same text",
            "decide",
            "same text, different bytes (pictures, links, headers, comments, formulas or formatting may differ)",
        ),
        "b.txt": (
            "same words",
            "decide",
            "same words; letter case, punctuation or symbols differ in 1 place: “500” / “-500”",
        ),
        "c.txt": ("same words", "decide", "same words; only spaces and line breaks differ"),
        "near.txt": ("near", "decide", "overlap 97.5 %; 1 word replaced: “euros” → “dollars”"),
    } == members("docs")


def test_a_moved_cell_is_named() -> None:
    """An amount in another column is named with and without a changed word, and in each output."""
    book = "\n".join(f"item{number},{number},{number}" for number in range(20))
    files = {"kept/a.csv": f"{book}\nstamps,86.20,\n", "same.csv": f"{book}\nstamps,,86.20\n"}
    write(
        Path("docs"),
        {**files, "near.csv": f"Draft\n{book}\nstamps,,86.20\n", "word.csv": f"Draft\n{files['kept/a.csv']}"},
    )

    found = members("docs", "--keep-in", "docs/kept", "--plan", "plan.tsv", "--html", "page.html")

    moved = "“86.20” moved from column 2 to column 3"
    reasons = {
        "same.csv": f"same words; {moved}",
        "near.csv": f"overlap 98.3 %; {moved}; 1 word inserted: “Draft”",
        "word.csv": "overlap 98.3 %; 1 word inserted: “Draft”",
    }
    assert reasons == {name: reason for name, (_, _, reason) in found.items()}
    written, page = Path("plan.tsv").read_text("utf-8"), unescape(Path("page.html").read_text("utf-8"))
    assert all(reason in written and reason in page for reason in reasons.values())


def test_a_copy_of_a_document_that_is_not_kept_is_dropped() -> None:
    """A page with the same text as the kept document is not dropped, but a copy of the page is. If the user drops the
    page, both are dropped.
    """
    page = f"<p>{TEXT}</p><img src=x.png>"
    write(Path("docs"), {"a.txt": TEXT, "page.html": page, "same_page.html": page})

    assert ("identical", "drop", "identical to page.html") == members("docs")["same_page.html"]
    assert {"a.txt": "keep", "page.html": "decide", "same_page.html": "drop"} == plan("docs")
    text = Path("plan.tsv").read_text("utf-8").replace("\ndecide\t", "\ndrop\t")
    Path("plan.tsv").write_text(text, "utf-8")
    output("apply", "plan.tsv", "--move-to", "gone")
    assert ["a.txt"] == [path.name for path in Path("docs").iterdir()]


@posix_only
def test_hard_links_free_nothing_and_symbolic_links_are_left_out() -> None:
    """Dropping a file with two hard links frees its bytes once."""
    write(Path("docs"), {"real.txt": TEXT, "copy.txt": TEXT})
    os.link("docs/real.txt", "docs/real_link.txt")
    os.link("docs/copy.txt", "docs/copy_link.txt")
    Path("docs/a.txt").symlink_to("real.txt")
    result = answer("duplicates", "docs")
    (cluster,) = result["groups"]
    kinds = {
        duplicate["id"]: (duplicate["kind"], duplicate["action"], duplicate["bytes_freed"])
        for duplicate in cluster["duplicates"]
    }

    assert {"id": "a.txt", "reason": "the path is a symbolic link"} in result["left_out"]
    assert "copy.txt" == cluster["kept_id"]
    assert {
        "real.txt": ("identical", "drop", len(TEXT)),
        "real_link.txt": ("hard link", "drop", 0),
        "copy_link.txt": ("hard link", "decide", 0),
    } == kinds
    assert len(TEXT) == result["bytes_freed"]
    assert "hard link to copy.txt; deleting the link frees no space" == members("docs")["copy_link.txt"][2]
    os.link("docs/real.txt", "elsewhere.txt")
    assert (
        "identical; deleting the file frees no space, because other hard links to the file remain"
        == members("docs")["real.txt"][2]
    )
    assert 0 == answer("duplicates", "docs")["bytes_freed"]


def test_a_file_in_two_folders_that_are_one_is_not_a_hard_link() -> None:
    """Deleting it would delete the only copy."""
    write(Path("docs"), {"a.txt": TEXT})
    Path("same").symlink_to("docs")

    found = members("docs", "same")["same/a.txt"]
    assert ("hard link", "decide") == found[:2]
    assert "the same file as a.txt, through a symbolic link to a folder; deleting it deletes the file" == found[2]


def test_rows_are_identical_if_their_metadata_is_equal_too() -> None:
    rows: list[dict[str, Any]] = [{"id": id, "text": TEXT, "year": 2020 + (id == "c")} for id in "abc"]
    output("index", "-", stdin=json_lines(*rows))

    assert {
        "b": ("identical", "drop", "identical"),
        "c": ("same text", "decide", "same text, different metadata"),
    } == members()


def test_an_unknown_scope_to_drop_is_refused() -> None:
    assert 2 == run("duplicates", "--drop", "near").exit_code
    with open_store(":memory:", create=True) as store, pytest.raises(QuerySyntaxError, match="drop must be one of"):
        SimilaritySearch(store).duplicates(drop="near")  # type: ignore[arg-type] # as meant


def test_files_on_another_computer_are_not_dropped() -> None:
    """If the folder of the documents does not exist, their stored texts are compared."""
    write(Path(), {"docs/a.txt": TEXT, "docs/b.txt": TEXT})
    output("index", "docs", "--store", "s")
    Path("docs").rename("elsewhere")

    assert {"b.txt": ("same text", "decide", "same text; the file is gone")} == members("--store", "s")


def mail(text: str, **attachments: bytes) -> bytes:
    """Return an e-mail with a random Message-ID. In the names of attachments, `_` stands for a full stop."""
    message = EmailMessage()
    message["From"], message["Message-ID"] = "ada@example.org", make_msgid()
    message.set_content(text)
    for name, data in attachments.items():
        filename = name.replace("_", ".")
        message.add_attachment(data, maintype="application", subtype="octet-stream", filename=filename)
    return bytes(message)


@pytest.mark.usefixtures("read_in_this_process")
@pytest.mark.parametrize(
    ("name", "row", "value"),
    [("table.csv", "{},{},{}\n", "29"), ("table.html", "<table><tr><td>{}<td>{}<td>{}</table>", "29"),
     ("table.md", "| {} | {} | {} |\n", "29"), ("table.txt", "{}, {}, {}\n", "29"), ("ticks.csv", "{},{},{}\n", "✓")],
)  # fmt: skip
def test_a_table_with_a_value_in_another_column_is_not_dropped(name: str, row: str, value: str) -> None:
    rows = [row.format(f"entry {words(n, n + 5)}", "", value) for n in range(30)]
    moved = [*rows[:-1], row.format(f"entry {words(29, 34)}", value, "")]
    write(Path("docs"), {name: "".join(rows), f"moved {name}": "".join(moved)})
    found = members("docs", "--drop", "same-words", "--keep-in", name)[f"moved {name}"]

    assert ("same words", "decide") == found[:2]
    assert found[2].endswith("; not dropped, because a number, a symbol such as + or €, or the cells of a table differ")


def test_a_text_with_another_sign_of_a_number_is_not_dropped() -> None:
    others = {
        "sign.txt": f"{TEXT} pays -500 né",
        "unit.txt": f"{TEXT} pays 500 % né",
        "half.txt": f"{TEXT} pays 500 ½ né",
        "minus.txt": f"{TEXT} pays - 500 né",
        "square.txt": f"{TEXT} pays 500 né²",
    }
    write(Path("docs"), {"a.txt": f"{TEXT} pays 500 né", "c.txt": f"({TEXT})\npays 500 NE\u0301!", **others})
    found = members("docs", "--drop", "same-words", "--keep-in", "a.txt")
    assert {"c.txt": "drop", **dict.fromkeys(others, "decide")} == {id: action for id, (_, action, _) in found.items()}

    estimated = members("docs", "--drop", "same-words", "--keep-in", "a.txt", "--estimate")["c.txt"]
    assert "decide" == estimated[1]
    assert estimated[2].endswith("; not dropped, because the texts were not compared")


def test_a_text_with_another_symbol_is_not_dropped() -> None:
    """A minus sign may also be a dash between words, so only other symbols count."""
    lines = {"plus.txt": "a + b", "dash.txt": "a – b", "minus.txt": "a − b", "none.txt": "a b", "euro.txt": "a € b"}
    write(Path("docs"), {"a.txt": f"{TEXT} a - b", **{name: f"{TEXT} {line}" for name, line in lines.items()}})
    found = members("docs", "--drop", "same-words", "--keep-in", "a.txt")

    assert {"plus.txt", "euro.txt"} == {id for id, (_, action, _) in found.items() if action == "decide"}
    assert len(lines) == len(found)


@pytest.mark.usefixtures("read_in_this_process")
def test_a_mail_with_other_attachments_is_not_dropped() -> None:
    """The attachments are not part of the text of a mail, and may be pictures, which have no text."""
    pytest.importorskip("kreuzberg")
    photo = b"\x89PNG\r\n\x1a\n one"
    files: dict[str, str | bytes] = {
        "a.eml": mail(TEXT, p_png=photo),
        "equal.eml": mail(TEXT, p_png=photo),
        "other.eml": mail(TEXT, p_png=photo + b" two"),
        "renamed.eml": mail(TEXT, q_png=photo),
        "none.eml": mail(TEXT),
        "loud.eml": mail(TEXT.upper()),
        "a.msg": outlook_message("", words(100, 180), {"p.png": photo}),
        "b.msg": outlook_message("", words(100, 180), {"p.png": photo + b" two"}),
    }
    write(Path("docs"), files)
    found = members("docs", "--drop", "same-words", "--keep-in", "a.eml")

    kept = "same text; the attachments differ or cannot be read"
    assert (
        "same text",
        "drop",
        "same text, different bytes (pictures, links, headers, comments, formulas or formatting may differ)",
    ) == found["equal.eml"]
    assert [("same text", "decide", kept)] * 3 == [found[f"{name}.eml"] for name in ("other", "renamed", "none")]
    assert ("decide", True) == (
        found["loud.eml"][1],
        found["loud.eml"][2].endswith("; the attachments differ or cannot be read"),
    )
    assert ("same text", "decide", kept) == found["b.msg"]


@pytest.mark.usefixtures("read_in_this_process")
def test_a_file_is_not_dropped_if_the_index_leaves_out_a_part_of_it() -> None:
    """Front matter and quoted replies may differ, although the texts of the index are the same."""
    pytest.importorskip("yaml")
    pytest.importorskip("kreuzberg")
    own = words(100, 180)
    for number in (1, 2):
        page = f"---\nversion: {number}\n---\n{TEXT}\n"
        write(Path("docs"), {f"{number}.md": page, f"{number}.eml": mail(f"{own}\n> version {number}\n")})
    output("index", "docs", "--front-matter", "skip", "--quoted-replies", "skip")

    assert {
        "2.md": ("same text", "decide", "same text; the front matter, which the index leaves out, may differ"),
        "2.eml": ("same text", "decide", "same text; the quoted replies, which the index leaves out, may differ"),
    } == members("docs", "--drop", "same-text")


@pytest.mark.usefixtures("read_in_this_process")
def test_a_file_with_the_bytes_of_an_attachment_is_identical_to_it() -> None:
    """The attachment is never dropped. If it is the document to keep, a copy is dropped for another file."""
    pytest.importorskip("kreuzberg")
    message = mail("See the report.", report_txt=TEXT.encode(), page_html=f"<p>{TEXT}</p><img src=a.png>".encode())
    write(Path("docs"), {"m.eml": message, "report.txt": TEXT, "report (1).txt": TEXT})
    write(Path("docs"), {"page.html": f"<p>{TEXT}</p><img src=b.png>"})
    in_mail = "the file is in an archive or e-mail, which is never changed"
    found = members("docs", "--keep-in", "report.txt")

    assert ("identical", "decide", f"identical; {in_mail}") == found["m.eml!report.txt"]
    assert ("same text", "decide", f"same text; {in_mail}") == found["m.eml!page.html"]
    assert ("identical", "drop", "identical") == found["report (1).txt"]
    kept_in_mail = members("docs", "--keep-in", "m.eml!report.txt")
    assert "identical; the document to keep is in an archive or e-mail" == kept_in_mail["report.txt"][2]
    assert ("identical", "drop", "identical to report.txt") == kept_in_mail["report (1).txt"]


@pytest.mark.usefixtures("read_in_this_process")
def test_the_attachments_of_a_dropped_mail_are_removed_from_the_index() -> None:
    pytest.importorskip("kreuzberg")
    message = mail(TEXT, report_txt=words(100, 140).encode())
    write(Path("docs"), {"a.eml": message, "a (1).eml": message})
    plan("docs")

    assert "1 file moved, 2 documents removed from the index\n" in output("apply", "plan.tsv", "--move-to", "gone")
    result = answer("duplicates", "docs")
    assert (0, []) == (len(result["groups"]), result["left_out"])
