"""Of which text an application's loader makes fingerprints: below a path, of several fields, under an upsert."""

from __future__ import annotations

import json
from typing import Any

import pytest
from opensearchpy.helpers import expand_action

from simdoc_search.attach.actions import fingerprint_actions, fingerprint_field
from simdoc_search.errors import DocumentError

TEXT = "The quick brown fox jumps over the lazy dog near the bank of the river."
WRITTEN: Any = fingerprint_field(TEXT)


def filled(action: dict[str, Any], text_field: str = "text", **options: Any) -> dict[str, Any]:
    """The one action that comes out for one that goes in."""
    (made,) = fingerprint_actions([action], text_field, **options)
    return made


def body(action: dict[str, Any]) -> Any:
    """What OpenSearch's own client sends below the line of the action."""
    return expand_action(action)[1]


# --- where the text is ---


@pytest.mark.parametrize(
    ("document", "text_field"),
    [
        ({"content": {"body": TEXT}}, "content.body"),
        ({"a": {"b": {"c": TEXT}}}, "a.b.c"),
        ({"content.body": TEXT, "content": {"body": "other words"}}, "content.body"),
        ({"text": [TEXT]}, "text"),
        ({"content": {"pages": TEXT.partition("fox")}}, "content.pages"),
        ({"pages": [{"text": each} for each in TEXT.partition("fox")]}, "pages.text"),
        (
            {"a": [{"b": [{"c": TEXT.partition("dog")[:2]}, {}]}, {"b": {"c": [TEXT.partition("dog")[2], None][:1]}}]},
            "a.b.c",
        ),
    ],
)
def test_dots_lead_into_objects_and_lists_are_one_text(document: dict[str, Any], text_field: str) -> None:
    """A key with dots in it counts before the objects; the parts of a list, or in a list, follow one another."""
    document = json.loads(json.dumps(document))
    made = filled({"_source": document}, text_field)["_source"]

    assert {**document, "simdoc": {**WRITTEN, "text_hash": made["simdoc"]["text_hash"]}} == made


def test_a_path_that_leads_nowhere_is_no_text() -> None:
    """A document without the object, or with something else there, passes as it is."""
    for document in ({}, {"content": None}, {"content": "words"}, {"content": {"title": TEXT}}):
        assert {"_source": document} == filled({"_source": document}, "content.body")


@pytest.mark.parametrize("value", [7, 0, False, {"body": TEXT}, [TEXT, 7], [[TEXT]], [None, 7]])
def test_what_is_no_text_is_refused(value: object) -> None:
    """One sentence names the field; a number is not fingerprinted by its digits."""
    with pytest.raises(DocumentError, match=r"the field content holds \w+, not text; name a field of text"):
        filled({"_source": {"content": value}}, "content")


# --- documents that an update may make ---


@pytest.mark.parametrize("outer", [False, True], ids=["in the action", "under _source"])
def test_a_text_under_upsert_gets_its_own_fingerprint(outer: bool) -> None:
    """An update makes that document where there is none; beside a `doc`, which has the fingerprint of its text."""
    update: dict[str, Any] = {"doc": {"text": f"{TEXT} again"}, "upsert": {"text": TEXT, "count": 1}}
    made = filled({"_op_type": "update", "_id": "a", **({"_source": update} if outer else update)})
    sent = body(made)

    assert {"text": TEXT, "count": 1, "simdoc": WRITTEN} == sent["upsert"]
    assert {"text": f"{TEXT} again", "simdoc": fingerprint_field(f"{TEXT} again")} == sent["doc"]


def test_a_script_beside_an_upsert_is_left_alone() -> None:
    """What it makes of a text is not seen; the document that it begins with has its fingerprint."""
    script = {"source": "ctx._source.count += 1"}
    given = {"_op_type": "update", "script": script, "scripted_upsert": True, "upsert": {"text": TEXT}}
    made = filled(given)

    assert {**given, "upsert": {"text": TEXT, "simdoc": WRITTEN}} == made


def test_an_upsert_without_a_text_has_no_fingerprint() -> None:
    """It is a whole document, so nothing old has to go."""
    given = {"_op_type": "update", "doc": {"count": 2}, "upsert": {"text": None}}

    assert given == filled(given)


def test_a_doc_that_is_an_upsert_too_has_one_fingerprint() -> None:
    """It is merged, or it is the whole document."""
    made = filled({"_op_type": "update", "doc": {"text": TEXT}, "doc_as_upsert": True})

    assert {"_op_type": "update", "doc": {"text": TEXT, "simdoc": WRITTEN}, "doc_as_upsert": True} == made


# --- several fields ---


def test_several_fields_are_one_text() -> None:
    """A line each, in the order in which they are named; one that is not there is no line."""
    (made,) = fingerprint_actions([{"body": TEXT, "title": "A title"}], ["title", "body"])
    (alone,) = fingerprint_actions([{"body": TEXT}], ("title", "body"))

    assert fingerprint_field(f"A title\n{TEXT}") == made["simdoc"]
    assert WRITTEN == alone["simdoc"]


@pytest.mark.parametrize("given", [{"title": "Another"}, {"body": TEXT}, {"title": None}])
def test_an_update_of_one_of_several_fields_takes_the_fingerprint_away(given: dict[str, Any]) -> None:
    """The others are not known here, and the old fingerprint is of another text: backfill does the document."""
    (made,) = fingerprint_actions([{"_op_type": "update", "doc": given}], ["title", "body"])
    (other,) = fingerprint_actions([{"_op_type": "update", "doc": {"count": 1}}], ["title", "body"])

    assert {**given, "simdoc": None} == made["doc"]
    assert {"count": 1} == other["doc"]
