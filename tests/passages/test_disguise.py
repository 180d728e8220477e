"""Characters that hide a copy are reported, and do not hide it from `passages`."""

from __future__ import annotations

import re
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.analysis.words import locate_words
from simdoc_search.passages import disguise
from simdoc_search.passages.disguise import (
    describe_disguised_words,
    find_disguised_words,
    locate_shown_words,
    undo_disguise,
)
from tests.support.cli import answer, output, write
from tests.support.web import pages_of

TEXT = "the keeper wrote about the old harbour and the people who lived there"
ALPHABET = "aeB t\n\u200b\u200d\U000e0061\u00ad.\u0430\u0435\u0411\u03bf\u00e9\U0001f600\ud800"
COMPARED = "They may differ from the words that they look like. A search for passages reads them as those words."


def test_disguised_words_are_counted_and_their_lines_listed() -> None:
    """Not each of their characters. One such word is enough."""
    one_word = find_disguised_words("the w\u0435r\u0435b\u0430rr\u0435l")
    five_words = find_disguised_words("k\u200bee\u200bper of\nth\u0435 h\u0430rb\u043eur, \u043ed, \u043ef")
    many_lines = find_disguised_words("th\u0435\n" * 22)

    assert [((4, 14), "werebarrel", "line 1")] == [(word.span, word.looks_like, word.place) for word in one_word]
    begin = "contain invisible characters or look-alike letters of another alphabet:"
    assert f"5 words {begin} “k\\u200bee\\u200bper” (line 1), “th\u0435” and 3 more (line 2)." == (
        describe_disguised_words(five_words)
    )
    assert describe_disguised_words(one_word).startswith("1 word contains invisible characters")
    assert describe_disguised_words(many_lines).endswith("“th\u0435” (line 20), and 2 words in 2 more lines.")
    assert "" == describe_disguised_words([])


@pytest.mark.parametrize(
    ("written", "plain", "words"),
    [
        ("Th\u0435 k\u200bee\u200b\u200bper, \u0421\u043ePE", "The keeper, CoPE", ["the", "keeper", "cope"]),
        ("on \u0430 b\u043eat", "on a boat", ["on", "a", "boat"]),  # one word has look-alike letters only
        ("\u0448e \u0430 \u0448a", "\u0448\u0435 \u0430 \u0448\u0430", ["\u0448\u0435", "\u0430", "\u0448\u0430"]),
        ("a \u0441oa\u0441h, a\u0441\u0435", "a coach, ace", ["a", "coach", "ace"]),  # the last could be Cyrillic
        ("\u03a4he N\u0391TO", "The NATO", ["the", "nato"]),  # Greek
        ("\u043fass th\u0435", "\u043fass the", ["\u043fass", "the"]),  # no Latin letter looks like the first one
        ("\U0001f600 ha\u00adrb\u043eur", "\U0001f600 ha\u00adrbour", ["\U0001f600", "harbour"]),
        (
            "ke\u200c\ufe0fep\U000e0061er, \u03bb\u2060\u03cc\u03b3\u03bf\u03c2",
            "keeper, \u03bb\u03cc\u03b3\u03bf\u03c2",
            ["keeper", "\u03bb\u03cc\u03b3\u03bf\u03c3"],
        ),
    ],
)
def test_disguised_words_are_read_as_what_they_look_like(written: str, plain: str, words: list[str]) -> None:
    located = locate_shown_words(written)
    cut = [written[start:end] for start, end in zip(located.starts, located.ends, strict=True)]

    assert (plain, words) == (undo_disguise(written), located.words)
    assert re.findall(r"[^ ,]+", written) == cut


@given(st.text(ALPHABET, max_size=40))
def test_positions_are_those_of_the_text_as_it_is_written(text: str) -> None:
    located, shown = locate_shown_words(text), undo_disguise(text)
    edges = [edge for pair in zip(located.starts.tolist(), located.ends.tolist(), strict=True) for edge in pair]

    assert locate_words(shown).words == located.words
    assert edges == sorted(edges)
    assert all(start < end for start, end in zip(edges[::2], edges[1::2], strict=True))
    assert bool(find_disguised_words(text)) or text == shown
    for word in find_disguised_words(text):
        assert text[slice(*word.span)] == word.word
        assert word.looks_like in shown


@given(st.text(ALPHABET, max_size=40))
def test_long_texts_which_numpy_checks_first_give_the_same_words(text: str) -> None:
    with patch.object(disguise, "_MAX_REGEX_CHARACTERS", 0):
        found = find_disguised_words(text)

    assert found == find_disguised_words(text)


