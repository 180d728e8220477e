"""A document of an index as a record, whatever it holds: others write to an application's index too.

What means the same to an engine is read as the same: an object or dots in a key, a value or a list of this one value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.words import without_surrogates
from simdoc_search.documents import Place
from simdoc_search.errors import DocumentError
from simdoc_search.sketch.kinds import KINDS, Kind, kinds_of
from simdoc_search.sketch.sentences import sentences_of_codes
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import decode_text, encode
from simdoc_search.sketch.winnow import no_passages
from simdoc_search.stores.fields import facts_of, names_of
from simdoc_search.stores.record import Origin, Record
from simdoc_search.stores.remote.errors import one_line
from simdoc_search.stores.remote.schema import MAX_PATH_CHARACTERS, format_label
from simdoc_search.stores.remote.texts import text_of


class _MalformedError(Exception):
    """A document holds what no document of ours does; the message says what, to follow the document's name."""


def to_record(
    place: Place,
    source: Mapping[str, Any],
    token_length: int,
    *,
    field: str,
    text_fields: Sequence[str] | None = None,
    fault: str = "",
) -> Record:
    """The record of a document; what it lacks, or was not loaded, or cannot be read is empty, and `fault` says why.

    Its text is in `text_fields`; None: in `body`, as we write it. With a `fault`, what is in our field is not read.
    """
    faults = [fault] if fault else []
    if fault:
        source = {name: each for name, each in source.items() if name.partition(".")[0] != field}

    def read(action: Callable[..., Any], *given: Any) -> Any:
        try:
            return action(source, *given)
        except _MalformedError as error:
            faults.append(str(error))
            return None

    codes = read(_codes, token_length, f"{field}.tokens")
    read_kinds = {name: read(_further, kind, f"{field}.{name}") for name, kind in KINDS.items()}
    further: dict[str, Any] = {name: no_passages() if each is None else each for name, each in read_kinds.items()}
    return Record(
        id=place.id,
        codes=np.zeros(0, np.uint32) if codes is None else codes,
        shingles=read(_count, f"{field}.shingles") or 0,
        digest=read(_one, f"{field}.digest", str) or "",
        metadata=read(_one, "metadata", dict) or {},
        text=read(_one, "body", str) if text_fields is None else read(_text, text_fields),
        origin=read(_origin, f"{field}.origin"),
        text_hash=read(_one, f"{field}.text_hash", str) or "",
        words_hash=read(_one, f"{field}.words_hash", str) or "",
        fault="; ".join(faults),
        **further,
        index=place.index,
        routing=place.routing,
    )


def codes_of(source: Mapping[str, Any], token_length: int, *, field: str) -> NDArray[np.uint32] | str:
    """The codes of a document that has some, dtype uint32, ascending, none twice; or what is wrong with it."""
    try:
        codes = _codes(source, token_length, f"{field}.tokens")
    except _MalformedError as error:
        return str(error)
    return codes if len(codes) else f"has no {field}.tokens in its _source"


def _further(source: Mapping[str, Any], kind: Kind, path: str) -> NDArray[np.uint32]:
    """The tokens of another kind at a path, likewise; where they are no set, as they stand."""
    if kind.is_set:
        return _codes(source, kind.length, path)
    codes = _decoded(source, kind.length, path)
    if kind.name == "sentences":
        try:
            sentences_of_codes(codes)
        except ValueError as error:
            raise _MalformedError(f"has sentences that are none of ours ({one_line(error)})") from None
    return codes


def _decoded(source: Mapping[str, Any], token_length: int, path: str) -> NDArray[np.uint32]:
    try:
        return decode_text(_one(source, path, str) or "", token_length)
    except ValueError as error:
        name = path.rpartition(".")[2]
        raise _MalformedError(f"has {name} that are none of ours ({one_line(error)})") from None


def _codes(source: Mapping[str, Any], token_length: int, path: str) -> NDArray[np.uint32]:
    """The codes at a path; none if there is nothing."""
    codes = np.sort(_decoded(source, token_length, path))
    if (codes[1:] == codes[:-1]).any():
        raise _MalformedError(f"has {path.rpartition('.')[2]} that are there twice")
    return codes


def _text(source: Mapping[str, Any], text_fields: Sequence[str]) -> str | None:
    try:
        return text_of(source, text_fields)
    except DocumentError as error:
        raise _MalformedError(f"has no text that can be read ({error})") from None


