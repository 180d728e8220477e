"""`fingerprint_actions` adds fingerprints to the bulk actions of a loader."""

from __future__ import annotations

import copy
import itertools
import json
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from opensearchpy.helpers import expand_action

from simdoc_search import Analysis, MinHash, fingerprint
from simdoc_search.attach.actions import fingerprint_actions, fingerprint_field
from simdoc_search.concepts import Extractor, hash_words
from simdoc_search.errors import DocumentError, FormatMismatchError
from simdoc_search.sketch.concepts import CONCEPT_TOKEN_LENGTH
from simdoc_search.sketch.sentences import SentenceSettings
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import decode, encode
from simdoc_search.sketch.winnow import PassageSettings
from simdoc_search.stores.remote.schema import component_template
from tests.support.capitals_extractor import CAPITALS, Capitals
from tests.support.strategies import texts

TEXT = "The quick brown fox jumps over the lazy dog near the bank of the river."
START, END = "The quick brown fox jumps over", "the lazy dog near the bank of the river."
OURS: Any = fingerprint_field(TEXT)


def filled(action: dict[str, Any], text_field: str | list[str] = "text", **options: Any) -> dict[str, Any]:
    """Return an action with a fingerprint."""
    (result,) = fingerprint_actions([action], text_field, **options)
    return result


def body(action: dict[str, Any]) -> Any:
    """Return the body that the client sends for an action."""
    return expand_action(action)[1]


# --- the value of the field ---


def test_the_field_has_the_fingerprint_of_the_text() -> None:
    """Its `format` has the settings of the mapping."""
    fp = fingerprint(TEXT, passages=PassageSettings())
    meta = component_template()["template"]["mappings"]["properties"]["simdoc"]["properties"]["tokens"]["meta"]

    assert {
        "tokens": " ".join(fp.tokens()),
        "passages": " ".join(encode(fp.passages, 5)),
        "shingles": fp.shingle_count,
        "buckets": len(fp.tokens()),
        "format": f"{meta['simdoc_analysis']}; {meta['simdoc_sketches']}",
    }.items() <= OURS.items()
    assert OURS["text_hash"] != fingerprint_field(TEXT + " ")["text_hash"]
    assert OURS["words_hash"] == fingerprint_field(TEXT.upper() + "!")["words_hash"]


@given(texts())
def test_a_text_has_the_same_fingerprint_alone_and_in_an_action(text: str) -> None:
    value = filled({"_source": {"text": text}})["_source"].get("simdoc")

    assert value == fingerprint_field(text)
    assert json.dumps(value, ensure_ascii=False).encode()


def test_the_settings_and_the_field_can_be_chosen() -> None:
    settings = Settings(Analysis("lowercase", 3, short_texts=False), MinHash(bucket_count=64, with_rotation=True))
    result = filled({"_id": "1", "text": TEXT}, settings=settings, field="fp")
    bare = fingerprint_field(TEXT, Settings(passages=None))

    assert {"_id": "1", "text": TEXT, "fp": fingerprint_field(TEXT, settings)} == result
    tokens = fingerprint(TEXT, settings.analysis, settings.sketch).tokens()
    assert " ".join(tokens) == result["fp"]["tokens"]
    assert OURS["tokens"] == bare["tokens"]
    assert "passages" not in bare
    assert "nfkc_cf word 5 short_texts; bucketed:1 512 1 false 9" == bare["format"]


def test_sentences_and_concepts_are_added_if_the_settings_have_them() -> None:
    """A different extractor is refused. A text on which the extractor fails has everything but concepts."""
    both = Settings(sentences=SentenceSettings(), concepts=CAPITALS.settings)
    actions = [{"text": "All that is in Vienna and Budapest."}, {"text": "What may fail and is in Vienna."}]
    one, other = (
        action["simdoc"] for action in fingerprint_actions(actions, "text", settings=both, extractor=CAPITALS)
    )

    assert {"sentences", "concepts"} == one.keys() - OURS.keys()
    assert [*hash_words(["Vienna", "Budapest."]), 0] == decode(one["concepts"].split(), CONCEPT_TOKEN_LENGTH).tolist()
    assert "" == other["concepts"]
    assert [4, 4] == [len(value["sentences"].split()) for value in (one, other)]
    for wrong in (None, Extractor(Capitals("others"))):
        with pytest.raises(FormatMismatchError, match="capitals"):
            list(fingerprint_actions(actions, "text", settings=both, extractor=wrong))


# --- the place of the field ---


