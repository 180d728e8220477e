"""Fingerprints for those who load an index with a loader of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.concepts import Extractor
from simdoc_search.sketch.fingerprint import Fingerprint, fingerprints
from simdoc_search.sketch.kinds import names_of_kinds
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.records import field_values
from simdoc_search.stores.remote.schema import format_label
from simdoc_search.stores.remote.texts import text_field_names, text_of
from simdoc_search.stores.sketching import Sketches, check_can_sketch, sketches_of

_AT_ONCE = 64  # texts that are fingerprinted together
_PARTIAL, _NO_TEXT = "update", "delete"


def fingerprint_actions(
    actions: Iterable[dict[str, Any]],
    text_field: str | Sequence[str],
    *,
    settings: Settings | None = None,
    extractor: Extractor | None = None,
    field: str = "simdoc",
) -> Iterator[dict[str, Any]]:
    """Add our field to bulk actions as the clients' `helpers.bulk` take them.

    A document without a text gets no fingerprint. An action that says nothing of the text (a deletion, an update of
    other fields) passes as it is, and a whole document without a text loses a fingerprint that it brought along. An
    update that sets the text to null sets the field to null. So does an update of some of several fields of text:
    `simdoc-search backfill` does such a document. A text without words gets a mark that says so (`shingles: 0`). The
    document under `upsert` of an update gets the fingerprint of its own text; what a script makes of it is not seen.
    Actions are copied, not changed.

    Args:
        actions: with the document under `_source`, under `doc` (an update), or among the keys of the action.
        text_field: where the text is; dots lead into objects. A list of texts is taken as one text, line by line, and
            so are several fields, in the order in which they are named.
        settings: how to fingerprint; they must be those in the mapping, which `open_store` tells:
            `open_store(client=client, index="articles").settings`. None: the defaults, with passage tokens, for which a
            mapping from before them has no field: `Settings(passages=None)` makes none.
        extractor: what finds concepts, where the settings have such. A text on which it fails gets none.
        field: the object field to fill.

    Raises:
        FormatMismatchError: the settings have concepts of another extractor.
        MissingExtraError: they have sentences, and what finds these is not installed.
        DocumentError: a text is neither a string nor a list of strings.
    """
    rest = iter(actions)
    names = text_field_names(text_field)
    while some := list(islice(rest, _AT_ONCE)):
        parts = [_parts(action) for action in some]
        texts = [None if _is_part(part, names) else text_of(part.document, names) for each in parts for part in each]
        values = iter(
            fingerprint_fields([text for text in texts if text is not None], settings or Settings(), extractor)
        )
        made = (None if text is None else next(values) for text in texts)
        for action, each in zip(some, parts, strict=True):
            for part, value in zip(each, made, strict=False):
                document = _filled(part, value, names, field)
                if document is not part.document:
                    action = part.put(document, action)  # noqa: PLW2901 - a copy of it
            yield action


def fingerprint_field(
    text: str, settings: Settings | None = None, extractor: Extractor | None = None
) -> dict[str, Any]:
    """What our field holds for one text, for a document that is indexed by any other way.

    A document without a text has no such field. A text without words has a mark that says so, with `shingles: 0`.
    """
    return fingerprint_fields([text], settings or Settings(), extractor)[0]


def fingerprint_fields(
    texts: list[str], settings: Settings, extractor: Extractor | None = None
) -> list[dict[str, Any]]:
    """The same for many texts, several times faster than one by one."""
    check_can_sketch(settings, extractor, "the index")
    sketches = sketches_of(texts, settings, extractor)
    made = fingerprints(texts, settings.analysis, settings.minhash, words_hash=True, passages=settings.passages)
    return [_field(fp, text, settings, more) for fp, text, more in zip(made, texts, sketches, strict=True)]


def _is_given(document: dict[str, Any], text_field: str) -> bool:
    """Whether a document says anything of a field, were it null, or the object around it."""
    first, _, rest = text_field.partition(".")
    if text_field in document:
        return True
    if not rest or first not in document:
        return False
    inner = document[first]  # an update merges objects, and replaces all else
    return not isinstance(inner, dict) or _is_given(inner, rest)


def _filled(part: _Part, value: dict[str, Any] | None, names: list[str], field: str) -> dict[str, Any]:
    """The document with its fingerprint; the same one if it says nothing of the text and of our field."""
    document = part.document
    if value is not None:
        return {**document, field: value}
    if not part.is_partial:
        return {key: each for key, each in document.items() if key != field} if field in document else document
    # An update that empties the text, or a part of it: the old fingerprint must go.
    return {**document, field: None} if any(_is_given(document, name) for name in names) else document


def _field(fp: Fingerprint, text: str, settings: Settings, more: Sketches) -> dict[str, Any]:
    if not fp.shingles:  # null is what an update takes away of an older fingerprint
        nothing = dict.fromkeys(["tokens", *names_of_kinds(settings), "words_hash"])
        return {**nothing, "shingles": 0, "buckets": 0, "text_hash": text_hash(text), "format": format_label(settings)}
    codes, hashes = fp.codes(settings.token_length), (text_hash(text), fp.words_hash)
    further = {"passages": fp.passages, "sentences": more.sentences, "concepts": more.concepts}
    return field_values(codes, fp.shingles, hashes, settings, **further)


@dataclass(frozen=True, slots=True)
class _Part:
    """A document in an action: the whole one, what an update merges, or what it begins with if there is none.

    Attributes:
        document: the document.
        path: the keys that lead to it.
        is_partial: whether it is merged into one that is there.
    """

    document: dict[str, Any]
    path: tuple[str, ...]
    is_partial: bool = False

    def put(self, document: dict[str, Any], action: dict[str, Any]) -> dict[str, Any]:
        """A copy of the action with another document in this place."""
        return _with(action, self.path, document)


def _parts(action: dict[str, Any]) -> list[_Part]:
    """The documents that an engine will have of an action."""
    kind, whole = action.get("_op_type", "index"), action.get("_source")
    places: list[tuple[tuple[str, ...], Any]] = []
    if kind == _NO_TEXT:
        return []
    if kind != _PARTIAL:
        places = [((), action)] if whole is None else [(("_source",), whole)]
    else:
        inner = whole if isinstance(whole, dict) else {}
        places = [
            ((name,), action[name]) if name in action else (("_source", name), inner.get(name))
            for name in ("doc", "upsert")
        ]
    return [_Part(each, path, path[-1:] == ("doc",)) for path, each in places if isinstance(each, dict)]


def _is_part(part: _Part, names: list[str]) -> bool:
    """Whether an update has some of several fields of text, so that the whole text is not known."""
    given = [_is_given(part.document, name) for name in names]
    return part.is_partial and any(given) and not all(given)


def _with(whole: dict[str, Any], path: tuple[str, ...], document: dict[str, Any]) -> dict[str, Any]:
    """A copy with another document in a place."""
    if not path:
        return document
    return {**whole, path[0]: _with(whole.get(path[0]) or {}, path[1:], document)}
