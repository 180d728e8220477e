"""How a record lies in an index of an engine: record to JSON and back, settings to the field's `meta` and back.

    {"body": text, "metadata": {...},
     "simdoc": {"tokens": "...", "shingles": 700, "buckets": 512, "text_hash": "...", "format": "...",
                "names": [...], "path": "...", "facts": [...], "origin": {...}}}

The last line is only in indexes that `simdoc-search index` made; the rest of it is in any index that has the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import without_surrogates
from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.settings import FORMAT_VERSION, Settings
from simdoc_search.sketch.tokens import decode, encode
from simdoc_search.stores.base import Origin, Record
from simdoc_search.stores.fields import facts_of, names_of

__all__ = ["codes_of", "field_values", "format_label", "settings_of", "to_meta", "to_record", "to_source"]

MAX_PATH_CHARACTERS = 8_000
"""Of a keyword: Lucene takes 32,766 bytes, of which a character has up to four."""

_META = ("simdoc_version", "simdoc_analysis", "simdoc_minhash", "simdoc_token")


def to_meta(settings: Settings) -> dict[str, str]:
    """Settings as the `meta` of a field, which takes short strings only."""
    analysis, minhash = settings.analysis, settings.minhash
    short = " short_texts" if analysis.short_texts else ""
    return {
        "simdoc_version": str(FORMAT_VERSION),
        "simdoc_analysis": f"{analysis.profile} {analysis.unit} {analysis.shingle_size}{short}",
        "simdoc_minhash": f"{minhash.hash_count} {minhash.bucket_count} {minhash.hash_set_size} "
        + str(minhash.with_rotation).lower(),
        "simdoc_token": str(settings.token_length),
    }


def settings_of(meta: Mapping[str, str]) -> Settings:
    """The settings that `to_meta` wrote.

    Raises:
        FormatMismatchError: they are of a newer version, or not there.
    """
    version = meta.get("simdoc_version")
    if version is not None and version != str(FORMAT_VERSION):
        raise FormatMismatchError(
            f"format version {version}, and this simdoc-search reads {FORMAT_VERSION}; use the version that made it",
            found=version,
            expected=FORMAT_VERSION,
        )
    try:
        profile, unit, size, *short = meta["simdoc_analysis"].split()
        hashes, buckets, kept, rotation = meta["simdoc_minhash"].split()
        if short not in ([], ["short_texts"]) or rotation not in {"true", "false"}:
            raise ValueError("an unknown word")
        return Settings(
            Analysis(profile, int(size), unit, bool(short)),
            MinHash(int(hashes), int(buckets), int(kept), rotation == "true"),
            int(meta["simdoc_token"]),
        )
    except (KeyError, ValueError) as error:
        raise FormatMismatchError(
            f"the field's meta has no settings of simdoc-search ({error}); put the mapping of the component template"
        ) from None


def format_label(settings: Settings) -> str:
    """What stands in each document's `format`: documents with other settings are told apart by it."""
    meta = to_meta(settings)
    return "; ".join(meta[key] for key in _META)


def field_values(codes: NDArray[np.uint32], shingles: int, text_hash: str, settings: Settings) -> dict[str, Any]:
    """The object that a document has in our field."""
    return {
        "tokens": " ".join(encode(codes, settings.token_length)),
        "shingles": shingles,
        "buckets": len(codes),
        "text_hash": text_hash,
        "format": format_label(settings),
    }


def to_source(record: Record, settings: Settings, *, field: str, store_text: bool) -> dict[str, Any]:
    """The JSON document of a record."""
    values = field_values(record.codes, record.shingles, record.digest, settings)
    values |= {
        "names": [_json(name) for name in names_of(record.id)],
        "path": _json(record.path)[:MAX_PATH_CHARACTERS],
        "facts": facts_of(record),
    }
    if record.origin:
        values["origin"] = {
            "root": record.origin.root,
            "size": record.origin.size,
            "mtime_ns": record.origin.mtime_ns,
        }
    source: dict[str, Any] = {field: values, "metadata": _json(dict(record.metadata))}
    if store_text and record.text is not None:
        source["body"] = _json(record.text)
    return source


def to_record(id: str, source: Mapping[str, Any], token_length: int, *, field: str) -> Record:
    """The record of a document; what it lacks, or was not loaded, is empty."""
    values = source.get(field) or {}
    origin = values.get("origin")
    body = source.get("body")
    return Record(
        id=id,
        codes=codes_of(id, source, token_length, field=field),
        shingles=int(values.get("shingles", 0)),
        digest=str(values.get("text_hash", "")),
        metadata=source.get("metadata") or {},
        text=body if isinstance(body, str) else None,
        origin=Origin(origin["root"], origin["size"], origin["mtime_ns"]) if origin else None,
    )


def codes_of(id: str, source: Mapping[str, Any], token_length: int, *, field: str) -> NDArray[np.uint32]:
    """The codes of a document, dtype uint32, ascending; none if it has no fingerprint."""
    tokens = ((source.get(field) or {}).get("tokens") or "").split()
    try:
        return np.sort(decode(tokens, token_length)) if tokens else np.zeros(0, np.uint32)
    except ValueError as error:
        raise StoreError(
            f"the document {id!r} has tokens that are none of ours ({error}); make its fingerprint again"
        ) from None


def _json(value: Any) -> Any:
    """A value without lone surrogates, which no JSON in UTF-8 can hold: they become U+FFFD."""
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, list):
        return [_json(each) for each in value]
    if isinstance(value, dict):
        return {_json(key): _json(each) for key, each in value.items()}
    return value
