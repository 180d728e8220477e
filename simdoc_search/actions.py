"""Fingerprints for those who load an index with a loader of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from simdoc_search.errors import DocumentError
from simdoc_search.sketch.fingerprint import Fingerprint, fingerprints
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.fields import text_hash
from simdoc_search.stores.remote_schema import field_values

__all__ = ["fingerprint_actions", "fingerprint_field", "fingerprint_fields", "text_of"]

_AT_ONCE = 64  # texts that are fingerprinted together
_PARTIAL, _NO_TEXT = "update", "delete"


def fingerprint_actions(
    actions: Iterable[dict[str, Any]],
    text_field: str,
    *,
    settings: Settings | None = None,
    field: str = "simdoc",
) -> Iterator[dict[str, Any]]:
    """Add our field to bulk actions as the clients' `helpers.bulk` take them.

    An action without the text (a deletion, an update of other fields) passes as it is; so does one whose text has no
    words, without fingerprint. An update to such a text sets the field to null. Actions are copied, not changed.

    Args:
        actions: with the document under `_source`, under `doc` (an update), or among the keys of the action.
        text_field: where the text is; dots lead into objects. A list of texts is taken as one text.
        settings: how to fingerprint; they must be those in the mapping. None: the defaults.
        field: the object field to fill.

    Raises:
        DocumentError: a text is neither a string nor a list of strings.
    """
    rest = iter(actions)
    while some := list(islice(rest, _AT_ONCE)):
        texts = [text_of(_document(action), text_field) for action in some]
        values = iter(fingerprint_fields([text for text in texts if text is not None], settings or Settings()))
        for action, text in zip(some, texts, strict=True):
            value = None if text is None else next(values)
            # An update that empties the text: the old fingerprint must go.
            emptied = action.get("_op_type") == _PARTIAL and _is_given(_document(action), text_field)
            yield _with(action, {field: value}) if value is not None or emptied else action


def fingerprint_field(text: str, settings: Settings | None = None) -> dict[str, Any] | None:
    """What our field holds for one text, for a document that is indexed by any other way; None if it has no words."""
    return fingerprint_fields([text], settings or Settings())[0]


def fingerprint_fields(texts: list[str], settings: Settings) -> list[dict[str, Any] | None]:
    """The same for many texts, several times faster than one by one."""
    made = fingerprints(texts, settings.analysis, settings.minhash)
    return [_field(fp, text, settings) for fp, text in zip(made, texts, strict=True)]


def text_of(document: dict[str, Any], text_field: str) -> str | None:
    """The text of a document: at a key with dots in it, or in objects; None if there is none.

    A list of texts, and what a field holds in each of a list of objects, is one text, line by line.

    Raises:
        DocumentError: what is there is neither a string nor a list of strings.
    """
    value: Any = document.get(text_field)
    if value is None:
        value = _below(document, text_field.split("."))
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return "\n".join(value)
    if value is not None and not isinstance(value, str):
        raise DocumentError(f"the field {text_field} holds {type(value).__name__}, not text; name a field of text")
    return value


def _is_given(document: dict[str, Any], text_field: str) -> bool:
    """Whether a document says anything of a field, were it null, or the object around it."""
    first, _, rest = text_field.partition(".")
    if text_field in document:
        return True
    if not rest or first not in document:
        return False
    inner = document[first]  # an update merges objects, and replaces all else
    return not isinstance(inner, dict) or _is_given(inner, rest)


def _below(value: Any, parts: list[str]) -> Any:
    """What a path leads to; engines take the values in a list of objects as those of one field."""
    if not parts or value is None:
        return value
    if isinstance(value, list):
        found = [_below(each, parts) for each in value]
        flat = [part for each in found for part in (each if isinstance(each, list) else [each]) if part is not None]
        return flat or None
    return _below(value.get(parts[0]), parts[1:]) if isinstance(value, dict) else None


def _field(fp: Fingerprint, text: str, settings: Settings) -> dict[str, Any] | None:
    if not fp.shingles:
        return None
    return field_values(fp.codes(settings.token_length), fp.shingles, text_hash(text), settings)


def _document(action: dict[str, Any]) -> dict[str, Any]:
    """What the engine will have of an action: the whole document, or the part that an update merges."""
    kind = action.get("_op_type", "index")
    if kind == _NO_TEXT:
        return {}
    whole = action.get("_source")
    if kind == _PARTIAL:
        found = action.get("doc", whole.get("doc") if isinstance(whole, dict) else None)
    else:
        found = action if whole is None else whole
    return found if isinstance(found, dict) else {}


def _with(action: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    """A copy of the action, with our field beside the text."""
    document = {**_document(action), **ours}
    whole = action.get("_source")
    if action.get("_op_type") == _PARTIAL:
        inside = {"_source": {**whole, "doc": document}} if isinstance(whole, dict) and "doc" not in action else None
        return {**action, **(inside or {"doc": document})}
    return {**action, **ours} if whole is None else {**action, "_source": document}
