"""What is wrong with an index that should have our field, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from simdoc_search.attach.status.counting import count_documents
from simdoc_search.errors import FormatMismatchError, StoreError, StoreNotFoundError
from simdoc_search.query.dsl import MAX_CLAUSES
from simdoc_search.sketch.key import key_from
from simdoc_search.sketch.kinds import kinds_of
from simdoc_search.sketch.plausible import crafted
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine, max_clauses
from simdoc_search.stores.remote.in_use import field_in_use
from simdoc_search.stores.remote.judging import Fault, judge
from simdoc_search.stores.remote.malformed import fault_of
from simdoc_search.stores.remote.mappings import fields_of, mapping_at
from simdoc_search.stores.remote.queries import of_format
from simdoc_search.stores.remote.schema import settings_of

__all__ = ["LOOKED_AT", "SAMPLE", "Finding", "check_index"]

LOOKED_AT = 1_000
"""Fingerprints whose form is looked at, drawn at random."""

SAMPLE = 500
"""Documents of our own index whose texts are looked at."""

_NAMED = 5
_UNTOLD = (400, 401, 403, 404, 405)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong, or worth knowing.

    Attributes:
        index: the concrete index.
        wrong: whether queries fail or miss documents because of it.
        problem: what it is, and what to do, in one sentence.
    """

    index: str
    wrong: bool
    problem: str


def check_index(engine: Engine, index: str, field: str | None = None) -> list[Finding]:
    """Look at an index, or at all behind an alias; at the field that it uses, or at another one.

    Raises:
        StoreNotFoundError: there is none.
        StoreUnavailableError: the engine does not answer.
        RequestError: it refuses to tell.
    """
    found = engine.call("GET", [index])
    if not found:
        raise StoreNotFoundError(f"{engine.name} has no index {index}; make it first")
    field = field or field_in_use({name: each["mappings"] for name, each in found.items()}, f"{engine.name}/{index}")
    findings = [
        Finding(name, wrong, problem)
        for name, each in found.items()
        for wrong, problem in _findings(engine, name, each, field)
    ]
    limit = max_clauses(engine)
    if limit < MAX_CLAUSES:
        fewer = f"the engine allows {limit} clauses; raise indices.query.bool.max_clause_count to {MAX_CLAUSES}"
        findings.append(Finding(index, True, fewer))
    return findings


def _findings(engine: Engine, index: str, found: Mapping[str, Any], field: str) -> Iterator[tuple[bool, str]]:
    mappings, settings = found["mappings"], found["settings"]["index"]
    ours = fields_of(mappings, field)
    for fault in judge(mappings, settings, field):
        yield fault.wrong, fault.problem + _how(engine, index, fault, ours)
    if settings.get("verified_before_close") == "true":
        return
    missing = list(_shards(engine, index))
    yield from missing
    if "tokens" in ours and "facts" not in ours:
        yield from _notes(settings, field)
    if missing:
        return  # documents are waited for half a minute, and an answer is not whole
    if "format" in ours:
        yield from _documents(engine, index, ours, field)
    yield from _crafted(engine, index, mappings, ours)


def _how(engine: Engine, index: str, fault: Fault, ours: Mapping[str, Any]) -> str:
    """What to do about a field that is not there."""
    if "tokens" in ours or fault.filling or not fault.asking:
        return ""
    backfill = f"simdoc-search backfill {engine.name}/{index} --field FIELD"
    return f"; run {backfill}, or put the mapping of simdoc-search template show"


def _notes(settings: Mapping[str, Any], field: str) -> Iterator[tuple[bool, str]]:
    """What the owner of an index should know once it has our field."""
    if not settings.get("query", {}).get("default_field"):
        yield (
            False,
            f"searches that name no field look into {field} too, where a number can be a count of tokens and 20* the "
            "beginning of one; set index.query.default_field to your own fields",
        )
    yield (
        False,
        f"answers that show _source are longer by {field}, about 1 to 3 kB a hit; leave it out with "
        f'"_source": {{"excludes": ["{field}"]}} in requests',
    )


