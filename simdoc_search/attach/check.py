"""What is wrong with an index that should have our field, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from simdoc_search.attach.backfill.indices import indices_behind
from simdoc_search.attach.check_documents import DocumentFindings
from simdoc_search.attach.check_indices import differences
from simdoc_search.errors import StoreError, StoreNotFoundError
from simdoc_search.query.dsl import MAX_CLAUSES
from simdoc_search.sketch.crafted_text import crafted
from simdoc_search.sketch.key import key_from
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.mapping_check import find_faults, is_closed
from simdoc_search.stores.remote.mappings import fields_of, mapping_at
from simdoc_search.stores.remote.queries import in_random_order
from simdoc_search.stores.remote.schema import only_fingerprint_field, settings_of
from simdoc_search.stores.remote.texts import backfill_command

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
    found, skipped = indices_behind(engine, index)
    if not found and not skipped:
        raise StoreNotFoundError(f"{engine.name} has no index {index}; make it first")
    mappings = {name: each["mappings"] for name, each in found.items()}
    field = field or only_fingerprint_field(mappings, f"{engine.name}/{index}")
    location = f"{engine.name}/{index}"
    is_open = {name: each for name, each in found.items() if not is_closed(each["settings"]["index"])}
    missing = {name: list(_shards(engine, name)) for name in is_open}
    # Documents are waited for half a minute where shards are missing, and an answer is not whole.
    documents = DocumentFindings(engine, index, field, found) if is_open and not any(missing.values()) else None
    findings = [Finding(each.index, True, each.reason) for each in skipped]
    for name, each in found.items():
        settings, ours = each["settings"]["index"], fields_of(each["mappings"], field)
        said = [*_faults(each, mappings, field, location), *missing.get(name, ())]
        if "tokens" in ours and "facts" not in ours and name in is_open:
            said += _notes(settings, field)
        if documents and name in is_open:
            said += documents.of_index(name)
            said += _crafted(engine, name, each["mappings"], ours)
        findings += [Finding(name, wrong, problem) for wrong, problem in said]
    findings += [Finding(index, True, problem) for problem in differences(mappings, field, location)]
    if documents:
        findings += [Finding(index, wrong, problem) for wrong, problem in documents.of_all()]
    limit = engine.max_clauses()
    if limit < MAX_CLAUSES:
        fewer = f"the engine allows {limit} clauses; raise indices.query.bool.max_clause_count to {MAX_CLAUSES}"
        findings.append(Finding(index, True, fewer))
    return findings


def _faults(
    found: Mapping[str, Any], mappings: Mapping[str, Any], field: str, location: str
) -> Iterator[tuple[bool, str]]:
    """What is wrong with the mapping and the settings of an index, and what to do about a field that is not there."""
    faults = list(find_faults(found["mappings"], found["settings"]["index"], field))
    if is_closed(found["settings"]["index"]):
        faults = faults[:1]  # it is opened first
    can_fill = not any(each.blocks_writes for each in faults)
    for fault in faults:
        how = ""
        if can_fill and fault.blocks_queries and "tokens" not in fields_of(found["mappings"], field):
            backfill = backfill_command(mappings.values(), field, location)
            how = f"; {backfill}, or put the mapping of simdoc-search template show"
        yield fault.is_wrong, fault.problem + how


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


def _crafted(
    engine: Engine, index: str, mappings: Mapping[str, Any], ours: Mapping[str, Any]
) -> Iterator[tuple[bool, str]]:
    """Texts whose words were chosen to look like others', in a sample of an index of our own."""
    if not {"facts", "tokens"} <= ours.keys() or mapping_at(mappings, "body") is None:
        return  # which field has an application's text is not known here
    try:
        settings = settings_of(ours["tokens"].get("meta", {})).unlocked(key_from(), f"the index {index}")
        answer = engine.call(
            "POST",
            [index, "_search"],
            {"size": SAMPLE, "query": in_random_order({"match_all": {}}), "_source": ["body"]},
        )
        hits = answer["hits"]["hits"]
        found = list(crafted(((hit["_id"], (hit.get("_source") or {}).get("body") or "") for hit in hits), settings))
    except StoreError as error:
        yield False, f"its texts were not looked at ({error})"
        return
    if found:
        named = ", ".join(map(repr, found[:_NAMED])) + ("" if len(found) <= _NAMED else ", ...")
        yield True, f"{len(found)} of {len(hits)} texts have words chosen to look like any text: {named}; look at them"
