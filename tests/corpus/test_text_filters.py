"""Front matter and quoted replies are removed from texts if the settings of the store say so."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.corpus.formats import determine_format
from simdoc_search.corpus.text_filters import remove_parts
from simdoc_search.documents import Document
from simdoc_search.workers import ItemLimits, iterate_in_subprocess
from tests.support.archives import mail
from tests.support.cli import answer, json_lines, output, run, sentence, words, write

BOTH = ("front-matter", "quoted-replies")


def left(name: str, text: str, **metadata: Any) -> tuple[str, dict[str, Any]]:
    """Return the text without these parts, and its metadata."""
    document = remove_parts(Document("a", text, metadata), determine_format(Path(name)), BOTH)
    return document.text, dict(document.metadata)


# --- front matter ---


YAML = "title: Über Äpfel\ntags: [a, b]\nyear: 2020\ndraft: true\nday: 2021-03-04\nby: {name: x}\n"
LINES = "title: Über Äpfel\r\ntags:\r\n- a\r\n- b\r\nyear: 2020\r\ndraft: yes\r\nday: 2021-03-04\r\n"
TOML = 'title = "Über Äpfel"\ntags = ["a", "b"]\nyear = 2020\ndraft = true\nday = 2021-03-04\n[by]\nx = 1\n'


@pytest.mark.parametrize("front", [f"---\n{YAML}---\n", f"\ufeff---\r\n{LINES}...\r\n", f"+++\n{TOML}+++\n"])
def test_front_matter_becomes_metadata(front: str) -> None:
    text = f"{front}The text\n"
    keys = {"title": "Über Äpfel", "tags": ["a", "b"], "year": 2020, "draft": True, "day": "2021-03-04"}

    assert ("The text\n", keys) == left("note.md", text)
    assert (text, {}) == left("note.txt", text)


@pytest.mark.parametrize(
    "front",
    [
        "a: [1\n",
        "a: &x [1, 2]\nb: *x\n",
        "just a line\n",
        "[" * 600 + "\n",
        "a: !!python/object/apply:os.system [ls]\n",
        "a: 0000-99-99\n",
        "a: !!bool x\n",
        "a: !!float ''\n",
        "a: !!timestamp x\n",
        "x" * 70_000 + ": 1\n",
        "x: 1\n--- not the end\n",
    ],
)
def test_invalid_or_hostile_front_matter_is_kept(front: str) -> None:
    text = f"---\n{front}---\nThe text\n"

    assert (text, {}) == left("note.md", text)


def test_a_key_with_many_dots_does_not_fill_the_memory() -> None:
    text = f"+++\n{'.'.join('a' * 5_000)} = 1\n+++\nThe text\n"
    tracemalloc.start()
    try:
        assert (text, {}) == left("note.md", text)
        assert 10_000_000 > tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_keys_that_are_reserved_invalid_or_already_present_are_ignored() -> None:
    text = (
        f"---\npath: /etc\n1: x\n{'k' * 101}: x\nbig: {10**30}\nnone: ~\nnan: .nan\ntitle: mine\nfine: 1.5\n---\nText"
    )

    assert ("Text", {"title": "known", "fine": 1.5}) == left("a.md", text, title="known")


# --- quoted replies ---

REPLY = """Subject: Re: thing
From: Bob

I agree.

On Mon, 2 Mar 2020 at 10:00, Ada Quill
<ada@example.org> wrote:
> What do you think
> > of that?

