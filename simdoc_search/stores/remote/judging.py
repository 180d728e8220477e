"""What is wrong with an index for our field: one judgement for opening, check and backfill."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from simdoc_search.errors import FormatMismatchError, StoreError, StoreNotFoundError
from simdoc_search.sketch.kinds import KINDS, Kind
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.index_body import FIELD, component_template
from simdoc_search.stores.remote.mappings import WHOLE_NUMBERS, count_fields, fields_left, fields_of, text_fields
from simdoc_search.stores.remote.schema import settings_of
from simdoc_search.stores.remote.texts import noted_text_fields

__all__ = [
    "Fault",
    "blocked",
    "check_kind",
    "check_unchanged",
    "common_settings",
    "is_own",
    "judge",
]

_BLOCKS = ("read_only", "read_only_allow_delete", "write", "read", "metadata")
_COMPARED = ("type", "analyzer", "search_analyzer", "similarity", "index")
_ASKED = frozenset({"tokens", "buckets"})
"""Those of our fields that queries look into."""

_FEW_FIELDS_LEFT = 12


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is wrong with an index.

    Attributes:
        problem: what it is and what to do, in one sentence.
        asking: whether queries fail or miss documents because of it.
        filling: whether its documents cannot be given fingerprints.
        wrong: whether it is more than worth knowing.
        kind: the kind of tokens that cannot be asked for because of it; empty: none.
    """

    problem: str
    asking: bool = False
    filling: bool = False
    wrong: bool = True
    kind: str = ""


def common_settings(mappings: Mapping[str, Mapping[str, Any]], field: str, location: str) -> Settings:
    """The settings that all indices behind a name say in the `meta` of our field.

    Where they differ in a kind of tokens they can be asked for all else: `check_kind`.

    Raises:
        StoreError: one of them has no such field, or cannot be asked.
        FormatMismatchError: they differ, or are of a newer version.
    """
    found: dict[str, Settings] = {}
    for index, mapping in mappings.items():
        faults = [each for each in judge(mapping, {}, field) if each.asking]
        if tokens := fields_of(mapping, field).get("tokens"):
            found[index] = settings_of(tokens.get("meta", {}))
        elif len(faults) == 1 and not faults[0].filling:
            text = next(text_fields(mapping.get("properties", {})), "FIELD")
            into = "" if field == FIELD else f" --into {field}"
            how = f"run simdoc-search backfill {location} --field {text}{into}"
            raise StoreError(f"the index {index} of {location} has no field {field}.tokens; {how}")
        if faults:
            raise StoreError(f"the index {index} of {location} cannot be asked: {faults[0].problem}")
    first, *others = found.items()
    for index, settings in others:
        if _bare(settings) != _bare(first[1]):
            raise FormatMismatchError(
                f"{first[0]} and {index} have fingerprints of different settings; ask them apart",
                found=settings.to_dict(),
                expected=first[1].to_dict(),
            )
    of_all = {name: {getattr(each, name) for each in found.values()} for name in KINDS}
    different: dict[str, Any] = {name: None for name, each in of_all.items() if len(each) > 1}
    return replace(first[1], **different)


def _bare(settings: Settings) -> Settings:
    """The settings of the fingerprints alone."""
    none: dict[str, Any] = dict.fromkeys(KINDS)
    return replace(settings, **none)


