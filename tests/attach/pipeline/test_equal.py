"""What the pipeline makes of a text is what we make of it: tokens, passages, counts, hashes, format."""

from __future__ import annotations

import random
from typing import Any

import pytest

from simdoc_search.analysis.settings import Analysis
from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.attach.pipeline import LONGEST_TEXT
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.winnow import Passages
from simdoc_search.stores.remote.texts import text_of
from tests.support.pipeline import TRICKY, any_points, as_engine_reads, different, expected, made_by_engine, mixtures
from tests.support.texts import text as prose
from tests.support.vectors import load, reference_texts

SETTINGS = {
    "usual": Settings(),
    "lowercase": Settings(Analysis("lowercase", 3, short_texts=False), MinHash(bucket_count=64), 5, None),
    "characters": Settings(Analysis(shingle_size=4, unit="character"), MinHash(bucket_count=4096), 4, Passages(3)),
    "smallest": Settings(Analysis(shingle_size=1), MinHash(bucket_count=1), 4, Passages(1)),
}


def assert_equal(url: str, texts: list[str], settings: Settings | None = None) -> None:
    """The pipeline's are ours; texts are shown as ASCII, as they may steer a terminal."""
    found = different(url, [as_engine_reads(each) for each in texts], settings)

    assert [] == [(ascii(text)[:300], made, ours) for text, made, ours in found[:3]]


@pytest.mark.parametrize("name", SETTINGS)
def test_reference_texts_are_equal(opensearch_url: str, name: str) -> None:
    """Those of Lucene's vectors, of which tokens and words are Lucene's too."""
    assert_equal(opensearch_url, list(reference_texts().values()), SETTINGS[name])


@pytest.mark.parametrize("name", SETTINGS)
def test_texts_of_many_scripts_are_equal(opensearch_url: str, name: str) -> None:
    """Each script with what is hard in it, alone and all in one text."""
    assert_equal(opensearch_url, [*TRICKY.values(), " ".join(TRICKY.values())], SETTINGS[name])


@pytest.mark.parametrize("name", SETTINGS)
def test_random_texts_are_equal(opensearch_url: str, name: str) -> None:
    """Lucene's random mixtures, all classes of characters after each other, all letters there are."""
    assert_equal(opensearch_url, [each["text"] for each in load("words_random")["texts"]], SETTINGS[name])
    assert_equal(opensearch_url, mixtures(name, 300), SETTINGS[name])
    assert_equal(opensearch_url, any_points(name, 100), SETTINGS[name])


def test_each_letter_is_equal(opensearch_url: str) -> None:
    """A random one in ten of all code points, as words of three."""
    rng = random.Random("letters")
    points = [point for point in range(0x110000) if rng.random() < 0.1 and not 0xD800 <= point < 0xE000]
    words = ["".join(map(chr, points[at : at + 3])) for at in range(0, len(points), 3)]

    assert_equal(opensearch_url, [" ".join(words[at : at + 500]) for at in range(0, len(words), 500)])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["prose", "han", "one_word", "spaces", "marks", "ligatures", "joiners", "mixtures"])
