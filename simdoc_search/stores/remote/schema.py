"""How a record lies in an index of an engine: record to JSON, settings to the field's `meta` and back.

    {"body": text, "metadata": {...},
     "simdoc": {"tokens": "...", "passages": "...", "sentences": "...", "concepts": "...",
                "shingles": 700, "buckets": 512,
                "text_hash": "...", "words_hash": "...", "format": "...",
                "duplicate_of": "...", "cluster": "...",
                "digest": "...", "names": [...], "path": "...", "facts": [...], "origin": {...}}}

Passages, sentences and concepts have only indexes that were made with them (`sketch.kinds`). The last line is only in
indexes that `simdoc-search index` made; the rest of it is in any index that has the field. The
line before it is a mark: only duplicates have one, and those that are kept for them (`marks.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import without_surrogates
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.kinds import KindName, kinds_of, names_of_kinds
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.settings import Settings, check_version
from simdoc_search.sketch.tokens import encode
from simdoc_search.sketch.winnow import Passages, no_passages
from simdoc_search.stores.fields import facts_of, names_of
from simdoc_search.stores.record import Record

_OF_A_FILE = ("root", "size", "mtime_ns", "prefix")
MAX_PATH_CHARACTERS = 8_000
"""Of a keyword: Lucene takes 32,766 bytes, of which a character has up to four."""

_MAX_ENTRIES, _MAX_VALUE = 5, 50
"""Of a field's `meta`: entries, and characters of a value. A key has at most 20."""

_WORDS = re.compile(r"( short_texts| short)?(?: -(\S+))?(?: ~(\S+))?( \*)?")
"""What an analysis may end with: short texts, stop words, stems, frequencies."""

_SKETCHES, _SEPARATOR = "simdoc_sketches", "; "


def to_meta(settings: Settings) -> dict[str, str]:
    """Settings as the `meta` of a field, which takes a few short strings only.

    Raises:
        FormatMismatchError: it has no room for so many sketches.
    """
    meta = {"simdoc_version": str(settings.layout), "simdoc_analysis": _analysis_text(settings.analysis)}
    if settings.minhash.key is not None:
        meta["simdoc_key"] = settings.minhash.key.check
    lines = _lines(replace(settings, words=False).sketches)  # the text field has them
    meta |= {f"{_SKETCHES}_{number}" if number > 1 else _SKETCHES: each for number, each in enumerate(lines, 1)}
    if len(meta) > _MAX_ENTRIES or max(map(len, meta.values())) > _MAX_VALUE:
        raise FormatMismatchError(
            f"the meta of a field has no room for the sketches {', '.join(settings.sketches)}; leave one of them out"
        )
    return meta


def settings_of(meta: Mapping[str, str]) -> Settings:
    """The settings that `to_meta` wrote; what is absent has its default. Of a key they have the check value alone.

    Raises:
        FormatMismatchError: they are of a newer version, or not there.
    """
    version = meta.get("simdoc_version", "")
    if version:
        layout = check_version(int(version) if version.isdecimal() and len(version) < _MAX_VALUE else version)
    try:
        if version in ("", "1"):
            return _of_layout_1(meta)
        lines = [each for key, each in sorted(meta.items()) if key.startswith(_SKETCHES)]
        sketches = [each.strip() for line in lines for each in line.split(_SEPARATOR.strip())]
        analysis = _analysis(meta.get("simdoc_analysis", _analysis_text(Analysis())))
        return Settings.of_parts(analysis, sketches, meta.get("simdoc_key"), layout)
    except (KeyError, ValueError) as error:
        raise FormatMismatchError(
            f"the field's meta has no settings of simdoc-search ({error}); put the mapping of the component template"
        ) from None


def format_label(settings: Settings) -> str:
    """What stands in each document's `format`: documents with other settings are told apart by it.

    It names what we give a document, and so neither the layout nor sketches that we do not know. Without passage tokens
    it is as it was before there were any.
    """
    key = settings.minhash.key
    keyed = [f"key {key.check}"] if key else []
    return _SEPARATOR.join([_analysis_text(settings.analysis), settings.of_tokens, *keyed, *settings.further])


def labels_of(settings: Settings) -> list[str]:
    """The `format` of documents that have all that an index of these settings needs.

    That of an index without passage tokens may have some all the same, from a loader with the default settings.
    """
    more = [] if settings.passages else [format_label(replace(settings, passages=Passages()))]
    return [format_label(settings), *more]


def labels_without(settings: Settings, *names: KindName) -> list[str]:
    """The `format` of documents with a fingerprint of these settings that lack tokens of some kinds.

    Args:
        settings: those of the index.
        names: a document that lacks tokens of any of these kinds is meant; which the index has itself.
    """
    kinds = names_of_kinds(settings)
    some = (set(each) for count in range(len(kinds)) for each in combinations(kinds, count + 1))
    lacking = [_without(settings, each) for each in some if not each.isdisjoint(names)]
    return [label for each in lacking for label in ([format_label(each)] if settings.passages else labels_of(each))]


def _without(settings: Settings, names: Iterable[KindName]) -> Settings:
    none: dict[str, Any] = dict.fromkeys(names)
    return replace(settings, **none)


def _analysis_text(analysis: Analysis) -> str:
    words = [analysis.profile, analysis.unit, str(analysis.shingle_size)]
    short = "short_texts" if analysis.is_plain else "short"  # as there is little room
    words += [short] if analysis.short_texts else []
    words += [f"-{analysis.stop_words}"] if analysis.stop_words else []
    words += [f"~{analysis.stem}"] if analysis.stem else []
    return " ".join([*words, "*"] if analysis.frequencies else words)


def _analysis(text: str) -> Analysis:
    profile, unit, size, *words = text.split()
    values: dict[str, Any] = {"profile": profile, "unit": unit, "shingle_size": int(size)}
    found = _WORDS.fullmatch(" ".join(["", *words]))
    if found is None:
        raise ValueError("an unknown word")
    short, stop_words, stem, frequencies = found.groups()
    values |= {
        "short_texts": bool(short),
        "stop_words": stop_words,
        "stem": stem or "",
        "frequencies": bool(frequencies),
    }
    return Analysis.from_dict(values)


def _lines(sketches: Iterable[str]) -> list[str]:
    """Sketches, as many in a line as a value of the meta takes."""
    lines: list[str] = []
    for each in sketches:
        longer = f"{lines[-1]}{_SEPARATOR}{each}" if lines else each
        lines[-1:] = [longer] if len(longer) <= _MAX_VALUE or not lines else [lines[-1], each]
    return lines


def _of_layout_1(meta: Mapping[str, str]) -> Settings:
    hashes, buckets, kept, rotation = meta["simdoc_minhash"].split()
    if rotation not in {"true", "false"}:
        raise ValueError("an unknown word")
    minhash = MinHash(int(hashes), int(buckets), int(kept), rotation == "true")
    return Settings(_analysis(meta["simdoc_analysis"]), minhash, int(meta["simdoc_token"]), None, words=False)


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