@pytest.mark.parametrize(
    "action",
    [
        {"_index": "i", "_id": "1", "_source": {"text": TEXT, "n": 1}},
        {"_index": "i", "_id": "1", "text": TEXT, "n": 1},
        {"_op_type": "index", "_id": "1", "routing": "r", "text": TEXT},
        {"_op_type": "create", "_id": "1", "_source": {"text": TEXT}},
        {"_source": {"text": TEXT, "simdoc": {"tokens": "old"}}},
        {"_id": "1", "text": TEXT, "doc": {"number": 7}},
        {"_id": "1", "_source": {"text": TEXT, "doc": {"number": 7}}},
    ],
    ids=" ".join,
)
def test_a_whole_document_gets_the_field(action: dict[str, Any]) -> None:
    result = filled(action)

    assert expand_action(action)[0] == expand_action(result)[0]
    assert {**body(action), "simdoc": OURS} == body(result)


@pytest.mark.parametrize(
    "update",
    [
        {"doc": {"text": TEXT, "n": 1}},
        {"doc": {"text": TEXT}, "doc_as_upsert": True},
        {"doc": {"text": TEXT}, "retry_on_conflict": 3, "detect_noop": False},
        {"doc": {"text": TEXT}, "_source": ["n"]},
        {"_source": {"doc": {"text": TEXT}, "doc_as_upsert": True}},
    ],
    ids=" ".join,
)
def test_a_partial_document_gets_the_field(update: dict[str, Any]) -> None:
    action = {"_op_type": "update", "_id": "1", **update}
    before, result = body(action), filled(action)

    assert expand_action(action)[0] == expand_action(result)[0]
    assert {**before, "doc": {**before["doc"], "simdoc": OURS}} == body(result)


@pytest.mark.parametrize("is_nested", [False, True])
def test_an_upsert_document_gets_its_own_fingerprint(is_nested: bool) -> None:
    update: dict[str, Any] = {"doc": {"text": START}, "upsert": {"text": TEXT, "n": 1}, "script": {"source": "x"}}
    sent = body(filled({"_op_type": "update", "_id": "a", **({"_source": update} if is_nested else update)}))

    assert {"text": TEXT, "n": 1, "simdoc": OURS} == sent["upsert"]
    assert {"text": START, "simdoc": fingerprint_field(START)} == sent["doc"]


@pytest.mark.parametrize(
    "action",
    [
        {"_op_type": "delete", "_id": "1", "text": TEXT},
        {"_op_type": "update", "_id": "1", "doc": {"n": 1}},
        {"_op_type": "update", "_id": "1", "script": {"source": "ctx._source.n += 1"}},
        {"_op_type": "update", "doc": {"count": 2}, "upsert": {"text": None}},
        {"_source": {"n": 1}},
        {"_source": {"text": None}},
        {"_source": {"text": []}},
        {"_op_type": "create", "text": [None]},
        {"_id": "1"},
    ],
    ids=str,
)
def test_an_action_without_a_text_is_unchanged(action: dict[str, Any]) -> None:
    before = copy.deepcopy(action)

    assert filled(action) is action
    assert before == action


# --- texts that are removed ---


@pytest.mark.parametrize("text", [" ... ", "", [" "]])
@pytest.mark.parametrize("kind", ["index", "update"])
def test_a_text_without_words_gets_a_mark(kind: str, text: str) -> None:
    """An update is merged into the document, so null removes the old values."""
    document = {"text": text, "n": 1}
    result = filled({"_op_type": kind, "_id": "1", **({"doc": document} if kind == "update" else document)})
    mark = (result["doc"] if kind == "update" else result)["simdoc"]

    assert fingerprint_field("".join(text)) == mark
    assert {"tokens": None, "passages": None, "words_hash": None, "shingles": 0, "buckets": 0}.items() <= mark.items()


def test_a_document_without_a_text_loses_its_fingerprint() -> None:
    assert {"_source": {"n": 1}} == filled({"_source": {"n": 1, "simdoc": OURS}})
    assert {"_op_type": "create"} == filled({"_op_type": "create", "simdoc": OURS})


@pytest.mark.parametrize(
    ("doc", "is_removed"),
    [
        ({}, False),
        ({"content": {}}, False),
        ({"content": {"title": "t"}}, False),
        ({"content.title": "t"}, False),
        ({"content": {"body": None}}, True),
        ({"content": {"body": []}}, True),
        ({"content": {"body": [None]}}, True),
        ({"content.body": None}, True),
        ({"content": None}, True),
        ({"content": []}, True),
    ],
    ids=str,
)
def test_an_update_that_removes_the_text_removes_the_fingerprint(doc: dict[str, Any], is_removed: bool) -> None:
    result = filled({"_op_type": "update", "doc": doc}, "content.body")["doc"]

    assert {**doc, **({"simdoc": None} if is_removed else {})} == result


# --- where the text is ---


