"""Has the next index behind an alias or a data stream, which a rollover makes, what the ones that are there get?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from simdoc_search.attach.index_template import (
    Extension,
    all_index_templates,
    is_covered,
    legacy_templates,
    matches,
    resolved,
)
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.mappings import fields_of

_UNTOLD = (400, 401, 403, 404, 405, 410)
_NUMBERED = re.compile(r"(.*-)(\d+)")


@dataclass(frozen=True, slots=True)
class NextIndex:
    """An index that a rollover would make.

    Attributes:
        behind: the alias or data stream.
        name: what it would be called.
        template: the index template that applies to it; empty: none does; None: the engine does not tell.
    """

    behind: str
    name: str
    template: str | None


def warn_of_next_indices(
    engine: Engine, names: str, wanted: Extension, command: str, extended: str = ""
) -> Iterator[str]:
    """A sentence for each alias and data stream whose next index lacks something.

    Args:
        engine: where they are.
        names: of indices, aliases and data streams, with commas between them.
        wanted: what the next index is to have.
        command: what a person types before `--index-template`.
        extended: the index template that gets all of it before the next rollover.
    """
    for each in _next_indices(engine, names.split(",")):
        if each.template is None or (each.template and each.template == extended):
            continue
        template = resolved(engine, each.template) if each.template else {}
        if template is None or is_covered(template, wanted):
            continue
        said = f"the next index behind {each.behind} ({each.name}) does not get all of this"
        if each.template:
            yield f"{said}. Extend its index template: {command} --index-template {each.template}"
        elif legacy := legacy_templates(engine, each.name):
            how = "make an index template of it (PUT _index_template)"
            yield f"{said}, as it has the legacy template {legacy[0]}; {how}, then: {command} --index-template NAME"
        else:
            pattern = f"'{_pattern(each.name)}'"
            how = f"{command} --index-template {each.behind} --index-pattern {pattern}"
            yield f"{said}, as no index template applies to it. Make one: {how}"


def warn_of_other_templates(engine: Engine, wanted: Extension, command: str, extended: str = "") -> Iterator[str]:
    """A sentence for each other index template that names the pipeline and does not map our field.

    With `dynamic: strict` its indices would refuse each write.
    """
    for name, each in (all_index_templates(engine) or {}).items():
        settings = ((each.get("template") or {}).get("settings") or {}).get("index") or {}
        if name == extended or wanted.pipeline not in (
            settings.get("final_pipeline"),
            settings.get("default_pipeline"),
        ):
            continue
        template = resolved(engine, name)
        if template is not None and "tokens" not in fields_of(template.get("mappings", {}), wanted.field):
            lacks = f"the index template {name} names the pipeline {wanted.pipeline} and maps no field {wanted.field}"
            yield f"{lacks}, so its indices may refuse each write. Extend it: {command} --index-template {name}"


def _next_indices(engine: Engine, names: list[str]) -> Iterator[NextIndex]:
    for name in names:
        streams = (engine.call("GET", ["_data_stream", name], allow=_UNTOLD) or {}).get("data_streams", ())
        for each in streams:
            yield NextIndex(each["name"], f".ds-{each['name']}-{each['generation'] + 1:06d}", each.get("template", ""))
        if not streams:
            found = engine.call("GET", ["_alias", name], allow=_UNTOLD) or {}
            for alias in sorted({alias for each in found.values() for alias in each["aliases"]}):
                following = _following(alias, found)
                yield NextIndex(alias, following, _template_for(engine, following))


def _following(alias: str, found: Mapping[str, Any]) -> str:
    """The name of the index that a rollover of an alias makes, as engines count."""
    behind = {index: each["aliases"][alias] for index, each in found.items() if alias in each["aliases"]}
    written = [index for index, each in behind.items() if each.get("is_write_index")]
    newest = max(written or behind)
    number = _NUMBERED.fullmatch(newest)
    return f"{number[1]}{int(number[2]) + 1:06d}" if number else newest


def _template_for(engine: Engine, index: str) -> str | None:
    """The index template that applies to an index of this name; empty: none does."""
    there = all_index_templates(engine)
    if there is None:
        return None
    fit = {name: each.get("priority") or 0 for name, each in there.items() if matches(each["index_patterns"], index)}
    return max(fit, key=lambda name: fit[name], default="")


def _pattern(index: str) -> str:
    number = _NUMBERED.fullmatch(index)
    return f"{number[1]}*" if number else f"{index}*"
