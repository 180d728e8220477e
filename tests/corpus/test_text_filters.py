"""Front matter and quoted replies: left out of texts where an index is made so; keys become metadata."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.corpus.formats import format_of
from simdoc_search.corpus.text_filters import without_parts
from simdoc_search.documents import Document
from simdoc_search.sketch.settings import Settings
from simdoc_search.workers import Limits
from simdoc_search.workers.isolated_iterator import apart
from tests.support.archives import mail
from tests.support.cli import answer, json_lines, output, run, sentence, words, write

BOTH = ("front-matter", "quoted-replies")


def left(name: str, text: str, **metadata: Any) -> tuple[str, dict[str, Any]]:
    """What stays of a text, and its metadata."""
    found = without_parts(Document("a", text, metadata), format_of(Path(name)), BOTH)
    return found.text, dict(found.metadata)


# --- front matter ---


YAML = "title: Über Äpfel\ntags: [a, b]\nyear: 2020\ndraft: true\nday: 2021-03-04\nby: {name: x}\n"
LINES = "title: Über Äpfel\r\ntags:\r\n- a\r\n- b\r\nyear: 2020\r\ndraft: yes\r\nday: 2021-03-04\r\n"
TOML = 'title = "Über Äpfel"\ntags = ["a", "b"]\nyear = 2020\ndraft = true\nday = 2021-03-04\n[by]\nx = 1\n'


@pytest.mark.parametrize("front", [f"---\n{YAML}---\n", f"\ufeff---\r\n{LINES}...\r\n", f"+++\n{TOML}+++\n"])
def test_keys_are_metadata_and_no_text(front: str) -> None:
    """YAML and TOML; objects in it are left out."""
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
        "[" * 5000 + "\n",
        "a: !!python/object/apply:os.system [ls]\n",
        "a: 0000-99-99\n",
        "a: !!bool x\n",
        "a: !!float ''\n",
        "a: !!timestamp x\n",
        "x" * 70_000 + ": 1\n",
    ],
)
def test_what_is_no_front_matter_stays(front: str) -> None:
    """Broken, hostile or too long."""
    text = f"---\n{front}---\nThe text\n"

    assert (text, {}) == left("note.md", text)


def test_a_key_of_many_parts_does_not_fill_the_memory() -> None:
    """The parser would keep each beginning of the key."""
    text = f"+++\n{'.'.join('a' * 5_000)} = 1\n+++\nThe text\n"
    tracemalloc.start()
    try:
        assert (text, {}) == left("note.md", text)
        assert 10_000_000 > tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_what_only_looks_so_stays() -> None:
    """A rule between paragraphs, an end that never comes; what is empty is none."""
    for text in ("One\n---\nx: 1\n---\nTwo", "---\nx: 1\n", "--- x\ny: 1\n---\n"):
        assert (text, {}) == left("a.md", text)
    assert ("Text", {}) == left("a.md", "---\n---\nText")


def test_no_file_says_its_own_path_and_none_overrules_what_is_known() -> None:
    """Keys that are no names are left out; numbers that no index can hold too."""
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


def test_quoted_lines_and_who_wrote_them_are_left_out() -> None:
    """Answers between them stay; a sentence that begins so is one."""
    text, _ = left("mail.mbox!Re: thing.eml", REPLY)

    assert (
        "Subject: Re: thing\nFrom: Bob\n\nI agree.\n\n\nBut one thing: > is a sign.\nOn Friday I wrote to nobody."
        == text
    )
    assert (REPLY, {}) == left("a.txt", REPLY)


@pytest.mark.parametrize(
    "said",
    [
        "-----Original Message-----",
        "On Mon, 2 Mar 2020, Ada wrote:",
        "Am 02.03.2020 um 10:00 schrieb Ada Quill <ada@example.org>:",
        "Le 2 mars 2020 à 10:00, Ada a écrit :",
        "El lun, 2 mar 2020 a las 10:00, Ada escribió:",
    ],
)
def test_what_comes_after_is_left_out_where_it_has_no_signs(said: str) -> None:
    """As in HTML mails."""
    assert ("I agree.\n", {}) == left("a.eml", f"I agree.\n\n{said}\n\nWhat do you think\nof that?\n")


def test_a_long_line_takes_no_long_time() -> None:
    """However often it might begin so."""
    text = "On " + "1 wrote " * 500_000

    assert (text, {}) == left("a.eml", text)


def test_the_time_grows_with_the_number_of_lines() -> None:
    """4 MB of lines that begin like a quoted reply. The time of a square would pass the limit some times over."""
    wrote = "On 1 wrote:\n> x\n" * 125_000
    digits = ("On " + "1" * 190 + "\n") * 10_000

    assert [("I agree.", {}), (digits.rstrip(), {})] == [
        next(apart(_left_here, text, limits=Limits(seconds=30.0))) for text in ("I agree.\n" + wrote, digits)
    ]


def _left_here(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield left("a.eml", text)


# --- in an index ---


def test_an_index_remembers_what_it_leaves_out(tmp_path: Path) -> None:
    """Later runs do so too; documents of applications stay as they are; another store is for another choice."""
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
    assert "left out   front-matter, quoted-replies\n" in output("info", *place)
    assert ["a.md", "b.md"] == [
        line.split()[-1] for line in output("list", "--filter", "status=final", *place).splitlines()[1:]
    ]
    assert "0 indexed, 1 unchanged" in output(
        "index", folder / "a.md", "--front-matter", "skip", "--quoted-replies", "skip", *place
    )
    said = sentence(run("index", folder, "--front-matter", "skip", *place))
    assert "was made with --front-matter skip and --quoted-replies skip, as it must stay" in said


def test_a_store_that_keeps_all_is_not_mixed_with_one_that_does_not(tmp_path: Path) -> None:
    """Its older texts would have front matter, the newer ones none."""
    folder = write(tmp_path / "docs", {"a.md": "---\ntitle: x\n---\nsome words in a row"})
    output("index", folder, "--store", tmp_path / "store")

    said = sentence(run("index", folder, "--front-matter", "skip", "--store", tmp_path / "store"))
    assert "was made with all of each text, as it must stay" in said


def test_settings_come_back_as_they_were_stored() -> None:
    """And have one order."""
    for parts in ((), BOTH[:1], BOTH[1:], BOTH):
        settings = Settings(left_out=parts)

        assert settings == Settings.from_dict(settings.to_dict())
        assert settings.satisfies(Settings())
    with pytest.raises(ValueError, match="left_out"):
        Settings(left_out=BOTH[::-1])


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
def test_the_dates_of_front_matter_are_metadata_by_default(front_matter: str, wanted: dict[str, str]) -> None:
    """The text keeps it; `versions` reads when a document was written."""
    document = Document("a.md", f"{front_matter}Some text.")
    found = without_parts(document, format_of(Path("a.md")), ())

    assert (document.text, wanted) == (found.text, found.metadata)
