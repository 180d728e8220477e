"""Reads `simdoc.toml`, which sets defaults of options.

The file is in the current folder or in a parent folder, or SIMDOC_CONFIG names it. Somebody else may have created
the folder and the file. So the file can only set harmless options: how to query, what to show, and what to read in a
folder that the user names. It cannot delete or write files, make a command read outside that folder, or send
credentials anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from simdoc_search.cli.common import say
from simdoc_search.small_files import parse_toml, read_small_file

_FILE_NAME = "simdoc.toml"
_MAX_BYTES = 1 << 16

_QUERY_OPTIONS = {"exclude", "filter", "show", "size", "sort"}
_THRESHOLD_OPTIONS = {"max-distance", "min-share", "min-smaller-share", "min-score"}
_NEW_STORE_OPTIONS = {
    *("language", "no-passages", "no-texts", "passage-run", "profile", "shingle-size", "sketch", "stem", "stop-words"),
    *("front-matter", "quoted-replies", "unit", "with"),
}

SETTABLE_OPTIONS: Mapping[str, frozenset[str]] = {
    "index": frozenset(
        {
            "archives",
            "checksum",
            "exclude-files",
            "fail-on-skip",
            "file-timeout",
            "id-field",
            "max-size",
            "reject-duplicates",
        }
        | {"text-field", "worker-memory", "workers"}
        | _NEW_STORE_OPTIONS
    ),
    "similar": frozenset(_QUERY_OPTIONS | {"include-self", "measure", "overlap", "probability", "estimate"}),
    "passages": frozenset(_QUERY_OPTIONS | {"min-words", "exclude-same-folder", "preset", "workers"}),
    "versions": frozenset(_THRESHOLD_OPTIONS | {"exclude", "filter", "sentences", "size", "workers"}),
    "related": frozenset(_QUERY_OPTIONS | _THRESHOLD_OPTIONS),
    "duplicates": frozenset({"estimate", "exclude", "filter", "keep", "measure", "overlap", "size", "workers"}),
    "serve": frozenset({"show"}),
    "list": frozenset({"exclude", "filter", "show", "size", "sort"}),
}
"""Maps each command to the options that its table in `simdoc.toml` can set, without the leading dashes."""

_DELETING_COMMANDS = frozenset({"apply", "delete"})
"""Commands that remove documents. `simdoc.toml` cannot set their store."""


def read_config(group: click.Group) -> dict[str, Any]:
    """Return the `default_map` of click with the options that the file sets; empty without a file."""
    variable = os.environ.get("SIMDOC_CONFIG")
    path = Path(variable) if variable else None if variable == "" else _find_config()
    if path is None:
        return {}
    import logging  # rarely needed, and slow to import

    logging.getLogger(__name__).info("reading options from %s", path)
    try:
        tables = parse_toml(read_small_file(path, _MAX_BYTES).decode())
    except OSError as error:
        raise click.UsageError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    except ValueError as error:
        raise click.UsageError(f"{path} is not valid TOML: {error!s:.200}") from None
    return _read_tables(group, path, tables, is_from_environment=bool(variable))


def read_config_value(command: str, option: str) -> Any:
    """Return the value that the file sets for an option of a command; None if the file does not set the option."""
    defaults = click.get_current_context().find_root().default_map or {}
    return defaults.get(command, {}).get(option)


def _find_config() -> Path | None:
    """Return the nearest `simdoc.toml`, unless another user can write to it."""
    try:
        here = Path.cwd()
    except OSError:  # the current folder was removed
        return None
    for folder in (here, *here.parents):
        path = folder / _FILE_NAME
        try:
            info = path.stat()
        except OSError:
            continue
        if os.name == "posix" and (info.st_uid not in {0, os.getuid()} or info.st_mode & 0o002):
            say(
                f"note: {path} is ignored, because another user can write to it; to use it, set SIMDOC_CONFIG={path}",
                err=True,
            )
            return None
        return path
    return None


def _read_tables(
    group: click.Group, path: Path, tables: Mapping[str, Any], *, is_from_environment: bool
) -> dict[str, Any]:
    defaults: dict[str, Any] = {}
    context = click.get_current_context()
    for name, table in tables.items():
        if name == "store":
            continue
        command = group.get_command(context, name) if name in SETTABLE_OPTIONS else None
        if command is None or not isinstance(table, dict):
            raise click.UsageError(f"{path} cannot set {name!r:.60}; {_suggest(name, [*SETTABLE_OPTIONS, 'store'])}")
        defaults[name] = dict(_read_options(command, f"{path}: [{name}]", table, SETTABLE_OPTIONS[name]))
    if "store" in tables:
        store = _read_store(path, tables["store"], is_from_environment=is_from_environment)
        for name in set(group.list_commands(context)) - _DELETING_COMMANDS:
            defaults.setdefault(name, {})["store"] = store
    return defaults


def _read_options(
    command: click.Command, location: str, table: Mapping[str, Any], settable: frozenset[str]
) -> Iterator[tuple[str | None, Any]]:
    by_flag = {flag.lstrip("-"): parameter for parameter in command.params for flag in parameter.opts}
    for key, value in table.items():
        if key not in settable:
            raise click.UsageError(f"{location} cannot set {key!r:.60}; {_suggest(key, sorted(settable))}")
        yield by_flag[key].name, _convert(command, by_flag[key], value, f"{location} {key}")


def _convert(command: click.Command, option: click.Parameter, value: Any, location: str) -> Any:
    """Return a value for click's `default_map`. The value is checked here, so that an error names the file."""
    is_flag = isinstance(option, click.Option) and option.is_flag
    if option.multiple and isinstance(value, str):
        value = [value]
    is_list = isinstance(value, list) and all(isinstance(text, str) for text in value)
    if is_flag != isinstance(value, bool) or (option.multiple and not is_list):
        expected = "true or false" if is_flag else "a list of strings" if option.multiple else "a string or a number"
        raise click.UsageError(f"{location} is {value!r:.60}; write {expected}")
    if is_flag:
        return value
    argument = value if option.multiple else ",".join(value) if is_list else str(value)
    try:
        option.type_cast_value(click.Context(command), argument)
    except click.BadParameter as error:
        raise click.UsageError(f"{location}: {error.message:.400}") from None
    return argument


def _read_store(path: Path, value: Any, *, is_from_environment: bool) -> str:
    """Return the path or address of the store. A path is relative to the folder of the file.

    Unless SIMDOC_CONFIG names the file, the store must be in the folder of the file.
    """
    if not isinstance(value, str) or not value:
        raise click.UsageError(f"{path}: store must be a non-empty string, not {value!r:.60}")
    if "://" in value and is_from_environment:
        return value
    store = Path(os.path.abspath(path.parent / value))  # noqa: PTH100 - Path.resolve would follow links
    if not is_from_environment and ("://" in value or not store.is_relative_to(path.absolute().parent)):
        raise click.UsageError(
            f"{path}: store {value!r:.60} is outside the folder of this file; to allow this, set SIMDOC_CONFIG={path}"
        )
    return str(store)


def _suggest(name: str, possible: list[str]) -> str:
    similar = get_close_matches(name, possible, 1)
    return f"did you mean {similar[0]!r}?" if similar else f"possible names are {', '.join(possible)}"
