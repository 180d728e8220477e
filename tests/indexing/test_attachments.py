"""Attachments of e-mails are not read, and are named."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import pytest

from tests.support.cli import answer, json_lines, run, write


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def mail(subject: str, *attachments: str) -> bytes:
    """Return an e-mail with these attachments."""
    message = EmailMessage()
    message["From"], message["Subject"] = "ada@example.org", subject
    message.set_content("See attached.")
    for name in attachments:
        message.add_attachment(b"one two three four five six", maintype="text", subtype="plain", filename=name)
    return bytes(message)


def test_index_names_the_attachments_that_it_does_not_read(folder: Path) -> None:
    write(folder, {"docs/contract.eml": mail("Contract", "a.txt", "Vertrag ä.pdf"), "docs/none.eml": mail("Hello")})
    done = run("index", "docs")

    assert done.stdout.startswith("2 indexed")
    assert done.stderr.startswith(
        "  2 attachments were not read; to search attachments, save them as files and index the files: "
    )
    assert done.stderr.endswith(": contract.eml (a.txt, Vertrag ä.pdf)\n")
    assert "" == run("index", "docs").stderr
    assert {"contract.eml": ["a.txt", "Vertrag ä.pdf"]} == answer("index", "docs", "--store", "new")["attachments"]


def test_messages_of_a_mailbox_name_their_attachments(folder: Path) -> None:
    start = b"From ada@example.org Mon Mar  2 10:00:00 2020\n"
    write(folder, {"mail.mbox": start + mail("One", "a.txt") + b"\n" + start + mail("Two")})

    assert "mail.mbox!One.eml (a.txt)\n" in run("index", "mail.mbox").stderr
    assert {"mail.mbox!One.eml": ["a.txt"]} == answer("index", "mail.mbox", "--store", "new")["attachments"]


def test_metadata_of_the_same_name_is_no_attachment() -> None:
    line = json_lines({"id": "x.eml", "text": "one two three", "attachments": ["a.txt"]})

    assert {} == answer("index", "-", stdin=line)["attachments"]
