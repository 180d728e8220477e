"""The pipeline makes the same fingerprints as Python: tokens, passages, counts, hashes and label."""

from __future__ import annotations

import random
from typing import Any

import pytest

from simdoc_search.analysis.settings import Analysis
from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.attach.pipeline import MAX_TEXT_LENGTH
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.winnow import PassageSettings
from simdoc_search.stores.remote.texts import read_text
from tests.support.pipeline import TRICKY, any_points, as_engine_reads, different, expected, mixtures, run_pipeline
from tests.support.vectors import load, reference_texts

SETTINGS = {
    "default": Settings(),
    "lowercase": Settings(Analysis("lowercase", 3, short_texts=False), MinHash(bucket_count=64), None),
    "characters": Settings(Analysis(shingle_size=4, unit="character"), MinHash(bucket_count=4096), PassageSettings(3)),
    "smallest": Settings(Analysis(shingle_size=1), MinHash(bucket_count=1), PassageSettings(1)),
}


def assert_equal(url: str, texts: list[str], settings: Settings | None = None) -> None:
    """Compare fingerprints. Messages show texts in ASCII, because control characters may confuse a terminal."""
    differences = different(url, [as_engine_reads(text) for text in texts], settings)

    assert [] == [(ascii(text)[:300], actual, wanted) for text, actual, wanted in differences[:3]]


@pytest.mark.parametrize("name", SETTINGS)
def test_texts_of_all_scripts_are_equal(opensearch_url: str, name: str) -> None:
    """The texts are Lucene's reference texts and random texts, tricky texts, and random code points."""
    texts = [*reference_texts().values(), *TRICKY.values(), " ".join(TRICKY.values())]
    texts += [example["text"] for example in load("words_random")["texts"]]

    assert_equal(opensearch_url, [*texts, *mixtures(name, 200), *any_points(name, 60)], SETTINGS[name])


def test_a_tenth_of_all_code_points_is_equal(opensearch_url: str) -> None:
    """They are chosen at random, in words of three."""
    rng = random.Random("letters")
    points = [point for point in range(0x110000) if rng.random() < 0.1 and not 0xD800 <= point < 0xE000]
    words = ["".join(map(chr, points[start : start + 3])) for start in range(0, len(points), 3)]

    assert_equal(opensearch_url, [" ".join(words[start : start + 500]) for start in range(0, len(words), 500)])


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        ("".join(map(chr, range(0x4E00, 0x9FA5))) * 60)[:MAX_TEXT_LENGTH],
        " " * (MAX_TEXT_LENGTH - 4) + "word",
        f"a{chr(0x301) * 300}" * 3000,
        "ﷺ" * MAX_TEXT_LENGTH,
    ],
    ids=["han", "spaces", "marks", "ligatures"],
)
def test_the_longest_texts_are_equal(opensearch_url: str, text: str) -> None:
    """A function call in a script may run at most a million steps, so the scripts split the work."""
    assert_equal(opensearch_url, [text])


@pytest.mark.parametrize(
    ("fields", "document", "text"),
    [
        (["title", "body"], {"title": "one two", "body": "three four five six"}, "one two\nthree four five six"),
        (["title", "body"], {"title": ["one", "two"], "body": ["three", "four"]}, "one\ntwo\nthree\nfour"),
        (["title", "body"], {"title": "one two three"}, "one two three"),
        (["title", "body"], {"title": None, "body": "one two three"}, "one two three"),
        (["title", "body"], {"title": "one", "body": ""}, "one\n"),
        (["title", "body"], {"title": ["one", None], "body": [None, "two"]}, "one\ntwo"),
        (["title", "body"], {"title": [], "body": [None]}, None),
        (["title", "body"], {"title": "one two", "other": {"body": "no"}}, "one two"),
        (["page.text"], {"page": {"text": "one two"}}, "one two"),
        (["page.text"], {"page.text": "one two"}, "one two"),
        (["page.text"], {"page": [{"text": "one"}, {"other": 1}, {"text": ["two", "three"]}]}, "one\ntwo\nthree"),
        (["page.text"], {"page": "one two"}, None),
        (["page.text"], {"page": {"text": None}, "page.text": "one"}, "one"),
        (["page.text"], {"page": [{"text": None}, {"text": []}]}, None),
        (["page.text"], {"page": {"text": ""}}, ""),
    ],
    ids=str,
)
def test_fields_are_read_as_in_python(
    opensearch_url: str, fields: list[str], document: dict[str, object], text: str | None
) -> None:
    """Several fields and lists make one text, with one line each. Dots lead into objects. Null is not a text."""
    (result,) = run_pipeline(opensearch_url, [document], text_field=fields, field="prints")

    assert text == read_text(document, fields)
    assert document | ({} if text is None else {"prints": expected(text)}) == result


