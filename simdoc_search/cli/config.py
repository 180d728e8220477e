"""The file `simdoc.toml`: what options are where the command line does not say them.

It is looked for in the current folder and those above it, or is named by SIMDOC_CONFIG. One that is found may lie in a
folder that somebody else made. So it sets only what cannot harm: how is asked and shown, and what is read of folders
that a person names; nothing that removes or writes files, leads out of a folder, or sends credentials anywhere.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from simdoc_search.cli.common import say
from simdoc_search.small_files import parse_toml, read_small

NAME = "simdoc.toml"
_MAX_BYTES = 1 << 16

_ASKING = {"exclude", "filter", "show", "size", "sort"}
_LIMITS = {"bits", "enough", "least", "min-score"}
_OF_A_STORE = {
    *("language", "no-passages", "no-texts", "passage-run", "profile", "shingle-size", "sketch", "stem", "stop-words"),
    *("front-matter", "quoted-replies", "unit", "with"),
}

SETTABLE: Mapping[str, frozenset[str]] = {
    "index": frozenset(
        {"archives", "checksum", "exclude", "fail-on-skip", "file-timeout", "id-field", "max-size", "reject-duplicates"}
        | {"text-field", "worker-memory", "workers"}
        | _OF_A_STORE
    ),
    "similar": frozenset(_ASKING | {"include-self", "measure", "overlap", "probability", "estimate"}),
    "passages": frozenset(_ASKING | {"min-words", "other-folders", "preset"}),
    "versions": frozenset(_LIMITS | {"exclude", "filter", "sentences", "size"}),
    "related": frozenset(_ASKING | _LIMITS),
    "duplicates": frozenset({"differences", "estimate", "exclude", "filter", "keep", "limit", "measure", "overlap"}),
    "serve": frozenset({"show"}),
    "list": frozenset({"exclude", "filter", "limit", "reverse", "show", "sort"}),
}
"""The options that each table of the file may set, without their dashes."""

_log = logging.getLogger(__name__)


def read_config(group: click.Group) -> dict[str, Any]:
    """The defaults of all commands, as click takes them; none if there is no such file.

    Raises:
        UsageError: the file cannot be read, or says what it may not.
    """
    named = os.environ.get("SIMDOC_CONFIG")
    path = Path(named) if named else None if named == "" else _found()
    if path is None:
        return {}
    _log.info("options are from %s", path)
    try:
        tables = parse_toml(read_small(path, _MAX_BYTES).decode())
    except OSError as error:
        raise click.UsageError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None
    except ValueError as error:
        raise click.UsageError(f"{path} cannot be read as TOML: {error!s:.200}") from None
    return _defaults(group, path, tables, is_named=bool(named))


def set_for(command: str, option: str) -> Any:
    """What the file says for an option of another command, as click takes it; None: nothing."""
    defaults = click.get_current_context().find_root().default_map or {}
    return defaults.get(command, {}).get(option)


def _found() -> Path | None:
    """The nearest such file, if nobody else can have written it."""
    try:
        here = Path.cwd()
    except OSError:  # the folder is gone
        return None
    for folder in (here, *here.parents):
        path = folder / NAME
        try:
            info = path.stat()
        except OSError:
            continue
        if os.name == "posix" and (info.st_uid not in {0, os.getuid()} or info.st_mode & 0o002):
            say(f"note: {path} is left out, as another user can write it; SIMDOC_CONFIG={path} takes it", err=True)
            return None
        return path
    return None


def _defaults(group: click.Group, path: Path, tables: Mapping[str, Any], *, is_named: bool) -> dict[str, Any]:
    defaults: dict[str, Any] = {}
    for name, table in tables.items():
        if name == "store":
            continue
        if name not in SETTABLE or not isinstance(table, dict):
            raise click.UsageError(
                f"{path} has {name!r:.60}, which it cannot set; {_instead(name, [*SETTABLE, 'store'])}"
            )
        defaults[name] = dict(_options(group.commands[name], f"{path}: [{name}]", table, SETTABLE[name]))
    if "store" in tables:
        store = _store(path, tables["store"], is_named=is_named)
        for name, command in group.commands.items():
            if any(each.name == "store" for each in command.params) and name not in _NO_STORE:
                defaults.setdefault(name, {})["store"] = store
    return defaults


_NO_STORE = frozenset({"apply", "delete"})
"""Commands that remove documents: of a store that the person names."""


def _options(command: click.Command, where: str, table: Mapping[str, Any], settable: frozenset[str]) -> Any:
    by_flag = {flag.lstrip("-"): each for each in command.params for flag in each.opts}
    for key, value in table.items():
        if key not in settable:
            raise click.UsageError(f"{where} has {key!r:.60}, which it cannot set; {_instead(key, sorted(settable))}")
        option = by_flag[key]
        yield option.name, _checked(command, option, value, f"{where} {key}")


def _checked(command: click.Command, option: click.Parameter, value: Any, where: str) -> Any:
    """A value as click takes it; refused here, where the file can be named."""
    is_flag = isinstance(option, click.Option) and option.is_flag
    if option.multiple and isinstance(value, str):
        value = [value]  # as on the command line, where one is given once
    is_list = isinstance(value, list) and all(isinstance(each, str) for each in value)
    if is_flag != isinstance(value, bool) or (option.multiple and not is_list):
        wanted = "true or false" if is_flag else "a list of texts" if option.multiple else "a text or a number"
        raise click.UsageError(f"{where} is {value!r:.60}; write {wanted}")
    if is_flag:
        return value
    given = value if option.multiple else ",".join(value) if is_list else str(value)
    try:
        option.type_cast_value(click.Context(command), given)
    except click.BadParameter as error:
        raise click.UsageError(f"{where}: {error.message:.400}") from None
    return given


def _store(path: Path, value: Any, *, is_named: bool) -> str:
    """Where the store is, from the folder of the file; a file that was only found names no engine and stays there."""
    if not isinstance(value, str) or not value:
        raise click.UsageError(f"{path}: store is {value!r:.60}; write a text")
    if "://" in value and is_named:
        return value
    place = Path(os.path.abspath(path.parent / value))  # noqa: PTH100 - links as they are
    if not is_named and ("://" in value or not place.is_relative_to(path.absolute().parent)):
        raise click.UsageError(
            f"{path}: store {value!r:.60} is no folder beside it, which only a file named by SIMDOC_CONFIG may say"
        )
    return str(place)


def _instead(name: str, possible: list[str]) -> str:
    near = get_close_matches(name, possible, 1)
    return f"did you mean {near[0]!r}?" if near else f"possible are {', '.join(possible)}"