def _shards(engine: Engine, index: str) -> Iterator[tuple[bool, str]]:
    """Shards without a copy: queries fail, or miss what is in them."""
    health = engine.call("GET", ["_cluster", "health", index], allow=_UNTOLD, level="indices") or {}
    each = health.get("indices", {}).get(index, {})
    missing = int(each.get("number_of_shards", 0)) - int(each.get("active_primary_shards", 0))
    if missing > 0:
        how = "see _cluster/allocation/explain, and check again when they are there"
        yield True, f"{missing} of {each['number_of_shards']} shards are missing (status {each['status']}); {how}"


def _documents(engine: Engine, index: str, ours: Mapping[str, Any], field: str) -> Iterator[tuple[bool, str]]:
    """Documents without a fingerprint, with one of other settings, or with a malformed one."""
    try:
        settings = settings_of(ours.get("tokens", {}).get("meta", {}))
    except FormatMismatchError:
        return  # that is said already
    try:
        counts = count_documents(engine, index, ours, settings, field=field)
        if counts.errors:
            reasons = f"{field}.error says why; mend them, or their texts, and write them again"
            yield True, f"the pipeline made no fingerprint of {counts.errors:,} documents: {reasons}"
        if counts.missing:
            yield False, f"{counts.missing:,} of {counts.documents:,} documents have no fingerprint"
        for kind in kinds_of(settings):
            if some := counts.lacking[kind.name]:
                yield True, f"fingerprints without {kind.shown}: {some:,}; simdoc-search backfill gives them"
        if others := counts.of_other_settings:
            yield True, f"fingerprints with other settings than the mapping: {others:,}; make them again"
        yield from _malformed(engine, index, field, of_format(settings, field), settings)
    except StoreError as error:
        yield False, f"its documents could not be counted ({error})"


def _malformed(
    engine: Engine, index: str, field: str, query: dict[str, Any], settings: Settings
) -> Iterator[tuple[bool, str]]:
    """Fingerprints that no query can use, some of them by name."""
    chance = {"function_score": {"query": query, "random_score": {}, "boost_mode": "replace"}}
    hits = engine.search(index, {"query": chance, "size": LOOKED_AT, "_source": [field]})["hits"]["hits"]
    faults = {hit["_id"]: fault_of(hit.get("_source", {}), field, settings) for hit in hits}
    faults = {id: fault for id, fault in sorted(faults.items()) if fault}
    if faults:
        some = ", ".join(f"{id!r} {fault}" for id, fault in [*faults.items()][:_NAMED])
        yield (
            True,
            f"{len(faults):,} of {len(hits):,} fingerprints looked at are malformed, such as {some}; "
            "mend them with simdoc-search backfill --stale",
        )


def _crafted(
    engine: Engine, index: str, mappings: Mapping[str, Any], ours: Mapping[str, Any]
) -> Iterator[tuple[bool, str]]:
    """Texts whose words were chosen to look like others', in a sample of an index of our own."""
    if not {"facts", "tokens"} <= ours.keys() or mapping_at(mappings, "body") is None:
        return  # which field has an application's text is not known here
    sample: dict[str, Any] = {"function_score": {"query": {"match_all": {}}, "random_score": {}}}
    try:
        settings = settings_of(ours["tokens"].get("meta", {})).unlocked(key_from(), f"the index {index}")
        answer = engine.call("POST", [index, "_search"], {"size": SAMPLE, "query": sample, "_source": ["body"]})
        hits = answer["hits"]["hits"]
        found = list(crafted(((hit["_id"], (hit.get("_source") or {}).get("body") or "") for hit in hits), settings))
    except StoreError as error:
        yield False, f"its texts were not looked at ({error})"
        return
    if found:
        named = ", ".join(map(repr, found[:_NAMED])) + ("" if len(found) <= _NAMED else ", ...")
        yield True, f"{len(found)} of {len(hits)} texts have words chosen to look like any text: {named}; look at them"