def check_kind(mappings: Mapping[str, Mapping[str, Any]], field: str, location: str, kind: Kind) -> None:
    """See whether all indices behind a name, of settings that are common, can be asked for a kind of tokens.

    Raises:
        FormatMismatchError: one of them has none, or two have different ones.
        StoreError: they lie in a field of another kind.
    """
    forms: dict[Any, str] = {}
    for index, mapping in mappings.items():
        form = getattr(settings_of(fields_of(mapping, field)["tokens"].get("meta", {})), kind.name)
        if form is None:
            lacks, how = "was made without", f"index again into another store {kind.indexed}"
            if not is_own({index: mapping}, field):
                into = "" if field == FIELD else f" --into {field}"
                others = {name: each for name, each in mapping.get("properties", {}).items() if name != field}
                noted = noted_text_fields([mapping], field) or [next(text_fields(others), "FIELD")]
                texts = " ".join(f"--field {each}" for each in noted)
                lacks = "has no"
                how = f"run simdoc-search backfill {location} {texts}{into} {kind.backfilled}"
            raise FormatMismatchError(f"the index {index} of {location} {lacks} {kind.shown}; {how}")
        forms.setdefault(form, index)
        if fault := next((each for each in judge(mapping, {}, field) if each.kind == kind.name), None):
            raise StoreError(f"the index {index} of {location} cannot be asked for {kind.shown}: {fault.problem}")
    if len(forms) > 1:
        one, other, *_ = forms.values()
        raise FormatMismatchError(f"{one} and {other} have {kind.shown} of different settings; ask them apart")


def is_own(mappings: Mapping[str, Mapping[str, Any]], field: str) -> bool:
    """Whether all indices behind a name were made by `simdoc-search index`."""
    return all("facts" in fields_of(each, field) for each in mappings.values())


def check_unchanged(
    mappings: Mapping[str, Mapping[str, Any]] | None, field: str, settings: Settings, location: str
) -> None:
    """See whether indices of our own are as they were when they were opened; an engine would make one that is gone.

    Raises:
        StoreNotFoundError: they are gone.
        StoreError: others have their name.
    """
    if mappings is None:
        raise StoreNotFoundError(f"the index {location} is gone; open the store again to make it")
    now = common_settings(mappings, field, location).unlocked(settings.minhash.key, location)
    if not is_own(mappings, field) or now != settings:
        raise StoreError(f"the index {location} is another one than was opened; open the store again")


def judge(mappings: Mapping[str, Any], settings: Mapping[str, Any], field: str) -> Iterator[Fault]:
    """The faults of an index, the worst first; that our field is missing is one for asking only.

    Args:
        mappings: of the index.
        settings: its settings, below `index`; empty if they are not known.
        field: the object field that has, or is to have, the fingerprints.
    """
    yield from _blocks(settings)
    yield from _source(mappings, settings, field)
    there = mappings.get("properties", {}).get(field)
    if mappings.get("subobjects") is False:
        yield Fault("the mapping takes no objects (subobjects is false); reindex without that", filling=True)
    elif there is not None and (there.get("type", "object") != "object" or there.get("enabled") is False):
        kind = "a disabled object" if there.get("enabled") is False else there["type"]
        yield Fault(f"the field {field} is {kind}; choose another name", asking=True, filling=True)
        return
    yield from _field_limit(mappings, settings, field)
    yield from _our_fields(mappings, field)


def _blocks(settings: Mapping[str, Any]) -> Iterator[Fault]:
    if settings.get("verified_before_close") == "true":
        yield Fault("it is closed; open it first", asking=True, filling=True)
    for name in _BLOCKS:
        if str(settings.get("blocks", {}).get(name)) == "true":
            yield Fault(blocked(name), asking=name == "read", filling=True, wrong=name == "read")


def blocked(name: str) -> str:
    """What is said of an index with a block."""
    full = ", which a full disk sets," if name == "read_only_allow_delete" else ""
    return f"it has the block index.blocks.{name}{full} so nothing can be written; remove the block first"


def _source(mappings: Mapping[str, Any], settings: Mapping[str, Any], field: str) -> Iterator[Fault]:
    """Whether tokens can be read, and whether a partial update, which writes anew what is there, loses something."""
    source = mappings.get("_source", {})
    mode = source.get("mode") or settings.get("mapping", {}).get("source", {}).get("mode")
    if source.get("enabled") is False or mode == "disabled":
        problem = "_source is disabled, so no hit can be read and nothing updated; reindex into an index that keeps it"
        yield Fault(problem, asking=True, filling=True)
        return
    if source.get("excludes") or source.get("includes"):
        lost = _is_left_out(source, f"{field}.tokens")
        what = f"{field}.tokens, so no hit can be read" if lost else "fields, which a partial update would destroy"
        problem = f"_source leaves out {what}; reindex into an index that keeps all"
        yield Fault(problem, asking=lost, filling=True)
    derived = str(settings.get("derived_source", {}).get("enabled")) == "true"
    if mode == "synthetic" or derived or settings.get("mode") in {"time_series", "logsdb"}:
        problem = "_source is put together from fields, and an update would not keep it as it is; reindex with _source"
        yield Fault(problem, filling=True)


