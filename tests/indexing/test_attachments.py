"""Attachments of e-mails are documents of their own. Those that cannot be read are named."""

from __future__ import annotations

import io
import os
import zipfile
from email.message import EmailMessage
from pathlib import Path

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.corpus.attachments import find_attachments
from tests.support.cli import answer, json_lines, output, run, words, write
from tests.support.outlook import outlook_message

FROM_LINE = b"From ada@example.org Mon Mar  2 10:00:00 2020\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def mail(subject: str, **attachments: bytes) -> bytes:
    """Return an e-mail with these attachments. In the names, `_` stands for a full stop."""
    message = EmailMessage()
    message["From"], message["Subject"] = "ada@example.org", subject
    message.set_content("See attached.")
    for name, data in attachments.items():
        filename = name.replace("_", ".")
        message.add_attachment(data, maintype="application", subtype="octet-stream", filename=filename)
    return bytes(message)


def zipped(name: str, data: bytes) -> bytes:
    """Return a zip archive with one file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, data)
    return file.getvalue()


def ids() -> list[str]:
    """Return the ids of all documents."""
    return sorted(open_store(".simdoc").ids_with_prefix("", 99))


def test_attachments_of_all_kinds_are_documents(folder: Path) -> None:
    offer, prices = words(0, 40).encode(), words(50, 90).encode()
    inner = mail("Inner", report_txt=words(100, 140).encode())
    contract = mail("Contract", offer_txt=offer, äpfel_txt=prices, all_zip=zipped("x/inside.txt", prices), re_eml=inner)
    write(folder, {"docs/contract.eml": contract, "docs/none.eml": mail("Hello")})
    done = run("index", "docs")

    expected = ["all.zip!x/inside.txt", "offer.txt", "re.eml", "re.eml!report.txt", "äpfel.txt"]
    assert [*(f"contract.eml!{name}" for name in ("", *expected))][1:] == [id for id in ids() if "!" in id]
    assert done.stdout.startswith("7 indexed")
    assert "" == done.stderr
    stored = open_store(".simdoc").get("contract.eml!offer.txt", load={"text"})
    assert stored is not None
    assert offer.decode() == stored.text
    assert run("index", "docs").stdout.startswith("0 indexed, 7 unchanged")
    assert "" == run("index", "docs", "--prune").stderr
    assert 7 == len(ids())


@pytest.mark.usefixtures("read_in_this_process")
def test_an_attachment_is_found_by_its_text_and_is_a_copy_of_a_file(folder: Path) -> None:
    write(folder, {"docs/contract.eml": mail("Contract", offer_txt=words(0, 40).encode()), "docs/a.txt": words(0, 40)})
    output("index", "docs")

    [hit] = answer("similar", "a.txt_90")["hits"]
    assert "contract.eml!offer.txt" == hit["id"]
    assert 1 == len(answer("duplicates")["groups"])


@pytest.mark.usefixtures("read_in_this_process")
def test_attachments_that_give_no_text_are_skipped_with_the_reason(folder: Path) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + bytes(99)
    write(folder, {"docs/contract.eml": mail("Contract", photo_png=picture, offer_txt=b"one two three four five six")})
    skipped = answer("index", "docs")["skipped"]

    assert [("contract.eml!photo.png", "an image")] == [
        (os.path.relpath(each["path"], "docs"), each["reason"]) for each in skipped
    ]


def test_pictures_that_the_text_shows_are_not_attachments() -> None:
    message = EmailMessage()
    message.set_content("<p>Hello <img src=cid:x>", subtype="html")
    message.add_related(b"1234", maintype="image", subtype="png", cid="<x>", filename="logo.png", disposition="inline")

    assert [] == [*find_attachments(bytes(message))]


@pytest.mark.usefixtures("read_in_this_process")
def test_a_changed_mail_and_a_removed_mail(folder: Path) -> None:
    one, two, three = (words(start, start + 40).encode() for start in (0, 100, 200))
    write(folder, {"docs/contract.eml": mail("Contract", a_txt=one, b_txt=two), "docs/c.txt": words(300, 340)})
    output("index", "docs")
    write(folder, {"docs/contract.eml": mail("Contract", a_txt=one, c_txt=three)})
    output("index", "docs", "--prune")
    changed = ids()
    (folder / "docs/contract.eml").unlink()
    output("index", "docs", "--prune")

    assert ["c.txt", "contract.eml", "contract.eml!a.txt", "contract.eml!c.txt"] == changed
    assert ["c.txt"] == ids()


@pytest.mark.usefixtures("read_in_this_process")
def test_a_renamed_mail_takes_its_attachments_with_it(folder: Path) -> None:
    write(folder, {"docs/old.eml": mail("Contract", a_txt=words(0, 40).encode()), "docs/c.txt": words(300, 340)})
    output("index", "docs")
    (folder / "docs/old.eml").rename(folder / "docs/new.eml")
    output("index", "docs")

    assert ["c.txt", "new.eml", "new.eml!a.txt"] == ids()


@pytest.mark.usefixtures("read_in_this_process")
def test_an_interrupted_run_is_resumed(folder: Path) -> None:
    """The attachments are written before the mail. If the mail is missing, they are read again."""
    write(folder, {"docs/contract.eml": mail("Contract", a_txt=words(0, 40).encode(), b_txt=words(50, 90).encode())})
    output("index", "docs")
    SimilaritySearch(open_store(".simdoc")).delete(["contract.eml", "contract.eml!b.txt"])

    assert run("index", "docs").stdout.startswith("2 indexed, 1 unchanged")


@pytest.mark.usefixtures("read_in_this_process")
def test_attachments_of_messages_of_a_mailbox_are_documents(folder: Path) -> None:
    one = mail("One", a_txt=words(0, 40).encode())
    write(folder, {"mail.mbox": FROM_LINE + one + b"\n" + FROM_LINE + mail("Two")})
    output("index", "mail.mbox")

    assert ["mail.mbox!One.eml", "mail.mbox!One.eml!a.txt", "mail.mbox!Two.eml"] == ids()
    assert run("index", "mail.mbox").stdout.startswith("0 indexed, 3 unchanged")


@pytest.mark.usefixtures("read_in_this_process")
def test_a_message_of_a_maildir_names_its_attachments(folder: Path) -> None:
    """Its name has no extension, so nobody could tell that the attachment belongs to an e-mail."""
    name = "docs/cur/1700000000.M1P2.host:2,S"
    write(folder, {name: mail("Contract", a_txt=words(0, 40).encode())})
    done = run("index", "docs")

    assert done.stdout.startswith("1 indexed")
    assert "  1 attachment was not read" in done.stderr
    assert done.stderr.endswith("(a.txt)\n")


@pytest.mark.usefixtures("read_in_this_process")
def test_an_outlook_message_is_read_and_names_its_attachments(folder: Path) -> None:
    """Its attachments cannot be read."""
    message = outlook_message("Contract", "The text of the message.", {"offer.docx": b"x" * 5000, "a.txt": b"one two"})
    write(folder, {"docs/contract.msg": message})
    done = run("index", "docs")
    stored = open_store(".simdoc").get("contract.msg", load={"text"})

    assert stored is not None
    assert "The text of the message." in (stored.text or "")
    assert "Contract" == stored.metadata["title"]
    assert "  2 attachments were not read" in done.stderr
    assert done.stderr.endswith(": contract.msg (offer.docx, a.txt)\n")
    assert {"contract.msg": ["offer.docx", "a.txt"]} == answer("index", "docs", "--store", "new")["unread_attachments"]
    assert ["contract.msg"] == ids()


@pytest.mark.usefixtures("read_in_this_process")
@pytest.mark.parametrize("depth", [30, 200])
def test_deeply_nested_parts_do_not_stop_the_run(folder: Path, depth: int) -> None:
    heads = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (number, number) for number in range(depth)
    )
    nested = (
        b"Subject: x\n" + heads + b"Content-Disposition: attachment; filename=a.txt\n\none two three four five six\n"
    )
    write(folder, {"docs/x.eml": nested, "docs/y.txt": words(0, 40)})
    report = answer("index", "docs")

    assert report["added_count"] >= 1
    assert (depth > 100) == any("nested parts" in skipped["reason"] for skipped in report["skipped"])
    assert (depth < 100) == ("x.eml!a.txt" in ids())


def test_metadata_of_the_same_name_is_no_attachment() -> None:
    line = json_lines({"id": "x.eml", "text": "one two three", "attachments": ["a.txt"]})

    assert {} == answer("index", "-", stdin=line)["unread_attachments"]
