"""An index with documents in all states."""

from __future__ import annotations

import json
from http.client import HTTPConnection
from typing import Any

from simdoc_search import Analysis
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.inspection import IndexInspection, Inspection
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.schema import component_template, format_label
from tests.support.cli import words
from tests.support.http_server import TempIndices


def mapping(settings: Settings | None = None, *, recorded: str | None = "body") -> dict[str, Any]:
    """Return a mapping with our field and the recorded text field."""
    fields: dict[str, Any] = component_template(settings)["template"]["mappings"]["properties"]
    if recorded:
        fields["simdoc"]["properties"]["text_hash"]["meta"] = {"simdoc_text_1": recorded}
    return {"properties": {"body": {"type": "text"}, **fields}}


def fill(temp_indices: TempIndices, index: str, documents: dict[str, Any]) -> None:
    """Write documents in a bulk."""
    lines = [line for id, document in documents.items() for line in ({"index": {"_index": index, "_id": id}}, document)]
    place = temp_indices.engine.removeprefix("http://").rpartition(":")
    connection = HTTPConnection(place[0], int(place[2]))
    sent = "".join(f"{json.dumps(document)}\n" for document in lines)
    connection.request("POST", "/_bulk?refresh=true", sent, {"content-type": "application/x-ndjson"})
    assert not json.loads(connection.getresponse().read())["errors"]
    connection.close()


def document(text: str, of: str | None = None, settings: Settings | None = None) -> dict[str, Any]:
    """Return a document with the fingerprint of its text, or of another text."""
    return {"body": text, "simdoc": fingerprint_field(text if of is None else of, settings)}


def articles(temp_indices: TempIndices) -> str:
    """Create an index with documents in all states."""
    index = temp_indices.make(mapping())
    fine = {f"fine/{number}": document(words(number, number + 60)) for number in range(6)}
    wordless = {"text_hash": "x", "format": format_label(Settings()), "shingles": 0, "buckets": 0}
    malformed = document(words(0, 60))
    malformed["simdoc"] |= {"buckets": 3}
    states = {
        "stale/1": document(words(0, 60), of=words(500, 560)),
        "stale/2": document("", of=words(500, 560)),
        "malformed": malformed,
        "wordless": {"body": "...", "simdoc": wordless},
        "missing": {"body": words(0, 60)},
        "other": document(words(0, 60), settings=Settings(Analysis(shingle_size=4))),
        "failed/1": {"body": words(0, 60), "simdoc": {"error": "the text has 1,048,577 characters, too many"}},
        "failed/2": {"body": words(0, 60), "simdoc": {"error": "the text has 2,000,000 characters, too many"}},
        "failed/3": {"body": words(0, 60), "simdoc": {"error": 'a "quoted"\\ reason\nof \x1b[2J two lines'}},
    }
    fill(temp_indices, index, fine | states)
    return index


def the_only_index(inspection: Inspection) -> IndexInspection:
    """Return the inspection of the only index."""
    (only,) = inspection.index_inspections
    return only
