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

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import resources
from itertools import combinations
from pathlib import Path
from typing import Any

from simdoc_search.analysis.settings import Analysis
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.kinds import KindName, names_of_kinds
from simdoc_search.sketch.limits import Limits
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.settings import Settings, check_version
from simdoc_search.sketch.winnow import Passages
from simdoc_search.stores.remote.mappings import fields_of

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


DEFAULT_FIELD = "simdoc"
"""The usual name of our field."""

MARK_FIELDS = ("duplicate_of", "cluster")
"""Those of its parts that only documents of groups of duplicates have: see `marks.py`."""


def component_template(settings: Settings | None = None, field: str = DEFAULT_FIELD) -> dict[str, Any]:
    """The body for `PUT _component_template/simdoc`.

    Args:
        settings: what the field's `meta` says; None: the defaults.
        field: the name of the field.
    """
    template = _shipped("simdoc.component.json")
    mapping = template["template"]["mappings"]["properties"].pop(DEFAULT_FIELD)
    settings = settings or Settings()
    mapping["properties"]["tokens"]["meta"] = to_meta(settings)
    if settings.limits != Limits():
        mapping["properties"] |= limits_mapping(mapping["properties"], settings.limits)
    tokens, passages, *others = mapping["properties"].items()  # all further kinds are indexed as passage tokens are
    further = dict.fromkeys(names_of_kinds(settings), passages[1])
    mapping["properties"] = dict([tokens]) | further | dict(others)
    template["template"]["mappings"]["properties"][field] = mapping
    return template


def index_body(settings: Settings, *, field: str, store_texts: bool) -> dict[str, Any]:
    """The body that makes an index as `simdoc-search index` has it; shards and replicas are left to its templates."""
    index: dict[str, Any] = _shipped("simdoc.store.json")["template"]
    fields = index["mappings"]["properties"]
    ours = component_template(settings, field)["template"]["mappings"]["properties"][field]
    ours["properties"] |= fields.pop(DEFAULT_FIELD)["properties"]
    fields[field] = ours
    if not store_texts:
        del fields["body"]
    return index


def _shipped(name: str) -> dict[str, Any]:
    file = resources.files("simdoc_search").joinpath("index_templates", name)
    if not file.is_file():  # a checkout keeps the folder at its top
        file = Path(__file__).parents[3] / "index_templates" / name
    template: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return template


_PLACE, _NOTE = "words_hash", "simdoc_limits"


def limits_mapping(ours: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    """The mapping of the field that has the note, with a note of these limits, among the fields below ours."""
    place = ours.get(_PLACE, {"type": "keyword"})
    return {_PLACE: {**place, "meta": {**place.get("meta", {}), _NOTE: limits.to_text()}}}


def recorded_limits(mappings: Iterable[Mapping[str, Any]], field: str) -> Limits:
    """The limits that the indices behind a name note; the defaults where none does, or where they differ."""
    found = set()
    for each in mappings:
        note = fields_of(each, field).get(_PLACE, {}).get("meta", {}).get(_NOTE)
        with suppress(ValueError):
            found |= {Limits.from_text(note)} if note else set()
    return found.pop() if len(found) == 1 else Limits()