def _is_left_out(source: Mapping[str, Any], path: str) -> bool:
    """Whether filters of `_source`, which name fields or objects and may have wildcards, leave a field out."""
    above = [path.rsplit(".", number)[0] for number in range(path.count(".") + 1)]

    def is_named(patterns: Any) -> bool:
        return any(fnmatchcase(each, str(pattern)) for pattern in patterns for each in above)

    includes, excludes = source.get("includes") or [], source.get("excludes") or []
    return is_named(excludes) or (bool(includes) and not is_named(includes))


def _field_limit(mappings: Mapping[str, Any], settings: Mapping[str, Any], field: str) -> Iterator[Fault]:
    properties = mappings.get("properties", {})
    wanted = _wanted(mappings, field)
    left, limit = fields_left(mappings, settings)
    there = {field: properties[field]} if field in properties else {}
    needed = 0 if "tokens" in fields_of(mappings, field) else count_fields({field: wanted}) - count_fields(there)
    if left < needed or (needed and left < _FEW_FIELDS_LEFT):
        problem = f"{max(left, 0)} of {limit} fields are left; raise index.mapping.total_fields.limit"
        yield Fault(problem, filling=left < needed, wrong=left < needed)


def _our_fields(mappings: Mapping[str, Any], field: str) -> Iterator[Fault]:
    ours = fields_of(mappings, field)
    if "tokens" not in ours:
        yield Fault(f"there is no field {field}.tokens", asking=True)
    else:
        yield from (
            Fault(f"there is no field {field}.{each}; {_REINDEX}", asking=True) for each in _ASKED - ours.keys()
        )
    for name, needs in _wanted(mappings, field)["properties"].items():
        kind = name if name in KINDS else ""
        if kind and name not in ours and "tokens" in ours:
            yield Fault(f"there is no field {field}.{name}; {_REINDEX}", kind=kind)
        different = _differences(ours.get(name, needs), needs)
        for key in different:
            problem = f"{field}.{name} has {key} {ours[name].get(key)!r}, not {needs.get(key)!r}; {_REINDEX}"
            is_asked = key != "search_analyzer"
            yield Fault(problem, name in _ASKED and is_asked, filling=True, kind=kind if is_asked else "")
        if name == "tokens" and not different and name in ours:
            yield from _meta(ours[name])
        if name == "tokens" and {"type", "analyzer"} & set(different):
            return  # the engine guessed all of it


def _meta(tokens: Mapping[str, Any]) -> Iterator[Fault]:
    try:
        settings_of(tokens.get("meta", {}))
    except FormatMismatchError as error:
        yield Fault(str(error), asking=True, filling=True)


_REINDEX = "put the mapping of simdoc-search template show, then reindex"


def _wanted(mappings: Mapping[str, Any], field: str) -> dict[str, Any]:
    """Our mapping as it should be, with the kinds of tokens that the index says it has."""
    tokens = fields_of(mappings, field).get("tokens")
    wanted = Settings()
    with suppress(FormatMismatchError):
        if tokens:
            there = settings_of(tokens.get("meta", {}))
            wanted = replace(wanted, **{name: getattr(there, name) for name in KINDS})
    mapping: dict[str, Any] = component_template(wanted, field)["template"]["mappings"]["properties"][field]
    return mapping


def _differences(has: Mapping[str, Any], needs: Mapping[str, Any]) -> list[str]:
    """The settings by which a field is not what we need; only the first if it is another kind of field."""
    if {has.get("type"), needs["type"]} <= WHOLE_NUMBERS:
        return [key for key in ("index",) if has.get(key) != needs.get(key)]
    different = [key for key in _COMPARED if has.get(key) != needs.get(key)]
    return different[:1] if {"type", "analyzer"} & set(different) else different
