"""Defines the mapping of the fingerprint field, and stores the settings in the `meta` of its fields.

An example of a document (see `records.py`):

    {"body": text, "metadata": {...},
     "simdoc": {"tokens": "...", "passages": "...", "sentences": "...", "concepts": "...",
                "shingles": 700, "buckets": 512,
                "text_hash": "...", "words_hash": "...", "format": "...",
                "duplicate_of": "...", "cluster": "...",
                "digest": "...", "names": [...], "path": "...", "facts": [...], "origin": {...}}}

An index has passages, sentences or concepts if it was created with them (`sketch.token_kinds`). `buckets` is the number
of tokens. `duplicate_of` and `cluster` mark duplicates (`marks.py`). Only an index that simdoc-search created has
`body`, `metadata` and the last line. `facts` contains the terms of the metadata and of the indexed folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from importlib import resources
from itertools import combinations
from pathlib import Path
from typing import Any

from simdoc_search.analysis.settings import Analysis
from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.sketch.settings import LAYOUT_VERSION, Settings, check_layout_version
from simdoc_search.sketch.thresholds import SimilarityThresholds
from simdoc_search.sketch.token_kinds import TOKEN_KINDS, TokenKindName, token_kind_names
from simdoc_search.sketch.winnow import PassageSettings
from simdoc_search.stores.remote.mappings import mapped_fields

DEFAULT_FIELD = "simdoc"
"""Default name of the fingerprint field."""

MARK_FIELDS = ("duplicate_of", "cluster")
"""The parts of the fingerprint field that mark duplicates."""

MAX_PATH_CHARACTERS = 8_000
"""Maximum number of characters in a path. A term in Lucene has at most 32,766 bytes, and a character at most four."""

MAX_META_ENTRIES, MAX_META_VALUE_LENGTH = 5, 50
"""Maximum number of entries in the `meta` of a field, and of characters in a value, in all engines."""

_ANALYSIS_OPTIONS = re.compile(r"( short_texts| short)?(?: -(\S+))?(?: ~(\S+))?( \*)?")
"""The optional parts of an analysis: short texts, stop words, stems and frequencies."""

_SKETCHES_KEY, _SEPARATOR = "simdoc_sketches", "; "
_THRESHOLDS_FIELD, _THRESHOLDS_KEY = "words_hash", "simdoc_thresholds"


def to_meta(settings: Settings) -> dict[str, str]:
    """Return settings as the `meta` of a field.

    Raises:
        FormatMismatchError: the sketches do not fit into a `meta`.
    """
    meta = {"simdoc_version": str(LAYOUT_VERSION), "simdoc_analysis": _format_analysis(settings.analysis)}
    if settings.sketch.key is not None:
        meta["simdoc_key"] = settings.sketch.key.checksum
    # Only a local store has an index of words. In an engine, words are found in the text field.
    lines = join_to_lines(replace(settings, indexes_word_pairs=False).stored_specs, _SEPARATOR)
    meta |= {f"{_SKETCHES_KEY}_{number}" if number > 1 else _SKETCHES_KEY: line for number, line in enumerate(lines, 1)}
    if len(meta) > MAX_META_ENTRIES or max(map(len, meta.values())) > MAX_META_VALUE_LENGTH:
        raise FormatMismatchError(
            f"the sketches {', '.join(settings.stored_specs)} do not fit into the `meta` of a field; omit one of these "
            "sketches"
        )
    return meta


def parse_meta(meta: Mapping[str, str]) -> Settings:
    """Return the settings that `to_meta` wrote. Missing settings have their defaults.

    A `meta` contains only the checksum of a hash key, not its secret.

    Raises:
        FormatMismatchError: the settings are missing, malformed, or from a newer version of simdoc-search.
    """
    try:
        version = meta["simdoc_version"]
        check_layout_version(int(version) if version.isdecimal() and len(version) < MAX_META_VALUE_LENGTH else version)
        lines = [value for key, value in sorted(meta.items()) if key.startswith(_SKETCHES_KEY)]
        sketches = [sketch.strip() for line in lines for sketch in line.split(_SEPARATOR.strip())]
        analysis = _parse_analysis(meta.get("simdoc_analysis", _format_analysis(Analysis())))
        return Settings.from_stored_specs(analysis, sketches, meta.get("simdoc_key"))
    except (KeyError, ValueError) as error:
        problem = f"{error} is missing" if isinstance(error, KeyError) else error
        raise FormatMismatchError(
            f"the `meta` of the field has no valid simdoc-search settings ({problem}); apply the mapping from the "
            "component template of simdoc-search"
        ) from None


@lru_cache(maxsize=16)  # this function is called for each document
def format_label(settings: Settings) -> str:
    """Return the `format` of documents with fingerprints of these settings.

    It describes the parts of a fingerprint, so it does not contain the layout version or unknown sketches.
    """
    key = settings.sketch.key
    keyed = [f"key {key.checksum}"] if key else []
    return _SEPARATOR.join(
        [_format_analysis(settings.analysis), settings.stored_sketch, *keyed, *settings.stored_token_kinds]
    )


def labels_with_all_kinds(settings: Settings) -> list[str]:
    """Return the `format` labels of fingerprints with these settings, with all of their kinds of tokens.

    An index without passage tokens may contain documents with passage tokens, if the program that
    fingerprinted them used the default settings.
    """
    label = format_label(settings)
    return [label] if settings.passages else [label, format_label(replace(settings, passages=PassageSettings()))]


def labels_missing_kinds(settings: Settings, *names: TokenKindName) -> list[str]:
    """Return the `format` labels of fingerprints with these settings that lack a kind of tokens in `names`."""
    kinds = token_kind_names(settings)
    subsets = (set(subset) for count in range(len(kinds)) for subset in combinations(kinds, count + 1))
    lacking = [without_kinds(settings, subset) for subset in subsets if not subset.isdisjoint(names)]
    if settings.passages:
        return [format_label(other) for other in lacking]
    return [label for other in lacking for label in labels_with_all_kinds(other)]


def without_kinds(settings: Settings, names: Iterable[TokenKindName] = TOKEN_KINDS) -> Settings:
    """Return these settings without these kinds of tokens."""
    none: dict[str, Any] = dict.fromkeys(names)
    return replace(settings, **none)


def component_template(settings: Settings | None = None, field: str = DEFAULT_FIELD) -> dict[str, Any]:
    """Return the body for `PUT _component_template/simdoc`."""
    template = _read_template("simdoc.component.json")
    mapping = template["template"]["mappings"]["properties"].pop(DEFAULT_FIELD)
    settings = settings or Settings()
    mapping["properties"]["tokens"]["meta"] = to_meta(settings)
    if settings.thresholds != SimilarityThresholds():
        mapping["properties"] |= thresholds_mapping(mapping["properties"], settings.thresholds)
    tokens, passages, *others = mapping["properties"].items()  # all other kinds of tokens have the mapping of passages
    further = dict.fromkeys(token_kind_names(settings), passages[1])
    mapping["properties"] = dict([tokens]) | further | dict(others)
    template["template"]["mappings"]["properties"][field] = mapping
    return template


def field_mappings(settings: Settings, field: str) -> dict[str, Any]:
    """Return the mappings of the fields in the fingerprint field."""
    mapping: dict[str, Any] = component_template(settings, field)["template"]["mappings"]["properties"][field]
    return dict(mapping["properties"])


def build_index_body(settings: Settings, *, field: str, store_texts: bool) -> dict[str, Any]:
    """Return the body of the request that creates an index. Index templates determine its shards and replicas."""
    index: dict[str, Any] = _read_template("simdoc.store.json")["template"]
    fields = index["mappings"]["properties"]
    mapping = component_template(settings, field)["template"]["mappings"]["properties"][field]
    mapping["properties"] |= fields.pop(DEFAULT_FIELD)["properties"]
    fields[field] = mapping
    if not store_texts:
        del fields["body"]
    return index


def find_fingerprint_field(mappings: Mapping[str, Mapping[str, Any]], location: str) -> str:
    """Return the only fingerprint field in these mappings, or DEFAULT_FIELD if there is none.

    Raises:
        StoreError: there are several fingerprint fields.
    """
    names = {name for mapping in mappings.values() for name in fingerprint_field_names(mapping)}
    if len(names) > 1:
        raise StoreError(f"{location} has the fingerprint fields {', '.join(sorted(names))}; choose one with --field")
    return names.pop() if names else DEFAULT_FIELD


def fingerprint_field_names(mapping: Mapping[str, Any]) -> list[str]:
    """Return the names of the object fields that contain fingerprints."""
    return [
        name for name in mapping.get("properties", {}) if {"tokens", "format"} <= mapped_fields(mapping, name).keys()
    ]


def thresholds_mapping(fields: Mapping[str, Any], thresholds: SimilarityThresholds) -> dict[str, Any]:
    """Return the mapping of the field that records thresholds.

    `fields` contains the mappings in the fingerprint field.
    """
    field = fields.get(_THRESHOLDS_FIELD, {"type": "keyword"})
    return {_THRESHOLDS_FIELD: {**field, "meta": {**field.get("meta", {}), _THRESHOLDS_KEY: thresholds.to_text()}}}


def recorded_thresholds(mappings: Iterable[Mapping[str, Any]], field: str) -> SimilarityThresholds:
    """Return the thresholds that the indices record. If they record none or different ones, return the defaults."""
    recorded = set()
    for mapping in mappings:
        text = mapped_fields(mapping, field).get(_THRESHOLDS_FIELD, {}).get("meta", {}).get(_THRESHOLDS_KEY)
        with suppress(ValueError):
            recorded |= {SimilarityThresholds.from_text(text)} if text else set()
    return recorded.pop() if len(recorded) == 1 else SimilarityThresholds()


def _read_template(name: str) -> dict[str, Any]:
    file = resources.files("simdoc_search").joinpath("index_templates", name)
    if not file.is_file():  # in a checkout, the folder is not in the package
        file = Path(__file__).parents[3] / "index_templates" / name
    template: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return template


def _format_analysis(analysis: Analysis) -> str:
    words = [analysis.profile, analysis.unit, str(analysis.shingle_size)]
    short = "short_texts" if analysis.is_plain else "short"  # a short name, because the length of the value is limited
    words += [short] if analysis.short_texts else []
    words += [f"-{analysis.stop_words}"] if analysis.stop_words else []
    words += [f"~{analysis.stem}"] if analysis.stem else []
    return " ".join([*words, "*"] if analysis.frequencies else words)


def _parse_analysis(text: str) -> Analysis:
    profile, unit, size, *words = text.split()
    options = _ANALYSIS_OPTIONS.fullmatch(" ".join(["", *words]))
    if options is None:
        raise ValueError(f"unknown analysis {text!r}")
    short, stop_words, stem, frequencies = options.groups()
    return Analysis.from_dict(
        {
            "profile": profile,
            "unit": unit,
            "shingle_size": int(size),
            "short_texts": bool(short),
            "stop_words": stop_words,
            "stem": stem or "",
            "frequencies": bool(frequencies),
        }
    )


def join_to_lines(parts: Iterable[str], separator: str) -> list[str]:
    """Join strings to lines of at most MAX_META_VALUE_LENGTH characters. A longer string has its own line."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]}{separator}{part}" if lines else part
        lines[-1:] = [longer] if len(longer) <= MAX_META_VALUE_LENGTH or not lines else [lines[-1], part]
    return lines
