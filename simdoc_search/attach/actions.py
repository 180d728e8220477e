"""Adds fingerprints to the bulk actions of an application's own loader."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.concepts import Extractor
from simdoc_search.sketch.fingerprint import fingerprints
from simdoc_search.sketch.kinds import names_of_kinds
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.records import field_values
from simdoc_search.stores.remote.schema import format_label
from simdoc_search.stores.remote.texts import text_field_names, text_of
from simdoc_search.stores.sketching import check_can_sketch, compute_sketches

_BATCH = 64
"""Number of actions that are read and fingerprinted together."""


def fingerprint_actions(
    actions: Iterable[dict[str, Any]],
    text_field: str | Sequence[str],
    *,
    settings: Settings | None = None,
    extractor: Extractor | None = None,
    field: str = "simdoc",
) -> Iterator[dict[str, Any]]:
    """Add fingerprints to bulk actions, for `helpers.bulk` of a client. Actions are copied, not changed.

    A document without a text gets no fingerprint, and an existing fingerprint is removed. A text without words gets a
    mark (`shingles: 0`). Deletions and updates of other fields are unchanged. An update that removes the text also
    removes the fingerprint. So does an update of only some of several text fields: run `simdoc-search backfill` after
    it. The `upsert` document of an update gets its own fingerprint. Changes by a script are not seen.

    Args:
        actions: the actions. The document is in `_source`, in `doc` (an update), or is the action itself.
        text_field: the path of the text field, such as `page.body`. Several fields, or a list of strings, make one
            text, one line each.
        settings: the settings of the index, as returned by `open_store(client=client, index="articles").settings`. None
            for the default settings, which include passage tokens. Use `Settings(passages=None)` for a mapping without
            passage tokens.
        extractor: finds concepts, if the settings include concepts. A text on which it fails gets no concepts.
        field: the object field to fill.

    Raises:
        FormatMismatchError: the settings name another concept extractor.
        MissingExtraError: a package that the sentence tokens need is not installed.
        DocumentError: a text is neither a string nor a list of strings.
    """
    remaining = iter(actions)
    names = text_field_names(text_field)
    while batch := list(islice(remaining, _BATCH)):
        places = [(number, path) for number, action in enumerate(batch) for path in _document_paths(action)]
        documents = [_document_at(batch[number], path) for number, path in places]
        texts = [
            None if _is_partial(path) and _has_some_fields(document, names) else text_of(document, names)
            for document, (_, path) in zip(documents, places, strict=True)
        ]
        known = [text for text in texts if text is not None]
        values = iter(fingerprint_fields(known, settings or Settings(), extractor))
        for (number, path), document, text in zip(places, documents, texts, strict=True):
            if text is not None:
                changed = {**document, field: next(values)}
            elif _is_partial(path):
                removes_text = any(_has_field(document, name) for name in names)
                changed = {**document, field: None} if removes_text else document
            else:
                removed = {key: value for key, value in document.items() if key != field}
                changed = removed if field in document else document
            if changed is not document:
                batch[number] = _with_document(batch[number], path, changed)
        yield from batch


def fingerprint_field(
    text: str, settings: Settings | None = None, extractor: Extractor | None = None
) -> dict[str, Any]:
    """Return the value of the fingerprint field for one text. A text without words gets a mark, `shingles: 0`."""
    return fingerprint_fields([text], settings or Settings(), extractor)[0]


def fingerprint_fields(
    texts: list[str], settings: Settings, extractor: Extractor | None = None
) -> list[dict[str, Any]]:
    """Return the values of the fingerprint field for many texts. This is several times faster than one by one."""
    check_can_sketch(settings, extractor, "the index")
    sketches = compute_sketches(texts, settings, extractor)
    results = fingerprints(texts, settings.analysis, settings.minhash, words_hash=True, passages=settings.passages)
    values = []
    for fingerprint, text, sketch in zip(results, texts, sketches, strict=True):
        if fingerprint.shingles:
            codes, hashes = fingerprint.codes(settings.token_length), (text_hash(text), fingerprint.words_hash)
            kinds = {
                "passages": fingerprint.passages,
                "sentences": sketch.sentences,
                "concepts": sketch.concepts,
            }
            values.append(field_values(codes, fingerprint.shingles, hashes, settings, **kinds))
        else:
            # In an update, null removes the old values.
            removed = dict.fromkeys(["tokens", *names_of_kinds(settings), "words_hash"])
            mark = {"shingles": 0, "buckets": 0, "text_hash": text_hash(text), "format": format_label(settings)}
            values.append({**removed, **mark})
    return values


# --- documents in actions ---

_Path = tuple[str, ...]
"""The keys that lead to a document in an action."""


def _document_paths(action: dict[str, Any]) -> list[_Path]:
    """The paths of the documents in an action."""
    kind, source = action.get("_op_type", "index"), action.get("_source")
    if kind == "delete":
        return []
    if kind != "update":
        return [() if source is None else ("_source",)]
    paths = [(name,) if name in action else ("_source", name) for name in ("doc", "upsert")]
    return [path for path in paths if isinstance(_document_at(action, path), dict)]


def _is_partial(path: _Path) -> bool:
    """Whether the document is merged into an existing one."""
    return path[-1:] == ("doc",)


def _document_at(action: dict[str, Any], path: _Path) -> Any:
    value: Any = action
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _with_document(action: dict[str, Any], path: _Path, document: dict[str, Any]) -> dict[str, Any]:
    """A copy of the action with another document at a path."""
    if not path:
        return document
    return {**action, path[0]: _with_document(action.get(path[0]) or {}, path[1:], document)}


def _has_some_fields(document: dict[str, Any], names: Sequence[str]) -> bool:
    """Whether a document has some of the fields, but not all."""
    return 0 < sum(_has_field(document, name) for name in names) < len(names)


def _has_field(document: dict[str, Any], name: str) -> bool:
    """Whether a document sets a field, or replaces an object around it. Null is a value too."""
    first, _, rest = name.partition(".")
    if name in document:
        return True
    if not rest or first not in document:
        return False
    inner = document[first]  # an update merges objects and replaces other values
    return not isinstance(inner, dict) or _has_field(inner, rest)
