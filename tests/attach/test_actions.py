"""Fingerprints for an application's own loader: what is written, and where, in every shape of bulk action."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from opensearchpy.helpers import expand_action

from simdoc_search import Analysis, MinHash, fingerprint
from simdoc_search.attach.actions import fingerprint_actions, fingerprint_field
from simdoc_search.concepts import Extractor, codes_of_names
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.concepts import CONCEPT_LENGTH
from simdoc_search.sketch.sentences import Sentences
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import decode, encode
from simdoc_search.sketch.winnow import Passages
from simdoc_search.stores.remote.schema import component_template
from tests.support.capitals import CAPITALS, Capitals
from tests.support.strategies import texts

TEXT = "The quick brown fox jumps over the lazy dog near the bank of the river."
NO_WORDS = " ... "
WRITTEN: Any = fingerprint_field(TEXT)


def filled(action: dict[str, Any], text_field: str = "text", **options: Any) -> dict[str, Any]:
    """The one action that comes out for one that goes in."""
    (made,) = fingerprint_actions([action], text_field, **options)
    return made


def body(action: dict[str, Any]) -> Any:
    """What OpenSearch's own client sends below the line of the action."""
    return expand_action(action)[1]


# --- what is written ---


def test_the_field_is_the_fingerprint_of_the_text() -> None:
    """The tokens in the order of their buckets, the counts, and what tells one text from another."""
    fp = fingerprint(TEXT)
    values = filled({"_source": {"text": TEXT}})["_source"]["simdoc"]

    assert {"tokens", "passages", "shingles", "buckets", "text_hash", "words_hash", "format"} == values.keys()
    assert encode(fingerprint(TEXT, passages=Passages()).passages, 5) == values["passages"].split()
    assert (fp.tokens(), fp.shingles, len(fp.tokens())) == (
        values["tokens"].split(" "),
        values["shingles"],
        values["buckets"],
    )
    assert values["text_hash"] != filled({"text": TEXT + " "})["simdoc"]["text_hash"]
    assert values["words_hash"] == filled({"text": TEXT.upper() + "!"})["simdoc"]["words_hash"]


def test_the_label_is_the_one_of_the_mapping() -> None:
    """Documents that were made with the settings of the component template are told from others by it."""
    meta = component_template()["template"]["mappings"]["properties"]["simdoc"]["properties"]["tokens"]["meta"]

    assert f"{meta['simdoc_analysis']}; {meta['simdoc_sketches']}" == WRITTEN["format"]


@given(texts())
def test_actions_and_single_texts_get_the_same(text: str) -> None:
    """`fingerprint_field` is what the action's field holds; both can be sent as UTF-8."""
    made = filled({"_source": {"text": text}})["_source"].get("simdoc")

    assert made == fingerprint_field(text)
    assert json.dumps(made, ensure_ascii=False).encode()


def test_an_index_without_passage_tokens_gets_none() -> None:
    """With its settings, as `open_store` tells them, all is as before there were any."""
    made = fingerprint_field(TEXT, Settings(passages=None))

    assert {key: value for key, value in WRITTEN.items() if key not in {"passages", "format"}} == {
        key: value for key, value in (made or {}).items() if key != "format"
    }
    assert "nfkc_cf word 5 short_texts; bucketed:1 512 1 false 4" == (made or {})["format"]


def test_sentences_and_concepts_are_made_where_the_settings_say_so() -> None:
    """With the extractor of these settings, and no other; of a text on which it fails all but its concepts."""
    both = Settings(sentences=Sentences(), concepts=CAPITALS.settings)
    given = [{"text": "All that is in Vienna and Budapest."}, {"text": "What may fail and is in Vienna."}]
    one, other = (each["simdoc"] for each in fingerprint_actions(given, "text", settings=both, extractor=CAPITALS))

    assert {"sentences", "concepts"} == one.keys() - (fingerprint_field(TEXT) or {}).keys()
    assert [*codes_of_names(["Vienna", "Budapest."]), 0] == decode(one["concepts"].split(), CONCEPT_LENGTH).tolist()
    assert "" == other["concepts"]
    assert [4, 4] == [len(each["sentences"].split()) for each in (one, other)]
    for wrong in (None, Extractor(Capitals("others"))):
        with pytest.raises(FormatMismatchError, match="the index has concepts of capitals"):
            list(fingerprint_actions(given, "text", settings=both, extractor=wrong))