def _one(source: Mapping[str, Any], path: str, kind: type) -> Any:
    """The one value at a path, or None."""
    first, _, last = path.partition(".")
    above = source.get(first)
    if last and type(above) is dict and path not in source and type(above.get(last)) in _PLAIN:  # as we write it
        values = [] if above.get(last) is None else [above[last]]
    else:
        values = list(_values(source, path.split(".")))
    if len(values) > 1:
        raise _MalformedError(f"has {len(values)} values in {path}")
    if not values:
        return None
    if not isinstance(values[0], kind):
        raise _MalformedError(f"has {_NAMES.get(type(values[0]), 'something else')} in {path}")
    return values[0]


def _values(value: Any, path: list[str]) -> Iterator[Any]:
    """What an engine would take for the values at a path."""
    if isinstance(value, list):
        for each in value:
            yield from _values(each, path)
    elif not path:
        if value is not None:
            yield value
    elif isinstance(value, Mapping):
        for count in range(1, len(path) + 1):
            key = ".".join(path[:count])
            if key in value:
                yield from _values(value[key], path[count:])
    elif value is not None:
        raise _MalformedError(f"has {_NAMES.get(type(value), 'something else')} where {'.'.join(path)} ought to be")


def _count(source: Mapping[str, Any], path: str) -> int:
    """A whole number; engines take it as a text, or with a fraction, too."""
    value = _one(source, path, object)
    if type(value) is int and 0 <= value < 1 << 31:
        return value
    try:
        number = math.floor(float(value or 0)) if isinstance(value, (int, float, str, type(None))) else -1
    except (ValueError, OverflowError):
        number = -1
    if isinstance(value, bool) or not 0 <= number < 1 << 31:
        raise _MalformedError(f"has no number in {path}")
    return number


def _origin(source: Mapping[str, Any], path: str) -> Origin | None:
    found = _one(source, path, dict)
    if not found:
        return None
    root, size, changed = (found.get(each) for each in ("root", "size", "mtime_ns"))
    others = [found.get(each) or "" for each in ("prefix", "content", "archive")]
    if not (isinstance(root, str) and type(size) is int and type(changed) is int and _are_texts(others)):
        raise _MalformedError(f"has no file in {path}")
    return Origin(root, size, changed, *others)


def _are_texts(values: list[Any]) -> bool:
    return all(isinstance(each, str) for each in values)


_PLAIN = frozenset({str, int, dict, type(None)})

_NAMES = {bool: "true or false", int: "a number", float: "a number", str: "a text", dict: "an object"}


_OF_A_FILE = ("root", "size", "mtime_ns", "prefix")


def field_values(
    codes: NDArray[np.uint32],
    shingles: int,
    hashes: tuple[str, str],
    settings: Settings,
    **further: NDArray[np.uint32],
) -> dict[str, Any]:
    """The object that a document has in our field.

    Args:
        codes: the tokens of its fingerprint.
        shingles: how many it has.
        hashes: those of its text and of its words.
        settings: what is to be there.
        further: tokens of other kinds, by their names; those that the settings have not are left out.
    """
    text_hash, words_hash = hashes
    some = {each.name: encode(further.get(each.name, no_passages()), each.length) for each in kinds_of(settings)}
    return {
        "tokens": " ".join(encode(codes, settings.token_length)),
        **{name: " ".join(tokens) for name, tokens in some.items()},
        "shingles": shingles,
        "buckets": len(codes),
        "text_hash": text_hash,
        "words_hash": words_hash,
        "format": format_label(settings),
    }


def to_source(record: Record, settings: Settings, *, field: str, store_text: bool) -> dict[str, Any]:
    """The JSON document of a record."""
    hashes = record.text_hash, record.words_hash
    further = {each.name: getattr(record, each.name) for each in kinds_of(settings)}
    values = field_values(record.codes, record.shingles, hashes, settings, **further)
    values |= {
        "digest": record.digest,
        "names": [_json(name) for name in names_of(record.id)],
        "path": _json(record.path)[:MAX_PATH_CHARACTERS],
        "facts": facts_of(record),
    }
    if record.origin:
        values["origin"] = {key: each for key, each in asdict(record.origin).items() if each or key in _OF_A_FILE}
    source: dict[str, Any] = {field: values, "metadata": _json(dict(record.metadata))}
    if store_text and record.text is not None:
        source["body"] = _json(record.text)
    return source


def _json(value: Any) -> Any:
    """A value without lone surrogates, which no JSON in UTF-8 can hold: they become U+FFFD."""
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, list):
        return [_json(each) for each in value]
    if isinstance(value, dict):
        return {_json(key): _json(each) for key, each in value.items()}
    return value