@pytest.mark.parametrize("document", [{}, {"page": {}}, {"page": {"title": "one"}}, {"page.title": "one"}], ids=str)
def test_a_partial_document_without_the_text_field_is_unchanged(
    opensearch_url: str, document: dict[str, object]
) -> None:
    """A bulk upsert is merged, so null would remove the fingerprint of a text that still exists."""
    (result,) = run_pipeline(opensearch_url, [document], text_field="page.text", is_merged=True)
    (action,) = fingerprint_actions([{"_op_type": "update", "doc": document}], "page.text")

    assert document == result == action["doc"]


@pytest.mark.parametrize("document", [{"page": None}, {"page": {"text": []}}, {"page.text": None}], ids=str)
def test_a_partial_document_that_removes_the_text_sets_the_fingerprint_to_null(
    opensearch_url: str, document: dict[str, object]
) -> None:
    """The engine would keep the older fingerprint if the field were missing."""
    (result,) = run_pipeline(opensearch_url, [document], text_field="page.text", is_merged=True)
    (action,) = fingerprint_actions([{"_op_type": "update", "doc": document}], "page.text")

    assert document | {"simdoc": None} == result == action["doc"]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (7, "the field body contains a number, not text; choose a text field"),
        ({"text": "one"}, "the field body contains an object, not text; choose a text field"),
        (["one", 2], "the field body contains a number, not text; choose a text field"),
        (True, "the field body contains a value of another type, not text; choose a text field"),
        (
            "x" * (MAX_TEXT_LENGTH + 1),
            f"the text has {MAX_TEXT_LENGTH + 1} characters, but the pipeline accepts at most {MAX_TEXT_LENGTH}; "
            "shorten it, "
            "or run `simdoc-search backfill`",
        ),
    ],
    ids=["number", "object", "list", "boolean", "long"],
)
def test_a_value_that_is_not_a_text_gets_the_reason(opensearch_url: str, value: object, reason: str) -> None:
    """An older fingerprint is removed."""
    document = {"body": value, "simdoc": {**expected("an older text"), "cluster": "a"}}
    (result,) = run_pipeline(opensearch_url, [document])

    nothing = dict.fromkeys(["tokens", "passages", "words_hash"])
    assert {"body": value, "simdoc": {"error": reason, **nothing}} == result


def test_values_in_the_fingerprint_field_are_replaced(opensearch_url: str) -> None:
    """Marks of duplicates are kept if the hash is that of the text. Without a text nothing is kept."""
    ours, marks = expected("one two three"), {"duplicate_of": "a", "cluster": "a"}
    others: list[dict[str, Any]] = [
        {"simdoc": {**expected("another text"), **marks, "sentences": "X", "error": "an older one"}},
        {"simdoc": marks, "simdoc.tokens": "!!!", "simdoc.format": "x"},
        {"simdoc": {**ours, "duplicate_of": None, "cluster": {"a": 1}}},
        {"simdoc": [{**ours, **marks}]},
    ]
    documents = [{"body": "one two three", **values} for values in [*others, {"simdoc": {**ours, **marks, "key": 1}}]]
    results = run_pipeline(opensearch_url, [*documents, {"n": 1, "simdoc": {**ours, "cluster": "a"}}])

    assert [*[ours] * len(others), ours | marks, None] == [result.get("simdoc") for result in results]
