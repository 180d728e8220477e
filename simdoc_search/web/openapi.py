"""All addresses for programs, as OpenAPI 3.1."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import Any

from simdoc_search.sketch.limits import MOST_BITS
from simdoc_search.web.limits import FURTHEST, FURTHEST_VERSION, HITS, TEXT_BYTES

Schema = dict[str, Any]

_NUMBER: Schema = {"type": "number", "minimum": 0, "maximum": 100}
_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}

VALUES: dict[str, tuple[Schema, str]] = {
    "q": (_TEXT, "a FINGERPRINT: ID[_OVERLAP[_PROBABILITY]], in percent"),
    "id": (_TEXT, "a document, by its id, or by its name if only one has it"),
    "index": (_TEXT, "in an engine, the index that has it, where several have the id"),
    "routing": (_TEXT, "and its routing"),
    "a": (_TEXT, "the first document, as `id`"),
    "a_index": (_TEXT, "its index"),
    "a_routing": (_TEXT, "its routing"),
    "b": (_TEXT, "the second document, as `id`"),
    "b_index": (_TEXT, "its index"),
    "b_routing": (_TEXT, "its routing"),
    "text": (_TEXT, "a text to ask with; it is not kept"),
    "overlap": (_NUMBER, "least overlap, in percent"),
    "probability": (_NUMBER, "chance of finding a document of just that overlap, in percent"),
    "measure": ({"enum": ["jaccard", "containment", "contained"], "default": "jaccard"},
                "what overlap is: of both; the share of the source that a hit has; of a hit that the source has"),
    "preset": ({"enum": ["edited", "verbatim"], "default": "edited"}, "what a shared passage is"),
    "min_words": ({"type": "integer", "minimum": 1}, "every equal run of this many words is a passage"),
    "all": ({"type": "boolean", "default": False}, "compare all candidates, however long it takes"),
    "ignore": (_TEXTS, "documents whose words are not counted, such as templates"),
    "ignore_quotes": ({"type": "boolean", "default": False}, "do not count quotations"),
    "enough": (_NUMBER, "versions have so many of the sentences of one in the other, in percent"),
    "least": (_NUMBER, "and of the other at least so many"),
    "explain": ({"type": "boolean", "default": False}, "say which concepts make each score"),
    "bits": ({"type": "integer", "minimum": 0, "maximum": MOST_BITS},
             "sentences are alike that differ in at most this many of 64 bits"),
    "min_score": ({"type": "number", "minimum": 0, "maximum": 1}, "the score that a hit must have, 0 to 1"),
    "size": ({"type": "integer", "minimum": 1, "maximum": HITS, "default": 10}, "most hits"),
    "offset": ({"type": "integer", "minimum": 0, "maximum": FURTHEST, "default": 0},
               f"leave out this many of the best hits; at most {FURTHEST_VERSION} of versions"),
    "filter": (_TEXTS, "FIELD=VALUE that a hit must have; `path` is the beginning of a path"),
    "exclude": (_TEXTS, "FIELD=VALUE that it must not have"),
    "show": (_TEXTS, "what each hit is to have in `show`: date, size, or fields of its metadata"),
    "at": ({"type": "integer", "minimum": 0, "default": 0}, "from which character of the text on"),
    "keep": (_TEXT, "which one of a group stays: longest, first, newest, oldest, max:FIELD or min:FIELD"),
    "estimate": ({"type": "boolean", "default": False}, "leave it to the fingerprints, and read no texts"),
    "start": ({"type": "integer", "minimum": 0, "default": 0}, "number of the first group"),
    "limit": ({"type": "integer", "minimum": 1, "maximum": 100, "default": 20}, "most groups"),
}  # fmt: skip
"""What can be given, and what it means."""

_PLACE = ("id", "index", "routing")
_LIMITS = ("bits", "enough", "least", "min_score")
_CHOSEN = ("size", "offset", "filter", "exclude")
_SIMILAR = ("overlap", "probability", "measure", "estimate", *_CHOSEN, "show")
_PASSAGES = ("preset", "min_words", "all", "ignore", "ignore_quotes", *_CHOSEN, "show")

READ: dict[str, tuple[str, tuple[str, ...]]] = {
    "/similar": ("documents that overlap a stored one", ("q", *_PLACE, *_SIMILAR)),
    "/passages": ("documents that share passages with a stored one", (*_PLACE, *_PASSAGES)),
    "/document": ("a document, 20,000 characters of its text, and the documents like it", (*_PLACE, "at", "size")),
    "/compare": ("two documents", ("a", "a_index", "a_routing", "b", "b_index", "b_routing", "preset")),
    "/versions": ("versions of a document, oldest first", (*_PLACE, *_LIMITS, *_CHOSEN)),
    "/related": ("documents about the same", (*_PLACE, "explain", *_LIMITS, *_CHOSEN, "show")),
    "/concepts": ("the concepts of a document", _PLACE),
    "/families": ("the state of the search for families of versions, and some of them", ("start", "limit")),
    "/topics": ("the state of the search for topics, and some of them", ("start", "limit")),
    "/duplicates": ("the state of the search for duplicates, and some of its groups", ("start", "limit")),
    "/status": ("number of documents, settings", ()),
}
SENT: dict[str, tuple[str, tuple[str, ...]]] = {
    "/similar": ("documents that overlap a text", ("text", *_SIMILAR)),
    "/passages": ("documents that share passages with a text", ("text", *_PASSAGES)),
    "/compare": ("a text and a document", ("text", "b", "b_index", "b_routing", "preset")),
    "/versions": ("versions of a text", ("text", *_LIMITS, *_CHOSEN)),
    "/related": ("documents about the same as a text", ("text", "explain", *_LIMITS, *_CHOSEN, "show")),
    "/families": ("start a search for families of versions", (*_LIMITS, "filter", "exclude")),
    "/families/stop": ("end it", ()),
    "/topics": ("start a search for topics", (*_LIMITS, "filter", "exclude")),
    "/topics/stop": ("end it", ()),
    "/duplicates": ("start a search for duplicates", ("overlap", "measure", "keep", "estimate", "filter", "exclude")),
    "/duplicates/stop": ("end it", ()),
}
_LONG = ("/duplicates", "/families", "/topics")
_FILES = ("/similar", "/passages", "/compare", "/versions", "/related")


@cache
def description() -> dict[str, Any]:
    """The whole description."""
    paths: dict[str, Any] = {}
    for path, (summary, names) in READ.items():
        paths.setdefault(f"{path}.json", {})["get"] = {
            "operationId": f"get_{path.strip('/').replace('/', '_')}",
            "summary": summary,
            "parameters": [_parameter(name) for name in names],
            "responses": _responses("200"),
        }
    for path, (summary, names) in SENT.items():
        paths.setdefault(f"{path}.json", {})["post"] = {
            "operationId": f"post_{path.strip('/').replace('/', '_')}",
            "summary": summary,
            "requestBody": {"required": bool(names), "content": _bodies(path, names)},
            "responses": _responses("202" if path.startswith(_LONG) else "200"),
        }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "simdoc-search",
            "version": version("simdoc-search"),
            "description": "Documents that share text. Answers are those of the command line's --json; each address is "
            "also a page without `.json`. Fractions in answers are 0 to 1.",
        },
        "paths": paths,
        "components": {
            "schemas": {
                "Answer": {"type": "object"},
                "Problem": {
                    "type": "object",
                    "required": ["error"],
                    "properties": {
                        "error": {"type": "string", "description": "one sentence that says what to do"},
                        "readings": {**_TEXTS, "description": "ways to say which document is meant"},
                        "suggestions": {**_TEXTS, "description": "ids that look like the one asked for"},
                    },
                },
            },
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _parameter(name: str) -> dict[str, Any]:
    schema, meaning = VALUES[name]
    repeated = {"style": "form", "explode": True} if schema.get("type") == "array" else {}
    return {"name": name, "in": "query", "description": meaning, "schema": schema, **repeated,
            "required": name in ("a", "b")}  # fmt: skip


def _bodies(path: str, names: tuple[str, ...]) -> dict[str, Any]:
    properties = {name: {**VALUES[name][0], "description": VALUES[name][1]} for name in names}
    schema: Schema = {"type": "object", "properties": properties}
    bodies = {kind: {"schema": schema} for kind in ("application/json", "application/x-www-form-urlencoded")}
    if path in _FILES:
        file = {"type": "string", "contentMediaType": "application/octet-stream",
                "description": f"a file to ask with in place of a text, up to {TEXT_BYTES:,} bytes"}  # fmt: skip
        bodies["multipart/form-data"] = {"schema": {"type": "object", "properties": {**properties, "file": file}}}
    return bodies


def _responses(done: str) -> dict[str, Any]:
    def of(name: str, meaning: str) -> dict[str, Any]:
        schema = {"$ref": f"#/components/schemas/{name}"}
        return {"description": meaning, "content": {"application/json": {"schema": schema}}}

    return {
        done: of("Answer", "the answer"),
        "400": of("Problem", "what was asked cannot be answered"),
        "401": of("Problem", "the token is missing"),
        "404": of("Problem", "there is no such document, or the store was made without what would answer"),
        "413": of("Problem", "the request is too large, or has too many values"),
        "503": of("Problem", "the store cannot be read now, or too many requests come at once"),
        "504": of("Problem", "the answer takes too long"),
    }
