"""Adds fingerprints to the bulk actions that an application sends to its engine."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.concepts import Extractor
from simdoc_search.sketch.fingerprint import fingerprints
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.token_kinds import token_kind_names
from simdoc_search.stores.record import Record
from simdoc_search.stores.remote.records import build_field_values
from simdoc_search.stores.remote.texts import read_text, text_field_names
from simdoc_search.stores.sentences_and_concepts import check_can_index, compute_sentences_and_concepts

_BATCH_SIZE = 64
"""Number of actions to fingerprint together."""

_MAX_PENDING_BATCHES, _MAX_PENDING_CHARACTERS = 8, 8_000_000
"""Maximum number of batches, and of characters in their texts, that are fingerprinted in advance.

By default, the bulk helpers of the clients send 500 actions per request. So the next request is prepared while one is
being sent.
"""


def fingerprint_actions(
    actions: Iterable[dict[str, Any]],
    text_field: str | Sequence[str],
    *,
    settings: Settings | None = None,
    extractor: Extractor | None = None,
    field: str = "simdoc",
) -> Iterator[dict[str, Any]]:
    """Yield bulk actions with fingerprints, to pass to `helpers.bulk` of a client. The given actions are not modified.

    A text without words gets an empty fingerprint (`shingles: 0`). If a document has no text, its fingerprint is
    removed. The `upsert` document of an update gets its own fingerprint. Deletions, and updates that do not set a text
    field, are yielded unchanged.

    An update that removes the text also sets the fingerprint field to null. If the text consists of several fields, an
    update of only some of them does so too. Run `simdoc-search backfill` after such an update. Also run it after an
    update by a script, because this function does not detect what the script changes.

    While the client sends actions, a thread fingerprints about 500 further actions. If one of them causes an error, all
    earlier actions are yielded before the error is raised.

    Args:
        actions: the actions. They are read in the thread that iterates over the results. The document is the value of
            `_source`, the value of `doc` in an update, or the whole action.
        text_field: path of the text field, such as `page.body`. The values of several fields, or of a list of strings,
            are joined by line breaks into one text.
        settings: settings of the index, as returned by `open_store(client=client, index="articles").settings`. None
            selects the default settings, which include passage tokens. If the mapping has no field for them, pass
            `Settings(passages=None)`.
        extractor: finds the concepts, if the settings include concepts. If it fails on a text, the fingerprint of this
            text has no concepts.
        field: the object field to write.

    Raises:
        FormatMismatchError: the settings require a different concept extractor.
        MissingExtraError: a package for the sentence tokens is not installed.
        DocumentError: a text is neither a string nor a list of strings.
    """
    text_fields = text_field_names(text_field)
    add_fingerprints = partial(
        _add_fingerprints, text_fields=text_fields, settings=settings or Settings(), extractor=extractor, field=field
    )
    pending: deque[tuple[_Batch, Future[list[dict[str, Any]]]]] = deque()
    errors: list[Exception] = []
    thread = ThreadPoolExecutor(1, "simdoc-fingerprints")
    try:
        for batch in _read_batches(actions, text_fields, errors):
            pending.append((batch, thread.submit(add_fingerprints, batch)))
            while (
                len(pending) > _MAX_PENDING_BATCHES
                or sum(batch_ahead.character_count for batch_ahead, _ in pending) > _MAX_PENDING_CHARACTERS
            ):
                yield from pending.popleft()[1].result()
        while pending:
            yield from pending.popleft()[1].result()
    finally:
        thread.shutdown(cancel_futures=True)
    if errors:
        raise errors[0]


def fingerprint_field(
    text: str, settings: Settings | None = None, extractor: Extractor | None = None
) -> dict[str, Any]:
    """Return the value of the fingerprint field for one text. A text without words has 0 shingles."""
    return fingerprint_fields([text], settings or Settings(), extractor)[0]


def fingerprint_fields(
    texts: list[str], settings: Settings, extractor: Extractor | None = None
) -> list[dict[str, Any]]:
    """Return the values of the fingerprint field for many texts. This is faster than one call per text."""
    check_can_index(settings, extractor, "the index")
    sentences_and_concepts = compute_sentences_and_concepts(texts, settings, extractor)
    results = fingerprints(texts, settings.analysis, settings.sketch, with_words_hash=True, passages=settings.passages)
    records = [
        Record(
            "",
            fingerprint.token_ids(),
            fingerprint.shingle_count,
            "",
            text_hash=text_hash(text),
            words_hash=fingerprint.words_hash,
            passages=fingerprint.passages,
            sentences=computed.sentences,
            concepts=computed.concepts,
        )
        for fingerprint, text, computed in zip(results, texts, sentences_and_concepts, strict=True)
    ]
    values = build_field_values(records, settings)
    for value in values:
        if not value["shingles"]:  # an update keeps the old values of missing fields, but null removes them
            value.update(dict.fromkeys(["tokens", *token_kind_names(settings), "words_hash"]))
    return values


# --- batches of actions ---

_Path = tuple[str, ...]
"""The keys that lead from an action to a document in it."""


@dataclass(slots=True)
class _Batch:
    """Actions that are fingerprinted together."""

    actions: list[dict[str, Any]] = field(default_factory=list)
    # for each document in the actions, the index of the action, the path, the document, and its text or None
    documents: list[tuple[int, _Path, dict[str, Any], str | None]] = field(default_factory=list)

    @property
    def character_count(self) -> int:
        """Number of characters in the texts."""
        return sum(len(text or "") for *_, text in self.documents)


def _read_batches(
    actions: Iterable[dict[str, Any]], text_fields: Sequence[str], errors: list[Exception]
) -> Iterator[_Batch]:
    """Yield actions in batches. After an error, yield the actions before it, and add the error to `errors`."""
    batch = _Batch()
    try:
        for action in actions:
            documents = [(path, _get_document(action, path)) for path in _find_document_paths(action)]
            texts = [_get_text(path, document, text_fields) for path, document in documents]
            batch.documents += [
                (len(batch.actions), *path_and_document, text)
                for path_and_document, text in zip(documents, texts, strict=True)
            ]
            batch.actions.append(action)
            if len(batch.actions) == _BATCH_SIZE:
                yield batch
                batch = _Batch()
    except Exception as error:
        errors.append(error)
    yield batch


def _get_text(path: _Path, document: Any, text_fields: Sequence[str]) -> str | None:
    if _is_partial(path) and _sets_only_some_fields(document, text_fields):
        return None
    return read_text(document, text_fields)


def _add_fingerprints(
    batch: _Batch, text_fields: Sequence[str], *, settings: Settings, extractor: Extractor | None, field: str
) -> list[dict[str, Any]]:
    results = list(batch.actions)
    existing_texts = [text for *_, text in batch.documents if text is not None]
    values = iter(fingerprint_fields(existing_texts, settings, extractor))
    for index, path, document, text in batch.documents:
        if text is not None:
            new_document = {**document, field: next(values)}
        elif _is_partial(path):
            removes_text = any(_has_field(document, name) for name in text_fields)
            new_document = {**document, field: None} if removes_text else document
        else:
            other_fields = {key: value for key, value in document.items() if key != field}
            new_document = other_fields if field in document else document
        if new_document is not document:
            results[index] = _replace_document(results[index], path, new_document)
    return results


# --- documents in actions ---


def _find_document_paths(action: dict[str, Any]) -> list[_Path]:
    """Return the path of each document in an action."""
    kind, source = action.get("_op_type", "index"), action.get("_source")
    if kind == "delete":
        return []
    if kind != "update":
        return [() if source is None else ("_source",)]
    paths = [(name,) if name in action else ("_source", name) for name in ("doc", "upsert")]
    return [path for path in paths if isinstance(_get_document(action, path), dict)]


def _is_partial(path: _Path) -> bool:
    """Return whether the document at this path is merged into an existing document."""
    return path[-1:] == ("doc",)


def _get_document(action: dict[str, Any], path: _Path) -> Any:
    value: Any = action
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _replace_document(action: dict[str, Any], path: _Path, document: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of an action with another document at this path."""
    if not path:
        return document
    return {**action, path[0]: _replace_document(action.get(path[0]) or {}, path[1:], document)}


def _sets_only_some_fields(document: dict[str, Any], names: Sequence[str]) -> bool:
    return 0 < sum(_has_field(document, name) for name in names) < len(names)


def _has_field(document: dict[str, Any], name: str) -> bool:
    """Return whether a document sets a field, or replaces an object that contains it. Null counts as a value."""
    first, _, rest = name.partition(".")
    if name in document:
        return True
    if not rest or first not in document:
        return False
    inner = document[first]  # if this is not an object, an update replaces the stored object, including the field
    return not isinstance(inner, dict) or _has_field(inner, rest)