@pytest.mark.parametrize(
    ("document", "text_field"),
    [
        ({"a": {"b": {"c": TEXT}}}, "a.b.c"),
        ({"content.body": TEXT, "content": {"body": "other words"}}, "content.body"),
        ({"content": {"pages": [START, END]}}, "content.pages"),
        ({"pages": [{"text": START}, {"text": END}]}, "pages.text"),
        ({"a": [{"b": [{"c": [START]}, {}]}, {"b": {"c": [END, None]}}]}, "a.b.c"),
    ],
    ids=["objects", "key", "list", "list of objects", "lists of lists"],
)
def test_a_path_leads_into_objects_and_a_list_is_one_text(document: dict[str, Any], text_field: str) -> None:
    result = filled({"_source": document}, text_field)["_source"]

    assert {**document, "simdoc": {**OURS, "text_hash": result["simdoc"]["text_hash"]}} == result


@pytest.mark.parametrize("value", [7, False, {"body": TEXT}, [TEXT, 7], [[TEXT]]], ids=str)
def test_a_value_that_is_not_a_text_is_an_error(value: object) -> None:
    with pytest.raises(
        DocumentError,
        match=r"the field content contains (a number|an object|a value of another type), not text; choose a text field",
    ):
        filled({"_source": {"content": value}}, "content")


def test_several_fields_make_one_text() -> None:
    """Each field is one line. An update of only some fields removes the fingerprint: the other texts are unknown."""
    fields = ["title", "body"]

    assert fingerprint_field(f"A title\n{TEXT}") == filled({"body": TEXT, "title": "A title"}, fields)["simdoc"]
    assert OURS == filled({"body": TEXT}, fields)["simdoc"]
    for doc in ({"title": "Another"}, {"body": TEXT}, {"title": None}):
        assert {**doc, "simdoc": None} == filled({"_op_type": "update", "doc": doc}, fields)["doc"]


# --- many actions ---


def test_actions_keep_their_order_and_are_not_modified() -> None:
    actions: list[dict[str, Any]] = [
        {"_id": str(n), "text": f"{TEXT} {n}"} if n % 3 else {"_op_type": "delete", "_id": str(n)} for n in range(200)
    ]
    before = copy.deepcopy(actions)
    expected = [
        {**action, "simdoc": fingerprint_field(action["text"])} if "text" in action else action for action in actions
    ]

    assert expected == list(fingerprint_actions(actions, "text"))
    assert before == actions


def test_about_as_many_actions_as_a_client_sends_at_once_are_read_ahead() -> None:
    """They are read in the thread of the caller, because a database cursor may not support another thread."""
    read: list[int] = []

    def endless() -> Iterator[dict[str, Any]]:
        for number in itertools.count():
            assert threading.current_thread() is threading.main_thread()
            read.append(number)
            yield {"text": TEXT}

    results = fingerprint_actions(endless(), "text")
    before = len(read)
    next(results)

    assert 0 == before
    assert 500 <= len(read) <= 600

    del results
    assert not _fingerprint_threads()


def test_long_texts_are_read_ahead_only_up_to_a_number_of_characters() -> None:
    read: list[int] = []

    def long_texts() -> Iterator[dict[str, Any]]:
        for number in range(300):
            read.append(number)
            yield {"text": "word " * 20_000}

    results = fingerprint_actions(long_texts(), "text")
    next(results)
    del results

    assert len(read) <= 2 * 64


def test_the_next_actions_are_fingerprinted_while_the_client_sends_a_request() -> None:
    reached_last = threading.Event()

    class Watching(Capitals):
        def find(self, text: str) -> list[Counter[str]]:
            if "last" in text:
                reached_last.set()
            return super().find(text)

    extractor = Extractor(Watching())
    settings = Settings(concepts=extractor.settings)
    actions = [{"text": f"{TEXT} {'last' if number == 399 else number}"} for number in range(400)]
    results = fingerprint_actions(actions, "text", settings=settings, extractor=extractor)
    next(results)

    assert reached_last.wait(60)
    assert 399 == len(list(results))


@pytest.mark.parametrize("error", [OSError("the database is gone"), KeyboardInterrupt()], ids=["error", "Ctrl-C"])
def test_an_error_of_the_source_is_raised_after_the_actions_before_it(error: BaseException) -> None:
    """Ctrl-C is raised at once."""

    def failing() -> Iterator[dict[str, Any]]:
        yield from ({"_id": str(number), "text": TEXT} for number in range(150))
        raise error

    done: list[dict[str, Any]] = []
    with pytest.raises(type(error)):
        done.extend(fingerprint_actions(failing(), "text"))

    assert (150 if isinstance(error, OSError) else 0) == len(done)
    assert all(OURS == action["simdoc"] for action in done)
    assert not _fingerprint_threads()


def test_an_action_that_cannot_be_fingerprinted_stops_after_the_actions_before_it() -> None:
    """Also if it is read while the actions before it are fingerprinted."""
    actions: list[dict[str, Any]] = [{"text": TEXT} for _ in range(200)]
    actions[130]["text"] = 7

    done: list[dict[str, Any]] = []
    with pytest.raises(DocumentError, match="contains a number"):
        done.extend(fingerprint_actions(actions, "text"))

    assert 130 == len(done)


def _fingerprint_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("simdoc-fingerprints")]