def test_the_longest_texts_are_equal(opensearch_url: str, kind: str) -> None:
    """A call of a script runs a million steps of loops: work on long texts is split, whatever they are made of."""
    rng = random.Random(kind)
    text = {
        "prose": lambda: prose(rng, 200_000),
        "han": lambda: "".join(chr(rng.randrange(0x4E00, 0x9FA5)) for _ in range(LONGEST_TEXT)),
        "one_word": lambda: "a" * LONGEST_TEXT,
        "spaces": lambda: " " * (LONGEST_TEXT - 4) + "word",
        "marks": lambda: f"a{chr(0x301) * 300}" * 3000,
        "ligatures": lambda: "ﷺ" * LONGEST_TEXT,
        "joiners": lambda: "\u200d" * LONGEST_TEXT,
        "mixtures": lambda: "".join(mixtures(kind, 4000)),
    }[kind]()[:LONGEST_TEXT]

    assert_equal(opensearch_url, [text])
    if kind == "han":
        assert_equal(opensearch_url, [text], SETTINGS["smallest"])


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({"title": "one two", "body": "three four five six"}, "one two\nthree four five six"),
        ({"title": ["one", "two"], "body": ["three", "four"]}, "one\ntwo\nthree\nfour"),
        ({"title": "one two three"}, "one two three"),
        ({"title": None, "body": "one two three"}, "one two three"),
        ({"title": "one", "body": ""}, "one\n"),
        ({"title": [], "body": "one two"}, "one two"),
        ({"title": ["one", None], "body": [None, "two"]}, "one\ntwo"),
        ({"title": "", "body": [""]}, "\n"),
        ({"title": None, "other": 7}, None),
        ({"title": [], "body": [None]}, None),
        ({"title": "one two", "other": {"body": "no"}}, "one two"),
    ],
)
def test_several_fields_are_one_text(opensearch_url: str, document: dict[str, object], text: str | None) -> None:
    """Line by line, lists too; those that are missing or null do not count. A document without a text has null."""
    (made,) = made_by_engine(opensearch_url, [document], text_field=["title", "body"])

    assert text == text_of(document, ["title", "body"])
    assert document | {"simdoc": None if text is None else expected(text)} == made


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({"page": {"text": "one two"}}, "one two"),
        ({"page.text": "one two"}, "one two"),
        ({"page": [{"text": "one"}, {"other": 1}, {"text": ["two", "three"]}]}, "one\ntwo\nthree"),
        ({"page": "one two"}, None),
        ({"page": {"text": None}}, None),
        ({"page": {"text": None}, "page.text": "one"}, "one"),
        ({"page": [{"text": None}, {"text": []}]}, None),
        ({"page": {"text": ""}}, ""),
    ],
)
def test_dots_lead_into_objects(opensearch_url: str, document: dict[str, object], text: str | None) -> None:
    """Of a list of objects the values are those of one field, as an engine has it."""
    (made,) = made_by_engine(opensearch_url, [document], text_field="page.text", field="prints")

    assert text == text_of(document, "page.text")
    assert document | {"prints": None if text is None else expected(text)} == made


@pytest.mark.parametrize("document", [{}, {"page": {}}, {"page": {"title": "one"}}, {"page.title": "one"}, {"n": 1}])
def test_a_part_that_says_nothing_of_the_text_says_nothing_of_the_fingerprint(
    opensearch_url: str, document: dict[str, object]
) -> None:
    """As an upsert in a bulk is merged, null would remove the fingerprint of a text that is still there."""
    (made,) = made_by_engine(opensearch_url, [document], text_field="page.text")
    (action,) = fingerprint_actions([{"_op_type": "update", "doc": document}], "page.text")

    assert document == made == action["doc"]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (7, "the field body holds a number, not text; name a field of text"),
        ({"text": "one"}, "the field body holds an object, not text; name a field of text"),
        (["one", 2], "the field body holds a number, not text; name a field of text"),
        (True, "the field body holds another value, not text; name a field of text"),
        (
            "x" * (LONGEST_TEXT + 1),
            f"the text has {LONGEST_TEXT + 1} characters, and the pipeline takes {LONGEST_TEXT}; shorten it, or run "
            "simdoc-search backfill",
        ),
    ],
)
def test_what_cannot_be_fingerprinted_says_why(opensearch_url: str, value: object, reason: str) -> None:
    """Nothing of an older fingerprint is left beside it; the document stays as it is."""
    document = {"body": value, "simdoc": {**expected("an older text"), "cluster": "a"}}
    (made,) = made_by_engine(opensearch_url, [document])

    nothing = dict.fromkeys(["tokens", "passages", "words_hash"])
    assert {"body": value, "simdoc": {"error": reason, **nothing}} == made


def test_a_document_that_says_nothing_of_a_text_has_no_fingerprint(opensearch_url: str) -> None:
    """An older one is removed, and so are marks of duplicates."""
    sent = expected("another text")
    made = made_by_engine(opensearch_url, [{"n": 1}, {"n": 1, "simdoc": sent}, {"simdoc": {**sent, "cluster": "a"}}])

    assert [{"n": 1}, {"n": 1}, {}] == made


def test_what_a_client_sent_is_made_anew(opensearch_url: str) -> None:
    """Only marks of duplicates are kept, and only if they come with the hash of this text."""
    ours, marks = expected("one two three"), {"duplicate_of": "a", "cluster": "a"}
    others: list[dict[str, Any]] = [
        {"simdoc": {**expected("another text"), **marks, "sentences": "X", "error": "an older one"}},
        {"simdoc": marks, "simdoc.tokens": "!!!!", "simdoc.format": "x"},
        {"simdoc": {**ours, "duplicate_of": None, "cluster": {"a": 1}}},
        {"simdoc": "no object"},
        {"simdoc": [{**ours, **marks}]},
    ]
    documents = [{"body": "one two three", **each} for each in [*others, {"simdoc": {**ours, **marks, "key": 1}}]]

    made = made_by_engine(opensearch_url, documents)

    assert [{"body": "one two three", "simdoc": each} for each in [ours] * len(others) + [ours | marks]] == made
