"""TempIndices with a hash key, and hashes by which an engine can group texts."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.analysis.hashes import text_hash
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.backfill import Backfill, BackfillOptions
from simdoc_search.errors import FormatMismatchError, NoFingerprintError
from simdoc_search.sketch.key import HASH_KEY_VARIABLE, HashKey
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import output
from tests.support.engines import call
from tests.support.http_server import TempIndices

TEXTS = {
    "a": "The quick brown fox jumps over the lazy dog near the bank of the river.",
    "b": "The quick brown fox jumps over the lazy dog near the bank of the river.",
    "c": "the QUICK brown fox jumps over the lazy dog - near the bank of the river",
    "d": "The quick brown fox jumps over the lazy cat near the bank of the river.",
}
SECRET = "a secret of many characters"


def application_index(temp_indices: TempIndices, settings: Settings | None = None) -> str:
    """Make an index of an application with a text field and our field, and return its name."""
    ours = component_template(settings)["template"]["mappings"]["properties"]
    return temp_indices.make(
        {"properties": {"text": {"type": "text"}, **ours}}, {"index.query.default_field": ["text"]}
    )


def group_sizes(temp_indices: TempIndices, index: str, field: str) -> list[int]:
    """Return the number of documents with each value of a field, as the engine counts them."""
    body = {"size": 0, "aggs": {"same": {"terms": {"field": f"simdoc.{field}"}}}}
    buckets = call(temp_indices.engine, "POST", f"/{index}/_search", body)["aggregations"]["same"]["buckets"]
    return [bucket["doc_count"] for bucket in buckets]


def test_an_engine_groups_identical_texts(temp_indices: TempIndices) -> None:
    own, name = temp_indices.name(), application_index(temp_indices)
    SimilaritySearch(open_store(f"{temp_indices.engine}/{own}", create=True)).index(
        Document(id, text, {"n": id}) for id, text in TEXTS.items()
    )
    for id, text in TEXTS.items():
        call(temp_indices.engine, "PUT", f"/{name}/_doc/{id}", {"text": text, "simdoc": fingerprint_field(text)})
    call(temp_indices.engine, "POST", f"/{name}/_refresh")
    for index in (own, name):
        stored = open_store(f"{temp_indices.engine}/{index}").get("a")

        assert stored is not None
        assert text_hash(TEXTS["a"]) == stored.text_hash
        assert ([2, 1, 1], [3, 1]) == (
            group_sizes(temp_indices, index, "text_hash"),
            group_sizes(temp_indices, index, "words_hash"),
        )


def test_a_keyed_index_needs_its_key(temp_indices: TempIndices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HASH_KEY_VARIABLE, SECRET)
    template = json.loads(output("template", "show", **{HASH_KEY_VARIABLE: SECRET}))
    assert component_template(Settings().with_key(HashKey(SECRET))) == template
    name = application_index(temp_indices, Settings().with_key(HashKey(SECRET)))
    for id, text in TEXTS.items():
        call(temp_indices.engine, "PUT", f"/{name}/_doc/{id}?refresh=true", {"text": text})
    engine, _ = connect(temp_indices.engine, expects_index=False)
    with closing(engine):
        monkeypatch.delenv(HASH_KEY_VARIABLE)
        refused = Backfill(engine, name, BackfillOptions("text")).run()
        monkeypatch.setenv(HASH_KEY_VARIABLE, SECRET)
        report = Backfill(engine, name, BackfillOptions("text")).run()
    call(temp_indices.engine, "POST", f"/{name}/_refresh")
    hits = SimilaritySearch(open_store(f"{temp_indices.engine}/{name}")).similar("a_20_80").hits
    monkeypatch.delenv(HASH_KEY_VARIABLE)

    assert (0, 4) == (refused.updated_count, report.updated_count)
    assert ["set SIMDOC_HASH_KEY to this key"] == [index.reason.split("; ")[1] for index in refused.skipped_indices]
    assert ["b", "c", "d"] == sorted(hit.id for hit in hits)
    with pytest.raises(FormatMismatchError, match="set SIMDOC_HASH_KEY to this key"):
        open_store(f"{temp_indices.engine}/{name}")


def test_a_document_without_a_fingerprint_is_an_error_that_names_backfill(temp_indices: TempIndices) -> None:
    name = application_index(temp_indices, Settings())
    call(temp_indices.engine, "PUT", f"/{name}/_doc/new?refresh=true", {"text": TEXTS["a"]})
    search = SimilaritySearch(open_store(f"{temp_indices.engine}/{name}"))

    message = f"'new' has no fingerprint; to add missing fingerprints, run `simdoc-search backfill http.*{name}`"
    with pytest.raises(NoFingerprintError, match=message):
        search.similar("new")


def test_a_document_without_a_text_is_an_error_that_does_not_name_backfill(temp_indices: TempIndices) -> None:
    """`backfill` gives a fingerprint to an empty string, but not to a list without strings."""
    name = application_index(temp_indices, Settings())
    for id, document in {"absent": {}, "list": {"text": []}, "empty": {"text": ""}}.items():
        call(temp_indices.engine, "PUT", f"/{name}/_doc/{id}?refresh=true", document)
    url = f"{temp_indices.engine}/{name}"
    output("backfill", url, "--text-field", "text")
    search = SimilaritySearch(open_store(url))

    for id, reason in {
        "absent": "text in the field 'text'",
        "list": "text in the field 'text'",
        "empty": "words",
    }.items():
        with pytest.raises(NoFingerprintError, match=f"'{id}' has no {reason}, so nothing can be similar to it"):
            search.similar(id)