But one thing: > is a sign.
On Friday I wrote to nobody.
"""


def test_quoted_lines_and_their_attributions_are_removed() -> None:
    text, _ = left("mail.mbox!Re: thing.eml", REPLY)

    assert (
        "Subject: Re: thing\nFrom: Bob\n\nI agree.\n\n\nBut one thing: > is a sign.\nOn Friday I wrote to nobody."
        == text
    )
    assert (REPLY, {}) == left("a.txt", REPLY)


@pytest.mark.parametrize(
    "separator",
    [
        "-----Original Message-----",
        "On Mon, 2 Mar 2020, Ada wrote:",
        "Am 02.03.2020 um 10:00 schrieb Ada Quill <ada@example.org>:",
        "Le 2 mars 2020 à 10:00, Ada a écrit :",
        "El lun, 2 mar 2020 a las 10:00, Ada escribió:",
    ],
)
def test_an_original_message_without_quote_signs_is_removed(separator: str) -> None:
    assert ("I agree.\n", {}) == left("a.eml", f"I agree.\n\n{separator}\n\nWhat do you think\nof that?\n")


def test_a_long_line_is_kept() -> None:
    text = "On " + "1 wrote " * 500_000

    assert (text, {}) == left("a.eml", text)


@pytest.mark.slow
def test_the_time_grows_with_the_number_of_lines() -> None:
    wrote = "On 1 wrote:\n> x\n" * 40_000
    digits = ("On " + "1" * 190 + "\n") * 2_000

    assert [("I agree.", {}), (digits.rstrip(), {})] == [
        *iterate_in_subprocess(_left_here, "I agree.\n" + wrote, digits, limits=ItemLimits(seconds=20.0))
    ]


def _left_here(*texts: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for text in texts:
        yield left("a.eml", text)


# --- in an index ---


@pytest.mark.usefixtures("read_in_this_process")
def test_an_index_records_which_parts_are_removed(tmp_path: Path) -> None:
    front = "---\ntitle: Notes\nstatus: final\n---\n"
    files: dict[str, str | bytes] = {
        "a.md": front + words(0, 60),
        "mail.mbox": mail("Re: x", f"yes\n\n> {words(0, 60)}"),
    }
    folder = write(tmp_path / "docs", files)
    both = ("--front-matter", "skip", "--quoted-replies", "skip")
    place = ("--store", tmp_path / "store")
    output("index", folder, "--archives", *both, *place)
    write(folder, {"b.md": front + words(100, 160)})
    output("index", folder, *place)
    output("index", "-", *place, stdin=json_lines({"id": "c.md", "text": front + words(200, 260)}))

    assert words(0, 60) == answer("show", "a.md", *place)["text"]
    assert {"title": "Notes", "status": "final"} == answer("show", "b.md", *place)["metadata"]
    assert answer("show", "c.md", *place)["text"].startswith("---")
    assert "word" not in answer("show", "Re: x", *place)["text"]
    assert "excluded   front matter, quoted replies\n" in output("info", *place)
    assert ["a.md", "b.md"] == [
        line.split()[-1] for line in output("list", "--filter", "status=final", *place).splitlines()[1:]
    ]
    assert "0 indexed, 1 unchanged" in output(
        "index", folder / "a.md", "--front-matter", "skip", "--quoted-replies", "skip", *place
    )
    error = sentence(run("index", folder, "--front-matter", "skip", *place))
    assert "was created with --front-matter skip and --quoted-replies skip, which cannot be changed" in error


@pytest.mark.parametrize(
    ("front_matter", "wanted"),
    [
        ("---\ntitle: A\ndate: 2021-03-12\nlastmod: '2021-04-01T10:00:00Z'\n---\n",
         {"date": "2021-03-12", "lastmod": "2021-04-01T10:00:00Z"}),
        ("+++\ndate = 2021-03-12\n+++\n", {"date": "2021-03-12"}),
        ("---\ntitle: 2021\n---\n", {}),
        ("date: 2021-03-12\n", {}),
    ],
)  # fmt: skip
def test_dates_become_metadata_even_if_front_matter_is_kept(front_matter: str, wanted: dict[str, str]) -> None:
    document = Document("a.md", f"{front_matter}Some text.")
    found = remove_parts(document, determine_format(Path("a.md")), ())

    assert (document.text, wanted) == (found.text, found.metadata)
