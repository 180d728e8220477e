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
from simdoc_search.stores.sketching import check_can_sketch, sketches_of

_BATCH = 64
"""Texts that are fingerprinted together."""


def fingerprint_actions(
    actions: Iterable[dict[str, Any]],
    text_field: str | Sequence[str],
    *,
    settings: Settings | None = None,
    extractor: Extractor | None = None,
    field: str = "simdoc",
) -> Iterator[dict[str, Any]]:
    """Add our field to bulk actions for the `helpers.bulk` of the clients. Actions are copied, not changed.

    A document without a text gets no fingerprint, and loses one that it has. A text without words gets a mark
    (`shingles: 0`). A deletion, and an update of other fields, pass unchanged. An update that removes the text, or that
    has some of several text fields, removes the fingerprint: run `simdoc-search backfill` for the latter. The `upsert`
    document of an update gets its own fingerprint. What a script does is not seen.

    Args:
        actions: with the document in `_source`, in `doc` (an update), or among the keys of the action.
        text_field: the field of the text; dots lead into objects. A list of texts, and several fields, are one text,
            one line each.
        settings: the settings of the index, which `open_store(client=client, index="articles").settings` returns. None
            for the default ones, with passage tokens. Use `Settings(passages=None)` for a mapping without them.
        extractor: finds concepts, if the settings have them. A text for which it fails gets none.
        field: the object field to fill.

    Raises:
        FormatMismatchError: the settings have concepts of another extractor.
        MissingExtraError: a package that makes sentences is not installed.
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
    """Return the value of our field for one text. A text without words has a mark, `shingles: 0`."""
    return fingerprint_fields([text], settings or Settings(), extractor)[0]


def fingerprint_fields(
    texts: list[str], settings: Settings, extractor: Extractor | None = None
) -> list[dict[str, Any]]:
    """Return the values of our field for many texts, several times faster than one by one."""
    check_can_sketch(settings, extractor, "the index")
    sketches = sketches_of(texts, settings, extractor)
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
            removed = dict.fromkeys(["tokens", *names_of_kinds(settings), "words_hash"])  # null removes it in an update
            mark = {"shingles": 0, "buckets": 0, "text_hash": text_hash(text), "format": format_label(settings)}
            values.append({**removed, **mark})
    return values


# --- documents in actions ---

_Path = tuple[str, ...]
"""The keys that lead to a document in an action."""


def _document_paths(action: dict[str, Any]) -> list[_Path]:
    """The documents that an engine reads from an action."""
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
    """Whether a document has a field, or null in its place or in the place of an object around it."""
    first, _, rest = name.partition(".")
    if name in document:
        return True
    if not rest or first not in document:
        return False
    inner = document[first]  # an update merges objects, and replaces other values
    return not isinstance(inner, dict) or _has_field(inner, rest)
