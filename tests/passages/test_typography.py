"""Copied words are counted, whatever apostrophes and narrow spaces they are written with."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.passages.align import align
from simdoc_search.passages.boilerplate import find_boilerplate
from simdoc_search.passages.compare import compare
from simdoc_search.passages.difference_summary import summarise_differences
from simdoc_search.passages.typography import list_typographic_variants, locate_unified_words, unify_typography
from simdoc_search.search.stored_texts import AnalysedText
from simdoc_search.search.version_entries import find_changes
from tests.support.cli import answer, output, write
from tests.support.typography import as_on_a_web_page, french_text

CURLY = "we don’t know the dogs’ owner, and he isn’t here, as it’s late"
STRAIGHT = CURLY.replace("’", "'")


@pytest.mark.parametrize("apostrophe", ["'", "\u2019", "\u2018", "\u02bc", "\uff07"])
def test_each_apostrophe_is_read_as_the_same_character(apostrophe: str) -> None:
    text = f"I don{apostrophe}t know, 1{apostrophe}000 dogs{apostrophe} bones"

    assert ["i", "don't", "know", "1'000", "dogs", "bones"] == locate_unified_words(text).words


def test_a_narrow_space_does_not_join_words() -> None:
    text = "«\u202fmot\u202f»\u202f; 12\u202f000 mots\u202f!"
    words = locate_unified_words(text)

    assert ["mot", "12", "000", "mots"] == words.words
    assert words.words == [text[start:end] for start, end in zip(words.starts, words.ends, strict=True)]


@given(st.text("ae'1 \u2019\u02bc\u202f\u00a0;\u05d0\U0001f600\ud800", max_size=30))
def test_variants_differ_only_in_apostrophes_and_spaces(text: str) -> None:
    unified = unify_typography(text)

    for variant in list_typographic_variants(text):
        assert len(text) == len(variant)
        assert unified.replace("\u00a0", " ") == unify_typography(variant).replace("\u00a0", " ")


def test_only_other_ways_to_write_a_text_are_variants() -> None:
    assert ["plain; text"] == list_typographic_variants("plain; text")
    assert ["don't; go", "don\u2019t; go"] == list_typographic_variants("don't; go")
    assert ["Quoi ?", "Quoi\u202f?"] == list_typographic_variants("Quoi ?")
    assert 5 == len(list_typographic_variants("l\u2019eau du 'puits' : « 12 000 »"))


def test_compare_and_passages_count_all_words_of_a_copy_with_other_characters() -> None:
    text = french_text(80, 1)
    for query, source in ((text, as_on_a_web_page(text)), (as_on_a_web_page(text), text)):
        compared = compare(query, source)
        search = SimilaritySearch(open_store(":memory:"))
        search.index([Document("source", source), Document("other", french_text(80, 2))])
        (hit,) = search.passages(text=query).hits
        (passage,) = hit.passages

        count = len(locate_unified_words(text).words)
        assert (count, count) == compared.word_counts == compared.matched_word_counts
        assert (1.0, 1.0, 1.0, ()) == (compared.jaccard, compared.containment, compared.estimate, compared.differences)
        assert (count, 1.0, 1.0) == (hit.word_count, hit.jaccard, hit.containment)
        assert ((0, len(query)), (0, len(source))) == (passage.a, passage.b)
        assert [passage] == align(query, source)


def test_an_apostrophe_is_a_symbol_that_is_listed_after_all_other_differences() -> None:
    before, after = f"{STRAIGHT}, Bill owes 5 or -6", f"{CURLY}, bill owes 5, or 6"
    listed = [(found.kind, before[slice(*found.a)]) for found in compare(before, after).character_differences]

    assert [("letters", "Bill"), ("symbols", "5"), ("symbols", "-6")] == listed[:3]
    assert [("symbols", word) for word in ("don't", "dogs'", "isn't", "it's")] == listed[3:]


def test_the_command_quotes_other_differences_before_apostrophes(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": f"{STRAIGHT}, 1'000 for Bill", "b.txt": f"{CURLY}, 1’000 for bill"})
    printed = " ".join(output("compare", tmp_path / "a.txt", tmp_path / "b.txt").split())

    assert "No words differ. But letter case, punctuation or symbols differ in 6 places: “Bill” / “bill”;" in printed
    assert "“don't” / “don’t”" in printed
    assert "number:" not in printed


def test_a_changed_number_with_a_narrow_space_is_quoted_with_its_thousands() -> None:
    text = french_text(40, 1)
    before, after = (f"{text} owes 12\u202f{rest} euros {text}" for rest in ("000", "500"))

    for other in (after, after.replace("\u202f", " ")):
        (change,) = compare(before, other).significant_changes
        assert ("number", "000", "500") == (change.kind, change.old, change.new)
        assert change.preceding_words.endswith("owes 12")


def test_ignored_texts_and_repeated_passages_are_recognised(tmp_path: Path) -> None:
    template, own = french_text(40, 1), french_text(40, 2)
    write(tmp_path, {"a.txt": f"{template} {own}", "b.txt": f"{own} {as_on_a_web_page(template)}"})
    write(tmp_path, {"template.txt": as_on_a_web_page(template)})
    compared = answer("compare", tmp_path / "a.txt", tmp_path / "b.txt", "--ignore", tmp_path / "template.txt")
    count = len(locate_unified_words(template).words)
    repeated = f"{template}\n" * 2 + as_on_a_web_page(template)
    passages = tuple(align(template, repeated))
    query = ("passages", "--file", tmp_path / "a.txt", "--in", tmp_path / "b.txt", "--store", tmp_path / "s")

    assert [count, count] == compared["ignored"]
    assert count == answer(*query, "--ignore", tmp_path / "template.txt")["ignored_word_count"]
    assert len(passages) == len(find_boilerplate(passages, (template, repeated)))


def test_versions_and_near_duplicates_with_other_apostrophes_have_no_changed_words() -> None:
    old, new = (AnalysedText(text, locate_unified_words(text)) for text in (STRAIGHT, CURLY))
    changes = find_changes(old, new, 1.0)
    summary = summarise_differences(compare(STRAIGHT, CURLY), (STRAIGHT, CURLY))

    assert (0, 0, True, False) == (
        changes.added_word_count,
        changes.removed_word_count,
        changes.has_other_symbols,
        changes.has_other_letters,
    )
    assert "no words differ; letter case, punctuation or symbols differ in 4 places: “don't” / “don’t”" == summary


def test_disguised_words_with_apostrophes_are_found() -> None:
    disguised = CURLY.replace("o", "\u043e").replace("know", "kn\u200bow")
    search = SimilaritySearch(open_store(":memory:"))
    search.index([Document("a", STRAIGHT)])
    result = search.passages(text=disguised)

    assert (13, 13) == (result.coverage.word_count, result.word_count)
    assert "’" not in "".join(word.looks_like for word in search.passages(text=CURLY).disguised_words)


def test_an_index_without_texts_lists_no_document_with_zero_words() -> None:
    """Its documents are compared by the words of Lucene."""
    text = french_text(80, 1)
    search = SimilaritySearch(open_store(":memory:", store_texts=False))
    search.index([Document("a", text)])

    assert all(hit.word_count for hit in search.passages(text=as_on_a_web_page(text)).hits)
    assert 1 == search.passages(text=text).total