def test_other_settings_and_another_field() -> None:
    """They go where they are told to, made as they are told to."""
    settings = Settings(Analysis("lowercase", 3, short_texts=False), MinHash(bucket_count=64, with_rotation=True), 5)
    made = filled({"_id": "1", "text": TEXT}, settings=settings, field="fp")
    tokens = fingerprint(TEXT, settings.analysis, settings.minhash).tokens(length=5)

    assert {"_id", "text", "fp"} == made.keys()
    assert " ".join(tokens) == made["fp"]["tokens"]
    assert fingerprint_field(TEXT, settings) == made["fp"]


# --- where it is written ---


@pytest.mark.parametrize(
    "action",
    [
        {"_index": "i", "_id": "1", "_source": {"text": TEXT, "n": 1}},
        {"_index": "i", "_id": "1", "text": TEXT, "n": 1},
        {"_op_type": "index", "_id": "1", "routing": "r", "text": TEXT},
        {"_op_type": "create", "_id": "1", "_source": {"text": TEXT}},
        {"_op_type": "create", "_id": "1", "text": TEXT},
        {"_source": {"text": TEXT, "simdoc": {"tokens": "old"}}},
        {"_id": "1", "text": TEXT, "doc": {"number": 7}},
        {"_id": "1", "text": TEXT, "doc": "a letter"},
        {"_id": "1", "_source": {"text": TEXT, "doc": {"number": 7}}},
    ],
    ids=" ".join,
)
def test_a_whole_document_gets_the_field_at_its_top(action: dict[str, Any]) -> None:
    """Under `_source` or among the keys of the action; the client sends it beside the other fields."""
    wanted = {**body(action), "simdoc": WRITTEN}
    made = filled(action)

    assert expand_action(action)[0] == expand_action(made)[0]
    assert wanted == body(made)


@pytest.mark.parametrize(
    "action",
    [
        {"_op_type": "update", "_id": "1", "doc": {"text": TEXT, "n": 1}},
        {"_op_type": "update", "_id": "1", "doc": {"text": TEXT}, "doc_as_upsert": True},
        {"_op_type": "update", "_id": "1", "doc": {"text": TEXT}, "retry_on_conflict": 3, "detect_noop": False},
        {"_op_type": "update", "_id": "1", "doc": {"text": TEXT}, "_source": True},
        {"_op_type": "update", "_id": "1", "doc": {"text": TEXT}, "_source": ["n"]},
        {"_op_type": "update", "_id": "1", "_source": {"doc": {"text": TEXT}, "doc_as_upsert": True}},
    ],
    ids=" ".join,
)
def test_an_update_gets_the_field_in_its_partial_document(action: dict[str, Any]) -> None:
    """Wherever the client finds the `doc`: there the engine merges it with what is stored."""
    before = body(action)
    made = filled(action)

    assert expand_action(action)[0] == expand_action(made)[0]
    assert {**before, "doc": {**before["doc"], "simdoc": WRITTEN}} == body(made)


@pytest.mark.parametrize(
    "action",
    [
        {"_op_type": "delete", "_id": "1"},
        {"_op_type": "delete", "_id": "1", "text": TEXT},
        {"_op_type": "update", "_id": "1", "doc": {"n": 1}},
        {"_op_type": "update", "_id": "1", "script": {"source": "ctx._source.n += 1"}},
        {"_source": {"n": 1}},
        {"_source": {"text": None}},
        {"_source": {"text": []}},
        {"_op_type": "create", "text": [None]},
        {"_id": "1"},
    ],
    ids=" ".join,
)
def test_what_has_no_text_passes_as_it_is(action: dict[str, Any]) -> None:
    """Nothing is added to a deletion, to an update of other fields, or where there is nothing to compare."""
    before = copy.deepcopy(action)

    assert filled(action) is action
    assert before == action


