"""Warns if the next rollover of an alias or a data stream creates an index that lacks what simdoc-search added."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from simdoc_search.attach.index_template import (
    TemplateExtension,
    has_extension,
    matches_any,
    read_index_templates,
    resolve_template,
)
from simdoc_search.stores.remote.engine import Engine

_NUMBERED_NAME = re.compile(r"(.*-)(\d+)")


def find_next_index_warnings(
    engine: Engine, names: str, extension: TemplateExtension, command: str, extended_template: str = ""
) -> Iterator[str]:
    """Yield a warning for each alias and data stream whose next index will lack a part of the extension.

    `names` contains the names of indices, aliases and data streams, separated by commas. The warning suggests `command`
    with `--index-template`. `extended_template` is not checked, because the running command extends it.
    """
    for alias, index, template in _predict_next_indices(engine, names.split(",")):
        if template and template == extended_template:
            continue
        resolved = resolve_template(engine, template) if template else {}
        if resolved is None or has_extension(resolved, extension):
            continue
        problem = (
            f"the next rollover of {alias} will create {index} without the complete mapping and pipeline for "
            "fingerprints"
        )
        if template:
            yield f"{problem}. Extend the index template: {command} --index-template {template}"
        else:
            yield (
                f"{problem}, because no index template applies to the new index. Create an index template, then run: "
                f"{command} --index-template NAME"
            )


def _predict_next_indices(engine: Engine, names: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each alias or data stream, the name of its next index, and the index template of that index, or ''."""
    for name in names:
        streams = engine.get_if_allowed("_data_stream", name).get("data_streams", ())
        for stream in streams:
            yield stream["name"], f".ds-{stream['name']}-{stream['generation'] + 1:06d}", stream.get("template", "")
        templates = None if streams else read_index_templates(engine)
        if templates is not None:
            indices = engine.get_if_allowed("_alias", name)
            for alias in sorted({alias for index in indices.values() for alias in index["aliases"]}):
                if next_name := _predict_name(alias, indices):
                    yield alias, next_name, _find_template(templates, next_name)


def _predict_name(alias: str, indices: Mapping[str, Any]) -> str:
    """Return the name that a rollover gives to the next index of an alias.

    The name is empty if the name of the current index does not end with a number, so the alias cannot roll over.
    """
    members = {name: index["aliases"][alias] for name, index in indices.items() if alias in index["aliases"]}
    write_indices = [name for name, options in members.items() if options.get("is_write_index")]
    newest = max(write_indices or members)
    number = _NUMBERED_NAME.fullmatch(newest)
    return f"{number[1]}{int(number[2]) + 1:06d}" if number else ""


def _find_template(templates: Mapping[str, Any], index: str) -> str:
    """Return the index template that applies to an index with this name; empty if none applies."""
    priorities = {
        name: template.get("priority") or 0
        for name, template in templates.items()
        if matches_any(template["index_patterns"], index)
    }
    return max(priorities, key=lambda name: priorities[name], default="")
