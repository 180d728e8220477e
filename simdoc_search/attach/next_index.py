"""Warns if the next index of an alias or a data stream will lack the field, the pipeline or the text fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from simdoc_search.attach.index_template import Extension, all_index_templates, is_covered, matches, resolved_template
from simdoc_search.attach.indices import OPTIONAL
from simdoc_search.stores.remote.engine import Engine

_NUMBERED = re.compile(r"(.*-)(\d+)")


def warn_of_next_indices(
    engine: Engine, names: str, extension: Extension, command: str, extended: str = ""
) -> Iterator[str]:
    """Yield a sentence for each alias and data stream in `names` whose next index lacks something of the extension.

    The sentence proposes the command with `--index-template`. The template `extended` gets the extension anyway.
    """
    for behind, index, template in _next_indices(engine, names.split(",")):
        if template and template == extended:
            continue
        resolved = resolved_template(engine, template) if template else {}
        if resolved is None or is_covered(resolved, extension):
            continue
        problem = f"the next index of {behind} ({index}) will not have all of this"
        if template:
            yield f"{problem}. Extend its index template: {command} --index-template {template}"
        else:
            yield f"{problem}, as no index template applies to it. Create one, and run: {command} --index-template NAME"


def _next_indices(engine: Engine, names: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each alias and data stream, the name of its next index, and the template for that; empty if none."""
    for name in names:
        streams = (engine.call("GET", ["_data_stream", name], allow=OPTIONAL) or {}).get("data_streams", ())
        for stream in streams:
            yield stream["name"], f".ds-{stream['name']}-{stream['generation'] + 1:06d}", stream.get("template", "")
        templates = None if streams else all_index_templates(engine)
        if templates is not None:
            indices = engine.call("GET", ["_alias", name], allow=OPTIONAL) or {}
            for alias in sorted({alias for index in indices.values() for alias in index["aliases"]}):
                next_name = _next_name(alias, indices)
                yield alias, next_name, _template_for(templates, next_name)


def _next_name(alias: str, indices: Mapping[str, Any]) -> str:
    """The name that a rollover gives to the next index."""
    behind = {name: index["aliases"][alias] for name, index in indices.items() if alias in index["aliases"]}
    written = [name for name, entry in behind.items() if entry.get("is_write_index")]
    newest = max(written or behind)
    number = _NUMBERED.fullmatch(newest)
    return f"{number[1]}{int(number[2]) + 1:06d}" if number else newest


def _template_for(templates: Mapping[str, Any], index: str) -> str:
    """The index template that applies to an index with this name; empty if there is none."""
    priorities = {
        name: template.get("priority") or 0
        for name, template in templates.items()
        if matches(template["index_patterns"], index)
    }
    return max(priorities, key=lambda name: priorities[name], default="")