@pytest.mark.parametrize("text", [NO_WORDS, "", [" "]])
@pytest.mark.parametrize("kind", ["index", "create", "update"])
def test_a_text_without_words_gets_a_mark(kind: str, text: str) -> None:
    """As the pipeline and backfill make it. Null takes away what an older document had, where an update is merged."""
    document = {"text": text, "n": 1}
    made = filled({"_op_type": kind, "_id": "1", **({"doc": document} if kind == "update" else document)})
    mark = (made["doc"] if kind == "update" else made)["simdoc"]

    assert fingerprint_field("".join(text)) == mark
    assert {"tokens": None, "passages": None, "words_hash": None, "shingles": 0, "buckets": 0}.items() <= mark.items()


def test_a_whole_document_without_a_text_loses_the_fingerprint_that_it_brings() -> None:
    """It is of a text that is gone."""
    given = [{"_source": {"n": 1, "text": None, "simdoc": WRITTEN}}, {"_op_type": "create", "simdoc": WRITTEN}]

    assert [{"_source": {"n": 1, "text": None}}, {"_op_type": "create"}] == [filled(each) for each in given]


@pytest.mark.parametrize("text", [[], None, [None]])
def test_an_update_that_empties_the_text_empties_the_field(text: object) -> None:
    """A partial document is merged, so the old fingerprint would stay."""
    made = filled({"_op_type": "update", "_id": "1", "doc": {"text": text, "n": 1}})

    assert {"text": text, "n": 1, "simdoc": None} == made["doc"]


def test_an_update_that_empties_a_text_in_an_object_empties_the_field() -> None:
    """Also if the whole object goes; an update that says nothing of the text leaves the field alone."""
    kept: list[dict[str, Any]] = [{}, {"content": {}}, {"content": {"title": "t"}}, {"content.title": "t"}]
    emptied: list[dict[str, Any]] = [{"content": {"body": None}}, {"content": {"body": []}}, {"content.body": None}]
    emptied += [{"content": None}, {"content": []}]
    made = [filled({"_op_type": "update", "doc": each}, "content.body")["doc"] for each in [*kept, *emptied]]

    assert [*kept, *({**each, "simdoc": None} for each in emptied)] == made


# --- many ---


def test_actions_come_out_in_their_order() -> None:
    """With and without text, over many batches, each gets its own fingerprint."""
    given = [
        {"_id": str(n), "text": f"{TEXT} {n}"} if n % 3 else {"_op_type": "delete", "_id": str(n)} for n in range(200)
    ]
    wanted = [{**each, "simdoc": fingerprint_field(each["text"])} if "text" in each else each for each in given]

    assert wanted == list(fingerprint_actions(given, "text"))


def test_the_actions_are_not_modified() -> None:
    """What goes in may be used again: actions and documents are copied."""
    given: list[dict[str, Any]] = [
        {"_source": {"text": TEXT}},
        {"text": TEXT},
        {"_op_type": "update", "doc": {"text": TEXT}},
        {"_op_type": "update", "doc": {"text": ""}},
    ]
    before = copy.deepcopy(given)
    made = list(fingerprint_actions(given, "text"))

    assert before == given
    assert all(one is not other for one, other in zip(given, made, strict=True))


def test_actions_are_read_as_they_are_asked_for() -> None:
    """A stream of millions is not read into memory: nothing before the first is taken, then a few at a time."""
    read: list[int] = []

    def endless() -> Iterator[dict[str, Any]]:
        for number in itertools.count():
            read.append(number)
            yield {"text": TEXT}

    made = fingerprint_actions(endless(), "text")
    before = len(read)
    next(made)

    assert 0 == before
    assert 1 <= len(read) <= 100