def test_normal_texts_are_not_suspected() -> None:
    """Such as texts in two languages, Greek letters in science, and invisible characters where they are normal."""
    russian = "\u043e\u043d \u043f\u0438\u0441\u0430\u043b"
    thai = "\u0e20\u0e32\u0e29\u0e32\u200b\u0e44\u0e17\u0e22 "

    for text in (
        "",
        TEXT,
        f"{russian} {TEXT} " * 9,
        thai * 9,
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u0915\u094d\u200d\u0937 "
        * 9,  # joiners in Persian and Hindi
        "\u2764\ufe0f \U0001f469\u200d\U0001f4bb " * 9,  # emoji
        f"\ufeff{TEXT} so\u00adft " * 9,
        f"{TEXT}\u200b {TEXT} " * 9,
        "10 \u03bcm \u03b1-helix " * 9,
    ):
        assert [] == find_disguised_words(text)
        assert text == undo_disguise(text)


def test_a_cyrillic_word_between_latin_words_is_not_suspected_in_a_russian_text() -> None:
    """Even if another word of the text is disguised."""
    russian = "\u043e\u043d \u043f\u0438\u0441\u0430\u043b"
    text = f"{russian} Windows \u0441 Linux, {russian} c\u0430\u0439\u0442 {russian}"

    assert ["c\u0430\u0439\u0442"] == [word.word for word in find_disguised_words(text)]
    assert text.replace("c", "\u0441") == undo_disguise(text)


def test_copied_words_are_counted_in_spite_of_their_disguise() -> None:
    """In the query, in the index and in both, also if not one word is left as it was."""
    words = [word for word in TEXT.split() if len(word) > 2]
    plain, disguised = " ".join(words), " ".join(f"{word[0]}\u200b{word[1:]}" for word in words)
    for query, indexed in ((disguised, plain), (plain.replace("o", "\u043e"), plain), (disguised, disguised)):
        search = SimilaritySearch(open_store(":memory:"))
        search.index([Document("a", indexed)])
        result = search.passages(text=query)
        (passage,) = result.hits[0].passages

        assert (len(words), len(words)) == (result.coverage.word_count, result.word_count)
        assert ([(0, len(query))], (0, len(query)), (0, len(indexed))) == (result.spans, passage.a, passage.b)
    assert result.notes[0].endswith(f" and {len(words)} of them are in shared passages.")
    assert 2 == search.passages(text=f"“{disguised}” and more", ignore_quotes=True).word_count


def test_json_and_pages_show_each_disguised_word(tmp_path: Path) -> None:
    disguised = TEXT.replace("old harbour", "\u043eld har\u200bbour").replace("keeper", "kee\u200dper")
    write(tmp_path, {"papers/a.txt": TEXT, "b.txt": disguised})
    query = ("passages", "--file", tmp_path / "b.txt", "--in", tmp_path / "papers", "--store", tmp_path / "s")
    page = tmp_path / "page.html"
    output(*query, "--html", page)

    assert [("kee\u200dper", "keeper"), ("\u043eld", "old"), ("har\u200bbour", "harbour")] == [
        (word["word"], word["looks_like"]) for word in answer(*query)["disguised_words"]
    ]
    letter = '<span class="escape" title="Cyrillic Small Letter O">\u043e</span>'
    html = page.read_text("utf-8")
    assert f'{letter}ld har<span class="escape">\\u200b</span>bour' in html
    assert 'kee<span class="escape">\\u200d</span>per' in html


def test_all_outputs_have_the_note(tmp_path: Path) -> None:
    """Also if no source was found."""
    disguised = TEXT.replace("e", "\u0435")
    write(tmp_path, {"papers/a.txt": TEXT, "essays/b.txt": disguised})
    words, page = describe_disguised_words(find_disguised_words(disguised)), tmp_path / "page.html"
    note = f"{words} They are read as the words that they look like, and 8 of them are in shared passages."
    place = ("--in", tmp_path / "papers", "--store", tmp_path / "s")

    assert note in output("passages", "--file", tmp_path / "essays" / "b.txt", *place, "--html", page).splitlines()
    assert note in output("passages", "--folder", tmp_path / "essays", *place).splitlines()
    assert note in page.read_text("utf-8")
    search = SimilaritySearch(open_store(":memory:"))
    search.index([Document("a", TEXT)])
    with pages_of(lambda: search) as pages:
        assert note in pages.html("/passages", text=disguised)
        assert f"your text: {words} {COMPARED}" in pages.html("/compare", text=disguised, b="a")
        assert [f"your text: {words} {COMPARED}"] == pages.json("/compare", text=disguised, b="a")["notes"]


def test_compare_says_which_text_has_disguised_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    disguised = TEXT.replace("people", "p\u0435ople")
    write(tmp_path, {"a.txt": TEXT, "b.txt": disguised})
    files, page = ("compare", "a.txt", "b.txt"), tmp_path / "page.html"
    note = f"b.txt: {describe_disguised_words(find_disguised_words(disguised))} {COMPARED}"
    printed = output(*files, "--html", page)

    assert note in " ".join(printed.split())
    assert note in page.read_text("utf-8")
    assert [note] == answer(*files)["notes"]
    assert ["The two files have the same bytes."] == answer("compare", "b.txt", "b.txt")["notes"]
